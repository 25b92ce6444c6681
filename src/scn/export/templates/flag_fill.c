/* Give a flag that is 0 a value; returns whether it was 0. */
static int scn_fill(scn_flag *flag, uint32_t value)
{
#if SCN_ATOMICS == SCN_BY_BUILTINS
    uint32_t nothing = 0;
    return __atomic_compare_exchange_n(flag, &nothing, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
#elif SCN_ATOMICS == SCN_BY_STDATOMIC
    unsigned int nothing = 0;
    return atomic_compare_exchange_strong(flag, &nothing, value);
#else
    const uint32_t held = SCN_ENTER_CRITICAL();
    const int was_empty = *flag == 0;
    if (was_empty) {
        *flag = value;
    }
    SCN_EXIT_CRITICAL(held);
    return was_empty;
#endif
}
