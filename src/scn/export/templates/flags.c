/* Flags that interrupts, threads and cores change at once. One operation is all or nothing by
     - SCN_ENTER_CRITICAL() and SCN_EXIT_CRITICAL(held), where the port defines them,
     - else by the compiler's atomics (on ARMv7-M these are LDREX and STREX),
     - else, on a core without them (Cortex-M0, a RISC-V without A but with Zicsr), with interrupts off for a few instructions.
   The last holds for one core alone. Where two cores without atomics share a network, the port must define
   the macros: SCN_ENTER_CRITICAL() returns a uint32_t that SCN_EXIT_CRITICAL is given back, and neither lets
   the compiler move memory accesses across it. */
#define SCN_BY_BUILTINS 1
#define SCN_BY_STDATOMIC 2
#define SCN_BY_CRITICAL 3
#if defined(SCN_ENTER_CRITICAL) && defined(SCN_EXIT_CRITICAL)
#define SCN_ATOMICS SCN_BY_CRITICAL
#elif defined(SCN_FLAGS_ARE_ATOMIC)
#define SCN_ATOMICS SCN_BY_STDATOMIC
#elif defined(__GCC_ATOMIC_INT_LOCK_FREE)
#if __GCC_ATOMIC_INT_LOCK_FREE == 2
#define SCN_ATOMICS SCN_BY_BUILTINS
#elif defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#define SCN_ATOMICS SCN_BY_CRITICAL
static uint32_t scn_interrupts_off(void)
{
    uint32_t held;
    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(held) : : "memory");
    return held;
}
static void scn_interrupts_back(uint32_t held)
{
    __asm__ volatile("msr primask, %0" : : "r"(held) : "memory");
}
#elif defined(__riscv_zicsr)
#define SCN_ATOMICS SCN_BY_CRITICAL
static uint32_t scn_interrupts_off(void)
{
    uint32_t held;
    __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(held) : : "memory");
    return held & 8u;
}
static void scn_interrupts_back(uint32_t held)
{
    __asm__ volatile("csrs mstatus, %0" : : "r"(held) : "memory");
}
#endif
#endif
#if !defined(SCN_ATOMICS)
#error "no atomics are known here: define SCN_ENTER_CRITICAL() and SCN_EXIT_CRITICAL(held)"
#elif SCN_ATOMICS == SCN_BY_CRITICAL && !defined(SCN_ENTER_CRITICAL)
#define SCN_ENTER_CRITICAL() scn_interrupts_off()
#define SCN_EXIT_CRITICAL(held) scn_interrupts_back(held)
#endif

/* Give a flag a value; returns the one before. */
static uint32_t scn_swap(scn_flag *flag, uint32_t value)
{
#if SCN_ATOMICS == SCN_BY_BUILTINS
    return __atomic_exchange_n(flag, value, __ATOMIC_SEQ_CST);
#elif SCN_ATOMICS == SCN_BY_STDATOMIC
    return (uint32_t)atomic_exchange(flag, value);
#else
    const uint32_t held = SCN_ENTER_CRITICAL();
    const uint32_t before = *flag;
    *flag = value;
    SCN_EXIT_CRITICAL(held);
    return before;
#endif
}

static void scn_set(scn_flag *flag, uint32_t value)
{
#if SCN_ATOMICS == SCN_BY_BUILTINS
    __atomic_store_n(flag, value, __ATOMIC_SEQ_CST);
#else
    (void)scn_swap(flag, value);
#endif
}
