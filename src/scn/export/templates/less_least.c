/* Each channel less its least value. */
static void scn_less_least(const float *x, float *y, int channels, int area)
{
    int channel, i;
    for (channel = 0; channel < channels; channel++, x += area, y += area) {
        float least = x[0];
        for (i = 1; i < area; i++) {
            least = x[i] < least ? x[i] : least;
        }
        for (i = 0; i < area; i++) {
            y[i] = x[i] - least;
        }
    }
}
