/* Samples as whole numbers, on a line of fixed point; those just below a step may be meant to reach it. */
static void scn_pcm_@TYPE@(const int16_t *samples, @FIRST@@TYPE@ *to)
{
    uint32_t place = @PLACE@;
    int i;
    for (i = 0; i < @COUNT@; i++) {
        const int16_t sample = samples[place * @STRIDE@];
        const int64_t wide = (int64_t)sample * @NUMBER@ + @OFFSET@;
        int32_t steps = (int32_t)(wide >> @SHIFT@);@LISTED@
        to[i] = (@TYPE@)(steps < @LOW@ ? @LOW@ : steps > @HIGH@ ? @HIGH@ : steps);
        @NEXT@
    }
}
