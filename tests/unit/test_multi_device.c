/* Several backends as one: same results as on a single one, however work is divided. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cl/cl.h"
#include "engine/backend/multi_device.h"
#include "engine/evaluator/evaluator.h"
#include "engine/task/run_queue.h"
#include "queries.h"
#include "random_code.h"

#include <math.h>
#include <stdatomic.h>

enum { ROWS = 300007, LEAST = 4096 };

/* Wraps the evaluator: counts its rows and can make it give up. */
struct member {
    struct backend base;
    struct backend *evaluator;
    struct profile profile;
    _Atomic int64_t rows;
    int ranges_left; /* until it gives up; -1: never */
    enum status given_up;
    atomic_int *cancels; /* set after running a range */
};

static struct member *member_of(struct backend *backend)
{
    return (struct member *)backend;
}

static enum status member_prepare(struct backend *backend, const struct job *job)
{
    (void)job;
    return member_of(backend)->ranges_left == 0 ? STATUS_UNABLE : STATUS_OK;
}

static int64_t member_range_rows(struct backend *backend, const struct job *job)
{
    (void)backend, (void)job;
    return 10000;
}

static enum status member_aggregate(struct backend *backend, const struct job *job, struct agg_state *states,
                                    bool *flagged)
{
    struct member *member = member_of(backend);
    if (member->ranges_left > 0 && --member->ranges_left == 0) {
        if (member->given_up == STATUS_FAILED)
            return diag_error(job->diags, (struct span){0}, "it broke");
        diag_note(job->diags, (struct span){0}, "it is unable");
        return STATUS_UNABLE;
    }
    member->rows += job->end - job->begin;
    if (member->cancels)
        *member->cancels = 1;
    return member->evaluator->ops->aggregate(member->evaluator, job, states, flagged);
}

static enum status member_rows(struct backend *backend, const struct job *job, struct row_sink *sink, bool *flagged)
{
    struct backend *evaluator = member_of(backend)->evaluator;
    return evaluator->ops->rows(evaluator, job, sink, flagged);
}

static enum status member_breaker(struct backend *backend, const struct operator_job *job, bool *flagged)
{
    struct backend *evaluator = member_of(backend)->evaluator;
    return evaluator->ops->run_operator(evaluator, job, flagged);
}

static enum readiness member_profile(struct backend *backend, bool wait, struct profile *profile)
{
    (void)wait;
    *profile = member_of(backend)->profile;
    return BACKEND_READY;
}

static void member_sweep(struct backend *backend)
{
    (void)backend;
}

static void member_close(struct backend *backend)
{
    struct backend *evaluator = member_of(backend)->evaluator;
    evaluator->ops->close(evaluator);
    free(backend);
}

static struct member *member_new(enum backend_class class)
{
    static const struct backend_ops ops = {.prepare = member_prepare,
                                           .range_rows = member_range_rows,
                                           .aggregate = member_aggregate,
                                           .rows = member_rows,
                                           .run_operator = member_breaker,
                                           .profile = member_profile,
                                           .sweep = member_sweep,
                                           .close = member_close};
    struct member *member = calloc(1, sizeof *member);
    assert_non_null(member);
    member->base = (struct backend){.ops = &ops, .name = "member"};
    member->evaluator = evaluator_open_threads(1);
    member->profile = (struct profile){class, "member", 1};
    member->ranges_left = -1;
    return member;
}

/* Long columns: x small numbers, z with a zero somewhere, f floats of all magnitudes. */
static void write_columns(struct queries *queries)
{
    struct random random = {.state = 9};
    int32_t *x = calloc(ROWS, sizeof *x), *z = calloc(ROWS, sizeof *z);
    double *f = calloc(ROWS, sizeof *f);
    assert_true(x && z && f);
    for (int i = 0; i < ROWS; i++) {
        x[i] = random_below(&random, 20001) - 10000;
        z[i] = i == ROWS / 4 * 3 ? 0 : 1 + random_below(&random, 9);
        f[i] = ldexp(random_below(&random, 2001) - 1000, random_below(&random, 60) - 30);
    }
    queries_file(queries, "x.i32", x, ROWS * sizeof *x);
    queries_file(queries, "z.i32", z, ROWS * sizeof *z);
    queries_file(queries, "f.f64", f, ROWS * sizeof *f);
    free(x);
    free(z);
    free(f);
}

static const char *const texts[] = {
    "load x.i32 | sum",
    "load x.i32 | select x % 7 == 3 | count",
    "load x.i32 | select x > 9990 | max",
    "load x.i32 | min",
    "load x.i32 | mean",
    "load f.f64 | sum",
    "load f.f64 | select f > 0 | mean",
    "load f.f64 | max",
    "load x.i32, f.f64 | select x < 100 | sum f * x",
    "load x.i32 | map x * row | sum",
    "load x.i32 | stencil -1..1 else 0: at(-1) * 3 - at(1) | sum",
    "load x.i32 | reduce |a, b| b != 0 ? b : a",
    "load f.f64 | select f != 0 | take 50 | product",
    "load x.i32, z.i32 | select z > 0 && x / z > 5 | count",
    "load x.i32, z.i32 | map x / z | sum",
    "load x.i32 | sort | take 100 | sum",
    "load x.i32 | group x % 10: count() | max $2",
    "range 1..1000000 | select c1 % 3 == 0 | sum",
    "load x.i32 | select x > 100000 | max",
};

/* Runs the query both ways: results and errors must agree. */
static void check_query(struct queries *queries, const struct runner *plain, const struct runner *split,
                        const char *text)
{
    struct scratch *scratch = queries->scratch;
    struct runner runners[] = {*plain, *split};
    struct result results[2] = {{0}};
    enum status status[2];
    const char *messages[2] = {"", ""};
    for (int i = 0; i < 2; i++) {
        struct bound bound = query_bind(queries, text);
        scratch->diags.count = 0;
        status[i] = run_queue(&runners[i], &bound.queue, DEFER_NEVER, &results[i], &scratch->diags);
        for (size_t d = 0; d < scratch->diags.count; d++) {
            if (scratch->diags.at[d].severity == SEVERITY_ERROR)
                messages[i] = scratch->diags.at[d].message;
        }
        queue_release(&bound.queue);
    }
    assert_int_equal(status[0], status[1]);
    assert_string_equal(messages[0], messages[1]);
    assert_int_equal(results[0].kind, results[1].kind);
    if (results[0].scalar.integer != results[1].scalar.integer ||
        memcmp(&results[0].scalar.number, &results[1].scalar.number, sizeof(double)) != 0)
        fail_msg("%s: results differ", text);
    result_release(&results[0]);
    result_release(&results[1]);
}

static void check_all(struct queries *queries, struct backend *device)
{
    struct backend *evaluator = evaluator_open_threads(1);
    const struct runner plain = {.env = queries->env, .evaluator = evaluator, .fusion = true};
    struct runner split = plain;
    split.device = device;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_query(queries, &plain, &split, texts[i]);
    evaluator->ops->close(evaluator);
}

static void results_do_not_depend_on_shares(void **state)
{
    struct queries *queries = *state;
    write_columns(queries);
    for (size_t count = 1; count <= 5; count++) {
        struct member *members[5];
        struct backend *backends[5];
        for (size_t k = 0; k < count; k++) {
            members[k] = member_new(CLASS_CPU);
            members[k]->profile.units = 1 + (int)k; /* claimed speed, used until measured */
            backends[k] = &members[k]->base;
        }
        struct backend *all = multi_device_open(backends, count, LEAST);
        for (int round = 0; round < 3; round++)
            check_all(queries, all);
        for (size_t k = 0; k < count; k++)
            assert_true(members[k]->rows > 0);
        all->ops->close(all);
    }
}

/* A device that is a hundred times slower gets no work. */
static void the_slow_are_left_out(void **state)
{
    struct queries *queries = *state;
    write_columns(queries);
    struct member *slow = member_new(CLASS_CPU), *fast = member_new(CLASS_GPU);
    fast->profile.units = 500;
    struct backend *const backends[] = {&slow->base, &fast->base};
    struct backend *all = multi_device_open(backends, 2, LEAST);
    check_all(queries, all);
    assert_true(slow->rows == 0 && fast->rows > 0);
    all->ops->close(all);
}

static void small_work_is_not_shared(void **state)
{
    struct queries *queries = *state;
    write_columns(queries);
    struct member *members[] = {member_new(CLASS_CPU), member_new(CLASS_CPU)};
    struct backend *const backends[] = {&members[0]->base, &members[1]->base};
    struct backend *all = multi_device_open(backends, 2, 4 * ROWS);
    check_all(queries, all);
    assert_true((members[0]->rows == 0) != (members[1]->rows == 0));
    all->ops->close(all);
}

/* A query completes whichever member gives up, at the start or midway. */
static void members_may_give_up(void **state)
{
    struct queries *queries = *state;
    write_columns(queries);
    for (int who = 0; who < 2; who++) {
        for (int ranges = 0; ranges < 4; ranges++) {
            struct member *members[] = {member_new(CLASS_CPU), member_new(CLASS_CPU)};
            struct backend *const backends[] = {&members[0]->base, &members[1]->base};
            members[who]->ranges_left = ranges;
            struct backend *all = multi_device_open(backends, 2, LEAST);
            check_all(queries, all);
            all->ops->close(all);
        }
    }
}

/* One member's error, or Ctrl-C, ends all. */
static void errors_and_interrupts_end_all(void **state)
{
    struct queries *queries = *state;
    struct scratch *scratch = queries->scratch;
    write_columns(queries);
    struct backend *evaluator = evaluator_open_threads(1);
    for (int cancelled = 0; cancelled < 2; cancelled++) {
        atomic_int cancel = 0;
        struct member *members[] = {member_new(CLASS_CPU), member_new(CLASS_CPU)};
        struct backend *const backends[] = {&members[0]->base, &members[1]->base};
        members[1]->ranges_left = cancelled ? -1 : 2;
        members[1]->given_up = STATUS_FAILED;
        members[1]->cancels = cancelled ? &cancel : NULL;
        struct backend *all = multi_device_open(backends, 2, LEAST);
        struct runner runner = {.env = queries->env, .evaluator = evaluator, .device = all, .cancel = &cancel};
        struct result result = {0};
        struct bound bound = query_bind(queries, "load x.i32 | sum");
        scratch->diags.count = 0;
        enum status status = run_queue(&runner, &bound.queue, DEFER_NEVER, &result, &scratch->diags);
        assert_int_equal(status, cancelled ? STATUS_CANCELLED : STATUS_FAILED);
        assert_int_equal(scratch->diags.count, !cancelled);
        queue_release(&bound.queue);
        all->ops->close(all);
    }
    evaluator->ops->close(evaluator);
}

/* A device opened twice acts as two devices. */
static void devices_share(void **state)
{
    struct queries *queries = *state;
    write_columns(queries);
    size_t number;
    if (cl_numbers(&number, 1, NULL) == 0) {
        printf("# skipped: no OpenCL device\n");
        skip();
    }
    char choice[24];
    snprintf(choice, sizeof choice, "%zu", number);
    struct backend *const backends[] = {cl_open(choice, NULL), cl_open(choice, NULL)};
    struct backend *all = multi_device_open(backends, 2, LEAST);
    for (int round = 0; round < 2; round++)
        check_all(queries, all);
    all->ops->close(all);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, queries_setup, queries_teardown)
    const struct CMUnitTest tests[] = {
        TEST(results_do_not_depend_on_shares), TEST(the_slow_are_left_out),
        TEST(small_work_is_not_shared),        TEST(members_may_give_up),
        TEST(errors_and_interrupts_end_all),   TEST(devices_share),
    };
#undef TEST
    return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
