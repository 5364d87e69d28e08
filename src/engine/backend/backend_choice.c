#include "engine/backend/backend_choice.h"

#include "base/heap.h"

#include <math.h>
#include <stdlib.h>

enum {
    MEMOS = 1 << 16,  /* a power of two: one that another replaces is a measurement lost */
    BUCKETS_NEAR = 20 /* a run on a millionth of the rows is still evidence */
};

/* Too little to notice: the evaluator, which builds nothing, may take this much longer. */
static const double negligible_ns = 200e3, negligible_share = 0.05;

struct candidate {
    struct backend *backend;
    enum readiness started;
    struct profile profile; /* assumed, until it has started */
    struct cost_model prior, model;
    bool learned; /* the model has followed a run */
};

/* The measured time of a candidate and a task at about one size, under a hash of the three. A collision in the table
 * only replaces an entry. */
struct memo {
    uint64_t key;
    double ns; /* of `rows` rows, moving left out; ABOUT_PASSED: rows that passed, of those that were expected to */
    int64_t rows;
    uint32_t runs;
    bool unable;
};

struct chooser {
    char *directory;
    struct candidate candidates[MOST_CANDIDATES];
    size_t count;
    bool missing_reported;
    struct memo *memos;
};

struct chooser *chooser_new(const char *directory, struct backend *evaluator)
{
    struct chooser *chooser = heap_array(1, sizeof *chooser);
    chooser->directory = directory ? heap_text(directory) : NULL;
    chooser->memos = heap_array(MEMOS, sizeof *chooser->memos);
    chooser_add(chooser, evaluator, CLASS_EVALUATOR);
    return chooser;
}

/* Updates the candidate if it has started since. */
static void check_started(const struct chooser *chooser, struct candidate *candidate, bool wait)
{
    if (candidate->started != BACKEND_PENDING)
        return;
    struct backend *backend = candidate->backend;
    candidate->started = backend->ops->profile(backend, wait, &candidate->profile);
    if (candidate->started != BACKEND_READY)
        return;
    candidate->prior = candidate->model = cost_model_default(&candidate->profile);
    if (chooser->directory)
        (void)cost_model_load(&candidate->model, chooser->directory, &candidate->profile);
}

void chooser_add(struct chooser *chooser, struct backend *backend, enum backend_class class)
{
    static const int assumed_units[] = {[CLASS_EVALUATOR] = 1, [CLASS_CPU] = 1, [CLASS_GPU] = 64};
    struct candidate *candidate = &chooser->candidates[chooser->count++];
    *candidate = (struct candidate){.backend = backend, .started = BACKEND_PENDING};
    candidate->profile = (struct profile){.class = class, .units = assumed_units[class]};
    if (class == CLASS_CPU)
        candidate->profile.units = chooser->candidates[0].profile.units;
    candidate->prior = candidate->model = cost_model_default(&candidate->profile);
    check_started(chooser, candidate, false);
}

void chooser_free(struct chooser *chooser)
{
    if (!chooser)
        return;
    for (size_t k = 0; k < chooser->count; k++) {
        struct candidate *candidate = &chooser->candidates[k];
        if (chooser->directory && candidate->learned)
            (void)cost_model_save(&candidate->model, chooser->directory, &candidate->profile);
        if (k > 0)
            candidate->backend->ops->close(candidate->backend);
    }
    free(chooser->memos);
    free(chooser->directory);
    free(chooser);
}

size_t chooser_count(const struct chooser *chooser)
{
    return chooser->count;
}

struct backend *chooser_backend(const struct chooser *chooser, size_t k)
{
    return chooser->candidates[k].backend;
}

/* What memos are about. */
enum about { ABOUT_RUN, ABOUT_ALL_RUNS, ABOUT_ABILITY, ABOUT_COLUMN, ABOUT_PASSED };

static uint64_t key_of(uint64_t hash, enum about about, size_t candidate, int bucket)
{
    hash ^= ((uint64_t)about << 40 | (uint64_t)candidate << 20 | (uint64_t)(unsigned)(bucket + 1));
    hash *= UINT64_C(0xff51afd7ed558ccd); /* MurmurHash3's finaliser */
    hash ^= hash >> 33;
    hash *= UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ hash >> 33;
}

static int bucket_of(int64_t rows)
{
    return rows > 1 ? 63 - __builtin_clzll((unsigned long long)rows) : 0;
}

static struct memo *find(const struct chooser *chooser, uint64_t key)
{
    struct memo *memo = &chooser->memos[key % MEMOS];
    return memo->key == key ? memo : NULL;
}

static struct memo *find_or_add(struct chooser *chooser, uint64_t key)
{
    struct memo *memo = &chooser->memos[key % MEMOS];
    if (memo->key != key)
        *memo = (struct memo){.key = key};
    return memo;
}

/* What the task took on the candidate at this size, or the nearest size that has run. */
static const struct memo *nearest_run(const struct chooser *chooser, size_t k, const struct cost_features *work,
                                      bool *tried)
{
    const int bucket = bucket_of(work->rows);
    const struct memo *memo = find(chooser, key_of(work->shape, ABOUT_RUN, k, bucket));
    *tried = memo;
    for (int distance = 1; !memo && distance <= BUCKETS_NEAR; distance++) {
        memo = find(chooser, key_of(work->shape, ABOUT_RUN, k, bucket + distance));
        if (!memo && bucket >= distance)
            memo = find(chooser, key_of(work->shape, ABOUT_RUN, k, bucket - distance));
    }
    return memo;
}

/* The time of some of the task's rows by the model. */
static double model(const struct candidate *candidate, const struct cost_features *work, int64_t rows)
{
    const struct load load = load_of_rows(work, rows);
    return cost_model_time(&candidate->model, &load);
}

/* The key of a column: counts the runs in which the host read it since its last upload. */
static uint64_t column_key(const struct column *column)
{
    return key_of((uint64_t)(uintptr_t)column->data, ABOUT_COLUMN, 0, 0);
}

/* The column that is read as an input, or NULL. */
static const struct column *column_read(const struct cost_features *work, size_t k)
{
    return work->reads[k] ? work->columns[k] : NULL;
}

/* Counts a run in which the host read the columns, or, `uploaded`, forgets those before. */
static void count_reads(struct chooser *chooser, const struct cost_features *work, bool uploaded)
{
    for (size_t k = 0; k < work->task->input_count; k++) {
        const struct column *column = column_read(work, k);
        struct memo *memo = column ? find_or_add(chooser, column_key(column)) : NULL;
        if (memo)
            memo->runs = uploaded ? 0 : memo->runs + 1;
    }
}

static int64_t bytes_absent(struct backend *backend, const struct cost_features *work, size_t k)
{
    const struct column *column = column_read(work, k);
    if (!column || !backend->ops->absent)
        return 0;
    const bool whole = work->task->inputs[k].whole || work->end > column->rows;
    return backend->ops->absent(backend, column, whole ? 0 : work->begin, whole ? column->rows : work->end);
}

/* Nanoseconds to fetch a byte that only a device has. */
static double fetch_rate(const struct chooser *chooser)
{
    double rate = 0;
    for (size_t k = 0; k < chooser->count; k++)
        rate = fmax(rate, chooser->candidates[k].model.download);
    return rate;
}

static bool has_own_memory(const struct candidate *candidate)
{
    return candidate->model.upload > 0;
}

static uint32_t runs_of(const struct chooser *chooser, uint64_t key)
{
    const struct memo *memo = find(chooser, key);
    return memo ? memo->runs : 0;
}

/* An upload serves later queries too: expect as many as have read the column so far, and charge each its share. So
 * columns move once the device would have saved as much as the upload takes. */
static double move_time(const struct chooser *chooser, size_t k, const struct cost_features *work)
{
    const struct candidate *candidate = &chooser->candidates[k];
    double bytes = 0;
    if (!has_own_memory(candidate))
        return fetch_rate(chooser) * (double)work->away_bytes;
    for (size_t i = 0; i < work->task->input_count; i++) {
        const int64_t absent = bytes_absent(candidate->backend, work, i);
        if (absent > 0)
            bytes += (double)absent / (1 + (double)runs_of(chooser, column_key(work->columns[i])));
    }
    return candidate->model.upload * bytes;
}

/* Drivers start one after another, only one of each class, and none for a CPU beside a GPU: trials of it, and what it
 * turns out to leave to the evaluator, would cost more than it gains. */
static bool is_hidden(const struct chooser *chooser, size_t k)
{
    bool hidden = false;
    for (size_t before = 1; before < k; before++) {
        const struct candidate *other = &chooser->candidates[before];
        hidden = hidden || other->started == BACKEND_PENDING ||
                 (other->started == BACKEND_READY &&
                  (other->profile.class == CLASS_GPU || other->profile.class == chooser->candidates[k].profile.class));
    }
    return hidden;
}

static bool suits(const struct candidate *candidate, const struct cost_features *work)
{
    const struct backend *backend = candidate->backend;
    const enum work_kind kind = work->load.kind;
    if (candidate->started != BACKEND_READY || (kind >= WORK_MAP && kind != WORK_TOP) || !backend->ops->suits)
        return true;
    return backend->ops->suits(backend, kind == WORK_TOP ? OPERATOR_SORT : (enum operator_kind)kind);
}

static void estimate(struct chooser *chooser, size_t k, const struct cost_features *work, bool wait,
                     struct estimate *estimate)
{
    struct candidate *candidate = &chooser->candidates[k];
    const bool hidden = is_hidden(chooser, k);
    check_started(chooser, candidate, wait && !hidden);
    *estimate = (struct estimate){.backend = candidate->backend, .name = candidate->backend->name, .hidden = hidden};
    estimate->able = !hidden && candidate->started != BACKEND_UNABLE && suits(candidate, work) &&
                     !find(chooser, key_of(work->shape, ABOUT_ABILITY, k, 0));
    const struct memo *memo = nearest_run(chooser, k, work, &estimate->tried);
    estimate->ns = model(candidate, work, work->rows);
    if (memo)
        estimate->ns *= memo->ns / model(candidate, work, memo->rows);
    estimate->move_ns = move_time(chooser, k, work);
    estimate->ns += estimate->move_ns;
    estimate->hoped_ns = candidate->profile.class == CLASS_GPU
                             ? cost_model_time(&candidate->prior, &work->load) + estimate->move_ns
                             : estimate->ns;
}

void chooser_estimate(struct chooser *chooser, const struct cost_features *work, bool wait,
                      struct estimate estimates[MOST_CANDIDATES])
{
    for (size_t k = 0; k < chooser->count; k++)
        estimate(chooser, k, work, wait, &estimates[k]);
}

/* The fastest; the evaluator if the difference is negligible. */
static size_t fastest(const struct estimate *estimates, size_t count)
{
    size_t best = 0;
    for (size_t k = 1; k < count; k++)
        best = estimates[k].able && estimates[k].ns < estimates[best].ns ? k : best;
    return estimates[0].ns <= estimates[best].ns * (1 + negligible_share) + negligible_ns ? 0 : best;
}

/* Whether to try a candidate instead of the best, after so many trials in so many runs: soon if it may well be faster,
 * late if that is unlikely, and more and more rarely, so that the cost of trials vanishes against that of the runs. The
 * first trials of a GPU may have waited for its driver or for other programs: against them stands what was expected
 * before. */
static bool worth_trying(const struct estimate *estimate, const struct estimate *best, uint32_t trials, uint32_t runs)
{
    enum { FIRST = 4 };
    static const double least = 0.2, most = 20, share = 0.25;
    const bool hopeful = trials < FIRST && estimate->hoped_ns < best->ns;
    const double ratio = estimate->ns / best->ns, loss = hopeful || ratio - 1 < least ? least : ratio - 1;
    double times = trials > 1 ? (double)trials : 1; /* the first says little */
    return loss < most && times * times * loss <= share * (double)runs;
}

struct backend *chooser_pick(struct chooser *chooser, const struct cost_features *work)
{
    struct estimate estimates[MOST_CANDIDATES] = {0};
    chooser_estimate(chooser, work, false, estimates);
    const size_t best = fastest(estimates, chooser->count);
    const int bucket = bucket_of(work->rows);
    const uint32_t runs = runs_of(chooser, key_of(work->shape, ABOUT_ALL_RUNS, 0, bucket));
    if (estimates[best].ns <= 2 * negligible_ns)
        return estimates[best].backend;
    for (size_t k = 0; k < chooser->count; k++) {
        const uint32_t trials = runs_of(chooser, key_of(work->shape, ABOUT_RUN, k, bucket));
        if (k != best && estimates[k].able && worth_trying(&estimates[k], &estimates[best], trials, runs))
            return estimates[k].backend;
    }
    return estimates[best].backend;
}

double chooser_host_time(const struct chooser *chooser, const struct cost_features *work)
{
    bool tried;
    const struct candidate *host = &chooser->candidates[0];
    const struct memo *memo = nearest_run(chooser, 0, work, &tried);
    return tried ? model(host, work, work->rows) * memo->ns / model(host, work, memo->rows) : 0;
}

/* A GPU whose first trials may have been unlucky; 0: none. */
static size_t hopeful_device(const struct chooser *chooser, const struct cost_features *work,
                             const struct estimate *estimates, size_t best, uint32_t runs)
{
    const int bucket = bucket_of(work->rows);
    for (size_t k = 1; k < chooser->count; k++) {
        const uint32_t trials = runs_of(chooser, key_of(work->shape, ABOUT_RUN, k, bucket));
        if (k != best && estimates[k].able && estimates[k].hoped_ns < estimates[best].ns &&
            worth_trying(&estimates[k], &estimates[best], trials, runs))
            return k;
    }
    return 0;
}

struct backend *chooser_pick_grouped(struct chooser *chooser, const struct cost_features *work,
                                     const struct cost_features *both, const struct load *then, double *host_ns)
{
    struct estimate estimates[MOST_CANDIDATES] = {0};
    const int bucket = bucket_of(both->rows);
    const struct memo *passed = find(chooser, key_of(both->shape, ABOUT_PASSED, 0, bucket));
    struct load group = *then;
    chooser_estimate(chooser, work, false, estimates);
    const double known = chooser_host_time(chooser, both);
    if (known > 0)
        estimates[0].ns = known + estimates[0].move_ns;
    if (passed)
        group.bytes *= passed->ns;
    for (size_t k = 1; k < chooser->count; k++) {
        const double ns = cost_model_time(&chooser->candidates[k].model, &group);
        estimates[k].ns += ns;
        estimates[k].hoped_ns += ns;
    }
    *host_ns = estimates[0].ns;
    const size_t best = fastest(estimates, chooser->count);
    const size_t tried = best > 0 ? 0
                                  : hopeful_device(chooser, work, estimates, best,
                                                   runs_of(chooser, key_of(both->shape, ABOUT_RUN, 0, bucket)));
    return estimates[tried > 0 ? tried : best].backend;
}

struct backend *chooser_missing_device(struct chooser *chooser)
{
    struct candidate *best = &chooser->candidates[1];
    if (chooser->missing_reported || chooser->count < 2)
        return NULL;
    check_started(chooser, best, false);
    chooser->missing_reported = best->started == BACKEND_UNABLE;
    return chooser->missing_reported ? best->backend : NULL;
}

static size_t index_of(const struct chooser *chooser, const struct backend *backend)
{
    size_t k = 0;
    while (k + 1 < chooser->count && chooser->candidates[k].backend != backend)
        k++;
    return k;
}

/* Follows measurements: quickly down, slowly up, because disturbances only make a run longer. Half of a first run may
 * be fresh memory and a driver's last preparations, and the second may have been disturbed: neither counts as more than
 * twice the time expected, or a quarter of what it took, so that one unlucky run does not rule a backend out. */
static void remember_run(struct chooser *chooser, size_t k, const struct cost_features *work, int64_t rows, double ns)
{
    const struct candidate *candidate = &chooser->candidates[k];
    struct memo *memo = find_or_add(chooser, key_of(work->shape, ABOUT_RUN, k, bucket_of(work->rows)));
    const double expected = model(candidate, work, rows);
    const double before = memo->runs > 0 ? memo->ns * expected / model(candidate, work, memo->rows) : ns;
    const double limited = ns > 2 * before ? 2 * before : ns;
    if (memo->runs == 0)
        memo->ns = fmin(ns, fmax(2 * expected, ns / 4));
    else if (memo->runs == 1)
        memo->ns = limited;
    else
        memo->ns = ns > before ? before + (limited - before) / 8 : before + (ns - before) / 2;
    memo->rows = rows;
    memo->runs++;
}

void chooser_learn(struct chooser *chooser, const struct backend *backend, const struct cost_features *work,
                   const struct spent *spent)
{
    const size_t k = index_of(chooser, backend);
    struct candidate *candidate = &chooser->candidates[k];
    double ns = (double)(spent->ns - spent->upload_ns - spent->download_ns);
    if (!has_own_memory(candidate))
        ns -= fmin(fetch_rate(chooser) * (double)work->away_bytes, 0.9 * ns);
    if (candidate->backend != backend || spent->rows <= 0 || ns <= 0)
        return;
    const struct load load = load_of_rows(work, spent->rows);
    check_started(chooser, candidate, false);
    candidate->learned = true;
    cost_model_update(&candidate->model, &candidate->prior, &load, ns);
    if (spent->upload_bytes > 0) {
        cost_model_update_transfer(&candidate->model.upload, (double)spent->upload_ns / (double)spent->upload_bytes);
        count_reads(chooser, work, true);
    }
    if (spent->download_bytes > 0)
        cost_model_update_transfer(&candidate->model.download,
                                   (double)spent->download_ns / (double)spent->download_bytes);
    remember_run(chooser, k, work, spent->rows, ns);
    if (spent->rows * 2 < work->rows)
        return;
    find_or_add(chooser, key_of(work->shape, ABOUT_ALL_RUNS, 0, bucket_of(work->rows)))->runs++;
    if (!has_own_memory(candidate))
        count_reads(chooser, work, false);
}

void chooser_learn_grouped(struct chooser *chooser, const struct cost_features *both, int64_t passed, int64_t ns)
{
    const double expected = load_rows_passing(both);
    struct memo *memo = find_or_add(chooser, key_of(both->shape, ABOUT_PASSED, 0, bucket_of(both->rows)));
    memo->ns = expected > 0 ? (double)passed / expected : 1;
    remember_run(chooser, 0, both, both->rows, (double)ns);
    count_reads(chooser, both, false);
}

void chooser_rule_out(struct chooser *chooser, const struct backend *backend, const struct cost_features *work)
{
    const size_t k = index_of(chooser, backend);
    if (k > 0)
        find_or_add(chooser, key_of(work->shape, ABOUT_ABILITY, k, 0))->unable = true;
}
