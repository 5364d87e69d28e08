/* Grows, merges and closes fusion groups. */
#include "engine/optimize/fusion_group.h"

#include <assert.h>

struct fusion_group *fusion_group_new(struct arena *arena, int64_t first, int64_t rows, int64_t limit)
{
    struct fusion_group *group = arena_alloc(arena, sizeof *group);
    code_init(&group->code, arena);
    group->first = first;
    group->rows = rows;
    group->limit = limit;
    group->window = (struct window){.take = INT64_MAX, .tail = -1};
    return group;
}

value fusion_group_input(struct fusion_group *group, const struct input *input, int64_t offset, struct span span)
{
    size_t k = 0;
    while (k < group->input_count &&
           (group->inputs[k].column != input->column || group->inputs[k].task != input->task ||
            group->inputs[k].output != input->output || group->inputs[k].whole != input->whole))
        k++;
    if (k == group->input_count) {
        group->inputs =
            arena_reserve(group->code.arena, group->inputs, k, &group->input_capacity, sizeof *group->inputs);
        group->inputs[group->input_count++] = *input;
    }
    return input_value_at(&group->code, (int64_t)k, offset, input, span);
}

static value mark_value(struct fusion_group *group, struct row_mark mark, int64_t offset)
{
    size_t n = 0;
    while (n < group->mark_count && (group->marks[n].kind != mark.kind || group->marks[n].at != mark.at))
        n++;
    if (n == group->mark_count) {
        group->marks = arena_reserve(group->code.arena, group->marks, n, &group->mark_capacity, sizeof *group->marks);
        group->marks[group->mark_count++] = mark;
    }
    return code_input_at(&group->code, -1 - (int64_t)n, offset, KIND_INT, (struct span){0});
}

value fusion_group_row(struct fusion_group *group)
{
    return mark_value(group, (struct row_mark){.kind = MARK_ROW, .at = group->first}, 0);
}

value fusion_group_rows(struct fusion_group *group)
{
    return mark_value(group, (struct row_mark){.kind = MARK_ROWS, .at = group->rows >= 0 ? group->rows : -1}, 0);
}

value fusion_group_shift(struct fusion_group *group, value v, int64_t offset)
{
    struct code *code = &group->code;
    if (offset == 0)
        return v;
    value *map = code_map(code->arena, code);
    bool *live = arena_array(code->arena, (size_t)code->count, sizeof *live);
    const int32_t before = code->count;
    code_mark(code, v, live);
    for (value leaf = 0; leaf <= v; leaf++) {
        const struct instr instr = code->at[leaf];
        if (!live[leaf] || instr.op != OP_INPUT)
            continue;
        const bool counts = instr.integer < 0 && group->marks[-1 - instr.integer].kind == MARK_ROWS;
        map[leaf] = code_input_at(code, instr.integer, counts ? 0 : instr.offset + offset, instr.kind, instr.span);
        code->at[map[leaf]].fallible = instr.fallible;
    }
    const value shifted = code_inline(code, code, v, NULL, NO_VALUE, map);
    for (value added = before; added < code->count; added++)
        code->at[added].shift += offset;
    return shifted;
}

static bool is_whole(const struct window *window)
{
    return window->skip == 0 && window->take == INT64_MAX && window->tail < 0;
}

bool fusion_group_keeps_all(const struct fusion_group *group)
{
    return is_whole(&group->window);
}

/* Window b applied to the rows that a keeps. */
static struct window compose(struct window a, struct window b)
{
    assert(windows_compose(&a, &b));
    if (is_whole(&b))
        return a;
    if (b.tail >= 0) {
        a.tail = a.tail < 0 || b.tail < a.tail ? b.tail : a.tail;
        return a;
    }
    if (a.take != INT64_MAX)
        a.take = a.take > b.skip ? a.take - b.skip : 0;
    a.take = b.take < a.take ? b.take : a.take;
    a.skip = a.skip > INT64_MAX - b.skip ? INT64_MAX : a.skip + b.skip;
    return a;
}

bool windows_compose(const struct window *a, const struct window *b)
{
    return is_whole(a) || is_whole(b) || (a->tail < 0) == (b->tail < 0);
}

/* Moves the first row, for a group that keeps every row. */
static void slice(struct fusion_group *group, int64_t skip, int64_t take)
{
    if (group->rows >= 0) {
        skip = skip < group->rows ? skip : group->rows;
        group->rows -= skip;
        group->rows = take < group->rows ? take : group->rows;
    } else {
        if (group->limit != INT64_MAX)
            group->limit = group->limit > skip ? group->limit - skip : 0;
        group->limit = take < group->limit ? take : group->limit;
    }
    group->first = group->first > INT64_MAX - skip ? INT64_MAX : group->first + skip;
}

/* Whether a value reads a number of rows that is only known when the task runs: no rows may be dropped then. */
static bool counts_unknown(const struct fusion_group *group)
{
    bool unknown = false;
    for (size_t n = 0; n < group->mark_count; n++)
        unknown = unknown || (group->marks[n].kind == MARK_ROWS && group->marks[n].at < 0);
    return unknown;
}

void fusion_group_window(struct fusion_group *group, const struct window *window)
{
    const bool every_row = group->filter_count == 0 && is_whole(&group->window) && !counts_unknown(group);
    if (every_row && window->tail < 0)
        slice(group, window->skip, window->take);
    else if (every_row && group->rows >= 0)
        slice(group, group->rows > window->tail ? group->rows - window->tail : 0, INT64_MAX);
    else
        group->window = compose(group->window, *window);
}

/* Maps the INPUTs of `other`, a group with the same rows, to INPUTs of the group in `map`; returns the table of those
 * that GATHERs read. */
static value *adopt_inputs(struct fusion_group *group, const struct fusion_group *other, value *map)
{
    value *wholes = arena_array(group->code.arena, other->input_count + 1, sizeof *wholes);
    for (value v = 0; v < other->code.count; v++) {
        const struct instr *instr = &other->code.at[v];
        const int64_t k = instr->integer;
        if (instr->op == OP_GATHER)
            wholes[k] = fusion_group_input(group, &other->inputs[k], 0, instr->span);
        if (instr->op != OP_INPUT)
            continue;
        if (k >= 0) {
            map[v] = fusion_group_input(group, &other->inputs[k], instr->offset, instr->span);
            continue;
        }
        struct row_mark mark = other->marks[-1 - k];
        if (mark.kind == MARK_ROW)
            mark.at += group->first - other->first;
        map[v] = mark_value(group, mark, instr->offset);
    }
    return wholes;
}

void fusion_group_equal(struct fusion_group *group, struct task *made)
{
    for (size_t i = 0; i < group->equal_count; i++) {
        if (group->equals[i] == made)
            return;
    }
    const size_t count = group->equal_count++;
    group->equals =
        arena_reserve(group->code.arena, group->equals, count, &group->equal_capacity, sizeof *group->equals);
    group->equals[count] = made;
}

void fusion_group_merge(struct fusion_group *group, struct fusion_group *other)
{
    value *map = code_map(group->code.arena, &other->code);
    value *wholes = adopt_inputs(group, other, map);
    for (size_t k = 0; k < other->output_count; k++) {
        value *output = &other->outputs[k].value;
        if (other->outputs[k].needed)
            *output = code_inline(&group->code, &other->code, *output, wholes, NO_VALUE, map);
    }
    for (size_t i = 0; i < other->equal_count; i++)
        fusion_group_equal(group, other->equals[i]);
    other->into = group;
}

bool fusion_group_same_rows(const struct fusion_group *a, const struct fusion_group *b)
{
    if (a->rows < 0 || b->rows < 0)
        return a->rows < 0 && b->rows < 0 && a->rows_from == b->rows_from && a->first == b->first &&
               a->limit == b->limit;
    /* Without inputs the first row is arbitrary. */
    return a->rows == b->rows && (a->first == b->first || a->input_count == 0 || b->input_count == 0);
}

void fusion_group_rebase(struct fusion_group *group, int64_t first)
{
    for (size_t n = 0; n < group->mark_count; n++)
        group->marks[n].at += group->marks[n].kind == MARK_ROW ? first - group->first : 0;
    group->first = first;
}

void fusion_group_filter(struct fusion_group *group, struct filter filter)
{
    const struct instr *keep = &group->code.at[filter.keep];
    if (keep->op == OP_CONST && keep->integer != 0)
        return;
    for (size_t i = 0; i < group->filter_count; i++) {
        if (group->filters[i].keep == filter.keep)
            return;
    }
    const size_t count = group->filter_count++;
    group->filters =
        arena_reserve(group->code.arena, group->filters, count, &group->filter_capacity, sizeof *group->filters);
    group->filters[count] = filter;
}

/* A mark of the group, `offset` rows on, in the fused task. Constants are not exact, so that another `skip` or file
 * gives the same program. */
static value final_mark(struct fusion_group *group, struct row_mark mark, int64_t offset)
{
    struct code *code = &group->made->code;
    const struct span nowhere = {0};
    if (mark.kind == MARK_ROWS)
        return mark.at < 0 || mark.at == group->rows ? code_rows(code, nowhere) : code_int(code, mark.at, nowhere);
    const value row = code_row(code, nowhere);
    int64_t before;
    if (__builtin_add_overflow(group->first - mark.at, offset, &before))
        before = offset > 0 ? INT64_MAX : INT64_MIN; /* no column has this row */
    return before == 0 ? row : code_binary(code, OP_ADD, row, code_int(code, before, nowhere), nowhere);
}

/* Copies the inputs that are read to the fused task and maps their INPUTs in `map`; returns the table of those that
 * GATHERs read. */
static value *make_inputs(struct queue *fused, struct fusion_group *group, const bool *live, value *map)
{
    struct task *made = group->made;
    struct arena *arena = group->code.arena;
    value *wholes = arena_array(arena, group->input_count + 1, sizeof *wholes);
    int64_t *numbers = arena_array(arena, group->input_count + 1, sizeof *numbers); /* plus 1; 0: not copied yet */
    made->inputs = arena_array(arena, group->input_count + 1, sizeof *made->inputs);
    for (value v = 0; v < group->code.count; v++) {
        const struct instr *instr = &group->code.at[v];
        const int64_t k = instr->integer;
        if (!live[v] || (instr->op != OP_INPUT && instr->op != OP_GATHER))
            continue;
        if (k < 0) {
            map[v] = final_mark(group, group->marks[-1 - k], instr->offset);
            continue;
        }
        const struct input *input = &group->inputs[k];
        if (numbers[k] == 0) {
            if (input->column)
                queue_hold(fused, column_ref(input->column));
            made->inputs[made->input_count++] = *input;
            numbers[k] = (int64_t)made->input_count;
        }
        const value copy = input_value_at(&made->code, numbers[k] - 1, instr->offset, input, instr->span);
        if (instr->op == OP_INPUT)
            map[v] = copy;
        else
            wholes[k] = copy;
    }
    return wholes;
}

static void mark_live(const struct fusion_group *group, bool *live)
{
    for (size_t i = 0; i < group->filter_count; i++)
        live[group->filters[i].keep] = true;
    for (size_t k = 0; k < group->output_count; k++) {
        if (group->outputs[k].needed)
            live[group->outputs[k].value] = true;
    }
    for (size_t k = 0; k < group->aggregate_count; k++) {
        if (group->aggregates[k].value != NO_VALUE)
            live[group->aggregates[k].value] = true;
    }
    code_mark_all(&group->code, live);
}

void fusion_group_close(struct fusion_group *group, struct queue *fused)
{
    if (group->made)
        return;
    struct task *made = group->made = queue_add(fused);
    made->first = group->first;
    made->rows = group->rows;
    made->limit = group->limit;
    made->rows_from = group->rows_from;
    made->equals = group->equals;
    made->equal_count = group->equal_count;
    made->window = group->window;
    made->sink = group->sink;

    bool *live = arena_array(group->code.arena, (size_t)group->code.count + 1, sizeof *live);
    mark_live(group, live);
    value *map = code_map(group->code.arena, &group->code);
    value *wholes = make_inputs(fused, group, live, map);
    made->filters = group->filters;
    made->filter_count = group->filter_count;
    for (size_t i = 0; i < made->filter_count; i++) {
        value *keep = &made->filters[i].keep;
        *keep = code_inline(&made->code, &group->code, *keep, wholes, NO_VALUE, map);
    }
    group->numbers = arena_array(group->code.arena, group->output_count + 1, sizeof *group->numbers);
    made->outputs = arena_array(group->code.arena, group->output_count + 1, sizeof *made->outputs);
    for (size_t k = 0; k < group->output_count; k++) {
        struct output output = group->outputs[k];
        if (!output.needed)
            continue;
        output.value = code_inline(&made->code, &group->code, output.value, wholes, NO_VALUE, map);
        group->numbers[k] = made->output_count;
        made->outputs[made->output_count++] = output;
    }
    made->aggregates = group->aggregates;
    made->aggregate_count = group->aggregate_count;
    for (size_t k = 0; k < made->aggregate_count; k++) {
        value *aggregated = &made->aggregates[k].value;
        if (*aggregated != NO_VALUE)
            *aggregated = code_inline(&made->code, &group->code, *aggregated, wholes, NO_VALUE, map);
    }
}

struct column *fusion_group_column(const struct fusion_group *group, size_t output)
{
    if (group->sink != SINK_ROWS || group->filter_count > 0 || group->first != 0 || !fusion_group_keeps_all(group) ||
        group->outputs[output].value == NO_VALUE)
        return NULL;
    /* A merged group has its values in the other. */
    const struct fusion_group *holder = group;
    while (holder->into)
        holder = holder->into;
    const struct instr *instr = &holder->code.at[group->outputs[output].value];
    if (instr->op != OP_INPUT || instr->integer < 0 || instr->offset != 0)
        return NULL;
    struct column *column = holder->inputs[instr->integer].column;
    return column && column->rows == group->rows ? column : NULL;
}
