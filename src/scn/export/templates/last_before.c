/* The last of rising places that is not beyond a value, or -1. */
static int scn_last_before(const float *places, int count, float value)
{
    int low = 0, high = count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (places[middle] <= value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low - 1;
}

static float scn_share(float way, float gap)
{
    return way > 0.0f ? (way < gap ? way / gap : 1.0f) : 0.0f;
}
