#include "engine/formats/open_file.h"

#include "base/path.h"
#include "engine/compression/compression.h"
#include "engine/remote/remote.h"
#include "engine/storage/growing_buffer.h"
#include "engine/storage/pipe_input.h"
#include "engine/storage/program_input.h"
#include "engine/storage/text_options.h"
#include "engine/text/text_files.h"

#include <string.h>

struct workers opener_workers(const struct opener *opener, const char *path, struct arena *arena)
{
    return (struct workers){
        .threads = parallel_threads(),
        .cancel = opener->cancel,
        .progress = opener->progress,
        .whole = {.what = arena_printf(arena, "load %s", path_display(path, arena))},
        .pool = opener->pool,
        .thread_pool = opener->thread_pool,
    };
}

bool opener_has_table(const struct opener *opener, const char *path)
{
    return opener->tables && opener->tables->accepts(path);
}

/* A table on a server, which states its types itself. */
static enum status open_table(const struct opener *opener, const char *path, struct span span,
                              const struct load_options *options, struct opened_file *file, struct diags *diags)
{
    const struct workers workers = opener_workers(opener, path, diags->arena);
    const struct format_job job = {.workers = &workers, .span = span, .diags = diags};
    if (options->format || options->text)
        return diag_error_hint(diags, span, "`derive` converts columns: `derive price = float(price)`",
                               "a table on a server has no format and no types to be stated");
    *file = (struct opened_file){0};
    return opener->tables->open(opener->tables->servers, path, &job, &file->reader);
}

struct unpacking {
    const struct compression *compression;
    struct unpacker *unpacker;
    const struct workers *workers;
};

static bool begins_with(const struct mapping *mapping, const char *text)
{
    const size_t length = strlen(text);
    return mapping_length(mapping) >= length && memcmp(mapping_data(mapping), text, length) == 0;
}

static const struct format *format_of_content(const struct mapping *mapping)
{
    static const struct {
        const char *begin, *word;
    } known[] = {{"PAR1", "parquet"},  {"ARROW1", "arrow"},   {"\xff\xff\xff\xff", "arrows"},
                 {"\x93NUMPY", "npy"}, {"PK\x03\x04", "npz"}, {"{", "jsonl"},
                 {"[", "json"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (begins_with(mapping, known[i].begin))
            return format_by_word(known[i].word);
    }
    return format_by_word("csv");
}

/* The compression of the content: by the extension, or by its first bytes where a raw file cannot begin so. */
static const struct compression *compression_of(const char *path, const struct format *format,
                                                const struct mapping *mapping)
{
    const struct compression *compression = compression_of_path(path);
    if (!compression && (!format || format->type == TYPE_COUNT))
        compression = compression_of_content(mapping_data(mapping), mapping_length(mapping));
    return compression;
}

/* Opens a file at an address, with all of it that its format does not ask for itself. */
static enum status open_address(const struct opener *opener, const char *path, const struct format *format,
                                const struct workers *workers, struct span span, struct mapping **mapping,
                                struct diags *diags)
{
    const char *name = path_of_file(path, diags->arena);
    struct remote_file file;
    const bool stated = format && format != format_of_path(name);
    const bool end = format && format_reads_ranges(format) && !compression_of_path(name);
    enum status status = remote_open(opener->remote, opener->mappings, path, end, stated, workers, span, &file, diags);
    if (status != STATUS_OK)
        return status;
    bool whole = !end || file.encoded;
    if (!format && !compression_of(name, NULL, file.mapping))
        whole = !format_reads_ranges(format_of_content(file.mapping));
    if (whole)
        status = mapping_need_all(file.mapping, workers, span, diags);
    if (status == STATUS_OK)
        *mapping = file.mapping;
    else
        mapping_unref(file.mapping);
    return status;
}

static bool next_piece(void *context, char *to, size_t room, size_t *written, bool *ends)
{
    const struct unpacking *unpacking = context;
    const enum decompress_result result = unpacking->compression->next(unpacking->unpacker, to, room, written);
    unpacker_report(unpacking->unpacker, unpacking->workers);
    *ends = result == DECOMPRESS_OK;
    return result == DECOMPRESS_OK || result == DECOMPRESS_MORE;
}

/* Replaces the mapping of compressed JSON lines by one that lacks values which no column that is mentioned has. False:
 * it is unchanged, and unpacking all of it will tell why. */
static bool unpack_mentioned(const struct compression *compression, const struct load_options *options,
                             struct mapping **mapping, const struct workers *workers)
{
    struct unpacking unpacking = {compression, NULL, workers};
    const bool lines = options->format && options->format->open == open_jsonl && mapping_is_file(*mapping);
    if (!options->mentioned || options->text || !lines)
        return false;
    unpacking.unpacker = compression->open(mapping_data(*mapping), mapping_length(*mapping));
    if (!unpacking.unpacker)
        return false;
    const struct text_pieces pieces = {next_piece, &unpacking};
    struct growing_buffer buffer = {.pool = workers->pool};
    const bool made = text_keep_mentioned(&pieces, options->mentioned, workers, &buffer) && !mapping_changed(*mapping);
    compression->close(unpacking.unpacker);
    if (made) {
        struct mapping *content = mapping_from_buffer(mapping_path(*mapping), mapping_stamp(*mapping), &buffer);
        mapping_unref(*mapping);
        *mapping = content;
    }
    growing_buffer_free(&buffer);
    return made;
}

/* *mentioned: only with what is. */
static enum status decompress(const char *path, const struct load_options *options, struct mapping **mapping,
                              const struct workers *workers, struct span span, bool *mentioned, struct diags *diags)
{
    const struct compression *compression = compression_of(path, options->format, *mapping);
    *mentioned = compression && unpack_mentioned(compression, options, mapping, workers);
    return compression && !*mentioned ? compression_open(compression, mapping, workers, span, diags) : STATUS_OK;
}

static enum status open_mapping(const struct opener *opener, const char *path, const struct format *format,
                                const struct workers *workers, struct span span, struct mapping **mapping,
                                struct diags *diags)
{
    if (path_is_address(path))
        return open_address(opener, path, format, workers, span, mapping, diags);
    if (path_is_program(path))
        return program_read(path, workers, span, mapping, diags);
    return path_is_pipe(path) ? pipes_open(opener->pipes, path, workers, span, mapping, diags)
                              : mapping_open(opener->mappings, path, span, mapping, diags);
}

enum status open_file(const struct opener *opener, const char *path, struct span span,
                      const struct load_options *options, struct opened_file *file, struct diags *diags)
{
    if (opener_has_table(opener, path))
        return open_table(opener, path, span, options, file, diags);
    struct mapping *mapping;
    bool mentioned;
    struct workers workers = opener_workers(opener, path, diags->arena);
    *file = (struct opened_file){.format = options->format};
    enum status status = open_mapping(opener, path, file->format, &workers, span, &mapping, diags);
    if (status != STATUS_OK)
        return status;
    workers.whole.bytes = (int64_t)mapping_length(mapping);
    status = decompress(path_is_program(path) ? "" : path_of_file(path, diags->arena), options, &mapping, &workers,
                        span, &mentioned, diags);
    if (status == STATUS_OK) {
        file->stamp = mapping_stamp(mapping);
        file->format = file->format ? file->format : format_of_content(mapping);
        if (options->text && !options->text->head && !format_is_text(file->format))
            status = diag_error_hint(diags, span, "omit what follows its path; `derive` converts columns",
                                     "`%s` is no text file: its types are its own", path_display(path, diags->arena));
    }
    if (status == STATUS_OK) {
        const struct format_job job = {.format = file->format,
                                       .workers = &workers,
                                       .span = span,
                                       .diags = diags,
                                       .text = options->text,
                                       .mentioned = mentioned ? options->mentioned : NULL};
        status = file->format->open ? format_open(&job, mapping, &file->reader)
                                    : format_read(&job, mapping, &file->relation);
    }
    if (status == STATUS_OK && file->reader)
        file->mapping = mapping_ref(mapping);
    mapping_unref(mapping);
    if (status != STATUS_OK)
        *file = (struct opened_file){0};
    return status;
}

void opened_file_close(struct opened_file *file)
{
    relation_unref(file->relation);
    if (file->reader)
        file->reader->ops->close(file->reader);
    mapping_unref(file->mapping);
    *file = (struct opened_file){0};
}
