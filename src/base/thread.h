/* Threads that receive no signals: the main thread handles them. */
#ifndef RQL_BASE_THREAD_H
#define RQL_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread with all signals blocked except those that a fault raises in the thread itself: if blocked, they
 * would end the process. Returns false if no thread can be created. */
bool thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
