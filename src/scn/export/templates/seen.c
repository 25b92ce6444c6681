/* The part of a window of `count` places, `step` apart from `start` on, that lies in 0 to size - 1. */
static void scn_seen(int start, int count, int step, int size, int *first, int *last)
{
    int from = 0;
    while (start + from * step < 0) {
        from++;
    }
    while (start + (count - 1) * step >= size) {
        count--;
    }
    *first = from;
    *last = count;
}
