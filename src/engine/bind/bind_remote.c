#include "engine/bind/bind_remote.h"

#include "engine/env/source_columns.h"
#include "engine/expression/evaluated.h"
#include "engine/formats/open_file.h"
#include "engine/loop/expand.h"
#include "engine/storage/file_reader.h"

#include <string.h>

/* What a server runs of a pipeline. */
struct remote_part {
    struct file_reader *reader;  /* of its result; NULL: nothing */
    size_t stages;               /* the first ones */
    const char *refusal;         /* why not more, if that is known; or NULL */
    struct source_file **others; /* tables that joins of these stages read */
    size_t other_count;
    struct source_file *file; /* the table, */
    bool unordered;           /* whose rows can only be queried */
    struct bound bound;       /* of a value: the whole pipeline, with its queue released */
};

/* The tables that a part of a pipeline reads, its source first. */
struct tables {
    struct source_file **files;
    struct table_columns *columns; /* of each, a list */
    size_t count, capacity;
};

/* The table that a source is; false: it is none. */
static bool table_of(const struct binder *binder, const struct source_node *source, struct sources *sources,
                     const char *dialect, struct source_file **file, struct table_columns *from)
{
    const struct path_item *path = source->kind == SOURCE_LOAD && source->path_count == 1 ? source->paths : NULL;
    const struct name *written = path ? &path->path : &source->name;
    if ((!path && source->kind != SOURCE_NAME && source->kind != SOURCE_LAST) || (path && path->as.text) ||
        source->as.text)
        return false;
    *file = NULL;
    for (size_t i = 0; i < sources->count && !*file; i++)
        *file = sources->files[i].written == written ? &sources->files[i] : NULL;
    if (!*file || (*file)->count == 0 || (*file)->rows)
        return false;
    size_t *places = arena_array(binder->arena, (*file)->count, sizeof *places);
    *from = (struct table_columns){.places = places, .count = (*file)->count, .dialect = dialect};
    for (size_t k = 0; k < (*file)->count; k++) {
        const struct column *column = (*file)->columns[k].column;
        if (!column || !column->unread || !column->live)
            return false;
        const struct file_reader *reader = file_cache_reader(binder->env->file_cache, column, &places[k]);
        if (!reader || (from->reader && from->reader != reader))
            return false;
        from->reader = reader;
    }
    return true;
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
static bool may_be_remote(const struct pipeline *pipeline, size_t k)
{
    const struct stage *stage = &pipeline->stages[k];
    const bool joins = stage->word->stage == STAGE_JOIN || stage->word->stage == STAGE_LOOKUP;
    if ((stage->source_count > 0 && !joins) || stage->body_count > 0 || stage->loop || stage->across ||
        stage->along.text)
        return false;
    return stage_does(stage->word->stage, RUNS_REMOTELY) && is_for_all_tables(pipeline, k);
}

static bool add_tables(const struct binder *binder, const struct pipeline *pipeline, size_t stages, const char *dialect,
                       struct sources *sources, struct tables *tables);

/* Adds the tables that a source reads. False: it reads something else, too, or not all of its stages may be run. */
static bool add_source(const struct binder *binder, const struct source_node *source, const char *dialect,
                       struct sources *sources, struct tables *tables)
{
    struct source_file *file;
    struct table_columns from;
    if (source->kind == SOURCE_PIPELINE) {
        const struct pipeline *inner = source->pipeline;
        bool good = true;
        for (size_t k = 0; k < inner->stage_count && good; k++)
            good = may_be_remote(inner, k);
        return good && add_tables(binder, inner, inner->stage_count, dialect, sources, tables);
    }
    if (!table_of(binder, source, sources, dialect, &file, &from))
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

/* Adds the tables that `x in (...)` reads. */
static bool add_of_expr(const struct binder *binder, const struct expr *expr, const char *dialect,
                        struct sources *sources, struct tables *tables)
{
    bool good = true;
    for (size_t i = 0; i < expr->arg_count && good; i++)
        good = add_of_expr(binder, expr->args[i], dialect, sources, tables);
    return good && (expr->kind != EXPR_IN_SOURCE || !expr->source ||
                    add_source(binder, expr->source, dialect, sources, tables));
}

static bool add_of_items(const struct binder *binder, const struct item *items, size_t count, const char *dialect,
                         struct sources *sources, struct tables *tables)
{
    bool good = true;
    for (size_t i = 0; i < count && good; i++)
        good = add_of_expr(binder, items[i].expr, dialect, sources, tables);
    return good;
}

/* Adds the tables that the first `stages` stages and the source read. */
static bool add_tables(const struct binder *binder, const struct pipeline *pipeline, size_t stages, const char *dialect,
                       struct sources *sources, struct tables *tables)
{
    bool good = add_source(binder, &pipeline->source, dialect, sources, tables);
    for (size_t k = 0; k < stages && good; k++) {
        const struct stage *stage = &pipeline->stages[k];
        for (size_t i = 0; i < stage->source_count && good; i++)
            good = add_source(binder, &stage->sources[i], dialect, sources, tables);
        good = good && add_of_items(binder, stage->items, stage->item_count, dialect, sources, tables) &&
               add_of_items(binder, stage->aggregates, stage->aggregate_count, dialect, sources, tables) &&
               (!stage->condition || add_of_expr(binder, stage->condition, dialect, sources, tables));
    }
    return good;
}

/* Whether no other place of the statement names these tables: it would read them by itself. */
static bool are_named_here_alone(const struct binder *binder, const struct tables *tables,
                                 const struct sources *sources)
{
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
static struct file_reader *lower(struct binder *binder, const struct bind_request *request, struct sources *sources,
                                 const struct table_columns *from, size_t stages, bind_part *bind,
                                 struct remote_part *part)
{
    struct pipeline *first = arena_alloc(binder->arena, sizeof *first);
    struct bind_request alone = *request;
    struct evaluations evaluations = {0};
    struct diags diags;
    struct file_reader *reader = NULL;
    struct binder inner = *binder;
    inner.remote = true;
    *first = *request->pipeline;
    first->stage_count = stages;
    alone.pipeline = first;
    if (part->file->written == &request->pipeline->source.name)
        part->file->written = &first->source.name; /* for this binding */
    if (stages < request->pipeline->stage_count)
        alone.wanted = NULL;
    diags_init(&diags, binder->arena);
    inner.evaluations = &evaluations;
    inner.diags = &diags;
    if (bind(&inner, &alone, sources, &part->bound) == STATUS_OK) {
        const bool single = part->bound.kind == BOUND_SCALAR;
        if (evaluations.count == 0 && (single || (part->bound.kind == BOUND_RELATION && part->bound.shape.axes == 0)))
            reader = file_cache_lower(binder->env->file_cache, &part->bound.queue, from, &part->refusal);
        if (reader && single != !!reader->ops->value) {
            reader->ops->close(reader);
            reader = NULL;
        }
        queue_release(&part->bound.queue);
    }
    if (part->file->written == &first->source.name)
        part->file->written = &request->pipeline->source.name;
    evaluations_release(&evaluations);
    return reader;
}

/* Lowers the first `stages` stages of what reads these tables, whose columns others stand for meanwhile. */
static struct file_reader *lower_tables(struct binder *binder, const struct bind_request *request,
                                        struct sources *sources, const struct tables *tables, size_t stages,
                                        bind_part *bind, struct remote_part *part)
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
    if (made)
        reader = lower(binder, request, sources, tables->columns, stages, bind, part);
    for (size_t t = 0; t < tables->count; t++) {
        for (size_t k = 0; k < tables->files[t]->count; k++)
            column_unref(tables->columns[t].columns[k]);
        tables->files[t]->columns = kept[t];
    }
    return reader;
}

/* Lowers the first `stages` stages. */
static bool find_part(struct binder *binder, const struct bind_request *request, struct sources *sources, size_t stages,
                      bind_part *bind, struct remote_part *part)
{
    struct tables tables = {0};
    if (!add_tables(binder, request->pipeline, stages, request->dialect, sources, &tables)) {
        part->refusal = "a source that is no table of this server, or whose stages it cannot run";
        return false;
    }
    if (!are_named_here_alone(binder, &tables, sources))
        return false;
    part->stages = stages;
    part->file = tables.files[0];
    part->others = tables.files + 1;
    part->other_count = tables.count - 1;
    part->unordered = false;
    for (size_t t = 0; t < tables.count; t++)
        part->unordered = part->unordered || tables.columns[t].reader->unordered;
    part->reader = lower_tables(binder, request, sources, &tables, stages, bind, part);
    return part->reader;
}

/* Finds the longest part. The reader is the caller's. */
static struct remote_part remote_find(struct binder *binder, const struct bind_request *request,
                                      struct sources *sources, bind_part *bind)
{
    struct remote_part part = {0};
    struct table_columns from;
    const struct pipeline *pipeline = request->pipeline;
    if (!table_of(binder, &pipeline->source, sources, request->dialect, &part.file, &from))
        return (struct remote_part){0};
    size_t most = 0;
    while (most < pipeline->stage_count && may_be_remote(pipeline, most))
        most++;
    bool whole = true; /* it may be one value of all its stages */
    for (size_t k = 0; k < pipeline->stage_count && whole; k++)
        whole = is_for_all_tables(pipeline, k);
    if (pipeline->stage_count > most && whole &&
        find_part(binder, request, sources, pipeline->stage_count, bind, &part) && !part.reader->ops->value) {
        part.reader->ops->close(part.reader);
        part.reader = NULL;
    }
    for (size_t stages = most; stages > 0 && !part.reader; stages--)
        find_part(binder, request, sources, stages, bind, &part);
    return part;
}

static enum status remote_replace(struct binder *binder, struct bind_request *request, struct sources *sources,
                                  const struct remote_part *part)
{
    struct arena *arena = binder->arena;
    struct source_file *file = part->file;
    struct loaded loaded = {0};
    struct path_item *item = arena_alloc(arena, sizeof *item);
    struct pipeline *rest = arena_alloc(arena, sizeof *rest);
    const struct source_node *source = &request->pipeline->source;
    *item = (struct path_item){.path = file->path, .span = source->span};
    *rest = *request->pipeline;
    rest->source = (struct source_node){.kind = SOURCE_LOAD, .span = source->span, .paths = item, .path_count = 1};
    rest->stages += part->stages;
    rest->stage_count -= part->stages;
    const enum status status = file_cache_adopt(binder->env->file_cache, part->reader, file->path.text, file->path.span,
                                                &loaded, binder->diags);
    if (status != STATUS_OK)
        return status;
    for (size_t k = 0; k < file->count; k++) {
        column_unref(file->columns[k].column);
        column_unref(file->columns[k].unread);
    }
    for (size_t i = 0; i < part->other_count; i++) { /* which nothing names any more */
        struct source_file *other = part->others[i];
        for (size_t k = 0; k < other->count; k++) {
            column_unref(other->columns[k].column);
            column_unref(other->columns[k].unread);
        }
        other->count = 0;
    }
    file->written = &item->path;
    file->columns = arena_array(arena, loaded.count + 1, sizeof *file->columns);
    for (size_t k = 0; k < loaded.count; k++)
        file->columns[k] = source_column(sources, loaded.names[k], loaded.columns[k]);
    file->count = loaded.count;
    file->outdated = true; /* how many rows there are, reading them tells */
    file->search = SEARCH_DONE;
    request->pipeline = rest;
    request->unread = UNREAD_NONE;
    if (rest->stage_count == 0)
        request->wanted = NULL; /* it has no other columns */
    return STATUS_OK;
}

static enum status remote_value(struct binder *binder, const struct bind_request *request,
                                const struct remote_part *part, struct bound *bound)
{
    struct scalar scalar;
    const int64_t began = now_ns();
    const struct name *path = &part->file->path;
    const enum status status =
        file_cache_value(binder->env->file_cache, part->reader, path->span, &scalar, binder->diags);
    timing_add(request->timing, PHASE_MAP, path->text, now_ns() - began, 0);
    part->reader->ops->close(part->reader);
    if (status != STATUS_OK)
        return status;
    *bound = part->bound;
    queue_init(&bound->queue, binder->arena);
    bound->kind = BOUND_CONSTANT;
    bound->scalar = scalar;
    return STATUS_OK;
}

enum status bind_remotely(struct binder *binder, struct bind_request *request, struct sources *sources, bind_part *bind,
                          struct bound *bound, bool *narrowed, bool *done)
{
    if (request->whole || request->checking || !request->runner || sources->errors > 0)
        return STATUS_OK;
    const struct remote_part part = remote_find(binder, request, sources, bind);
    *done = part.reader && part.reader->ops->value;
    if (*done)
        return remote_value(binder, request, &part, bound);
    *narrowed = part.reader && !part.unordered;
    return part.reader ? remote_replace(binder, request, sources, &part) : STATUS_OK;
}

bool tables_wait(const struct binder *binder, const struct bind_request *request, const struct needed_column *needed,
                 size_t count)
{
    bool live = false;
    for (size_t i = 0; i < count && !live; i++)
        live = needed[i].column->live && needed[i].column->unread;
    return live && request->runner && evaluations_lack(binder->evaluations);
}

enum status remote_tell(struct binder *binder, const struct bind_request *request, bind_part *bind,
                        struct remote_description *description)
{
    struct bind_request alone = *request;
    struct sources sources;
    *description = (struct remote_description){0};
    alone.pipeline = stages_expand(binder, request->pipeline);
    if (binder->errors > 0)
        return STATUS_FAILED;
    sources_load(binder->env, alone.pipeline, false, binder->arena, alone.timing, &sources, binder->diags);
    const enum status status = sources.cancelled ? STATUS_CANCELLED : sources.errors > 0 ? STATUS_FAILED : STATUS_OK;
    if (status == STATUS_OK) {
        const struct remote_part part = remote_find(binder, &alone, &sources, bind);
        description->address = part.file ? part.file->path.text : NULL;
        description->refusal = part.refusal;
        description->all = part.reader && part.stages == alone.pipeline->stage_count;
        if (part.reader && part.reader->query)
            description->query = arena_text(binder->arena, part.reader->query, strlen(part.reader->query));
        if (!description->all && alone.pipeline->stage_count > 0)
            description->rest = alone.pipeline->stages[part.reader ? part.stages : 0].span;
        if (part.reader)
            part.reader->ops->close(part.reader);
    }
    sources_release(&sources);
    return status;
}
