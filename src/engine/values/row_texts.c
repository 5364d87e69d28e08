/* Where the arguments are integers, conditions or codes of text, and have fewer combinations than there are rows, those
 * that occur are marked, the function is computed once for each of them, and rows look their results up. Else it is
 * computed for each row. Either way equal results are found by hashing (text_apply.c). */
#include "engine/values/row_texts.h"

#include "engine/values/text_call.h"

#include "base/heap.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 1 << 15 /* rows that a thread takes at once */ };

/* The values of an integer argument, and its weight in the number of a combination. */
struct digit {
    int64_t lo;
    uint64_t count, weight;
};

/* One thread's text. */
struct made {
    struct strbuf text;
    struct scalar *values;
};

struct rows {
    const struct row_call *call;
    struct workers workers;
    struct made *made;     /* of each thread */
    int64_t *lows, *highs; /* of each part and argument */
    struct digit *digits;
    int64_t combinations;    /* 0: each row is computed */
    _Atomic uint8_t *occurs; /* of each combination */
    struct text_lookup *of_combinations, *results;
};

static int64_t integer_at(const struct row_argument *argument, int64_t row)
{
    switch (argument->store) {
#define INTEGER_TYPE(type, element, ...)                                                                               \
    case TYPE_##type:                                                                                                  \
        return (int64_t)((const element *)argument->elements)[row];
#define FLOAT_TYPE(type, element, ...) case TYPE_##type:
#include "engine/values/types.def"
    case TYPE_COUNT:
        break;
    }
    return 0;
}

static bool is_missing(const struct row_call *call, int64_t row)
{
    for (size_t k = 0; k < call->count; k++) {
        const struct row_argument *argument = &call->arguments[k];
        if (argument->elements ? argument->present && !argument->present[row] : argument->constant.missing)
            return true;
    }
    return false;
}

static struct scalar value_at(const struct row_argument *argument, int64_t row)
{
    if (!argument->elements)
        return argument->constant;
    struct scalar value = {.kind = argument->kind, .logical = argument->logical};
    if (argument->store == TYPE_F64)
        value.number = ((const double *)argument->elements)[row];
    else if (argument->store == TYPE_F32)
        value.number = (double)((const float *)argument->elements)[row];
    else
        value.integer = integer_at(argument, row);
    return value;
}

/* The value of argument k in a combination. */
static struct scalar value_in(const struct rows *rows, size_t k, int64_t combination)
{
    const struct row_argument *argument = &rows->call->arguments[k];
    const struct digit *digit = &rows->digits[k];
    if (!argument->elements)
        return argument->constant;
    const uint64_t place = (uint64_t)combination / digit->weight % digit->count;
    return (struct scalar){.kind = argument->kind, .logical = argument->logical, .integer = digit->lo + (int64_t)place};
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

/* The text of an item, a row or a combination. */
static bool make_text(void *context, int member, int64_t item, struct text_argument *args, struct text *text)
{
    const struct rows *rows = context;
    const struct row_call *call = rows->call;
    struct made *made = &rows->made[member];
    const bool combined = rows->combinations > 0;
    if (combined ? atomic_load_explicit(&rows->occurs[item], memory_order_relaxed) == 0 : is_missing(call, item))
        return false;
    for (size_t k = 0; k < call->count; k++) {
        struct scalar *value = &made->values[k];
        *value = combined ? value_in(rows, k, item) : value_at(&call->arguments[k], item);
        if (value->logical.kind == LOGICAL_TEXT && call->arguments[k].elements)
            value->text = dictionary_text(value->logical.dictionary, (int64_t)value->integer);
    }
    if (!call->format) {
        for (size_t k = 1; k < call->count; k++)
            set_argument(&args[k - 1], &made->values[k]);
        *text = made->values[0].text;
        return true;
    }
    strbuf_clear(&made->text);
    text_format_write(call->format, made->values, &made->text);
    *text = (struct text){made->text.text, made->text.length};
    return true;
}

/* What a format makes is the result as it is. */
static bool text_itself(struct text_call *call, struct text text, struct text *result)
{
    (void)call;
    *result = text;
    return true;
}

static const struct text_function itself = {.name = "format", .result = TEXT_TO_TEXT, .edit = text_itself};

static enum status compute(struct rows *rows, int64_t items, struct span span, struct diags *diags,
                           struct text_lookup *lookup)
{
    const struct row_call *call = rows->call;
    const struct text_function *function = call->format ? &itself : call->function;
    struct text_argument args[TEXT_ARGUMENTS] = {0};
    const int count = call->format ? 0 : (int)call->count - 1;
    const struct text_items of_rows = {items, make_text, rows};
    for (int k = 0; k < count; k++) {
        if (!call->arguments[k + 1].elements)
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

static void find_bounds(void *context, int member, int64_t part)
{
    (void)member;
    struct rows *rows = context;
    const int64_t begin = part * PART, end = part_end(rows, part);
    for (size_t k = 0; k < rows->call->count; k++) {
        const struct row_argument *argument = &rows->call->arguments[k];
        int64_t lo = INT64_MAX, hi = INT64_MIN;
        for (int64_t row = begin; row < end && argument->elements; row++) {
            const int64_t number = integer_at(argument, row);
            if (argument->present && !argument->present[row])
                continue;
            lo = number < lo ? number : lo;
            hi = number > hi ? number : hi;
        }
        rows->lows[(size_t)part * rows->call->count + k] = lo;
        rows->highs[(size_t)part * rows->call->count + k] = hi;
    }
}

/* Finds the combinations that the arguments can have; false if cancelled. */
static bool find_combinations(struct rows *rows)
{
    enum { ROWS_OF_ONE = 2, MOST = 1 << 24 };
    const struct row_call *call = rows->call;
    const size_t parts = (size_t)part_count(rows);
    uint64_t total = 1;
    for (size_t k = 0; k < call->count; k++) {
        if (call->arguments[k].elements && type_table[call->arguments[k].store].kind == KIND_FLOAT)
            return true;
    }
    rows->lows = heap_array(parts * call->count + 1, sizeof *rows->lows);
    rows->highs = heap_array(parts * call->count + 1, sizeof *rows->highs);
    if (!run_parts(rows, find_bounds))
        return false;
    for (size_t k = 0; k < call->count; k++) {
        struct digit *digit = &rows->digits[k];
        int64_t lo = INT64_MAX, hi = INT64_MIN;
        for (size_t part = 0; part < parts; part++) {
            const int64_t low = rows->lows[part * call->count + k], high = rows->highs[part * call->count + k];
            lo = low < lo ? low : lo;
            hi = high > hi ? high : hi;
        }
        *digit = (struct digit){.lo = lo, .count = 1, .weight = total};
        if (!call->arguments[k].elements || hi < lo) /* a constant, or nothing has a value */
            continue;
        const uint64_t span = (uint64_t)hi - (uint64_t)lo;
        if (span >= MOST || (digit->count = span + 1) * total > (uint64_t)call->rows / ROWS_OF_ONE)
            return true;
        total *= digit->count;
    }
    rows->combinations = (int64_t)total;
    return true;
}

static int64_t combination_at(const struct rows *rows, int64_t row)
{
    uint64_t combination = 0;
    for (size_t k = 0; k < rows->call->count; k++) {
        const struct row_argument *argument = &rows->call->arguments[k];
        if (argument->elements)
            combination += (uint64_t)(integer_at(argument, row) - rows->digits[k].lo) * rows->digits[k].weight;
    }
    return (int64_t)combination;
}

static void mark_part(void *context, int member, int64_t part)
{
    (void)member;
    struct rows *rows = context;
    for (int64_t row = part * PART; row < part_end(rows, part); row++) {
        if (!is_missing(rows->call, row))
            atomic_store_explicit(&rows->occurs[combination_at(rows, row)], 1, memory_order_relaxed);
    }
}

/* Copies the results of combinations to the rows. */
static void look_part_up(void *context, int member, int64_t part)
{
    (void)member;
    struct rows *rows = context;
    const struct text_lookup *from = rows->of_combinations;
    struct text_lookup *to = rows->results;
    const size_t size = type_table[to->type].size;
    for (int64_t row = part * PART; row < part_end(rows, part); row++) {
        const bool missing = is_missing(rows->call, row);
        const int64_t combination = missing ? 0 : combination_at(rows, row);
        const bool present = !missing && (!from->present || from->present[combination]);
        to->present[row] = present;
        if (!present)
            continue; /* zero */
        if (size == 1)
            ((uint8_t *)to->values)[row] = ((const uint8_t *)from->values)[combination];
        else if (size == 2)
            ((uint16_t *)to->values)[row] = ((const uint16_t *)from->values)[combination];
        else if (size == 4)
            ((uint32_t *)to->values)[row] = ((const uint32_t *)from->values)[combination];
        else
            ((uint64_t *)to->values)[row] = ((const uint64_t *)from->values)[combination];
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
    *to = (struct text_lookup){.type = of_combinations.type,
                               .logical = of_combinations.logical, /* with its reference */
                               .count = rows->call->rows,
                               .cut = of_combinations.cut};
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
    rows.workers = workers ? *workers : (struct workers){.threads = 1};
    rows.workers.progress = NULL;
    const size_t threads = (size_t)rows.workers.threads;
    *results = (struct text_lookup){0};
    rows.made = heap_array(threads, sizeof *rows.made);
    rows.digits = heap_array(call->count + 1, sizeof *rows.digits);
    for (size_t k = 0; k < threads; k++)
        rows.made[k].values = heap_array(call->count + 1, sizeof *rows.made[k].values);
    enum status status = find_combinations(&rows) ? STATUS_OK : STATUS_CANCELLED;
    if (status == STATUS_OK)
        status = rows.combinations > 0 ? combine(&rows, span, diags) : compute(&rows, call->rows, span, diags, results);
    if (status == STATUS_OK)
        count_missing(results);
    for (size_t k = 0; k < threads; k++) {
        strbuf_free(&rows.made[k].text);
        free(rows.made[k].values);
    }
    free(rows.made);
    free(rows.digits);
    free(rows.lows);
    free(rows.highs);
    free((void *)rows.occurs);
    return status;
}
