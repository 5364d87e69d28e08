/* Threads that signals leave alone: those are the main thread's business. */
#ifndef RQL_BASE_THREAD_H
#define RQL_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread with all signals blocked but for those that a failing access raises in the thread itself: blocked,
 * they would end the process. False: there is none to be had. */
bool thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
