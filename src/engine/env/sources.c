#include "engine/env/sources.h"

#include "base/path.h"
#include "base/time/time_zone.h"
#include "engine/compression/compression.h"
#include "engine/env/env.h"
#include "engine/env/mentioned.h"
#include "engine/env/text_clauses.h"
#include "engine/formats/file_list.h"
#include "engine/formats/formats.h"
#include "engine/storage/file_errors.h"
#include "engine/storage/list_store.h"
#include "engine/storage/pipe_input.h"
#include "engine/storage/program_input.h"
#include "parser/parse.h"

#include <string.h>
#include <sys/stat.h>

/* Formats that are not raw are parsed when they are loaded, at about a millisecond a megabyte. */
enum { FAST_BYTES = 32 << 20, FAST_ROWS = 4 << 20 };

/* Called for each file of a pipeline, and with `item` NULL for each relation of which columns of files are unread, or
 * texts have no order; false ends the walk. */
typedef bool visit_source(void *context, const struct path_item *item, const struct relation *relation,
                          const struct name *written);

struct loader {
    const struct env *env;
    bool checking;
    struct arena *arena;
    struct timing *timing;
    const struct mentioned *mentioned;
    struct sources *sources;
    struct diags *diags;
};

static bool walk_pipeline(const struct env *env, const struct pipeline *pipeline, visit_source *visit, void *context);

static bool has_unread(const struct relation *relation)
{
    for (size_t i = 0; relation && i < relation->count; i++) {
        if (relation->columns[i]->unread || column_is_unsorted(relation->columns[i]))
            return true;
    }
    return false;
}

static bool walk_source(const struct env *env, const struct source_node *source, visit_source *visit, void *context)
{
    if (source->kind == SOURCE_PIPELINE)
        return walk_pipeline(env, source->pipeline, visit, context);
    const struct name *name = &source->name;
    const char *argument = source->kind == SOURCE_NAME ? name_argument(name) : NULL;
    const struct binding *binding =
        source->kind == SOURCE_NAME ? env_find(env, argument ? argument : name->text) : NULL;
    /* An argument that is no `let` name is a path. */
    if (argument && !binding)
        return visit(context, &(struct path_item){.path = *name}, NULL, name);
    const struct relation *relation = source->kind == SOURCE_LAST ? env->last : binding ? binding->relation : NULL;
    if (has_unread(relation))
        return visit(context, NULL, relation, name);
    for (size_t i = 0; source->kind == SOURCE_LOAD && i < source->path_count; i++) {
        if (!visit(context, &source->paths[i], NULL, &source->paths[i].path))
            return false;
    }
    return true;
}

/* Whether `in` may mean a time zone by this: an argument that names one, or no file. */
static bool may_be_zone(const struct env *env, const struct source_node *source)
{
    const char *argument = source->kind == SOURCE_NAME ? name_argument(&source->name) : NULL;
    const char *text = argument ? env_argument(env, argument, strlen(argument)) : NULL;
    const struct time_zone *zone;
    return text && !env_find(env, argument) &&
           (time_zone_find(text, &zone) == TIME_ZONE_FOUND || file_is_missing(text));
}

/* The sources in an expression: x in (...). */
static bool walk_expr(const struct env *env, const struct expr *expr, visit_source *visit, void *context)
{
    bool on = true;
    for (size_t i = 0; i < expr->arg_count && on; i++)
        on = walk_expr(env, expr->args[i], visit, context);
    const bool reads = expr->kind == EXPR_IN_SOURCE && expr->source && !may_be_zone(env, expr->source);
    return on && reads ? walk_source(env, expr->source, visit, context) : on;
}

static bool walk_items(const struct env *env, const struct item *items, size_t count, visit_source *visit,
                       void *context)
{
    bool on = true;
    for (size_t i = 0; i < count && on; i++)
        on = walk_expr(env, items[i].expr, visit, context);
    return on;
}

static bool walk_stages(const struct env *env, const struct stage *stages, size_t count, visit_source *visit,
                        void *context)
{
    bool on = true;
    for (size_t i = 0; i < count && on; i++) {
        const struct stage *stage = &stages[i];
        on = walk_items(env, stage->items, stage->item_count, visit, context) &&
             walk_items(env, stage->aggregates, stage->aggregate_count, visit, context) &&
             walk_stages(env, stage->body, stage->body_count, visit, context);
        if (on && stage->condition)
            on = walk_expr(env, stage->condition, visit, context);
        if (on && stage->until)
            on = walk_expr(env, stage->until, visit, context);
        if (on && stage->loop)
            on = walk_pipeline(env, stage->loop, visit, context);
        for (size_t k = 0; k < stage->source_count && on; k++)
            on = walk_source(env, &stage->sources[k], visit, context);
    }
    return on;
}

static bool walk_pipeline(const struct env *env, const struct pipeline *pipeline, visit_source *visit, void *context)
{
    return walk_source(env, &pipeline->source, visit, context) &&
           walk_stages(env, pipeline->stages, pipeline->stage_count, visit, context);
}

static void unknown_format(const struct name *word, const struct format *format, struct diags *diags)
{
    const char *advice = format_advice(arena_printf(diags->arena, "x.%s", word->text), diags->arena);
    const char **names = arena_array(diags->arena, format_count, sizeof *names);
    const char *all = "formats that can be loaded:";
    size_t count = 0;
    for (size_t i = 0; i < format_count; i++) {
        if (format_loads(&format_table[i])) {
            names[count] = format_word(&format_table[i]);
            all = arena_printf(diags->arena, "%s %s", all, names[count++]);
        }
    }
    const enum clause_kind clause = clause_find(word->text, strlen(word->text));
    if (clause < CLAUSE_KINDS)
        advice =
            arena_printf(diags->arena, "as in `%s`: %s", clause_table[clause].example, clause_table[clause].summary);
    if (clause < CLAUSE_KINDS)
        diag_error(diags, word->span, "`%s` lacks what it states", word->text);
    else if (format)
        diag_error(diags, word->span, "format `%s` can be saved, but not loaded", word->text);
    else if (advice)
        diag_error(diags, word->span, "format `%s` cannot be loaded", word->text);
    else
        diag_error(diags, word->span, "unknown type or format `%s`%s", word->text,
                   did_you_mean(diags->arena, word->text, names, count));
    diag_hint(diags, "%s", advice ? advice : all);
}

/* The format stated after the path, NULL if none is. */
static enum status stated_format(const struct name *word, const struct format **format, struct diags *diags)
{
    *format = word->text ? format_by_word(word->text) : NULL;
    if (!word->text || (*format && format_loads(*format)))
        return STATUS_OK;
    unknown_format(word, *format, diags);
    return STATUS_FAILED;
}

static void peek_at_file(const struct loader *loader, const struct name *path, const struct format *format,
                         struct source_file *file)
{
    const struct reader_column *columns;
    size_t count;
    file->known = file_cache_peek(loader->env->file_cache, path->text, format, loader->arena, &columns, &count);
    if (!file->known)
        return;
    file->columns = arena_array(loader->arena, count + 1, sizeof *file->columns);
    for (size_t k = 0; k < count; k++) {
        const struct reader_column *column = &columns[k];
        file->columns[k] =
            (struct source_column){.name = column->name, .type = column->type, .logical = column->logical};
        if (!column->logical.lists)
            continue;
        file->columns[k].unread = column_unread(column->type, column->logical, 0, false, false);
        list_store_unref(column->logical.lists);
    }
    file->count = count;
}

/* In a check, a file that is not opened: only its format counts. */
static void expect_file(struct loader *loader, const struct name *path, const struct format *stated,
                        struct source_file *file)
{
    const bool program = path_is_program(path->text);
    const struct format *format = stated || program ? stated : format_of_path(path_of_file(path->text, loader->arena));
    if (file_cache_check(loader->env->file_cache, path->text, path->span, loader->diags) != STATUS_OK)
        loader->sources->errors++;
    file->known = format && format->type != TYPE_COUNT;
    file->shape_unknown = format && format->shaped;
    if (!file->known && loader->env->peeks && !program)
        peek_at_file(loader, path, format, file);
    if (!file->known || file->count > 0)
        return;
    file->columns = arena_alloc(loader->arena, sizeof *file->columns);
    file->columns[0] = (struct source_column){.name = path_stem(path->text, loader->arena), .type = format->type};
    file->count = 1;
}

/* Whether a check opens the file: it may exist later or be replaced before it is read, and the data of a pipe may come
 * late. */
static bool is_opened(const struct env *env, const char *path)
{
    return env->opens_files && !made_files_have(&env->made, path) && !path_is_pipe(path) && !path_is_program(path);
}

static void load_file(struct loader *loader, const struct load_options *options, struct source_file *file)
{
    const struct env *env = loader->env;
    const enum status status = source_load_files(loader->sources, file, env, options, loader->timing, loader->diags);
    if (status != STATUS_OK) {
        loader->sources->errors++;
        loader->sources->cancelled = status == STATUS_CANCELLED;
        return;
    }
    file->outdated = file->count > 0 && file->columns[0].column->live && !loader->checking;
}

static struct source_file *add_file(struct loader *loader, const struct name *written)
{
    struct sources *sources = loader->sources;
    struct source_file *file = ARENA_PUSH(loader->arena, sources->files, sources->count, sources->capacity);
    *file = (struct source_file){.written = written};
    return file;
}

/* The path to load: `-` is standard input. */
static enum status loaded_path(const struct env *env, const struct name *written, struct arena *arena,
                               struct name *path, struct diags *diags)
{
    const enum status status = path_substitute(env, written, arena, path, diags);
    if (status == STATUS_OK && strcmp(path->text, "-") == 0)
        path->text = PATH_STDIN;
    return status;
}

static void resolve_file(struct loader *loader, const struct path_item *item, struct source_file *file)
{
    struct load_options *options = arena_alloc(loader->arena, sizeof *options);
    struct name path;
    options->lists = true;
    options->mentioned = loader->mentioned;
    if (loaded_path(loader->env, &item->path, loader->arena, &path, loader->diags) != STATUS_OK ||
        stated_format(&item->format, &options->format, loader->diags) != STATUS_OK ||
        text_options_of(item, &options->text, loader->diags) != STATUS_OK) {
        loader->sources->errors++;
        return;
    }
    file->path = path;
    if (loader->checking && !is_opened(loader->env, path.text))
        expect_file(loader, &path, options->format, file);
    else
        load_file(loader, options, file);
}

/* The columns of a relation, those that have been read meanwhile instead of what stands for them. */
static void resolve_relation(struct loader *loader, const struct relation *relation, struct source_file *file)
{
    const size_t count = relation->count;
    struct column **columns = arena_array(loader->arena, count, sizeof(struct column *));
    for (size_t i = 0; i < count; i++)
        columns[i] = column_ref(relation->columns[i]);
    file_cache_renew(loader->env->file_cache, columns, count);
    file->path = *file->written;
    file->columns = arena_array(loader->arena, count, sizeof *file->columns);
    for (size_t i = 0; i < count; i++)
        file->columns[i] = source_column(loader->sources, relation->names[i], columns[i]);
    file->count = count;
    file->known = true;
    file->outdated = !loader->checking;
    file->search = relation->deferred ? SEARCH_DONE : SEARCH_BOUNDS;
}

static bool resolve_source(void *context, const struct path_item *item, const struct relation *relation,
                           const struct name *written)
{
    struct loader *loader = context;
    struct source_file *file = add_file(loader, written);
    if (relation)
        resolve_relation(loader, relation, file);
    else
        resolve_file(loader, item, file);
    return loader->sources->errors < LIMIT_ERRORS && !loader->sources->cancelled;
}

void sources_load(const struct env *env, const struct pipeline *pipeline, bool checking, struct arena *arena,
                  struct timing *timing, struct sources *sources, struct diags *diags)
{
    struct mentioned mentioned;
    const bool few = find_mentioned(pipeline, arena, &mentioned);
    struct loader loader = {env, checking, arena, timing, few ? &mentioned : NULL, sources, diags};
    *sources = (struct sources){.checking = checking};
    walk_pipeline(env, pipeline, resolve_source, &loader);
}

void sources_release(struct sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        for (size_t k = 0; k < sources->files[i].count; k++) {
            column_unref(sources->files[i].columns[k].column);
            column_unref(sources->files[i].columns[k].unread);
            if (sources->files[i].whole) {
                column_unref(sources->files[i].whole[k].column);
                column_unref(sources->files[i].whole[k].unread);
            }
        }
    }
    *sources = (struct sources){0};
}

const struct source_file *sources_find(struct sources *sources, const struct name *written)
{
    for (size_t i = 0; i < sources->count; i++) {
        const size_t at = (sources->next + i) % sources->count;
        if (sources->files[at].written == written) {
            sources->next = at + 1;
            return &sources->files[at];
        }
    }
    return NULL;
}

struct fast_check {
    const struct env *env;
    struct arena *arena;
};

/* Whether it reads a table on a server. */
static bool has_live(const struct relation *relation)
{
    bool live = false;
    for (size_t k = 0; k < relation->count; k++)
        live = live || relation->columns[k]->live;
    return live;
}

static bool loads_fast(void *context, const struct path_item *item, const struct relation *relation,
                       const struct name *written)
{
    const struct fast_check *check = context;
    if (relation)
        return relation->rows <= FAST_ROWS && !has_live(relation);
    struct diags diags;
    struct name path;
    struct stat status;
    (void)written;
    diags_init(&diags, check->arena);
    if (loaded_path(check->env, &item->path, check->arena, &path, &diags) != STATUS_OK)
        return false;
    if (path_is_program(path.text) || path_is_address(path.text))
        return false;
    if (stat(path.text, &status) != 0)
        status = (struct stat){0}; /* or a pattern */
    const struct format *format = item->format.text ? format_by_word(item->format.text) : format_of_path(path.text);
    const bool raw = format && format->type != TYPE_COUNT;
    return S_ISDIR(status.st_mode) || (S_ISREG(status.st_mode) && (raw || status.st_size <= FAST_BYTES)) ||
           (format && file_cache_contains(check->env->file_cache, path.text, format));
}

bool sources_load_fast(const struct env *env, const struct pipeline *pipeline, struct arena *arena)
{
    struct fast_check check = {env, arena};
    return walk_pipeline(env, pipeline, loads_fast, &check);
}
