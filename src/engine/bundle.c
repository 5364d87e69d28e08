/* Growing, merging and closing bundles of tasks. */
#include "bundle.h"

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

value bundle_input(struct bundle *bundle, const struct input *input, struct span span)
{
    size_t k = 0;
    while (k < bundle->input_count &&
           (bundle->inputs[k].column != input->column || bundle->inputs[k].task != input->task ||
            bundle->inputs[k].output != input->output))
        k++;
    if (k == bundle->input_count) {
        bundle->inputs = room(bundle->code.arena, bundle->inputs, k, &bundle->input_capacity, sizeof *bundle->inputs);
        bundle->inputs[bundle->input_count++] = *input;
    }
    return input_value(&bundle->code, (int64_t)k, input, span);
}

/* The row number as counted when the bundle's first row was `origin`. */
static value row_from(struct bundle *bundle, int64_t origin)
{
    size_t n = 0;
    while (n < bundle->origin_count && bundle->origins[n] != origin)
        n++;
    if (n == bundle->origin_count) {
        bundle->origins =
            room(bundle->code.arena, bundle->origins, n, &bundle->origin_capacity, sizeof *bundle->origins);
        bundle->origins[bundle->origin_count++] = origin;
    }
    return code_input(&bundle->code, -1 - (int64_t)n, KIND_INT, (struct span){0});
}

value bundle_row(struct bundle *bundle)
{
    return row_from(bundle, bundle->first);
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

void bundle_window(struct bundle *bundle, const struct window *window)
{
    bool every_row = bundle->filter_count == 0 && is_whole(&bundle->window);
    if (every_row && window->tail < 0)
        slice(bundle, window->skip, window->take);
    else if (every_row && bundle->rows >= 0)
        slice(bundle, bundle->rows > window->tail ? bundle->rows - window->tail : 0, INT64_MAX);
    else
        bundle->window = compose(bundle->window, *window);
}

value *inline_map(struct arena *arena, const struct code *from)
{
    value *map = arena_array(arena, (size_t)from->count + 1, sizeof *map);
    for (value v = 0; v < from->count; v++)
        map[v] = NO_VALUE;
    return map;
}

/* What the negative and other INPUTs of a bundle's code become, to be indexed by INPUT's number. */
static value *new_table(const struct bundle *bundle)
{
    value *table = arena_array(bundle->code.arena, bundle->origin_count + bundle->input_count + 1, sizeof *table);
    return table + bundle->origin_count;
}

/* Prepares to copy values of `other` onto `bundle`, of the same rows: the table of its inputs. */
static value *adopt_inputs(struct bundle *bundle, const struct bundle *other)
{
    value *table = new_table(other);
    for (value v = 0; v < other->code.count; v++) {
        const struct instr *instr = &other->code.at[v];
        if (instr->op != OP_INPUT)
            continue;
        int64_t k = instr->integer;
        table[k] = k >= 0 ? bundle_input(bundle, &other->inputs[k], instr->span)
                          : row_from(bundle, other->origins[-1 - k] - other->first + bundle->first);
    }
    return table;
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
    value *table = adopt_inputs(bundle, other);
    value *map = inline_map(bundle->code.arena, &other->code);
    for (size_t k = 0; k < other->output_count; k++) {
        value *output = &other->outputs[k].value;
        if (other->outputs[k].needed)
            *output = code_inline(&bundle->code, &other->code, *output, table, NO_VALUE, map);
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
    for (size_t n = 0; n < bundle->origin_count; n++)
        bundle->origins[n] += first - bundle->first;
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

/* The row number counted from `origin`, in the fused task. */
static value final_row(struct bundle *bundle, int64_t origin)
{
    struct code *code = &bundle->made->code;
    const struct span nowhere = {0};
    value row = code_row(code, nowhere);
    if (bundle->first == origin)
        return row;
    /* Not an exact constant: another `skip` is to find the same program. */
    value before = code_int(code, bundle->first - origin, nowhere);
    return code_op(code, OP_ADD, row, before, NO_VALUE, nowhere);
}

/* Copies the inputs that are read to the fused task; `table` is what the INPUTs of the bundle's code become. */
static void make_inputs(struct queue *fused, struct bundle *bundle, const bool *live, value *table)
{
    struct task *made = bundle->made;
    made->inputs = arena_array(bundle->code.arena, bundle->input_count + 1, sizeof *made->inputs);
    for (value v = 0; v < bundle->code.count; v++) {
        const struct instr *instr = &bundle->code.at[v];
        if (!live[v] || instr->op != OP_INPUT)
            continue;
        if (instr->integer < 0) {
            table[instr->integer] = final_row(bundle, bundle->origins[-1 - instr->integer]);
            continue;
        }
        const struct input *input = &bundle->inputs[instr->integer];
        if (input->column != NULL)
            queue_hold(fused, column_ref(input->column));
        table[instr->integer] = input_value(&made->code, (int64_t)made->input_count, input, instr->span);
        made->inputs[made->input_count++] = *input;
    }
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
    value *table = new_table(bundle);
    make_inputs(fused, bundle, live, table);
    value *map = inline_map(bundle->code.arena, &bundle->code);

    made->filters = bundle->filters;
    made->filter_count = bundle->filter_count;
    for (size_t i = 0; i < made->filter_count; i++) {
        value *keep = &made->filters[i].keep;
        *keep = code_inline(&made->code, &bundle->code, *keep, table, NO_VALUE, map);
    }
    bundle->numbers = arena_array(bundle->code.arena, bundle->output_count + 1, sizeof *bundle->numbers);
    made->outputs = arena_array(bundle->code.arena, bundle->output_count + 1, sizeof *made->outputs);
    for (size_t k = 0; k < bundle->output_count; k++) {
        struct output output = bundle->outputs[k];
        if (!output.needed)
            continue;
        output.value = code_inline(&made->code, &bundle->code, output.value, table, NO_VALUE, map);
        bundle->numbers[k] = made->output_count;
        made->outputs[made->output_count++] = output;
    }
    made->aggregates = bundle->aggregates;
    made->aggregate_count = bundle->aggregate_count;
    for (size_t k = 0; k < made->aggregate_count; k++) {
        value *aggregated = &made->aggregates[k].value;
        if (*aggregated != NO_VALUE)
            *aggregated = code_inline(&made->code, &bundle->code, *aggregated, table, NO_VALUE, map);
    }
}
