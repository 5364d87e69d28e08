#include "sql/lower/expression_internal.h"

#include <string.h>

/* Counts how often the text reads its arguments. */
static void count_readers(struct sql_expressions *expressions, value v, const struct form *form, const char *text)
{
    for (const char *at = text; at && *at; at++) {
        if (*at != '$')
            continue;
        const char c = *++at;
        if (c == 'f')
            count_readers(expressions, v, form, form->as->fails);
        else if (c == 'r')
            expressions->said[v].readers++;
        else if (c != 'z')
            expressions->said[form->instr->args[c == 's' ? 1 : c >= 'a' ? c - 'a' : c - 'A']].readers++;
    }
}

static void count_all(struct sql_expressions *expressions, const bool *live)
{
    const struct task *task = expressions->task;
    for (value v = 0; v < expressions->code->count; v++) {
        const struct instr *instr = &expressions->code->at[v];
        struct form form;
        if (!live[v] || !expression_form(expressions, v, &form))
            continue;
        count_readers(expressions, v, &form, form.value);
        if (instr->checked)
            count_readers(expressions, v, &form, form.as->fails);
        if (instr->checked && instr->guard != NO_VALUE)
            expressions->said[instr->guard].readers++;
    }
    for (size_t i = 0; i < task->filter_count; i++)
        expressions->said[task->filters[i].keep].readers++;
    for (size_t i = 0; i < task->output_count && task->sink == SINK_ROWS; i++) {
        if (task->outputs[i].needed)
            expressions->said[task->outputs[i].value].readers++;
    }
    for (size_t i = 0; i < task->aggregate_count; i++) {
        if (task->aggregates[i].value != NO_VALUE)
            expressions->said[task->aggregates[i].value].readers++;
    }
}

/* Whether a value is to be a column of a subquery. */
static bool is_shared(const struct sql_expressions *expressions, value v)
{
    const struct said *said = &expressions->said[v];
    const enum op op = expressions->code->at[v].op;
    const bool is_long = said->text && strlen(said->text) > SHORT;
    return is_long && op != OP_INPUT && op != OP_CONST && (said->readers > 1 || said->depth == DEEPEST);
}

const char *sql_share(struct sql_expressions *expressions, const bool *live, const char *from)
{
    const int32_t count = expressions->code->count;
    struct strbuf layers[MOST_LAYERS] = {{0}}, out = {0};
    int depth = 0;
    count_all(expressions, live);
    for (value v = 0; v < count; v++) {
        struct said *said = &expressions->said[v];
        if (!live[v])
            continue;
        expression_say(expressions, v);
        if (!is_shared(expressions, v) || said->layer == MOST_LAYERS)
            continue;
        const char *name = arena_printf(expressions->arena, "rql_e%zu_%d", expressions->task->number, (int)v);
        strbuf_printf(&layers[said->layer], ", %s AS %s", said->text, name);
        *said = (struct said){.text = name,
                              .layer = said->layer + 1,
                              .readers = said->readers,
                              .is_text = said->is_text,
                              .fails = said->fails};
        depth = said->layer > depth ? said->layer : depth;
    }
    for (int i = depth; i-- > 0;)
        strbuf_printf(&out, "(SELECT *%s FROM ", layers[i].text);
    strbuf_puts(&out, from);
    for (int i = 0; i < depth; i++) {
        strbuf_putc(&out, ')');
        strbuf_free(&layers[i]);
    }
    const char *shared = expression_keep(expressions, &out);
    if (!shared)
        expressions->refusal = "a long expression";
    return shared;
}
