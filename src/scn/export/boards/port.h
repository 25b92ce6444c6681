/* What the network needs of ${system}: see the head of its C file. Other macros of a port belong here, too. */
#ifndef SCN_PORT_H
#define SCN_PORT_H

#if !defined(__GCC_ATOMIC_INT_LOCK_FREE) || __GCC_ATOMIC_INT_LOCK_FREE != 2 /* ${without} */
#include <stdint.h>

${include}
#define SCN_ENTER_CRITICAL() ((uint32_t)${enter})
#define SCN_EXIT_CRITICAL(held) ${leave}
#endif

#endif
