#if defined(__GNUC__)
#define SCN_INLINE __attribute__((always_inline)) inline
#else
#define SCN_INLINE
#endif
