#include "engine/run/provide.h"

#include "engine/formats/open_file.h"
#include "engine/run/run_bound.h"

struct facts facts_within(const struct facts *outer, const struct pipeline *pipeline)
{
    return (struct facts){
        .env = outer->env, .pipeline = pipeline, .within = true, .timing = outer->timing, .values = outer->values};
}

/* Computes the pipeline that is a value. */
static enum status compute_value(struct runner *runner, const struct facts *facts, struct pipeline_value *of,
                                 struct arena *arena, struct diags *diags)
{
    struct facts inner = facts_within(facts, of->expr->source->pipeline);
    struct result result;
    inner.value = of->expr;
    const enum status status = run_with_care(runner, &inner, NULL, arena, &result, diags);
    if (status != STATUS_OK)
        return status;
    of->known = KNOWN_VALUE;
    of->scalar = result.scalar;
    if (of->scalar.logical.kind == LOGICAL_TEXT && !of->scalar.missing)
        of->scalar.text.at = arena_text(arena, of->scalar.text.at, of->scalar.text.length);
    result_release(&result);
    return STATUS_OK;
}

/* The kind of a pipeline's value, from a check. */
static enum status check_value(const struct facts *facts, struct pipeline_value *of, struct arena *arena,
                               struct diags *diags)
{
    struct facts inner = facts_within(facts, of->expr->source->pipeline);
    struct bound bound;
    inner.value = of->expr;
    inner.checking = true;
    const enum status status = bind_ready(NULL, &inner, arena, &bound, diags);
    if (status == STATUS_OK && bound_is_value(&bound)) {
        const bool constant = bound.kind == BOUND_CONSTANT;
        of->known = constant ? KNOWN_VALUE : KNOWN_KIND;
        of->scalar =
            constant ? bound.scalar : (struct scalar){.kind = bound.scalar_kind, .logical = bound.scalar_logical};
    }
    queue_release(&bound.queue);
    return status;
}

/* Values that fail are known, too: by their errors. */
static enum status provide_values(struct runner *runner, const struct facts *facts, const struct needs *needs,
                                  struct arena *arena, struct diags *diags)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < needs->value_count && status != STATUS_CANCELLED; i++) {
        struct pipeline_value of = {.expr = needs->values[i]};
        struct diags own;
        diags_init(&own, arena);
        status = facts->runs ? compute_value(runner, facts, &of, arena, &own) : check_value(facts, &of, arena, &own);
        if (status == STATUS_OK)
            diags_append(diags, &own);
        else
            of.errors = own;
        pipeline_value_add(facts->values, &of, arena);
    }
    return status == STATUS_CANCELLED ? status : STATUS_OK;
}

/* The statement goes on with what was evaluated of its own source, of which it reads nothing: not even how many rows
 * there are. */
static void leave_source(struct facts *facts, const struct evaluated *evaluated)
{
    const struct source_node *source = &facts->rest->source, *own = &facts->pipeline->source;
    const struct source_node *of = &evaluated->pipeline->source;
    const struct name *written =
        source->kind == SOURCE_LOAD && source->path_count == 1 ? &source->paths->path : &source->name;
    for (size_t i = 0; i < facts->sources.count; i++) {
        struct source_file *file = &facts->sources.files[i];
        if (own->kind == of->kind && own->paths == of->paths && own->name.text == of->name.text &&
            file->written == written)
            file->outdated = false;
    }
}

/* Has a server say what `describe` or `hist` gives. STATUS_UNABLE: it does not. */
static enum status provide_by_server(struct runner *runner, struct facts *facts, struct evaluated *evaluated,
                                     struct arena *arena)
{
    struct relation *relation = NULL;
    struct description *description;
    enum status status = STATUS_UNABLE;
    if (evaluated->bins > 0) {
        status = hist_by_server(runner, facts, evaluated->pipeline, evaluated->bins, arena, &relation);
        evaluated->here = status == STATUS_UNABLE;
    } else if (evaluated->described && evaluated->key_count == 0) {
        status = describe_by_server(runner, facts, evaluated->pipeline, arena, &description);
        relation = status == STATUS_OK ? description_relation(description, arena) : NULL;
    }
    if (relation) {
        evaluated_set(evaluated, relation, arena);
        leave_source(facts, evaluated);
    }
    return status;
}

static enum status provide_relations(struct runner *runner, struct facts *facts, struct arena *arena,
                                     struct diags *diags)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < facts->evaluations.count && status == STATUS_OK; i++) {
        struct evaluated *evaluated = facts->evaluations.at[i];
        if (!evaluated_lacks(evaluated))
            continue;
        status = provide_by_server(runner, facts, evaluated, arena);
        if (status != STATUS_UNABLE)
            continue;
        status = STATUS_OK;
        if (evaluated->here)
            continue;
        struct facts inner = facts_within(facts, evaluated->pipeline);
        struct result result;
        inner.wanted = evaluated_again(evaluated);
        if (evaluated->described)
            inner.wanted = NULL;
        inner.any_order = inner.wanted;
        if (inner.wanted)
            inner.ordered_count = evaluated_ordered(evaluated, arena, &inner.ordered);
        status = run_with_care(runner, &inner, NULL, arena, &result, diags);
        if (status == STATUS_OK && evaluated->described)
            status = describe_as_relation(runner, evaluated, arena, &result, diags);
        if (status == STATUS_OK)
            evaluated_set(evaluated, result.relation, arena);
        if (status == STATUS_OK && evaluated->described)
            leave_source(facts, evaluated);
    }
    return status;
}

enum { TOLD_BYTES = 1000000 };

static int64_t bytes_of_servers(const struct env *env)
{
    const struct table_source *tables = file_cache_tables(env->file_cache);
    return tables && tables->traffic ? tables->traffic(tables->servers).bytes : 0;
}

/* Tells why rows of a table have come, or would have, that a server could have kept. */
static void tell_traffic(const struct facts *facts, int64_t bytes, bool refused, struct diags *diags)
{
    const int64_t megabyte = 1000000;
    const struct span stage = facts->stopped;
    const char *why = facts->refusal ? arena_printf(diags->arena, ": %s", facts->refusal) : "";
    if (!stage.source)
        return;
    if (refused)
        diag_note(diags, stage, "the server cannot run this stage%s", why);
    else if (bytes >= TOLD_BYTES)
        diag_note(diags, stage, "%lld MB came over, because the server cannot run this stage%s",
                  (long long)(bytes / megabyte), why);
}

static enum status provide_columns(struct runner *runner, struct facts *facts, const struct queue *queue,
                                   struct needs *needs, struct arena *arena, struct diags *diags)
{
    enum status status = STATUS_OK;
    const int64_t before = bytes_of_servers(facts->env);
    const size_t told = diags->count;
    bool known = false; /* something else, which may change what is needed */
    if (needs->counts)
        status = sources_count(&facts->sources, facts->env, &known, diags);
    if (needs->narrow)
        status = narrow_sources(runner, &facts->sources, queue, &needs->columns, &known, arena, diags);
    if (status == STATUS_OK && !known)
        status = sources_read(&facts->sources, facts->env, &needs->columns, facts->timing, diags);
    facts->broken = status == STATUS_FAILED && facts->rest != facts->pipeline;
    if (status == STATUS_OK || diags->count > told)
        tell_traffic(facts, bytes_of_servers(facts->env) - before, status != STATUS_OK, diags);
    return status;
}

static enum status provide_need(struct runner *runner, struct facts *facts, const struct bound *bound,
                                struct needs *needs, struct arena *arena, struct diags *diags)
{
    switch (needs->what) {
    case NEED_NOTHING:
        break;
    case NEED_FILES:
        return facts_open(facts, arena, diags);
    case NEED_CHOICE:
        return choose_files(facts->env, &facts->sources, needs->chooses ? &bound->queue : NULL, facts->timing, arena,
                            diags);
    case NEED_SERVER:
        return ask_server(facts, needs->part, arena, diags);
    case NEED_VALUES:
        return provide_values(runner, facts, needs, arena, diags);
    case NEED_COLUMNS:
        return provide_columns(runner, facts, &bound->queue, needs, arena, diags);
    case NEED_RELATIONS:
        return provide_relations(runner, facts, arena, diags);
    case NEED_ROW_TEXTS:
        return provide_row_texts(runner, facts, &bound->queue, needs, arena, diags);
    case NEED_ORDER:
        return order_texts(runner, facts, diags);
    }
    return STATUS_OK;
}

enum status provide(struct runner *runner, struct facts *facts, const struct bound *bound, struct needs *needs,
                    struct arena *arena, struct diags *diags)
{
    file_cache_set_progress(facts->env->file_cache, runner ? runner->progress : NULL);
    const enum status status = provide_need(runner, facts, bound, needs, arena, diags);
    file_cache_set_progress(facts->env->file_cache, NULL);
    return status;
}
