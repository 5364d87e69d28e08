/* Texts of groups: those of their rows, in the order of rows, with a separator between them. Rows are put in the order
 * of their groups by counting, each group's text is made once, and its rows look it up. */
#include "engine/text_functions/row_texts.h"

#include "base/buffer_pool.h"
#include "base/heap.h"
#include "base/integer.h"

#include <stdlib.h>
#include <string.h>

struct lists {
    const struct row_call *call;
    struct text_maker *made; /* of each thread */
    struct buffer_pool *pool;
    struct pool_array id_array, value_array;
    uint32_t *ids; /* of each row: its group */
    int64_t groups;
    int64_t *ends;             /* of each group, behind a 0: where its values end, */
    union row_element *values; /* in this list of those that are there */
};

static void find_groups(struct lists *lists)
{
    const struct row_call *call = lists->call;
    lists->ids = pool_array_new(&lists->id_array, lists->pool, (size_t)call->rows + 1, sizeof *lists->ids);
    union row_element groups[TEXT_BATCH];
    for (int64_t row = 0; row < call->rows; row += TEXT_BATCH) {
        const int64_t count = min_int64(TEXT_BATCH, call->rows - row);
        row_argument_elements(&call->arguments[1], row, count, groups);
        for (int64_t k = 0; k < count; k++) {
            lists->ids[row + k] = (uint32_t)groups[k].integer;
            lists->groups = groups[k].integer < lists->groups ? lists->groups : groups[k].integer + 1;
        }
    }
}

static void order_values(struct lists *lists)
{
    const struct row_call *call = lists->call;
    const struct row_argument *argument = &call->arguments[0];
    int64_t *next = heap_array((size_t)lists->groups + 2, sizeof *next);
    lists->values = pool_array_new(&lists->value_array, lists->pool, (size_t)call->rows + 1, sizeof *lists->values);
    for (int64_t row = 0; row < call->rows; row++)
        next[lists->ids[row] + 2] += !row_argument_missing(argument, row);
    for (int64_t group = 0; group < lists->groups; group++)
        next[group + 2] += next[group + 1];
    for (int64_t row = 0; row < call->rows; row++) {
        if (!row_argument_missing(argument, row))
            row_argument_elements(argument, row, 1, &lists->values[next[lists->ids[row] + 1]++]);
    }
    lists->ends = next;
}

/* Appends the text of a group. */
static void add_group(const struct lists *lists, struct text_maker *made, int64_t begin, int64_t end)
{
    const struct row_call *call = lists->call;
    struct scalar value = row_argument_value(&call->arguments[0]);
    for (int64_t k = begin; k < end; k++) {
        row_element_set(&call->arguments[0], lists->values[k], &value);
        if (k > begin)
            strbuf_add(&made->text, call->separator->at, call->separator->length);
        if (value.logical.kind == LOGICAL_TEXT)
            strbuf_add(&made->text, value.text.at, value.text.length);
        else
            text_maker_add(made, &value);
    }
}

static void make_texts(void *context, int member, int64_t first, int64_t count, struct text_batch *batch)
{
    const struct lists *lists = context;
    struct text_maker *made = &lists->made[member];
    size_t ends[TEXT_BATCH];
    strbuf_clear(&made->text);
    for (int64_t i = 0; i < count; i++) {
        const int64_t begin = lists->ends[first + i], end = lists->ends[first + i + 1];
        batch->present[i] = end > begin;
        add_group(lists, made, begin, end);
        ends[i] = made->text.length;
    }
    row_texts_set(batch, count, made->text.text, ends);
}

/* The results of groups at their rows. */
static void look_up(const struct lists *lists, const struct text_lookup *from, struct text_lookup *to)
{
    const size_t size = type_table[from->type].size, rows = (size_t)lists->call->rows;
    *to = (struct text_lookup){.type = from->type, .logical = from->logical, .count = lists->call->rows};
    to->values = heap_array(rows + 1, size);
    to->present = heap_array(rows + 1, 1);
    for (size_t row = 0; row < rows; row++) {
        const size_t group = lists->ids[row];
        memcpy((char *)to->values + row * size, (const char *)from->values + group * size, size);
        to->present[row] = !from->present || from->present[group];
        to->missing += !to->present[row];
    }
}

enum status row_lists_make(const struct row_call *call, const struct workers *workers, struct span span,
                           struct diags *diags, struct text_lookup *results)
{
    struct lists lists = {.call = call, .pool = workers ? workers->pool : NULL};
    struct workers used = workers ? *workers : (struct workers){.threads = 1};
    struct text_lookup of_groups = {0};
    used.progress = NULL;
    *results = (struct text_lookup){0};
    lists.made = heap_array((size_t)used.threads, sizeof *lists.made);
    for (int k = 0; k < used.threads; k++)
        lists.made[k] = text_maker_new(call->format);
    find_groups(&lists);
    order_values(&lists);
    const struct text_items items = {.count = lists.groups, .make = make_texts, .context = &lists};
    const enum status status = text_items_apply(&text_as_made, &items, NULL, 0, &used, span, diags, &of_groups);
    if (status == STATUS_OK) {
        look_up(&lists, &of_groups, results);
        of_groups.logical.dictionary = NULL; /* the results have the reference */
        text_lookup_free(&of_groups);
    }
    for (int k = 0; k < used.threads; k++)
        text_maker_free(&lists.made[k]);
    free(lists.made);
    free(lists.ends);
    pool_array_free(&lists.id_array);
    pool_array_free(&lists.value_array);
    return status;
}
