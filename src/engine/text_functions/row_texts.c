/* Where the arguments are integers, conditions or codes of text, and have fewer combinations than there are rows, those
 * that occur are marked, the function is computed once for each of them, and rows look their results up. Else it is
 * computed for each row. Either way equal results are found by hashing (text_apply.c). */
#include "engine/text_functions/row_texts.h"

#include "engine/text_functions/text_call.h"

#include "base/heap.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 1 << 13 /* rows that a thread takes at once */, ROWS_OF_ONE = 2 /* at least, of a combination */ };
static const uint32_t NO_COMBINATION = UINT32_MAX;

/* The values of an integer argument, and its weight in the number of a combination. */
struct digit {
    int64_t lo;
    uint64_t count, weight;
};

/* One thread's texts, and the values and the elements of the arguments. */
struct made {
    struct text_maker maker;
    struct scalar *values;
    union row_element (*elements)[TEXT_BATCH];
};

struct rows {
    const struct row_call *call;
    struct workers workers;
    struct made *made;    /* of each thread */
    int64_t (*bounds)[2]; /* the least and the largest value of each part and argument */
    struct digit *digits;
    int64_t combinations;    /* 0: each row is computed */
    _Atomic uint8_t *occurs; /* of each combination */
    struct text_lookup *of_combinations, *results;
};

bool row_argument_missing(const struct row_argument *argument, int64_t row)
{
    return argument->elements ? argument->present && !argument->present[row] : argument->constant.missing;
}

void row_argument_elements(const struct row_argument *argument, int64_t begin, int64_t count,
                           union row_element *elements)
{
    if (!argument->elements) {
        for (int64_t k = 0; k < count; k++)
            elements[k].integer = (int64_t)argument->constant.integer;
        return;
    }
    switch (argument->store) {
#define INTEGER_TYPE(type, element, ...)                                                                               \
    case TYPE_##type:                                                                                                  \
        for (int64_t k = 0; k < count; k++)                                                                            \
            elements[k].integer = (int64_t)((const element *)argument->elements)[begin + k];                           \
        break;
#define FLOAT_TYPE(type, element, ...)                                                                                 \
    case TYPE_##type:                                                                                                  \
        for (int64_t k = 0; k < count; k++)                                                                            \
            elements[k].number = (double)((const element *)argument->elements)[begin + k];                             \
        break;
#include "engine/values/types.def"
    case TYPE_COUNT:
        break;
    }
}

struct scalar row_argument_value(const struct row_argument *argument)
{
    return argument->elements ? (struct scalar){.kind = argument->kind, .logical = argument->logical}
                              : argument->constant;
}

void row_element_set(const struct row_argument *argument, union row_element element, struct scalar *value)
{
    if (!argument->elements)
        return;
    if (type_table[argument->store].kind == KIND_FLOAT)
        value->number = element.number;
    else
        value->integer = element.integer;
    if (value->logical.kind == LOGICAL_TEXT)
        value->text = dictionary_text(value->logical.dictionary, element.integer);
}

/* What argument k, which is no float, has in combinations. */
static void elements_in(const struct rows *rows, size_t k, int64_t begin, int64_t count, union row_element *elements)
{
    const struct digit *digit = &rows->digits[k];
    uint64_t place = (uint64_t)begin / digit->weight, below = (uint64_t)begin % digit->weight;
    place %= digit->count;
    for (int64_t i = 0; i < count; i++) {
        elements[i].integer = (int64_t)((uint64_t)digit->lo + place);
        if (++below < digit->weight)
            continue;
        below = 0;
        place = place + 1 < digit->count ? place + 1 : 0;
    }
}

/* Which of the items, rows or combinations, have all arguments. */
static void find_present(const struct rows *rows, int64_t begin, int64_t count, bool *present)
{
    const struct row_call *call = rows->call;
    for (int64_t i = 0; i < count; i++)
        present[i] =
            rows->combinations == 0 || atomic_load_explicit(&rows->occurs[begin + i], memory_order_relaxed) != 0;
    for (size_t k = 0; k < call->count && rows->combinations == 0; k++) {
        const struct row_argument *argument = &call->arguments[k];
        if (!argument->elements && argument->constant.missing)
            memset(present, 0, (size_t)count * sizeof *present);
        for (int64_t i = 0; i < count && argument->elements && argument->present; i++)
            present[i] = present[i] && argument->present[begin + i];
    }
}

static void set_argument(struct text_argument *argument, const struct scalar *value)
{
    if (value->logical.kind == LOGICAL_TEXT) {
        argument->text = value->text;
        if (argument->text.length == 0)
            argument->text.at = ""; /* never NULL */
    } else {
        argument->integer = (int64_t)value->integer;
    }
}

void row_texts_set(struct text_batch *batch, int64_t count, const char *at, const size_t *ends)
{
    for (int64_t k = 0; k < count; k++) {
        const size_t begin = k > 0 ? ends[k - 1] : 0;
        batch->texts[k] = (struct text){at + begin, ends[k] - begin};
    }
}

static void set_values(const struct rows *rows, struct made *made, int64_t item)
{
    const struct row_call *call = rows->call;
    for (size_t k = 0; k < call->count; k++)
        row_element_set(&call->arguments[k], made->elements[k][item], &made->values[k]);
}

/* Texts by the format, one behind the other. */
static void format_texts(const struct rows *rows, struct made *made, int64_t count, struct text_batch *batch)
{
    size_t ends[TEXT_BATCH];
    strbuf_clear(&made->maker.text);
    for (int64_t i = 0; i < count; i++) {
        if (batch->present[i]) {
            set_values(rows, made, i);
            text_maker_add(&made->maker, made->values);
        }
        ends[i] = made->maker.text.length;
    }
    row_texts_set(batch, count, made->maker.text.text, ends);
}

/* The texts of items, rows or combinations. */
static void make_texts(void *context, int member, int64_t begin, int64_t count, struct text_batch *batch)
{
    const struct rows *rows = context;
    const struct row_call *call = rows->call;
    struct made *made = &rows->made[member];
    find_present(rows, begin, count, batch->present);
    for (size_t k = 0; k < call->count; k++) {
        if (rows->combinations > 0)
            elements_in(rows, k, begin, count, made->elements[k]);
        else
            row_argument_elements(&call->arguments[k], begin, count, made->elements[k]);
    }
    if (call->format) {
        format_texts(rows, made, count, batch);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        if (!batch->present[i])
            continue;
        set_values(rows, made, i);
        batch->texts[i] = made->values[0].text;
        for (size_t k = 1; k < call->count; k++)
            set_argument(&batch->args[k - 1][i], &made->values[k]);
    }
}

const struct text_function text_as_made = {.name = "format", .result = TEXT_TO_TEXT};

static enum status compute(struct rows *rows, int64_t items, struct span span, struct diags *diags,
                           struct text_lookup *lookup)
{
    const struct row_call *call = rows->call;
    const struct text_function *function = call->format ? &text_as_made : call->function;
    struct text_argument args[TEXT_ARGUMENTS] = {0};
    const int count = call->format ? 0 : (int)call->count - 1;
    struct text_items of_rows = {.count = items,
                                 .make = make_texts,
                                 .context = rows,
                                 .any_order =
                                     call->any_order && (rows->combinations == 0 || items > call->rows / ROWS_OF_ONE)};
    for (int k = 0; k < count; k++) {
        of_rows.varies[k] = call->arguments[k + 1].elements;
        if (!of_rows.varies[k])
            set_argument(&args[k], &call->arguments[k + 1].constant);
    }
    return text_items_apply(function, &of_rows, args, count, &rows->workers, span, diags, lookup);
}

static int64_t part_end(const struct rows *rows, int64_t part)
{
    const int64_t end = (part + 1) * PART;
    return end < rows->call->rows ? end : rows->call->rows;
}

static int64_t part_count(const struct rows *rows)
{
    return (rows->call->rows + PART - 1) / PART;
}

static bool run_parts(struct rows *rows, part_fn *run)
{
    return workers_run(&rows->workers, part_count(rows), run, rows) && !workers_cancelled(&rows->workers);
}

/* The smallest and largest element where there is a value: a function for each type. */
#define INTEGER_TYPE(type, element, ...)                                                                               \
    static void bounds_##type(const element *at, const uint8_t *present, int64_t begin, int64_t end,                   \
                              int64_t bounds[2])                                                                       \
    {                                                                                                                  \
        for (int64_t row = begin; row < end; row++) {                                                                  \
            const bool counts = !present || present[row];                                                              \
            bounds[0] = counts && (int64_t)at[row] < bounds[0] ? (int64_t)at[row] : bounds[0];                         \
            bounds[1] = counts && (int64_t)at[row] > bounds[1] ? (int64_t)at[row] : bounds[1];                         \
        }                                                                                                              \
    }
#define FLOAT_TYPE(...)
#include "engine/values/types.def"

static void bounds_of(const struct row_argument *argument, int64_t begin, int64_t end, int64_t bounds[2])
{
    bounds[0] = INT64_MAX;
    bounds[1] = INT64_MIN;
    switch (argument->store) {
#define INTEGER_TYPE(type, element, ...)                                                                               \
    case TYPE_##type:                                                                                                  \
        bounds_##type(argument->elements, argument->present, begin, end, bounds);                                      \
        break;
#define FLOAT_TYPE(type, ...) case TYPE_##type:
#include "engine/values/types.def"
    case TYPE_COUNT:
        break;
    }
}

static void find_bounds(void *context, int member, int64_t part)
{
    (void)member;
    struct rows *rows = context;
    for (size_t k = 0; k < rows->call->count; k++) {
        const size_t place = (size_t)part * rows->call->count + k;
        if (rows->call->arguments[k].elements)
            bounds_of(&rows->call->arguments[k], part * PART, part_end(rows, part), rows->bounds[place]);
    }
}

/* The most combinations for which the function is computed of each: of fewer than rows, or of one text that would else
 * be looked up in a large dictionary at random. */
static uint64_t most_combinations(const struct row_call *call)
{
    enum { TEXTS_OF_ROW = 2 };
    size_t columns = 0, texts = 0;
    for (size_t k = 0; k < call->count; k++) {
        columns += call->arguments[k].elements ? 1 : 0;
        texts += call->arguments[k].elements && call->arguments[k].logical.kind == LOGICAL_TEXT;
    }
    return columns == 1 && texts == 1 ? (uint64_t)call->rows * TEXTS_OF_ROW : (uint64_t)call->rows / ROWS_OF_ONE;
}

/* Finds the combinations that the arguments can have; false if cancelled. */
static bool find_combinations(struct rows *rows)
{
    enum { MOST = 1 << 24 };
    const struct row_call *call = rows->call;
    const size_t parts = (size_t)part_count(rows);
    const uint64_t most = most_combinations(call);
    uint64_t total = 1;
    for (size_t k = 0; k < call->count; k++) {
        if (call->arguments[k].elements && type_table[call->arguments[k].store].kind == KIND_FLOAT)
            return true;
    }
    rows->bounds = heap_array(parts * call->count + 1, sizeof *rows->bounds);
    if (!run_parts(rows, find_bounds))
        return false;
    for (size_t k = 0; k < call->count; k++) {
        struct digit *digit = &rows->digits[k];
        int64_t lo = INT64_MAX, hi = INT64_MIN;
        for (size_t part = 0; part < parts; part++) {
            const int64_t *bounds = rows->bounds[part * call->count + k];
            lo = bounds[0] < lo ? bounds[0] : lo;
            hi = bounds[1] > hi ? bounds[1] : hi;
        }
        *digit = (struct digit){.lo = lo, .count = 1, .weight = total};
        if (!call->arguments[k].elements || hi < lo) /* a constant, or nothing has a value */
            continue;
        const uint64_t span = (uint64_t)hi - (uint64_t)lo;
        if (span >= MOST || (digit->count = span + 1) * total > most)
            return true;
        total *= digit->count;
    }
    rows->combinations = (int64_t)total;
    return true;
}

/* Adds the argument's share to the number of each row's combination, which fits 32 bits. */
static void add_digit(const struct row_argument *argument, const struct digit *digit, int64_t begin, int64_t end,
                      uint32_t *combinations)
{
    const uint32_t lo = (uint32_t)digit->lo, weight = (uint32_t)digit->weight;
    switch (argument->store) {
#define INTEGER_TYPE(type, element, ...)                                                                               \
    case TYPE_##type:                                                                                                  \
        for (int64_t row = begin; row < end; row++)                                                                    \
            combinations[row - begin] += ((uint32_t)((const element *)argument->elements)[row] - lo) * weight;         \
        break;
#define FLOAT_TYPE(type, element, ...) case TYPE_##type:
#include "engine/values/types.def"
    case TYPE_COUNT:
        break;
    }
}

/* The combinations of a part's rows, NO_COMBINATION where an argument is missing. */
static void find_part(const struct rows *rows, int64_t part, uint32_t combinations[PART])
{
    const struct row_call *call = rows->call;
    const int64_t begin = part * PART, end = part_end(rows, part);
    memset(combinations, 0, (size_t)(end - begin) * sizeof *combinations);
    for (size_t k = 0; k < call->count; k++) {
        if (call->arguments[k].elements)
            add_digit(&call->arguments[k], &rows->digits[k], begin, end, combinations);
    }
    for (size_t k = 0; k < call->count; k++) {
        const struct row_argument *argument = &call->arguments[k];
        const uint8_t *present = argument->elements ? argument->present : NULL;
        for (int64_t row = begin; present && row < end; row++)
            combinations[row - begin] = present[row] ? combinations[row - begin] : NO_COMBINATION;
        if (!argument->elements && argument->constant.missing)
            memset(combinations, 0xff, (size_t)(end - begin) * sizeof *combinations);
    }
}

static void mark_part(void *context, int member, int64_t part)
{
    (void)member;
    struct rows *rows = context;
    uint32_t combinations[PART];
    const int64_t count = part_end(rows, part) - part * PART;
    find_part(rows, part, combinations);
    for (int64_t k = 0; k < count; k++) {
        if (combinations[k] == NO_COMBINATION)
            continue;
        _Atomic uint8_t *occurs = &rows->occurs[combinations[k]];
        if (atomic_load_explicit(occurs, memory_order_relaxed) == 0) /* else other threads would lose their line */
            atomic_store_explicit(occurs, 1, memory_order_relaxed);
    }
}

/* Copies the results of combinations to the rows. */
static void look_part_up(void *context, int member, int64_t part)
{
    (void)member;
    struct rows *rows = context;
    const struct text_lookup *from = rows->of_combinations;
    struct text_lookup *to = rows->results;
    uint32_t combinations[PART];
    const int64_t begin = part * PART, count = part_end(rows, part) - begin;
    find_part(rows, part, combinations);
    for (int64_t k = 0; k < count; k++) { /* what does not occur has no value, and is 0 */
        const bool missing = combinations[k] == NO_COMBINATION;
        combinations[k] = missing ? 0 : combinations[k];
        to->present[begin + k] = !missing && (!from->present || from->present[combinations[k]]);
    }
    switch (type_table[to->type].size) {
#define LOOK_UP(size, element)                                                                                         \
    case size:                                                                                                         \
        for (int64_t k = 0; k < count; k++)                                                                            \
            ((element *)to->values)[begin + k] = !to->present[begin + k] ? 0                                           \
                                                 : from->values ? ((const element *)from->values)[combinations[k]]     \
                                                                : (element)combinations[k];                            \
        break;
        LOOK_UP(1, uint8_t)
        LOOK_UP(2, uint16_t)
        LOOK_UP(4, uint32_t)
        LOOK_UP(8, uint64_t)
#undef LOOK_UP
    }
}

/* Results by combination. */
static enum status combine(struct rows *rows, struct span span, struct diags *diags)
{
    struct text_lookup of_combinations = {0}, *to = rows->results;
    const size_t count = (size_t)rows->call->rows;
    rows->occurs = heap_array((size_t)rows->combinations, 1);
    enum status status = run_parts(rows, mark_part) ? STATUS_OK : STATUS_CANCELLED;
    if (status == STATUS_OK)
        status = compute(rows, rows->combinations, span, diags, &of_combinations);
    if (status != STATUS_OK)
        return status;
    const struct dictionary *dictionary = of_combinations.logical.dictionary;
    *to = (struct text_lookup){.type = of_combinations.values ? of_combinations.type
                                                              : dictionary_code_type(dictionary->count),
                               .logical = of_combinations.logical, /* with its reference */
                               .count = rows->call->rows,
                               .cut = of_combinations.cut,
                               .wrong = of_combinations.wrong};
    of_combinations.logical.dictionary = NULL;
    rows->of_combinations = &of_combinations;
    to->values = heap_array(count, type_table[to->type].size);
    to->present = heap_array(count, 1);
    if (!run_parts(rows, look_part_up)) {
        text_lookup_free(to);
        status = STATUS_CANCELLED;
    }
    text_lookup_free(&of_combinations);
    return status;
}

/* Rows without a value are counted; if there are none, nothing has to say so. */
static void count_missing(struct text_lookup *results)
{
    results->missing = 0;
    for (int64_t row = 0; results->present && row < results->count; row++)
        results->missing += !results->present[row];
    if (results->missing > 0)
        return;
    free(results->present);
    results->present = NULL;
}

enum status row_texts_make(const struct row_call *call, const struct workers *workers, struct span span,
                           struct diags *diags, struct text_lookup *results)
{
    struct rows rows = {.call = call, .results = results};
    if (call->separator)
        return row_lists_make(call, workers, span, diags, results);
    rows.workers = workers ? *workers : (struct workers){.threads = 1};
    rows.workers.progress = NULL;
    const size_t threads = (size_t)rows.workers.threads;
    *results = (struct text_lookup){0};
    rows.made = heap_array(threads, sizeof *rows.made);
    rows.digits = heap_array(call->count + 1, sizeof *rows.digits);
    for (size_t k = 0; k < threads; k++) {
        rows.made[k].maker = text_maker_new(call->format);
        rows.made[k].values = heap_array(call->count + 1, sizeof *rows.made[k].values);
        rows.made[k].elements = heap_array(call->count + 1, sizeof *rows.made[k].elements);
        for (size_t i = 0; i < call->count; i++)
            rows.made[k].values[i] = row_argument_value(&call->arguments[i]);
    }
    enum status status = find_combinations(&rows) ? STATUS_OK : STATUS_CANCELLED;
    if (status == STATUS_OK)
        status = rows.combinations > 0 ? combine(&rows, span, diags) : compute(&rows, call->rows, span, diags, results);
    if (status == STATUS_OK)
        count_missing(results);
    for (size_t k = 0; k < threads; k++) {
        text_maker_free(&rows.made[k].maker);
        free(rows.made[k].values);
        free(rows.made[k].elements);
    }
    free(rows.made);
    free(rows.digits);
    free(rows.bounds);
    free((void *)rows.occurs);
    return status;
}
