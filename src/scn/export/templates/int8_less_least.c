/* Each channel less its least value, which leaves 0 to 255: stored less 128. */
static void scn_less_least_int8(const int8_t *x, int8_t *y, int channels, int area)
{
    int channel, i;
    for (channel = 0; channel < channels; channel++, x += area, y += area) {
        int least = x[0];
        for (i = 1; i < area; i++) {
            least = x[i] < least ? x[i] : least;
        }
        for (i = 0; i < area; i++) {
            y[i] = (int8_t)(x[i] - least - 128);
        }
    }
}
