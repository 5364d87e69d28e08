/* Guessing types, and finding the keys of JSON objects, from the first records. */
#include "engine/json/json.h"
#include "engine/json/json_keys.h"
#include "engine/text/cells.h"
#include "engine/text/classify.h"
#include "engine/text/records.h"
#include "engine/text/table.h"

#include <string.h>

enum { SAMPLE_CELLS = 1 << 16 };

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
            const enum value_class value_class = evidence_add_cell(&table->columns[k].evidence, table, cell);
            table->columns[k].texts += value_class == CLASS_TEXT;
            table->columns[k].others += value_class < CLASS_TEXT;
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

bool table_sample_keys(struct table *table, struct problem *problem)
{
    const char *at = table->begin;
    size_t cells = 0;
    for (int row = 0; at; row++) {
        const char *record = at = skip_left_out(table, at);
        if (!sampled(table, table->begin, at, row, cells))
            break;
        const char *limit = record_limit(table, at, table->end);
        *problem = (struct problem){.kind = PROBLEM_COUNT, .at = at};
        at = json_learn(table->keys, table, at, limit);
        at = at ? record_next(table, at, limit, table->end) : NULL;
        if (!at && table->errors != ERRORS_TELL) {
            at = record_end(table, record, &cells);
            at += at < table->end;
        }
        cells += table->keys->count;
    }
    return at;
}
