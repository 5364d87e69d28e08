#include "engine/text/notes.h"

#include "engine/json/json.h"
#include "engine/json/json_keys.h"
#include "engine/text/cells.h"
#include "engine/text/classify.h"
#include "engine/text/table.h"

enum { MAX_LISTED = 8 };

bool note_next(struct note_list *list)
{
    if (list->count++ < MAX_LISTED) {
        strbuf_puts(list->out, list->count > 1 ? ", " : list->separator);
        return true;
    }
    if (list->count == MAX_LISTED + 1)
        strbuf_puts(list->out, ", ...");
    return false;
}

static void add_count(struct strbuf *out, int64_t count)
{
    if (count >= 1000) {
        add_count(out, count / 1000);
        strbuf_printf(out, ",%03d", (int)(count % 1000));
    } else {
        strbuf_printf(out, "%d", (int)count);
    }
}

/* "24,912 missing in `price`, 3 in `qty`" */
static void add_counts(struct strbuf *out, const struct table *table, const bool *read, bool cut, const char *what)
{
    struct note_list list = {out, 0, out->length > 0 ? "; " : ""};
    for (size_t k = 0; k < table->count; k++) {
        const struct table_column *column = &table->columns[k];
        const int64_t count = cut ? column->cut : column->missing;
        if (!read[k] || column->list != NO_COLUMN || count == 0 || !note_next(&list))
            continue;
        add_count(out, count);
        strbuf_puts(out, list.count == 1 ? what : "");
        if (*column->name) /* .txt files have one column without a name */
            strbuf_printf(out, " in `%s`", column->name);
    }
}

static void add_lines(struct strbuf *out, const struct table *table)
{
    if (table->blanks > 0) {
        strbuf_puts(out, out->length > 0 ? "; " : "");
        add_count(out, table->blanks);
        strbuf_puts(out, table->blanks == 1 ? " blank line is left out" : " blank lines are left out");
    }
    if (table->faults > 0) {
        const bool skipped = table->errors == ERRORS_SKIP || table->dialect->json;
        strbuf_puts(out, out->length > 0 ? "; " : "");
        add_count(out, table->faults);
        strbuf_printf(out, " line%s %s, %s line %lld", table->faults == 1 ? "" : "s",
                      !skipped             ? "with too few or many values"
                      : table->faults == 1 ? "with errors is left out"
                                           : "with errors are left out",
                      table->faults == 1 ? "in" : "the first in", (long long)table_line(table, table->first_fault));
    }
}

static void add_faults(struct strbuf *out, const struct table *table, const bool *read, struct arena *arena)
{
    struct note_list list = {out, 0, out->length > 0 ? "; " : ""};
    for (size_t k = 0; k < table->count; k++) {
        const struct table_column *column = &table->columns[k];
        if (!read[k] || column->faults == 0 || !note_next(&list))
            continue;
        add_count(out, column->faults);
        strbuf_printf(out, " of them %s no value of `%s`: `%s` in line %lld", column->faults == 1 ? "is" : "are",
                      column->name, table_shown_cell(table, column->first_fault, arena),
                      (long long)table_line(table, column->first_fault));
    }
}

static void add_text_columns(struct strbuf *out, const struct table *table, const bool *read, struct arena *arena)
{
    struct note_list list = {out, 0, out->length > 0 ? "; " : ""};
    for (size_t k = 0; k < table->count; k++) {
        const struct table_column *column = &table->columns[k];
        const char *odd = read[k] && !column->open ? odd_value(table, column) : NULL;
        const char *name = table_column_shown(table, k, arena);
        const char *subject = *name ? arena_printf(arena, "`%s`", name) : "it";
        if (odd && note_next(&list))
            strbuf_printf(out, "%s is text: `%s` in line %lld", subject, table_shown_cell(table, odd, arena),
                          (long long)table_line(table, odd));
    }
}

/* Columns of values that are objects in other records: those of their fields are next. */
static void add_objects(struct strbuf *out, const struct table *table, const bool *read, struct arena *arena)
{
    struct note_list list = {out, 0, out->length > 0 ? "; " : ""};
    for (size_t k = 0; k + 1 < table->count && table->keys; k++) {
        const struct table_column *column = &table->columns[k], *next = &table->columns[k + 1];
        const struct json_node *node = &table->keys->nodes[column->node];
        const size_t length = strlen(column->name);
        const bool fields = next->list == column->list && next->member && node->object &&
                            strncmp(next->name, column->name, length) == 0 && next->name[length] == '.';
        if (read[k] && fields && note_next(&list))
            strbuf_printf(out, "`%s` has objects, too, the first in line %lld, whose fields are columns of their own",
                          table_column_shown(table, k, arena), (long long)table_line(table, node->object));
    }
}

static void add_left_out(struct strbuf *out, const struct table *table)
{
    struct note_list list = {out, 0, out->length > 0 ? "; left out: " : "left out: "};
    if (table->unknown && note_next(&list)) {
        struct cell key;
        if (json_key(table->unknown - 1, table->end, &key))
            strbuf_printf(out, "`%.*s` (first in line %lld)", (int)(key.end - key.at < 40 ? key.end - key.at : 40),
                          key.at, (long long)table_line(table, table->unknown));
    }
}

void table_note(struct table *table, const bool *read, struct column *const *columns, const struct format_job *job,
                const char *path)
{
    struct strbuf text = {0};
    add_counts(&text, table, read, false, " missing");
    add_faults(&text, table, read, job->diags->arena);
    add_counts(&text, table, read, true, " cut to microseconds");
    note_ways(&text, table, read, columns, job->diags->arena);
    add_text_columns(&text, table, read, job->diags->arena);
    add_objects(&text, table, read, job->diags->arena);
    if (!table->noted) {
        add_lines(&text, table);
        add_left_out(&text, table);
    }
    table->noted = true;
    if (text.length > 0)
        diag_note(job->diags, (struct span){0}, "`%s`: %s", path, text.text);
    strbuf_free(&text);
}
