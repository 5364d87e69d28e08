#include "engine/evaluator/block.h"

#include "base/nontemporal_copy.h"
#include "engine/evaluator/pairwise_reduce.h"
#include "engine/vector/selection.h"

#include <string.h>

enum {
    LIST_OF = 16, /* where fewer than one in so many rows pass, a list of them is quicker to go through than all */
    FEW = BLOCK_ROWS / 64, /* where no more rows of a block pass the lead, most lines of other columns are not read */
    MOST_SIEVED = UINT16_MAX + 1, /* rows that are gathered from at once */
    REST = 15,                    /* blocks that are not sieved after one of which too many rows passed */
};

/* What the machine is told of before it is needed. */
struct asking {
    size_t inputs; /* of so many of the inputs, */
    size_t a_step; /* so many bytes of the next block with each step; a multiple of CACHE_LINE */
};

struct worker {
    const struct program *program;
    unsigned char *memory;
    const void **at;       /* where each vector is in the block at hand */
    int64_t row;           /* the block's first task row */
    const uint16_t *index; /* the rows that passed; NULL: all of them */
    const uint8_t *mask;   /* of these, if packing them is quicker than going through the list; else NULL */
    int rows;              /* in the block */
    bool flagged;
    bool *failing;            /* checks with failures in this block, */
    uint8_t *failures;        /* and in which rows: BLOCK_ROWS bytes a check */
    uint8_t fail[BLOCK_ROWS]; /* failures of the step at hand */
    uint16_t picked[BLOCK_ROWS + 2];
    unsigned char *staged;         /* a block of an output on its way past the cache */
    uint16_t gathered[BLOCK_ROWS]; /* rows that passed the lead */
    int rest;                      /* blocks that are not sieved */
    int64_t spared;                /* bytes of other columns that were not read for those that did not */
    struct asking whole, lead;     /* for the whole program, and for the lead alone */
    const struct asking *asking;   /* for what is being run */
    size_t asked;                  /* bytes of the next block's inputs that the machine has been told of */
    struct pairwise **pairings;    /* of each aggregate that is folded pairwise */
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

/* Of a block's first inputs with each of so many steps a part. */
static struct asking asking_for(const struct program *program, size_t inputs, size_t steps)
{
    size_t bytes = 0;
    for (size_t i = 0; i < inputs; i++)
        bytes += BLOCK_ROWS * program->vectors[program->stored[i].vector].size;
    return (struct asking){.inputs = inputs, .a_step = (bytes / (steps + 1) + CACHE_LINE) / CACHE_LINE * CACHE_LINE};
}

struct worker *worker_new(const struct program *program, struct arena *arena)
{
    struct worker *worker = arena_alloc(arena, sizeof *worker);
    worker->program = program;
    worker->memory = arena_aligned(arena, program->memory, CACHE_LINE); /* as vector loads like it */
    worker->at = arena_array(arena, (size_t)program->vector_count, sizeof *worker->at);
    worker->staged = arena_aligned(arena, BLOCK_ROWS * sizeof(int64_t), CACHE_LINE);
    worker->failing = arena_array(arena, (size_t)program->check_count, sizeof *worker->failing);
    worker->failures = arena_array(arena, (size_t)program->check_count, BLOCK_ROWS);
    for (size_t i = 0; i < program->constant_count; i++) {
        const struct constant_vector *constant = &program->constants[i];
        void *vector = worker->memory + program->vectors[constant->vector].place;
        const struct instr *instr = &program->job->task->code.at[constant->value];
        int64_t integer = instr->op == OP_ROWS ? program->job->rows : instr->integer;
        fill_constant(vector, constant->lane, integer, instr->op == OP_ROWS ? (double)integer : instr->number);
        worker->at[constant->vector] = vector;
    }
    worker->whole = asking_for(program, program->stored_count,
                               (size_t)program->step_count + program->output_count + program->aggregate_count);
    if (program->sieves)
        worker->lead = asking_for(program, program->lead_stored, (size_t)program->filters[0].end - 1);
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

int64_t worker_spared(const struct worker *worker)
{
    return worker->spared;
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
        failures[i] |= worker->fail[i];
}

/* The machine looks ahead within a page, which a block of a column fills, and so it is told of the next block. Not of
 * all at once: it would wait for that to come, in place of computing this block meanwhile. */
static void ask_ahead(struct worker *worker)
{
    const struct program *program = worker->program;
    size_t begin = worker->asked, before = 0;
    worker->asked += worker->asking->a_step;
    for (size_t i = 0; i < worker->asking->inputs && before < worker->asked; i++) {
        const size_t bytes = BLOCK_ROWS * program->vectors[program->stored[i].vector].size;
        const char *next = (const char *)worker->at[program->stored[i].vector] + bytes;
        for (size_t at = begin > before ? begin - before : 0; at < bytes && before + at < worker->asked;
             at += CACHE_LINE)
            __builtin_prefetch(next + at);
        before += bytes;
    }
}

/* Runs steps begin .. end-1 on `count` rows; true if some row failed. */
static bool run_steps(struct worker *worker, int32_t begin, int32_t end, int count)
{
    const struct program *program = worker->program;
    struct operands operands = {
        .index = worker->index, .mask = worker->mask, .rows = worker->rows, .fail = worker->fail, .row = worker->row};
    bool failed = false;
    for (int32_t s = begin; s < end; s++) {
        const struct step *step = &program->steps[s];
        vector_fn *run = worker->index && step->picked ? step->picked : step->dense;
        ask_ahead(worker);
        operands.a = step->args[0] != NO_REGISTER ? worker->at[step->args[0]] : NULL;
        if (!run) {
            worker->at[step->out] = operands.a;
            continue;
        }
        operands.b = step->args[1] != NO_REGISTER ? worker->at[step->args[1]] : NULL;
        operands.c = step->args[2] != NO_REGISTER ? worker->at[step->args[2]] : NULL;
        operands.out = worker->memory + program->vectors[step->out].place;
        operands.op = step->op;
        operands.whole = step->whole;
        operands.by = step->by;
        operands.probe = step->probe;
        worker->at[step->out] = operands.out;
        if (run(&operands, count)) {
            note_failures(worker, step->check, count);
            failed = true;
        }
    }
    return failed;
}

/* Flags failures of checks begin .. end-1 in rows where the guard is true; the guards have been computed. */
static void settle_failures(struct worker *worker, int32_t begin, int32_t end, int count)
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

/* From `mask` on only `passed` rows of the block count. They are listed unless nobody would read the list. */
static void pick_rows(struct worker *worker, const uint8_t *mask, int passed)
{
    const struct program *program = worker->program;
    if (passed > worker->rows / LIST_OF)
        worker->mask = mask;
    if (program->lists || (program->picks && !worker->mask))
        selection_list(mask, worker->rows, worker->picked);
    worker->index = worker->picked;
}

/* Runs the filters on a block and picks the rows that passed; returns their number. */
static int filter_block(struct worker *worker, int count)
{
    const struct program *program = worker->program;
    const uint8_t *mask = NULL;
    int passed = count;
    bool failed = false;
    int32_t done = 0;
    worker->rows = count;
    worker->index = NULL;
    worker->mask = NULL;
    for (size_t i = 0; i < program->filter_count && passed > 0; i++) {
        failed |= run_steps(worker, done, program->filters[i].end, count);
        done = program->filters[i].end;
        mask = worker->at[program->filters[i].mask];
        passed = selection_count(mask, count);
    }
    if (failed) {
        run_steps(worker, done, program->guards_end, count);
        settle_failures(worker, 0, program->filter_checks, count);
    }
    if (passed > 0 && passed < count)
        pick_rows(worker, mask, passed);
    return passed;
}

/* Where an input's elements for the rows from `row` on are. */
static const void *stored_block(const struct worker *worker, const struct stored_vector *stored, int64_t row, int count)
{
    const struct program *program = worker->program;
    const struct column *column = program->job->columns[stored->input];
    const unsigned char *data = column->data;
    size_t size = program->vectors[stored->vector].size;
    int64_t first = program->job->task->first + row + stored->offset;
    if (stored->offset == 0 || (first >= 0 && first <= column->rows - count))
        return data + (size_t)first * size;
    unsigned char *copy = worker->memory + stored->place;
    int64_t begin = first < 0 ? 0 : first;
    int64_t end = first + count < column->rows ? first + count : column->rows;
    memset(copy, 0, (size_t)count * size);
    if (begin < end)
        memcpy(copy + (size_t)(begin - first) * size, data + (size_t)begin * size, (size_t)(end - begin) * size);
    return copy;
}

/* The next block is asked for from its beginning on. */
static void begin_asking(struct worker *worker, const struct asking *asking)
{
    worker->asked = 0;
    worker->asking = asking;
}

/* Runs the program up to its results' vectors on `count` rows, which the inputs' vectors point to; returns how many
 * rows the results have. */
static int run_rows(struct worker *worker, int count)
{
    const struct program *program = worker->program;
    int passed = filter_block(worker, count);
    if (passed == 0)
        return 0;
    if (run_steps(worker, program->guards_end, program->body_end, passed)) {
        run_steps(worker, program->body_end, program->step_count, passed);
        settle_failures(worker, program->filter_checks, program->check_count, passed);
    }
    return passed;
}

static int run_block(struct worker *worker, int64_t row, int count)
{
    const struct program *program = worker->program;
    worker->row = row;
    for (size_t i = 0; i < program->stored_count; i++) {
        const struct stored_vector *stored = &program->stored[i];
        worker->at[stored->vector] = stored_block(worker, stored, row, count);
    }
    begin_asking(worker, &worker->whole);
    ask_ahead(worker);
    return run_rows(worker, count);
}

static int block_size(int64_t left)
{
    return left < BLOCK_ROWS ? (int)left : BLOCK_ROWS;
}

/* Runs the lead on a block; returns the mask of the rows that pass. */
static const uint8_t *run_lead(struct worker *worker, int64_t row, int count)
{
    const struct program *program = worker->program;
    const struct filter_steps *lead = &program->filters[0];
    for (size_t i = 0; i < program->lead_stored; i++)
        worker->at[program->stored[i].vector] = stored_block(worker, &program->stored[i], row, count);
    worker->row = row;
    worker->index = NULL;
    worker->mask = NULL;
    worker->rows = count;
    begin_asking(worker, &worker->lead);
    run_steps(worker, 0, lead->end, count);
    return worker->at[lead->mask];
}

/* The rows listed will be read soon, of all columns. */
static void ask_for_rows(const struct worker *worker, int64_t row, const uint16_t *listed, int count)
{
    const struct program *program = worker->program;
    for (size_t i = program->lead_stored; i < program->stored_count; i++) {
        const size_t size = program->vectors[program->stored[i].vector].size;
        const char *elements = stored_block(worker, &program->stored[i], row, 0);
        for (int k = 0; k < count; k++)
            __builtin_prefetch(elements + listed[k] * size);
    }
}

/* Lists rows among row .. row+count-1 for which the lead holds, by their distance from `row`; returns how many there
 * are, and how many rows it looked at: none where too many pass to be listed. */
static int sieve(struct worker *worker, int64_t row, int64_t count, int64_t *looked)
{
    int listed = 0;
    *looked = 0;
    if (worker->rest > 0) {
        worker->rest--;
        return 0;
    }
    count = count < MOST_SIEVED ? count : MOST_SIEVED;
    while (*looked < count && listed <= BLOCK_ROWS - FEW) {
        const int rows = block_size(count - *looked);
        const uint8_t *mask = run_lead(worker, row + *looked, rows);
        const int passed = selection_list_few(mask, rows, FEW, worker->picked);
        if (passed > FEW) {
            worker->rest = REST;
            break;
        }
        for (int k = 0; k < passed; k++)
            worker->gathered[listed + k] = (uint16_t)(worker->picked[k] + *looked);
        ask_for_rows(worker, row, worker->gathered + listed, passed);
        listed += passed;
        *looked += rows;
    }
    return listed;
}

/* Gathers the rows listed into vectors, and runs the program on them. */
static int run_gathered(struct worker *worker, int64_t row, int count)
{
    static const struct asking nothing;
    const struct program *program = worker->program;
    for (size_t i = 0; i < program->stored_count; i++) {
        const struct stored_vector *stored = &program->stored[i];
        const enum type store = program->job->columns[stored->input]->store;
        struct operands operands = {
            .out = worker->memory + stored->place,
            .a = stored_block(worker, stored, row, 0),
            .index = worker->gathered,
        };
        vector_selected_move(store, store)(&operands, count);
        worker->at[stored->vector] = operands.out;
    }
    begin_asking(worker, &nothing);
    return run_rows(worker, count);
}

/* Bytes of a row that the lead does not read. */
static int64_t bytes_behind_lead(const struct program *program)
{
    int64_t bytes = 0;
    for (size_t i = program->lead_stored; i < program->stored_count; i++)
        bytes += (int64_t)program->vectors[program->stored[i].vector].size;
    return bytes;
}

/* Runs the next rows of row .. row+count-1 up to the results' vectors; returns how many rows those have, and how many
 * it has gone through. */
static int run_some(struct worker *worker, int64_t row, int64_t count, int64_t *done)
{
    if (worker->program->sieves) {
        int listed = sieve(worker, row, count, done);
        worker->spared += (*done - listed) * bytes_behind_lead(worker->program);
        if (*done > 0)
            return listed > 0 ? run_gathered(worker, row, listed) : 0;
    }
    *done = block_size(count);
    return run_block(worker, row, block_size(count));
}

void worker_aggregate(struct worker *worker, int64_t begin, int64_t count, struct agg_state *states)
{
    const struct program *program = worker->program;
    for (int64_t done = 0, some; done < count && !worker->flagged; done += some) {
        int passed = run_some(worker, begin + done, count - done, &some);
        for (size_t i = 0; i < program->aggregate_count && passed > 0 && !worker->flagged; i++) {
            const struct folded_aggregate *aggregate = &program->aggregates[i];
            ask_ahead(worker);
            const void *values = aggregate->vector != NO_REGISTER ? worker->at[aggregate->vector] : NULL;
            if (aggregate->reducer)
                pairwise_fold(worker->pairings[i], values, passed, &states[i]);
            else
                aggregate->fold(&states[i], values, passed);
            worker->flagged = worker->flagged || states[i].failed;
        }
    }
}

/* Writes an output of the block at hand, of which so many rows passed, to its place. */
static void write_output(struct worker *worker, const struct stored_output *output, int passed, void *place,
                         bool past_cache)
{
    struct operands operands = {
        .out = past_cache ? worker->staged : place,
        .a = worker->at[output->vector],
        .index = worker->index,
        .mask = worker->mask,
        .rows = worker->rows,
    };
    vector_fn *move = worker->index && output->picked ? output->picked : output->dense;
    ask_ahead(worker);
    move(&operands, passed);
    if (past_cache)
        copy_nontemporal(place, worker->staged, (size_t)passed * output->size);
}

int64_t worker_rows(struct worker *worker, int64_t begin, int64_t count, void *const *places, bool past_cache)
{
    const struct program *program = worker->program;
    int64_t rows = 0;
    for (int64_t done = 0, some; done < count && !worker->flagged; done += some) {
        int passed = run_some(worker, begin + done, count - done, &some);
        for (size_t i = 0; i < program->output_count && passed > 0 && !worker->flagged; i++) {
            const struct stored_output *output = &program->outputs[i];
            void *place = (unsigned char *)places[i] + (size_t)rows * output->size;
            write_output(worker, output, passed, place, past_cache);
        }
        rows += passed;
    }
    return rows;
}
