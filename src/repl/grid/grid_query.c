#include "repl/grid/grid_query.h"

#include "engine/storage/residency.h"
#include "parser/parse.h"

#include <ctype.h>
#include <string.h>

/* Runs a statement about the relation, which it calls by the name of the last result. */
static enum status run_text(struct runner *runner, struct relation *relation, const char *text, struct result *result,
                            struct diags *diags)
{
    struct source *source = arena_alloc(diags->arena, sizeof *source);
    struct stmt *stmt = NULL;
    *source = (struct source){"grid", text, strlen(text)};
    *result = (struct result){.kind = RESULT_NONE};
    if (parse(source, PARSE_PROMPT, diags->arena, diags, &stmt) != PARSE_OK || !stmt)
        return STATUS_FAILED;
    env_set_relation(runner->env, ENV_LAST, relation);
    return run_statement(runner, stmt, diags->arena, result, diags);
}

enum status grid_query_sort(struct runner *runner, struct relation *relation, size_t k, bool descending,
                            struct relation **sorted, struct diags *diags)
{
    struct result result;
    const char *text = arena_printf(diags->arena, ENV_LAST " | sort $%zu%s", k + 1, descending ? " desc" : "");
    const enum status status = run_text(runner, relation, text, &result, diags);
    if (status == STATUS_OK)
        *sorted = relation_ref(result.relation);
    result_release(&result);
    return status;
}

/* How a pattern reads if it is not taken as text. */
enum pattern_kind { PATTERN_TEXT, PATTERN_NUMBER, PATTERN_TIME };

static enum pattern_kind kind_of_pattern(const char *pattern)
{
    const size_t length = strlen(pattern);
    const size_t digits = strspn(pattern + (*pattern == '-'), "0123456789");
    if (digits == 0)
        return PATTERN_TEXT;
    if (strspn(pattern + (*pattern == '-'), "0123456789.") + (*pattern == '-') == length)
        return PATTERN_NUMBER;
    const bool date = digits == 4 && pattern[4] == '-' && strspn(pattern, "0123456789-:T.Z") == length;
    return date ? PATTERN_TIME : PATTERN_TEXT;
}

/* Appends the condition that a row has the pattern. False: no column can have it. */
static bool add_condition(struct strbuf *out, const struct relation *relation, const char *pattern)
{
    const enum pattern_kind kind = kind_of_pattern(pattern);
    bool any = false, capitals = false;
    for (const char *at = pattern; *at; at++)
        capitals = capitals || isupper((unsigned char)*at);
    for (size_t k = 0; k < relation->count; k++) {
        const enum logical logical = relation->columns[k]->logical.kind;
        const bool text = logical == LOGICAL_TEXT;
        const bool time = logical == LOGICAL_DATE || logical == LOGICAL_TIMESTAMP;
        const bool number = logical_is_number(relation->columns[k]->logical);
        if (!text && !(time && kind == PATTERN_TIME) && !(number && kind == PATTERN_NUMBER))
            continue;
        strbuf_puts(out, any ? " || " : "");
        any = true;
        if (text) {
            strbuf_printf(out, capitals ? "contains($%zu, " : "contains(lower($%zu), ", k + 1);
            strbuf_add_literal(out, pattern);
            strbuf_puts(out, ")");
        } else {
            strbuf_printf(out, "$%zu == %s", k + 1, pattern);
        }
    }
    return any;
}

/* A name that no column has. */
static const char *unused_name(const struct relation *relation, struct arena *arena)
{
    const char *name = "row_number";
    while (ROW_NAMED(relation->names, relation->count, name))
        name = arena_printf(arena, "%s_", name);
    return name;
}

enum status grid_query_find(struct runner *runner, struct relation *relation, const char *pattern, int64_t from,
                            bool backward, int64_t *row, struct diags *diags)
{
    struct strbuf text = {0};
    struct result result = {0};
    const char *name = unused_name(relation, diags->arena);
    enum status status = STATUS_OK;
    *row = -1;
    strbuf_printf(&text, ENV_LAST " | derive %s = row | %s %lld | select ", name, backward ? "take" : "skip",
                  (long long)(backward ? from : from + 1));
    if (add_condition(&text, relation, pattern)) {
        strbuf_printf(&text, " | pick %s | %s 1", name, backward ? "tail" : "take");
        status = run_text(runner, relation, text.text, &result, diags);
        if (status == STATUS_OK && result.relation->rows > 0)
            status = relation_fetch(result.relation, 0, 1, (struct span){0}, diags);
        if (status == STATUS_OK && result.relation->rows > 0)
            *row = column_get_int(result.relation->columns[0], 0);
        result_release(&result);
    }
    strbuf_free(&text);
    return status;
}
