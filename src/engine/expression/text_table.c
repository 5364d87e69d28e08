#include "engine/expression/text_use.h"

#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

/* A column of `lookup`'s values, at least one; NULL: no memory. */
static struct column *column_of(const struct text_lookup *lookup, enum type type, const void *values)
{
    const int64_t rows = lookup->count > 0 ? lookup->count : 1;
    struct column *column = column_reserve(type, type, rows);
    if (!column)
        return NULL;
    if (lookup->count > 0)
        memcpy(column_at(column, 0), values, (size_t)lookup->count * type_table[type].size);
    column_finish(column, rows);
    if (type_table[type].kind != KIND_INT)
        return column;
    column->range_known = true;
    column->lo = column->hi = column_get_int(column, 0);
    for (int64_t row = 1; row < rows; row++) {
        const int64_t number = column_get_int(column, row);
        column->lo = number < column->lo ? number : column->lo;
        column->hi = number > column->hi ? number : column->hi;
    }
    return column;
}

/* The one interval of codes, first to end - 1, for which a bool is true; false if there are several. */
static bool find_interval(const struct text_lookup *lookup, int64_t *first, int64_t *end)
{
    const uint8_t *truths = lookup->values;
    int64_t begin = 0, count = lookup->count;
    while (begin < count && !truths[begin])
        begin++;
    *first = *end = begin;
    while (*end < count && truths[*end])
        ++*end;
    int64_t rest = *end;
    while (rest < count && !truths[rest])
        rest++;
    return rest == count;
}

struct text_table *text_table_new(const struct text_lookup *lookup)
{
    struct text_table *table = heap_array(1, sizeof *table);
    bool made = true;
    *table = (struct text_table){
        .refs = 1, .logical = lookup->logical, .count = lookup->count, .missing = lookup->missing, .cut = lookup->cut};
    dictionary_ref(lookup->logical.dictionary);
    if (lookup->type != TYPE_BOOL || !find_interval(lookup, &table->first, &table->end)) {
        table->values = column_of(lookup, lookup->type, lookup->values);
        made = table->values;
        if (made)
            column_set_logical(table->values, lookup->logical);
    }
    if (lookup->present)
        table->present = column_of(lookup, TYPE_BOOL, lookup->present);
    if (!made || (lookup->present && !table->present)) {
        text_table_unref(table);
        return NULL;
    }
    while (table->first_missing < lookup->count && lookup->present && lookup->present[table->first_missing])
        table->first_missing++;
    return table;
}

void text_table_unref(struct text_table *table)
{
    if (!table || --table->refs > 0)
        return;
    column_unref(table->values);
    column_unref(table->present);
    dictionary_unref(table->logical.dictionary);
    free(table);
}

static void release(void *table)
{
    text_table_unref(table);
}

void text_table_how(struct strbuf *how, const struct text_function *function, const struct text_argument *args,
                    int count)
{
    strbuf_add(how, (const char *)&function, sizeof function);
    for (int k = 0; k < count; k++) {
        const struct text text = function->kinds[k] == ARGUMENT_TEXT ? args[k].text : (struct text){0};
        const int64_t number = function->kinds[k] == ARGUMENT_TEXT ? (int64_t)text.length : args[k].integer;
        strbuf_add(how, (const char *)&number, sizeof number);
        if (text.length > 0)
            strbuf_add(how, text.at, text.length);
    }
}

void text_table_keep(struct text_table *table, struct kept *kept, const struct kept_key *key)
{
    enum { FEW = 1 << 12 }; /* strings, of which all is made again at once */
    const struct dictionary *made = table->logical.dictionary;
    if (table->count <= FEW)
        return;
    table->refs++;
    kept_add(kept, key, table, release,
             kept_bytes(table->values) + kept_bytes(table->present) + (made ? (int64_t)made->offsets[made->count] : 0));
}
