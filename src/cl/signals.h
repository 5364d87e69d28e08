/* OpenCL drivers install signal handlers of their own: PoCL and LLVM for INT, TERM, SEGV, FPE and more, NVIDIA's for
 * PIPE. Whoever has one started, or has it compile, puts things back afterwards. */
#ifndef RQL_CL_SIGNALS_H
#define RQL_CL_SIGNALS_H

#include <signal.h>

struct signals {
    struct sigaction actions[65]; /* by number; Linux has 64 */
    sigset_t mask;
};

/* Remembers handlers and what is blocked. Until signals_restore an interrupt from the keyboard waits, as a driver's
 * handler would end the program; other signals do end it, even while a compiler hangs. */
void signals_save(struct signals *signals);
void signals_restore(const struct signals *signals);

/* After signals_save, for a driver about to start threads: lets every signal wait that can. Threads inherit that and
 * leave signals to the main thread for good. */
void signals_hold(void);

#endif
