#include "cl/device/signals.h"

#include <stdbool.h>
#include <stddef.h>

enum { SIGNAL_COUNT = sizeof((struct signals *)0)->actions / sizeof(struct sigaction) };

/* Raised synchronously by a thread's own instructions: blocked, they would end the process. */
static const int faults[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGABRT};

static const int terminal[] = {SIGWINCH, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD};

static bool is_terminal(int number)
{
    for (size_t k = 0; k < sizeof terminal / sizeof *terminal; k++) {
        if (terminal[k] == number)
            return true;
    }
    return false;
}

/* sigaction fails for the two signals that the C library reserves; they are neither recorded nor restored. */
void signals_record(struct signals *signals)
{
    for (int k = 1; k < SIGNAL_COUNT; k++) {
        if (is_terminal(k) || sigaction(k, NULL, &signals->actions[k]) != 0)
            signals->actions[k].sa_handler = SIG_ERR;
    }
}

void signals_restore(const struct signals *signals)
{
    for (int k = 1; k < SIGNAL_COUNT; k++) {
        if (signals->actions[k].sa_handler != SIG_ERR && k != SIGKILL && k != SIGSTOP)
            sigaction(k, &signals->actions[k], NULL);
    }
}

static void hold(const sigset_t *mask, int how, struct thread_signals *before)
{
    pthread_sigmask(how, mask, &before->mask);
    sigaltstack(NULL, &before->stack);
}

void signals_hold_interrupt(struct thread_signals *before)
{
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    hold(&interrupt, SIG_BLOCK, before);
}

void signals_hold(struct thread_signals *before)
{
    sigset_t wait;
    sigfillset(&wait);
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++)
        sigdelset(&wait, faults[k]);
    hold(&wait, SIG_SETMASK, before);
}

void signals_release(const struct thread_signals *before)
{
    sigaltstack(&before->stack, NULL);
    pthread_sigmask(SIG_SETMASK, &before->mask, NULL);
}
