#include "cl/operators/key_search.h"

#include "cl/operators/group_keys.h"

extern const char kernel_key_search[];

enum { CHECK, SEEK, WIDEST, KERNELS };
enum { DISORDERED = 0, MOST = 1, FLAGS };

static const char *search_text(const struct group_keys *keys, const struct column *values,
                               const struct kernel_config *config, struct arena *arena)
{
    const struct key_encoding *encoding = &key_encodings[values->store];
    const struct hole holes[] = {
        {"type", encoding->cl_type},
        {"word", encoding->wide ? "ulong" : "uint"},
        {"encode", encoding->function},
        {0},
    };
    return group_keys_kernels(keys, kernel_key_search, holes, config, arena);
}

/* Runs a kernel over rows, or over places. */
static void loop(struct operator_run *run, size_t kernel, const struct arguments *arguments, int64_t rows,
                 const char *what, int64_t row_bytes)
{
    row_loop(run, kernel, arguments, rows, row_loop_groups(run->accelerator, rows), what, row_bytes);
}

enum status key_search_index(struct accelerator *accelerator, const struct operator_job *job,
                             struct index_tables *tables)
{
    static const char *const names[KERNELS] = {[CHECK] = "check", [SEEK] = "seek", [WIDEST] = "widest"};
    static const cl_uint none[FLAGS];
    struct arena *arena = job->diags->arena;
    struct column *values = job->inputs[job->task->column_op->keys[tables->searched]];
    struct group_keys keys;
    struct view begins = {0};
    cl_uint found[FLAGS] = {0};
    if (!group_keys_of_ranges(&keys, job, tables->lo, tables->hi, tables->searched))
        return STATUS_UNABLE;
    const int64_t places = (int64_t)keys.dense_size;
    struct operator_run run =
        operator_begin(accelerator, job, search_text(&keys, values, accelerator->config, arena), names, KERNELS);
    struct arguments check = {.arena = arena}, seek, widest = check;
    cl_mem flags = operator_buffer(&run, sizeof none);
    operator_write(&run, flags, sizeof none, none);
    group_keys_arguments(&keys, &run, &check);
    seek = arguments_copy(&check);
    argument_column(&check, &run, values, job->rows);
    argument_buffer(&check, flags);
    loop(&run, CHECK, &check, job->rows, "check", group_keys_bytes(&keys));
    operator_read(&run, flags, sizeof found, found);
    tables->doubles = found[DISORDERED];
    if (!tables->doubles && !operator_stopped(&run) &&
        memory_output(accelerator->memory, tables->begins, 0, places + 2, &begins)) {
        argument_view(&seek, &begins);
        argument_ulong(&seek, (uint64_t)job->rows);
        loop(&run, SEEK, &seek, places + 2, "seek", sizeof(cl_int));
        argument_view(&widest, &begins);
        argument_buffer(&widest, flags);
        loop(&run, WIDEST, &widest, places, "widest", sizeof(cl_int));
        operator_read(&run, flags, sizeof found, found);
        tables->most = found[MOST];
        if (!operator_stopped(&run))
            memory_keep(accelerator->memory, tables->begins, 0, places + 2, &begins, job->timing);
    }
    return operator_end(&run);
}
