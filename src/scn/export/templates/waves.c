/* Cosine and sine of 1, 2, ... times an angle, a part of a turn; with `step` 1 the cosines, then one sine. */
static void scn_waves(float part, int count, int step, float *out)
{
    int i;
    for (i = 1; i <= count; i++) {
        const float times = (float)i * part;
        scn_circle(360.0f * (times - (float)(int)times), out + step * (i - 1));
    }
}
