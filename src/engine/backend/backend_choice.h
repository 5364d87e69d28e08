/* Which backend runs a task when nobody has said: the one that by its rates (cost_model.h), by what would have to be
 * moved to it, and by what the same task took before, is expected to be done first.
 *
 * The choice never changes a result. It is made anew for each task; a task that is run again and again tries what might
 * be quicker, rarely enough to cost little. Where the difference would not be noticed the evaluator is chosen, for
 * which nothing has to be built. */
#ifndef RQL_ENGINE_BACKEND_BACKEND_CHOICE_H
#define RQL_ENGINE_BACKEND_BACKEND_CHOICE_H

#include "engine/backend/cost_features.h"

enum { MOST_CANDIDATES = 8 };

/* What one backend would need. Times are nanoseconds. */
struct estimate {
    struct backend *backend;
    const char *name; /* for people */
    bool hidden;      /* another candidate stands for it, or has to start before it; then it is not able either */
    bool able;        /* false: it cannot run the task, or has no device */
    bool tried;       /* it has run the task at about this size before */
    double ns;        /* in all */
    double move_ns;   /* of which for bringing columns to where it reads them */
};

struct chooser;

/* `directory`: where rates are remembered, or NULL. The evaluator is the first candidate and stays the caller's. */
struct chooser *chooser_new(const char *directory, struct backend *evaluator);

/* Adds a candidate, which the chooser closes. Until it has started it is taken for one of this class. Candidates start
 * one after another, and one of a class that another has turned out to be never does. */
void chooser_add(struct chooser *chooser, struct backend *backend, enum backend_class class);

/* Remembers the rates. */
void chooser_free(struct chooser *chooser); /* NULL is allowed */

size_t chooser_count(const struct chooser *chooser);
struct backend *chooser_backend(const struct chooser *chooser, size_t k);

/* An estimate for each candidate, in their order; with `wait`, after all have started. */
void chooser_estimate(struct chooser *chooser, const struct cost_features *work, bool wait,
                      struct estimate estimates[MOST_CANDIDATES]);

/* The best device, if it has turned out that there is none: its `prepare` says why. NULL otherwise, and when asked
 * again. */
struct backend *chooser_lacking(struct chooser *chooser);

/* The backend to run the task. It may have to get ready first; it may then turn out to be unable. */
struct backend *chooser_pick(struct chooser *chooser, const struct cost_features *work);

/* What a run has taken, in all and of which for moving how many bytes; building and starting are not in it. */
struct spent {
    int64_t rows; /* of the task's */
    int64_t ns;
    int64_t upload_ns, upload_bytes;
    int64_t download_ns, download_bytes;
};
void chooser_learn(struct chooser *chooser, const struct backend *backend, const struct cost_features *work,
                   const struct spent *spent);

/* It cannot run this task: not to be picked for it again. */
void chooser_rule_out(struct chooser *chooser, const struct backend *backend, const struct cost_features *work);

#endif
