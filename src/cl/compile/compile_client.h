/* A process that compiles programs for a device: rql itself, run in another role (compile.h), so that a compiler that
 * aborts or hangs costs one note. It is started by the first order and ends when nothing is ordered for a while; orders
 * are done one at a time. It puts what it builds into the cache before it answers, and finishes what it has begun even
 * if whoever ordered it has ended. Nothing here blocks but compiler_wait. */
#ifndef RQL_CL_COMPILE_COMPILE_CLIENT_H
#define RQL_CL_COMPILE_COMPILE_CLIENT_H

#include "cl/compile/program_cache.h"

#include <stdatomic.h>

struct compiler;

/* What is run: `executable` with `arguments`, at most six and ended by NULL, the first its name. An order that takes
 * longer than `limit_ms` is given up. */
struct compiler *compiler_new(const char *executable, const char *const *arguments, int limit_ms);

/* Lets the process go its way. NULL is allowed. */
void compiler_free(struct compiler *compiler);

enum order_state { ORDER_UNDER_WAY, ORDER_DONE, ORDER_FAILED };

struct order;

/* Orders the program of a key; the key's bytes are copied. */
struct order *compiler_order(struct compiler *compiler, const struct blob *key);

/* How far it is, as of now. Orders go on only while somebody asks. */
enum order_state compiler_ask(struct compiler *compiler, struct order *order);

/* Waits until it is done or has failed, or until the user interrupts (`cancel` may be NULL). */
enum order_state compiler_wait(struct compiler *compiler, struct order *order, const atomic_int *cancel);

/* Of an order done: the program, which is the caller's from now on. Of one that failed: why, as text. */
struct blob order_program(struct order *order);
const char *order_problem(const struct order *order);

/* An answer to it is thrown away. */
void order_free(struct compiler *compiler, struct order *order);

/* What goes through the socket, each part as it lies in memory: an order is its size and the key; an answer is a struct
 * answer and so many bytes, the program or what was wrong. */
struct answer {
    uint32_t built; /* 1, or 0: not */
    uint32_t padding;
    uint64_t size;
};

#endif
