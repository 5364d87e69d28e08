/* Tables that are files, as DuckDB reads them: by the name of a pattern, with columns whose names ignore the case of
 * ASCII letters, and structs as columns. */
#include "sql/lower/lower_internal.h"

#include "base/heap.h"
#include "sql/wire/table.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A column, and the length of the name of the column that has it in the file: of a member its struct's. */
struct file_name {
    const char *whole;
    size_t length;
};

static int order_of_names(const void *a, const void *b)
{
    const struct file_name *first = a, *second = b;
    const size_t common = first->length < second->length ? first->length : second->length;
    const int order = strncasecmp(first->whole, second->whole, common);
    if (order != 0 || first->length != second->length)
        return order != 0 ? order : first->length < second->length ? -1 : 1;
    return strcasecmp(first->whole, second->whole);
}

/* Says which names two neighbours in that order share; NULL: DuckDB can tell them apart. */
static const char *common_name(const struct file_name *a, const struct file_name *b, struct arena *arena)
{
    const bool same = a->length == b->length && strncasecmp(a->whole, b->whole, a->length) == 0;
    if (!same || (strncmp(a->whole, b->whole, a->length) == 0 && strcasecmp(a->whole, b->whole) != 0))
        return NULL;
    const bool structs = strcasecmp(a->whole, b->whole) != 0;
    const int first = (int)(structs ? a->length : strlen(a->whole)), second = structs ? first : (int)strlen(b->whole);
    return arena_printf(arena, "the columns `%.*s` and `%.*s`, whose names differ in case alone", first, a->whole,
                        second, b->whole);
}

const char *file_refusal(const struct sql_dialect *dialect, const struct file_reader *file, struct arena *arena)
{
    const char *refusal = NULL;
    struct file_name *names = heap_array(file->count, sizeof *names);
    for (size_t k = 0; k < file->count; k++) {
        const char *whole = file->columns[k].name;
        names[k] = (struct file_name){whole, file->columns[k].logical.member ? strcspn(whole, ".") : strlen(whole)};
        if (strcasecmp(whole, dialect->file_row) == 0)
            refusal = arena_printf(arena, "the column `%s`, whose name is that of its row numbers", whole);
    }
    qsort(names, file->count, sizeof *names, order_of_names);
    for (size_t k = 1; k < file->count && !refusal; k++)
        refusal = common_name(&names[k - 1], &names[k], arena);
    free(names);
    return refusal;
}

const char *file_rows(const struct sql_dialect *dialect, const char *path, struct arena *arena)
{
    struct strbuf pattern = {0}, quoted = {0};
    const bool is_pattern = !strstr(path, "://");
    for (; *path; path++)
        strbuf_printf(&pattern, is_pattern && strchr("*?[", *path) ? "[%c]" : "%c", *path);
    sql_add_string(&quoted, dialect, (struct text){pattern.text, pattern.length});
    strbuf_free(&pattern);
    return sql_phrase(dialect->file, strbuf_take(&quoted, arena), NULL, arena);
}

const char *file_column(const struct sql_dialect *dialect, const struct reader_column *column, struct arena *arena)
{
    struct strbuf out = {0};
    const char *name = column->name;
    for (const char *end; column->logical.member && (end = strchr(name, '.')); name = end + 1) {
        sql_add_name(&out, dialect, arena_text(arena, name, (size_t)(end - name)));
        strbuf_putc(&out, '.');
    }
    sql_add_name(&out, dialect, name);
    return strbuf_take(&out, arena);
}
