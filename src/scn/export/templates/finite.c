/* Whether all values are finite numbers, and where floats may be. By their bits: -ffast-math would take a
   comparison away. */
SCN_KERNEL static int scn_finite(const float *values, int count)
{
    uint32_t seen = 0;
    if ((uintptr_t)values % sizeof(float) != 0) {
        return 0;
    }
#if SCN_VFP
    if (count >= 16) {
        /* 0 times a finite number stays 0; times anything else it becomes NaN, and stays that. */
        union {
            float numbers[4];
            uint32_t bits[4];
        } ends;
        float a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
        int sixteens = count >> 4, i;
        __asm__ volatile(
            "1:\n\t"
            "vldmia %[values]!, {s0-s15}\n\t"
            "vmul.f32 %[a], %[a], s0\n\t"
            "vmul.f32 %[b], %[b], s1\n\t"
            "vmul.f32 %[c], %[c], s2\n\t"
            "vmul.f32 %[d], %[d], s3\n\t"
            "vmul.f32 %[a], %[a], s4\n\t"
            "vmul.f32 %[b], %[b], s5\n\t"
            "vmul.f32 %[c], %[c], s6\n\t"
            "vmul.f32 %[d], %[d], s7\n\t"
            "vmul.f32 %[a], %[a], s8\n\t"
            "vmul.f32 %[b], %[b], s9\n\t"
            "vmul.f32 %[c], %[c], s10\n\t"
            "vmul.f32 %[d], %[d], s11\n\t"
            "vmul.f32 %[a], %[a], s12\n\t"
            "vmul.f32 %[b], %[b], s13\n\t"
            "vmul.f32 %[c], %[c], s14\n\t"
            "vmul.f32 %[d], %[d], s15\n\t"
            "subs %[n], %[n], #1\n\t"
            "bne 1b"
            : [values] "+r"(values), [n] "+r"(sixteens), [a] "+t"(a), [b] "+t"(b), [c] "+t"(c), [d] "+t"(d)
            :
            : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15",
              "cc", "memory");
        ends.numbers[0] = a;
        ends.numbers[1] = b;
        ends.numbers[2] = c;
        ends.numbers[3] = d;
        for (i = 0; i < 4; i++) {
            seen |= (ends.bits[i] & 0x7FFFFFFFu) + 0x00800000u;
        }
        count &= 15;
    }
#endif
    for (; count > 0; count--) {
        union {
            float number;
            uint32_t bits;
        } value;
        value.number = *values++;
        seen |= (value.bits & 0x7FFFFFFFu) + 0x00800000u;
    }
    return seen >> 31 == 0;
}
