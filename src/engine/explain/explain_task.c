/* A task as text. Names are RubiCL's: a task that maps and then filters is a MappingFilter. */
#include "engine/explain/explain_task.h"
#include "engine/formats/open_file.h"

#include "base/text.h"
#include "engine/plan/combining.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { MAX_NAMES = 8, MAX_PARTS = 5, MAX_BYTES = 90 };

static const struct logical_type number = {.kind = LOGICAL_NUMBER};

/* How a stage contributes to a task's name. */
enum role {
    ROLE_OTHER,  /* always named */
    ROLE_SOURCE, /* named if nothing else is */
    ROLE_CHOICE, /* likewise; only selects columns */
    ROLE_MAP,
    ROLE_FILTER
};

/* Stages whose name in a listing is not their word capitalised. */
static const struct naming {
    const char *word;
    const char *name;
    enum role role;
} namings[] = {
    {"select", "Filter", ROLE_FILTER}, {"reject", "Filter", ROLE_FILTER}, {"map", "Map", ROLE_MAP},
    {"derive", "Map", ROLE_MAP},       {"braid", "Braid", ROLE_MAP},      {"load", "Load", ROLE_SOURCE},
    {"range", "Range", ROLE_SOURCE},   {"let", "Let", ROLE_SOURCE},       {"last", "Last", ROLE_SOURCE},
    {"list", "List", ROLE_SOURCE},     {"zip", "Zip", ROLE_SOURCE},       {"fsts", "Fsts", ROLE_CHOICE},
    {"snds", "Snds", ROLE_CHOICE},     {"nth", "Nth", ROLE_CHOICE},       {"pick", "Pick", ROLE_CHOICE},
};

static enum role role_of(const struct stage_mark *stage)
{
    const struct naming *naming = TABLE_ROW(namings, stage->name);
    return naming ? naming->role : ROLE_OTHER;
}

static void add_stage_name(struct strbuf *out, const struct stage_mark *stage)
{
    const struct naming *naming = TABLE_ROW(namings, stage->name);
    if (naming) {
        strbuf_puts(out, naming->name);
        return;
    }
    char *place = strbuf_reserve(out, 1);
    *place = (char)toupper((unsigned char)stage->name[0]);
    strbuf_commit(out, 1);
    if (stage->name[0] != '\0')
        strbuf_add_visible(out, stage->name + 1, strlen(stage->name + 1));
}

static bool is_minor(enum role role)
{
    return role == ROLE_SOURCE || role == ROLE_CHOICE;
}

/* Several stages: runs of maps and of filters count once, a map before a filter gives a mapping filter, and sources are
 * left out unless there is nothing else. */
static void add_joined_name(struct strbuf *out, const struct task *task)
{
    bool all_minor = true;
    for (size_t i = 0; i < task->stage_count; i++)
        all_minor = all_minor && is_minor(role_of(&task->stages[i]));
    enum role last = ROLE_OTHER;
    int parts = 0;
    for (size_t i = 0; i < task->stage_count; i++) {
        const enum role role = role_of(&task->stages[i]);
        if ((is_minor(role) && !all_minor) || (parts > 0 && role != ROLE_OTHER && role == last))
            continue;
        if (role == ROLE_FILTER && last == ROLE_MAP) {
            /* ends in "Map" or "Braid" */
            strbuf_puts(out, out->text[out->length - 1] == 'p' ? "pingFilter" : "ingFilter");
            last = role;
            continue;
        }
        if (parts == MAX_PARTS) {
            strbuf_puts(out, "+…");
            return;
        }
        strbuf_puts(out, parts++ > 0 ? "+" : "");
        add_stage_name(out, &task->stages[i]);
        last = role;
    }
}

void task_title(struct strbuf *out, const struct task *task)
{
    if (task->stage_count == 0)
        strbuf_puts(out, task->sink == SINK_AGGREGATE ? "Aggregate" : task->filter_count > 0 ? "Filter" : "Map");
    else if (task->stage_count == 1)
        add_stage_name(out, &task->stages[0]);
    else
        add_joined_name(out, task);
}

/* Appends text, truncated at a character boundary. */
static void add_cut(struct strbuf *out, const char *text, size_t length)
{
    size_t most = length;
    if (length > MAX_BYTES) {
        most = MAX_BYTES;
        while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80)
            most--;
    }
    strbuf_add(out, text, most);
    if (most < length)
        strbuf_puts(out, "…");
}

static void add_name(struct strbuf *out, const char *name)
{
    if (name)
        strbuf_add_visible(out, name, strlen(name));
}

const char *const *task_input_names(const struct task *task)
{
    const char **names = arena_array(task->code.arena, task->input_count + 1, sizeof *names);
    for (size_t k = 0; k < task->input_count; k++)
        names[k] = task->inputs[k].name ? task->inputs[k].name : "?";
    return names;
}

/* A value that stands for `as`. */
static void add_value_as(struct strbuf *out, const struct task *task, value v, const char *const *names,
                         struct logical_type as)
{
    struct strbuf text = {0};
    struct logical_type *logicals = arena_array(task->code.arena, task->input_count + 1, sizeof *logicals);
    for (size_t k = 0; k < task->input_count; k++)
        logicals[k] = input_logical(&task->inputs[k]);
    code_print_as(&text, &task->code, v, names, logicals, as);
    add_cut(out, text.text, text.length);
    strbuf_free(&text);
}

static void add_value(struct strbuf *out, const struct task *task, value v, const char *const *names)
{
    add_value_as(out, task, v, names, number);
}

/* Filters joined by &&, in parentheses where needed. */
static void add_filters(struct strbuf *out, const struct task *task, const char *const *names)
{
    for (size_t i = 0; i < task->filter_count; i++) {
        if (i == MAX_NAMES) {
            strbuf_printf(out, " && … %zu more", task->filter_count - MAX_NAMES);
            return;
        }
        const enum op op = task->code.at[task->filters[i].keep].op;
        const bool parentheses = task->filter_count > 1 && (op == OP_OR || op == OP_SELECT);
        strbuf_puts(out, i > 0 ? " && " : "");
        strbuf_puts(out, parentheses ? "(" : "");
        add_value(out, task, task->filters[i].keep, names);
        strbuf_puts(out, parentheses ? ")" : "");
    }
}

/* A bare input under its own name. */
static bool is_copied(const struct task *task, const struct output *output, const char *const *names)
{
    const struct instr *instr = &task->code.at[output->value];
    return instr->op == OP_INPUT && output->name && strcmp(names[instr->integer], output->name) == 0;
}

/* Outputs and how they are computed; `all`: also those that are only copied. */
static bool add_outputs(struct strbuf *out, const struct task *task, const char *const *names, bool all)
{
    size_t count = 0;
    for (size_t k = 0; k < task->output_count; k++) {
        const struct output *output = &task->outputs[k];
        const bool copied = is_copied(task, output, names);
        if (!output->needed || (copied && !all) || count++ >= MAX_NAMES)
            continue;
        strbuf_puts(out, count > 1 ? ", " : "");
        add_name(out, output->name);
        if (!copied) {
            strbuf_puts(out, " = ");
            /* Where values are missing, 0 is in their place. */
            const struct logical_type as = output->validity == 0 ? output->logical : number;
            add_value_as(out, task, output->value, names, as);
        }
    }
    if (count > MAX_NAMES)
        strbuf_printf(out, ", … %zu more", count - MAX_NAMES);
    return count > 0;
}

static void add_initial(struct strbuf *out, const struct aggregate *aggregate)
{
    if (!aggregate->has_initial)
        return;
    strbuf_puts(out, " from ");
    scalar_print(out, &aggregate->initial);
}

static void add_aggregate(struct strbuf *out, const struct task *task, const struct aggregate *aggregate,
                          const char *const *names)
{
    strbuf_printf(out, "%s(", aggregate_table[aggregate->kind].word);
    if (aggregate->kind == AGG_QUANTILE)
        strbuf_printf(out, "%g, ", aggregate->quantile);
    if (aggregate->value != NO_VALUE)
        add_value(out, task, aggregate->value, names);
    if (aggregate->kind == AGG_CORR) {
        strbuf_puts(out, ", ");
        add_value(out, task, aggregate->other, names);
    }
    strbuf_putc(out, ')');
    add_initial(out, aggregate);
}

static void add_aggregates(struct strbuf *out, const struct task *task, const char *const *names)
{
    for (size_t k = 0; k < task->aggregate_count; k++) {
        if (k == MAX_NAMES) {
            strbuf_printf(out, ", … %zu more", task->aggregate_count - MAX_NAMES);
            return;
        }
        strbuf_puts(out, k > 0 ? ", " : "");
        add_aggregate(out, task, &task->aggregates[k], names);
    }
}

static void add_key(struct strbuf *out, const struct task *task, size_t i)
{
    const struct column_operator *column_op = task->column_op;
    const char *name = task->inputs[column_op->keys[i]].name;
    strbuf_puts(out, i > 0 ? ", " : "");
    add_name(out, name ? name : "?");
    strbuf_puts(out, column_op->descending[i] ? " desc" : "");
}

/* "+ of ids exclusive from 5": the operation of a scan and its rows. */
static void add_scan(struct strbuf *out, const struct task *task)
{
    const struct column_operator *column_op = task->column_op;
    const struct aggregate *aggregate = &task->aggregates[0];
    const char *op = aggregate_table[aggregate->kind].op;
    strbuf_printf(out, "%s of ", op ? op : "a function");
    add_key(out, task, 0);
    strbuf_puts(out, column_op->exclusive ? " exclusive" : "");
    add_initial(out, aggregate);
    if (column_op->segment > 0 && column_op->stride == 1)
        strbuf_printf(out, " along rows of %" PRId64, column_op->segment);
    if (column_op->stride > 1)
        strbuf_printf(out, " along %" PRId64 " columns", column_op->stride);
    if (column_op->segment > 0 && column_op->stride > 1)
        strbuf_printf(out, " of every %" PRId64 " rows", column_op->segment);
}

/* "mean of price over -19..0 of time" */
static void add_moving(struct strbuf *out, const struct task *task)
{
    const struct moving_operator *moving = &task->column_op->moving;
    size_t values = moving_input(task->column_op, MOVING_VALUES), times = moving_input(task->column_op, MOVING_TIMES);
    if (moving->kind == AGG_LEADING) {
        strbuf_printf(out, "%" PRId64 " %s of %s in each group", moving->leading,
                      moving->smallest ? "smallest" : "largest", task->inputs[values].name);
        return;
    }
    const size_t others = moving_input(task->column_op, MOVING_OTHERS);
    strbuf_puts(out, aggregate_table[moving->kind].word);
    if (moving->kind == AGG_QUANTILE)
        strbuf_printf(out, " %g", moving->share);
    if (values != SIZE_MAX)
        strbuf_printf(out, " of %s", task->inputs[values].name);
    if (others != SIZE_MAX)
        strbuf_printf(out, ", %s", task->inputs[others].name);
    strbuf_puts(out, " over ");
    if (!moving->from_first)
        strbuf_printf(out, "%" PRId64, moving->first);
    strbuf_puts(out, "..");
    if (!moving->to_last)
        strbuf_printf(out, "%" PRId64, moving->last);
    if (times != SIZE_MAX)
        strbuf_printf(out, moving->only_sorted ? ", %s sorted" : " of %s", task->inputs[times].name);
    if (moving->has[MOVING_GROUPS])
        strbuf_puts(out, " in each group");
}

/* What stands before an operator's keys. */
static const char *words_of(const struct column_operator *column_op)
{
    switch (column_op->kind) {
#define OPERATOR(kind, name, outputs, rows, words, ...)                                                                \
    case OPERATOR_##kind:                                                                                              \
        return words;
#include "engine/plan/operators.def"
    case OPERATOR_KINDS:
        break;
    }
    return "";
}

/* An operator with its keys in order. */
static void add_operator(struct strbuf *out, const struct task *task)
{
    const struct column_operator *column_op = task->column_op;
    if (column_op->kind == OPERATOR_SCAN) {
        add_scan(out, task);
        return;
    }
    if (column_op->kind == OPERATOR_MOVING) {
        add_moving(out, task);
        return;
    }
    const bool matches = column_op->kind == OPERATOR_MATCH;
    const size_t count = matches ? column_op->match->key_count : column_op->key_count;
    strbuf_puts(out, words_of(column_op));
    for (size_t i = 0; i < count && i < MAX_NAMES; i++)
        add_key(out, task, matches ? i * MATCH_KEY_INPUTS : i);
    if (count > MAX_NAMES)
        strbuf_printf(out, ", … %zu more", count - MAX_NAMES);
    strbuf_puts(out, column_op->unordered ? "  in any order" : "");
    if (column_op->first > 0)
        strbuf_printf(out, "  first %" PRId64, column_op->first);
    if (column_op->into >= 0 && column_op->kind != OPERATOR_EXPAND)
        strbuf_printf(out, column_op->kind == OPERATOR_HIST ? " in %" PRId64 : " into %" PRId64, column_op->into);
}

/* The stage's text after its word. */
static void add_stage_rest(struct strbuf *out, const struct stage_mark *stage)
{
    const char *text = stage->text ? stage->text : "";
    const bool is_name = strcmp(stage->name, "let") == 0;
    size_t word = 0;
    while (isalpha((unsigned char)text[word]) || text[word] == '_')
        word++;
    if (is_name)
        word = 0;
    else if (text[word] == '\0')
        return;
    if (word > 0 && text[word] == ' ')
        text += word + 1;
    struct strbuf visible = {0};
    strbuf_add_visible(&visible, text, strlen(text));
    add_cut(out, visible.text, visible.length);
    strbuf_free(&visible);
}

static bool is_stage(const struct task *task, const char *name)
{
    return task->stage_count == 1 && strcmp(task->stages[0].name, name) == 0;
}

/* For a group, also its aggregates. */
static void add_operator_detail(struct strbuf *out, const struct task *task, const char *const *names)
{
    add_operator(out, task);
    if (task->column_op->kind != OPERATOR_GROUP || task->aggregate_count == 0)
        return;
    strbuf_puts(out, ": ");
    add_aggregates(out, task, names);
}

void task_detail(struct strbuf *out, const struct task *task)
{
    const char *const *names = task_input_names(task);
    const bool aggregates = task->aggregate_count > 0 && task->aggregates[0].value != NO_VALUE;
    if (task->stage_count > 0 && task->stages[0].how)
        strbuf_puts(out, task->stages[0].how);
    else if (task->sink == SINK_OPERATOR)
        add_operator_detail(out, task, names);
    else if (task->filter_count > 0)
        add_filters(out, task, names);
    else if (aggregates && !is_stage(task, "reduce"))
        add_value(out, task, task->aggregates[0].value, names);
    else if (task->stage_count > 0 && role_of(&task->stages[0]) != ROLE_MAP)
        add_stage_rest(out, &task->stages[0]);
    else
        add_outputs(out, task, names, false);
}

/* The name of the type that the input's column shows. */
static const char *type_of_input(const struct input *input)
{
    struct logical_type logical = {.kind = LOGICAL_NUMBER};
    if (input->task && input->output < input->task->output_count)
        logical = input->task->outputs[input->output].logical;
    else if (input->column)
        logical = input->column->logical;
    return logical_type_name(logical, input->type);
}

void task_reads(struct strbuf *out, const struct task *task)
{
    const char *const *names = task_input_names(task);
    for (size_t k = 0; k < task->input_count && k < MAX_NAMES; k++) {
        const struct input *input = &task->inputs[k];
        strbuf_puts(out, k > 0 ? ", " : "reads ");
        add_name(out, names[k]);
        strbuf_printf(out, "%s:%s", input->whole ? "[]" : "", type_of_input(input));
        if (input->task)
            strbuf_printf(out, " of %zu", input->task->number + 1);
    }
    if (task->input_count > MAX_NAMES)
        strbuf_printf(out, ", … %zu more", task->input_count - MAX_NAMES);
    if (task->input_count == 0 && task->rows_from)
        strbuf_printf(out, "reads rows of %zu", task->rows_from->number + 1);
    for (size_t i = 0; i < task->equal_count && i < MAX_NAMES; i++)
        strbuf_printf(out, "%s%zu", i > 0 ? ", " : "  same row count as ", task->equals[i]->number + 1);
    if (task->first > 0)
        strbuf_printf(out, "%sfrom row %" PRId64, out->length > 0 ? "  " : "", task->first);
    if (task->rows > TABLE_ROWS / 2)
        strbuf_printf(out, "%sall rows", out->length > 0 ? "  " : "");
    else if (task->rows >= 0)
        strbuf_printf(out, "%s%" PRId64 " row%s", out->length > 0 ? "  " : "", task->rows, task->rows == 1 ? "" : "s");
    else if (task->limit != INT64_MAX)
        strbuf_printf(out, "%sat most %" PRId64 " rows", out->length > 0 ? "  " : "", task->limit);
}

void task_keeps(struct strbuf *out, const struct task *task)
{
    if (task->filter_count > 0) {
        strbuf_puts(out, "keep ");
        add_filters(out, task, task_input_names(task));
    }
    if (task->sink == SINK_OPERATOR)
        add_operator(out, task);
    const struct window *window = &task->window;
    if (window->skip > 0)
        strbuf_printf(out, "%sskip %" PRId64, out->length > 0 ? "  " : "", window->skip);
    if (window->take != INT64_MAX)
        strbuf_printf(out, "%stake %" PRId64, out->length > 0 ? "  " : "", window->take);
    if (window->tail >= 0)
        strbuf_printf(out, "%stail %" PRId64, out->length > 0 ? "  " : "", window->tail);
}

/* An operator's outputs by name; for a group, with their aggregates. */
static void add_operator_outputs(struct strbuf *out, const struct task *task, const char *const *names)
{
    const bool groups = task->column_op->kind == OPERATOR_GROUP;
    size_t count = 0;
    for (size_t k = 0; k < task->output_count; k++) {
        if (!task->outputs[k].needed || count++ >= MAX_NAMES)
            continue;
        strbuf_puts(out, count > 1 ? ", " : "");
        add_name(out, task->outputs[k].name);
        if (groups && k >= task->column_op->key_count) {
            strbuf_puts(out, " = ");
            add_aggregate(out, task, &task->aggregates[k - task->column_op->key_count], names);
        }
    }
    if (count > MAX_NAMES)
        strbuf_printf(out, ", … %zu more", count - MAX_NAMES);
    strbuf_puts(out, count == 0 ? "rows" : "");
}

void task_result_text(struct strbuf *out, const struct task *task)
{
    const char *const *names = task_input_names(task);
    strbuf_puts(out, "gives ");
    if (task->sink == SINK_AGGREGATE)
        add_aggregates(out, task, names);
    else if (task->sink == SINK_OPERATOR)
        add_operator_outputs(out, task, names);
    else if (!add_outputs(out, task, names, true))
        strbuf_puts(out, "rows");
}

/* The names of the outputs that are needed, or of the others. */
static size_t add_output_names(struct strbuf *out, const struct task *task, bool needed, const char *before)
{
    size_t count = 0;
    for (size_t k = 0; k < task->output_count; k++) {
        if (task->outputs[k].needed != needed || count++ >= MAX_NAMES)
            continue;
        strbuf_puts(out, count > 1 ? ", " : before);
        add_name(out, task->outputs[k].name);
    }
    if (count > MAX_NAMES)
        strbuf_printf(out, ", … %zu more", count - MAX_NAMES);
    return count;
}

void task_result_names(struct strbuf *out, const struct task *task)
{
    if (task->sink == SINK_AGGREGATE)
        return;
    const bool any = add_output_names(out, task, true, "") > 0;
    add_output_names(out, task, false, any ? "  drops " : "drops ");
}
