#include "engine/backend/cost_features.h"

#include "engine/plan/code_loop.h"
#include "engine/storage/residency.h"

#include "base/hash.h"

/* FNV-1a by words. */
static void mix(uint64_t *hash, uint64_t word)
{
    *hash = (*hash ^ word) * UINT64_C(1099511628211);
    *hash ^= *hash >> 29;
}

static void mix_instr(uint64_t *hash, const struct instr *instr)
{
    mix(hash, (uint64_t)instr->op << 16 | (uint64_t)instr->lane << 8 | (uint64_t)instr->kind << 1 | instr->checked);
    for (int i = 0; i < 3; i++)
        mix(hash, (uint64_t)instr->args[i]);
    if (reads_input(instr))
        mix(hash, (uint64_t)instr->integer << 1 | (instr->offset != 0));
    else if (instr->op >= OP_COUNTER)
        mix(hash, (uint64_t)instr->integer << 32 | (uint64_t)instr->offset);
}

/* About how many rounds the loop of a COUNTER has. */
static double rounds_of(const struct code *code, const struct instr *counter)
{
    enum { UNKNOWN_ROUNDS = 64 };
    const struct instr *first = &code->at[counter->args[0]], *last = &code->at[counter->args[1]];
    if (first->op != OP_CONST || last->op != OP_CONST)
        return UNKNOWN_ROUNDS;
    return last->integer < first->integer ? 0 : (double)last->integer - (double)first->integer + 1;
}

/* How often a value is computed for a row: in the rounds of all loops that it depends on. */
static double times_computed(uint32_t levels, const double *rounds)
{
    double times = 1;
    for (int level = 0; level < LOOP_LEVELS; level++)
        times *= (levels >> level & 1) != 0 ? rounds[level] : 1;
    return times;
}

/* Adds the live instructions to the shape, marks the inputs read, and counts the operations. */
static double scan_code(struct cost_features *work, const bool *live)
{
    const struct code *code = &work->task->code;
    const uint32_t *levels = code_has_loops(code) ? code_levels(code, code->arena) : NULL;
    double rounds[LOOP_LEVELS] = {0}, operations = 0;
    for (value v = 0; v < code->count; v++) {
        const struct instr *instr = &code->at[v];
        if (!live[v])
            continue;
        mix_instr(&work->shape, instr);
        if (reads_input(instr))
            work->reads[instr->integer] = true;
        if (instr->op == OP_COUNTER)
            rounds[instr->integer] = rounds_of(code, instr);
        if (instr->op != OP_INPUT && instr->op != OP_CONST)
            operations += (instr->op == OP_CARRY && instr->integer == 1 ? SUM_OPERATIONS : 1) *
                          (levels ? times_computed(levels[v], rounds) : 1);
    }
    return operations;
}

static void mix_results(struct cost_features *work)
{
    const struct task *task = work->task;
    uint64_t *hash = &work->shape;
    mix(hash, (uint64_t)task->sink << 32 | task->filter_count);
    for (size_t k = 0; k < task->output_count; k++)
        mix(hash, task->outputs[k].needed ? (uint64_t)task->outputs[k].value << 8 | task->outputs[k].type : 1);
    for (size_t k = 0; k < task->aggregate_count; k++)
        mix(hash, (uint64_t)task->aggregates[k].kind << 32 | (uint32_t)task->aggregates[k].value);
    for (size_t k = 0; k < task->input_count; k++) {
        mix(hash, (uint64_t)work->reads[k] << 9 | (uint64_t)task->inputs[k].whole << 8 |
                      (work->columns[k] ? work->columns[k]->store : task->inputs[k].type));
    }
}

static int64_t size_of_input(const struct cost_features *work, size_t k)
{
    const struct column *column = work->columns[k];
    return (int64_t)type_table[column ? column->store : work->task->inputs[k].type].size;
}

/* Of each row. */
static int64_t bytes_read(const struct cost_features *work)
{
    int64_t bytes = 0;
    for (size_t k = 0; k < work->task->input_count; k++)
        bytes += work->reads[k] ? size_of_input(work, k) : 0;
    return bytes;
}

/* Of each row. */
static double bytes_of_keys(const struct cost_features *work)
{
    const struct column_operator *column_op = work->task->column_op;
    int64_t bytes = 0;
    for (size_t i = 0; i < column_op->key_count; i++)
        bytes += size_of_input(work, column_op->keys[i]);
    return (double)bytes;
}

/* Bytes of all device-only rows: reading any of a column on the host fetches all of it. */
static int64_t away_bytes(const struct cost_features *work)
{
    int64_t bytes = 0;
    for (size_t k = 0; k < work->task->input_count; k++) {
        const struct column *column = work->reads[k] ? work->columns[k] : NULL;
        for (const struct residency *residency = column ? column->residency : NULL; residency;
             residency = residency->next)
            bytes += (residency->end - residency->begin) * size_of_input(work, k);
    }
    return bytes;
}

/* Of each row that passes. */
static int64_t bytes_written(const struct cost_features *work)
{
    const struct task *task = work->task;
    int64_t bytes = 0;
    for (size_t k = 0; k < task->output_count; k++) {
        const struct output *output = &task->outputs[k];
        if (!output->needed)
            continue;
        const bool carries = task->sink == SINK_OPERATOR && operator_carries(task->column_op);
        const enum type store = carries ? work->columns[task->code.at[output->value].integer]->store
                                : task->sink == SINK_OPERATOR ? output->type
                                                              : output_store(task, output, work->columns);
        bytes += (int64_t)type_table[store].size;
    }
    return bytes;
}

/* Whether an aggregate is a user's function, or depends on the order of rows. */
static bool folds(const struct task *task)
{
    for (size_t i = 0; i < task->aggregate_count; i++) {
        if (task->aggregates[i].kind == AGG_FOLD || aggregate_in_order(&task->aggregates[i], &task->code))
            return true;
    }
    return false;
}

static enum work_kind kind_of(const struct task *task)
{
    if (task->sink == SINK_ROWS)
        return task->filter_count > 0 ? WORK_FILTER : WORK_MAP;
    return folds(task) ? WORK_FOLD : WORK_AGGREGATE;
}

static bool *live_values(struct cost_features *work, struct arena *arena)
{
    const struct task *task = work->task;
    work->reads = arena_array(arena, task->input_count + 1, sizeof *work->reads);
    return task_live(task, arena);
}

void cost_features_of_job(struct cost_features *work, const struct job *job, const struct row_ranges *ranges)
{
    const struct task *task = job->task;
    int64_t first = job->begin, end;
    *work = (struct cost_features){
        .rows = row_ranges_rows(ranges, job->begin),
        .shape = hash_init(),
        .task = task,
        .columns = job->columns,
    };
    if (row_ranges_next(ranges, &first, &end)) {
        work->begin = task->first + first;
        work->end = task->first + ranges->ends[ranges->count - 1];
    }
    const double rows = (double)work->rows;
    const double operations = scan_code(work, live_values(work, job->diags->arena));
    mix_results(work);
    work->away_bytes = away_bytes(work);
    work->load = (struct load){kind_of(task), (double)bytes_read(work) * rows, operations * rows};
    if (task->sink == SINK_ROWS) /* how many rows pass the filters is unknown: half */
        work->load.bytes += (double)bytes_written(work) * rows / (task->filter_count > 0 ? 2 : 1);
}

static enum work_kind kind_of_operator(const struct column_operator *column_op, int64_t rows)
{
    if (operator_selects(column_op, rows))
        return WORK_TOP;
    const bool axis = column_op->kind == OPERATOR_GROUP && (column_op->segment > 0 || column_op->stride > 1);
    return axis ? WORK_AXIS : (enum work_kind)column_op->kind;
}

void cost_features_of_operator(struct cost_features *work, const struct operator_job *job)
{
    const struct task *task = job->task;
    const struct column_operator *column_op = task->column_op;
    const enum work_kind kind = kind_of_operator(column_op, job->rows);
    *work = (struct cost_features){
        .rows = job->rows,
        .shape = hash_init(),
        .task = task,
        .columns = job->inputs,
        .end = job->rows,
    };
    (void)scan_code(work, live_values(work, job->diags->arena));
    mix_results(work);
    /* Of groups of which the first are read the host looks for these alone. */
    mix(&work->shape, (uint64_t)kind << 1 | (column_op->kind == OPERATOR_GROUP && column_op->first > 0));
    for (size_t i = 0; i < column_op->key_count; i++) {
        work->reads[column_op->keys[i]] = true;
        mix(&work->shape, (uint64_t)column_op->keys[i] << 1 | (column_op->descending && column_op->descending[i]));
    }
    const int64_t known = operator_result_rows(column_op, work->rows);
    const int64_t rows = known >= 0 ? known : work->rows / (column_op->kind == OPERATOR_GROUP ? 64 : 2);
    work->away_bytes = away_bytes(work);
    const double bytes = (double)bytes_read(work) * (double)work->rows + (double)bytes_written(work) * (double)rows;
    work->load = (struct load){kind, kind == WORK_TOP ? bytes_of_keys(work) * (double)work->rows : bytes, 0};
}

void cost_features_with_group(struct cost_features *both, const struct cost_features *work, const struct task *group,
                              struct load *then)
{
    const struct column_operator *column_op = group->column_op;
    int64_t bytes = 0;
    *both = *work;
    mix(&both->shape, column_op->key_count);
    for (size_t k = 0; k < group->aggregate_count; k++)
        mix(&both->shape, (uint64_t)group->aggregates[k].kind << 1 | group->outputs[column_op->key_count + k].needed);
    for (size_t k = 0; k < group->input_count; k++)
        bytes += group->inputs[k].needed ? (int64_t)type_table[group->inputs[k].type].size : 0;
    *then = (struct load){.kind = (enum work_kind)OPERATOR_GROUP, .bytes = (double)bytes * load_rows_passing(work)};
}

double load_rows_passing(const struct cost_features *work)
{
    return (double)work->rows / (work->task->filter_count > 0 ? 2 : 1);
}

struct load load_of_rows(const struct cost_features *work, int64_t rows)
{
    const double part = work->rows > 0 ? (double)rows / (double)work->rows : 0;
    struct load load = work->load;
    load.bytes *= part;
    load.operations *= part;
    return load;
}
