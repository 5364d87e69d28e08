/* `explain sql PIPELINE`: what the server of a table runs. */
#include "engine/bind/bind.h"
#include "engine/bind/summary.h"
#include "engine/explain/explain.h"
#include "engine/expression/expression.h"
#include "engine/formats/open_file.h"

#include <string.h>

/* Characters of the rest of the pipeline. */
enum { REST_SHOWN = 100 };

static enum status check_dialect(const struct runner *runner, const struct stmt *stmt, struct diags *diags)
{
    const struct table_source *tables = file_cache_tables(runner->env->file_cache);
    struct strbuf names = {0};
    bool known = false;
    for (size_t k = 0; tables && tables->dialect(k) && !known; k++) {
        known = strcmp(tables->dialect(k), stmt->dialect.text) == 0;
        strbuf_printf(&names, "%s%s", k > 0 ? ", " : "", tables->dialect(k));
    }
    if (!known) {
        diag_error(diags, stmt->dialect.span, "there is no dialect `%s`", stmt->dialect.text);
        diag_hint(diags, "dialects of SQL: %s", names.text ? names.text : "none in this build");
    }
    strbuf_free(&names);
    return known ? STATUS_OK : STATUS_FAILED;
}

static void print_description(struct strbuf *out, const struct remote_description *description, const struct stmt *stmt,
                              struct arena *arena)
{
    strbuf_printf(out, "%s\n", description->address);
    if (description->query)
        strbuf_printf(out, "  %s\n", description->query);
    else
        strbuf_puts(out, "  one SELECT of the columns that are read\n");
    strbuf_puts(out, description->query && description->sent ? description->sent : "");
    if (description->asks)
        strbuf_puts(
            out,
            "then how many values are in each interval, and how often the most frequent texts occur; where the rows "
            "are less than 1 MB, or floats are not finite, or too large or too fine for exact sums, these columns "
            "come here instead\n");
    if (description->unless && !stmt->dialect.text)
        strbuf_printf(out, "unless %s: then all rows of the columns come here\n", description->unless);
    if (description->all)
        return;
    const struct span rest = {description->rest.source, description->rest.begin, stmt->pipeline->span.end};
    if (rest.source)
        strbuf_printf(out, "here: %s\n", text_of_span(arena, rest, REST_SHOWN));
    if (description->refusal)
        strbuf_printf(out, "because %s cannot do exactly this: %s\n",
                      stmt->dialect.text ? stmt->dialect.text : "the server", description->refusal);
}

/* Nothing but columns is asked for: the plan follows. */
static void print_fetched(struct strbuf *out, const struct remote_description *description, struct arena *arena)
{
    strbuf_printf(out, "fetched: %s, all rows of the columns that are read below\n", description->address);
    if (description->rest.source)
        strbuf_printf(out, "because the server cannot run `%s`%s%s\n",
                      text_of_span(arena, description->rest, REST_SHOWN), description->refusal ? ": " : "",
                      description->refusal ? description->refusal : "");
}

/* Finds out what a server would run. */
static enum status describe(struct runner *runner, const struct stmt *stmt, struct arena *arena,
                            struct remote_description *description, struct diags *diags)
{
    struct facts facts = {.env = runner->env,
                          .pipeline = stmt->pipeline,
                          .describes = true,
                          .dialect = stmt->dialect.text,
                          .timing = runner->timing};
    struct summary summary = {.to = 1};
    struct bound bound;
    if (!stmt->dialect.text)
        facts.summary = &summary;
    const enum status status = bind_ready(runner, &facts, arena, &bound, diags);
    *description = bound.remote;
    queue_release(&bound.queue);
    return status;
}

enum status explain_sql(struct strbuf *out, struct runner *runner, const struct stmt *stmt, struct arena *arena,
                        struct diags *diags)
{
    struct remote_description description;
    if (stmt->dialect.text && check_dialect(runner, stmt, diags) != STATUS_OK)
        return STATUS_FAILED;
    const enum status status = describe(runner, stmt, arena, &description, diags);
    if (status != STATUS_OK)
        return status;
    if (!description.address)
        return diag_error_hint(diags, stmt->pipeline->span,
                               "as `explain sql load clickhouse://HOST/DATABASE/TABLE?by=COLUMN | count` does",
                               stmt->dialect.text
                                   ? "this pipeline begins with no table on a server, and no file of Parquet"
                                   : "this pipeline does not begin with a table on a server");
    if (stmt->dialect.text && !description.query)
        return diag_error(diags, stmt->pipeline->span, "no SQL of %s does exactly this%s%s", stmt->dialect.text,
                          description.refusal ? ": " : "", description.refusal ? description.refusal : "");
    print_description(out, &description, stmt, arena);
    return STATUS_OK;
}

bool explain_server(struct strbuf *out, struct runner *runner, const struct stmt *stmt, struct arena *arena,
                    struct diags *diags)
{
    struct remote_description description;
    struct diags own; /* of no use unless there is a query: binding all of it tells errors */
    diags_init(&own, diags->arena);
    if (describe(runner, stmt, arena, &description, &own) != STATUS_OK || !description.address)
        return false;
    if (!description.query) {
        print_fetched(out, &description, arena);
        return false;
    }
    diags_append(diags, &own);
    strbuf_puts(out, "on the server: ");
    print_description(out, &description, stmt, arena);
    return true;
}
