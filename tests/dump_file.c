/* Reads a file column by column and prints it: `dump_file FILE [COLUMN...]`, all columns by default. For each column a
 * line with its name and type, then a line for each value: integers, floats with all their digits, text in hexadecimal,
 * lists as JSON, `-` where it is missing. `dump_file --time N FILE [COLUMN...]` prints how long N reads take instead,
 * and `dump_file --save TO FILE [COLUMN...]` saves what it has read. `dump_file --unsorted ...` reads texts into
 * unsorted dictionaries where it can. */
#include "base/buffer_pool.h"
#include "base/time/time_zone.h"
#include "engine/formats/formats.h"
#include "engine/formats/save.h"
#include "engine/parquet/reader.h"
#include "engine/storage/list_store.h"
#include "engine/storage/mapped_file.h"
#include "engine/values/dictionary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct dump {
    struct arena *arena;
    struct diags diags;
    struct workers workers;
    struct format_job job;
    struct file_reader *reader;
    bool *wanted;
    struct column **columns;
};

static void print_diags(const struct diags *diags)
{
    for (size_t i = 0; i < diags->count; i++) {
        fprintf(stderr, "%s: %s\n", diags->at[i].severity == SEVERITY_ERROR ? "error" : "note", diags->at[i].message);
        if (diags->at[i].hint)
            fprintf(stderr, "hint: %s\n", diags->at[i].hint);
    }
}

static const char *const logical_names[] = {"", " text", " date", " timestamp", " duration", " decimal", " list"};

static void print_column(const char *name, const struct column *column)
{
    const struct logical_type *logical = &column->logical;
    bool is_float = type_table[column->type].kind == KIND_FLOAT;
    printf("%s: %s%s", name, type_table[column->type].name, logical_names[logical->kind]);
    if (logical->kind == LOGICAL_DECIMAL)
        printf(" %d", logical->scale);
    if (logical->zone)
        printf(logical->zone == &time_zone_utc ? " utc" : " in %s", logical->zone->name);
    puts(column->validity ? " missing" : "");
    for (int64_t row = 0; row < column->rows; row++) {
        int64_t integer = is_float ? 0 : column_get_int(column, row);
        if (column_is_missing(column, row) ? (is_float ? column_get_float(column, row) != 0 : integer != 0)
                                           : column->range_known && (integer < column->lo || integer > column->hi)) {
            printf("row %lld is invalid\n", (long long)row);
            exit(3);
        }
        if (column_is_missing(column, row)) {
            puts("-");
        } else if (logical->kind == LOGICAL_TEXT) {
            struct text text = dictionary_text(logical->dictionary, integer);
            for (size_t i = 0; i < text.length; i++)
                printf("%02x", (unsigned char)text.at[i]);
            putchar('\n');
        } else if (logical->kind == LOGICAL_LIST) {
            struct strbuf json = {0};
            list_add_json(&json, column, row);
            puts(json.text);
            strbuf_free(&json);
        } else if (is_float) {
            printf("%.17g\n", column_get_float(column, row));
        } else {
            printf("%lld\n", (long long)integer);
        }
    }
}

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void release(struct dump *dump)
{
    for (size_t k = 0; k < dump->reader->count; k++) {
        column_unref(dump->columns[k]);
        dump->columns[k] = NULL;
    }
}

static enum status time_reads(struct dump *dump, int repeats)
{
    double best = 1e30, first = 0;
    for (int i = 0; i < repeats; i++) {
        double begin = milliseconds();
        enum status status = dump->reader->ops->read(dump->reader, &dump->job, dump->wanted, dump->columns);
        double took = milliseconds() - begin;
        if (status != STATUS_OK)
            return status;
        best = took < best ? took : best;
        first = i == 0 ? took : first;
        release(dump);
    }
    printf("first %.2f ms, best %.2f ms, processors %.2f ms\n", first, best,
           (double)clock() * 1e3 / CLOCKS_PER_SEC / repeats);
    return STATUS_OK;
}

static enum status dump_columns(struct dump *dump)
{
    enum status status = dump->reader->ops->read(dump->reader, &dump->job, dump->wanted, dump->columns);
    for (size_t k = 0; k < dump->reader->count && status == STATUS_OK; k++) {
        if (dump->wanted[k])
            print_column(dump->reader->columns[k].name, dump->columns[k]);
    }
    release(dump);
    return status;
}

static enum status save_columns(struct dump *dump, const char *path)
{
    const struct file_reader *reader = dump->reader;
    struct diags *diags = &dump->diags;
    enum status status = reader->ops->read(dump->reader, &dump->job, dump->wanted, dump->columns);
    if (status != STATUS_OK)
        return status;
    struct column **columns = arena_array(dump->arena, reader->count, sizeof *columns);
    const char **names = arena_array(dump->arena, reader->count, sizeof *names);
    size_t count = 0;
    for (size_t k = 0; k < reader->count; k++) {
        if (dump->wanted[k]) {
            columns[count] = dump->columns[k];
            names[count++] = reader->columns[k].name;
        }
    }
    struct relation *relation = relation_new(reader->rows, count, columns, names);
    release(dump);
    status = save_relation(relation, path, SAVE_WHOLE, NULL, &dump->workers, (struct span){0}, diags);
    relation_unref(relation);
    return status;
}

/* Which columns are named; all if none is. */
static void choose(struct dump *dump, char **names, int count)
{
    dump->wanted = arena_array(dump->arena, dump->reader->count, sizeof *dump->wanted);
    dump->columns = arena_array(dump->arena, dump->reader->count, sizeof(struct column *));
    for (size_t k = 0; k < dump->reader->count; k++) {
        dump->wanted[k] = count == 0;
        for (int i = 0; i < count; i++)
            dump->wanted[k] = dump->wanted[k] || strcmp(names[i], dump->reader->columns[k].name) == 0;
    }
}

int main(int argc, char **argv)
{
    int repeats = 0;
    const char *save = NULL;
    const bool unsorted = argc > 1 && strcmp(argv[1], "--unsorted") == 0;
    argc -= unsorted;
    argv += unsorted;
    if (argc > 3 && strcmp(argv[1], "--time") == 0)
        repeats = (int)strtol(argv[2], NULL, 10);
    else if (argc > 3 && strcmp(argv[1], "--save") == 0)
        save = argv[2];
    int first = repeats || save ? 3 : 1;
    if (argc <= first)
        return 2;
    struct dump dump = {.arena = arena_new()};
    diags_init(&dump.diags, dump.arena);
    struct mappings *mappings = mappings_new();
    struct buffer_pool *pool = buffer_pool_new((size_t)4 << 30);
    int threads = parallel_threads();
    dump.workers = (struct workers){.threads = threads, .pool = pool, .thread_pool = thread_pool_new(threads)};
    dump.job = (struct format_job){.workers = &dump.workers, .diags = &dump.diags, .unsorted_from = unsorted};
    struct mapping *mapping = NULL;
    enum status status = mapping_open(mappings, argv[first], (struct span){0}, &mapping, &dump.diags);
    double begin = milliseconds();
    const struct format *format = format_of_path(argv[first]);
    if (status == STATUS_OK)
        status = (format && format->open ? format->open : open_parquet)(&dump.job, mapping, &dump.reader);
    if (status == STATUS_OK) {
        if (repeats)
            printf("open %.2f ms, ", milliseconds() - begin);
        unreadable_tell(&dump.reader->unreadable, argv[first], &dump.diags);
        choose(&dump, argv + first + 1, argc - first - 1);
        status = repeats ? time_reads(&dump, repeats) : save ? save_columns(&dump, save) : dump_columns(&dump);
        dump.reader->ops->close(dump.reader);
    }
    print_diags(&dump.diags);
    mapping_unref(mapping);
    mappings_free(mappings);
    thread_pool_free(dump.workers.thread_pool);
    buffer_pool_unref(pool);
    arena_free(dump.arena);
    return status == STATUS_OK ? 0 : 1;
}
