/* A join index made on a device: dense, ranked, or searched where the rows are in that order already; of integers that
 * are all present, without doubles, unless only members are asked for. */
#include "engine/join_index/join_keys.h"

#include "base/integer.h"
#include "engine/backend/backend_choice.h"
#include "engine/storage/residency.h"

/* Whether a device alone has rows of all keys, and one that is started all that the host has. */
static bool is_resident(const struct join_keys *keys, struct backend *backend)
{
    struct profile profile;
    if (backend->ops->profile(backend, false, &profile) != BACKEND_READY || profile.class != CLASS_GPU)
        return false;
    for (size_t k = 0; k < keys->count; k++) {
        struct column *column = keys->columns[k];
        if (!column->residency || column_is_deferred(column) ||
            backend->ops->absent(backend, column, 0, column->rows) > 0)
            return false;
    }
    return true;
}

/* The one that is named, or that computed the keys. */
static struct backend *backend_for(const struct join_keys *keys, const struct join_device *device)
{
    struct backend *found = device->named;
    for (size_t k = 1; device->chooser && !found && k < chooser_count(device->chooser); k++) {
        struct backend *backend = chooser_backend(device->chooser, k);
        found = backend->ops->index_rows && is_resident(keys, backend) ? backend : NULL;
    }
    return found && found->ops->index_rows ? found : NULL;
}

static bool suits(const struct join_keys *keys)
{
    bool suits = keys->count > 0 && !keys->order && !keys->second && keys->rows > 0 && keys->rows < INT32_MAX;
    for (size_t k = 0; k < keys->count; k++)
        suits = suits && !keys->columns[k]->validity && type_table[keys->columns[k]->store].kind != KIND_FLOAT;
    return suits;
}

static struct operator_job job_of(const struct join_keys *keys, const struct workers *workers,
                                  const struct join_device *device)
{
    struct arena *arena = device->diags->arena;
    struct task *task = arena_alloc(arena, sizeof *task);
    struct column_operator *column_op = arena_alloc(arena, sizeof *column_op);
    struct stage_mark *mark = arena_alloc(arena, sizeof *mark);
    *column_op = (struct column_operator){.kind = OPERATOR_IDS, .key_count = keys->count};
    column_op->keys = arena_array(arena, keys->count, sizeof *column_op->keys);
    for (size_t k = 0; k < keys->count; k++)
        column_op->keys[k] = k;
    *mark = (struct stage_mark){.name = "index", .text = "index"};
    *task = (struct task){.stages = mark,
                          .stage_count = 1,
                          .sink = SINK_OPERATOR,
                          .column_op = column_op,
                          .input_count = keys->count,
                          .rows = keys->rows};
    return (struct operator_job){.task = task,
                                 .inputs = keys->columns,
                                 .rows = keys->rows,
                                 .no_wait = device->no_wait,
                                 .timing = device->timing,
                                 .cancel = workers->cancel,
                                 .diags = device->diags};
}

/* Reserves the tables of the method; false: no memory. */
static bool reserve(struct join_index *index, const struct join_keys *keys, int64_t words)
{
    const int64_t ids = index->method == JOIN_DENSE ? index->ids : index->rows;
    if (index->method == JOIN_RANKED)
        index->words = column_reserve(TYPE_I64, TYPE_I64, words);
    if (!keys->members_only)
        index->row_of = column_reserve(TYPE_I32, TYPE_I32, ids + 1);
    else if (index->method == JOIN_DENSE)
        index->members = column_reserve(TYPE_BOOL, TYPE_BOOL, ids + 1);
    return (index->words || index->method == JOIN_DENSE) &&
           (index->row_of || (keys->members_only && (index->members || index->words)));
}

static void drop(struct join_index *index)
{
    column_unref(index->words);
    column_unref(index->members);
    column_unref(index->row_of);
    index->words = index->members = index->row_of = NULL;
    index->ids = 0;
}

static void finish(struct join_index *index, const struct index_tables *tables, int64_t words)
{
    if (index->method == JOIN_RANKED) {
        index->ids = tables->ids;
        join_finish_words(index, words);
    }
    if (index->members)
        column_finish(index->members, index->ids + 1);
    if (index->row_of) {
        column_finish(index->row_of, index->ids + 1);
        index->row_of->range_known = true;
        index->row_of->lo = -1;
        index->row_of->hi = index->rows - 1;
    }
    index->in_order = tables->in_order;
}

/* The places of the other keys of an index that is searched, whose rows are in its order already. STATUS_UNABLE: they
 * are not, or too many are in one place. */
static enum status build_search(struct join_index *index, const struct join_keys *keys, struct backend *backend,
                                const struct operator_job *job, struct index_tables *tables)
{
    if (!join_search_key(index, &tables->searched) || keys->columns[tables->searched]->store == TYPE_BOOL)
        return STATUS_UNABLE;
    const int64_t places = join_combinations(index, tables->searched);
    struct column *begins = tables->begins = column_reserve(TYPE_I32, TYPE_I32, places + 2);
    enum status status = begins ? backend->ops->index_rows(backend, job, tables) : STATUS_UNABLE;
    if (status == STATUS_OK && (tables->doubles || tables->most > JOIN_SEARCH_ROWS))
        status = STATUS_UNABLE;
    if (status != STATUS_OK) {
        column_unref(begins);
        return status;
    }
    column_finish(begins, places + 2);
    begins->range_known = true;
    begins->lo = 0;
    begins->hi = index->rows;
    index->method = JOIN_SEARCHED;
    index->search = (struct join_search){.key = tables->searched,
                                         .most = tables->most,
                                         .starts = begins,
                                         .values = column_ref(keys->columns[tables->searched])};
    index->ids = index->rows;
    index->in_order = true;
    return STATUS_OK;
}

enum status join_device_build(struct join_index *index, const struct join_keys *keys, const struct workers *workers,
                              const struct join_device *device)
{
    struct backend *backend = device && suits(keys) ? backend_for(keys, device) : NULL;
    if (!backend)
        return STATUS_UNABLE;
    struct operator_job job = job_of(keys, workers, device);
    struct index_tables tables = {.lo = arena_array(device->diags->arena, keys->count, sizeof *tables.lo),
                                  .hi = arena_array(device->diags->arena, keys->count, sizeof *tables.hi)};
    enum status status = backend->ops->index_ranges(backend, &job, &tables);
    for (size_t k = 0; k < keys->count && status == STATUS_OK; k++) {
        index->keys[k].lo = tables.lo[k];
        index->keys[k].hi = tables.hi[k];
    }
    if (status != STATUS_OK)
        return status;
    const int64_t words = divide_up(join_choose_method(index), JOIN_WORD_BITS);
    if (index->method == JOIN_SPARSE)
        return build_search(index, keys, backend, &job, &tables);
    if (!reserve(index, keys, words)) {
        drop(index);
        return STATUS_UNABLE;
    }
    tables.words = index->words;
    tables.members = index->members;
    tables.row_of = index->row_of;
    status = backend->ops->index_rows(backend, &job, &tables);
    if (status == STATUS_OK && tables.doubles)
        status = STATUS_UNABLE;
    if (status == STATUS_OK)
        finish(index, &tables, words);
    else
        drop(index);
    return status;
}
