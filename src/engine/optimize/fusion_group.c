/* Growing, merging and closing bundles of tasks. */
#include "engine/optimize/fusion_group.h"

/* Room for one more element. */
static void *room(struct arena *arena, void *at, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return at;
    *capacity = *capacity == 0 ? 4 : *capacity * 2;
    return arena_grow(arena, at, count, *capacity, size);
}

struct bundle *bundle_new(struct arena *arena, int64_t first, int64_t rows, int64_t limit)
{
    struct bundle *bundle = arena_alloc(arena, sizeof *bundle);
    code_init(&bundle->code, arena);
    bundle->first = first;
    bundle->rows = rows;
    bundle->limit = limit;
    bundle->window = (struct window){.take = INT64_MAX, .tail = -1};
    return bundle;
}

value bundle_input(struct bundle *bundle, const struct input *input, int64_t offset, struct span span)
{
    size_t k = 0;
    while (k < bundle->input_count &&
           (bundle->inputs[k].column != input->column || bundle->inputs[k].task != input->task ||
            bundle->inputs[k].output != input->output || bundle->inputs[k].whole != input->whole))
        k++;
    if (k == bundle->input_count) {
        bundle->inputs = room(bundle->code.arena, bundle->inputs, k, &bundle->input_capacity, sizeof *bundle->inputs);
        bundle->inputs[bundle->input_count++] = *input;
    }
    return input_value_at(&bundle->code, (int64_t)k, offset, input, span);
}

static value mark_value(struct bundle *bundle, struct row_mark mark, int64_t offset)
{
    size_t n = 0;
    while (n < bundle->mark_count && (bundle->marks[n].kind != mark.kind || bundle->marks[n].at != mark.at))
        n++;
    if (n == bundle->mark_count) {
        bundle->marks = room(bundle->code.arena, bundle->marks, n, &bundle->mark_capacity, sizeof *bundle->marks);
        bundle->marks[bundle->mark_count++] = mark;
    }
    return code_input_at(&bundle->code, -1 - (int64_t)n, offset, KIND_INT, (struct span){0});
}

value bundle_row(struct bundle *bundle)
{
    return mark_value(bundle, (struct row_mark){.kind = MARK_ROW, .at = bundle->first}, 0);
}

value bundle_rows(struct bundle *bundle)
{
    return mark_value(bundle, (struct row_mark){.kind = MARK_ROWS, .at = bundle->rows >= 0 ? bundle->rows : -1}, 0);
}

value bundle_shift(struct bundle *bundle, value v, int64_t offset)
{
    struct code *code = &bundle->code;
    if (offset == 0)
        return v;
    value *map = code_map(code->arena, code);
    bool *live = arena_array(code->arena, (size_t)code->count, sizeof *live);
    int32_t before = code->count;
    code_mark(code, v, live);
    for (value leaf = 0; leaf <= v; leaf++) {
        const struct instr instr = code->at[leaf];
        if (!live[leaf] || instr.op != OP_INPUT)
            continue;
        bool counts = instr.integer < 0 && bundle->marks[-1 - instr.integer].kind == MARK_ROWS;
        map[leaf] = code_input_at(code, instr.integer, counts ? 0 : instr.offset + offset, instr.kind, instr.span);
        code->at[map[leaf]].fallible = instr.fallible;
    }
    value shifted = code_inline(code, code, v, NULL, NO_VALUE, map);
    for (value added = before; added < code->count; added++)
        code->at[added].shift += offset;
    return shifted;
}

static bool is_whole(const struct window *window)
{
    return window->skip == 0 && window->take == INT64_MAX && window->tail < 0;
}

bool bundle_keeps_all(const struct bundle *bundle)
{
    return is_whole(&bundle->window);
}

/* b of what a keeps. */
static struct window compose(struct window a, struct window b)
{
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

/* Moves the first row, for a bundle in which every row is kept. */
static void slice(struct bundle *bundle, int64_t skip, int64_t take)
{
    if (bundle->rows >= 0) {
        skip = skip < bundle->rows ? skip : bundle->rows;
        bundle->rows -= skip;
        bundle->rows = take < bundle->rows ? take : bundle->rows;
    } else {
        if (bundle->limit != INT64_MAX)
            bundle->limit = bundle->limit > skip ? bundle->limit - skip : 0;
        bundle->limit = take < bundle->limit ? take : bundle->limit;
    }
    bundle->first = bundle->first > INT64_MAX - skip ? INT64_MAX : bundle->first + skip;
}

/* Whether a value reads a number of rows that only running the task will tell: then none may be left out before. */
static bool counts_unknown(const struct bundle *bundle)
{
    bool unknown = false;
    for (size_t n = 0; n < bundle->mark_count; n++)
        unknown = unknown || (bundle->marks[n].kind == MARK_ROWS && bundle->marks[n].at < 0);
    return unknown;
}

void bundle_window(struct bundle *bundle, const struct window *window)
{
    bool every_row = bundle->filter_count == 0 && is_whole(&bundle->window) && !counts_unknown(bundle);
    if (every_row && window->tail < 0)
        slice(bundle, window->skip, window->take);
    else if (every_row && bundle->rows >= 0)
        slice(bundle, bundle->rows > window->tail ? bundle->rows - window->tail : 0, INT64_MAX);
    else
        bundle->window = compose(bundle->window, *window);
}

/* Prepares to copy values of `other` onto `bundle`, of the same rows: puts its INPUTs into `map` and returns the table
 * of those that GATHERs read. */
static value *adopt_inputs(struct bundle *bundle, const struct bundle *other, value *map)
{
    value *wholes = arena_array(bundle->code.arena, other->input_count + 1, sizeof *wholes);
    for (value v = 0; v < other->code.count; v++) {
        const struct instr *instr = &other->code.at[v];
        int64_t k = instr->integer;
        if (instr->op == OP_GATHER)
            wholes[k] = bundle_input(bundle, &other->inputs[k], 0, instr->span);
        if (instr->op != OP_INPUT)
            continue;
        if (k >= 0) {
            map[v] = bundle_input(bundle, &other->inputs[k], instr->offset, instr->span);
            continue;
        }
        struct row_mark mark = other->marks[-1 - k];
        if (mark.kind == MARK_ROW)
            mark.at += bundle->first - other->first;
        map[v] = mark_value(bundle, mark, instr->offset);
    }
    return wholes;
}

void bundle_equal(struct bundle *bundle, struct task *made)
{
    for (size_t i = 0; i < bundle->equal_count; i++) {
        if (bundle->equals[i] == made)
            return;
    }
    size_t count = bundle->equal_count++;
    bundle->equals = room(bundle->code.arena, bundle->equals, count, &bundle->equal_capacity, sizeof *bundle->equals);
    bundle->equals[count] = made;
}

void bundle_merge(struct bundle *bundle, struct bundle *other)
{
    value *map = code_map(bundle->code.arena, &other->code);
    value *wholes = adopt_inputs(bundle, other, map);
    for (size_t k = 0; k < other->output_count; k++) {
        value *output = &other->outputs[k].value;
        if (other->outputs[k].needed)
            *output = code_inline(&bundle->code, &other->code, *output, wholes, NO_VALUE, map);
    }
    for (size_t i = 0; i < other->equal_count; i++)
        bundle_equal(bundle, other->equals[i]);
    other->into = bundle;
}

bool bundle_same_rows(const struct bundle *a, const struct bundle *b)
{
    if (a->rows < 0 || b->rows < 0)
        return a->rows < 0 && b->rows < 0 && a->rows_from == b->rows_from && a->first == b->first &&
               a->limit == b->limit;
    /* Without inputs any first row is as good. */
    return a->rows == b->rows && (a->first == b->first || a->input_count == 0 || b->input_count == 0);
}

void bundle_rebase(struct bundle *bundle, int64_t first)
{
    for (size_t n = 0; n < bundle->mark_count; n++)
        bundle->marks[n].at += bundle->marks[n].kind == MARK_ROW ? first - bundle->first : 0;
    bundle->first = first;
}

void bundle_filter(struct bundle *bundle, struct filter filter)
{
    const struct instr *keep = &bundle->code.at[filter.keep];
    if (keep->op == OP_CONST && keep->integer != 0)
        return;
    for (size_t i = 0; i < bundle->filter_count; i++) {
        if (bundle->filters[i].keep == filter.keep)
            return;
    }
    size_t count = bundle->filter_count++;
    bundle->filters =
        room(bundle->code.arena, bundle->filters, count, &bundle->filter_capacity, sizeof *bundle->filters);
    bundle->filters[count] = filter;
}

/* A mark of the bundle, so many rows on, in the fused task. Constants are not exact ones: another `skip`, or another
 * file, is to find the same program. */
static value final_mark(struct bundle *bundle, struct row_mark mark, int64_t offset)
{
    struct code *code = &bundle->made->code;
    const struct span nowhere = {0};
    if (mark.kind == MARK_ROWS)
        return mark.at < 0 || mark.at == bundle->rows ? code_rows(code, nowhere) : code_int(code, mark.at, nowhere);
    value row = code_row(code, nowhere);
    int64_t before;
    if (__builtin_add_overflow(bundle->first - mark.at, offset, &before))
        before = offset > 0 ? INT64_MAX : INT64_MIN; /* a row that no column has */
    return before == 0 ? row : code_op(code, OP_ADD, row, code_int(code, before, nowhere), NO_VALUE, nowhere);
}

/* Copies the inputs that are read to the fused task, and its INPUTs into `map`; returns the table of those that GATHERs
 * read. */
static value *make_inputs(struct queue *fused, struct bundle *bundle, const bool *live, value *map)
{
    struct task *made = bundle->made;
    struct arena *arena = bundle->code.arena;
    value *wholes = arena_array(arena, bundle->input_count + 1, sizeof *wholes);
    int64_t *numbers = arena_array(arena, bundle->input_count + 1, sizeof *numbers); /* plus 1; 0: not made yet */
    made->inputs = arena_array(arena, bundle->input_count + 1, sizeof *made->inputs);
    for (value v = 0; v < bundle->code.count; v++) {
        const struct instr *instr = &bundle->code.at[v];
        int64_t k = instr->integer;
        if (!live[v] || (instr->op != OP_INPUT && instr->op != OP_GATHER))
            continue;
        if (k < 0) {
            map[v] = final_mark(bundle, bundle->marks[-1 - k], instr->offset);
            continue;
        }
        const struct input *input = &bundle->inputs[k];
        if (numbers[k] == 0) {
            if (input->column != NULL)
                queue_hold(fused, column_ref(input->column));
            made->inputs[made->input_count++] = *input;
            numbers[k] = (int64_t)made->input_count;
        }
        value copy = input_value_at(&made->code, numbers[k] - 1, instr->offset, input, instr->span);
        if (instr->op == OP_INPUT)
            map[v] = copy;
        else
            wholes[k] = copy;
    }
    return wholes;
}

static void mark_needed(const struct bundle *bundle, bool *live)
{
    for (size_t i = 0; i < bundle->filter_count; i++)
        live[bundle->filters[i].keep] = true;
    for (size_t k = 0; k < bundle->output_count; k++) {
        if (bundle->outputs[k].needed)
            live[bundle->outputs[k].value] = true;
    }
    for (size_t k = 0; k < bundle->aggregate_count; k++) {
        if (bundle->aggregates[k].value != NO_VALUE)
            live[bundle->aggregates[k].value] = true;
    }
    code_mark_all(&bundle->code, live);
}

void bundle_close(struct bundle *bundle, struct queue *fused)
{
    if (bundle->made != NULL)
        return;
    struct task *made = bundle->made = queue_add(fused);
    made->first = bundle->first;
    made->rows = bundle->rows;
    made->limit = bundle->limit;
    made->rows_from = bundle->rows_from;
    made->equals = bundle->equals;
    made->equal_count = bundle->equal_count;
    made->window = bundle->window;
    made->sink = bundle->sink;

    bool *live = arena_array(bundle->code.arena, (size_t)bundle->code.count + 1, sizeof *live);
    mark_needed(bundle, live);
    value *map = code_map(bundle->code.arena, &bundle->code);
    value *wholes = make_inputs(fused, bundle, live, map);

    made->filters = bundle->filters;
    made->filter_count = bundle->filter_count;
    for (size_t i = 0; i < made->filter_count; i++) {
        value *keep = &made->filters[i].keep;
        *keep = code_inline(&made->code, &bundle->code, *keep, wholes, NO_VALUE, map);
    }
    bundle->numbers = arena_array(bundle->code.arena, bundle->output_count + 1, sizeof *bundle->numbers);
    made->outputs = arena_array(bundle->code.arena, bundle->output_count + 1, sizeof *made->outputs);
    for (size_t k = 0; k < bundle->output_count; k++) {
        struct output output = bundle->outputs[k];
        if (!output.needed)
            continue;
        output.value = code_inline(&made->code, &bundle->code, output.value, wholes, NO_VALUE, map);
        bundle->numbers[k] = made->output_count;
        made->outputs[made->output_count++] = output;
    }
    made->aggregates = bundle->aggregates;
    made->aggregate_count = bundle->aggregate_count;
    for (size_t k = 0; k < made->aggregate_count; k++) {
        value *aggregated = &made->aggregates[k].value;
        if (*aggregated != NO_VALUE)
            *aggregated = code_inline(&made->code, &bundle->code, *aggregated, wholes, NO_VALUE, map);
    }
}

struct column *bundle_column(const struct bundle *bundle, size_t output)
{
    if (bundle->sink != SINK_ROWS || bundle->filter_count > 0 || bundle->first != 0 || !bundle_keeps_all(bundle) ||
        bundle->outputs[output].value == NO_VALUE)
        return NULL;
    /* Merged into another one, it has its values there. */
    const struct bundle *holder = bundle;
    while (holder->into != NULL)
        holder = holder->into;
    const struct instr *instr = &holder->code.at[bundle->outputs[output].value];
    if (instr->op != OP_INPUT || instr->integer < 0 || instr->offset != 0)
        return NULL;
    struct column *column = holder->inputs[instr->integer].column;
    return column != NULL && column->rows == bundle->rows ? column : NULL;
}
