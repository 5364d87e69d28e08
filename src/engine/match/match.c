/* Match: dividing both relations. */
#include "engine/match/match.h"

#include "base/buffer_pool.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/integer.h"
#include "base/strbuf.h"
#include "engine/join_index/join_index.h"
#include "engine/sorting/row_parts.h"
#include "engine/vector/elements.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    INDEX_ROW_BYTES = 48, /* of the index, at most, mostly */
    MOST_DIVISIONS = 4,
    BLOCKS_SHARE = 4, /* of memory, for the blocks of all threads */
    LEAST_BLOCK = 1 << 14,
    MOST_BLOCK = 1 << 18
};

bool match_takes(const struct match_operator *match)
{
    return match->kind != JOIN_SEMI && match->kind != JOIN_ANTI;
}

/* ---- codes ---- */

/* The place of a row's keys among all combinations of those of the right, or a hash if there are too many. */
struct coded {
    const struct match_side *side;
    size_t count;
    const struct join_key *ranges;
    bool hashed;
};

static void read_codes(const void *context, int64_t row, int count, uint64_t *codes)
{
    const struct coded *coded = context;
    int64_t values[KEY_BLOCK];
    bool inside[KEY_BLOCK];
    memset(codes, 0, (size_t)count * sizeof *codes);
    memset(inside, true, sizeof inside);
    for (size_t k = 0; k < coded->count; k++) {
        const struct join_key *range = &coded->ranges[k];
        const uint64_t extent = (uint64_t)range->hi - (uint64_t)range->lo + 1;
        join_key_values(coded->side->keys[k], row, count, values);
        for (int i = 0; i < count; i++) {
            const uint64_t at = (uint64_t)values[i] - (uint64_t)range->lo;
            inside[i] = inside[i] && values[i] >= range->lo && values[i] <= range->hi;
            codes[i] = coded->hashed ? scattered(codes[i] ^ (uint64_t)values[i]) : codes[i] * extent + at;
        }
    }
    for (int i = 0; i < count; i++) /* any part will do, for what finds nothing */
        codes[i] = inside[i] ? codes[i] : 0;
}

/* The bits of the number of a combination; -1: more than 63. */
static int code_bits(const struct join_key *ranges, size_t count)
{
    int128 combinations = 1;
    for (size_t k = 0; k < count && combinations <= INT64_MAX; k++)
        combinations *= (int128)ranges[k].hi - ranges[k].lo + 1;
    if (combinations > INT64_MAX)
        return -1;
    return combinations <= 1 ? 0 : 64 - __builtin_clzll((uint64_t)combinations - 1);
}

/* ---- parts ---- */

/* A side that is divided, and its open part. */
struct divided {
    const struct match_side *side;
    size_t key_count, value_count;
    struct row_parts parts;
    struct match_side part;
};

static enum status divide(struct divided *divided, const struct matching *matching, const struct part_codes *codes,
                          const struct row_parts *like, bool numbered)
{
    const struct match_side *side = divided->side;
    const size_t keys = divided->key_count, values = divided->value_count;
    const struct column **columns = heap_array(2 * keys + values + 1, sizeof *columns);
    size_t count = 0;
    for (size_t k = 0; k < keys; k++) {
        columns[count++] = side->keys[k];
        columns[count++] = side->keys[k]->validity;
    }
    for (size_t k = 0; k < values; k++)
        columns[count++] = side->values[k];
    columns[count++] = side->numbers;
    divided->part.keys = heap_array(keys + 1, sizeof *divided->part.keys);
    divided->part.values = heap_array(values + 1, sizeof *divided->part.values);
    const enum status status = row_parts_make_by(&divided->parts, codes, like, side->rows, matching->row_bytes,
                                                 matching->workers, columns, count, numbered && !side->numbers);
    free(columns);
    return status;
}

static void open_part(struct divided *divided, int64_t number, bool numbered)
{
    const struct match_side *side = divided->side;
    struct match_side *part = &divided->part;
    part->rows = row_parts_open(&divided->parts, number);
    for (size_t k = 0; k < divided->key_count; k++) {
        part->keys[k] = row_parts_column(&divided->parts, side->keys[k]);
        part->keys[k]->validity =
            side->keys[k]->validity ? row_parts_column(&divided->parts, side->keys[k]->validity) : NULL;
    }
    for (size_t k = 0; k < divided->value_count; k++)
        part->values[k] = side->values[k] ? row_parts_column(&divided->parts, side->values[k]) : NULL;
    if (numbered)
        part->numbers = row_parts_column(&divided->parts, side->numbers ? side->numbers : &divided->parts.numbers);
}

static void release(struct divided *divided)
{
    row_parts_free(&divided->parts);
    free(divided->part.keys);
    free(divided->part.values);
}

static enum status match_sides(struct matching *matching, const struct match_side *left, const struct match_side *right,
                               int divisions);

static enum status match_parts(struct matching *matching, const struct match_side *left, const struct match_side *right,
                               const struct join_key *ranges, int divisions)
{
    const size_t keys = matching->match->key_count;
    const int bits = code_bits(ranges, keys);
    /* A lookup's error names rows of the right, and a full join has those that nothing finds. */
    const bool numbered = matching->match->kind == JOIN_LOOKUP || matching->match->kind == JOIN_FULL;
    const struct coded coded[] = {{left, keys, ranges, bits < 0}, {right, keys, ranges, bits < 0}};
    const struct part_codes codes[] = {{read_codes, &coded[0], bits < 0 ? 64 : bits},
                                       {read_codes, &coded[1], bits < 0 ? 64 : bits}};
    struct divided first = {.side = left, .key_count = keys};
    struct divided second = {.side = right, .key_count = keys, .value_count = matching->match->value_count};
    enum status status = divide(&second, matching, &codes[1], NULL, numbered);
    if (status == STATUS_OK)
        status = divide(&first, matching, &codes[0], &second.parts, true);
    for (int64_t part = 0; status == STATUS_OK && part < second.parts.count; part++) {
        open_part(&first, part, true);
        open_part(&second, part, numbered);
        status = match_sides(matching, &first.part, &second.part, divisions + 1);
    }
    release(&first);
    release(&second);
    return status;
}

/* Whether an index of the right takes more memory than there is. */
static bool exceeds(const struct matching *matching, const struct match_side *right)
{
    return matching->workers->pool && !buffer_pool_has(matching->workers->pool, right->rows * matching->row_bytes);
}

static enum status match_sides(struct matching *matching, const struct match_side *left, const struct match_side *right,
                               int divisions)
{
    const size_t keys = matching->match->key_count;
    if (right->rows == 0 || (left->rows == 0 && matching->match->kind != JOIN_FULL))
        return STATUS_OK;
    const struct join_keys indexed = {.columns = right->keys, .count = keys, .rows = right->rows};
    struct join_key *ranges = heap_array(keys + 1, sizeof *ranges);
    int64_t *least = heap_array(keys + 1, sizeof *least);
    bool equal = true;
    enum status status = join_key_ranges(&indexed, matching->workers, ranges);
    for (size_t k = 0; k < keys; k++) {
        least[k] = ranges[k].lo;
        equal = equal && ranges[k].lo == ranges[k].hi && !right->keys[k]->validity;
    }
    if (status == STATUS_OK && !equal && divisions < MOST_DIVISIONS && exceeds(matching, right) &&
        code_bits(ranges, keys) != 0)
        status = match_parts(matching, left, right, ranges, divisions);
    else if (status == STATUS_OK)
        status = match_in_memory(matching, left, right, equal ? least : NULL);
    free(ranges);
    free(least);
    return status;
}

/* ---- the operator ---- */

static struct column *key_column(const struct operator_job *job, const size_t *inputs)
{
    const struct column *column = job->inputs[inputs[0]];
    struct column *key = heap_array(1, sizeof *key);
    *key = (struct column){.type = column->type,
                           .store = column->store,
                           .rows = column->rows,
                           .data = column->data,
                           .validity = inputs[1] != inputs[0] ? job->inputs[inputs[1]] : NULL,
                           .refs = 1};
    return key;
}

/* A lookup needs distinct keys. */
static enum status refuse_doubles(const struct matching *matching)
{
    const struct operator_job *job = matching->job;
    const struct match_operator *match = matching->match;
    const int64_t *rows = matching->double_rows;
    struct arena *arena = job->diags->arena;
    struct strbuf key = {0};
    for (size_t k = 0; k < match->key_count; k++) {
        const struct scalar part =
            column_get(job->inputs[job->task->column_op->keys[k * MATCH_KEY_INPUTS + MATCH_RIGHT]], rows[0]);
        strbuf_puts(&key, k > 0 ? ", " : "");
        scalar_print(&key, &part);
    }
    const char *text = strbuf_take(&key, arena);
    return diag_error_hint(job->diags, job->task->span,
                           "`left join` takes all of them; `distinct` or `group` before leaves one",
                           "`lookup` needs distinct keys, but rows %" PRId64 " and %" PRId64 " of `%s` both have %s",
                           rows[1], rows[0], match->source, text);
}

static void release_segments(struct matching *matching)
{
    for (size_t i = 0; i < matching->segment_count; i++) {
        struct match_segment *segment = &matching->segments[i];
        for (size_t k = 0; segment->columns && k < matching->match->value_count + 1; k++)
            column_unref(segment->columns[k]);
        free(segment->columns);
        free(segment->every);
    }
    free(matching->segments);
    free(matching->counts);
}

static void set_sides(struct matching *matching, struct match_side *left, struct match_side *right)
{
    const struct operator_job *job = matching->job;
    const struct match_operator *match = matching->match;
    const size_t *inputs = job->task->column_op->keys;
    *left = (struct match_side){.rows = job->rows};
    left->keys = heap_array(match->key_count + 1, sizeof *left->keys);
    right->keys = heap_array(match->key_count + 1, sizeof *right->keys);
    right->values = heap_array(match->value_count + 1, sizeof *right->values);
    for (size_t k = 0; k < match->key_count; k++, inputs += MATCH_KEY_INPUTS) {
        left->keys[k] = key_column(job, &inputs[MATCH_LEFT]);
        right->keys[k] = key_column(job, &inputs[MATCH_RIGHT]);
        matching->row_bytes += (int64_t)type_table[right->keys[k]->store].size;
    }
    right->rows = right->keys[0]->rows;
    for (size_t k = 0; k < match->value_count; k++) {
        right->values[k] = job->task->outputs[MATCH_COLUMNS + k].needed ? job->inputs[inputs[k]] : NULL;
        matching->row_bytes += right->values[k] ? (int64_t)type_table[right->values[k]->store].size : 0;
    }
}

/* As many as fit a share of memory with what they have found, once each. */
static int64_t block_rows(const struct matching *matching)
{
    const int64_t room = buffer_pool_room(matching->workers->pool) / (BLOCKS_SHARE * matching->workers->threads);
    const struct task *task = matching->job->task;
    int64_t rows = LEAST_BLOCK, row_bytes = (int64_t)sizeof(int64_t);
    for (size_t k = 0; k < task->output_count; k++)
        row_bytes += task->outputs[k].needed ? 2 * (int64_t)type_table[task->outputs[k].type].size : 0;
    while (rows < MOST_BLOCK && 2 * rows * row_bytes <= room)
        rows *= 2;
    return rows;
}

enum status operator_match(const struct operator_job *job, const struct workers *workers, bool *flagged)
{
    (void)flagged; /* cannot fail */
    struct matching matching = {.job = job,
                                .workers = workers,
                                .match = job->task->column_op->match,
                                .row_bytes = INDEX_ROW_BYTES,
                                .double_rows = {INT64_MAX, INT64_MAX}};
    struct match_side left, right = {0};
    set_sides(&matching, &left, &right);
    const bool full = matching.match->kind == JOIN_FULL;
    matching.rows = job->rows + (full ? right.rows : 0);
    matching.block = block_rows(&matching);
    matching.counts = heap_array((size_t)divide_up(matching.rows, matching.block) + 1, sizeof *matching.counts);
    matching.number = (struct column){.type = TYPE_I64,
                                      .store = matching.rows <= INT32_MAX ? TYPE_I32 : TYPE_I64,
                                      .range_known = true,
                                      .lo = full ? -1 : 0,
                                      .hi = max_int64(matching.rows - 1, 0)};
    enum status status = match_sides(&matching, &left, &right, 0);
    if (status == STATUS_OK && matching.double_rows[0] < INT64_MAX)
        status = refuse_doubles(&matching);
    else if (status == STATUS_OK)
        status = match_merge(&matching);
    else
        status = operator_report(job, status);
    release_segments(&matching);
    for (size_t k = 0; k < matching.match->key_count; k++) {
        free(left.keys[k]);
        free(right.keys[k]);
    }
    free(left.keys);
    free(right.keys);
    free(right.values);
    return status;
}
