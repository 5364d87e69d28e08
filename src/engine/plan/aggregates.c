#include "engine/plan/aggregates.h"

#include <math.h>
#include <string.h>

const struct aggregate_info aggregate_table[AGG_KINDS] = {
    [AGG_COUNT] = {.word = "count", .over = true, .along = true},
    [AGG_SUM] = {.word = "sum", .op = "+", .sums = true, .over = true, .along = true, .folds = true},
    [AGG_PRODUCT] = {.word = "product", .op = "*", .none = 1, .number_none = 1, .folds = true},
    [AGG_MIN] = {.word = "min",
                 .op = "min",
                 .none = INT64_MAX,
                 .number_none = NAN,
                 .extreme = true,
                 .needs_rows = true,
                 .over = true,
                 .along = true,
                 .folds = true},
    [AGG_MAX] = {.word = "max",
                 .op = "max",
                 .none = INT64_MIN,
                 .number_none = NAN,
                 .extreme = true,
                 .needs_rows = true,
                 .over = true,
                 .along = true,
                 .folds = true},
    [AGG_MEAN] = {.word = "mean", .sums = true, .needs_rows = true, .over = true, .along = true},
    [AGG_BITAND] = {.word = "bitand", .op = "&", .none = -1, .bits = true},
    [AGG_XOR] = {.word = "bitxor", .op = "^", .bits = true},
    [AGG_BITOR] = {.word = "bitor", .op = "bitor", .bits = true},
    [AGG_FOLD] = {.word = "reduce", .needs_rows = true},
    [AGG_QUANTILE] = {.word = "quantile", .operands = true},
    [AGG_VAR] = {.word = "var", .operands = true},
    [AGG_CORR] = {.word = "corr", .operands = true},
    [AGG_DISTINCT] = {.word = "distinct", .operands = true},
    [AGG_FIRST] = {.word = "first", .over = true},
    [AGG_LAST] = {.word = "last", .over = true},
    [AGG_LEADING] = {.word = "leading"},
    [AGG_ANY] = {.word = "any", .folds = true},
    [AGG_ALL] = {.word = "all", .folds = true},
    [AGG_ARGMIN] = {.word = "argmin", .folds = true},
    [AGG_ARGMAX] = {.word = "argmax", .folds = true},
    [AGG_ROUNDS] = {.word = "mean", .folds = true}, /* which divides by them */
    [AGG_MEDIAN] = {.word = "median"},
    [AGG_STDDEV] = {.word = "stddev"},
    [AGG_WMEAN] = {.word = "wmean"},
};

#define TRADES "load ids.bin | zip amounts.bin | group ids: "

const struct aggregate_function aggregate_functions[] = {
    {"sum", "sum", AGG_SUM, 1, 1, "sum(x)", "the exact total; 0 of nothing", TRADES "sum(amounts) | take 3"},
    {"count", "count", AGG_COUNT, 0, 1, "count(), count(x)",
     "the rows; those that have x; those for which a condition holds", TRADES "count(amounts > 0) | take 3"},
    {"min", "min", AGG_MIN, 1, 1, "min(x)", "the smallest value", TRADES "min(amounts) | take 3"},
    {"max", "max", AGG_MAX, 1, 1, "max(x)", "the largest value", TRADES "max(amounts) - min(amounts) | take 3"},
    {"mean", "mean", AGG_MEAN, 1, 1, "mean(x)", "the average", TRADES "mean(amounts) | take 3"},
    {"avg", "mean", AGG_MEAN, 1, 1, NULL, NULL, NULL},
    {"average", "mean", AGG_MEAN, 1, 1, NULL, NULL, NULL},
    {"product", "product", AGG_PRODUCT, 1, 1, "product(x)", "the product; 1 of nothing",
     "load numbers.txt | group odd(x) as odd: product(x)"},
    {"median", "median", AGG_MEDIAN, 1, 1, "median(x)", "quantile(0.5, x)", TRADES "median(amounts) | take 3"},
    {"quantile", "quantile", AGG_QUANTILE, 2, 2, "quantile(p, x)",
     "the value below which a share p of the others lies, between two of them in proportion; of text and dates the "
     "lower",
     TRADES "quantile(0.9, amounts) | take 3"},
    {"stddev", "stddev", AGG_STDDEV, 1, 1, "stddev(x)", "the standard deviation of a sample (n - 1)",
     TRADES "stddev(amounts) | take 3"},
    {"var", "var", AGG_VAR, 1, 1, "var(x)", "the variance of a sample (n - 1)", TRADES "var(amounts) | take 3"},
    {"corr", "corr", AGG_CORR, 2, 2, "corr(x, y)", "the correlation (Pearson's) of the rows that have both",
     "load ids.bin | zip amounts.bin | group : corr(ids, amounts)"},
    {"wmean", "wmean", AGG_WMEAN, 2, 2, "wmean(x, w)",
     "the mean of x weighted by w: sum(x * w) / sum(w) over the rows that have both",
     "load ids.bin | zip amounts.bin | group : wmean(amounts, ids)"},
    {"first", "first", AGG_FIRST, 1, 1, "first(x)", "the value of the first row that has one",
     TRADES "first(amounts) | take 3"},
    {"last", "last", AGG_LAST, 1, 1, "last(x)", "the value of the last row that has one",
     TRADES "last(amounts) | take 3"},
    {"distinct", "distinct", AGG_DISTINCT, 1, 1, "distinct(x)", "the number of different values",
     TRADES "distinct(amounts) | take 3"},
    {"any", "any", AGG_ANY, 1, 1, "any(condition)", "whether it holds for some row",
     TRADES "any(amounts > 9990) | take 3"},
    {"all", "all", AGG_ALL, 1, 1, "all(condition)", "whether it holds for every row in which it is known",
     TRADES "all(amounts > -9990) | take 3"},
    {"argmin", "argmin", AGG_ARGMIN, 1, 2, "argmin(x, y)",
     "y in the first row with the smallest x; without y the row's number", TRADES "argmin(amounts, row) | take 3"},
    {"argmax", "argmax", AGG_ARGMAX, 1, 2, "argmax(x, y)",
     "y in the first row with the largest x; without y the row's number", TRADES "argmax(amounts, row) | take 3"},
};

const size_t aggregate_function_count = sizeof aggregate_functions / sizeof *aggregate_functions;

const struct aggregate_function *aggregate_find(const char *name)
{
    for (size_t i = 0; i < aggregate_function_count; i++) {
        if (strcmp(aggregate_functions[i].name, name) == 0)
            return &aggregate_functions[i];
    }
    return NULL;
}

bool aggregate_is_call(const struct aggregate_function *function, size_t arguments)
{
    return !aggregate_table[function->kind].extreme || arguments < 2;
}
