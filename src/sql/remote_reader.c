#include "sql/table_reader.h"

#include "base/heap.h"
#include "sql/lower/float_sum.h"
#include "sql/lower/integer_sum.h"
#include "sql/lower/lower.h"
#include "sql/moment_complete.h"
#include "sql/wire/query.h"
#include "sql/wire/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct remote_reader {
    struct file_reader base;
    struct arena *arena;              /* of all that follows */
    const struct table_reader *table; /* borrowed */
    struct lowered lowered;
    bool unordered;           /* a table's rows have no order */
    bool completes;           /* a column is completed here, so that no text says it elsewhere */
    const char *value_query;  /* with marks, as is */
    const char *run_query;    /* that of a value, or of all columns */
    struct sent_column *sent; /* of base.columns, or the parts of the value */
    size_t sent_count;
    struct sent_tables rows_up;
};

/* The text of the query for the wanted columns (NULL: all), and how many are sent. */
static const char *rows_query(const struct remote_reader *reader, const bool *wanted, struct arena *arena,
                              const struct sent_column **sent, size_t *count)
{
    struct select_item *items = arena_array(arena, reader->sent_count + 1, sizeof *items);
    *count = 0;
    for (size_t k = 0; k < reader->sent_count; k++) {
        if (wanted && !wanted[k])
            continue;
        sent[*count] = &reader->sent[k];
        items[*count] = (struct select_item){reader->sent[k].text, arena_printf(arena, "rql_%zu", *count)};
        ++*count;
    }
    const struct select *select = &reader->lowered.select;
    size_t item_count = *count;
    if (select->fails)
        items[item_count++] = (struct select_item){arena_printf(arena, "toUInt8(%s)", select->fails),
                                                   arena_printf(arena, "rql_%zu", *count)};
    return select_text(select, items, item_count, true, arena);
}

static bool any_set(const struct column *column)
{
    bool any = false;
    for (int64_t row = 0; row < column->rows && !any; row++)
        any = column_get_int(column, row) != 0;
    return any;
}

/* Something fails: reading the columns tells what. They cannot be read where the table has no order. */
static enum status report_failure(const struct remote_reader *reader, const struct format_job *job)
{
    const struct table_url *url = &reader->table->url;
    if (!reader->unordered)
        return STATUS_UNABLE;
    return diag_error_hint(
        job->diags, job->span,
        "to have it computed here, or be told which row and why, add the column that orders the rows: "
        "?by=COLUMN",
        "what is computed of some row of `%s` has no result, as a division by zero has none, or the server "
        "cannot tell it exactly",
        url->table);
}

static enum status run(const struct remote_reader *reader, const char *query, const struct native_columns *expected,
                       const struct format_job *job, struct column **columns, int64_t *rows)
{
    const struct http_statement statement = {
        .sql = arena_printf(job->diags->arena, "%s FORMAT Native", select_run(query, job->diags->arena)),
        .external = reader->rows_up.tables.count > 0 ? &reader->rows_up.tables : NULL};
    if (reader->lowered.any)
        diag_note(
            job->diags, job->span,
            "the rows of `%s` have no order, so that any of them are taken, or of equal ones; `?by=COLUMN` orders them",
            reader->table->url.table);
    const enum status fetched = sent_tables_fetch(&reader->rows_up, job->span, job->diags);
    if (fetched != STATUS_OK)
        return fetched;
    const size_t before = job->diags->count;
    const enum status status = query_run(reader->table->http, &statement, expected, reader->table->server, job->workers,
                                         columns, rows, job->span, job->diags);
    if (status == STATUS_UNABLE && reader->unordered) {
        diag_hint(job->diags, "to be told the row, add the column that orders the rows: ?by=COLUMN");
        return STATUS_FAILED;
    }
    if (status == STATUS_UNABLE) /* reading the columns tells the row */
        job->diags->count = before;
    if (status != STATUS_FAILED || job->diags->count == before || !select_is_retyped(job->diags->at[before].message))
        return status;
    job->diags->count = before; /* reading the columns tells which */
    if (!reader->unordered || reader->lowered.throws)
        return report_failure(reader, job);
    return diag_error_hint(job->diags, job->span, "load the table again",
                           "columns of `%s` have other types since the table was loaded", reader->table->url.table);
}

static enum status read_rows(struct file_reader *base, const struct format_job *job, const bool *wanted,
                             struct column **columns)
{
    struct remote_reader *reader = (struct remote_reader *)base;
    struct arena *arena = job->diags->arena;
    const size_t most = reader->sent_count + 2;
    const struct sent_column **sent = arena_array(arena, most, sizeof(struct sent_column *));
    struct wire_type *types = arena_array(arena, most, sizeof *types);
    const char **names = arena_array(arena, most, sizeof *names);
    struct column **read = arena_array(arena, most, sizeof(struct column *));
    size_t count;
    const char *query = rows_query(reader, wanted, arena, sent, &count);
    for (size_t i = 0; i < count; i++)
        types[i] = sent[i]->type;
    for (size_t k = 0, i = 0; k < base->count; k++) {
        if (wanted[k])
            names[i++] = base->columns[k].name;
    }
    size_t all = count;
    if (reader->lowered.select.fails) {
        names[all] = "fails";
        (void)wire_type_parse("UInt8", arena, &types[all++]);
    }
    int64_t rows;
    const struct native_columns expected = {.names = names, .types = types, .count = all, .computed = true};
    enum status status = run(reader, query, &expected, job, read, &rows);
    if (status != STATUS_OK)
        return status;
    if (all > count && any_set(read[count]))
        status = report_failure(reader, job);
    for (size_t i = status == STATUS_OK ? count : 0; i < all; i++)
        column_unref(read[i]);
    if (status != STATUS_OK)
        return status;
    base->rows = rows;
    for (size_t k = 0, i = 0; k < base->count; k++) {
        if (!wanted[k])
            continue;
        if (sent[i]->truth)
            read[i]->type = read[i]->store = TYPE_BOOL;
        if (sent[i]->moment && status == STATUS_OK)
            status = moment_complete(sent[i]->moment, &read[i], reader->table->server, job->span, job->diags);
        columns[k] = read[i++];
    }
    if (status != STATUS_OK) {
        columns_unref(read, count);
        for (size_t k = 0; k < base->count; k++)
            columns[k] = wanted[k] ? NULL : columns[k];
    }
    return status;
}

static bool has_column(const struct file_reader *reader, const char *name)
{
    return ROW_NAMED(reader->columns, reader->count, name);
}

static const char *quoted(const struct sql_dialect *dialect, const char *name, struct arena *arena)
{
    struct strbuf out = {0};
    sql_add_name(&out, dialect, name);
    return strbuf_take(&out, arena);
}

/* Engines differ in whether a name within a query is that of a column or of a result: where a result has the name of
 * another column of the table, the columns are those of a subquery. */
static void part_names(struct remote_reader *reader)
{
    struct select *select = &reader->lowered.select;
    const struct task *last = reader->lowered.last;
    bool clash = false;
    for (size_t k = 0; k < last->output_count && !clash; k++) {
        const struct select_column *column = &select->columns[k];
        const char *text = column->raw ? column->raw : column->leaf.text, *name = last->outputs[k].name;
        clash = text && !last->outputs[k].hidden && has_column(&reader->table->base, name) &&
                strcmp(text, quoted(select->dialect, name, reader->arena)) != 0;
    }
    if (clash)
        select_wrap(select, reader->arena);
}

/* The text of the query for use elsewhere: with the names of columns, and where something fails. */
static const char *shown_query(const struct remote_reader *reader, const char *value_name, struct arena *arena)
{
    const struct select *select = &reader->lowered.select;
    struct select_item *items = arena_array(arena, reader->sent_count + 2, sizeof *items);
    size_t count = 0;
    for (; count < reader->sent_count; count++) {
        const char *name = value_name ? value_name : reader->base.columns[count].name;
        items[count] = (struct select_item){reader->sent[count].text, quoted(select->dialect, name, arena)};
    }
    if (value_name && count > 1) { /* of the digits of a sum */
        for (size_t k = count - 1; k-- > 0;)
            items[k].text = sql_phrase(
                "($a * toDecimal128(2097152, 0) + toDecimal128($b, 0))",
                k + 2 < count ? items[k + 1].text : sql_phrase("toDecimal128($a, 0)", items[k + 1].text, NULL, arena),
                reader->sent[k].text, arena);
        count = 1;
    }
    const char *fails = value_name ? value_fails(&reader->lowered, arena) : select->fails;
    if (fails)
        items[count++] = (struct select_item){
            fails,
            has_column(&reader->table->base, "fails") || has_column(&reader->base, "fails") ? "rql_fails" : "fails"};
    return select_text(select, items, count, !value_name, arena);
}

/* The columns of a value: how many rows, whether one fails, and its parts. */
enum { VALUE_ROWS, VALUE_FAILS, VALUE_FIRST, VALUE_COLUMNS = VALUE_FIRST + FLOAT_SUM_COLUMNS };

/* Of a value: the number of rows, whether one fails, and the parts of the aggregate. */
static const char *value_query(const struct remote_reader *reader, struct arena *arena)
{
    const struct select *select = &reader->lowered.select;
    struct select_item items[VALUE_COLUMNS] = {{"toInt64(count())", "rql_0"}, {"toUInt8(0)", "rql_1"}};
    static const char *const names[FLOAT_SUM_COLUMNS] = {"rql_2", "rql_3", "rql_4", "rql_5"};
    if (select->fails)
        items[VALUE_FAILS].text = arena_printf(arena, "max(toUInt8(%s))", select->fails);
    for (size_t k = 0; k < reader->sent_count; k++)
        items[VALUE_FIRST + k] = (struct select_item){reader->sent[k].text, names[k]};
    return select_text(select, items, VALUE_FIRST + reader->sent_count, false, arena);
}

static enum kind kind_aggregated(const struct task *task)
{
    const value v = task->aggregates[0].value;
    return v == NO_VALUE ? KIND_INT : task->code.at[v].kind;
}

static bool aggregates_floats(const struct task *task)
{
    return kind_aggregated(task) == KIND_FLOAT;
}

/* The mean of the sum, as the logical type says. */
static struct scalar mean_of(int128 sum, int64_t rows, const struct logical_type *logical)
{
    double unit = 1, mean = int128_quotient(sum, rows);
    if (logical_table[logical->kind].means) {
        struct scalar result = scalar_int(llround(mean));
        result.logical = *logical;
        return result;
    }
    for (int i = 0; i < (logical->kind == LOGICAL_DECIMAL ? logical->scale : 0); i++)
        unit *= 10;
    return scalar_float(mean / unit);
}

/* The aggregate from its parts; STATUS_UNABLE: of no rows, or of more than its sums can be exact of. */
static enum status finish_value(const struct aggregate *aggregate, enum kind kind, int64_t rows, const int64_t *parts,
                                size_t count, struct scalar *result)
{
    double extreme;
    memcpy(&extreme, &parts[0], sizeof extreme);
    const bool sum = aggregate_table[aggregate->kind].sums;
    int128 whole = parts[count - 1];
    for (size_t k = count - 1; k-- > 0;)
        whole = whole * (INT64_C(1) << DIGIT_BITS) + parts[k];
    if ((sum && rows > MOST_ROWS) || (rows == 0 && aggregate->kind != AGG_SUM && aggregate->kind != AGG_COUNT))
        return STATUS_UNABLE;
    if (aggregate->kind == AGG_MEAN) {
        *result = mean_of(whole, rows, &aggregate->logical);
        return STATUS_OK;
    }
    *result = kind == KIND_FLOAT  ? scalar_float(extreme)
              : kind == KIND_BOOL ? scalar_bool(parts[0] != 0)
                                  : scalar_int(whole);
    result->logical = aggregate->logical;
    result->logical.dictionary = NULL;
    return STATUS_OK;
}

/* The value of the answer: a row, or for a sum of floats one of each group. */
static enum status value_of_columns(const struct remote_reader *reader, struct column *const *columns, int64_t groups,
                                    const struct format_job *job, struct scalar *result)
{
    const struct aggregate *aggregate = &reader->lowered.last->aggregates[0];
    struct float_sum_group *sums = arena_array(job->diags->arena, (size_t)groups + 1, sizeof *sums);
    int64_t rows = 0, parts[FLOAT_SUM_COLUMNS] = {0};
    bool fails = false;
    for (int64_t i = 0; i < groups; i++) {
        rows += column_get_int(columns[VALUE_ROWS], i);
        fails = fails || column_get_int(columns[VALUE_FAILS], i) != 0;
        for (size_t k = 0; k < reader->sent_count && !reader->sent[0].moment; k++)
            parts[k] = column_get_int(columns[VALUE_FIRST + k], i);
        sums[i] = (struct float_sum_group){parts[0], {parts[1], parts[2], parts[3]}};
    }
    enum status status = STATUS_UNABLE;
    double sum;
    if (fails)
        return report_failure(reader, job);
    if (reader->sent[0].moment) {
        double moment = 0;
        if (rows == 1 && !moment_of_text(reader->sent[0].moment, column_get(columns[VALUE_FIRST], 0).text, &moment))
            return moment_report(reader->table->server, job->span, job->diags);
        *result = scalar_float(moment);
        status = rows == 1 ? STATUS_OK : STATUS_UNABLE;
    } else if (reader->sent_count < FLOAT_SUM_COLUMNS) {
        status =
            finish_value(aggregate, kind_aggregated(reader->lowered.last), rows, parts, reader->sent_count, result);
    } else if ((rows > 0 || aggregate->kind == AGG_SUM) && float_sum_finish(sums, groups, &sum)) {
        *result = scalar_float(aggregate->kind == AGG_MEAN ? sum / (double)rows + 0.0 : sum);
        status = STATUS_OK;
    }
    if (status == STATUS_UNABLE)
        return rows > 0 ? report_failure(reader, job) : aggregate_no_rows(aggregate, aggregate->kind, job->diags);
    return status;
}

static enum status read_value(struct file_reader *base, const struct format_job *job, struct scalar *result)
{
    const struct remote_reader *reader = (const struct remote_reader *)base;
    static const char *const names[VALUE_COLUMNS] = {"rows", "fails", "sum", "sum", "sum", "sum"};
    struct wire_type types[VALUE_COLUMNS];
    struct column *columns[VALUE_COLUMNS];
    const size_t count = VALUE_FIRST + reader->sent_count;
    int64_t rows;
    for (size_t k = 0; k < count; k++)
        (void)wire_type_parse(k == VALUE_FAILS                             ? "UInt8"
                              : k == VALUE_FIRST && reader->sent[0].moment ? "String"
                                                                           : "Int64",
                              job->diags->arena, &types[k]);
    const struct native_columns expected = {.names = names, .types = types, .count = count, .computed = true};
    enum status status = run(reader, reader->value_query, &expected, job, columns, &rows);
    if (status != STATUS_OK)
        return status;
    if (rows != 1 && reader->sent_count < FLOAT_SUM_COLUMNS)
        status = diag_error(job->diags, job->span, "`%s` answers with %lld rows instead of one", reader->table->server,
                            (long long)rows);
    else
        status = value_of_columns(reader, columns, rows, job, result);
    columns_unref(columns, count);
    return status;
}

static void close_remote(struct file_reader *base)
{
    struct remote_reader *reader = (struct remote_reader *)base;
    sent_tables_release(&reader->rows_up);
    arena_free(reader->arena);
    free(reader);
}

static struct file_reader *failing(const struct file_reader *base)
{
    const struct remote_reader *reader = (const struct remote_reader *)base;
    const struct select *select = &reader->lowered.failing;
    return select->from && !reader->unordered ? failing_row_new(reader->table, select) : NULL;
}

/* Sets the columns of a result of rows; false: one cannot be sent. */
static bool set_columns(struct remote_reader *reader)
{
    const struct task *last = reader->lowered.last;
    sent_columns_begin(&reader->lowered, reader->arena);
    struct file_reader *base = &reader->base;
    reader->sent = arena_array(reader->arena, last->output_count + 1, sizeof *reader->sent);
    base->columns = arena_array(reader->arena, last->output_count + 1, sizeof *base->columns);
    for (size_t k = 0; k < last->output_count; k++) {
        const struct output *output = &last->outputs[k];
        if (output->hidden)
            continue;
        struct sent_column *sent = &reader->sent[base->count];
        *sent = sent_output(&reader->lowered, k, reader->arena);
        if (!sent->text)
            return false;
        struct reader_column *column = &base->columns[base->count++];
        *column = (struct reader_column){.name = arena_text(reader->arena, output->name, strlen(output->name)),
                                         .type = sent->truth ? TYPE_BOOL : sent->type.type,
                                         .logical = sent->type.logical,
                                         .nullable = sent->type.nullable};
        if (sent->moment) {
            reader->completes = true;
            column->type = TYPE_F64;
            column->logical = output->logical;
        }
    }
    reader->sent_count = base->count;
    return base->count > 0;
}

static void set_value(struct remote_reader *reader)
{
    reader->sent_count = reader->lowered.select.count;
    reader->sent = arena_array(reader->arena, reader->sent_count, sizeof *reader->sent);
    for (size_t k = 0; k < reader->sent_count; k++) {
        const struct select_column *column = &reader->lowered.select.columns[k];
        reader->sent[k] = sent_as(reader->lowered.select.dialect, column->leaf.text, TYPE_I64, (struct logical_type){0},
                                  reader->arena);
        if (column->moment)
            reader->sent[k] = (struct sent_column){.text = column->moment_of, .moment = column->moment};
    }
}

/* Whether it is worth a query of its own: its rows are fewer than the table's, or only it puts them in order. */
static bool reduces(const struct remote_reader *reader)
{
    const struct select *select = &reader->lowered.select;
    return reader->unordered || select->where || select->group || select->joined || select->depth > 0 ||
           select_is_limited(select);
}

/* Sets a result of rows; false: it has no equivalent, or is not worth a query. */
static bool set_rows(struct remote_reader *reader, bool shown, const char **refusal)
{
    const char *why = NULL;
    if (!shown && !reduces(reader))
        why = *refusal ? *refusal : "all rows"; /* of more stages */
    else if (!reader->lowered.select.ordered)
        why = "the order of rows";
    if (!why && shown)
        part_names(reader);
    if (!why && !set_columns(reader))
        why = "a column";
    if (!why && shown && reader->completes)
        why = "a variance or correlation, which is completed here";
    *refusal = why ? why : *refusal;
    return !why;
}

/* ClickHouse refuses queries of more than 50 000 nodes of its syntax tree, of two to four bytes. */
static bool is_short(const struct remote_reader *reader)
{
    enum { MOST_BYTES = 96 << 10 };
    return strlen(reader->base.query) <= MOST_BYTES &&
           sent_tables_fit(&reader->rows_up, select_run(reader->run_query, reader->arena));
}

struct file_reader *remote_reader_new(const struct queue *queue, const struct table_columns *from, const char **refusal)
{
    static const struct file_reader_ops row_ops = {.read = read_rows, .failing = failing, .close = close_remote};
    static const struct file_reader_ops value_ops = {.value = read_value, .failing = failing, .close = close_remote};
    const struct table_reader *first = (const struct table_reader *)from->reader;
    bool unordered = false;
    for (const struct table_columns *at = from; at; at = at->next) {
        if (at->sent)
            continue;
        const char *problem = !reader_is_table(at->reader) ? "no table on a server"
                              : !readers_are_together(from->reader, at->reader)
                                  ? "tables of several servers"
                                  : ((const struct table_reader *)at->reader)->refusal;
        unordered = unordered || at->reader->unordered;
        if (problem) {
            *refusal = problem;
            return NULL;
        }
    }
    struct remote_reader *reader = heap_array(1, sizeof *reader);
    *reader = (struct remote_reader){.base = {.ops = &row_ops, .live = true, .rows = from->reader->rows},
                                     .arena = arena_new(),
                                     .table = first,
                                     .unordered = unordered};
    struct lowered *lowered = &reader->lowered;
    bool good = queue_lower(queue, from, reader->arena, lowered, refusal);
    reader->base.unless = lowered->unless;
    sent_tables_set(&reader->rows_up, from, reader->arena);
    if (good && from->dialect && task_is_scalar(lowered->last) &&
        (lowered->last->aggregates[0].kind == AGG_MEAN || aggregates_floats(lowered->last))) {
        *refusal = "aggregates of floats and means of all rows, which are completed here";
        good = false;
    }
    if (good && task_is_scalar(lowered->last)) {
        reader->base.ops = &value_ops;
        set_value(reader);
        reader->value_query =
            from->dialect
                ? shown_query(reader, has_column(&reader->table->base, "value") ? "rql_value" : "value", reader->arena)
                : value_query(reader, reader->arena);
        reader->run_query = reader->value_query;
        reader->base.query = from->dialect ? reader->value_query : select_shown(reader->value_query, reader->arena);
    } else if (good) {
        size_t count;
        good = set_rows(reader, from->dialect, refusal);
        const struct sent_column **sent =
            arena_array(reader->arena, reader->sent_count + 1, sizeof(struct sent_column *));
        if (good && from->dialect)
            reader->base.query = shown_query(reader, NULL, reader->arena);
        else if (good) {
            reader->run_query = rows_query(reader, NULL, reader->arena, sent, &count);
            reader->base.query = select_shown(reader->run_query, reader->arena);
        }
    }
    if (good && !from->dialect && !is_short(reader)) {
        *refusal = "a long expression";
        good = false;
    }
    if (good)
        return &reader->base;
    close_remote(&reader->base);
    return NULL;
}
