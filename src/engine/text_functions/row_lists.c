/* Texts of groups: those of their rows, in the order of rows, with a separator between them. Rows are put in the order
 * of their groups by counting, each group's text is made once, and its rows look it up. */
#include "engine/text_functions/row_texts.h"

#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

struct lists {
    const struct row_call *call;
    struct strbuf *made; /* of each thread */
    uint32_t *ids;       /* of each row: its group */
    int64_t groups;
    int64_t *ends;             /* of each group, behind a 0: where its values end, */
    union row_element *values; /* in this list of those that are there */
};

static void find_groups(struct lists *lists)
{
    const struct row_call *call = lists->call;
    lists->ids = heap_array((size_t)call->rows + 1, sizeof *lists->ids);
    for (int64_t row = 0; row < call->rows; row++) {
        const int64_t group = row_argument_element(&call->arguments[1], row).integer;
        lists->ids[row] = (uint32_t)group;
        lists->groups = group < lists->groups ? lists->groups : group + 1;
    }
}

static void order_values(struct lists *lists)
{
    const struct row_call *call = lists->call;
    const struct row_argument *argument = &call->arguments[0];
    int64_t *next = heap_array((size_t)lists->groups + 2, sizeof *next);
    lists->values = heap_array((size_t)call->rows + 1, sizeof *lists->values);
    for (int64_t row = 0; row < call->rows; row++)
        next[lists->ids[row] + 2] += !row_argument_missing(argument, row);
    for (int64_t group = 0; group < lists->groups; group++)
        next[group + 2] += next[group + 1];
    for (int64_t row = 0; row < call->rows; row++) {
        if (!row_argument_missing(argument, row))
            lists->values[next[lists->ids[row] + 1]++] = row_argument_element(argument, row);
    }
    lists->ends = next;
}

static bool make_text(void *context, int member, int64_t group, struct text_argument *args, struct text *text)
{
    (void)args;
    const struct lists *lists = context;
    const struct row_call *call = lists->call;
    struct strbuf *made = &lists->made[member];
    const int64_t begin = lists->ends[group], end = lists->ends[group + 1];
    struct scalar value = row_argument_value(&call->arguments[0]);
    strbuf_clear(made);
    for (int64_t k = begin; k < end; k++) {
        row_element_set(&call->arguments[0], lists->values[k], &value);
        if (k > begin)
            strbuf_add(made, call->separator->at, call->separator->length);
        if (value.logical.kind == LOGICAL_TEXT)
            strbuf_add(made, value.text.at, value.text.length);
        else
            text_format_write(call->format, &value, made);
    }
    *text = (struct text){made->text ? made->text : "", made->length};
    return end > begin;
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
    struct lists lists = {.call = call};
    struct workers used = workers ? *workers : (struct workers){.threads = 1};
    struct text_lookup of_groups = {0};
    used.progress = NULL;
    *results = (struct text_lookup){0};
    lists.made = heap_array((size_t)used.threads, sizeof *lists.made);
    find_groups(&lists);
    order_values(&lists);
    const struct text_items items = {.count = lists.groups, .make = make_text, .context = &lists};
    const enum status status = text_items_apply(&text_as_made, &items, NULL, 0, &used, span, diags, &of_groups);
    if (status == STATUS_OK) {
        look_up(&lists, &of_groups, results);
        of_groups.logical.dictionary = NULL; /* the results have the reference */
        text_lookup_free(&of_groups);
    }
    for (int k = 0; k < used.threads; k++)
        strbuf_free(&lists.made[k]);
    free(lists.made);
    free(lists.ends);
    free(lists.ids);
    free(lists.values);
    return status;
}
