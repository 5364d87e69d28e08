/* Guessing types, and finding the keys of JSON objects, from the first records. */
#include "engine/text/cells.h"
#include "engine/text/classify.h"
#include "engine/text/json.h"
#include "engine/text/key_index.h"
#include "engine/text/records.h"
#include "engine/text/table.h"

#include <string.h>

enum { SAMPLE_ROWS = 1000, SAMPLE_BYTES = 1 << 20, SAMPLE_CELLS = 1 << 16 };

/* Whether another record at `at` belongs to the sample; `cells` have been taken. */
static bool sampled(const struct table *table, const char *begin, const char *at, int row, size_t cells)
{
    return at && at < table->end && row < SAMPLE_ROWS && at - begin < SAMPLE_BYTES && cells < SAMPLE_CELLS;
}

void table_sample(struct table *table, const char *at)
{
    const char *begin = at;
    size_t cells = 0;
    for (int row = 0; at = skip_left_out(table, at), sampled(table, begin, at, row, cells); row++) {
        const char *record = at;
        for (size_t k = 0; k < table->count; k++, cells++) {
            struct cell cell;
            at = cell_scan(table->dialect, at, table->end, &cell);
            const bool more = k + 1 < table->count;
            if (!at || (more && (at == table->end || *at == '\n')))
                break;
            at += more;
            (void)evidence_add_cell(&table->columns[k].evidence, table, cell);
        }
        if (!at || (at < table->end && *at != '\n')) { /* parsing will report the error, if it is one */
            size_t count;
            at = record_end(table, record, &count);
        }
        at = at < table->end ? at + 1 : at;
    }
}

void table_guess_kinds(struct table *table)
{
    for (size_t k = 0; k < table->count; k++) {
        struct table_column *column = &table->columns[k];
        /* Blanks say nothing: numbers are guessed. */
        (void)decide_kind(table, column, evidence_has_values(&column->evidence) ? 1 : 0, false);
    }
}

/* The columns found so far. */
struct keys {
    struct table *table;
    struct key_index *index;
    size_t capacity;
    struct arena *arena;
    struct strbuf scratch;
};

static struct table_column *column_of(struct keys *keys, struct cell key)
{
    struct table *table = keys->table;
    struct text text = cell_text(table->dialect, key, &keys->scratch);
    const size_t k = key_index_find(keys->index, text);
    if (k < table->count)
        return &table->columns[k];
    const char *name = arena_text(keys->arena, text.at, text.length);
    key_index_add(keys->index, (struct text){name, text.length});
    table->columns = arena_reserve(keys->arena, table->columns, table->count, &keys->capacity, sizeof *table->columns);
    struct table_column *column = &table->columns[table->count++];
    *column = (struct table_column){.name = name, .key = key};
    return column;
}

/* Takes the keys of an object. Returns its end; NULL: it is none. */
static const char *sample_object(struct keys *keys, const char *at)
{
    const char *end = keys->table->end;
    at = json_open(at, end);
    bool more = at && at < end && *at != '}';
    while (more) {
        struct cell key = {0}, value;
        at = json_key(at, end, &key);
        at = at ? json_scan(at, end, &value) : NULL;
        if (!at)
            return NULL;
        struct table_column *column = column_of(keys, key);
        const enum value_class value_class = classify(keys->table, value);
        evidence_add(&column->evidence, value_class, value.at);
        column->nested = column->nested || value_class == CLASS_NESTED;
        more = *at == ',';
        at += more;
    }
    return at && at < end ? json_line_end(at + 1, end) : NULL;
}

/* Moves the columns that are left out behind the others. */
static void order_columns(struct keys *keys)
{
    struct table *table = keys->table;
    struct table_column *ordered = arena_array(keys->arena, table->count, sizeof *ordered);
    size_t next = 0;
    for (int nested = 0; nested < 2; nested++) {
        for (size_t k = 0; k < table->count; k++) {
            if (table->columns[k].nested == (nested == 1))
                ordered[next++] = table->columns[k];
        }
    }
    struct key_index *index = key_index_new(keys->arena);
    for (size_t k = 0; k < table->count; k++)
        key_index_add(index, (struct text){ordered[k].name, strlen(ordered[k].name)});
    table->columns = ordered;
    table->keys = index;
}

bool table_sample_keys(struct table *table, struct arena *arena, struct problem *problem)
{
    struct keys keys = {.table = table, .index = key_index_new(arena), .arena = arena};
    const char *at = table->begin;
    size_t cells = 0;
    for (int row = 0; at && table->count <= MAX_COLUMNS; row++) {
        const char *line = at = skip_left_out(table, at);
        if (!sampled(table, table->begin, at, row, cells))
            break;
        *problem = (struct problem){.kind = PROBLEM_COUNT, .at = at};
        at = sample_object(&keys, at);
        if (!at && table->errors != ERRORS_TELL)
            at = line_end(table, line);
        if (at && at < table->end)
            at++;
        cells += table->count;
    }
    strbuf_free(&keys.scratch);
    if (table->count > 0)
        order_columns(&keys);
    return at && table->count > 0;
}
