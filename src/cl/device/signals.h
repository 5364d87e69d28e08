/* OpenCL drivers install signal handlers: PoCL and LLVM for INT, TERM, SEGV, FPE and more, NVIDIA's for PIPE. They are
 * restored after a driver has started or compiled. Handlers are recorded once, before any driver is loaded, because
 * drivers work on several threads.
 *
 * Until then an interrupt still arrives: LLVM's handler restores what it replaced and raises the signal again (or
 * returns to the failing instruction). */
#ifndef RQL_CL_DEVICE_SIGNALS_H
#define RQL_CL_DEVICE_SIGNALS_H

#include <signal.h>

struct signals {
    struct sigaction actions[65]; /* by number; Linux has 64 */
};

/* Records and restores the handlers, except those of job control and window size: the line editor changes them at any
 * time, and drivers leave them alone. */
void signals_record(struct signals *signals);
void signals_restore(const struct signals *signals);

/* Signal state of a thread: its mask, and the alternate stack, which LLVM replaces. */
struct thread_signals {
    sigset_t mask;
    stack_t stack;
};

/* Blocks keyboard interrupts on the calling thread until signals_release, while it uses a driver. */
void signals_hold_interrupt(struct thread_signals *before);

/* Blocks all signals while a driver starts threads, which inherit the mask and so leave signals to the main thread. */
void signals_hold(struct thread_signals *before);
void signals_release(const struct thread_signals *before);

#endif
