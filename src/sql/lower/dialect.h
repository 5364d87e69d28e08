/* Dialects of SQL: how each says the operations of typed code. */
#ifndef RQL_SQL_LOWER_DIALECT_H
#define RQL_SQL_LOWER_DIALECT_H

#include "base/strbuf.h"
#include "base/text.h"
#include "engine/plan/code.h"
#include "engine/plan/task.h"

/* An operation. In the texts $a, $b and $c are its arguments, $A and $B the same where constants need no type, $s is a
 * shift count made valid, $r the result, $f the condition `fails`, and $z an integer that is in the result's interval:
 * total texts keep to intervals, so that operations on them stay total without a check. */
struct sql_operation {
    const char *value;   /* where range analysis has proved that it cannot fail, or no argument is special */
    const char *checked; /* defined for all arguments; NULL: as `value` */
    const char *fails;   /* the condition that it does; NULL: never */
};

struct sql_dialect {
    const char *name;
    unsigned bit;              /* of dialect_operations.c */
    char name_quote;           /* around names */
    bool escapes;              /* a backslash within quotes escapes what follows; else quotes are doubled */
    const char *control;       /* two hexadecimal digits follow, of a control character within quotes; NULL: it stands
                                  for itself */
    const char *truths[2];     /* false and true */
    const char *integer;       /* the constant $a, of 64 bits */
    const char *least_integer; /* INT64_MIN, of which no digits can be negated */
    int bare_bits;             /* integers of so many bits are exact without a type beside one of 64 bits */
    const char *number;        /* the float $a, which has a point or an exponent, and no sign */
    const char *special;       /* the float that is called $a: nan, inf */
    const char *tiny;          /* the float with the bits $a, where it is below the normal ones; NULL: as `number` */
    const char *count;         /* a shift count $b, made valid */
    /* Columns $a of a table as what is computed with, and whether there is a value. as_text: elsewhere than in
     * ClickHouse, where the type tells (wire_type_sent). */
    const char *as_integer, *as_float, *as_text, *days, *seconds;
    /* NULL: not said. Where an unsigned integer has no place in 64 bits with a sign; a time stamp with up to 6, and
     * with more digits of seconds, in microseconds, of which each has $b of its units; a string without the NULs at its
     * end. */
    const char *beyond, *micros, *finer, *unpadded;
    const char *value_or, *present; /* value_or: $b where $a is missing */
    /* A decimal $a with $b digits after the point, widely enough for its product by '$b', a power of ten; that product
     * as an integer. NULL: not said. */
    const char *decimal, *unscaled;
    const char *is_nan; /* of the float $a; NULL: floats order no rows */
    /* Aggregates. */
    const char *rows, *any;      /* how many rows; whether $a holds in one */
    const char *sum, *sum_fails; /* the sum of $a in 64 bits, and that it does not fit; NULL: sums wrap around */
    const char *whole_sum;       /* of no rows, too, and of any size */
    const char *distinct_about;  /* as `distinct`, but for an error of half a percent; NULL: not said */
    const char *distinct;        /* how many different $a there are where $b holds */
    /* Of quantiles of integers: the sorted values $a where $b holds; how many there are in such a list $a, and number
     * $b of them from 0, 0 beyond the last; half of $a + $b, rounded down, and its rest; $b - $a as a float. */
    const char *sorted, *length, *element;
    const char *half, *odd, *bit_or, *distance;
    const char *string;   /* number $b, from 0, of the strings $a; NULL: not said */
    const char *all, *in; /* before the kind of a join; of rows in a subquery: both see all rows of all servers */
    const char *file, *file_row; /* the rows of a file of Parquet, and their numbers; NULL: it reads none */
    const char *skip;            /* after LIMIT or without it; NULL: LIMIT has both numbers */
};

enum { SQL_DIALECTS = 2 };
extern const struct sql_dialect sql_dialects[SQL_DIALECTS];
const struct sql_dialect *sql_dialect_find(const char *name); /* NULL if there is none */

const char *sql_dialect_name(size_t k); /* NULL behind the last */

/* What tables on servers are asked in: servers of version 18.16 take it, and those of today. */
extern const struct sql_dialect *const sql_clickhouse;

/* What an operation is applied to. */
struct sql_operands {
    enum kind kind; /* of the first argument; of ?: the second */
    bool harmless;  /* the second one is a constant that is no reason for a failure */
};

/* How the dialect says an operation; NULL: not at all. */
const struct sql_operation *sql_operation_find(const struct sql_dialect *dialect, enum op op,
                                               struct sql_operands operands);

/* A text of the dialect with its arguments in place; NULL if `form` is. */
const char *sql_phrase(const char *form, const char *a, const char *b, struct arena *arena);

/* Adds text as a string literal, and as a name. False: the dialect has no literal of it. */
bool sql_add_string(struct strbuf *sql, const struct sql_dialect *dialect, struct text text);
void sql_add_name(struct strbuf *sql, const struct sql_dialect *dialect, const char *name);

/* Adds a float. */
void sql_add_number(struct strbuf *sql, const struct sql_dialect *dialect, double number);

/* dialect_texts.c: functions of text. Strings are bytes on ClickHouse, and need not be UTF-8. */

/* The function of the strings `a` and, for two of them, `b`, in the dialect; *fails: the condition that its result may
 * differ from rql's, NULL: never, which *unless says in words. NULL: the dialect has no equivalent. */
const char *sql_text(const struct sql_dialect *dialect, const struct text_application *application, const char *a,
                     const char *b, const char **fails, const char **unless, struct arena *arena);

#endif
