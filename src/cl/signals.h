/* OpenCL drivers install signal handlers of their own: PoCL and LLVM for INT, TERM, SEGV, FPE and more, NVIDIA's for
 * PIPE. Whoever calls one for the first time puts things back afterwards. In between, signals that can wait do wait:
 * threads that a driver starts inherit that and leave them to the main thread for good. */
#ifndef RQL_CL_SIGNALS_H
#define RQL_CL_SIGNALS_H

#include <signal.h>

struct signals {
    struct sigaction actions[65]; /* by number; Linux has 64 */
    sigset_t mask;
};

void signals_save(struct signals *signals);
void signals_restore(const struct signals *signals);

#endif
