/* The smallest program that uses the network: what it has more than a program that does nothing is what the
   network takes of flash and RAM. The caller's own x, outputs and alpha are not counted: they lie at an
   address that is only known when the program runs.

   subject.h includes the header of the network and defines
     SUBJECT_INPUT, SUBJECT_INPUTS    type and number of values of x
     SUBJECT_OUTPUTS                  number of outputs
     SUBJECT_ALPHAS, SUBJECT_DIMS     S and D, or 0 for a network that is not configured
     SUBJECT_BETA(alpha, beta)        the configuration network
     SUBJECT_MIX(beta)                the mixing
     SUBJECT_CONFIGURE(alpha)         both
     SUBJECT_INFER(x, outputs)        inference; these four return 0 for success
     SUBJECT_LOAD()                   where the weights are in a blob: loads it; 0 for success
   Without SUBJECT (a macro) this is the program that does nothing. */
#include "board.h"
#ifdef SUBJECT
#include "subject.h"
#endif

int main(void) {
#ifdef SUBJECT
    float *volatile memory = (float *)0;
#ifdef SUBJECT_LOAD
    if (SUBJECT_LOAD()) return 1;
#endif
#if SUBJECT_ALPHAS
    if (SUBJECT_CONFIGURE(memory)) return 1;
#endif
    return (int)SUBJECT_INFER((const SUBJECT_INPUT *)(const void *)memory, memory);
#else
    return 0;
#endif
}
