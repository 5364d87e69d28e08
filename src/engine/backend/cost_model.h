/* Cost model: how fast a backend is, as three rates for each kind of work. The time of a task is
 *
 *     fixed + bytes * byte + operations * operation     (operations: of all rows)
 *
 * plus a time for each byte uploaded before and downloaded after. Rates start from defaults for the backend's class,
 * follow every run a little, and are kept on disk. Times are nanoseconds. */
#ifndef RQL_ENGINE_BACKEND_COST_MODEL_H
#define RQL_ENGINE_BACKEND_COST_MODEL_H

#include "engine/backend/backend.h"

/* What a task does with its rows: an operator's kind, or: */
enum work_kind {
    WORK_MAP = OPERATOR_KINDS, /* rows, all of them */
    WORK_FILTER,               /* rows that pass */
    WORK_AGGREGATE,            /* one row */
    WORK_FOLD,                 /* one row, by a user's function or in the order of rows */
    WORK_AXIS,                 /* axis reduction: groups that are rows or columns of a shape */
    WORK_TOP,                  /* a sort of which few rows are read */
    WORK_KINDS
};

struct cost_rate {
    double fixed, byte, operation;
};

struct cost_model {
    struct cost_rate of[WORK_KINDS];
    double upload, download; /* a byte; 0: the backend works in the host's memory */
};

/* An amount of work. The bytes of a long `range` exceed 64 bits. */
struct load {
    enum work_kind kind;
    double bytes;      /* read and written */
    double operations; /* of each row, times the rows */
};

/* The defaults for a backend like this. */
struct cost_model cost_model_default(const struct profile *profile);

double cost_model_time(const struct cost_model *model, const struct load *load);

/* A load has taken `ns`: moves the rates that dominate its time towards that, and not far from the defaults. */
void cost_model_update(struct cost_model *model, const struct cost_model *defaults, const struct load *load, double ns);

/* A byte has taken `ns` to upload or download. */
void cost_model_update_transfer(double *byte, double ns);

/* Reads the model kept for a backend in this directory. Returns false, with nothing changed, if there is none, or it is
 * damaged or implausible. */
bool cost_model_load(struct cost_model *model, const char *directory, const struct profile *profile);

/* Writes the model to the directory, which exists, and renames it into place, so that readers never see half of it.
 * Returns false if it could not be written. */
bool cost_model_save(const struct cost_model *model, const char *directory, const struct profile *profile);

#endif
