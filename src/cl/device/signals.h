/* OpenCL drivers install signal handlers of their own: PoCL and LLVM for INT, TERM, SEGV, FPE and more, NVIDIA's for
 * PIPE. Whoever has one started, or has it compile, puts things back afterwards. Handlers are recorded once, before any
 * driver is there, because drivers work on several threads: what one of them finds may be another's.
 *
 * Until they are put back an interrupt still comes through: LLVM's handler puts back what it replaced, and then raises
 * the signal again (or returns to the instruction that failed). */
#ifndef RQL_CL_DEVICE_SIGNALS_H
#define RQL_CL_DEVICE_SIGNALS_H

#include <signal.h>

struct signals {
    struct sigaction actions[65]; /* by number; Linux has 64 */
};

/* Handlers as they are now. Those of job control and of the window's size are not among them: the line editor changes
 * them at any time, and drivers leave them alone. */
void signals_record(struct signals *signals);
void signals_put_back(const struct signals *signals);

/* What a thread has of its own: which signals wait, and the stack that handlers run on, which LLVM replaces by one that
 * it allocates. */
struct thread_signals {
    sigset_t mask;
    stack_t stack;
};

/* Lets an interrupt from the keyboard wait until signals_release, on the thread that uses a driver. */
void signals_hold_interrupt(struct thread_signals *before);

/* Lets every signal wait that can, for a driver about to start threads: they inherit that, and leave signals to the
 * main thread for good. */
void signals_hold(struct thread_signals *before);
void signals_release(const struct thread_signals *before);

#endif
