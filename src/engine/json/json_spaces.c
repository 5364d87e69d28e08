/* The rows that columns of JSON have values of: records, and the elements of each list. Each chunk's elements follow
 * those of the chunk before, so they are counted before values are parsed. */
#include "engine/text/pass.h"

#include "base/heap.h"
#include "engine/json/json_keys.h"
#include "engine/storage/list_store.h"

#include <stdlib.h>

static void want(const struct json_keys *keys, unsigned char *wanted, size_t k, unsigned what)
{
    for (wanted[k] = (unsigned char)(wanted[k] | what); k > 0; k = keys->nodes[k].parent) {
        const size_t parent = keys->nodes[k].parent;
        what = keys->nodes[parent].elements == k ? WANTED_ELEMENTS : WANTED_FIELDS;
        wanted[parent] = (unsigned char)(wanted[parent] | what);
    }
}

void pass_open_json(struct pass *pass)
{
    const struct table *table = pass->table;
    const struct json_keys *keys = table->keys;
    const size_t spaces = table->list_count + 1;
    pass->step_of = heap_array(table->count, sizeof *pass->step_of);
    pass->space_steps = heap_array(spaces + 1, sizeof *pass->space_steps);
    pass->wanted = heap_array(keys->count, sizeof *pass->wanted);
    pass->wanted_lists = heap_array(keys->count, sizeof *pass->wanted_lists);
    pass->first_rows = heap_array(spaces * (size_t)table->chunk_count, sizeof *pass->first_rows);
    pass->rows_of = heap_array(spaces * (size_t)table->chunk_count, sizeof *pass->rows_of);
    for (size_t k = 0; k < table->count; k++)
        pass->step_of[k] = pass->count;
    for (size_t s = 0; s < pass->count; s++) {
        const struct table_column *column = pass->steps[s].column;
        const bool list = column->kind == VALUE_LIST;
        pass->step_of[column - table->columns] = s;
        pass->space_steps[column->space + 1] = s + 1;
        want(keys, pass->wanted, column->node, list ? WANTED_ELEMENTS : WANTED_VALUES);
        if (column->list != NO_COLUMN) /* of a list, those of its own list are counted */
            want(keys, pass->wanted_lists, table->columns[column->list].node, WANTED_ELEMENTS);
        if (list)
            want(keys, pass->wanted_lists, column->node, WANTED_ELEMENTS);
    }
    for (size_t i = 1; i <= spaces; i++) {
        if (pass->space_steps[i] < pass->space_steps[i - 1])
            pass->space_steps[i] = pass->space_steps[i - 1];
    }
    for (int i = 0; i < pass->member_count; i++) {
        struct member *member = &pass->members[i];
        member->last_rows = heap_array(keys->count, sizeof *member->last_rows);
        member->stored = heap_array(pass->count, sizeof *member->stored);
        member->next = heap_array(spaces, sizeof *member->next);
    }
}

void pass_free_json(struct pass *pass)
{
    for (int i = 0; i < pass->member_count; i++) {
        free(pass->members[i].last_rows);
        free(pass->members[i].stored);
        free(pass->members[i].next);
    }
    free(pass->step_of);
    free(pass->space_steps);
    free(pass->wanted);
    free(pass->wanted_lists);
    free(pass->first_rows);
    free(pass->rows_of);
}

void pass_begin_chunk(struct parser *parser)
{
    const struct pass *pass = parser->pass;
    const size_t chunks = (size_t)pass->table->chunk_count;
    for (size_t space = 1; pass->step_of && space <= pass->table->list_count; space++)
        parser->member->next[space] = parser->counts ? 0 : pass->first_rows[space * chunks + parser->part];
}

void pass_end_chunk(struct parser *parser)
{
    const struct pass *pass = parser->pass;
    const size_t chunks = (size_t)pass->table->chunk_count;
    for (size_t space = 1; parser->counts && space <= pass->table->list_count; space++)
        pass->rows_of[space * chunks + parser->part] = parser->member->next[space];
}

bool pass_count_elements(struct pass *pass, const struct workers *workers)
{
    const struct table *table = pass->table;
    const size_t chunks = (size_t)table->chunk_count;
    bool lists = false;
    pass->space_rows = heap_array(table->list_count + 1, sizeof *pass->space_rows);
    pass->space_rows[0] = table->rows;
    for (size_t s = 0; s < pass->count; s++)
        lists = lists || pass->steps[s].column->kind == VALUE_LIST || pass->steps[s].column->space > 0;
    if (lists && !pass_run(pass, workers, true))
        return false;
    for (size_t space = 1; lists && space <= table->list_count; space++) {
        for (size_t chunk = 0; chunk < chunks; chunk++) {
            pass->first_rows[space * chunks + chunk] = pass->space_rows[space];
            pass->space_rows[space] += pass->rows_of[space * chunks + chunk];
        }
    }
    return true;
}

/* The columns of the elements of list k: those of `all`; NULL: of the types that they have so far, unread. */
static struct relation *elements_of(const struct table *table, size_t k, struct column *const *all)
{
    size_t first = k + 1, count = 0;
    while (first < table->count && table->columns[first].list != k)
        first++;
    while (first + count < table->count && table->columns[first + count].list == k)
        count++;
    struct column **columns = heap_array(count, sizeof *columns);
    const char **names = heap_array(count, sizeof *names);
    for (size_t i = 0; i < count; i++) {
        const struct table_column *column = &table->columns[first + i];
        struct logical_type logical = table_column_logical(column);
        logical.lists = all || column->kind != VALUE_LIST ? NULL : json_unread_lists(table, first + i);
        columns[i] = all ? column_ref(all[first + i]) : column_unread(column->type, logical, 0, true, true);
        names[i] = column->name;
        list_store_unref(logical.lists);
        if (!columns[i])
            heap_exhausted();
    }
    struct relation *elements = relation_new(count > 0 ? columns[0]->rows : 0, count, columns, names);
    for (size_t i = 0; i < count; i++)
        column_unref(columns[i]);
    free(names);
    free(columns);
    return elements;
}

struct list_store *json_unread_lists(const struct table *table, size_t k)
{
    return list_store_unread(elements_of(table, k, NULL), false);
}

bool json_make_lists(const struct table *table, struct column **all)
{
    for (size_t k = table->count; k-- > 0;) { /* lists come before those within them */
        if (table->columns[k].kind != VALUE_LIST || !all[k])
            continue;
        const int64_t *offsets = all[k]->data;
        const int64_t rows = all[k]->rows - 1;
        struct list_store *store = list_store_of_offsets(offsets, rows, elements_of(table, k, all), false);
        struct column *validity = all[k]->validity ? column_ref(all[k]->validity) : NULL;
        struct column *lists = column_of_lists(store, rows, validity);
        if (!lists)
            return false;
        lists->logical.member = table->columns[k].member;
        column_unref(all[k]);
        all[k] = lists;
    }
    return true;
}
