#include "engine/evaluator/block.h"

#include "base/integer.h"
#include "engine/evaluator/loop.h"
#include "engine/evaluator/worker.h"
#include "engine/vector/border_rows.h"
#include "engine/vector/selection.h"

#include <string.h>

enum {
    LIST_SHARE = 16, /* where fewer than one row in this many passes, a list is quicker than packing by the mask */
};

static void fill_constant(void *vector, enum lane lane, int64_t integer, double number)
{
    for (int i = 0; i < BLOCK_ROWS; i++) {
        switch (lane) {
        case LANE_BOOL:
            ((uint8_t *)vector)[i] = integer != 0;
            break;
        case LANE_I32:
            ((int32_t *)vector)[i] = (int32_t)integer;
            break;
        case LANE_I64:
            ((int64_t *)vector)[i] = integer;
            break;
        case LANE_F64:
            ((double *)vector)[i] = number;
            break;
        }
    }
}

struct worker *worker_new(const struct program *program, struct arena *arena)
{
    struct worker *worker = arena_alloc(arena, sizeof *worker);
    worker->program = program;
    worker->memory = arena_aligned(arena, program->memory, CACHE_LINE); /* for aligned vector loads */
    worker->at = arena_array(arena, (size_t)program->vector_count, sizeof *worker->at);
    worker->failing = arena_array(arena, (size_t)program->check_count, sizeof *worker->failing);
    worker->failures = arena_array(arena, (size_t)program->check_count, BLOCK_ROWS);
    for (size_t i = 0; i < program->constant_count; i++) {
        const struct constant_vector *constant = &program->constants[i];
        void *vector = worker->memory + program->vectors[constant->vector].place;
        const struct instr *instr = &program->job->task->code.at[constant->value];
        const int64_t integer = instr->op == OP_ROWS ? program->job->rows : instr->integer;
        const double number = instr->op == OP_ROWS ? (double)integer : instr->number;
        fill_constant(vector, constant->lane, integer, constant->inverse ? 1 / number : number);
        worker->at[constant->vector] = vector;
    }
    worker->places = arena_array(arena, (size_t)program->vector_count, sizeof *worker->places);
    for (reg vector = 0; vector < program->vector_count; vector++) {
        if (program->vectors[vector].place != SIZE_MAX)
            worker->places[vector] = worker->memory + program->vectors[vector].place;
    }
    worker->loops = arena_array(arena, (size_t)program->loop_count, sizeof *worker->loops);
    for (int32_t i = 0; i < program->loop_count; i++)
        worker->loops[i] = arena_alloc(arena, sizeof *worker->loops[i]);
    worker->arms = arena_array(arena, (size_t)program->arm_count, sizeof *worker->arms);
    for (int32_t i = 0; i < program->arm_count; i++)
        worker->arms[i] = arena_alloc(arena, sizeof *worker->arms[i]);
    worker->staged_states = arena_aligned(arena, program->most_states * BLOCK_ROWS * sizeof(int64_t), CACHE_LINE);
    worker->element_places = arena_array(arena, program->most_tile_elements, sizeof *worker->element_places);
    worker->chains = chain_runs_new(program, arena);
    worker->pairings = arena_array(arena, program->aggregate_count, sizeof *worker->pairings);
    for (size_t i = 0; i < program->aggregate_count; i++) {
        if (program->aggregates[i].reducer)
            worker->pairings[i] = pairwise_new(program->aggregates[i].reducer, arena);
    }
    return worker;
}

bool worker_flagged(const struct worker *worker)
{
    return worker->flagged;
}

void worker_set_gap(struct worker *worker, int64_t rows)
{
    worker->gap = rows;
}

int64_t worker_skipped_bytes(const struct worker *worker)
{
    const struct program *program = worker->program;
    int64_t row_bytes = 0;
    for (size_t i = program->leading_columns; i < program->stored_count; i++)
        row_bytes += (int64_t)program->vectors[program->stored[i].vector].size;
    return worker->gather.skipped * row_bytes;
}

static void note_failures(struct worker *worker, int32_t check, int count)
{
    if (check == CHECK_ALWAYS)
        worker->flagged = true;
    if (check < 0)
        return;
    uint8_t *failures = worker->failures + (size_t)check * BLOCK_ROWS;
    if (!worker->failing[check])
        memset(failures, 0, BLOCK_ROWS);
    worker->failing[check] = true;
    for (int i = 0; i < count; i++)
        failures[worker->packed ? worker->packed[i] : i] |= worker->fail[i];
}

/* What is left among the loops that are left, in whole lines. */
static void prefetch_divide(struct prefetch *prefetch)
{
    if (prefetch->left > 0 && prefetch->shares > 0)
        prefetch->share = (prefetch->left / prefetch->shares + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* The first `columns` of the stored vectors are prefetched in the course of `shares` loops. */
static void prefetch_begin(struct worker *worker, size_t columns, size_t shares)
{
    const struct program *program = worker->program;
    const bool last = worker->row + worker->rows >= worker->end;
    worker->prefetch = (struct prefetch){.shares = shares, .gap = last ? (size_t)worker->gap : 0};
    for (size_t i = 0; i < columns && !worker->cached; i++)
        worker->prefetch.left += (size_t)program->block_rows * program->vectors[program->stored[i].vector].size;
    prefetch_divide(&worker->prefetch);
}

/* The share of a loop over `count` rows: lines of one column. */
static struct ahead prefetch_share(struct worker *worker, int count)
{
    const struct program *program = worker->program;
    struct prefetch *prefetch = &worker->prefetch;
    if (prefetch->left == 0 || prefetch->shares == 0)
        return (struct ahead){0};
    const struct stored_vector *stored = &program->stored[prefetch->column];
    const size_t size = program->vectors[stored->vector].size, bytes = (size_t)program->block_rows * size;
    const size_t share = prefetch->share < bytes - prefetch->done ? prefetch->share : bytes - prefetch->done;
    const size_t strips = (size_t)(count + STRIP_ROWS - 1) / STRIP_ROWS;
    const struct ahead ahead = {
        .at = (const char *)worker->at[stored->vector] + bytes + prefetch->gap * size + prefetch->done,
        .lines = (int)((share / CACHE_LINE + strips - 1) / strips),
    };
    prefetch->shares--;
    prefetch->left -= share;
    prefetch->done += share;
    if (prefetch->done == bytes) {
        prefetch->column++;
        prefetch->done = 0;
        prefetch_divide(prefetch);
    }
    return ahead;
}

/* Whether all rows choose the same of two values, as they do between the borders of a stencil. */
static bool are_equal(const uint8_t *conditions, int count)
{
    return count > 0 && memcmp(conditions, conditions + 1, (size_t)count - 1) == 0;
}

bool worker_run_steps(struct worker *worker, int32_t begin, int32_t end, int count)
{
    const struct program *program = worker->program;
    struct operands operands = {
        .index = worker->index, .mask = worker->mask, .rows = worker->rows, .fail = worker->fail, .row = worker->row};
    bool failed = false;
    for (int32_t s = begin; s < end; s++) {
        const struct step *step = &program->steps[s];
        if (step->loop) {
            loop_run(worker, step->loop, count);
            s = step->loop->end - 1;
            continue;
        }
        if (step->arm) {
            failed |= arm_run(worker, step->arm, count);
            s = step->arm->end - 1;
            continue;
        }
        vector_fn *run = worker->index && step->selected ? step->selected : step->dense;
        operands.out = worker->places[step->out];
        if (step->border) {
            worker->at[step->out] =
                border_rows(step->whole, step->border, worker->row + step->first, worker->rows, operands.out);
            continue;
        }
        if (step->progression.by != 0) {
            worker->at[step->out] =
                progression_rows(step->whole, &step->progression, worker->row, worker->rows, operands.out);
            continue;
        }
        operands.a = step->args[0] != NO_REGISTER ? worker->at[step->args[0]] : NULL;
        if (!run) {
            worker->at[step->out] = operands.a;
            continue;
        }
        operands.b = step->args[1] != NO_REGISTER ? worker->at[step->args[1]] : NULL;
        operands.c = step->args[2] != NO_REGISTER ? worker->at[step->args[2]] : NULL;
        operands.op = step->op;
        operands.whole = step->whole;
        operands.by = step->by;
        operands.compare = step->compare;
        operands.uniform = step->uniform;
        operands.uniform_c = step->uniform_c;
        worker->at[step->out] = operands.out;
        if (step->op == OP_SELECT && run == step->dense && are_equal(operands.a, count)) {
            memcpy(operands.out, *(const uint8_t *)operands.a ? operands.b : operands.c,
                   (size_t)count * program->vectors[step->out].size);
            continue;
        }
        operands.ahead = prefetch_share(worker, count);
        if (run(&operands, count)) {
            note_failures(worker, step->check, count);
            failed = true;
        }
    }
    return failed;
}

void worker_settle_failures(struct worker *worker, int32_t begin, int32_t end, int count)
{
    for (int32_t check = begin; check < end; check++) {
        if (!worker->failing[check])
            continue;
        worker->failing[check] = false;
        const uint8_t *failures = worker->failures + (size_t)check * BLOCK_ROWS;
        const uint8_t *guard = worker->at[worker->program->checks[check].guard];
        for (int i = 0; i < count; i++)
            worker->flagged |= failures[i] & guard[i];
    }
}

/* Selects the `passed` rows of the mask; lists them only if some step reads the list. */
static void select_rows(struct worker *worker, const uint8_t *mask, int passed)
{
    const struct program *program = worker->program;
    if (passed > worker->rows / LIST_SHARE)
        worker->mask = mask;
    if (program->reads_list || (program->reads_selection && !worker->mask))
        selection_list(mask, worker->rows, worker->selection);
    worker->index = worker->selection;
}

/* Runs the filters on the loaded block and selects the rows that pass; returns how many do. */
static int filter_block(struct worker *worker)
{
    const struct program *program = worker->program;
    const int count = worker->rows;
    const uint8_t *mask = NULL;
    int passed = count;
    bool failed = false;
    int32_t done = 0;
    for (size_t i = 0; i < program->filter_count && passed > 0; i++) {
        failed |= worker_run_steps(worker, done, program->filters[i].end, count);
        done = program->filters[i].end;
        mask = worker->at[program->filters[i].mask];
        passed = selection_count(mask, count);
    }
    worker->few_pass = passed < count / LIST_SHARE;
    if (failed) {
        worker_run_steps(worker, done, program->guards_end, count);
        worker_settle_failures(worker, 0, program->filter_checks, count);
    }
    if (passed > 0 && passed < count)
        select_rows(worker, mask, passed);
    return passed;
}

/* An input's elements for `count` rows from `row`. Rows that the column does not have are zero, in a copy. */
static const void *stored_block(const struct worker *worker, const struct stored_vector *stored, int64_t row, int count)
{
    const struct program *program = worker->program;
    const struct column *column = program->job->columns[stored->input];
    const unsigned char *data = column->data;
    const size_t size = program->vectors[stored->vector].size;
    const int64_t first = program->job->task->first + row + stored->offset;
    if (stored->offset == 0 || (first >= 0 && first <= column->rows - count))
        return data + (size_t)first * size;
    unsigned char *copy = worker->memory + stored->place;
    const int64_t begin = first < 0 ? 0 : first;
    const int64_t end = first + count < column->rows ? first + count : column->rows;
    memset(copy, 0, (size_t)count * size);
    if (begin < end)
        memcpy(copy + (size_t)(begin - first) * size, data + (size_t)begin * size, (size_t)(end - begin) * size);
    return copy;
}

/* Points the first `columns` of the stored vectors at their elements, and prefetches the next block of them in the
 * course of `shares` loops. */
static void load_block(struct worker *worker, int64_t row, int count, size_t columns, size_t shares)
{
    const struct program *program = worker->program;
    worker->row = row;
    worker->rows = count;
    worker->index = NULL;
    worker->mask = NULL;
    for (size_t i = 0; i < columns; i++)
        worker->at[program->stored[i].vector] = stored_block(worker, &program->stored[i], row, count);
    prefetch_begin(worker, columns, shares);
}

const uint8_t *worker_run_leading(struct worker *worker, int64_t row, int count)
{
    const struct program *program = worker->program;
    const struct filter_steps *leading = &program->filters[0];
    load_block(worker, row, count, program->leading_columns, program->filter_loops);
    worker_run_steps(worker, 0, leading->end, count);
    return worker->at[leading->mask];
}

/* Runs the program on the loaded block up to the results' vectors; returns how many rows they have. */
static int run_block(struct worker *worker)
{
    const struct program *program = worker->program;
    const int passed = filter_block(worker);
    if (passed == 0)
        return 0;
    if (worker_run_steps(worker, program->guards_end, program->body_end, passed)) {
        worker_run_steps(worker, program->body_end, program->step_count, passed);
        worker_settle_failures(worker, program->filter_checks, program->check_count, passed);
    }
    return passed;
}

/* How many of the `count` task rows from `row` are a block. Where inputs lie before a column's begin or behind its end,
 * it is a short one, as its elements are copied. */
static int64_t rows_of_block(const struct program *program, int64_t row, int64_t count)
{
    const int64_t rows = min_int64(count, program->block_rows);
    const int64_t inside = program->job->rows - program->behind - row;
    if (row < -program->before)
        return min_int64(rows, -program->before - row);
    return inside > 0 ? min_int64(rows, inside) : rows;
}

/* Runs the program on the first of the `count` task rows from `row`, up to the results' vectors; returns how many rows
 * those have. `*done` is how many rows it was run on. */
static int run_some(struct worker *worker, int64_t row, int64_t count, int64_t *done)
{
    const struct program *program = worker->program;
    if (program->leading_columns > 0 && !worker->gather.off) {
        const int gathered = gather_block(worker, row, count, done);
        if (*done > 0)
            return gathered > 0 ? run_block(worker) : 0;
    }
    *done = rows_of_block(program, row, count);
    load_block(worker, row, (int)*done, program->stored_count,
               program->filter_loops + (worker->few_pass ? 0 : worker->body_loops));
    return run_block(worker);
}

/* In strips, where no step before prefetches the next block. */
static void fold_values(struct worker *worker, const struct aggregate_fold *aggregate, struct agg_state *state,
                        const void *values, int count)
{
    const struct ahead ahead = aggregate->prefetches ? (struct ahead){0} : prefetch_share(worker, count);
    const size_t size = values ? worker->program->vectors[aggregate->vector].size : 0;
    if (ahead.lines == 0) {
        aggregate->fold(state, values, count);
        return;
    }
    for (int begin = 0, end; begin < count; begin = end) {
        end = strip_end(&ahead, begin, count);
        aggregate->fold(state, (const unsigned char *)values + (size_t)begin * size, end - begin);
    }
}

/* Elements of columns, of which nothing is computed before. */
static void fold_stored(struct worker *worker, int64_t begin, int64_t count, struct agg_state *states)
{
    const struct program *program = worker->program;
    for (int64_t done = 0, some; done < count; done += some) {
        some = min_int64(count - done, FOLDED_ROWS);
        load_block(worker, begin + done, (int)some, program->stored_count, 0);
        worker_run_steps(worker, 0, program->step_count, (int)some);
        for (size_t i = 0; i < program->aggregate_count; i++) {
            const struct aggregate_fold *aggregate = &program->aggregates[i];
            const void *values = aggregate->vector != NO_REGISTER ? worker->at[aggregate->vector] : NULL;
            aggregate->fold(&states[i], values, (int)some);
        }
    }
}

void worker_aggregate(struct worker *worker, int64_t begin, int64_t count, struct agg_state *states)
{
    const struct program *program = worker->program;
    if (program->folds_stored) {
        fold_stored(worker, begin, count, states);
        return;
    }
    worker->end = begin + count;
    worker->gather.off = false;
    worker->body_loops = program->body_loops;
    for (size_t i = 0; i < program->aggregate_count && program->filter_loops + program->body_loops == 0; i++)
        worker->body_loops += !program->aggregates[i].prefetches;
    for (int64_t done = 0, some; done < count && !worker->flagged; done += some) {
        const int passed = run_some(worker, begin + done, count - done, &some);
        for (size_t i = 0; i < program->aggregate_count && passed > 0 && !worker->flagged; i++) {
            const struct aggregate_fold *aggregate = &program->aggregates[i];
            const void *values = aggregate->vector != NO_REGISTER ? worker->at[aggregate->vector] : NULL;
            if (aggregate->reducer)
                pairwise_fold(worker->pairings[i], values, passed, &states[i]);
            else
                fold_values(worker, aggregate, &states[i], values, passed);
            worker->flagged = worker->flagged || states[i].failed;
        }
    }
}

/* Writes an output of the current block, of which `passed` rows passed. */
static void write_output(struct worker *worker, const struct stored_output *output, int passed, void *place)
{
    const void *vector = worker->at[output->vector];
    if (vector == place)
        return;
    struct operands operands = {
        .out = place,
        .a = vector,
        .index = worker->index,
        .mask = worker->mask,
        .rows = worker->rows,
        .ahead = prefetch_share(worker, passed),
    };
    vector_fn *move = worker->index && output->selected ? output->selected : output->dense;
    move(&operands, passed);
}

int64_t worker_rows(struct worker *worker, int64_t begin, int64_t count, void *const *destinations)
{
    const struct program *program = worker->program;
    int64_t rows = 0;
    worker->end = begin + count;
    worker->gather.off = false;
    worker->body_loops = program->body_loops;
    for (size_t i = 0; i < program->output_count; i++) {
        const struct stored_output *output = &program->outputs[i];
        worker->body_loops += output->selected || !output->copied;
    }
    for (int64_t done = 0, some; done < count && !worker->flagged; done += some) {
        for (size_t i = 0; i < program->output_count; i++) {
            const struct stored_output *output = &program->outputs[i];
            if (output->in_place)
                worker->places[output->vector] = (unsigned char *)destinations[i] + (size_t)rows * output->size;
        }
        const int passed = run_some(worker, begin + done, count - done, &some);
        for (size_t i = 0; i < program->output_count && passed > 0 && !worker->flagged; i++) {
            const struct stored_output *output = &program->outputs[i];
            void *place = (unsigned char *)destinations[i] + (size_t)rows * output->size;
            write_output(worker, output, passed, place);
        }
        rows += passed;
    }
    return rows;
}
