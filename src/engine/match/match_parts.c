/* Match: looking up the left's rows in an index of the right, both of which fit memory or are read in order. */
#include "engine/match/match.h"

#include "base/buffer_pool.h"
#include "base/heap.h"
#include "base/integer.h"
#include "engine/join_index/join_index.h"
#include "engine/vector/elements.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUND_ROWS = 1 << 22,
    PIECE_ROWS = 1 << 16,
    WRITTEN = 1 << 12 /* rows at once */
};

struct probing {
    struct matching *matching;
    const struct match_side *left, *right;
    const struct join_index *index; /* NULL: */
    const int64_t *equal;           /* all rows of the right have these keys */
    const int32_t *starts, *row_of; /* tables of the index, or NULL */
    const uint8_t *members;
    uint8_t *matched; /* of a full join: whether some row has found each row of the right */
    /* A round: */
    int64_t begin;   /* its first row of the left */
    int32_t *ids;    /* of each row */
    int64_t *places; /* of each piece: rows that it finds, then where they begin in the segment */
    struct match_segment *segment;
};

/* The rows of the right with an id, of the index or of none. */
struct found {
    int64_t begin, count;
};

static struct found rows_of(const struct probing *probing, int64_t id)
{
    if (id < 0)
        return (struct found){0, 0};
    if (!match_takes(probing->matching->match))
        return (struct found){0, !probing->members || probing->members[id]};
    if (!probing->index)
        return (struct found){0, probing->right->rows};
    if (probing->starts)
        return (struct found){probing->starts[id], probing->starts[id + 1] - probing->starts[id]};
    const int64_t row = probing->row_of ? probing->row_of[id] : id;
    return (struct found){row, row >= 0 && row < probing->right->rows};
}

/* The row at a place of those that were found. */
static int64_t row_at(const struct probing *probing, int64_t place)
{
    return probing->starts && probing->row_of ? probing->row_of[place] : place;
}

/* The ids of rows of the left; `values` has room for a block of each key. */
static void find_ids(const struct probing *probing, int64_t row, int count, int64_t *const *values, int64_t *ids)
{
    const struct match_side *left = probing->left;
    const size_t keys = probing->matching->match->key_count;
    for (size_t k = 0; k < keys; k++)
        join_key_values(left->keys[k], row, count, values[k]);
    if (probing->index)
        join_probe(probing->index, (const int64_t *const *)values, count, ids);
    else
        memset(ids, 0, (size_t)count * sizeof *ids);
    for (size_t k = 0; k < keys; k++) {
        const uint8_t *present = left->keys[k]->validity ? left->keys[k]->validity->data : NULL;
        for (int i = 0; i < count && (present || !probing->index); i++) {
            const bool other = !probing->index && values[k][i] != probing->equal[k];
            ids[i] = other || (present && !present[row + i]) ? -1 : ids[i];
        }
    }
}

/* ---- segments ---- */

/* Rows that are written together. */
struct written {
    uint64_t rows[WRITTEN];   /* of the right */
    int64_t numbers[WRITTEN]; /* of the left */
    uint64_t buffer[WRITTEN];
    int count;
    int64_t at;   /* in the segment */
    int64_t last; /* number that was counted */
};

static int64_t number_of(const struct probing *probing, int64_t row)
{
    const struct column *numbers = probing->left->numbers;
    return numbers ? column_get_int(numbers, row) : row;
}

static void put_numbers(const struct written *written, struct column *to, void *buffer)
{
    int32_t *narrow = buffer;
    for (int i = 0; to->store == TYPE_I32 && i < written->count; i++)
        narrow[i] = (int32_t)written->numbers[i];
    if (to->store != TYPE_I32)
        memcpy(buffer, written->numbers, (size_t)written->count * sizeof *written->numbers);
}

/* Counts what the rows of each block have found, and the left's rows that have found something: a row's may be in
 * several flushes. */
static void count_found(const struct matching *matching, struct written *written)
{
    for (int i = 0; i < written->count;) {
        const int64_t block = written->numbers[i] / matching->block;
        const int begin = i;
        int64_t finders = 0;
        for (; i < written->count && written->numbers[i] / matching->block == block; i++) {
            finders += written->numbers[i] != written->last && written->numbers[i] < matching->job->rows;
            written->last = written->numbers[i];
        }
        atomic_fetch_add_explicit(&matching->counts[block].finders, finders, memory_order_relaxed);
        atomic_fetch_add_explicit(&matching->counts[block].found, i - begin, memory_order_relaxed);
    }
}

static void flush(const struct probing *probing, const struct match_segment *segment, struct written *written)
{
    const struct matching *matching = probing->matching;
    count_found(matching, written);
    for (int64_t at = divide_up(written->at, MATCH_STRIDE); at * MATCH_STRIDE < written->at + written->count; at++)
        segment->every[at] = written->numbers[at * MATCH_STRIDE - written->at];
    for (size_t k = 0; k < matching->match->value_count + 1; k++) {
        struct column *to = segment->columns[k];
        if (!to || written->count == 0)
            continue;
        if (k == 0)
            put_numbers(written, to, written->buffer);
        else
            column_gather(probing->right->values[k - 1], written->rows, written->count, written->buffer);
        buffer_pool_write(matching->workers->pool, column_at(to, written->at), written->buffer,
                          (size_t)written->count * type_table[to->store].size);
    }
    written->at += written->count;
    written->count = 0;
}

static void add_rows(const struct probing *probing, const struct match_segment *segment, struct written *written,
                     int64_t number, struct found found)
{
    for (int64_t i = 0; i < found.count; i++) {
        if (written->count == WRITTEN) {
            flush(probing, segment, written);
            if (workers_cancelled(probing->matching->workers))
                return;
        }
        const int64_t row = row_at(probing, found.begin + i);
        if (probing->matched)
            probing->matched[row] = 1;
        written->rows[written->count] = (uint64_t)row;
        written->numbers[written->count++] = number;
    }
}

static struct column *reserve(const struct matching *matching, const struct column *like, int64_t rows)
{
    struct buffer_pool *pool = matching->workers->pool;
    return pool ? column_reserve_spilled(pool, like, rows) : column_reserve_like(NULL, like, like->type, rows);
}

static bool reserve_segment(const struct probing *probing, struct match_segment *segment)
{
    const struct matching *matching = probing->matching;
    const size_t values = matching->match->value_count;
    bool reserved = true;
    segment->columns = heap_array(values + 1, sizeof(struct column *));
    segment->every = heap_array((size_t)divide_up(segment->rows, MATCH_STRIDE) + 1, sizeof *segment->every);
    segment->columns[0] = reserve(matching, &matching->number, segment->rows);
    reserved = segment->columns[0];
    for (size_t k = 0; k < values; k++) {
        const struct column *like = probing->right->values[k];
        if (!like)
            continue;
        segment->columns[k + 1] = reserve(matching, like, segment->rows);
        reserved = reserved && segment->columns[k + 1];
    }
    return reserved;
}

/* ---- rounds ---- */

/* Finds the ids of a piece's rows, and counts the rows that these have. */
static void find_piece(void *context, struct part piece)
{
    struct probing *probing = context;
    const size_t keys = probing->matching->match->key_count;
    int64_t ids[OPERATOR_BLOCK], rows = 0;
    int64_t **values = heap_array(keys + 1, sizeof *values);
    for (size_t k = 0; k < keys; k++)
        values[k] = heap_array(OPERATOR_BLOCK, sizeof **values);
    for (int64_t at = piece.begin; at < piece.end && !workers_cancelled(probing->matching->workers);
         at += OPERATOR_BLOCK) {
        const int count = (int)min_int64(piece.end - at, OPERATOR_BLOCK);
        find_ids(probing, probing->begin + at, count, values, ids);
        for (int i = 0; i < count; i++) {
            probing->ids[at + i] = (int32_t)ids[i];
            rows += rows_of(probing, ids[i]).count;
        }
    }
    probing->places[piece.number] = rows;
    for (size_t k = 0; k < keys; k++)
        free(values[k]);
    free(values);
}

static void write_piece(void *context, struct part piece)
{
    struct probing *probing = context;
    struct written *written = heap_array(1, sizeof *written);
    written->at = probing->places[piece.number];
    written->last = -1;
    for (int64_t at = piece.begin; at < piece.end && !workers_cancelled(probing->matching->workers); at++) {
        const struct found rows = rows_of(probing, probing->ids[at]);
        if (rows.count > 0)
            add_rows(probing, probing->segment, written, number_of(probing, probing->begin + at), rows);
    }
    flush(probing, probing->segment, written);
    free(written);
}

static struct match_segment *add_segment(struct matching *matching)
{
    if (matching->segment_count == matching->segment_capacity) {
        const size_t capacity = 2 * matching->segment_capacity + 8;
        struct match_segment *more = heap_array(capacity, sizeof *more);
        if (matching->segment_count > 0)
            memcpy(more, matching->segments, matching->segment_count * sizeof *more);
        free(matching->segments);
        matching->segments = more;
        matching->segment_capacity = capacity;
    }
    return &matching->segments[matching->segment_count++];
}

/* Makes the segment of `count` rows of the left from `begin` on. */
static enum status probe_round(struct probing *probing, int64_t begin, int64_t count)
{
    const struct workers *workers = probing->matching->workers;
    const struct parts pieces = partition_rows(workers, count, PIECE_ROWS);
    probing->begin = begin;
    probing->places = heap_array((size_t)pieces.count + 1, sizeof *probing->places);
    enum status status = workers_run_parts(workers, &pieces, find_piece, probing) ? STATUS_OK : STATUS_CANCELLED;
    const int64_t rows = begins_of_counts(probing->places, pieces.count);
    if (status == STATUS_OK && rows > 0 && !workers_cancelled(workers)) {
        struct match_segment *segment = probing->segment = add_segment(probing->matching);
        *segment = (struct match_segment){
            .rows = rows, .first = number_of(probing, begin), .last = number_of(probing, begin + count - 1)};
        if (!reserve_segment(probing, segment))
            status = STATUS_FAILED;
        else if (!workers_run_parts(workers, &pieces, write_piece, probing))
            status = STATUS_CANCELLED;
    }
    free(probing->places);
    return status == STATUS_OK && workers_cancelled(workers) ? STATUS_CANCELLED : status;
}

static enum status probe(struct probing *probing)
{
    const int64_t rows = probing->left->rows;
    probing->ids = heap_array((size_t)min_int64(rows, ROUND_ROWS) + 1, sizeof *probing->ids);
    enum status status = STATUS_OK;
    for (int64_t begin = 0; begin < rows && status == STATUS_OK; begin += ROUND_ROWS)
        status = probe_round(probing, begin, min_int64(rows - begin, ROUND_ROWS));
    free(probing->ids);
    return status;
}

/* ---- a pair of parts ---- */

/* Adds the rows of the right that nothing has found, which are numbered after those of the left. */
static enum status add_rest(struct probing *probing)
{
    struct matching *matching = probing->matching;
    const struct column *numbers = probing->right->numbers;
    const int64_t rows = probing->right->rows, first = matching->job->rows;
    int64_t rest = 0;
    for (int64_t row = 0; row < rows; row++)
        rest += !probing->matched[row];
    if (rest == 0)
        return STATUS_OK;
    struct match_segment *segment = add_segment(matching);
    *segment = (struct match_segment){.rows = rest,
                                      .first = first + (numbers ? column_get_int(numbers, 0) : 0),
                                      .last = first + (numbers ? column_get_int(numbers, rows - 1) : rows - 1)};
    if (!reserve_segment(probing, segment))
        return STATUS_FAILED;
    struct written *written = heap_array(1, sizeof *written);
    written->last = -1;
    for (int64_t row = 0; row < rows && !workers_cancelled(matching->workers); row++) {
        if (!probing->matched[row])
            add_rows(probing, segment, written, first + (numbers ? column_get_int(numbers, row) : row),
                     (struct found){row, 1});
    }
    flush(probing, segment, written);
    free(written);
    return workers_cancelled(matching->workers) ? STATUS_CANCELLED : STATUS_OK;
}

static enum status probe_pair(struct probing *probing)
{
    const struct join_index *index = probing->index;
    const size_t rows = (size_t)probing->right->rows;
    if (index && index->starts)
        probing->starts = index->starts->data;
    if (index && index->row_of)
        probing->row_of = index->row_of->data;
    if (index && index->members)
        probing->members = index->members->data;
    if (probing->matching->match->kind == JOIN_FULL)
        probing->matched = heap_array(rows + 1, 1);
    enum status status = probe(probing);
    if (status == STATUS_OK && probing->matched) {
        probing->starts = probing->row_of = NULL; /* rows are listed as they are */
        status = add_rest(probing);
    }
    free(probing->matched);
    return status;
}

/* Keeps the first double row, as the rows of the right are numbered. */
static void note_doubles(struct matching *matching, const struct match_side *right, int64_t again, int64_t before)
{
    const int64_t rows[] = {right->numbers ? column_get_int(right->numbers, again) : again,
                            right->numbers ? column_get_int(right->numbers, before) : before};
    if (rows[0] < matching->double_rows[0])
        memcpy(matching->double_rows, rows, sizeof rows);
}

enum status match_in_memory(struct matching *matching, const struct match_side *left, const struct match_side *right,
                            const int64_t *equal)
{
    const bool distinct = matching->match->kind == JOIN_LOOKUP;
    const struct join_keys indexed = {.columns = right->keys,
                                      .count = matching->match->key_count,
                                      .members_only = !match_takes(matching->match),
                                      .rows = right->rows};
    struct probing probing = {.matching = matching, .left = left, .right = right, .equal = equal};
    if (equal && distinct && right->rows > 1) {
        note_doubles(matching, right, 1, 0);
        return STATUS_OK;
    }
    if (equal)
        return probe_pair(&probing);
    struct join_index *index = NULL;
    enum status status = join_index_new(&indexed, matching->workers, NULL, &index);
    probing.index = index;
    if (status == STATUS_OK && distinct && index->doubles > 0)
        note_doubles(matching, right, index->double_rows[0], index->double_rows[1]);
    else if (status == STATUS_OK)
        status = probe_pair(&probing);
    join_index_unref(index);
    return status;
}
