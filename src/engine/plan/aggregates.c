#include "engine/plan/aggregates.h"

#include "base/text.h"

#include <math.h>

const struct aggregate_info aggregate_table[AGG_KINDS] = {
#define AGGREGATE(kind, ...) [AGG_##kind] = {.word = __VA_ARGS__},
#define AGGREGATE_JOIN(kind, written, neutral, code, joined)                                                           \
    [AGG_##kind].op = written, [AGG_##kind].none = neutral, [AGG_##kind].integers = #joined,
#define AGGREGATE_JOIN_CHECKED(kind, written, neutral, code, checked, joined)                                          \
    AGGREGATE_JOIN(kind, written, neutral, code, joined)
#define AGGREGATE_JOIN_NUMBERS(kind, neutral, joined)                                                                  \
    [AGG_##kind].number_none = neutral, [AGG_##kind].numbers = #joined,
#include "engine/plan/aggregates.def"
};

const struct aggregate_function aggregate_functions[] = {
#define AGGREGATE_FUNCTION(name, kind, recipe, ...) {name, name, AGG_##kind, __VA_ARGS__},
#define AGGREGATE_ALIAS(name, canonical, kind)      {name, canonical, AGG_##kind, 1, 1, NULL, NULL, NULL},
#include "engine/plan/aggregates.def"
};

const size_t aggregate_function_count = sizeof aggregate_functions / sizeof *aggregate_functions;

const struct aggregate_function *aggregate_find(const char *name)
{
    return TABLE_ROW(aggregate_functions, name);
}

bool aggregate_is_call(const struct aggregate_function *function, size_t arguments)
{
    return !aggregate_table[function->kind].extreme || arguments < 2;
}
