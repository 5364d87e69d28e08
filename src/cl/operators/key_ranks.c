#include "cl/operators/key_ranks.h"

#include "cl/operators/group_keys.h"
#include "cl/operators/operator.h"

#include "base/integer.h"
#include "engine/storage/column_stats.h"

#include <string.h>

extern const char kernel_key_ranks[];

enum { CLEAR, MARK, COUNT, RANK, PUT, KERNELS };
enum { WORD_BITS = 32, DOUBLES = 0, DISORDERED = 1, FLAGS };

struct ranking {
    struct operator_run run;
    struct group_keys keys;
    cl_mem words, flags;
    int64_t word_count;
};

/* Column statistics are exact, but what is known of a type or an operation is not. */
static enum status find_bounds(struct accelerator *accelerator, const struct operator_job *job, struct column *column,
                               struct column_minmax *bounds)
{
    return column_zones(column) ? column_minmax_bounds(accelerator, job, column, bounds)
                                : column_minmax_measure(accelerator, job, column, bounds);
}

enum status key_ranks_ranges(struct accelerator *accelerator, const struct operator_job *job,
                             struct index_tables *tables)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < job->task->column_op->key_count && status == STATUS_OK; k++) {
        struct column *column = job->inputs[job->task->column_op->keys[k]];
        const struct key_encoding *encoding = &key_encodings[column->store];
        struct column_minmax bounds;
        if (encoding->is_float || !columns_fit(accelerator, &column, 1, job->rows))
            return STATUS_UNABLE;
        status = find_bounds(accelerator, job, column, &bounds);
        tables->lo[k] = status == STATUS_OK ? decode_integer(encoding, bounds.least) : 0;
        tables->hi[k] = status == STATUS_OK ? decode_integer(encoding, bounds.most) : 0;
    }
    return status;
}

static const char *ranks_text(const struct ranking *ranking, const struct index_tables *tables,
                              const struct kernel_config *config, struct arena *arena)
{
    const struct hole holes[] = {
        {"distinct", tables && tables->row_of ? "1" : ""},
        {"ranked", !tables || tables->words ? "1" : ""},
        {"rows", tables && tables->row_of ? "1" : ""},
        {"members", tables ? "1" : ""},
        {"type", !tables          ? "uint"
                 : tables->row_of ? "int"
                                  : "uchar"},
        {0},
    };
    return group_keys_kernels(&ranking->keys, kernel_key_ranks, holes, config, arena);
}

/* `tables` NULL: group ids. */
static struct operator_run begin(const struct ranking *ranking, struct accelerator *accelerator,
                                 const struct operator_job *job, const struct index_tables *tables)
{
    static const char *const names[KERNELS] = {
        [CLEAR] = "clear", [MARK] = "mark", [COUNT] = "count", [RANK] = "rank", [PUT] = "put"};
    return operator_begin(accelerator, job, ranks_text(ranking, tables, accelerator->config, job->diags->arena), names,
                          KERNELS);
}

static void clear(struct operator_run *run, cl_mem buffer, int64_t words, uint64_t with)
{
    struct arguments arguments = {.arena = run->job->diags->arena};
    argument_buffer(&arguments, buffer);
    argument_uint(&arguments, with);
    row_loop(run, CLEAR, &arguments, words, row_loop_groups(run->accelerator, words), "clear", sizeof(cl_uint));
}

/* A buffer for a column, all of whose bytes are `with`. */
static struct view open_column(struct operator_run *run, struct column *column, int64_t rows, int with)
{
    const int64_t size = (int64_t)type_table[column->store].size, words = divide_up(rows * size, sizeof(cl_uint));
    struct view view = {0};
    if (operator_stopped(run))
        return view;
    const bool on_host = run->accelerator->config->host_memory;
    if (on_host)
        memset(column_at(column, 0), with, (size_t)(rows * size));
    /* Whole words: a column has a spare page. */
    if (memory_output(run->accelerator->memory, column, 0, words * (int64_t)sizeof(cl_uint) / size, &view) && !on_host)
        clear(run, view.buffer, words, with ? UINT32_MAX : 0);
    return view;
}

static void open_flags(struct ranking *ranking)
{
    static const cl_uint none[FLAGS];
    ranking->flags = operator_buffer(&ranking->run, sizeof none);
    operator_write(&ranking->run, ranking->flags, sizeof none, none);
}

/* Marks the tuples of all rows, and counts them up to each word; returns how many there are. */
static int64_t rank(struct ranking *ranking)
{
    struct operator_run *run = &ranking->run;
    const struct kernel_config *config = run->accelerator->config;
    const int64_t size = ranking->word_count;
    const size_t groups = row_loop_groups(run->accelerator, size);
    const int64_t tile = divide_up(size, (int64_t)(groups * config->group)) * (int64_t)config->group;
    struct arguments mark = {.arena = run->job->diags->arena}, count = mark;
    cl_mem tiles = operator_buffer(run, groups * sizeof(cl_uint));
    group_keys_arguments(&ranking->keys, run, &mark);
    argument_buffer(&mark, ranking->words);
    argument_buffer(&mark, ranking->flags);
    row_loop(run, MARK, &mark, run->job->rows, row_loop_groups(run->accelerator, run->job->rows), "mark",
             group_keys_bytes(&ranking->keys));
    argument_buffer(&count, ranking->words);
    argument_buffer(&count, tiles);
    argument_ulong(&count, (uint64_t)size);
    argument_ulong(&count, (uint64_t)tile);
    operator_run(run, COUNT, groups, config->group, &count, "count", size * (int64_t)sizeof(uint64_t));
    const uint32_t sum = operator_sum_exclusive(run, tiles, groups);
    operator_run(run, RANK, groups, config->group, &count, "rank", 2 * size * (int64_t)sizeof(uint64_t));
    return sum;
}

static void put(struct ranking *ranking, const struct view *to, int64_t row_bytes)
{
    struct operator_run *run = &ranking->run;
    struct arguments arguments = {.arena = run->job->diags->arena};
    group_keys_arguments(&ranking->keys, run, &arguments);
    argument_buffer(&arguments, ranking->words);
    argument_view(&arguments, to);
    argument_buffer(&arguments, ranking->flags);
    row_loop(run, PUT, &arguments, run->job->rows, row_loop_groups(run->accelerator, run->job->rows), "put",
             group_keys_bytes(&ranking->keys) + row_bytes);
}

static void keep(struct operator_run *run, struct column *column, int64_t rows, const struct view *view)
{
    if (!operator_stopped(run))
        memory_keep(run->accelerator->memory, column, 0, rows, view, run->job->timing);
}

/* The words of a ranked index; false if there is no need to go on. */
static bool index_words(struct ranking *ranking, struct index_tables *tables)
{
    struct operator_run *run = &ranking->run;
    const struct view words = open_column(run, tables->words, ranking->word_count, 0);
    cl_uint flags[FLAGS] = {0};
    ranking->words = words.buffer;
    tables->ids = rank(ranking);
    operator_read(run, ranking->flags, sizeof flags, flags);
    tables->doubles = flags[DOUBLES];
    if (tables->doubles)
        return false;
    keep(run, tables->words, ranking->word_count, &words);
    return tables->row_of && !operator_stopped(run);
}

enum status key_ranks_index(struct accelerator *accelerator, const struct operator_job *job,
                            struct index_tables *tables)
{
    struct ranking ranking = {0};
    struct column *to = tables->row_of ? tables->row_of : tables->members;
    cl_uint flags[FLAGS] = {0};
    if (!group_keys_of_ranges(&ranking.keys, job, tables->lo, tables->hi, SIZE_MAX))
        return STATUS_UNABLE;
    struct operator_run *run = &ranking.run;
    ranking.word_count = divide_up((int64_t)ranking.keys.dense_size, WORD_BITS);
    ranking.run = begin(&ranking, accelerator, job, tables);
    open_flags(&ranking);
    if (!tables->words || index_words(&ranking, tables)) {
        const int64_t ids = tables->words ? tables->ids : (int64_t)ranking.keys.dense_size;
        const struct view view = open_column(run, to, ids + 1, tables->row_of ? -1 : 0);
        if (!tables->words)
            ranking.words = ranking.flags; /* not read */
        put(&ranking, &view, (int64_t)type_table[to->store].size);
        operator_read(run, ranking.flags, sizeof flags, flags);
        tables->doubles = flags[DOUBLES];
        tables->in_order = tables->row_of && !flags[DISORDERED] && ids == job->rows;
        keep(run, to, ids + 1, &view);
    }
    return operator_end(run);
}

/* As many bits a row as a join index has. */
static bool is_worth_bits(const struct ranking *ranking, int64_t rows)
{
    enum { BITS_PER_ROW = 256, FEW_BITS = 1 << 22 };
    return (int64_t)ranking->keys.dense_size <= max_int64(rows * BITS_PER_ROW, FEW_BITS);
}

enum status cl_ids(struct accelerator *accelerator, const struct operator_job *job, bool *flagged)
{
    (void)flagged;
    const size_t key_count = job->task->column_op->key_count;
    struct ranking ranking = {0};
    struct index_tables ranges = {
        .lo = arena_array(job->diags->arena, key_count + 1, sizeof *ranges.lo),
        .hi = arena_array(job->diags->arena, key_count + 1, sizeof *ranges.hi),
    };
    if (job->rows == 0 || !job->results[0] || !columns_fit(accelerator, job->results, 1, job->rows))
        return STATUS_UNABLE;
    const enum status status = key_ranks_ranges(accelerator, job, &ranges);
    if (status != STATUS_OK)
        return status;
    if (!group_keys_of_ranges(&ranking.keys, job, ranges.lo, ranges.hi, SIZE_MAX) ||
        !is_worth_bits(&ranking, job->rows))
        return STATUS_UNABLE;
    struct operator_run *run = &ranking.run;
    struct view ids = {0};
    ranking.word_count = divide_up((int64_t)ranking.keys.dense_size, WORD_BITS);
    ranking.run = begin(&ranking, accelerator, job, NULL);
    open_flags(&ranking);
    ranking.words = operator_buffer(run, (size_t)ranking.word_count * sizeof(uint64_t));
    clear(run, ranking.words, ranking.word_count * 2, 0);
    const int64_t groups = rank(&ranking);
    if (!operator_stopped(run) && memory_output(accelerator->memory, job->results[0], 0, job->rows, &ids))
        put(&ranking, &ids, sizeof(cl_uint));
    keep(run, job->results[0], job->rows, &ids);
    *job->result_rows = job->rows;
    job->results[0]->range_known = true;
    job->results[0]->lo = 0;
    job->results[0]->hi = groups - 1;
    return operator_end(run);
}
