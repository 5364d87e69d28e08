/* Backend choice: which backend runs a task if the user names none. The one that is expected to finish first, by its
 * cost model (cost_model.h), the bytes to transfer to it, and earlier times of the same task.
 *
 * The choice never changes a result. It is made for each run of a task; now and then a candidate that might be faster
 * is tried, rarely enough to cost little. Where the difference would not be noticed the evaluator is chosen, which has
 * nothing to build. */
#ifndef RQL_ENGINE_BACKEND_BACKEND_CHOICE_H
#define RQL_ENGINE_BACKEND_BACKEND_CHOICE_H

#include "engine/backend/cost_features.h"

enum { MOST_CANDIDATES = 8 };

/* The expected time of a task on one backend, in nanoseconds. */
struct estimate {
    struct backend *backend;
    const char *name; /* to show */
    bool hidden;      /* another candidate is of its class or a GPU, or has to start before it; never able */
    bool able;        /* can run the task */
    bool tried;       /* has run the task at about this size before */
    double ns;        /* total */
    double move_ns;   /* of that, for moving columns to it */
    double hoped_ns;  /* total, of a GPU as expected before anything was measured, otherwise the same as ns */
};

struct chooser;

/* `directory`: where cost models are kept, or NULL. The evaluator is the first candidate; the caller closes it. */
struct chooser *chooser_new(const char *directory, struct backend *evaluator);

/* Adds a candidate, which the chooser closes. Until it has started, it is taken for one of this class. Candidates start
 * one after another; of each class only the first does. */
void chooser_add(struct chooser *chooser, struct backend *backend, enum backend_class class);

/* Saves the cost models. NULL is allowed. */
void chooser_free(struct chooser *chooser);

size_t chooser_count(const struct chooser *chooser);
struct backend *chooser_backend(const struct chooser *chooser, size_t k);

/* Estimates all candidates, in order; with `wait`, after they have started. */
void chooser_estimate(struct chooser *chooser, const struct cost_features *work, bool wait,
                      struct estimate estimates[MOST_CANDIDATES]);

/* The best device, if it has turned out to be missing: its `prepare` reports why. NULL otherwise, and from the second
 * time on. */
struct backend *chooser_missing_device(struct chooser *chooser);

/* Picks the backend for a task. It may still have to be prepared, and that may fail with STATUS_UNABLE. */
struct backend *chooser_pick(struct chooser *chooser, const struct cost_features *work);

/* Picks the backend for a task whose rows are then grouped. The evaluator groups them while it computes them, which
 * `both` stands for; on a device the group is a second task, whose load is `then`. *host_ns is the time that the
 * evaluator is expected to take for both. */
struct backend *chooser_pick_grouped(struct chooser *chooser, const struct cost_features *work,
                                     const struct cost_features *both, const struct load *then, double *host_ns);

/* The evaluator has computed and grouped the rows in `ns`; so many passed the filters. */
void chooser_learn_grouped(struct chooser *chooser, const struct cost_features *both, int64_t passed, int64_t ns);

/* The time that the evaluator is expected to take, if it has run the task at about this size; 0 otherwise. */
double chooser_host_time(const struct chooser *chooser, const struct cost_features *work);

/* What a run took, without building and starting. */
struct spent {
    int64_t rows; /* of the task */
    int64_t ns;   /* total, moving included */
    int64_t upload_ns, upload_bytes;
    int64_t download_ns, download_bytes;
};

/* Updates the cost model and what is remembered of the task. */
void chooser_learn(struct chooser *chooser, const struct backend *backend, const struct cost_features *work,
                   const struct spent *spent);

/* The backend cannot run this task: it is not picked for it again. */
void chooser_rule_out(struct chooser *chooser, const struct backend *backend, const struct cost_features *work);

/* cost_sample.c: what the ranges of a task took on the backends that ran them, for the backend choice to learn from. */

struct cost_sample {
    struct timing *timing; /* the backends add to it */
    struct spent before;   /* when the range began */
    struct {
        const struct backend *backend;
        struct spent spent;
    } of[MOST_CANDIDATES];
    size_t count;
};

/* A range begins. `timing` is the one that the backends add to. */
void cost_sample_begin(struct cost_sample *sample, struct timing *timing);

/* The range is done: the backend has run `rows` rows. */
void cost_sample_end(struct cost_sample *sample, const struct backend *backend, int64_t rows);

/* Reports all ranges to the chooser. */
void cost_sample_report(const struct cost_sample *sample, struct chooser *chooser, const struct cost_features *work);

#endif
