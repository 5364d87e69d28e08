/* Calls of built-in functions, by what the functions take. */
#ifndef RQL_ENGINE_BUILTIN_BUILTIN_H
#define RQL_ENGINE_BUILTIN_BUILTIN_H

#include "engine/expression/expression.h"

/* A call with as many arguments as the function takes; all are known. */
struct builtin {
    struct scope *scope;
    const struct function *function;
    const struct expr *expr;
    struct term *arguments;
    size_t count;
};

/* A result that is missing where an argument is. */
struct term builtin_result(const struct builtin *call, value v, struct logical_type logical);

/* Records that argument `k` is of the wrong type: "`upper` needs text, but `qty` is an integer". Returns unknown. */
struct term builtin_refuse(const struct builtin *call, size_t k, const char *needs, const char *hint);

/* Argument `k` as a constant integer; false if it is none (an error) or unknown. `what` names it in errors. */
bool builtin_constant(const struct builtin *call, size_t k, const char *what, int64_t *integer);

/* Argument `k` must be a constant, but is not: an error if it depends on rows. */
void builtin_not_constant(const struct builtin *call, size_t k, const char *what);

/* Each binds the call of one function, or of the functions of one kind: checks the types of the arguments, adds the
 * code and returns the result's term, which is unknown after an error. What the functions do is said in functions.c and
 * text_functions.def.
 *
 * builtin_text.c: functions of text */
struct term bind_text_function(const struct builtin *call);

/* builtin_format.c: values as text */
struct term bind_to_text(const struct builtin *call);
struct term bind_format(const struct builtin *call);
struct term bind_concat(const struct builtin *call);

/* builtin_convert.c: int, float, date, timestamp, time of numbers and times, round, div */
struct term bind_to_int(const struct builtin *call);
struct term bind_to_float(const struct builtin *call);
struct term bind_to_date_or_timestamp(const struct builtin *call);
struct term bind_to_time(const struct builtin *call);
struct term bind_round(const struct builtin *call);
struct term bind_div(const struct builtin *call);

/* builtin_calendar.c: year(t) and other parts, trunc, bucket, now, today */
struct term bind_part(const struct builtin *call);
struct term bind_trunc(const struct builtin *call);
struct term bind_bucket(const struct builtin *call);
struct term bind_now(const struct builtin *call);
struct term bind_today(const struct builtin *call);

/* The second argument of trunc, if it is a unit's name or a word that means nothing else: a constant text. */
bool bind_unit(struct scope *scope, const struct expr *expr, struct term *unit);

/* Whether argument `k` is a number, and an integer if `integer`; records an error if not. */
bool builtin_is_number(const struct builtin *call, size_t k, bool integer);

struct term bind_random(const struct builtin *call); /* builtin_random.c */

#endif
