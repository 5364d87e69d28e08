
#include "repl/print/number_format.h"
#include "repl/print/text_table.h"
#include "repl/session/measure.h"

#include "engine/storage/residency.h"
#include "parser/parse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_ENTRANTS = 9,
    MAX_RUNS = 7,
    PART = 16, /* the smaller of the two sizes has rows / PART rows */
    MIN_ROWS = 16 * PART,
    READ_BYTES = 256 << 20,
    MIN_READ_BYTES = 1 << 16
};
static const int64_t ENOUGH_NS = 700000000; /* spent on one query and backend */

/* A backend in the race. */
struct entrant {
    char name[64];
    struct backend *device; /* NULL: the evaluator */
    enum backend_class class;
    struct phase_times first; /* of the first run, which builds programs and uploads columns */
    int64_t first_ns;
    struct phase_times best; /* of the fastest later run */
    int64_t best_ns;
    int64_t part_ns;  /* best_ns on the first rows only; 0: not measured */
    double bandwidth; /* bytes/ns that the backend can read */
};

struct race {
    struct session *session;
    struct stmt query; /* the pipeline, without `race` */
    struct arena *arena;
    struct diags *diags;
    struct result reference; /* of the evaluator */
    int64_t rows;            /* read by the first task */
    struct entrant entrants[MAX_ENTRANTS];
    size_t count;
};

static struct runner runner_for(const struct race *race, const struct entrant *entrant)
{
    struct runner runner = race->session->runner;
    runner.device = entrant->device;
    runner.chooser = NULL;
    runner.no_wait = false;
    return runner;
}

/* 0.0 and -0.0 differ, all NaN are equal. */
static bool same_numbers(double a, double b)
{
    return (a == b && signbit(a) == signbit(b)) || (isnan(a) && isnan(b));
}

/* Backends may store the same values in different widths. */
static bool same_columns(const struct column *a, const struct column *b, const atomic_int *cancel)
{
    const bool number = type_table[a->type].kind == KIND_FLOAT;
    if (a->type != b->type || a->rows != b->rows)
        return false;
    if (a->store == b->store &&
        (a->rows == 0 || memcmp(a->data, b->data, (size_t)a->rows * type_table[a->store].size) == 0))
        return true;
    for (int64_t row = 0; row < a->rows && !*cancel; row++) {
        if (number ? !same_numbers(column_get_float(a, row), column_get_float(b, row))
                   : column_get_int(a, row) != column_get_int(b, row))
            return false;
    }
    return true;
}

static bool same_results(const struct race *race, const struct result *a, const struct result *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == RESULT_SCALAR) {
        const bool number = a->scalar.kind == KIND_FLOAT;
        return a->scalar.kind == b->scalar.kind &&
               (number ? same_numbers(a->scalar.number, b->scalar.number) : a->scalar.integer == b->scalar.integer);
    }
    const struct relation *left = a->relation, *right = b->relation;
    bool same = left->count == right->count && left->rows == right->rows;
    for (size_t k = 0; same && k < left->count; k++)
        same = same_columns(left->columns[k], right->columns[k], race->session->platform->cancel);
    return same;
}

/* Compares with the evaluator's result; the evaluator runs first. */
static enum status check_result(struct race *race, const struct entrant *entrant, struct result *result)
{
    struct span span = race->query.span;
    enum status status = STATUS_OK;
    if (result->kind == RESULT_RELATION)
        status = relation_fetch(result->relation, 0, result->relation->rows, span, race->diags);
    if (status != STATUS_OK)
        return status;
    if (race->reference.kind == RESULT_NONE) {
        race->reference = *result;
        *result = (struct result){.kind = RESULT_NONE};
    } else if (!same_results(race, &race->reference, result)) {
        return diag_error_hint(race->diags, span, "this is a bug in rql or in the device's driver; please report it",
                               "the result of %s differs from the evaluator's", entrant->name);
    }
    return STATUS_OK;
}

/* The fastest of several runs. */
static enum status run_repeated(const struct race *race, const struct entrant *entrant, const struct stmt *query,
                                struct phase_times *best, int64_t *best_ns, struct diags *diags)
{
    const struct runner runner = runner_for(race, entrant);
    struct measurements runs;
    const enum status status = measure_repeated(&runner, query, MAX_RUNS, ENOUGH_NS, race->arena, &runs, diags);
    if (status == STATUS_OK) {
        *best = runs.best;
        *best_ns = runs.ns[0];
    }
    return status;
}

/* The query on the first rows only: inserts `take` after the source and its `zip` stages. */
static struct stmt shorten_query(const struct race *race)
{
    const struct pipeline *whole = race->query.pipeline;
    struct pipeline *pipeline = arena_alloc(race->arena, sizeof *pipeline);
    struct expr *count = arena_alloc(race->arena, sizeof *count);
    struct item *item = arena_alloc(race->arena, sizeof *item);
    size_t at = 0;
    while (at < whole->stage_count && whole->stages[at].word->stage == STAGE_ZIP)
        at++;
    *count = (struct expr){.kind = EXPR_INT, .span = whole->span, .integer = race->rows / PART, .depth = 1};
    *item = (struct item){.expr = count, .span = whole->span};
    *pipeline = *whole;
    pipeline->stages = arena_array(race->arena, whole->stage_count + 1, sizeof *pipeline->stages);
    pipeline->stage_count = whole->stage_count + 1;
    for (size_t i = 0; i < whole->stage_count; i++)
        pipeline->stages[i + (i >= at)] = whole->stages[i];
    pipeline->stages[at] = (struct stage){.word = word_find("take", strlen("take")),
                                          .span = whole->span,
                                          .word_span = whole->span,
                                          .items = item,
                                          .item_count = 1};
    struct stmt part = race->query;
    part.pipeline = pipeline;
    return part;
}

/* A query may fail on fewer rows, as with a later `zip`; then nothing is estimated. */
static enum status run_part(const struct race *race, struct entrant *entrant)
{
    if (race->rows < MIN_ROWS)
        return STATUS_OK;
    struct stmt part = shorten_query(race);
    const struct runner runner = runner_for(race, entrant);
    struct diags ignored;
    struct measurement first;
    struct phase_times times;
    struct result result;
    diags_init(&ignored, race->arena);
    enum status status = measure_once(&runner, &part, race->arena, &first, &result, &ignored);
    result_release(&result);
    if (status == STATUS_OK)
        status = run_repeated(race, entrant, &part, &times, &entrant->part_ns, &ignored);
    return status == STATUS_CANCELLED ? status : STATUS_OK;
}

static enum status run_entrant(struct race *race, struct entrant *entrant)
{
    const struct runner runner = runner_for(race, entrant);
    struct measurement first;
    struct result result;
    enum status status = measure_once(&runner, &race->query, race->arena, &first, &result, race->diags);
    if (status == STATUS_OK) {
        entrant->first = first.times;
        entrant->first_ns = first.ns;
        if (!entrant->device && first.trace.count > 0)
            race->rows = first.trace.tasks[0].rows_in;
        status = check_result(race, entrant, &result);
    }
    result_release(&result);
    if (status == STATUS_OK)
        status = run_repeated(race, entrant, &race->query, &entrant->best, &entrant->best_ns, race->diags);
    return status == STATUS_OK ? run_part(race, entrant) : status;
}

/* How fast a device reads a resident column: the simplest query. */
static double device_bandwidth(const struct race *race, const struct entrant *entrant)
{
    static const char text[] = "race_column | max";
    const struct source source = {"", text, sizeof text - 1};
    struct diags ignored;
    struct stmt *query;
    diags_init(&ignored, race->arena);
    struct column *column = column_reserve(TYPE_I64, TYPE_I64, READ_BYTES / 8);
    if (!column || parse(&source, PARSE_SCRIPT, race->arena, &ignored, &query) != PARSE_OK) {
        column_unref(column);
        return 0;
    }
    column_finish(column, READ_BYTES / 8);
    const char *name = "race_column";
    struct relation *relation = relation_new(column->rows, 1, &column, &name);
    struct race trial = *race;
    struct session session = *race->session;
    session.runner.env = env_copy(race->session->runner.env);
    env_set_relation(session.runner.env, name, relation);
    trial.session = &session;
    struct phase_times times;
    int64_t ns;
    const enum status status = run_repeated(&trial, entrant, query, &times, &ns, &ignored);
    env_free(session.runner.env);
    relation_unref(relation);
    column_unref(column);
    const bool known = status == STATUS_OK && times.ns[PHASE_KERNEL] > 0;
    return known ? (double)times.bytes / (double)times.ns[PHASE_KERNEL] : 0;
}

/* Bytes/ns of the fastest run; 0: unknown. */
static double rate_of(const struct entrant *entrant)
{
    const int64_t kernel = entrant->best.ns[PHASE_KERNEL];
    return kernel > 0 ? (double)entrant->best.bytes / (double)kernel : 0;
}

/* The highest rate measured, by the query itself or by a plain read. CPUs read as many bytes as the query does, because
 * what fits their caches is read faster. */
static void find_bandwidths(struct race *race)
{
    int64_t bytes = race->entrants[0].best.bytes;
    bytes = bytes < MIN_READ_BYTES ? MIN_READ_BYTES : bytes > READ_BYTES ? READ_BYTES : bytes;
    double host = read_bandwidth(bytes);
    for (size_t i = 0; i < race->count; i++) {
        const struct entrant *entrant = &race->entrants[i];
        host = entrant->class != CLASS_GPU && rate_of(entrant) > host ? rate_of(entrant) : host;
    }
    for (size_t i = 0; i < race->count; i++) {
        struct entrant *entrant = &race->entrants[i];
        double rate = rate_of(entrant), most = entrant->class == CLASS_GPU ? device_bandwidth(race, entrant) : host;
        entrant->bandwidth = rate > most ? rate : most;
    }
}

/* The evaluator, then all devices in the order of .devices. */
static void find_entrants(struct race *race)
{
    race->entrants[race->count++] = (struct entrant){.name = "host", .class = CLASS_EVALUATOR};
    for (int number = 1; race->count < MAX_ENTRANTS; number++) {
        char choice[16];
        (void)snprintf(choice, sizeof choice, "%d", number);
        struct backend *device = race->session->platform->open_device(choice);
        struct profile profile = {0};
        if (!device)
            return;
        if (device->ops->profile(device, true, &profile) != BACKEND_READY) {
            device->ops->close(device);
            return;
        }
        struct entrant *entrant = &race->entrants[race->count++];
        *entrant = (struct entrant){.device = device, .class = profile.class};
        (void)snprintf(entrant->name, sizeof entrant->name, "%d %.*s", number, (int)strcspn(profile.identity, ","),
                       profile.identity);
    }
}

enum { NAME, LOAD, BUILD, UPLOAD, FIRST, KERNEL, RETRIEVE, BEST, RATE, SHARE, COLUMNS };

static const struct text_column columns[COLUMNS] = {
    [NAME] = {"on", true},
    [LOAD] = {"load", false},
    [BUILD] = {"build", false},
    [UPLOAD] = {"upload", false},
    [FIRST] = {"first run", false},
    [KERNEL] = {"kernel", false},
    [RETRIEVE] = {"retrieve", false},
    [BEST] = {"best run", false},
    [RATE] = {"GB/s", false},
    [SHARE] = {"of peak", false},
};

static void add_ms(struct strbuf *out, int64_t ns)
{
    if (ns > 0)
        strbuf_printf(out, "%.3f", (double)ns / 1e6);
}

static void add_entrant(struct text_table *table, const struct entrant *entrant)
{
    struct strbuf cells[COLUMNS] = {{0}};
    const double rate = rate_of(entrant);
    strbuf_puts(&cells[NAME], entrant->name);
    add_ms(&cells[LOAD], entrant->first.ns[PHASE_MAP]);
    add_ms(&cells[BUILD], entrant->first.ns[PHASE_BUILD]);
    add_ms(&cells[UPLOAD], entrant->first.ns[PHASE_UPLOAD]);
    add_ms(&cells[FIRST], entrant->first_ns);
    add_ms(&cells[KERNEL], entrant->best.ns[PHASE_KERNEL]);
    add_ms(&cells[RETRIEVE], entrant->best.ns[PHASE_RETRIEVE]);
    add_ms(&cells[BEST], entrant->best_ns);
    if (rate > 0) {
        strbuf_printf(&cells[RATE], "%.2f", rate);
        if (entrant->bandwidth > 0)
            strbuf_printf(&cells[SHARE], "%.0f %%", 100 * rate / entrant->bandwidth);
    }
    text_table_add(table, cells);
    for (size_t k = 0; k < COLUMNS; k++)
        strbuf_free(&cells[k]);
}

/* The time of a run: fixed + per_row * rows, in ns. */
struct line {
    double fixed, per_row;
};

static struct line fit_line(const struct race *race, const struct entrant *entrant)
{
    const int64_t part_rows = race->rows / PART;
    double rows = (double)race->rows, part = (double)part_rows;
    double per_row = ((double)entrant->best_ns - (double)entrant->part_ns) / (rows - part);
    per_row = per_row > 0 ? per_row : 0;
    const double fixed = (double)entrant->part_ns - per_row * part;
    return (struct line){fixed > 0 ? fixed : 0, per_row};
}

/* The number of rows at which the device becomes faster than the evaluator. */
static void add_crossover(struct strbuf *out, const struct race *race, const struct entrant *entrant)
{
    const struct entrant *host = &race->entrants[0];
    if (host->part_ns == 0 || entrant->part_ns == 0)
        return;
    struct line on_host = fit_line(race, host), on_device = fit_line(race, entrant);
    const double from = (on_device.fixed - on_host.fixed) / (on_host.per_row - on_device.per_row);
    if (on_host.per_row <= on_device.per_row && on_host.fixed <= on_device.fixed) {
        strbuf_printf(out, "%s: slower than the host at any number of rows\n", entrant->name);
    } else if (on_host.per_row <= on_device.per_row) {
        strbuf_printf(out, "%s: faster than the host only up to about ", entrant->name);
        number_format_short(out, from > 0 ? from : 0);
        strbuf_puts(out, " rows\n");
    } else if (from <= 1) {
        strbuf_printf(out, "%s: faster than the host at any number of rows\n", entrant->name);
    } else {
        strbuf_printf(out, "%s: faster than the host from about ", entrant->name);
        number_format_short(out, from);
        strbuf_puts(out, " rows\n");
    }
}

static void print_race(struct race *race)
{
    struct strbuf *out = &race->session->out.text;
    struct print_style style = session_report_style(race->session);
    struct text_table table;
    text_table_init(&table, race->arena, columns, COLUMNS);
    for (size_t i = 0; i < race->count; i++)
        add_entrant(&table, &race->entrants[i]);
    text_table_print(out, &table, &style);
    if (style.format != PRINT_TABLE && style.format != PRINT_MARKDOWN) /* the other formats are for programs */
        return;
    strbuf_puts(out,
                race->count > 1 ? "times in ms; the results are identical\n" : "times in ms; there is no device\n");
    for (size_t i = 1; i < race->count; i++)
        add_crossover(out, race, &race->entrants[i]);
}

static enum status check_query(const struct race *race)
{
    const struct pipeline *pipeline = race->query.pipeline;
    const struct stage *last = pipeline->stage_count > 0 ? &pipeline->stages[pipeline->stage_count - 1] : NULL;
    if (last && last->word->stage == STAGE_SAVE)
        return diag_error_hint(race->diags, last->span, "remove `save`",
                               "`race` compares results and cannot save them");
    return STATUS_OK;
}

enum status race_run(struct session *session, const struct stmt *stmt, struct arena *arena, struct diags *diags)
{
    struct race race = {.session = session, .query = *stmt, .arena = arena, .diags = diags};
    race.query.kind = STMT_PIPELINE;
    enum status status = check_query(&race);
    if (status == STATUS_OK)
        find_entrants(&race);
    for (size_t i = 0; i < race.count && status == STATUS_OK; i++)
        status = run_entrant(&race, &race.entrants[i]);
    if (status == STATUS_OK) {
        find_bandwidths(&race);
        print_race(&race);
    }
    result_release(&race.reference);
    for (size_t i = 1; i < race.count; i++)
        race.entrants[i].device->ops->close(race.entrants[i].device);
    return status;
}
