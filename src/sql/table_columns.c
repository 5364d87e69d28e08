#include "base/text.h"
#include "sql/table_reader.h"

#include "sql/wire/native.h"

#include <string.h>

/* A column that statements cannot write: its values are computed there. */
static bool is_computed(const struct old_columns *old, size_t k)
{
    return *old->defaults[k] && strcmp(old->defaults[k], "DEFAULT") != 0;
}

/* The place of a column of the rows in the table; old->count, with an error: it has none. */
static size_t place_of(const struct old_columns *old, const char *name, const char *table, struct span span,
                       struct diags *diags)
{
    size_t k = 0;
    while (k < old->count && strcmp(old->names[k], name) != 0)
        k++;
    if (k == old->count) {
        diag_error(diags, span, "`%s` has no column `%s`%s", table, name,
                   did_you_mean(diags->arena, name, old->names, old->count));
    } else if (is_computed(old, k)) {
        diag_error_hint(diags, span, arena_printf(diags->arena, "leave it out: `drop %s`", name),
                        "`%s` of `%s` is computed by the server", name, table);
        k = old->count;
    }
    return k;
}

/* A column of the table that the rows lack, and that has no default; NULL: there is none. */
static const char *lacking(const struct old_columns *old, const struct relation *relation, bool defaults)
{
    for (size_t k = 0; k < old->count; k++) {
        bool has = is_computed(old, k) || (defaults && *old->defaults[k]);
        for (size_t i = 0; i < relation->count && !has; i++)
            has = strcmp(relation->names[i], old->names[k]) == 0;
        if (!has)
            return old->names[k];
    }
    return NULL;
}

enum status old_columns_match(const struct old_columns *old, const struct relation *relation, const char *table,
                              struct span span, struct diags *diags)
{
    static const char *const hint = "`save PATH replace` takes its place, with these columns";
    const char *lack = lacking(old, relation, false);
    for (size_t i = 0; i < relation->count; i++) {
        const struct column *column = relation->columns[i];
        struct wire_type wire;
        const size_t k = place_of(old, relation->names[i], table, span, diags);
        if (k == old->count)
            return diag_hint(diags, "%s", hint);
        if (!wire_type_parse(old->types[k], diags->arena, &wire) || wire.logical.kind != column->logical.kind ||
            (type_table[wire.type].kind == KIND_FLOAT) != (type_table[column->type].kind == KIND_FLOAT))
            return diag_error_hint(diags, span, hint, "`%s` of `%s` is of another type, %s", relation->names[i], table,
                                   old->types[k]);
    }
    if (lack)
        return diag_error_hint(diags, span, hint, "`%s` has a column `%s`, which is not among those to be saved", table,
                               lack);
    return STATUS_OK;
}

enum status old_columns_store(const struct old_columns *old, const struct relation *relation, const char *table,
                              struct stored_column *stored, struct span span, struct diags *diags)
{
    const char *lack = lacking(old, relation, true), *type = "";
    for (size_t i = 0; i < relation->count; i++) {
        const size_t k = place_of(old, relation->names[i], table, span, diags);
        if (k == old->count || stored_column_as(relation->columns[i], relation->names[i], old->types[k], &stored[i],
                                                span, diags) != STATUS_OK)
            return STATUS_FAILED;
    }
    for (size_t k = 0; k < old->count && lack; k++)
        type = strcmp(old->names[k], lack) == 0 ? old->types[k] : type;
    if (lack)
        return diag_error_hint(diags, span,
                               strstr(type, "Nullable") ? "`derive` it, perhaps as `missing`" : "`derive` it",
                               "`%s` has a column `%s` without a default, which the rows lack", table, lack);
    return STATUS_OK;
}
