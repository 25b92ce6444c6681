/* Values of 8 bits, which are stored from -128 to 127. */
static int8_t scn_eight_bits(int32_t value, scn_out out)
{
#if SCN_DSP
    value += out.zero;
    __asm__("ssat %0, #8, %0" : "+r"(value));
    return (int8_t)value;
#else
    return (int8_t)(scn_within(value, out) + out.zero);
#endif
}
