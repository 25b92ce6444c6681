/*
 * The whole number next to v times 2 to the power of `exponent`, halves to the even one, from -limit to limit; 0 if
 * v is not a number. A power of two rounds nothing, and without floating point it is no more than a shift.
 */
static int32_t scn_whole_by(float v, int exponent, int32_t limit)
{
    union {
        float value;
        uint32_t bits;
    } part;
    int32_t n;
#if SCN_VFP
    part.bits = (uint32_t)(127 + exponent) << 23;
    v *= part.value;
    __asm__("vcvtr.s32.f32 %1, %1\n\tvmov %0, %1" : "=r"(n), "+t"(v));
#else
    uint32_t digits;
    int shift;
    part.value = v;
    digits = (part.bits & 0x7fffffu) | 0x800000u;
    shift = 150 - exponent - (int)((part.bits >> 23) & 255u); /* what is asked for is digits >> shift */
    if (shift > 25) {
        return 0;
    }
    if (shift > 0) {
        digits = (digits + (1u << (shift - 1)) - 1u + ((digits >> shift) & 1u)) >> shift;
    } else if ((part.bits & 0x7fffffffu) > 0x7f800000u) {
        return 0;
    } else if (shift < -7) {
        digits = 0x7fffffffu;
    } else {
        digits <<= -shift;
    }
    n = digits > 0x7fffffffu ? 0x7fffffff : (int32_t)digits;
    n = part.bits >> 31 ? -n : n;
#endif
    return n > limit ? limit : n < -limit ? -limit : n;
}
