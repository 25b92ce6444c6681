/* How whole numbers become what the next layer reads: a limit at each end, and what is added then. */
typedef struct {
    int32_t low, high;
    int zero, fraction; /* fraction: bits behind the point, of a layer's sums */
} scn_out;

static int32_t scn_within(int32_t value, scn_out out)
{
    return value < out.low ? out.low : value > out.high ? out.high : value;
}

/* The high word of sum times multiplier, rounded. */
static int32_t scn_high(int32_t sum, int32_t multiplier)
{
#if SCN_DSP
    int32_t word;
    __asm__("smmulr %0, %1, %2" : "=r"(word) : "r"(sum), "r"(multiplier));
    return word;
#else
    return (int32_t)(((int64_t)sum * multiplier + 0x80000000) >> 32);
#endif
}
