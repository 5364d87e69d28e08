#include "engine/env/sources.h"

#include "base/path.h"
#include "engine/env/written_path.h"
#include "engine/formats/formats.h"
#include "engine/storage/compression_table.h"
#include "engine/storage/file_not_found.h"
#include "parser/parse.h"

#include <sys/stat.h>

/* Formats that are not raw are parsed when they are loaded, at about a millisecond a megabyte. */
enum { FAST_BYTES = 32 << 20 };

/* Called for each file of a pipeline; false ends the walk. */
typedef bool visit_file(void *context, const struct path_item *item, const struct name *written);

struct loader {
    const struct env *env;
    bool checking;
    struct arena *arena;
    struct timing *timing;
    struct sources *sources;
    struct diags *diags;
};

static bool walk_pipeline(const struct env *env, const struct pipeline *pipeline, visit_file *visit, void *context);

static bool walk_source(const struct env *env, const struct source_node *source, visit_file *visit, void *context)
{
    const char *argument = source->kind == SOURCE_NAME ? name_argument(&source->name) : NULL;
    if (source->kind == SOURCE_PIPELINE)
        return walk_pipeline(env, source->pipeline, visit, context);
    /* An argument that is no `let` name is a path. */
    if (argument && !env_find(env, argument))
        return visit(context, &(struct path_item){.path = source->name}, &source->name);
    for (size_t i = 0; source->kind == SOURCE_LOAD && i < source->path_count; i++) {
        if (!visit(context, &source->paths[i], &source->paths[i].path))
            return false;
    }
    return true;
}

static bool walk_pipeline(const struct env *env, const struct pipeline *pipeline, visit_file *visit, void *context)
{
    bool on = walk_source(env, &pipeline->source, visit, context);
    for (size_t i = 0; i < pipeline->stage_count && on; i++) {
        for (size_t k = 0; k < pipeline->stages[i].source_count && on; k++)
            on = walk_source(env, &pipeline->stages[i].sources[k], visit, context);
    }
    return on;
}

static void unknown_format(const struct name *word, const struct format *format, struct diags *diags)
{
    const char *advice = format_advice(arena_printf(diags->arena, ".%s", word->text));
    const char **names = arena_array(diags->arena, format_count, sizeof *names);
    const char *all = "formats that can be loaded:";
    size_t count = 0;
    for (size_t i = 0; i < format_count; i++) {
        if (format_loads(&format_table[i])) {
            names[count] = format_word(&format_table[i]);
            all = arena_printf(diags->arena, "%s %s", all, names[count++]);
        }
    }
    if (format)
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

/* "data/ids.bin" -> "ids" */
static const char *stem_of(struct arena *arena, const char *path)
{
    const char *base = path_base(path);
    return arena_text(arena, base, (size_t)(path_extension(path) - base));
}

/* Before running, a file may not exist yet, or be replaced before it is read: an earlier statement may save it. Only
 * its format counts, unless the file is missing and no statement will save it. */
static void expect_file(struct loader *loader, const struct name *path, const struct format *stated,
                        struct source_file *file)
{
    const struct format *format = stated ? stated : format_of_path(path->text);
    if (loader->env->files_settled && file_is_missing(path->text)) {
        file_not_found(path->text, path->span, loader->diags);
        loader->sources->errors++;
    }
    if (file_cache_check(loader->env->file_cache, path->text, path->span, loader->diags) != STATUS_OK)
        loader->sources->errors++;
    file->known = format && format->type != TYPE_COUNT;
    file->shape_unknown = format && format->shaped;
    if (!file->known)
        return;
    file->columns = arena_alloc(loader->arena, sizeof *file->columns);
    file->columns[0] = (struct source_column){.name = stem_of(loader->arena, path->text), .type = format->type};
    file->count = 1;
}

static void load_file(struct loader *loader, const struct name *path, const struct format *stated,
                      struct source_file *file)
{
    struct loaded loaded = {0};
    int64_t began = now_ns();
    enum status status =
        file_cache_load(loader->env->file_cache, path->text, path->span, stated, &loaded, loader->diags);
    if (status != STATUS_OK) {
        loader->sources->errors++;
        loader->sources->cancelled = status == STATUS_CANCELLED;
        return;
    }
    timing_add(loader->timing, PHASE_MAP, path->text, now_ns() - began, 0);
    file->columns = arena_array(loader->arena, loaded.count + 1, sizeof *file->columns);
    for (size_t i = 0; i < loaded.count; i++) {
        struct column *column = loaded.columns[i]; /* with its reference */
        file->columns[i] = (struct source_column){loaded.names[i], column->type, column->logical, column};
    }
    file->count = loaded.count;
    file->shape = loaded.shape;
    file->known = true;
}

static struct source_file *add_file(struct loader *loader, const struct name *written)
{
    struct sources *sources = loader->sources;
    if (sources->count == sources->capacity) {
        size_t capacity = sources->capacity ? 2 * sources->capacity : 4;
        sources->files = arena_grow(loader->arena, sources->files, sources->count, capacity, sizeof *sources->files);
        sources->capacity = capacity;
    }
    struct source_file *file = &sources->files[sources->count++];
    *file = (struct source_file){.written = written};
    return file;
}

static bool refuse_stated(const struct path_item *item, struct diags *diags)
{
    if (item->stated_count > 0)
        diag_error(diags, item->stated[0].span, "stated types are not supported yet");
    else if (item->missing_count > 0)
        diag_error(diags, item->missing[0].span, "stated words for missing values are not supported yet");
    return item->stated_count > 0 || item->missing_count > 0;
}

static bool resolve_file(void *context, const struct path_item *item, const struct name *written)
{
    struct loader *loader = context;
    struct source_file *file = add_file(loader, written);
    const struct format *stated;
    struct name path;
    if (path_substitute(loader->env, &item->path, loader->arena, &path, loader->diags) != STATUS_OK ||
        stated_format(&item->format, &stated, loader->diags) != STATUS_OK || refuse_stated(item, loader->diags)) {
        loader->sources->errors++;
    } else {
        file->path = path;
        (loader->checking ? expect_file : load_file)(loader, &path, stated, file);
    }
    return loader->sources->errors < LIMIT_ERRORS && !loader->sources->cancelled;
}

void sources_load(const struct env *env, const struct pipeline *pipeline, bool checking, struct arena *arena,
                  struct timing *timing, struct sources *sources, struct diags *diags)
{
    struct loader loader = {env, checking, arena, timing, sources, diags};
    *sources = (struct sources){0};
    walk_pipeline(env, pipeline, resolve_file, &loader);
}

void sources_release(struct sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        for (size_t k = 0; k < sources->files[i].count; k++)
            column_unref(sources->files[i].columns[k].column);
    }
    *sources = (struct sources){0};
}

const struct source_file *sources_find(struct sources *sources, const struct name *written)
{
    for (size_t i = 0; i < sources->count; i++) {
        size_t at = (sources->next + i) % sources->count;
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

static bool loads_fast(void *context, const struct path_item *item, const struct name *written)
{
    const struct fast_check *check = context;
    struct diags diags;
    struct name path;
    struct stat status;
    (void)written;
    diags_init(&diags, check->arena);
    if (path_substitute(check->env, &item->path, check->arena, &path, &diags) != STATUS_OK ||
        stat(path.text, &status) != 0)
        return false;
    const struct format *format = item->format.text ? format_by_word(item->format.text) : format_of_path(path.text);
    bool raw = format && format->type != TYPE_COUNT;
    return S_ISDIR(status.st_mode) || (S_ISREG(status.st_mode) && (raw || status.st_size <= FAST_BYTES)) ||
           (format && file_cache_contains(check->env->file_cache, path.text, format));
}

bool sources_load_fast(const struct env *env, const struct pipeline *pipeline, struct arena *arena)
{
    struct fast_check check = {env, arena};
    return walk_pipeline(env, pipeline, loads_fast, &check);
}
