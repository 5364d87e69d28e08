/* Sort: least significant digit radix sort of key codes. The payload is nothing, or the elements of the other columns
 * if they take at most 8 bytes, or the row number, by which columns are gathered at the end. */
#include "cl/operators/operator.h"
#include "cl/operators/sort_text.h"

#include "cl/codegen/template.h"

enum {
    MOST_PASSES = 64 / SORT_DIGIT_BITS,
    PAYLOAD_BYTES = 8,
    FIXED_PARAMETER_BYTES = 128,
    PARAMETER_BYTES = 16,
    COUNT_GROUPS = 8 /* per compute unit */
};

/* A sort and its buffers. */
struct sorting {
    struct accelerator *accelerator;
    const struct operator_job *job;
    struct arena *arena;
    struct operator_run run;
    bool begun;
    struct sort_layout layout;
    size_t tile, tiles; /* rows of a tile, number of tiles */
    size_t groups;
    cl_ulong chunk; /* rows of a group */

    struct sort_key *keys;
    size_t key_count;
    int *word_bits;
    size_t words;

    struct sort_result *results; /* written by the last pass */
    struct view *views;
    size_t result_count;
    struct sort_result *gathered; /* gathered by row number */
    size_t gathered_count;
    enum sort_payload payload;
    size_t payload_bytes;

    size_t code_bytes; /* of the widest word */
    cl_mem codes[2], payloads[2];
    int side; /* index of the buffers with the current elements */
    cl_mem constants, counts, next, states;
};

static size_t store_size(const struct column *column)
{
    return type_table[column->store].size;
}

static size_t position_size(const struct sorting *sorting)
{
    return sorting->layout.wide_positions ? 8 : 4;
}

static bool use_program(struct sorting *sorting, const char *text, const char *const *names, size_t count)
{
    struct operator_run *run = &sorting->run;
    if (!sorting->begun) {
        *run = operator_begin(sorting->accelerator, sorting->job, text, names, count);
        sorting->begun = true;
    } else if (!operator_stopped(run)) {
        run->program = program_of_text(sorting->accelerator, text, names, count, sorting->job->diags);
        run->unable = !run->program;
    }
    return !operator_stopped(run);
}

static size_t code_size(int bits)
{
    return bits <= 32 ? 4 : 8;
}

/* Plans the source of each result, and the payload. */
static void plan_results(struct sorting *sorting)
{
    const struct operator_job *job = sorting->job;
    const struct task *task = job->task;
    struct sort_result *results = arena_array(sorting->arena, task->output_count + 1, sizeof *results);
    size_t count = 0, bytes = 0;
    for (size_t k = 0; k < task->output_count; k++) {
        if (!job->results[k])
            continue;
        struct sort_result *result = &results[count++];
        *result = (struct sort_result){.from = operator_input(job, task->outputs[k].value), .to = job->results[k]};
        for (size_t i = 0; i < sorting->key_count && sorting->words == 1 && !result->key; i++) {
            if (sorting->keys[i].column == result->from && sort_key_is_lossless(&sorting->keys[i]))
                result->key = &sorting->keys[i];
        }
        result->shift = result->key ? 0 : (int)(8 * bytes);
        bytes += result->key ? 0 : store_size(result->from);
    }
    sorting->payload = bytes == 0 ? SORT_NO_PAYLOAD : SORT_PAYLOAD_ELEMENTS;
    sorting->payload_bytes = bytes <= 4 ? 4 : 8;
    sorting->results = results;
    sorting->result_count = count;
    if (sorting->words == 1 && bytes <= PAYLOAD_BYTES)
        return;
    sorting->payload = SORT_PAYLOAD_ROW;
    sorting->payload_bytes = position_size(sorting);
    sorting->gathered = arena_array(sorting->arena, count + 1, sizeof *results);
    sorting->result_count = 0;
    for (size_t k = 0; k < count; k++) {
        if (results[k].key)
            results[sorting->result_count++] = results[k];
        else
            sorting->gathered[sorting->gathered_count++] = results[k];
    }
}

/* Whether the device fits the columns and two copies of codes and payloads. */
static bool has_room(const struct sorting *sorting)
{
    const struct operator_job *job = sorting->job;
    const struct device *device = &sorting->accelerator->device;
    size_t columns = job->task->input_count, elements = (size_t)job->rows * 8;
    return columns_fit(sorting->accelerator, job->inputs, columns, job->rows) && elements <= device->largest_buffer &&
           2 * elements <= device->memory / 4;
}

static size_t ceil_div(size_t n, size_t by)
{
    return (n + by - 1) / by;
}

/* Plans tiles for these element sizes. 100 M random i32 on an H200: 1.86 ms by Onesweep with tiles of 256 x 24, 2.06
 * with 22, 2.0 with 26, where fewer groups fit; 8.9 ms in tiles without warps. CPU devices leave
 * sorts to the host (cl_operator_pays). */
static void plan_layout(struct sorting *sorting, size_t code_bytes, size_t payload_bytes)
{
    const struct accelerator *accelerator = sorting->accelerator;
    struct sort_layout *layout = &sorting->layout;
    size_t rows = (size_t)sorting->job->rows, units = accelerator->device.units;
    if (accelerator->device.warps) {
        layout->method = SORT_ONESWEEP;
        layout->group = SORT_BINS;
        layout->items = code_bytes == 4 && payload_bytes <= 4 ? 24 : 18;
        sorting->tile = layout->group * layout->items;
        sorting->groups = ceil_div(rows, sorting->tile);
    } else {
        layout->method = SORT_TILES;
        layout->group = SORT_BINS;
        layout->items = code_bytes + payload_bytes <= 8 ? 8 : 4;
        sorting->tile = layout->group * layout->items;
        sorting->groups = units * 16;
    }
    sorting->tiles = ceil_div(rows, sorting->tile);
    sorting->chunk = ceil_div(sorting->tiles, sorting->groups) * sorting->tile;
    sorting->groups = ceil_div(rows, sorting->chunk);
}

/* The content lives until the end. */
static cl_mem filled_buffer(struct sorting *sorting, const void *content, size_t bytes)
{
    cl_mem buffer = operator_buffer(&sorting->run, bytes);
    operator_upload(&sorting->run, buffer, bytes, content);
    return buffer;
}

static void make_tables(struct sorting *sorting, const struct sort_word *word)
{
    struct operator_run *run = &sorting->run;
    static const cl_ulong zeroes[MOST_PASSES * SORT_BINS];
    cl_ulong *constants = arena_array(sorting->arena, word->key_count * SORT_KEY_CONSTANTS, sizeof *constants);
    for (size_t k = 0; k < word->key_count; k++)
        sort_key_constants(&word->keys[k], constants + k * SORT_KEY_CONSTANTS);
    sorting->constants = filled_buffer(sorting, constants, word->key_count * SORT_KEY_CONSTANTS * sizeof *constants);
    if (sorting->layout.method == SORT_ONESWEEP) {
        sorting->counts = filled_buffer(sorting, zeroes, word->passes * SORT_BINS * position_size(sorting));
        sorting->next = filled_buffer(sorting, zeroes, word->passes * sizeof(cl_uint));
        sorting->states = operator_buffer(run, word->passes * sorting->tiles * SORT_BINS * position_size(sorting));
    } else {
        sorting->counts = operator_buffer(run, SORT_BINS * (sorting->groups + 1) * position_size(sorting));
    }
}

/* One pass over `bits` bits of the codes. */
struct pass {
    const struct sort_word *word;
    size_t number, bits;
};

static bool is_last(const struct pass *pass)
{
    return pass->number + 1 == pass->word->passes;
}

static cl_mem ensure_buffer(struct sorting *sorting, cl_mem *buffer, size_t element)
{
    if (!*buffer)
        *buffer = operator_buffer(&sorting->run, (size_t)sorting->job->rows * element);
    return *buffer;
}

/* Arguments in the order of parameters() in sort_text.c. */
static struct arguments pass_arguments(struct sorting *sorting, const struct pass *pass, size_t shift)
{
    const struct sort_word *word = pass->word;
    struct arguments arguments = {.arena = sorting->arena};
    struct operator_run *run = &sorting->run;
    int from = sorting->side, to = !from;
    const int64_t rows = sorting->job->rows;
    const bool moves_payload =
        word->payload == SORT_PAYLOAD_ROW || (word->payload != SORT_NO_PAYLOAD && !is_last(pass));
    argument_buffer(&arguments, sorting->codes[from]);
    argument_buffer(&arguments, sorting->payloads[from]);
    argument_buffer(&arguments,
                    is_last(pass) ? NULL : ensure_buffer(sorting, &sorting->codes[to], sorting->code_bytes));
    argument_buffer(&arguments,
                    moves_payload ? ensure_buffer(sorting, &sorting->payloads[to], word->payload_size) : NULL);
    argument_buffer(&arguments, sorting->payloads[from]);
    argument_buffer(&arguments, sorting->constants);
    for (size_t k = 0; k < word->key_count; k++)
        argument_column(&arguments, run, word->keys[k].column, rows);
    for (size_t k = 0; k < word->result_count; k++) {
        if (!word->results[k].key)
            argument_column(&arguments, run, word->results[k].from, rows);
        argument_view(&arguments, &sorting->views[k]);
    }
    argument_ulong(&arguments, (uint64_t)rows);
    argument_ulong(&arguments, sorting->chunk);
    argument_uint(&arguments, shift);
    argument_uint(&arguments, (UINT64_C(1) << pass->bits) - 1);
    argument_buffer(&arguments, sorting->counts);
    argument_uint(&arguments, pass->number);
    argument_uint(&arguments, sorting->tiles);
    argument_buffer(&arguments, sorting->next);
    argument_buffer(&arguments, sorting->states);
    return arguments;
}

static int64_t code_bytes(const struct sorting *sorting, const struct pass *pass)
{
    size_t bytes = 0;
    for (size_t k = 0; k < pass->word->key_count && pass->number == 0; k++)
        bytes += store_size(pass->word->keys[k].column);
    return sorting->job->rows * (int64_t)(pass->number == 0 ? bytes : pass->word->code_size);
}

static int64_t moved_bytes(const struct sorting *sorting, const struct pass *pass)
{
    const struct sort_word *word = pass->word;
    const size_t bytes = word->code_size + (word->payload != SORT_NO_PAYLOAD ? 2 * word->payload_size : 0);
    return code_bytes(sorting, pass) + sorting->job->rows * (int64_t)bytes;
}

/* Counts the digits of all passes at once; `shift` is then the bits of a pass. */
static void count_all(struct sorting *sorting, const struct pass *pass)
{
    struct arguments arguments = pass_arguments(sorting, pass, pass->bits);
    struct arguments offsets = {.arena = sorting->arena};
    struct operator_run *run = &sorting->run;
    const size_t most = sorting->accelerator->device.units * COUNT_GROUPS;
    const size_t groups = sorting->groups < most ? sorting->groups : most;
    operator_enqueue(run, SORT_COUNT_FIRST, groups, sorting->layout.group, &arguments, "count",
                     code_bytes(sorting, pass));
    argument_buffer(&offsets, sorting->counts);
    operator_enqueue(run, SORT_OFFSETS, pass->word->passes, SORT_BINS, &offsets, "offsets", 0);
}

static void count(struct sorting *sorting, const struct pass *pass)
{
    struct arguments arguments = pass_arguments(sorting, pass, pass->number * pass->bits);
    struct arguments offsets = {.arena = sorting->arena};
    struct operator_run *run = &sorting->run;
    size_t groups = sorting->groups, local = sorting->layout.group;
    operator_enqueue(run, pass->number == 0 ? SORT_COUNT_FIRST : SORT_COUNT, groups, local, &arguments, "count",
                     code_bytes(sorting, pass));
    argument_buffer(&offsets, sorting->counts);
    argument_ulong(&offsets, groups);
    operator_enqueue(run, SORT_OFFSETS, SORT_BINS, local, &offsets, "offsets",
                     (int64_t)(groups * SORT_BINS * position_size(sorting)));
}

static void move(struct sorting *sorting, const struct pass *pass)
{
    struct arguments arguments = pass_arguments(sorting, pass, pass->number * pass->bits);
    const enum sort_role role = pass->number == 0 ? (is_last(pass) ? SORT_MOVE_ONLY : SORT_MOVE_FIRST)
                                : is_last(pass)   ? SORT_MOVE_LAST
                                                  : SORT_MOVE;
    (is_last(pass) ? operator_run : operator_enqueue)(&sorting->run, role, sorting->groups, sorting->layout.group,
                                                      &arguments, "move", moved_bytes(sorting, pass));
}

/* Describes the passes over one word of the codes. */
static struct sort_word word_of(const struct sorting *sorting, size_t number)
{
    size_t bits = (size_t)sorting->word_bits[number], first = 0, end;
    while (sorting->keys[first].word != number)
        first++;
    for (end = first; end < sorting->key_count && sorting->keys[end].word == number; end++)
        ;
    return (struct sort_word){
        .keys = sorting->keys + first,
        .key_count = end - first,
        .results = sorting->results,
        .result_count = sorting->result_count,
        .payload = sorting->payload,
        .code_size = code_size((int)bits),
        .payload_size = sorting->payload_bytes,
        .ordered = number > 0,
        .passes = bits > SORT_DIGIT_BITS ? ceil_div(bits, SORT_DIGIT_BITS) : 1,
    };
}

/* Plans the layout and the program of a word. */
static const char *word_text(struct sorting *sorting, const struct sort_word *word, const char **names)
{
    struct strbuf text = {0};
    plan_layout(sorting, word->code_size, word->payload == SORT_NO_PAYLOAD ? 0 : word->payload_size);
    sort_add_text(&text, word, &sorting->layout, names, sorting->arena);
    return text_in_arena(sorting->arena, &text);
}

static const char *gather_text(struct sorting *sorting, const struct sort_result *result)
{
    struct strbuf text = {0};
    sort_add_gather(&text, store_size(result->from), sorting->layout.wide_positions, sorting->accelerator->config,
                    sorting->arena);
    return text_in_arena(sorting->arena, &text);
}

static const char *const gather_names[] = {"sort_gather"};

/* Begins to build all programs at once; returns whether none is still building. */
static bool begin_programs(struct sorting *sorting)
{
    struct accelerator *accelerator = sorting->accelerator;
    bool ready = true;
    for (size_t k = 0; k < sorting->words; k++) {
        const char *names[SORT_ROLE_COUNT];
        const struct sort_word word = word_of(sorting, k);
        const char *text = word_text(sorting, &word, names);
        ready = program_begin_text(accelerator, text, names, SORT_ROLE_COUNT) != BACKEND_PENDING && ready;
    }
    for (size_t k = 0; k < sorting->gathered_count; k++) {
        const char *text = gather_text(sorting, &sorting->gathered[k]);
        ready = program_begin_text(accelerator, text, gather_names, 1) != BACKEND_PENDING && ready;
    }
    return ready;
}

static void sort_word(struct sorting *sorting, size_t number)
{
    const size_t bits = (size_t)sorting->word_bits[number];
    const char *names[SORT_ROLE_COUNT];
    const struct sort_word word = word_of(sorting, number);
    if (!use_program(sorting, word_text(sorting, &word, names), names, SORT_ROLE_COUNT))
        return;
    if (!sorting->views) {
        sorting->views = arena_array(sorting->arena, sorting->result_count + 1, sizeof *sorting->views);
        for (size_t k = 0; k < sorting->result_count; k++)
            memory_output(sorting->accelerator->memory, sorting->results[k].to, 0, sorting->job->rows,
                          &sorting->views[k]);
    }
    make_tables(sorting, &word);
    struct pass pass = {.word = &word, .bits = bits > 0 ? ceil_div(bits, word.passes) : 1};
    for (; pass.number < word.passes && !operator_stopped(&sorting->run); pass.number++) {
        if (sorting->layout.method != SORT_ONESWEEP)
            count(sorting, &pass);
        else if (pass.number == 0)
            count_all(sorting, &pass);
        move(sorting, &pass);
        sorting->side = !sorting->side;
    }
}

static void keep(struct sorting *sorting, struct column *column, const struct view *view)
{
    if (!operator_stopped(&sorting->run))
        memory_keep(sorting->accelerator->memory, column, 0, sorting->job->rows, view, sorting->job->timing);
}

static void gather(struct sorting *sorting, const struct sort_result *result)
{
    struct accelerator *accelerator = sorting->accelerator;
    struct arguments arguments = {.arena = sorting->arena};
    struct view view = {0};
    const int64_t rows = sorting->job->rows;
    size_t size = store_size(result->from), groups = row_loop_groups(accelerator, rows);
    if (!use_program(sorting, gather_text(sorting, result), gather_names, 1) ||
        !memory_output(accelerator->memory, result->to, 0, rows, &view))
        return;
    argument_column(&arguments, &sorting->run, result->from, rows);
    argument_buffer(&arguments, sorting->payloads[sorting->side]);
    argument_view(&arguments, &view);
    argument_ulong(&arguments, (uint64_t)rows);
    operator_run(&sorting->run, 0, groups, accelerator->config->group, &arguments, "fetch",
                 rows * (int64_t)(2 * size + position_size(sorting)));
    keep(sorting, result->to, &view);
}

static enum status measure_keys(struct sorting *sorting)
{
    const struct column_operator *column_op = sorting->job->task->column_op;
    enum status status = STATUS_OK;
    sorting->key_count = column_op->key_count;
    sorting->keys = arena_array(sorting->arena, column_op->key_count + 1, sizeof *sorting->keys);
    sorting->word_bits = arena_array(sorting->arena, column_op->key_count + 1, sizeof *sorting->word_bits);
    for (size_t k = 0; k < column_op->key_count && status == STATUS_OK; k++) {
        sorting->keys[k] = (struct sort_key){.column = sorting->job->inputs[column_op->keys[k]],
                                             .descending = column_op->descending && column_op->descending[k]};
        status = sort_key_measure(&sorting->keys[k], sorting->accelerator, sorting->job);
    }
    if (status != STATUS_OK)
        return status;
    sorting->words = sort_keys_pack(sorting->keys, sorting->key_count, sorting->word_bits);
    for (size_t k = 0; k < sorting->words; k++) {
        const size_t bytes = code_size(sorting->word_bits[k]);
        sorting->code_bytes = bytes > sorting->code_bytes ? bytes : sorting->code_bytes;
    }
    return STATUS_OK;
}

enum status cl_sort(struct accelerator *accelerator, const struct operator_job *job, bool *flagged)
{
    struct sorting sorting = {.accelerator = accelerator, .job = job, .arena = job->diags->arena};
    const size_t columns = job->task->column_op->key_count + 2 * job->task->output_count;
    (void)flagged; /* a sort cannot fail */
    *job->result_rows = job->rows;
    if (job->rows == 0)
        return STATUS_OK;
    sorting.layout.wide_positions = job->rows >= INT64_C(1) << 30; /* the most that a state can count */
    if (!has_room(&sorting) || FIXED_PARAMETER_BYTES + columns * PARAMETER_BYTES > accelerator->device.parameters)
        return STATUS_UNABLE;
    const enum status status = measure_keys(&sorting);
    if (status != STATUS_OK)
        return status;
    plan_results(&sorting);
    if (sorting.result_count + sorting.gathered_count == 0)
        return STATUS_OK;
    if (job->no_wait && !begin_programs(&sorting))
        return STATUS_UNABLE;
    for (size_t k = 0; k < sorting.words; k++)
        sort_word(&sorting, k);
    for (size_t k = 0; k < sorting.result_count; k++)
        keep(&sorting, sorting.results[k].to, &sorting.views[k]);
    for (size_t k = 0; k < sorting.gathered_count; k++)
        gather(&sorting, &sorting.gathered[k]);
    return operator_end(&sorting.run);
}
