/* `race PIPELINE`: the same query on the evaluator and on every device, one after another. Results must be the same;
 * times are told apart, and where one begins to win is estimated from two sizes of the same data. */
#include "repl/print/number_format.h"
#include "repl/print/text_table.h"
#include "repl/session/bandwidth.h"
#include "repl/session/session.h"

#include "engine/storage/residency.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_RUNNERS = 9,
    MOST_RUNS = 7,
    PART = 16, /* the smaller size is this part of the rows */
    LEAST_ROWS = 16 * PART,
    READ_BYTES = 256 << 20,
    LEAST_READ_BYTES = 1 << 16
};
static const int64_t ENOUGH_NS = 700000000; /* of runs of one query on one backend */

/* One of those that race. */
struct entrant {
    char name[64];
    struct backend *device; /* NULL: the evaluator */
    enum backend_class class;
    struct phase_times first; /* of the first run, with building and moving data there */
    int64_t first_ns;
    struct phase_times best;  /* of the quickest run after it */
    int64_t best_ns, part_ns; /* part_ns: of the quickest on a part of the rows; 0: not measured */
    double bandwidth;         /* bytes a nanosecond that it can read */
    bool ran;
};

struct race {
    struct shell *shell;
    struct stmt query; /* the pipeline alone */
    struct arena *arena;
    struct diags *diags;
    struct result reference; /* what the evaluator found */
    int64_t rows;            /* that the first task reads */
    struct entrant entrants[MOST_RUNNERS];
    size_t count;
};

/* One run on one backend. */
static enum status run_once(const struct race *race, const struct entrant *entrant, const struct stmt *query,
                            struct phase_times *times, int64_t *ns, int64_t *rows, struct result *result,
                            struct diags *diags)
{
    struct runner runner = race->shell->runner;
    struct run_trace trace = {.arena = race->arena};
    struct timing timing;
    timing_init(&timing, race->arena);
    runner.device = entrant->device;
    runner.chooser = NULL;
    runner.hasty = false;
    runner.timing = &timing;
    runner.trace = &trace;
    int64_t began = now_ns();
    enum status status = run_statement(&runner, query, race->arena, result, diags);
    *ns = now_ns() - began;
    *times = trace_times(&timing);
    *rows = trace.count > 0 ? trace.tasks[0].rows_in : 0;
    return status;
}

/* As they print: 0.0 is not -0.0, and any NaN is like any other. */
static bool same_numbers(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* By their values, which one backend may store in fewer bytes than another. */
static bool same_columns(const struct column *a, const struct column *b, const atomic_int *cancel)
{
    bool number = type_table[a->type].kind == KIND_FLOAT;
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
        bool number = a->scalar.kind == KIND_FLOAT;
        return a->scalar.kind == b->scalar.kind &&
               (number ? same_numbers(a->scalar.number, b->scalar.number) : a->scalar.integer == b->scalar.integer);
    }
    const struct relation *left = a->relation, *right = b->relation;
    bool same = left->count == right->count && left->rows == right->rows;
    for (size_t k = 0; same && k < left->count; k++)
        same = same_columns(left->columns[k], right->columns[k], race->shell->platform->cancel);
    return same;
}

/* Compares with the evaluator's result, which the first entrant leaves. An error if they differ. */
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
        (void)diag_error(race->diags, span, "the result of %s is not the evaluator's", entrant->name);
        diag_hint(race->diags, "this is a defect of rql or of the device's driver: please report it");
        return STATUS_FAILED;
    }
    return STATUS_OK;
}

/* The quickest of some runs. */
static enum status run_often(const struct race *race, const struct entrant *entrant, const struct stmt *query,
                             struct phase_times *best, int64_t *best_ns, struct diags *diags)
{
    int64_t spent = 0;
    *best_ns = 0;
    for (int run = 0; run < MOST_RUNS && (run == 0 || spent < ENOUGH_NS); run++) {
        struct phase_times times;
        int64_t ns, rows;
        struct result result;
        enum status status = run_once(race, entrant, query, &times, &ns, &rows, &result, diags);
        result_release(&result);
        if (status != STATUS_OK)
            return status;
        if (*best_ns == 0 || ns < *best_ns) {
            *best_ns = ns;
            *best = times;
        }
        spent += ns;
    }
    return STATUS_OK;
}

/* The query on the first rows only: `take` after the source and what is zipped to it. */
static struct stmt part_of(const struct race *race)
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

/* A smaller size may be refused, as by a zip further on: then there is nothing to estimate from. */
static enum status run_part(const struct race *race, struct entrant *entrant)
{
    if (race->rows < LEAST_ROWS)
        return STATUS_OK;
    struct stmt part = part_of(race);
    struct diags unheard;
    struct phase_times times;
    int64_t ns, rows;
    struct result result;
    diags_init(&unheard, race->arena);
    enum status status = run_once(race, entrant, &part, &times, &ns, &rows, &result, &unheard);
    result_release(&result);
    if (status == STATUS_OK)
        status = run_often(race, entrant, &part, &times, &entrant->part_ns, &unheard);
    return status == STATUS_CANCELLED ? status : STATUS_OK;
}

static enum status run_entrant(struct race *race, struct entrant *entrant)
{
    int64_t rows;
    struct result result;
    enum status status =
        run_once(race, entrant, &race->query, &entrant->first, &entrant->first_ns, &rows, &result, race->diags);
    if (status == STATUS_OK) {
        race->rows = entrant->device ? race->rows : rows;
        status = check_result(race, entrant, &result);
    }
    result_release(&result);
    if (status == STATUS_OK)
        status = run_often(race, entrant, &race->query, &entrant->best, &entrant->best_ns, race->diags);
    if (status == STATUS_OK)
        status = run_part(race, entrant);
    entrant->ran = status == STATUS_OK;
    return status;
}

/* How fast a device reads a column that it has, found by its plainest query. */
static double device_bandwidth(const struct race *race, const struct entrant *entrant)
{
    static const char text[] = "race_column | max";
    const struct source source = {"", text, sizeof text - 1};
    struct diags unheard;
    struct stmt *query;
    diags_init(&unheard, race->arena);
    struct column *column = column_reserve(TYPE_I64, TYPE_I64, READ_BYTES / 8);
    if (!column || parse(&source, PARSE_SCRIPT, race->arena, &unheard, &query) != PARSE_OK) {
        column_unref(column);
        return 0;
    }
    column_finish(column, READ_BYTES / 8);
    const char *name = "race_column";
    struct relation *relation = relation_new(column->rows, 1, &column, &name);
    struct race trial = *race;
    struct shell shell = *race->shell;
    shell.runner.env = env_copy(race->shell->runner.env);
    env_set_relation(shell.runner.env, name, relation);
    trial.shell = &shell;
    struct phase_times times;
    int64_t ns;
    enum status status = run_often(&trial, entrant, query, &times, &ns, &unheard);
    env_free(shell.runner.env);
    relation_unref(relation);
    column_unref(column);
    bool known = status == STATUS_OK && times.ns[PHASE_KERNEL] > 0;
    return known ? (double)times.bytes / (double)times.ns[PHASE_KERNEL] : 0;
}

/* Bytes a nanosecond of the quickest run; 0 if it says nothing. */
static double rate_of(const struct entrant *entrant)
{
    int64_t kernel = entrant->best.ns[PHASE_KERNEL];
    return kernel > 0 ? (double)entrant->best.bytes / (double)kernel : 0;
}

/* What is in reach: the best that was measured, be it by the query itself. Processors are measured with as many bytes
 * as the query moves, since what fits their caches is read faster. */
static void find_bandwidths(struct race *race)
{
    int64_t bytes = race->entrants[0].best.bytes;
    bytes = bytes < LEAST_READ_BYTES ? LEAST_READ_BYTES : bytes > READ_BYTES ? READ_BYTES : bytes;
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

/* The evaluator, and the devices by their numbers. */
static void find_entrants(struct race *race)
{
    race->entrants[race->count++] = (struct entrant){.name = "host", .class = CLASS_EVALUATOR};
    for (int number = 1; race->count < MOST_RUNNERS; number++) {
        char choice[16];
        (void)snprintf(choice, sizeof choice, "%d", number);
        struct backend *device = race->shell->platform->open_device(choice);
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
    [SHARE] = {"of memory's", false},
};

static void add_ms(struct strbuf *out, int64_t ns)
{
    if (ns > 0)
        strbuf_printf(out, "%.3f", (double)ns / 1e6);
}

static void add_entrant(struct text_table *table, const struct entrant *entrant)
{
    struct strbuf cells[COLUMNS] = {{0}};
    double rate = rate_of(entrant);
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

/* What a run takes as fixed + each * rows. */
struct line {
    double fixed, each;
};

static struct line line_of(const struct race *race, const struct entrant *entrant)
{
    double rows = (double)race->rows, part = (double)(race->rows / PART);
    double each = ((double)entrant->best_ns - (double)entrant->part_ns) / (rows - part);
    each = each > 0 ? each : 0;
    double fixed = (double)entrant->part_ns - each * part;
    return (struct line){fixed > 0 ? fixed : 0, each};
}

/* From how many rows on the device is quicker than the evaluator. */
static void add_crossing(struct strbuf *out, const struct race *race, const struct entrant *entrant)
{
    const struct entrant *host = &race->entrants[0];
    if (host->part_ns == 0 || entrant->part_ns == 0)
        return;
    struct line slow = line_of(race, host), quick = line_of(race, entrant);
    double from = (quick.fixed - slow.fixed) / (slow.each - quick.each);
    if (slow.each <= quick.each && slow.fixed <= quick.fixed) {
        strbuf_printf(out, "%s: the host is quicker at any number of rows\n", entrant->name);
    } else if (slow.each <= quick.each) {
        strbuf_printf(out, "%s: quicker than the host only up to about ", entrant->name);
        number_format_short(out, from > 0 ? from : 0);
        strbuf_puts(out, " rows\n");
    } else if (from <= 1) {
        strbuf_printf(out, "%s: quicker than the host at any number of rows\n", entrant->name);
    } else {
        strbuf_printf(out, "%s: quicker than the host from about ", entrant->name);
        number_format_short(out, from);
        strbuf_puts(out, " rows on\n");
    }
}

static void print_race(struct race *race)
{
    struct strbuf *out = &race->shell->out.text;
    struct print_style style = shell_print_style(race->shell);
    struct text_table table;
    text_table_init(&table, race->arena, columns, COLUMNS);
    for (size_t i = 0; i < race->count; i++)
        add_entrant(&table, &race->entrants[i]);
    style.header = true;
    style.format = style.format == PRINT_TSV ? PRINT_TABLE : style.format;
    text_table_print(out, &table, &style);
    if (style.format != PRINT_TABLE && style.format != PRINT_MARKDOWN) { /* for programs */
        return;
    }
    strbuf_printf(out,
                  race->count > 1 ? "times in ms; the results are identical\n" : "times in ms; there is no device\n");
    for (size_t i = 1; i < race->count; i++)
        add_crossing(out, race, &race->entrants[i]);
}

static enum status check_query(const struct race *race)
{
    const struct pipeline *pipeline = race->query.pipeline;
    const struct stage *last = pipeline->stage_count > 0 ? &pipeline->stages[pipeline->stage_count - 1] : NULL;
    if (last && last->word->stage == STAGE_SAVE) {
        (void)diag_error(race->diags, last->span, "a race compares results and keeps none");
        diag_hint(race->diags, "leave `save` out");
        return STATUS_FAILED;
    }
    return STATUS_OK;
}

enum status race(struct shell *shell, const struct stmt *stmt, struct arena *arena, struct diags *diags)
{
    struct race race = {.shell = shell, .query = *stmt, .arena = arena, .diags = diags};
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
