"""What a port may say by macros: where weights and state lie, and what is called around the work."""

from __future__ import annotations

PORT = """\
/* -DSCN_PORT_HEADER='"port.h"' names a file with what this board wants otherwise; nothing of it is needed:
     SCN_WEIGHTS                       before the base models: __attribute__((section(".external_flash")))
     SCN_STATE                         before the static state with theta: a section in fast memory, which
                                       start-up code must set to zero
     SCN_BEGIN(what), SCN_END(what)    around the work of `mix` and `infer`: a pin, a trace, a cycle counter
     SCN_ENTER_CRITICAL(), SCN_EXIT_CRITICAL(held)    where there are no atomics, see below */
#ifdef SCN_PORT_HEADER
#include SCN_PORT_HEADER
#endif
"""
HOOKS = """\
#ifndef SCN_WEIGHTS
#define SCN_WEIGHTS
#endif
#ifndef SCN_STATE
#define SCN_STATE
#endif
#ifndef SCN_BEGIN
#define SCN_BEGIN(what) ((void)0)
#endif
#ifndef SCN_END
#define SCN_END(what) ((void)0)
#endif
"""
