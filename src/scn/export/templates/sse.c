/* A PC: eight products of 16 bits in an instruction. */
#if defined(__SSE2__) && defined(__GNUC__) && !defined(SCN_PORTABLE)
#include <emmintrin.h>
#define SCN_SSE 1
#else
#define SCN_SSE 0
#endif

#if SCN_SSE
/* Two numbers of 16 bits that may lie anywhere. */
typedef uint32_t __attribute__((__may_alias__, __aligned__(1))) scn_pair;

/* Four words of weights as pairs of 16 bits: the first two columns of each, or the last two. */
static __m128i scn_first_columns(const int8_t *weights)
{
    return _mm_srai_epi16(_mm_slli_epi16(_mm_loadu_si128((const __m128i *)(const void *)weights), 8), 8);
}

static __m128i scn_last_columns(const int8_t *weights)
{
    return _mm_srai_epi16(_mm_loadu_si128((const __m128i *)(const void *)weights), 8);
}

static __m128i scn_plus_products(__m128i sums, __m128i weights, __m128i x)
{
    return _mm_add_epi32(sums, _mm_madd_epi16(weights, x));
}
#endif
