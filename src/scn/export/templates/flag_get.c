static uint32_t scn_get(scn_flag *flag)
{
#if SCN_ATOMICS == SCN_BY_BUILTINS
    return __atomic_load_n(flag, __ATOMIC_SEQ_CST);
#elif SCN_ATOMICS == SCN_BY_STDATOMIC
    return (uint32_t)atomic_load(flag);
#else
    const uint32_t held = SCN_ENTER_CRITICAL();
    const uint32_t value = *flag;
    SCN_EXIT_CRITICAL(held);
    return value;
#endif
}
