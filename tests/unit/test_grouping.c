/* Groups of rows that are partitioned by their codes or hashed, and the first rows of these, against sums over all
 * rows: keys of few and of many possible values, even, skewed, equal and in order, values that fit a word beside the
 * code and those that do not. */
#include "scratch.h"

#include "engine/grouping/first_rows.h"
#include "engine/grouping/grouping.h"

#include <math.h>

enum { COLUMNS = 3, AGGREGATES = 5, MOST_THREADS = 5, FEW_GROUPS = 1 << 13 };

/* How keys are generated. */
enum content { EVEN, SKEWED, EQUAL, RISING, CLUSTERED, CONTENTS };

static uint64_t next(uint64_t *seed)
{
    *seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *seed;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int64_t key_of(enum content content, int bits, int64_t row, uint64_t *seed)
{
    const uint64_t any = next(seed) & (UINT64_MAX >> (64 - bits));
    switch (content) {
    case SKEWED:
        return (int64_t)(next(seed) % 10 ? 5 : any);
    case EQUAL:
        return row == 0 ? (int64_t)(UINT64_MAX >> (64 - bits)) : 0;
    case RISING:
        return row / 3;
    case CLUSTERED:
        return (int64_t)(any & ~UINT64_C(0xfff)) | (int64_t)(next(seed) % 3);
    default:
        return (int64_t)any;
    }
}

/* Groups as they are emitted: codes, and results of each aggregate. */
struct results {
    int64_t rows;
    int aggregates; /* without the last, all values and row numbers fit a word */
    uint64_t *codes;
    int64_t *of[AGGREGATES];
};

static struct results *results_new(int64_t rows, int aggregates)
{
    struct results *results = calloc(1, sizeof *results);
    results->rows = rows;
    results->aggregates = aggregates;
    results->codes = calloc((size_t)rows, sizeof *results->codes);
    for (int i = 0; i < AGGREGATES; i++)
        results->of[i] = calloc((size_t)rows, sizeof *results->of[i]);
    return results;
}

static void results_free(struct results *results)
{
    free(results->codes);
    for (int i = 0; i < AGGREGATES; i++)
        free(results->of[i]);
    free(results);
}

static bool prepare(void *context, int64_t most)
{
    const struct results *results = context;
    return most <= results->rows;
}

/* The last aggregate is a minimum of doubles. */
static void emit(void *context, const struct found *found)
{
    const struct results *results = context;
    for (int i = 0; i < found->count; i++) {
        results->codes[found->at + i] = found->codes[i];
        for (int k = 0; k < results->aggregates; k++)
            memcpy(&results->of[k][found->at + i], (const int64_t *)found->states[k] + found->places[i],
                   sizeof(int64_t));
    }
}

static void move(void *context, int64_t from, int64_t to, int64_t count)
{
    const struct results *results = context;
    memmove(results->codes + to, results->codes + from, (size_t)count * sizeof *results->codes);
    for (int k = 0; k < results->aggregates; k++)
        memmove(results->of[k] + to, results->of[k] + from, (size_t)count * sizeof *results->of[k]);
}

struct keyed_row {
    int64_t key, row;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed_row *left = a, *right = b;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return (left->row > right->row) - (left->row < right->row);
}

static void check(const struct results *results, int64_t groups, struct column *const *columns, int64_t rows)
{
    const int64_t *keys = columns[0]->data, *values = columns[1]->data;
    const double *numbers = columns[2]->data;
    struct keyed_row *order = calloc((size_t)rows, sizeof *order);
    for (int64_t i = 0; i < rows; i++)
        order[i] = (struct keyed_row){keys[i], i};
    qsort(order, (size_t)rows, sizeof *order, by_key);
    int64_t group = 0;
    for (int64_t begin = 0, end; begin < rows; begin = end, group++) {
        int64_t sum = 0, most = INT64_MIN;
        double least = INFINITY;
        for (end = begin; end < rows && order[end].key == order[begin].key; end++) {
            const int64_t row = order[end].row;
            sum += values[row];
            most = values[row] > most ? values[row] : most;
            least = numbers[row] < least ? numbers[row] : least;
        }
        double number;
        memcpy(&number, &results->of[4][group], sizeof number);
        if (results->codes[group] + (uint64_t)columns[0]->lo != (uint64_t)order[begin].key ||
            results->of[0][group] != end - begin || results->of[1][group] != sum || results->of[2][group] != most ||
            results->of[3][group] != order[begin].row || (results->aggregates == AGGREGATES && number != least))
            fail_msg("group %lld of %lld, %lld rows", (long long)group, (long long)groups, (long long)rows);
    }
    assert_int_equal(group, groups);
    free(order);
}

typedef enum status first_rows_fn(const struct keys *keys, int64_t rows, const struct workers *workers,
                                  _Atomic uint64_t *kept, int64_t *count);

/* The rows found are those of the groups. */
static void check_first(first_rows_fn *find, const struct keys *keys, const struct results *results, int64_t groups,
                        const struct workers *workers)
{
    enum { BITS = 64 };
    _Atomic uint64_t *kept = calloc((size_t)results->rows / BITS + 1, sizeof *kept);
    int64_t count = 0, in_bitmap = 0;
    assert_int_equal(find(keys, results->rows, workers, kept, &count), STATUS_OK);
    for (int64_t i = 0; i <= results->rows / BITS; i++)
        in_bitmap += __builtin_popcountll(kept[i]);
    for (int64_t i = 0; i < groups; i++)
        assert_true(kept[results->of[3][i] / BITS] >> (results->of[3][i] % BITS) & 1);
    assert_int_equal(count, groups);
    assert_int_equal(in_bitmap, groups);
    free(kept);
}

static void run_case(int64_t rows, int bits, enum content content, int value_bits, int aggregates, int threads,
                     uint64_t *seed)
{
    struct column *columns[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        columns[i] = column_reserve(i == 2 ? TYPE_F64 : TYPE_I64, i == 2 ? TYPE_F64 : TYPE_I64, rows);
    for (int64_t row = 0; row < rows; row++) {
        ((int64_t *)column_at(columns[0], 0))[row] = key_of(content, bits, row, seed);
        ((int64_t *)column_at(columns[1], 0))[row] = (int64_t)(next(seed) & (UINT64_MAX >> (64 - value_bits))) - 100;
        ((double *)column_at(columns[2], 0))[row] = (double)(int64_t)next(seed);
    }
    for (int i = 0; i < COLUMNS; i++)
        column_finish(columns[i], rows);
    columns[1]->range_known = true;
    columns[1]->lo = -100;
    columns[1]->hi = (int64_t)(UINT64_MAX >> (64 - value_bits)) - 100;
    const struct group_aggregate group_aggs[AGGREGATES] = {
        {.kind = AGG_COUNT},
        {.kind = AGG_SUM, .column = columns[1]},
        {.kind = AGG_MAX, .column = columns[1]},
        {.kind = AGG_FIRST},
        {.kind = AGG_MIN, .form = STATE_NUMBER, .column = columns[2]},
    };
    const struct workers workers = {.threads = threads};
    struct key key = {.column = columns[0]};
    struct keys keys;
    assert_true(keys_init(&keys, &key, 1, rows, &workers));
    columns[0]->lo = (int64_t)(key.least ^ UINT64_C(1) << 63);
    struct results *results = results_new(rows, aggregates);
    struct grouping grouping = {.workers = &workers,
                                .rows = rows,
                                .keys = &keys,
                                .group_aggs = group_aggs,
                                .group_agg_count = (size_t)aggregates,
                                .prepare = prepare,
                                .emit = emit,
                                .move = move,
                                .context = results};
    int64_t groups = 0;
    assert_int_equal(group_sorted(&grouping, &groups), STATUS_OK);
    check(results, groups, columns, rows);
    check_first(first_rows_partitioned, &keys, results, groups, &workers);
    if (first_rows_pays(&keys, rows))
        check_first(first_rows, &keys, results, groups, &workers);
    results_free(results);
    bool few = false;
    grouping.context = results = results_new(rows, aggregates);
    assert_int_equal(group_hash(&grouping, &few, &groups), STATUS_OK);
    assert_true(few || rows > FEW_GROUPS);
    if (few)
        check(results, groups, columns, rows);
    results_free(results);
    keys_free(&keys);
    for (int i = 0; i < COLUMNS; i++)
        column_unref(columns[i]);
}

static void partitioned_rows(void **state)
{
    (void)state;
    static const int64_t lengths[] = {1, 2, 1023, 1025, 32767, 32769, 300000};
    static const int key_bits[] = {1, 12, 13, 14, 19, 20, 33, 62};
    uint64_t seed = 1;
    int cases = 0;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (size_t k = 0; k < sizeof key_bits / sizeof *key_bits; k++) {
            for (int content = 0; content < CONTENTS; content++, cases++) {
                if (lengths[i] > 100000 && (cases + content) % 2)
                    continue;
                run_case(lengths[i], key_bits[k], (enum content)content, cases % 3 ? 7 : 36,
                         cases % 4 ? AGGREGATES - 1 : AGGREGATES, cases % 2 ? 1 : MOST_THREADS, &seed);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(partitioned_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
