/* A PC: eight products of 16 bits in an instruction. */
#if defined(__SSE2__) && defined(__GNUC__) && !defined(SCN_PORTABLE)
#define SCN_SSE 1
#else
#define SCN_SSE 0
#endif

#if SCN_SSE
typedef short scn_shorts __attribute__((vector_size(16)));
typedef int scn_ints __attribute__((vector_size(16)));
typedef short scn_shorts_at __attribute__((vector_size(16), aligned(1), may_alias)); /* in memory, anywhere */
typedef int scn_ints_at __attribute__((vector_size(16), aligned(1), may_alias));
typedef int scn_pair __attribute__((aligned(1), may_alias)); /* two numbers of 16 bits */

static scn_shorts scn_shorts_of(const void *from)
{
    return *(const scn_shorts_at *)from;
}

/* Sums, with the products of four pairs by one. */
static scn_ints scn_plus_pair(scn_ints sums, scn_shorts weights, int pair)
{
    const scn_ints four = {pair, pair, pair, pair};
    return sums + (scn_ints)__builtin_ia32_pmaddwd128(weights, (scn_shorts)four);
}
#endif
