#include "base/text.h"
#include "sql/table_reader.h"

#include "base/strbuf.h"
#include "engine/storage/file_errors.h"
#include "sql/wire/native.h"
#include "sql/wire/query.h"
#include "sql/wire/servers.h"
#include "sql/wire/table_url.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK_BYTES = 1 << 20, LEAST_ROWS = 1, MOST_ROWS = 1 << 18 };

struct saving {
    const struct format_job *job;
    const struct relation *relation;
    struct table_url url;
    const char *server; /* for messages */
    struct http *http;
    enum save_way way;
    struct old_columns old_columns;
    struct stored_column *columns;
    const char *beside;  /* the new table's name until it is complete */
    const char *old;     /* the old table's until it is dropped */
    bool exists;         /* there is a table to be replaced */
    int64_t rows, block; /* sent, and of a block */
};

enum status table_save_check(const char *address, struct span span, struct diags *diags)
{
    struct table_url url;
    return table_url_parse(address, &url, span, diags);
}

static enum status command(const struct saving *saving, struct strbuf *sql)
{
    const struct format_job *job = saving->job;
    const enum status status = http_command(saving->http, sql->text, job->workers, job->span, job->diags);
    strbuf_free(sql);
    return status;
}

/* Drops a table of ours, also after an interrupt. */
static void drop(const struct saving *saving, const char *table)
{
    struct strbuf sql = {0};
    strbuf_puts(&sql, "DROP TABLE IF EXISTS ");
    server_add_table(&sql, &saving->url, table);
    http_tidy(saving->http, sql.text);
    strbuf_free(&sql);
}

/* The columns that order the table must be there and have all values: a server sorts by no others. */
static enum status check_order(const struct saving *saving)
{
    const struct relation *relation = saving->relation;
    const struct format_job *job = saving->job;
    for (size_t i = 0; i < saving->url.order_count; i++) {
        const char *name = saving->url.order[i];
        size_t k = 0;
        while (k < relation->count && strcmp(relation->names[k], name) != 0)
            k++;
        if (k == relation->count)
            return diag_error(
                job->diags, job->span, "there is no column `%s` to order the table by%s", name,
                did_you_mean(job->diags->arena, name, (const char *const *)relation->names, relation->count));
        if (column_has_missing(relation->columns[k], relation->rows)) {
            diag_error(job->diags, job->span, "values of `%s` are missing, so that it cannot order the table", name);
            return diag_hint(job->diags, "`select %s is not missing`, or name another column by ?by=", name);
        }
    }
    return STATUS_OK;
}

/* Engines whose tables are replaced: rows of others are elsewhere, or kept by several servers. */
static bool is_plain(const char *engine)
{
    static const char *const plain[] = {"MergeTree", "Memory", "Log", "TinyLog", "StripeLog"};
    return TABLE_ROW(plain, engine);
}

/* What the table has, and what a statement that appends is to say so that it ends when the rows are stored. */
static enum status find_columns(struct saving *saving)
{
    const struct format_job *job = saving->job;
    struct arena *arena = job->diags->arena;
    struct old_columns *old = &saving->old_columns;
    struct strbuf sql = {0};
    struct query_texts found;
    strbuf_puts(&sql,
                "SELECT name AS rql_0, type AS rql_1, default_kind AS rql_2 FROM system.columns WHERE database = ");
    server_add_database(&sql, &saving->url);
    strbuf_puts(&sql, " AND table = ");
    server_add_text(&sql, saving->url.table);
    strbuf_puts(&sql, " FORMAT Native");
    const enum status status =
        query_for_texts(saving->http, sql.text, 3, saving->server, job->workers, &found, job->span, job->diags);
    strbuf_free(&sql);
    if (status != STATUS_OK)
        return status;
    *old = (struct old_columns){query_texts_of(&found, 0, arena), query_texts_of(&found, 1, arena),
                                query_texts_of(&found, 2, arena), (size_t)found.rows};
    query_texts_release(&found);
    return STATUS_OK;
}

/* Has INSERT end when the rows are stored, all of them: servers may be set to take them for later, or to leave out
 * blocks that they have had before. */
static enum status pin_settings(const struct saving *saving)
{
    static const struct {
        const char *name, *setting;
    } pinned[] = {{"insert_distributed_sync", "&insert_distributed_sync=1"},
                  {"insert_deduplicate", "&insert_deduplicate=0"},
                  {"async_insert", "&async_insert=0"}};
    const struct format_job *job = saving->job;
    struct strbuf settings = {0};
    struct query_texts found;
    const enum status status = query_for_texts(
        saving->http,
        "SELECT name AS rql_0 FROM system.settings WHERE name IN ('insert_distributed_sync', 'insert_deduplicate', "
        "'async_insert') FORMAT Native",
        1, saving->server, job->workers, &found, job->span, job->diags);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++) {
        const char **names = query_texts_of(&found, 0, job->diags->arena);
        if (ROW_NAMED(names, (size_t)found.rows, pinned[i].name))
            strbuf_puts(&settings, pinned[i].setting);
    }
    query_texts_release(&found);
    http_set_settings(saving->http, settings.text ? settings.text : "");
    strbuf_free(&settings);
    return STATUS_OK;
}

static enum status find_old(struct saving *saving)
{
    const struct format_job *job = saving->job;
    struct strbuf sql = {0};
    struct query_texts found;
    strbuf_puts(&sql, "SELECT engine AS rql_0 FROM system.tables WHERE database = ");
    server_add_database(&sql, &saving->url);
    strbuf_puts(&sql, " AND name = ");
    server_add_text(&sql, saving->url.table);
    strbuf_puts(&sql, " FORMAT Native");
    enum status status =
        query_for_texts(saving->http, sql.text, 1, saving->server, job->workers, &found, job->span, job->diags);
    strbuf_free(&sql);
    if (status != STATUS_OK)
        return status;
    const char **engines = query_texts_of(&found, 0, job->diags->arena);
    saving->exists = found.rows > 0;
    query_texts_release(&found);
    const bool is_view = saving->exists && strcmp(engines[0], "View") == 0;
    if (is_view && saving->way == SAVE_APPEND)
        return diag_error_hint(job->diags, job->span, "add them to the table that it reads",
                               "`%s` on `%s` is a View, which takes no rows", saving->url.table, saving->server);
    if (saving->exists && saving->way != SAVE_APPEND && !is_plain(engines[0]))
        return diag_error_hint(job->diags, job->span,
                               is_view ? "save into a new table" : "save into a new table, or `save PATH append`",
                               "`%s` on `%s` is a %s: `save` replaces tables of the engines MergeTree, Memory and Log",
                               saving->url.table, saving->server, engines[0]);
    status = saving->exists && saving->way != SAVE_REPLACE ? find_columns(saving) : STATUS_OK;
    if (status == STATUS_OK && saving->exists && saving->way == SAVE_WHOLE)
        status = old_columns_match(&saving->old_columns, saving->relation, saving->url.table, job->span, job->diags);
    return status;
}

/* What is saved can be loaded again. */
static enum status check_names(const struct saving *saving)
{
    const struct format_job *job = saving->job;
    for (size_t k = 0; k < saving->relation->count; k++) {
        const char *name = saving->relation->names[k];
        if (column_name_is_taken(name))
            return diag_error_hint(job->diags, job->span, "give it another name with `rename`",
                                   "`%s` could not be loaded again: rql's queries use names that begin with rql_",
                                   name);
    }
    return STATUS_OK;
}

static enum status choose_types(struct saving *saving)
{
    const struct format_job *job = saving->job;
    const struct relation *relation = saving->relation;
    struct arena *arena = job->diags->arena;
    struct query_texts found;
    struct server_types types = {0};
    enum status status =
        query_for_texts(saving->http,
                        "SELECT name AS rql_0 FROM system.data_type_families WHERE name IN ('Bool', 'Date32', "
                        "'DateTime64') FORMAT Native",
                        1, saving->server, job->workers, &found, job->span, job->diags);
    if (status != STATUS_OK)
        return status;
    const char **names = query_texts_of(&found, 0, arena);
    types.has_bool = ROW_NAMED(names, (size_t)found.rows, "Bool");
    types.has_date32 = ROW_NAMED(names, (size_t)found.rows, "Date32");
    types.has_datetime64 = ROW_NAMED(names, (size_t)found.rows, "DateTime64");
    query_texts_release(&found);
    for (size_t k = 0; k < relation->count && status == STATUS_OK; k++)
        status = stored_column_of(relation->columns[k], relation->names[k], &types, &saving->columns[k], job->span,
                                  job->diags);
    return status;
}

/* How many rows are sent at once. */
static void set_block(struct saving *saving)
{
    enum { TEXT_BYTES = 16 };
    int64_t bytes = 1;
    for (size_t k = 0; k < saving->relation->count; k++)
        bytes += saving->columns[k].width > 0 ? (int64_t)saving->columns[k].width : TEXT_BYTES;
    const int64_t block = BLOCK_BYTES / bytes;
    saving->block = block < LEAST_ROWS ? LEAST_ROWS : block > MOST_ROWS ? MOST_ROWS : block;
}

static enum status create(const struct saving *saving)
{
    struct strbuf sql = {0};
    strbuf_puts(&sql, "CREATE TABLE ");
    server_add_table(&sql, &saving->url, saving->beside);
    strbuf_puts(&sql, " (");
    for (size_t k = 0; k < saving->relation->count; k++) {
        strbuf_puts(&sql, k > 0 ? ", " : "");
        server_add_name(&sql, saving->columns[k].name);
        strbuf_printf(&sql, " %s", saving->columns[k].type);
    }
    strbuf_puts(&sql, ") ENGINE = MergeTree ORDER BY tuple(");
    for (size_t i = 0; i < saving->url.order_count; i++) {
        strbuf_puts(&sql, i > 0 ? ", " : "");
        server_add_name(&sql, saving->url.order[i]);
    }
    strbuf_puts(&sql, ")");
    return command(saving, &sql);
}

static bool send_block(void *context, struct strbuf *piece)
{
    struct saving *saving = context;
    const int64_t rest = saving->relation->rows - saving->rows;
    const int64_t rows = rest < saving->block ? rest : saving->block;
    const struct workers *workers = saving->job->workers;
    if (rows > 0)
        native_write_block(piece, saving->columns, saving->relation->count, saving->rows, saving->rows + rows);
    saving->rows += rows;
    struct progress_step step = workers->whole;
    step.part = saving->relation->rows > 0 ? (double)saving->rows / (double)saving->relation->rows : 1;
    progress_report(workers->progress, &step);
    return true;
}

static enum status insert(struct saving *saving, const char *table)
{
    const struct format_job *job = saving->job;
    struct strbuf sql = {0};
    strbuf_puts(&sql, "INSERT INTO ");
    server_add_table(&sql, &saving->url, table);
    for (size_t k = 0; k < saving->relation->count; k++) {
        strbuf_puts(&sql, k > 0 ? ", " : " (");
        server_add_name(&sql, saving->columns[k].name);
    }
    strbuf_puts(&sql, ") FORMAT Native");
    set_block(saving);
    const enum status status = saving->relation->rows == 0 ? STATUS_OK
                                                           : http_send(saving->http, sql.text, send_block, saving,
                                                                       job->workers, job->span, job->diags);
    strbuf_free(&sql);
    return status;
}

/* Whether all rows have arrived: a server may take rows and store them later, or not. */
static enum status check_rows(const struct saving *saving)
{
    const struct format_job *job = saving->job;
    const struct column *changed = changed_column(saving->relation->columns, saving->relation->count);
    struct strbuf sql = {0};
    int64_t there;
    if (changed)
        return file_changed_error(changed, job->span, job->diags);
    strbuf_puts(&sql, "SELECT count() AS rql_0 FROM ");
    server_add_table(&sql, &saving->url, saving->beside);
    strbuf_puts(&sql, " FORMAT Native");
    enum status status =
        query_for_count(saving->http, sql.text, saving->server, job->workers, &there, job->span, job->diags);
    strbuf_free(&sql);
    if (status == STATUS_OK && there != saving->relation->rows)
        return diag_error(job->diags, job->span, "`%s` has stored %lld of %lld rows", saving->server, (long long)there,
                          (long long)saving->relation->rows);
    return status;
}

static void add_renaming(struct strbuf *sql, const struct saving *saving, const char *from, const char *to)
{
    server_add_table(sql, &saving->url, from);
    strbuf_puts(sql, " TO ");
    server_add_table(sql, &saving->url, to);
}

/* Whether the new table has got its name, although the answer was lost. */
static bool is_published(const struct saving *saving, const struct workers *workers)
{
    struct strbuf sql = {0};
    struct diags lost;
    int64_t left = 1;
    diags_init(&lost, saving->job->diags->arena);
    strbuf_puts(&sql, "SELECT count() AS rql_0 FROM system.tables WHERE database = ");
    server_add_database(&sql, &saving->url);
    strbuf_puts(&sql, " AND name = ");
    server_add_text(&sql, saving->beside);
    strbuf_puts(&sql, " FORMAT Native");
    enum status status =
        query_for_count(saving->http, sql.text, saving->server, workers, &left, saving->job->span, &lost);
    strbuf_free(&sql);
    return status == STATUS_OK && left == 0;
}

/* Drops the table that was replaced, or tells that it is still there. */
static void drop_old(const struct saving *saving, const struct workers *workers)
{
    const struct format_job *job = saving->job;
    struct strbuf sql = {0};
    struct diags own;
    diags_init(&own, job->diags->arena);
    strbuf_puts(&sql, "DROP TABLE ");
    server_add_table(&sql, &saving->url, saving->old);
    if (http_command(saving->http, sql.text, workers, job->span, &own) != STATUS_OK)
        diag_note(job->diags, job->span,
                  "the rows are saved, but the table that they replace is still there as `%s`%s%s", saving->old,
                  own.count > 0 ? ": " : "", own.count > 0 ? own.at[0].message : "");
    strbuf_free(&sql);
}

/* Gives the complete table its name, even if the user interrupts now: whether that was done would not be known. */
static enum status publish(const struct saving *saving)
{
    const struct format_job *job = saving->job;
    const size_t before = job->diags->count;
    struct strbuf sql = {0}, back = {0};
    struct workers steady = *job->workers;
    steady.cancel = NULL;
    strbuf_puts(&sql, "RENAME TABLE ");
    if (saving->exists) {
        add_renaming(&sql, saving, saving->url.table, saving->old);
        strbuf_puts(&sql, ", ");
    }
    add_renaming(&sql, saving, saving->beside, saving->url.table);
    enum status status = http_command(saving->http, sql.text, &steady, job->span, job->diags);
    strbuf_free(&sql);
    if (status != STATUS_OK && is_published(saving, &steady)) {
        job->diags->count = before;
        status = STATUS_OK;
    }
    if (status == STATUS_OK && saving->exists) {
        drop_old(saving, &steady);
    } else if (saving->exists) { /* perhaps half of it was done; if not, this does nothing */
        strbuf_puts(&back, "RENAME TABLE ");
        add_renaming(&back, saving, saving->old, saving->url.table);
        http_tidy(saving->http, back.text);
        strbuf_free(&back);
    }
    return status;
}

/* Adds the rows to the table. */
static enum status append(struct saving *saving)
{
    const struct format_job *job = saving->job;
    const struct column *changed = changed_column(saving->relation->columns, saving->relation->count);
    enum status status = old_columns_store(&saving->old_columns, saving->relation, saving->url.table, saving->columns,
                                           job->span, job->diags);
    if (status == STATUS_OK)
        status = pin_settings(saving);
    if (status != STATUS_OK)
        return status;
    if (changed)
        return file_changed_error(changed, job->span, job->diags);
    status = insert(saving, saving->url.table);
    if (status != STATUS_OK && saving->rows > 0)
        diag_note(job->diags, job->span, "some of the %lld rows may be in `%s` nevertheless",
                  (long long)saving->relation->rows, saving->url.table);
    return status;
}

static enum status save(struct saving *saving)
{
    enum status status = check_names(saving);
    if (status == STATUS_OK)
        status = find_old(saving);
    saving->columns = arena_array(saving->job->diags->arena, saving->relation->count, sizeof *saving->columns);
    if (status == STATUS_OK && saving->exists && saving->way == SAVE_APPEND)
        return append(saving);
    if (status == STATUS_OK)
        status = choose_types(saving);
    if (status == STATUS_OK)
        status = create(saving);
    if (status != STATUS_OK)
        return status;
    status = insert(saving, saving->beside);
    if (status == STATUS_OK)
        status = check_rows(saving);
    if (status == STATUS_OK)
        status = publish(saving);
    if (status != STATUS_OK)
        drop(saving, saving->beside);
    return status;
}

enum status table_save(struct servers *servers, const char *address, enum save_way way, const struct relation *relation,
                       const struct format_job *job)
{
    struct saving saving = {.job = job, .relation = relation, .way = way};
    struct arena *arena = job->diags->arena;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    enum status status = table_url_parse(address, &saving.url, job->span, job->diags);
    if (status == STATUS_OK)
        status = check_order(&saving);
    if (status == STATUS_OK) {
        const char *mark = arena_printf(arena, "%ld_%lld%09ld", (long)getpid(), (long long)now.tv_sec, now.tv_nsec);
        saving.beside = arena_printf(arena, "rql_new_%s", mark);
        saving.old = arena_printf(arena, "rql_old_%s", mark);
        saving.server = table_url_server(&saving.url, arena);
        servers_meet(servers, &saving.url);
        saving.http = http_new(&saving.url, servers_shared(servers), job->span, job->diags);
        status = saving.http ? save(&saving) : STATUS_FAILED;
    }
    http_free(saving.http);
    return status;
}
