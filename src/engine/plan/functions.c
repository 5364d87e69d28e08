/* The table of functions, and the code of those that are not a single operation. */
#include "engine/plan/functions.h"

#include "base/text.h"

static value lower_clamp(struct code *code, const value *args, struct span span)
{
    const value raised = code_binary(code, OP_MAX, args[0], args[1], span);
    return code_binary(code, OP_MIN, raised, args[2], span);
}

static value lower_odd(struct code *code, const value *args, struct span span)
{
    const value low_bit = code_with(code, OP_BITAND, args[0], 1, span);
    return code_with(code, OP_NE, low_bit, 0, span);
}

static value lower_even(struct code *code, const value *args, struct span span)
{
    const value low_bit = code_with(code, OP_BITAND, args[0], 1, span);
    return code_with(code, OP_EQ, low_bit, 0, span);
}

const struct function functions[] = {
    {"abs", 1, 1, SIGNATURE_SAME, OP_ABS, NULL, "abs(x)", "absolute value", "abs(-7)", "7"},
    {"min", 2, MANY_ARGUMENTS, SIGNATURE_ORDERED, OP_MIN, NULL, "min(x, y, ...)", "the smallest argument",
     "min(3, 1, 2)", "1"},
    {"max", 2, MANY_ARGUMENTS, SIGNATURE_ORDERED, OP_MAX, NULL, "max(x, y, ...)", "the largest argument", "max(3, 4.5)",
     "4.5"},
    {"clamp", 3, 3, SIGNATURE_ORDERED, OP_COUNT, lower_clamp, "clamp(x, lo, hi)", "x limited to the range lo to hi",
     "clamp(7, 0, 5)", "5"},
    {"sign", 1, 1, SIGNATURE_SAME, OP_SIGN, NULL, "sign(x)", "-1, 0 or 1", "sign(-7)", "-1"},
    {"popcount", 1, 1, SIGNATURE_INT, OP_POPCOUNT, NULL, "popcount(n)", "number of bits set", "popcount(255)", "8"},
    {"even", 1, 1, SIGNATURE_INT, OP_COUNT, lower_even, "even(n)", "true if n is even", "even(42)", "true"},
    {"odd", 1, 1, SIGNATURE_INT, OP_COUNT, lower_odd, "odd(n)", "true if n is odd", "odd(-3)", "true"},
    {"bitor", 2, 2, SIGNATURE_INT, OP_BITOR, NULL, "bitor(a, b)", "bitwise or, also outside parentheses", "bitor(5, 2)",
     "7"},
    {"int", 1, 1, SIGNATURE_TO_INT, OP_COUNT, NULL, "int(x)",
     "x truncated towards zero; the integer that a text writes; days or microseconds since 1970", "int(-2.9)", "-2"},
    {"float", 1, 1, SIGNATURE_TO_FLOAT, OP_COUNT, NULL, "float(x)", "x, or the number that a text writes, as a float",
     "float(3)", "3.0"},
    {"sqrt", 1, 1, SIGNATURE_FLOAT, OP_SQRT, NULL, "sqrt(x)", "square root", "sqrt(16)", "4.0"},
#define FLOAT_FUNCTION(op, arity, name, host, device, ...)                                                             \
    {name, arity, arity, SIGNATURE_FLOAT, OP_##op, NULL, __VA_ARGS__},
#include "engine/plan/float_functions.def"
    {"ldexp", 2, 2, SIGNATURE_FLOAT_INT, OP_LDEXP, NULL, "ldexp(x, n)", "x times 2 to the power n, an integer",
     "ldexp(3, 4)", "48.0"},
    {"random", 1, MANY_ARGUMENTS, SIGNATURE_RANDOM, OP_COUNT, NULL, "random(k, ...)",
     "a number from 0 to below 1 that depends on these integers alone, as if at random", "random(1, 2) < 1", "true"},
    {"floor", 1, 1, SIGNATURE_FLOAT, OP_FLOOR, NULL, "floor(x)", "largest integer not above x", "floor(-2.5)", "-3.0"},
    {"ceil", 1, 1, SIGNATURE_FLOAT, OP_CEIL, NULL, "ceil(x)", "smallest integer not below x", "ceil(2.1)", "3.0"},
    {"round", 1, 2, SIGNATURE_ROUND, OP_ROUND, NULL, "round(x, s)",
     "x with s digits after the point (0), halves away from zero", "round(2.5)", "3.0"},
    {"div", 3, 3, SIGNATURE_DIV, OP_COUNT, NULL, "div(x, y, s)",
     "quotient of integers or decimals with s digits after the point, rounded as by round", "div(2, 3, 4)", "0.6667"},
    {"at", 1, 3, SIGNATURE_ROWS, OP_COUNT, NULL, "at(x, K)",
     "x in the row K rows further on, missing where there is none", "[7, 5] | map at(x, -1) | max", "7"},
    {"rank", 1, 3, SIGNATURE_ROWS, OP_COUNT, NULL, "rank(x [, desc] [, dense])",
     "place of x among the rows in order, from 1; equal values share one, dense without gaps after them",
     "[7, 5, 5] | map rank(x) | max", "3"},
    {"ntile", 2, 3, SIGNATURE_ROWS, OP_COUNT, NULL, "ntile(n, x [, desc])",
     "which of n parts of the rows in order x is in, from 1; the parts have the same number of rows, or one more",
     "[7, 5, 5, 8] | map ntile(2, x) | min", "1"},
    {"fill", 1, 3, SIGNATURE_ROWS, OP_COUNT, NULL, "fill(x [, back | linear [, t]])",
     "x, or where it is missing the value before it, the next one, or one on the line between them, over rows or t",
     "[1, 0, 5] | map fill(x > 0 ? x : missing, linear) | sum", "9.0"},
    {"ewma", 2, 3, SIGNATURE_ROWS, OP_COUNT, NULL, "ewma(x, share [, adjust])",
     "moving average: (1 - share) of the row before plus share of x; adjust: of all rows so far, by powers of 1 - "
     "share",
     "[4, 8, 0] | map ewma(x, 0.5) | min", "3.0"},
    {"text", 1, 2, SIGNATURE_TO_TEXT, OP_COUNT, NULL, "text(x [, format])",
     "x as text, as it is printed; a date or time by a format, as of strftime", "text(2024-03-05, \"%d-%b-%y\")",
     "05-Mar-24"},
    {"format", 1, MANY_ARGUMENTS, SIGNATURE_FORMAT, OP_COUNT, NULL, "format(pattern, x, ...)",
     "the pattern with values in place of its fields, as in Python: {} {0} {:>8} {:05} {:,.2f} {:x} {:%Y-%m}",
     "format(\"{}-{:05}\", \"A\", 42)", "A-00042"},
    {"concat", 1, MANY_ARGUMENTS, SIGNATURE_CONCAT, OP_COUNT, NULL, "concat(x, ...)",
     "all values as text, one after another", "concat(\"A\", 7, \"-\", 2024-01-31)", "A7-2024-01-31"},
    {"missing", 1, 1, SIGNATURE_MISSING, OP_COUNT, NULL, "missing(x)", "true if x has no value", "missing(3)", "false"},
#define TEXT_OTHER(name, least, most, first, second, result, partial, number, real, edit, check)
#define TEXT_FUNCTION(name, least, most, first, second, result, partial, number, real, edit, check, usage, summary,    \
                      example, value)                                                                                  \
    {name, (least) + 1, (most) + 1, SIGNATURE_TEXT, OP_COUNT, NULL, usage, summary, example, value},
#include "engine/text_functions/text_functions.def"
#undef TEXT_FUNCTION
#undef TEXT_OTHER
    {"date", 1, 2, SIGNATURE_TO_DATE, OP_COUNT, NULL, "date(x [, format])",
     "day of a timestamp; the date that a text writes, by a format as of strptime; so many days after 1970-01-01",
     "date(2024-01-31T09:30)", "2024-01-31"},
    {"timestamp", 1, 2, SIGNATURE_TO_TIMESTAMP, OP_COUNT, NULL, "timestamp(x [, format])",
     "midnight of a date; the timestamp that a text writes, by a format as of strptime; so many microseconds after "
     "1970-01-01",
     "timestamp(2024-01-31)", "2024-01-31T00:00:00"},
    {"time", 1, 2, SIGNATURE_TO_TIME, OP_COUNT, NULL, "time(x [, format])",
     "time of day of a timestamp, as a duration; that which a text writes, by a format as of strptime",
     "time(2024-01-31T09:30)", "09:30:00"},
    {"now", 0, 0, SIGNATURE_NOW, OP_COUNT, NULL, "now()", "the time in UTC, the same throughout a statement",
     "now() > 2024-01-01", "true"},
    {"today", 0, 0, SIGNATURE_TODAY, OP_COUNT, NULL, "today()", "the day in UTC, date(now())", "today() == date(now())",
     "true"},
    {"year", 1, 1, SIGNATURE_PART, OP_COUNT, NULL, "year(d)", "year of a date or timestamp", "year(2024-01-31)",
     "2024"},
    {"quarter", 1, 1, SIGNATURE_PART, OP_COUNT, NULL, "quarter(d)", "quarter of the year, 1 to 4",
     "quarter(2024-05-01)", "2"},
    {"month", 1, 1, SIGNATURE_PART, OP_COUNT, NULL, "month(d)", "month of the year, 1 to 12", "month(2024-01-31)", "1"},
    {"week", 1, 1, SIGNATURE_PART, OP_COUNT, NULL, "week(d)", "ISO week of the year, 1 to 53", "week(2024-01-31)", "5"},
    {"day", 1, 1, SIGNATURE_PART, OP_COUNT, NULL, "day(d)", "day of the month, 1 to 31", "day(2024-01-31)", "31"},
    {"weekday", 1, 1, SIGNATURE_PART, OP_COUNT, NULL, "weekday(d)", "1 for Monday to 7 for Sunday",
     "weekday(2024-01-31)", "3"},
    {"hour", 1, 1, SIGNATURE_PART, OP_COUNT, NULL, "hour(t)", "hour of a timestamp, 0 to 23",
     "hour(2024-01-31T09:30:15)", "9"},
    {"minute", 1, 1, SIGNATURE_PART, OP_COUNT, NULL, "minute(t)", "minute of the hour, 0 to 59",
     "minute(2024-01-31T09:30:15)", "30"},
    {"second", 1, 1, SIGNATURE_PART, OP_COUNT, NULL, "second(t)", "second of the minute, 0 to 59",
     "second(2024-01-31T09:30:15)", "15"},
    {"trunc", 2, 2, SIGNATURE_TRUNC, OP_COUNT, NULL, "trunc(t, unit)",
     "start of the second, minute, hour, day, week, month, quarter or year", "trunc(2024-05-17, month)", "2024-05-01"},
    {"bucket", 2, 2, SIGNATURE_BUCKET, OP_COUNT, NULL, "bucket(t, 15min)",
     "start of the interval of this length, counted from 1970, weeks from Monday", "bucket(2024-05-17, 1q)",
     "2024-04-01"},
};

const size_t function_count = sizeof functions / sizeof *functions;

const struct function *function_find(const char *name)
{
    return TABLE_ROW(functions, name);
}
