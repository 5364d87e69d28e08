/* Choosing a backend for a task, on simulated backends with known times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/backend/backend_choice.h"
#include "engine/evaluator/evaluator.h"
#include "engine/explain/explain.h"
#include "engine/optimize/optimize.h"
#include "engine/storage/column_stats.h"
#include "engine/task/run_queue.h"
#include "queries.h"
#include "random_code.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>

/* A mock backend: times only. */
struct machine {
    struct backend base;
    struct profile profile;
    enum readiness started;
    double fixed, row;    /* true times in nanoseconds */
    double upload;        /* per byte */
    const void *resident; /* a column's data */
};

static struct machine *machine_of(struct backend *backend)
{
    return (struct machine *)backend;
}

static enum readiness machine_profile(struct backend *backend, bool wait, struct profile *profile)
{
    (void)wait;
    if (machine_of(backend)->started == BACKEND_READY)
        *profile = machine_of(backend)->profile;
    return machine_of(backend)->started;
}

static int64_t machine_absent(struct backend *backend, const struct column *column, int64_t begin, int64_t end)
{
    const struct machine *machine = machine_of(backend);
    bool here = machine->upload == 0 || machine->resident == column->data;
    return here ? 0 : (end - begin) * (int64_t)type_table[column->store].size;
}

static void machine_close(struct backend *backend)
{
    (void)backend;
}

static bool machine_suits(const struct backend *backend, enum operator_kind kind)
{
    return kind != OPERATOR_SORT || strcmp(backend->name, "no sorter") != 0;
}

static struct machine machine_new(enum backend_class class, const char *name, double fixed, double row)
{
    static const struct backend_ops ops = {
        .profile = machine_profile, .suits = machine_suits, .absent = machine_absent, .close = machine_close};
    return (struct machine){.base = {.ops = &ops, .name = name},
                            .profile = {.class = class, .identity = name, .units = 2},
                            .started = BACKEND_READY,
                            .fixed = fixed,
                            .row = row};
}

/* A sum over one i32 column. */
struct sum {
    struct task task;
    struct input input;
    struct column column;
    struct column *columns[1];
    bool reads[1];
    struct cost_features work;
};

static void sum_init(struct sum *sum, int64_t rows)
{
    static const char data[1];
    *sum = (struct sum){.column = {.type = TYPE_I32, .store = TYPE_I32, .rows = rows, .data = data}};
    sum->task = (struct task){.inputs = &sum->input, .input_count = 1};
    sum->columns[0] = &sum->column;
    sum->reads[0] = true;
    sum->work = (struct cost_features){.load = {WORK_AGGREGATE, (double)rows * 4, (double)rows * 3},
                                       .rows = rows,
                                       .shape = 77,
                                       .task = &sum->task,
                                       .columns = sum->columns,
                                       .end = rows,
                                       .reads = sum->reads};
}

/* Runs work on the picked backend and reports up to `noise` times the true time, which it returns. */
static double run_once(struct chooser *chooser, const struct cost_features *work, struct random *random, int noise,
                       struct backend **picked)
{
    *picked = chooser_pick(chooser, work);
    struct machine *machine = machine_of(*picked);
    int64_t bytes = machine_absent(*picked, work->columns[0], work->begin, work->end);
    struct spent spent = {
        .rows = work->rows, .upload_bytes = bytes, .upload_ns = (int64_t)(machine->upload * (double)bytes)};
    double true_ns = machine->fixed + machine->row * (double)work->rows;
    double disturbed = noise > 1 && random_below(random, 5) == 0 ? 1 + random_below(random, noise) : 1;
    spent.ns = (int64_t)(true_ns * disturbed) + spent.upload_ns;
    machine->resident = machine->upload > 0 ? work->columns[0]->data : NULL;
    chooser_learn(chooser, *picked, work, &spent);
    return true_ns + (double)spent.upload_ns;
}

/* On any machine, after a few runs, no size takes over 10% + 1 ms longer than on the best backend, and the cost of
 * trials is bounded. */
static void no_size_is_much_slower(void **state)
{
    (void)state;
    struct random random = {.state = 7};
    static const double factors[] = {0.05, 0.2, 1, 5, 20};
    enum { FACTORS = sizeof factors / sizeof *factors, RUNS = 120, SETTLED = 60 };
    for (int f = 0; f < FACTORS * FACTORS * 2; f++) {
        double host_row = 0.4 * factors[f % FACTORS], device_row = 0.1 * factors[f / FACTORS % FACTORS];
        struct machine host = machine_new(CLASS_EVALUATOR, "host", 20e3, host_row);
        struct machine device = machine_new(CLASS_CPU, "device", f < FACTORS * FACTORS ? 100e3 : 3e6, device_row);
        struct chooser *chooser = chooser_new(NULL, &host.base);
        chooser_add(chooser, &device.base, CLASS_CPU);
        for (int64_t rows = 100; rows <= 100000000; rows *= 10) {
            struct sum sum;
            sum_init(&sum, rows);
            double host_ns = host.fixed + host.row * (double)rows, device_ns = device.fixed + device.row * (double)rows;
            double best = host_ns < device_ns ? host_ns : device_ns, total = 0;
            int slow = 0;
            for (int run = 0; run < RUNS; run++) {
                struct backend *picked;
                double ns = run_once(chooser, &sum.work, &random, 3, &picked);
                total += ns;
                slow += run >= RUNS - SETTLED && ns > best * 1.1 + 1e6;
            }
            if (slow > SETTLED / 5) /* trials, and choices misled by noisy runs */
                fail_msg("%lld rows, host %g, device %g a row: %d slow runs", (long long)rows, host_row, device_row,
                         slow);
            if (total > 2 * RUNS * (best * 1.1 + 1e6)) /* rates may be 100 times off at first */
                fail_msg("%lld rows, host %g, device %g a row: %g times the best", (long long)rows, host_row,
                         device_row, total / best / RUNS);
        }
        chooser_free(chooser);
    }
}

/* The first run uses the default cost model; small work goes to the evaluator. */
static void small_work_stays(void **state)
{
    (void)state;
    struct machine host = machine_new(CLASS_EVALUATOR, "host", 20e3, 0.4), gpu = machine_new(CLASS_GPU, "gpu", 1, 0);
    struct chooser *chooser = chooser_new(NULL, &host.base);
    chooser_add(chooser, &gpu.base, CLASS_GPU);
    struct sum sum;
    for (int64_t rows = 1; rows <= 100000; rows *= 10) {
        sum_init(&sum, rows);
        assert_ptr_equal(chooser_pick(chooser, &sum.work), &host.base);
    }
    sum_init(&sum, 1000000000);
    assert_ptr_equal(chooser_pick(chooser, &sum.work), &gpu.base);
    chooser_free(chooser);
}

/* A device has to be so much faster that it makes up for grouping in a second pass. */
static void groups_are_counted(void **state)
{
    (void)state;
    enum { ROWS = 100000000 };
    struct machine host = machine_new(CLASS_EVALUATOR, "host", 20e3, 0.4), gpu = machine_new(CLASS_GPU, "gpu", 1, 0);
    struct chooser *chooser = chooser_new(NULL, &host.base);
    chooser_add(chooser, &gpu.base, CLASS_GPU);
    struct sum sum;
    sum_init(&sum, ROWS);
    struct cost_features both = sum.work;
    both.shape++;
    const struct load little = {.kind = (enum work_kind)OPERATOR_GROUP, .bytes = 1},
                      much = {.kind = (enum work_kind)OPERATOR_GROUP, .bytes = 100.0 * ROWS};
    double ns;
    assert_ptr_equal(chooser_pick_grouped(chooser, &sum.work, &both, &little, &ns), &gpu.base);
    assert_ptr_equal(chooser_pick_grouped(chooser, &sum.work, &both, &much, &ns), &host.base);
    assert_true(chooser_host_time(chooser, &both) == 0);
    chooser_learn_grouped(chooser, &both, ROWS, 1000);
    assert_true(chooser_host_time(chooser, &both) > 0);
    assert_ptr_equal(chooser_pick_grouped(chooser, &sum.work, &both, &little, &ns), &host.base);
    assert_true(ns < 2000);
    both.shape++;
    chooser_learn_grouped(chooser, &both, ROWS / 1000, 100000000); /* a group of few rows */
    assert_ptr_equal(chooser_pick_grouped(chooser, &sum.work, &both, &much, &ns), &gpu.base);
    chooser_free(chooser);
}

/* A GPU whose first run of a task took far too long, for other reasons, is soon tried again; also before a group. */
static void unlucky_trials_are_repeated(void **state)
{
    (void)state;
    enum { ROWS = 100000000, RUNS = 12 };
    struct machine host = machine_new(CLASS_EVALUATOR, "host", 20e3, 0.4), gpu = machine_new(CLASS_GPU, "gpu", 1, 0);
    for (int grouped = 0; grouped < 2; grouped++) {
        struct chooser *chooser = chooser_new(NULL, &host.base);
        chooser_add(chooser, &gpu.base, CLASS_GPU);
        struct sum sum;
        sum_init(&sum, ROWS);
        const struct spent slow = {.rows = ROWS, .ns = 2000000000}, usual = {.rows = ROWS, .ns = 40000000};
        const struct load little = {.kind = (enum work_kind)OPERATOR_GROUP, .bytes = 1};
        struct cost_features both = sum.work;
        both.shape++;
        chooser_learn(chooser, &gpu.base, &sum.work, &slow);
        int tried = 0;
        for (int run = 0; run < RUNS; run++) {
            double ns;
            struct backend *picked = grouped ? chooser_pick_grouped(chooser, &sum.work, &both, &little, &ns)
                                             : chooser_pick(chooser, &sum.work);
            tried += picked == &gpu.base;
            if (picked == &host.base && grouped)
                chooser_learn_grouped(chooser, &both, ROWS, usual.ns);
            else
                chooser_learn(chooser, picked, &sum.work, picked == &host.base ? &usual : &slow);
        }
        assert_in_range(tried, 1, 4);
        chooser_free(chooser);
    }
}

/* Columns are uploaded once the queries on them would have paid for it. */
static void uploads_are_investments(void **state)
{
    (void)state;
    struct random random = {.state = 7};
    struct machine host = machine_new(CLASS_EVALUATOR, "host", 20e3, 0.14);
    struct machine gpu = machine_new(CLASS_GPU, "gpu", 80e3, 0.002);
    gpu.upload = 0.1;
    struct chooser *chooser = chooser_new(NULL, &host.base);
    chooser_add(chooser, &gpu.base, CLASS_GPU);
    struct sum sum;
    sum_init(&sum, 100000000);
    struct backend *picked = NULL;
    int moved = 0;
    for (int run = 0; run < 20; run++) {
        const void *before = gpu.resident;
        run_once(chooser, &sum.work, &random, 1, &picked);
        moved += gpu.resident != before;
    }
    assert_ptr_equal(picked, &gpu.base);
    assert_int_equal(moved, 1);
    /* Data used once is not worth uploading: 40 ms against 14 ms on the host. A few uploads show that. */
    static char others[20];
    for (size_t run = 0; run < sizeof others; run++) {
        sum.column.data = &others[run];
        run_once(chooser, &sum.work, &random, 1, &picked);
        assert_true(run < 5 || picked == &host.base);
    }
    /* Data used repeatedly is uploaded, even after much data that was not reused. */
    for (int run = 0; run < 5; run++)
        run_once(chooser, &sum.work, &random, 1, &picked);
    assert_ptr_equal(picked, &gpu.base);
    chooser_free(chooser);
}

static void who_cannot_is_left_out(void **state)
{
    (void)state;
    struct machine host = machine_new(CLASS_EVALUATOR, "host", 20e3, 10);
    struct machine device = machine_new(CLASS_CPU, "device", 1, 0.001);
    struct machine absent = machine_new(CLASS_GPU, "absent", 1, 0.001);
    absent.started = BACKEND_UNABLE;
    struct chooser *chooser = chooser_new(NULL, &host.base);
    chooser_add(chooser, &absent.base, CLASS_GPU);
    chooser_add(chooser, &device.base, CLASS_CPU);
    struct sum sum;
    sum_init(&sum, 1000000000);
    assert_ptr_equal(chooser_pick(chooser, &sum.work), &device.base);
    chooser_rule_out(chooser, &device.base, &sum.work);
    assert_ptr_equal(chooser_pick(chooser, &sum.work), &host.base);
    sum.work.shape++;
    assert_ptr_equal(chooser_pick(chooser, &sum.work), &device.base);
    struct estimate estimates[MOST_CANDIDATES];
    chooser_estimate(chooser, &sum.work, true, estimates);
    assert_true(estimates[0].able && !estimates[1].able && estimates[2].able);
    chooser_free(chooser);
}

/* Beside a GPU a CPU's driver is not tried, however fast it would be. */
static void a_cpu_is_hidden_beside_a_gpu(void **state)
{
    (void)state;
    struct machine host = machine_new(CLASS_EVALUATOR, "host", 20e3, 1), gpu = machine_new(CLASS_GPU, "gpu", 80e3, 0.5),
                   cpu = machine_new(CLASS_CPU, "cpu", 20e3, 0.01);
    struct chooser *chooser = chooser_new(NULL, &host.base);
    chooser_add(chooser, &gpu.base, CLASS_GPU);
    chooser_add(chooser, &cpu.base, CLASS_CPU);
    struct random random = {.state = 3};
    struct sum sum;
    struct backend *picked = NULL;
    sum_init(&sum, 100000000);
    for (int run = 0; run < 100; run++) {
        (void)run_once(chooser, &sum.work, &random, 1, &picked);
        assert_ptr_not_equal(picked, &cpu.base);
    }
    assert_ptr_equal(picked, &gpu.base);
    chooser_free(chooser);
}

static void what_does_not_suit_is_left_out(void **state)
{
    (void)state;
    struct machine host = machine_new(CLASS_EVALUATOR, "host", 20e3, 10);
    struct machine device = machine_new(CLASS_CPU, "no sorter", 1, 0.001);
    struct chooser *chooser = chooser_new(NULL, &host.base);
    chooser_add(chooser, &device.base, CLASS_CPU);
    struct sum sum;
    sum_init(&sum, 1000000000);
    sum.work.load = (struct load){(enum work_kind)OPERATOR_SCAN, 4e9, 0};
    assert_ptr_equal(chooser_pick(chooser, &sum.work), &device.base);
    static const enum work_kind sorts[] = {(enum work_kind)OPERATOR_SORT, WORK_TOP};
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
        sum.work.load.kind = sorts[i];
        sum.work.shape++;
        struct estimate estimates[MOST_CANDIDATES];
        chooser_estimate(chooser, &sum.work, true, estimates);
        assert_true(estimates[0].able && !estimates[1].able);
        assert_ptr_equal(chooser_pick(chooser, &sum.work), &host.base);
    }
    chooser_free(chooser);
}

/* The work of the query's second task, a sort of i64 inputs. */
static struct cost_features work_of_sort(struct queries *queries, const char *text, int64_t rows)
{
    struct bound bound = query_bind(queries, text);
    struct queue fused;
    struct cost_features work;
    queue_init(&fused, bound.queue.arena);
    optimize_queue(&bound.queue, &fused);
    struct task *task = fused.tasks[1];
    assert_int_equal(task->column_op->kind, OPERATOR_SORT);
    struct column *inputs[2];
    assert_int_equal(task->input_count, 2);
    for (int k = 0; k < 2; k++)
        inputs[k] = column_of_ints(NULL, 0);
    const struct operator_job job = {.task = task, .inputs = inputs, .rows = rows, .diags = &queries->scratch->diags};
    cost_features_of_operator(&work, &job);
    for (int k = 0; k < 2; k++)
        column_unref(inputs[k]);
    queue_release(&fused);
    queue_release(&bound.queue);
    return work;
}

/* Top-N and full sorts are separate kinds of work: timings of one say nothing about the other. */
static void selecting_is_not_sorting(void **state)
{
    struct cost_features all = work_of_sort(*state, "range 1..100000 | derive k = c1 % 7 | sort k", 100000);
    struct cost_features few = work_of_sort(*state, "range 1..100000 | derive k = c1 % 7 | sort k | take 50", 100000);
    struct cost_features most =
        work_of_sort(*state, "range 1..100000 | derive k = c1 % 7 | sort k | take 50000", 100000);
    assert_int_equal(all.load.kind, OPERATOR_SORT);
    assert_int_equal(few.load.kind, WORK_TOP);
    assert_int_equal(most.load.kind, OPERATOR_SORT);
    assert_true(all.shape == most.shape && all.shape != few.shape);
    assert_true(few.load.bytes == 8e5); /* the key only */
    assert_true(all.load.bytes == most.load.bytes && all.load.bytes == 32e5);
}

static void cost_model_follow(void **state)
{
    (void)state;
    const struct profile profile = {CLASS_CPU, "x", 2};
    const struct cost_model usual = cost_model_default(&profile);
    struct cost_model model = usual;
    const struct load large = {WORK_MAP, 1 << 30, 1 << 28}, small = {WORK_MAP, 100, 100};
    for (int run = 0; run < 50; run++) {
        cost_model_update(&model, &usual, &large, 90e6);
        cost_model_update(&model, &usual, &small, 1e6);
    }
    assert_true(fabs(cost_model_time(&model, &large) - 90e6) < 5e6);
    assert_true(fabs(cost_model_time(&model, &small) - 1e6) < 1e5);
    for (int run = 0; run < 1000; run++)
        cost_model_update(&model, &usual, &large, 1e18);
    assert_true(cost_model_time(&model, &large) < 1e3 * cost_model_time(&usual, &large));
}

/* The operations on a long range may overflow 64 bits. */
static void the_longest_work_is_the_most(void **state)
{
    struct queries *queries = *state;
    struct bound bound = query_bind(queries, "range 0..4000000000000000000 | map c1 % 7 * 2 + c1 / 3 | sum");
    struct queue fused;
    queue_init(&fused, bound.queue.arena);
    optimize_queue(&bound.queue, &fused);
    assert_int_equal(fused.count, 1);
    const struct task *task = fused.tasks[0];
    const struct job job = {.task = task, .rows = task->rows, .end = task->rows, .diags = &queries->scratch->diags};
    struct cost_features work;
    struct row_ranges ranges;
    zone_prune(&ranges, &job, NULL, queries->scratch->arena);
    cost_features_of_job(&work, &job, &ranges);
    assert_true(work.load.operations > 4 * 4e18);
    assert_true(load_of_rows(&work, task->rows / 2).operations > 4 * 2e18 * 0.99);
    queue_release(&fused);
    queue_release(&bound.queue);
}

/* Pruned rows are no work; uploads span the remaining rows, including gaps. */
static void only_survivors_are_work(void **state)
{
    struct queries *queries = *state;
    struct bound bound = query_bind(queries, "range 1..1000000 | select c1 % 7 == 3 | sum");
    struct queue fused;
    queue_init(&fused, bound.queue.arena);
    optimize_queue(&bound.queue, &fused);
    const struct task *task = fused.tasks[0];
    struct job job = {.task = task, .rows = 1000000, .end = 1000000, .diags = &queries->scratch->diags};
    struct row_ranges all,
        some = {.begins = (int64_t[]){40960, 819200}, .ends = (int64_t[]){81920, 901120}, .count = 2};
    struct cost_features whole, work;
    zone_prune(&all, &job, NULL, queries->scratch->arena);
    assert_int_equal(row_ranges_rows(&all, 0), 1000000);
    assert_int_equal(row_ranges_rows(&some, 0), 122880);
    assert_int_equal(row_ranges_rows(&some, 81000), 82840);
    assert_int_equal(row_ranges_rows(&some, 901120), 0);
    cost_features_of_job(&whole, &job, &all);
    cost_features_of_job(&work, &job, &some);
    assert_true(whole.rows == 1000000 && whole.begin == 0 && whole.end == 1000000);
    assert_true(work.rows == 122880 && work.begin == 40960 && work.end == 901120);
    assert_true(work.shape == whole.shape);
    assert_true(fabs(work.load.operations / whole.load.operations - 0.12288) < 1e-9);
    job.begin = 100000; /* the rest, after the first range */
    cost_features_of_job(&work, &job, &some);
    assert_true(work.rows == 81920 && work.begin == 819200 && work.end == 901120);

    /* So heavily pruned work goes to the evaluator, however fast the device. */
    struct machine host = machine_new(CLASS_EVALUATOR, "host", 20e3, 1), gpu = machine_new(CLASS_GPU, "gpu", 1, 0);
    struct chooser *chooser = chooser_new(NULL, &host.base);
    chooser_add(chooser, &gpu.base, CLASS_GPU);
    whole.rows *= 1000;
    whole.load.operations *= 1000;
    assert_ptr_equal(chooser_pick(chooser, &whole), &gpu.base);
    some.count = 1;
    job.begin = 0;
    cost_features_of_job(&work, &job, &some);
    assert_ptr_equal(chooser_pick(chooser, &work), &host.base);
    chooser_free(chooser);
    queue_release(&fused);
    queue_release(&bound.queue);
}

static struct profile some_profile(void)
{
    return (struct profile){CLASS_GPU, "Some device, driver 1", 7};
}

static struct cost_model some_rates(void)
{
    struct profile profile = some_profile();
    struct cost_model model = cost_model_default(&profile);
    for (int kind = 0; kind < WORK_KINDS; kind++)
        model.of[kind].byte *= 1 + kind;
    model.upload *= 2;
    return model;
}

static void cost_model_are_remembered(void **state)
{
    struct queries *queries = *state;
    const char *folder = queries->scratch->folder;
    struct profile profile = some_profile(), other = profile, more = profile;
    struct cost_model model = some_rates(), read;
    other.identity = "Some device, driver 2";
    more.units++;
    assert_false(cost_model_load(&read, folder, &profile));
    assert_true(cost_model_save(&model, folder, &profile));
    assert_true(cost_model_load(&read, folder, &profile));
    const struct load load = {WORK_MAP, 1000000, 50000};
    assert_true(fabs(cost_model_time(&model, &load) / cost_model_time(&read, &load) - 1) < 1e-4);
    assert_true(fabs(read.upload / model.upload - 1) < 1e-4);
    assert_false(cost_model_load(&read, folder, &other));
    assert_false(cost_model_load(&read, folder, &more));
    assert_false(cost_model_save(&model, "/nowhere/at all", &profile));
}

/* The directory's only cost model file. */
static char *cost_model_file(struct scratch *scratch)
{
    DIR *folder = opendir(scratch->folder);
    assert_non_null(folder);
    char *path = NULL;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strncmp(entry->d_name, "rates-", 6) == 0) {
            assert_null(path);
            path = (char *)(uintptr_t)scratch_path(scratch, entry->d_name);
        }
    }
    closedir(folder);
    assert_non_null(path);
    return path;
}

/* A truncated, corrupted or foreign file is rejected, and saving replaces it. */
static void what_is_damaged_is_not_believed(void **state)
{
    struct queries *queries = *state;
    const char *folder = queries->scratch->folder;
    struct profile profile = some_profile();
    struct cost_model model = some_rates(), read;
    assert_true(cost_model_save(&model, folder, &profile));
    const char *path = cost_model_file(queries->scratch);
    char text[4096];
    int fd = open(path, O_RDONLY);
    ssize_t size = pread(fd, text, sizeof text, 0);
    close(fd);
    assert_in_range(size, 200, sizeof text - 1);
    for (ssize_t length = 0; length < size; length++) {
        scratch_write(queries->scratch, strrchr(path, '/') + 1, text, (size_t)length);
        assert_false(cost_model_load(&read, folder, &profile));
    }
    static const char *const damage[] = {"nan", "inf", "1e300", "-1", "0x", "\n\n\n", "    ", "1e-300"};
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        char copy[sizeof text];
        memcpy(copy, text, (size_t)size);
        char *number = strstr(copy, "scan ") + strlen("scan ");
        memcpy(number, damage[i], strlen(damage[i]));
        memset(number + strlen(damage[i]), ' ', strcspn(number, " \n"));
        scratch_write(queries->scratch, strrchr(path, '/') + 1, copy, (size_t)size);
        assert_false(cost_model_load(&read, folder, &profile));
    }
    assert_true(cost_model_save(&model, folder, &profile));
    assert_true(cost_model_load(&read, folder, &profile));
}

/* A chooser saves its cost model when freed; the next one loads it. */
static void choosers_remember(void **state)
{
    struct queries *queries = *state;
    struct random random = {.state = 7};
    for (int time = 0; time < 2; time++) {
        struct machine host = machine_new(CLASS_EVALUATOR, "host", 20e3, 0.001);
        struct machine device = machine_new(CLASS_CPU, "device", 1e3, 0.4);
        struct chooser *chooser = chooser_new(queries->scratch->folder, &host.base);
        chooser_add(chooser, &device.base, CLASS_CPU);
        struct backend *picked;
        struct sum sum;
        sum_init(&sum, 100000000);
        run_once(chooser, &sum.work, &random, 1, &picked);
        assert_ptr_equal(picked, time == 0 ? &device.base : &host.base); /* by default rates, the device is faster */
        for (int run = 0; run < 30 && time == 0; run++)
            run_once(chooser, &sum.work, &random, 1, &picked);
        chooser_free(chooser);
    }
}

/* A backend that computes: it wraps the evaluator, is pending at first, and is picked at times. */
struct second {
    struct backend base;
    struct backend *evaluator;
    int asked, ran;
};

static struct second *second_of(struct backend *backend)
{
    return (struct second *)backend;
}

static enum readiness second_begin(struct backend *backend, const struct job *job)
{
    return job && second_of(backend)->asked++ < 3 ? BACKEND_PENDING : BACKEND_READY;
}

static enum status second_prepare(struct backend *backend, const struct job *job)
{
    (void)job;
    assert_true(second_of(backend)->asked > 3); /* not while pending */
    return STATUS_OK;
}

static int64_t second_range_rows(struct backend *backend, const struct job *job)
{
    (void)backend, (void)job;
    return 1 << 20;
}

static enum status second_aggregate(struct backend *backend, const struct job *job, struct agg_state *states,
                                    bool *flagged)
{
    struct backend *evaluator = second_of(backend)->evaluator;
    second_of(backend)->ran++;
    return evaluator->ops->aggregate(evaluator, job, states, flagged);
}

static enum status second_rows(struct backend *backend, const struct job *job, struct row_sink *sink, bool *flagged)
{
    struct backend *evaluator = second_of(backend)->evaluator;
    second_of(backend)->ran++;
    return evaluator->ops->rows(evaluator, job, sink, flagged);
}

static enum status second_breaker(struct backend *backend, const struct operator_job *job, bool *flagged)
{
    struct backend *evaluator = second_of(backend)->evaluator;
    second_of(backend)->ran++;
    return evaluator->ops->run_operator(evaluator, job, flagged);
}

static enum readiness second_profile(struct backend *backend, bool wait, struct profile *profile)
{
    (void)backend, (void)wait;
    *profile = (struct profile){CLASS_CPU, "second", 64};
    return BACKEND_READY;
}

static void second_nothing(struct backend *backend)
{
    (void)backend;
}

static void queries_are_run_as_chosen(void **state)
{
    static const struct backend_ops ops = {.begin = second_begin,
                                           .prepare = second_prepare,
                                           .range_rows = second_range_rows,
                                           .aggregate = second_aggregate,
                                           .rows = second_rows,
                                           .run_operator = second_breaker,
                                           .profile = second_profile,
                                           .sweep = second_nothing,
                                           .close = second_nothing};
    static const char *const texts[] = {"range 1..5000000 | sum", "range 1..5000000 | select c1 % 7 == 0 | sum",
                                        "range 1..3000000 | derive k = c1 % 5 | sort k | take 1"};
    struct queries *queries = *state;
    struct scratch *scratch = queries->scratch;
    struct backend *evaluator = evaluator_open_threads(1);
    struct second second = {.base = {.ops = &ops, .name = "second"}, .evaluator = evaluator};
    struct runner plain = {.env = queries->env, .evaluator = evaluator, .fusion = true}, chosen = plain;
    chosen.chooser = chooser_new(NULL, evaluator);
    chosen.no_wait = true;
    chooser_add(chosen.chooser, &second.base, CLASS_CPU);
    for (int round = 0; round < 5; round++) {
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            struct result expected = {0}, got = {0};
            struct bound bound = query_bind(queries, texts[i]);
            assert_int_equal(run_queue(&plain, &bound.queue, DEFER_NEVER, &expected, &scratch->diags), STATUS_OK);
            assert_int_equal(run_queue(&chosen, &bound.queue, DEFER_NEVER, &got, &scratch->diags), STATUS_OK);
            assert_int_equal(expected.kind, got.kind);
            if (expected.kind == RESULT_SCALAR)
                assert_true(expected.scalar.integer == got.scalar.integer);
            else
                assert_int_equal(column_get_int(expected.relation->columns[0], 0),
                                 column_get_int(got.relation->columns[0], 0));
            result_release(&expected);
            result_release(&got);
            queue_release(&bound.queue);
        }
    }
    assert_true(second.asked > 3 && second.ran > 0);
    chooser_free(chosen.chooser);
    evaluator->ops->close(evaluator);
}

/* `explain` estimates the rows and copies that a run would read, from measured times. */
static void what_is_explained_is_what_is_run(void **state)
{
    static const struct backend_ops ops = {.begin = second_begin,
                                           .prepare = second_prepare,
                                           .range_rows = second_range_rows,
                                           .aggregate = second_aggregate,
                                           .rows = second_rows,
                                           .profile = second_profile,
                                           .sweep = second_nothing,
                                           .close = second_nothing};
    enum { ROWS = 1200000 };
    struct queries *queries = *state;
    struct scratch *scratch = queries->scratch;
    int32_t *values = malloc(ROWS * sizeof *values);
    assert_non_null(values);
    for (int32_t i = 0; i < ROWS; i++)
        values[i] = i / 100;
    queries_file(queries, "steps.i32", values, ROWS * sizeof *values);
    free(values);
    struct backend *evaluator = evaluator_open_threads(1);
    struct second second = {.base = {.ops = &ops, .name = "second"}, .evaluator = evaluator};
    struct runner runner = {.env = queries->env, .evaluator = evaluator, .fusion = true, .no_wait = true};
    runner.chooser = chooser_new(NULL, evaluator);
    chooser_add(runner.chooser, &second.base, CLASS_CPU);
    runner.collector = stats_collector_new(1 << 24, NULL);
    stats_collector_set_eager(runner.collector, true);
    static const char query[] = "load steps.i32 | select steps == 777 | map steps % 10 | sum";
    for (int round = 0; round < 4; round++) { /* by the third, zones and the copy are in use; always on the host */
        struct result result = {0};
        assert_int_equal(run_statement(&runner, query_parse(queries, query), scratch->arena, &result, &scratch->diags),
                         STATUS_OK);
        assert_true(result.scalar.integer == 700);
        result_release(&result);
    }
    struct strbuf text = {0}, explain = {0};
    strbuf_printf(&explain, "explain %s", query);
    assert_int_equal(
        explain_statement(&text, &runner, query_parse(queries, explain.text), scratch->arena, &scratch->diags),
        STATUS_OK);
    const char *line = strstr(text.text, "  1 on host: ");
    if (!line || strncmp(line, "  1 on host: about", strlen("  1 on host: about")) == 0 || !strstr(line, "ms;"))
        fail_msg("%s", text.text);
    strbuf_free(&text);
    strbuf_free(&explain);
    chooser_free(runner.chooser);
    stats_collector_free(runner.collector);
    evaluator->ops->close(evaluator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_size_is_much_slower),
        cmocka_unit_test(small_work_stays),
        cmocka_unit_test(groups_are_counted),
        cmocka_unit_test(unlucky_trials_are_repeated),
        cmocka_unit_test(uploads_are_investments),
        cmocka_unit_test(who_cannot_is_left_out),
        cmocka_unit_test(a_cpu_is_hidden_beside_a_gpu),
        cmocka_unit_test(what_does_not_suit_is_left_out),
        cmocka_unit_test_setup_teardown(selecting_is_not_sorting, queries_setup, queries_teardown),
        cmocka_unit_test(cost_model_follow),
        cmocka_unit_test_setup_teardown(the_longest_work_is_the_most, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(only_survivors_are_work, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(cost_model_are_remembered, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(what_is_damaged_is_not_believed, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(choosers_remember, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(queries_are_run_as_chosen, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(what_is_explained_is_what_is_run, queries_setup, queries_teardown),
    };
    return cmocka_run_group_tests_name("choose", tests, NULL, NULL);
}
