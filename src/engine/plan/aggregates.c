#include "engine/plan/aggregates.h"

#include <string.h>

#define TRADES "load ids.bin | zip amounts.bin | group ids: "

const struct aggregate_function aggregate_functions[] = {
    {"sum", "sum", AGGREGATE_SUM, 1, 1, "sum(x)", "the exact total; 0 of nothing", TRADES "sum(amounts) | take 3"},
    {"count", "count", AGGREGATE_COUNT, 0, 1, "count(), count(x)",
     "the rows; those that have x; those for which a condition holds", TRADES "count(amt > 0) | take 3"},
    {"min", "min", AGGREGATE_MIN, 1, 1, "min(x)", "the smallest value", TRADES "min(amounts) | take 3"},
    {"max", "max", AGGREGATE_MAX, 1, 1, "max(x)", "the largest value", TRADES "max(amounts) - min(amounts) | take 3"},
    {"mean", "mean", AGGREGATE_MEAN, 1, 1, "mean(x)", "the average", TRADES "mean(amounts) | take 3"},
    {"avg", "mean", AGGREGATE_MEAN, 1, 1, NULL, NULL, NULL},
    {"average", "mean", AGGREGATE_MEAN, 1, 1, NULL, NULL, NULL},
    {"product", "product", AGGREGATE_PRODUCT, 1, 1, "product(x)", "the product; 1 of nothing",
     "load numbers.txt | group odd(x) as odd: product(x)"},
    {"median", "median", AGGREGATE_MEDIAN, 1, 1, "median(x)", "quantile(0.5, x)", TRADES "median(amounts) | take 3"},
    {"quantile", "quantile", AGGREGATE_QUANTILE, 2, 2, "quantile(p, x)",
     "the value below which a share p of the others lies, between two of them in proportion; of text and dates the "
     "lower",
     TRADES "quantile(0.9, amounts) | take 3"},
    {"stddev", "stddev", AGGREGATE_STDDEV, 1, 1, "stddev(x)", "the standard deviation of a sample (n - 1)",
     TRADES "stddev(amounts) | take 3"},
    {"var", "var", AGGREGATE_VAR, 1, 1, "var(x)", "the variance of a sample (n - 1)", TRADES "var(amounts) | take 3"},
    {"corr", "corr", AGGREGATE_CORR, 2, 2, "corr(x, y)", "the correlation (Pearson's) of the rows that have both",
     "load ids.bin | zip amounts.bin | group : corr(ids, amounts)"},
    {"wmean", "wmean", AGGREGATE_WMEAN, 2, 2, "wmean(x, w)",
     "the mean of x weighted by w: sum(x * w) / sum(w) over the rows that have both",
     "load ids.bin | zip amounts.bin | group : wmean(amounts, ids)"},
    {"first", "first", AGGREGATE_FIRST, 1, 1, "first(x)", "the value of the first row that has one",
     TRADES "first(amounts) | take 3"},
    {"last", "last", AGGREGATE_LAST, 1, 1, "last(x)", "the value of the last row that has one",
     TRADES "last(amounts) | take 3"},
    {"distinct", "distinct", AGGREGATE_DISTINCT, 1, 1, "distinct(x)", "the number of different values",
     TRADES "distinct(amounts) | take 3"},
    {"any", "any", AGGREGATE_ANY, 1, 1, "any(condition)", "whether it holds for some row",
     TRADES "any(amt > 9990) | take 3"},
    {"all", "all", AGGREGATE_ALL, 1, 1, "all(condition)", "whether it holds for every row in which it is known",
     TRADES "all(amt > -9990) | take 3"},
    {"argmin", "argmin", AGGREGATE_ARGMIN, 1, 2, "argmin(x, y)",
     "y in the first row with the smallest x; without y the row's number", TRADES "argmin(amounts, row) | take 3"},
    {"argmax", "argmax", AGGREGATE_ARGMAX, 1, 2, "argmax(x, y)",
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
    const bool shared = function->id == AGGREGATE_MIN || function->id == AGGREGATE_MAX;
    return !shared || arguments < 2;
}
