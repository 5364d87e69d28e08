/* How fast a backend is, as a few numbers for each kind of work: the time of a task is
 *
 *     fixed + bytes * byte + operations * operation     (operations: of all rows)
 *
 * plus what is uploaded before and downloaded after, by the byte. Numbers start from what is usual for the backend's
 * class, follow every run a little, and are remembered on disk. Times are nanoseconds. */
#ifndef RQL_ENGINE_BACKEND_COST_MODEL_H
#define RQL_ENGINE_BACKEND_COST_MODEL_H

#include "engine/backend/backend.h"

/* What a task does with its rows: a breaker's kind, or what else. */
enum work_kind {
    WORK_MAP = OPERATOR_HIST + 1, /* rows, all of them */
    WORK_FILTER,                  /* rows that pass */
    WORK_AGGREGATE,               /* one row */
    WORK_FOLD,                    /* the same, by a function of the user's or in the order of rows */
    WORK_ALONG,                   /* groups that are rows or columns of a shape */
    WORK_TOP,                     /* a sort of which few rows are read */
    WORK_KINDS
};

struct cost_rate {
    double fixed, byte, operation;
};

struct cost_model {
    struct cost_rate of[WORK_KINDS];
    double upload, download; /* a byte; 0: the backend works in the host's memory */
};

/* How much of a kind there is to do. A `range` may have more rows than their bytes can be counted in 64 bits. */
struct load {
    enum work_kind kind;
    double bytes;      /* read and written */
    double operations; /* of each row, times the rows */
};

/* What is usual for a backend like this. */
struct cost_model cost_model_default(const struct profile *profile);

double cost_model_time(const struct cost_model *model, const struct load *load);

/* This load has taken so long: the numbers that the time mostly comes from move towards it. */
void cost_model_update(struct cost_model *model, const struct cost_model *usual, const struct load *load, double ns);

/* A byte has taken so long to upload or download. */
void cost_model_update_transfer(double *byte, double ns);

/* Reads what was remembered of a backend in this folder; false, with nothing changed, if there is nothing, or something
 * else, or it cannot be believed. */
bool cost_model_load(struct cost_model *model, const char *directory, const struct profile *profile);

/* Remembers it; the folder is there. Written beside and renamed, so that nobody reads half of it. False: it could not
 * be written, which is no loss. */
bool cost_model_save(const struct cost_model *model, const char *directory, const struct profile *profile);

#endif
