/* Samples as x. */
static void scn_pcm_float(const int16_t *samples, @FIRST@float *x)
{
    uint32_t place = @PLACE@;
    int i;
    for (i = 0; i < @COUNT@; i++) {
        x[i] = ((float)samples[place * @STRIDE@] / 32767.0f - @MEAN@) / @DEVIATION@;
        @NEXT@
    }
}
