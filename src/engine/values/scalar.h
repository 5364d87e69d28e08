/* A single value: the result of a terminal, a scalar named by let, an element of a column. */
#ifndef RQL_ENGINE_VALUES_SCALAR_H
#define RQL_ENGINE_VALUES_SCALAR_H

#include "engine/values/logical_type.h"
#include "engine/values/types.h"

#include "base/integer.h"
#include "base/strbuf.h"
#include "base/text.h"

struct scalar {
    enum kind kind;
    struct logical_type logical; /* what an integer stands for; its dictionary is not used */
    bool missing;                /* no value; the number is 0 */
    struct text text;            /* LOGICAL_TEXT: the string; borrowed, its holder says how long it lives */
    int128 integer;              /* KIND_INT and KIND_BOOL */
    double number;               /* KIND_FLOAT */
};

/* Plain values, which are not missing. */
struct scalar scalar_int(int128 value);
struct scalar scalar_bool(bool value);
struct scalar scalar_float(double value);

/* The quotient, rounded once to nearest even; divisor > 0. */
double int128_quotient(int128 dividend, int64_t divisor);

/* Whether an integer fits 64 bits. */
bool scalar_fits(const struct scalar *scalar);

/* Appends the value as printed everywhere: integers in full, floats as the shortest decimal that reads back the
 * same (3.0 for three, inf, -inf, nan), booleans as 0 and 1, text as its bytes, other logical types as logical_text
 * does, and `missing`. */
void scalar_print(struct strbuf *out, const struct scalar *scalar);
void print_int(struct strbuf *out, int64_t value);
void print_float(struct strbuf *out, double value);

/* Writes the text, at most NUMBER_TEXT bytes without a NUL; returns its end. */
enum { NUMBER_TEXT = 32 };
char *int_text(char *at, int64_t value);
char *bool_text(char *at, bool value); /* true, false */
char *float_text(char *at, double value);
char *int128_text(char *at, int128 value); /* at most 40 bytes */

#endif
