#include "engine/source/bind_remote.h"

#include "engine/bind/split_group.h"
#include "engine/bind/summary.h"
#include "engine/formats/open_file.h"
#include "engine/source/bind_sent.h"
#include "engine/storage/file_reader.h"

#include <string.h>

/* The tables that a part of a pipeline reads, its source first, and what goes up. */
struct tables {
    struct sent_sources sent;
    struct source_file **files;
    struct table_columns *columns; /* of each, a list */
    size_t count, capacity;
};

/* The table that a source is; false: it is none. */
static bool table_of(const struct binder *binder, const struct source_node *source, struct source_file **file,
                     struct table_columns *from)
{
    struct sources *sources = &binder->facts->sources;
    const struct path_item *path = source->kind == SOURCE_LOAD && source->path_count == 1 ? source->paths : NULL;
    const struct name *written = path ? &path->path : &source->name;
    const bool is_shown = binder->facts->dialect && path;
    if ((!path && source->kind != SOURCE_NAME && source->kind != SOURCE_LAST) || (path && path->as.text) ||
        source->as.text)
        return false;
    *file = NULL;
    for (size_t i = 0; i < sources->count && !*file; i++)
        *file = sources->files[i].written == written ? &sources->files[i] : NULL;
    if (!*file || (*file)->count == 0 || (*file)->rows || (is_shown && (*file)->list_count > 1))
        return false;
    size_t *places = arena_array(binder->arena, (*file)->count, sizeof *places);
    *from = (struct table_columns){.places = places, .count = (*file)->count, .dialect = binder->facts->dialect};
    for (size_t k = 0; k < (*file)->count; k++) {
        const struct column *column = (*file)->columns[k].column;
        if (!column || !column->unread || !(column->live || is_shown))
            return false;
        const struct file_reader *reader = file_cache_reader(binder->env->file_cache, column, &places[k]);
        if (!reader || (from->reader && from->reader != reader))
            return false;
        from->reader = reader;
    }
    const struct table_source *tables = file_cache_tables(binder->env->file_cache);
    if (!from->reader->live)
        from->reader = tables->of_file((*file)->path.text, from->reader, binder->facts->dialect, binder->arena);
    return from->reader;
}

static bool any_before(const struct pipeline *pipeline, size_t k, enum stage_kind kind)
{
    bool any = false;
    for (size_t i = 0; i < k && !any; i++)
        any = pipeline->stages[i].word->stage == kind;
    return any;
}

/* Whether stage k is bound as it is for any number of rows. Windows are joined as if the table had TABLE_ROWS, which
 * tells other rows than it has where one is counted from the end and one from the beginning. */
static bool is_for_all_tables(const struct pipeline *pipeline, size_t k)
{
    switch (pipeline->stages[k].word->stage) {
    case STAGE_TAIL:
        return !any_before(pipeline, k, STAGE_TAKE) && !any_before(pipeline, k, STAGE_SKIP) &&
               !any_before(pipeline, k, STAGE_TOP);
    case STAGE_SKIP:
        return !any_before(pipeline, k, STAGE_TAIL);
    default:
        return true;
    }
}

/* Whether a server may run stage k: what it makes of a row depends on that row, or on all rows in any order but one
 * that is asked for. */
static bool may_be_remote(const struct binder *binder, const struct pipeline *pipeline, size_t k)
{
    const struct stage *stage = &pipeline->stages[k];
    const bool asks = stage->word->stage == STAGE_DESCRIBE && binder->facts->summary;
    const bool joins = stage->word->stage == STAGE_JOIN || stage->word->stage == STAGE_LOOKUP;
    if ((stage->source_count > 0 && !joins) || stage->body_count > 0 || stage->loop || stage->across ||
        stage->rollup.end > 0 || stage->along.text)
        return false;
    return (asks || stage_does(stage->word->stage, RUNS_REMOTELY)) && is_for_all_tables(pipeline, k);
}

static bool add_tables(struct binder *binder, const struct pipeline *pipeline, size_t stages, struct tables *tables);

/* Adds the tables that a pipeline within the statement reads. False: not all of its stages may be run. */
static bool add_inner(struct binder *binder, const struct pipeline *inner, struct tables *tables)
{
    bool good = true;
    for (size_t k = 0; k < inner->stage_count && good; k++)
        good = may_be_remote(binder, inner, k);
    return good && add_tables(binder, inner, inner->stage_count, tables);
}

/* Adds the source of a pipeline: a table of the server. */
static bool add_first(struct binder *binder, const struct source_node *source, struct tables *tables)
{
    const struct table_source *all = file_cache_tables(binder->env->file_cache);
    struct source_file *file;
    struct table_columns from;
    if (source->kind == SOURCE_PIPELINE)
        return add_inner(binder, source->pipeline, tables);
    if (!table_of(binder, source, &file, &from) ||
        (tables->count > 0 && !all->together(tables->columns[0].reader, from.reader)))
        return false;
    const size_t before = tables->capacity;
    tables->files =
        arena_reserve(binder->arena, tables->files, tables->count, &tables->capacity, sizeof(struct source_file *));
    if (tables->capacity != before)
        tables->columns = arena_grow(binder->arena, tables->columns, tables->count, tables->capacity, sizeof from);
    tables->files[tables->count] = file;
    tables->columns[tables->count++] = from;
    return true;
}

/* Adds the tables that the source of a stage reads, or all of it as rows that go up. */
static bool add_source(struct binder *binder, const struct source_node *source, struct tables *tables)
{
    const size_t count = tables->count, sent = tables->sent.count;
    if (add_first(binder, source, tables))
        return true;
    tables->count = count;
    tables->sent.count = sent;
    return sent_add(binder, source, &tables->sent);
}

/* Adds the tables that `x in (...)` reads. */
static bool add_of_expr(struct binder *binder, const struct expr *expr, struct tables *tables)
{
    bool good = true;
    for (size_t i = 0; i < expr->arg_count && good; i++)
        good = add_of_expr(binder, expr->args[i], tables);
    return good && (expr->kind != EXPR_IN_SOURCE || !expr->source || add_source(binder, expr->source, tables));
}

static bool add_of_items(struct binder *binder, const struct item *items, size_t count, struct tables *tables)
{
    bool good = true;
    for (size_t i = 0; i < count && good; i++)
        good = add_of_expr(binder, items[i].expr, tables);
    return good;
}

/* Adds the tables that the first `stages` stages and the source read. */
static bool add_tables(struct binder *binder, const struct pipeline *pipeline, size_t stages, struct tables *tables)
{
    bool good = add_first(binder, &pipeline->source, tables);
    for (size_t k = 0; k < stages && good; k++) {
        const struct stage *stage = &pipeline->stages[k];
        for (size_t i = 0; i < stage->source_count && good; i++)
            good = add_source(binder, &stage->sources[i], tables);
        good = good && add_of_items(binder, stage->items, stage->item_count, tables) &&
               add_of_items(binder, stage->aggregates, stage->aggregate_count, tables) &&
               (!stage->condition || add_of_expr(binder, stage->condition, tables));
    }
    return good;
}

/* Whether no other place of the statement names these tables: it would read them by itself. */
static bool are_named_here_alone(const struct binder *binder, const struct tables *tables)
{
    const struct sources *sources = &binder->facts->sources;
    size_t place;
    bool alone = true;
    for (size_t i = 0; i < sources->count && alone; i++) {
        const struct source_file *other = &sources->files[i];
        bool among = false;
        for (size_t t = 0; t < tables->count; t++)
            among = among || tables->files[t] == other;
        for (size_t c = 0; c < other->count && !among && alone; c++) {
            const struct column *column = other->columns[c].column;
            const struct file_reader *reader =
                column ? file_cache_reader(binder->env->file_cache, column, &place) : NULL;
            for (size_t t = 0; t < tables->count && reader; t++)
                alone = alone && tables->columns[t].reader != reader;
        }
    }
    return alone;
}

/* What stands for the table's columns. */
static struct source_column *stand_ins(const struct binder *binder, const struct source_file *file)
{
    struct source_column *columns = arena_array(binder->arena, file->count, sizeof *columns);
    for (size_t k = 0; k < file->count; k++) {
        const struct column *column = file->columns[k].column;
        columns[k] = file->columns[k];
        columns[k].unread = NULL;
        columns[k].column = column_unread(column->type, column->logical, TABLE_ROWS, column->validity, false);
    }
    return columns;
}

/* Lowers the first `stages` stages, which are all or give rows. */
static struct file_reader *lower(struct binder *binder, const struct tables *tables, size_t stages,
                                 struct remote_part *part)
{
    struct facts facts = *binder->facts;
    const struct pipeline *whole = facts.pipeline;
    struct pipeline *first = arena_alloc(binder->arena, sizeof *first);
    const size_t evaluated = facts.evaluations.count;
    struct diags diags;
    struct file_reader *reader = NULL;
    *first = *whole;
    first->stage_count = stages;
    facts.pipeline = facts.rest = first;
    facts.remote = true;
    facts.sent = &tables->sent;
    if (part->file->written == &whole->source.name)
        part->file->written = &first->source.name; /* for this binding */
    if (stages < whole->stage_count)
        facts.wanted = NULL;
    diags_init(&diags, binder->arena);
    struct binder inner = binder_new(&facts, binder->arena, binder->needs, &diags);
    bound_init(&part->bound, binder->arena);
    if (bind_rest(&inner, &part->bound) == STATUS_OK && binder->needs->value_count == 0) {
        const bool single = part->bound.kind == BOUND_SCALAR;
        if (facts.evaluations.count == evaluated &&
            (single || (part->bound.kind == BOUND_RELATION && part->bound.shape.axes == 0)))
            reader = file_cache_lower(binder->env->file_cache, &part->bound.queue, tables->columns, &part->refusal);
        if (reader && single != !!reader->ops->value) {
            reader->ops->close(reader);
            reader = NULL;
        }
    }
    queue_release(&part->bound.queue);
    if (part->file->written == &first->source.name)
        part->file->written = &whole->source.name;
    evaluations_release(
        &(struct evaluations){.at = facts.evaluations.at + evaluated, .count = facts.evaluations.count - evaluated});
    return reader;
}

/* Lowers the first `stages` stages of what reads these tables, whose columns others stand for meanwhile. */
static struct file_reader *lower_tables(struct binder *binder, const struct tables *tables, size_t stages,
                                        struct remote_part *part)
{
    struct arena *arena = binder->arena;
    struct source_column **kept = arena_array(arena, tables->count, sizeof(struct source_column *));
    struct file_reader *reader = NULL;
    bool made = true;
    for (size_t t = 0; t < tables->count; t++) {
        struct source_file *file = tables->files[t];
        struct column **standing = arena_array(arena, file->count, sizeof(struct column *));
        kept[t] = file->columns;
        file->columns = stand_ins(binder, file);
        for (size_t k = 0; k < file->count; k++) {
            standing[k] = file->columns[k].column;
            made = made && standing[k];
        }
        tables->columns[t].columns = standing;
        tables->columns[t].next = t + 1 < tables->count ? &tables->columns[t + 1] : NULL;
    }
    sent_stand_in(binder, &tables->sent, &tables->columns[0]);
    if (made)
        reader = lower(binder, tables, stages, part);
    sent_release(&tables->sent);
    for (size_t t = 0; t < tables->count; t++) {
        for (size_t k = 0; k < tables->files[t]->count; k++)
            column_unref(tables->columns[t].columns[k]);
        tables->files[t]->columns = kept[t];
    }
    return reader;
}

/* The other files that a server reads, or that only what goes up to it reads. */
static void set_others(const struct binder *binder, const struct tables *tables, struct remote_part *part)
{
    const struct sources *sources = &binder->facts->sources;
    part->others = arena_array(binder->arena, tables->count + sources->count, sizeof(struct source_file *));
    part->other_count = 0;
    for (size_t t = 1; t < tables->count; t++)
        part->others[part->other_count++] = tables->files[t];
    for (size_t i = 0; i < sources->count; i++) {
        if (sent_reads(&tables->sent, &sources->files[i]))
            part->others[part->other_count++] = &sources->files[i];
    }
}

/* Keeps the reader if the rows that go up with its query are there, and are not too many. */
static void check_sent(struct binder *binder, const struct tables *tables, struct remote_part *part)
{
    const enum sent_state state = sent_check(binder, &tables->sent, &part->refusal);
    part->sent = state == SENT_READY ? sent_description(binder, &tables->sent) : NULL;
    if (state == SENT_LACKS)
        binder->needs->what = NEED_RELATIONS;
    if (state == SENT_READY)
        return;
    part->reader->ops->close(part->reader);
    part->reader = NULL;
}

/* Lowers the first `stages` stages. */
static bool find_part(struct binder *binder, size_t stages, struct remote_part *part)
{
    struct tables tables = {0};
    if (!add_tables(binder, binder->facts->pipeline, stages, &tables)) {
        part->refusal = "a source that is no table of this server, and does not go up to it";
        return false;
    }
    if (!are_named_here_alone(binder, &tables))
        return false;
    part->stages = stages;
    part->file = tables.files[0];
    set_others(binder, &tables, part);
    part->unordered = false;
    for (size_t t = 0; t < tables.count; t++)
        part->unordered = part->unordered || tables.columns[t].reader->unordered;
    part->reader = lower_tables(binder, &tables, stages, part);
    if (part->reader)
        check_sent(binder, &tables, part);
    return part->reader;
}

/* Has the part read the first row in which it fails, of which all stages are computed here. */
static void seek_failure(struct remote_part *part)
{
    struct file_reader *reader = part->reader;
    part->reader = reader && reader->ops->failing ? reader->ops->failing(reader) : NULL;
    part->stages = part->other_count = 0;
    part->unordered = false;
    if (reader)
        reader->ops->close(reader);
}

/* Has the server compute the aggregates of the group at which the part ends. */
static void try_split(struct binder *binder, struct remote_part *part)
{
    const size_t k = part->reader ? part->stages : 0;
    const struct pipeline *pipeline = binder->facts->pipeline;
    if (binder->needs->what != NEED_NOTHING || binder->facts->dialect || k >= pipeline->stage_count ||
        !may_be_remote(binder, pipeline, k))
        return;
    struct facts facts = *binder->facts;
    struct binder inner = *binder;
    struct remote_part split = {.refusal = part->refusal};
    const struct pipeline *made = split_group(binder, pipeline, k);
    const struct name *written = part->file->written;
    if (!made)
        return;
    facts.pipeline = facts.rest = made;
    inner.facts = &facts;
    part->file->written = written == &pipeline->source.name ? &made->source.name : written;
    const bool found = find_part(&inner, k + 1, &split);
    binder->facts->evaluations = facts.evaluations;
    if (!found) {
        part->file->written = written;
        return;
    }
    if (part->reader)
        part->reader->ops->close(part->reader);
    *part = split;
    part->pipeline = facts.pipeline;
}

const struct remote_part *remote_find(struct binder *binder)
{
    struct remote_part *part = arena_alloc(binder->arena, sizeof *part);
    struct table_columns from;
    const struct pipeline *pipeline = binder->facts->pipeline;
    if (!table_of(binder, &pipeline->source, &part->file, &from)) {
        part->file = NULL;
        return part;
    }
    size_t most = 0;
    while (most < pipeline->stage_count && may_be_remote(binder, pipeline, most))
        most++;
    bool whole = true; /* it may be one value of all its stages */
    for (size_t k = 0; k < pipeline->stage_count && whole; k++)
        whole = is_for_all_tables(pipeline, k);
    if (pipeline->stage_count > most && whole && find_part(binder, pipeline->stage_count, part) &&
        !part->reader->ops->value) {
        part->reader->ops->close(part->reader);
        part->reader = NULL;
    }
    for (size_t stages = most; stages > 0 && !part->reader && binder->needs->what == NEED_NOTHING; stages--)
        find_part(binder, stages, part);
    try_split(binder, part);
    if (binder->facts->dialect && !part->reader && binder->needs->what == NEED_NOTHING)
        find_part(binder, 0, part);
    if (binder->facts->seeks)
        seek_failure(part);
    return part;
}

enum status remote_describe(struct binder *binder, struct remote_description *description)
{
    const struct pipeline *pipeline = binder->facts->pipeline;
    if (binder->facts->sources.errors > 0)
        return STATUS_FAILED;
    const struct remote_part *part = remote_find(binder);
    if (binder->needs->what != NEED_NOTHING)
        return STATUS_OK;
    pipeline = part->pipeline ? part->pipeline : pipeline;
    description->sent = part->sent;
    description->address = part->file ? part->file->path.text : NULL;
    description->refusal = part->refusal;
    description->unordered = part->unordered;
    const enum stage_kind last =
        part->reader && part->stages > 0 ? pipeline->stages[part->stages - 1].word->stage : STAGE_NONE;
    description->asks =
        binder->facts->summary && binder->facts->summary->count > 0 && (last == STAGE_DESCRIBE || last == STAGE_HIST);
    description->all = part->reader && part->stages == pipeline->stage_count;
    if (part->reader && part->reader->query)
        description->query = arena_text(binder->arena, part->reader->query, strlen(part->reader->query));
    if (part->reader && part->reader->unless)
        description->unless = arena_text(binder->arena, part->reader->unless, strlen(part->reader->unless));
    if (!description->all && pipeline->stage_count > 0)
        description->rest = pipeline->stages[part->reader ? part->stages : 0].span;
    if (part->reader)
        part->reader->ops->close(part->reader);
    return STATUS_OK;
}
