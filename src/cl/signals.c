#include "signals.h"

enum { SIGNAL_COUNT = sizeof((struct signals *)0)->actions / sizeof(struct sigaction) };

/* Raised by a thread's own doing: blocked, they would end the process. */
static const int faults[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGABRT};

/* The C library keeps two numbers for itself and says so with an error; those are left alone both times. */
void signals_save(struct signals *signals)
{
    for (int k = 1; k < SIGNAL_COUNT; k++)
        if (sigaction(k, NULL, &signals->actions[k]) != 0)
            signals->actions[k].sa_handler = SIG_ERR;
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt, &signals->mask);
}

void signals_hold(void)
{
    sigset_t wait;

    sigfillset(&wait);
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++)
        sigdelset(&wait, faults[k]);
    pthread_sigmask(SIG_SETMASK, &wait, NULL);
}

void signals_restore(const struct signals *signals)
{
    for (int k = 1; k < SIGNAL_COUNT; k++)
        if (signals->actions[k].sa_handler != SIG_ERR && k != SIGKILL && k != SIGSTOP)
            sigaction(k, &signals->actions[k], NULL);
    pthread_sigmask(SIG_SETMASK, &signals->mask, NULL);
}
