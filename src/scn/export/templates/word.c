#if SCN_DSP
/* Four bytes of any type at once. */
typedef uint32_t __attribute__((__may_alias__)) scn_word;
#endif
