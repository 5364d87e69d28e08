/* Sources: files, ranges, lists, named relations, nested pipelines. */
#include "engine/backend/deferred_rows.h"
#include "engine/bind/bind_internal.h"
#include "engine/expression/names_unknown.h"
#include "engine/loop/loop_stages.h"
#include "engine/source/bind_sent.h"

#include <string.h>

/* The columns of a load while they are collected. */
struct file_columns {
    struct input *inputs;
    struct slot *slots;
    size_t count;
    size_t capacity;
    int64_t rows;            /* of the first file whose rows are known, or -1 */
    struct shape shape;      /* of the first file */
    const struct name *path; /* that file */
    bool open;               /* some file's columns are unknown */
};

static void add_column(struct binder *binder, struct file_columns *all, struct column *column, struct slot slot)
{
    if (all->count == all->capacity) {
        const size_t capacity = all->capacity == 0 ? 4 : 2 * all->capacity;
        all->inputs = arena_grow(binder->arena, all->inputs, all->count, capacity, sizeof *all->inputs);
        all->slots = arena_grow(binder->arena, all->slots, all->count, capacity, sizeof *all->slots);
        all->capacity = capacity;
    }
    all->inputs[all->count] = (struct input){.column = column, .type = slot.type, .name = slot.name};
    all->slots[all->count++] = slot;
}

static void check_rows(struct binder *binder, struct file_columns *all, const struct name *path, int64_t rows)
{
    if (all->rows < 0) {
        all->rows = rows;
        all->path = path;
    } else if (rows != all->rows) {
        bind_error_second(binder, path->span, all->path->span, text_of_count(binder->arena, all->rows, "row"),
                          "columns side by side must have the same length", "`%s` has %s, but `%s` has %s", path->text,
                          text_of_count(binder->arena, rows, "row"), all->path->text,
                          text_of_count(binder->arena, all->rows, "row"));
    }
}

/* Whether the file has a single column, which is called like the file. */
static bool names_column(const struct source_file *file)
{
    if (file->count != 1 || !file->path.text)
        return false;
    const char *slash = strrchr(file->path.text, '/'), *base = slash ? slash + 1 : file->path.text;
    const size_t length = strlen(file->columns[0].name);
    return strncmp(base, file->columns[0].name, length) == 0 && base[length] == '.';
}

/* Adds a file's columns, side by side with those of the files before it. */
static void add_file(struct binder *binder, const struct name *written, const struct name *as, struct file_columns *all)
{
    const struct source_file *file = sources_find(&binder->facts->sources, written);
    if (all->count == 0 && file)
        all->shape = file->shape_unknown ? shape_unknown : file->shape;
    if (!file || !file->known) {
        all->open = true;
        return;
    }
    if (as->text && file->count != 1)
        bind_error(binder, as->span, "use `map NAME as NAME, ...` to name several columns",
                   "`as` names one column, but `%s` has %zu", file->path.text, file->count);
    for (size_t i = 0; i < file->count; i++) {
        const struct source_column *column = &file->columns[i];
        const char *name = as->text ? as->text : column->name;
        add_column(binder, all, column->column,
                   (struct slot){.name = name,
                                 .type = column->type,
                                 .known = true,
                                 .of_file = !as->text && names_column(file),
                                 .logical = column->logical});
        if (!column->column && column->unread)
            queue_hold(binder->queue, column_ref(column->unread));
        if (!column->column)
            continue;
        queue_hold(binder->queue, column_ref(column->column));
        check_rows(binder, all, &file->path, column->column->rows);
    }
}

/* Adds the validity of columns in which values are missing, as hidden columns. */
static size_t add_validity(struct binder *binder, struct file_columns *all)
{
    const size_t count = all->count;
    for (size_t i = 0; i < count; i++) {
        const struct column *column = all->inputs[i].column;
        if (!column || !column->validity)
            continue;
        queue_hold(binder->queue, column_ref(column->validity));
        all->slots[i].validity = all->count;
        const char *name = arena_printf(binder->arena, "%s present", all->slots[i].name);
        add_column(binder, all, column->validity, (struct slot){.name = name, .type = TYPE_BOOL, .known = true});
    }
    return all->count - count;
}

/* Sets the columns of the source's task. */
static void set_file_columns(struct binder *binder, struct file_columns *all, struct task *task, struct flow *flow)
{
    if (too_many_columns(binder, all->count, task->span)) {
        all->count = 0;
        all->open = true;
    }
    number_duplicates(binder, all->slots, all->count);
    for (size_t i = 0; i < all->count; i++)
        all->inputs[i].name = all->slots[i].name;
    flow->hidden = add_validity(binder, all);
    task->inputs = all->inputs;
    task->input_count = all->count;
    task->rows = all->rows;
    flow->columns = all->slots;
    flow->count = all->count - flow->hidden;
    flow->rows = all->rows;
    flow->shape = all->shape;
    flow->open = all->open;
    task_pass_inputs(binder, task, flow);
}

static void bind_load(struct binder *binder, const struct source_node *source, struct flow *flow)
{
    struct task *task = task_new(binder, "load", source->span, flow);
    struct file_columns all = {.rows = -1};
    if (source->kind == SOURCE_NAME) /* $NAME, for a path */
        add_file(binder, &source->name, &(struct name){0}, &all);
    for (size_t i = 0; i < source->path_count && !bind_gave_up(binder); i++)
        add_file(binder, &source->paths[i].path, &source->paths[i].as, &all);
    set_file_columns(binder, &all, task, flow);
}

/* Binds the task of a relation with deferred rows in place of the relation's columns. */
static void bind_deferred(struct binder *binder, const struct relation *relation, const struct task *deferred,
                          struct task *task, struct flow *flow)
{
    size_t *kept = arena_array(binder->arena, deferred->input_count + 1, sizeof *kept);
    queue_add_recomputed(binder->queue, relation);
    task_copy(task, deferred, task->span, kept);
    for (size_t k = 0; k < task->input_count; k++)
        queue_hold(binder->queue, column_ref(task->inputs[k].column));
    struct slot *slots = arena_array(binder->arena, task->output_count + 1, sizeof *slots);
    value *values = arena_array(binder->arena, task->output_count + 1, sizeof *values);
    for (size_t i = 0; i < task->output_count; i++) {
        const struct output *output = &task->outputs[i];
        slots[i] = (struct slot){.name = output->name,
                                 .type = output->type,
                                 .known = true,
                                 .logical = output->logical,
                                 .validity = output->validity};
        values[i] = output->value;
    }
    flow->rows = task->filter_count > 0 ? -1 : task->rows;
    flow->shape = shape_copy(&relation->shape, binder->arena);
    task_set_slots(binder, task, flow, slots, values, relation->count, task->output_count - relation->count);
}

/* The rows that tables on servers have now: the relation knows how many there were. */
static void take_live_rows(struct binder *binder, const struct name *written, const struct relation *relation,
                           const struct source_file *file, struct file_columns *all)
{
    bool found = false;
    for (size_t i = 0; i < relation->count; i++) {
        const struct column *column = file->columns[i].column;
        if (!relation->columns[i]->live || !column)
            continue;
        if (found && column->rows != all->rows) {
            bind_error(binder, written->span, "load each table by its own name",
                       "the tables of `%s` have changed: columns side by side now have %s and %s", written->text,
                       text_of_count(binder->arena, all->rows, "row"),
                       text_of_count(binder->arena, column->rows, "row"));
            return;
        }
        all->rows = column->rows;
        found = true;
    }
}

/* A relation named at this place of the tree. */
static void bind_relation(struct binder *binder, const struct name *written, const struct relation *relation,
                          bool unknown, struct task *task, struct flow *flow)
{
    const struct task *deferred = unknown ? NULL : deferred_task(relation);
    if (deferred) {
        bind_deferred(binder, relation, deferred, task, flow);
        return;
    }
    struct file_columns all = {.rows = unknown ? -1 : relation->rows,
                               .shape = shape_copy(&relation->shape, binder->arena)};
    const struct source_file *file =
        sources_find(&binder->facts->sources, written); /* if some of its columns were unread */
    if (file && file->rows) {
        all.rows = file->rows->rows;
        all.shape = (struct shape){0};
    }
    if (file && !unknown)
        take_live_rows(binder, written, relation, file, &all);
    for (size_t i = 0; i < relation->count; i++) {
        struct column *column = column_ref(file ? file->columns[i].column : relation->columns[i]);
        const struct logical_type logical = file ? file->columns[i].logical : column->logical;
        queue_hold(binder->queue, column);
        /* The relation may be rebound while the statement's tasks still name its columns. */
        const char *name = arena_text(binder->arena, relation->names[i], strlen(relation->names[i]));
        add_column(binder, &all, column,
                   (struct slot){.name = name, .type = column->type, .known = true, .logical = logical});
    }
    set_file_columns(binder, &all, task, flow);
}

static void bind_let_relation(struct binder *binder, const struct source_node *source, struct flow *flow)
{
    const struct name *name = &source->name;
    const char *argument = name_argument(name);
    if (bind_rows_of_round(binder, name, flow))
        return;
    const struct binding *binding = env_find(binder->env, argument ? argument : name->text);
    if (!binding && argument) {
        bind_load(binder, source, flow);
        return;
    }
    struct task *task = task_new(binder, "let", source->span, flow);
    if (binding && binding->kind == BINDING_RELATION && binding->relation) {
        bind_relation(binder, name, binding->relation, binding->unknown, task, flow);
        return;
    }
    flow->open = true;
    flow->shape = shape_unknown;
    if (!binding)
        name_unknown_relation(binder, name);
    else if (binding->kind == BINDING_SCALAR)
        bind_error(binder, name->span,
                   arena_printf(binder->arena, "write `[%s]` for a relation of this one value", name->text),
                   "`%s` is a single value, not a relation", name->text);
    else if (binding->kind == BINDING_STAGE)
        bind_error(binder, name->span, "it follows a source and `|`", "`%s` is a stage, not a relation", name->text);
    else if (binding->kind == BINDING_FUNCTION)
        bind_error(binder, name->span, "functions are called in expressions, as in `map f(x)`",
                   "`%s` is a function, not a relation", name->text);
}

void bind_evaluated(struct binder *binder, const struct stage *stage, const struct evaluated *evaluated,
                    const struct slot *slots, size_t count, struct flow *flow)
{
    const struct relation *relation = evaluated->relation;
    const struct source_file *file = binder->facts->sources.count > 0 ? binder->facts->sources.files : NULL;
    const struct column *first = file && file->count > 0 ? file->columns[0].column : NULL;
    if (relation && first && first->live && binder->pipeline == binder->facts->rest)
        binder->queue->count = 0; /* what comes before would read the table once more */
    struct task *task = task_new(binder, evaluated->bins > 0 ? "hist" : "describe", stage->span, flow);
    struct file_columns all = {.rows = relation ? relation->rows : -1};
    for (size_t k = 0; k < count; k++) {
        struct column *column = relation ? column_ref(relation->columns[k]) : NULL;
        struct slot slot = slots[k];
        if (column) {
            slot.type = column->type;
            slot.logical = column->logical;
            queue_hold(binder->queue, column);
        }
        add_column(binder, &all, column, slot);
    }
    set_file_columns(binder, &all, task, flow);
}

static void bind_last(struct binder *binder, const struct source_node *source, struct flow *flow)
{
    struct task *task = task_new(binder, "last", source->span, flow);
    if (binder->env->last) {
        bind_relation(binder, &source->name, binder->env->last, false, task, flow);
        return;
    }
    flow->open = true;
    bind_error(binder, source->span, "start with a source, such as `load PATH`",
               "there is no previous relation to continue from");
}

void bind_description(struct binder *binder, const struct stage *stage, const struct evaluated *evaluated,
                      const struct slot *keys, struct flow *flow)
{
    static const struct slot columns[] = {
#define DESCRIPTION_COLUMN(what, title, store, meaning)                                                                \
    {.name = (title), .type = (store), .known = true, .logical = {.kind = (meaning)}},
#include "engine/plan/description.def"
    };
    enum { COLUMNS = sizeof columns / sizeof *columns };
    struct slot *slots = arena_array(binder->arena, evaluated->key_count + COLUMNS, sizeof *slots);
    for (size_t k = 0; k < evaluated->key_count + COLUMNS; k++)
        slots[k] = k < evaluated->key_count ? keys[k] : columns[k - evaluated->key_count];
    bind_evaluated(binder, stage, evaluated, slots, evaluated->key_count + COLUMNS, flow);
}

static void bind_list_source(struct binder *binder, const struct source_node *source, struct flow *flow)
{
    struct task *task = task_new(binder, "list", source->span, flow);
    struct file_columns all = {.rows = (int64_t)source->item_count};
    struct slot slot;
    struct column *column = bind_list(binder, source, &slot);
    add_column(binder, &all, column, slot);
    flow->nameless = true;
    set_file_columns(binder, &all, task, flow);
}

static void bind_nested(struct binder *binder, const struct source_node *source, struct flow *flow)
{
    struct bound bound = {.show_rows = SHOW_SOME};
    const struct pipeline *pipeline = source->pipeline;
    bind_stages(binder, pipeline, flow, &bound);
    if (flow->ended)
        bind_error(binder, flow->last->span, "move it to the end of the statement",
                   "`%s` may only end a statement, not a nested pipeline", text_of_word(binder->arena, flow->last));
    else if (flow->scalar)
        bind_error(binder, flow->last->span, "name the value with `let` and use it in an expression",
                   "a relation is needed here, but `%s` gives a single value", text_of_word(binder->arena, flow->last));
    flow->open = flow->open || flow->ended || flow->scalar;
    flow->scalar = flow->ended = false;
}

/* SOURCE as NAME, where the source is not a file. */
static void name_column(struct binder *binder, const struct name *as, struct flow *flow)
{
    if (flow->open)
        return;
    if (flow->count != 1) {
        bind_error(binder, as->span, "use `map NAME as NAME, ...` to name several columns",
                   "`as` names one column, but there are %zu", flow->count);
        return;
    }
    flow->columns = arena_grow(binder->arena, flow->columns, 1 + flow->hidden, 1 + flow->hidden, sizeof *flow->columns);
    flow->columns[0].name = as->text;
    flow->task->outputs[0].name = as->text;
}

/* Columns that stand for those of a source whose rows go up to a server. */
static void bind_sent(struct binder *binder, const struct sent_source *sent, struct flow *flow)
{
    struct task *task = task_new(binder, "load", sent->node->span, flow);
    struct file_columns all = {.rows = TABLE_ROWS};
    for (size_t k = 0; k < sent->flow.count; k++) {
        struct column *column = sent->columns[k];
        queue_hold(binder->queue, column_ref(column));
        add_column(
            binder, &all, column,
            (struct slot){
                .name = sent->flow.columns[k].name, .type = column->type, .known = true, .logical = column->logical});
    }
    set_file_columns(binder, &all, task, flow);
}

/* A source that is run here. */
static void bind_own(struct binder *binder, const struct source_node *source, struct flow *flow)
{
    switch (source->kind) {
    case SOURCE_LOAD:
        bind_load(binder, source, flow);
        break;
    case SOURCE_RANGE:
        bind_range(binder, source, flow);
        break;
    case SOURCE_LITERAL:
        bind_list_source(binder, source, flow);
        break;
    case SOURCE_NAME:
        bind_let_relation(binder, source, flow);
        break;
    case SOURCE_PIPELINE:
        bind_nested(binder, source, flow);
        break;
    case SOURCE_LAST:
        bind_last(binder, source, flow);
        break;
    }
}

void bind_source(struct binder *binder, const struct source_node *source, struct flow *flow)
{
    const struct facts *facts = binder->facts;
    const struct sent_source *sent = facts->remote ? sent_find(facts->sent, source) : NULL;
    *flow = (struct flow){.rows = -1};
    if (sent)
        bind_sent(binder, sent, flow);
    else
        bind_own(binder, source, flow);
    if (source->as.text)
        name_column(binder, &source->as, flow);
}

void bind_members(struct binder *binder, const struct source_node *source, struct flow *flow)
{
    bind_source(binder, source, flow);
    if (flow->open || flow->count != 1 || flow->columns[0].validity == 0)
        return;
    struct task *task = task_reading(binder, "in", source->span, flow);
    struct term term = term_of_column(&task->code, flow, 0, source->span);
    task_filter(binder, task, term.present, task->span);
    term.present = NO_VALUE;
    term.settled = true;
    task_set_outputs(binder, task, flow, flow->columns, &term, 1);
    flow->rows = -1;
}
