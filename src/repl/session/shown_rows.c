#include "repl/session/session.h"

#include "repl/print/table_layout.h"

static bool has_unread(const struct relation *relation)
{
    for (size_t k = 0; k < relation->count; k++) {
        if (relation->columns[k]->unread)
            return true;
    }
    return false;
}

struct relation *shown_rows(const struct session *session, const struct result *result, const struct print_style *style,
                            struct span span, enum status *status, struct diags *diags)
{
    const struct relation *relation = result->relation;
    *status = STATUS_OK;
    if (result->quiet || !has_unread(relation))
        return relation_ref(result->relation);
    int64_t head, tail;
    const size_t most = table_most_columns(relation, style);
    struct column **columns = arena_array(diags->arena, relation->count, sizeof(struct column *));
    print_table_rows(result, style, &head, &tail);
    for (size_t k = 0; k < relation->count; k++)
        columns[k] = column_ref(relation->columns[k]);
    file_cache_set_progress(session->file_cache, session->runner.progress);
    *status = file_cache_read_ends(session->file_cache, columns, most, head, tail, span, diags);
    file_cache_set_progress(session->file_cache, NULL);
    struct relation *shown = NULL;
    if (*status == STATUS_OK)
        shown = relation_new(relation->rows, relation->count, columns, (const char *const *)relation->names);
    if (shown)
        relation_set_shape(shown, &relation->shape);
    columns_unref(columns, relation->count);
    return shown;
}
