/* The benchmark's tasks in hand-written C, with constants in place of arguments, on one or more threads (bench.py).
 *
 *     hand data FOLDER ROWS       writes a column: x.i32
 *     hand more FOLDER ROWS       writes the columns of the other primitives: f.f64, p.i32
 *     hand once FOLDER TASK       prints the task's result
 *     hand FOLDER                 for each line "TASK THREADS": the time in nanoseconds, and the result
 *
 * For a relation, the output is the row count and, for each column, the sum and the values in the first row, a third
 * of the way down and in the last row. Each result has its own memory, freed before the next run. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 64, KEYS = 1000, DIGIT_BITS = 10, DIGITS = 1 << DIGIT_BITS, X_BITS = 30, MOST_COLUMNS = 3 };

static void fail(const char *what)
{
    fprintf(stderr, "hand: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void *allocate(size_t size)
{
    void *memory = malloc(size ? size : 1);
    if (!memory)
        fail("memory");
    return memory;
}

/* The columns and a task's results. */
struct run {
    size_t rows;
    const int32_t *ids, *amounts, *x;
    size_t threads;

    int64_t scalar;
    size_t result_rows;
    int32_t *ints;                /* a column of the result; sort: the current buffer */
    int64_t *longs[MOST_COLUMNS]; /* columns of 64 bits */
    size_t long_count;

    int64_t parts[MOST_THREADS]; /* each thread's sum, count or position */
    int32_t *from;               /* sort: the other buffer */
    int shift;
    size_t (*digits)[DIGITS];
    int64_t (*sums)[KEYS], (*counts)[KEYS];
};

/* Rows begin .. end-1 on thread `thread`. */
typedef void share_fn(struct run *run, size_t thread, size_t begin, size_t end);

struct share {
    struct run *run;
    share_fn *work;
    size_t thread;
};

static void *work_share(void *argument)
{
    const struct share *share = argument;
    struct run *run = share->run;
    share->work(run, share->thread, run->rows * share->thread / run->threads,
                run->rows * (share->thread + 1) / run->threads);
    return NULL;
}

static void in_shares(struct run *run, share_fn *work)
{
    pthread_t threads[MOST_THREADS];
    struct share shares[MOST_THREADS];
    for (size_t k = 0; k < run->threads; k++) {
        shares[k] = (struct share){run, work, k};
        if (k > 0 && pthread_create(&threads[k], NULL, work_share, &shares[k]) != 0)
            fail("a thread");
    }
    work_share(&shares[0]);
    for (size_t k = 1; k < run->threads; k++)
        pthread_join(threads[k], NULL);
}

static void add_parts(struct run *run)
{
    run->scalar = 0;
    for (size_t k = 0; k < run->threads; k++)
        run->scalar += run->parts[k];
}

static void q1(struct run *run, size_t thread, size_t begin, size_t end)
{
    int64_t count = 0;
    for (size_t i = begin; i < end; i++)
        count += run->ids[i] == 42;
    run->parts[thread] = count;
}

static void q2(struct run *run, size_t thread, size_t begin, size_t end)
{
    int64_t count = 0;
    for (size_t i = begin; i < end; i++)
        count += (run->ids[i] == 42) & (run->amounts[i] > 0);
    run->parts[thread] = count;
}

static void q3(struct run *run, size_t thread, size_t begin, size_t end)
{
    int64_t sum = 0;
    for (size_t i = begin; i < end; i++)
        sum += run->ids[i] == 42 ? run->amounts[i] : 0;
    run->parts[thread] = sum;
}

static void q4(struct run *run, size_t thread, size_t begin, size_t end)
{
    int64_t sum = 0;
    for (size_t i = begin; i < end; i++)
        sum += ((run->ids[i] == 42) & (run->amounts[i] < 0) & (run->amounts[i] % 2 == 0)) ? run->amounts[i] : 0;
    run->parts[thread] = sum;
}

static void q5(struct run *run, size_t thread, size_t begin, size_t end)
{
    int64_t count = 0;
    for (size_t i = begin; i < end; i++)
        count += (run->ids[i] % 222 == 0) & (run->amounts[i] > 0) & (run->amounts[i] % 222 == 0);
    run->parts[thread] = count;
}

static void map(struct run *run, size_t thread, size_t begin, size_t end)
{
    (void)thread;
    int32_t *restrict out = run->ints;
    const int32_t *restrict x = run->x;
    for (size_t i = begin; i < end; i++)
        out[i] = x[i] + 1;
}

static void count_dense(struct run *run, size_t thread, size_t begin, size_t end)
{
    int64_t count = 0;
    for (size_t i = begin; i < end; i++)
        count += run->x[i] % 2 == 0;
    run->parts[thread] = count;
}

static void count_sparse(struct run *run, size_t thread, size_t begin, size_t end)
{
    int64_t count = 0;
    for (size_t i = begin; i < end; i++)
        count += run->x[i] % 20 == 0;
    run->parts[thread] = count;
}

static void count_mapped(struct run *run, size_t thread, size_t begin, size_t end)
{
    int64_t count = 0;
    for (size_t i = begin; i < end; i++)
        count += (run->x[i] + 1) % 2 == 0;
    run->parts[thread] = count;
}

/* Turns the parts' counts into their first positions and allocates the result. */
static void place_parts(struct run *run)
{
    int64_t at = 0;
    for (size_t k = 0; k < run->threads; k++) {
        int64_t count = run->parts[k];
        run->parts[k] = at;
        at += count;
    }
    run->result_rows = (size_t)at;
    run->ints = allocate((run->result_rows + 1) * sizeof *run->ints);
}

static size_t part_end(const struct run *run, size_t thread)
{
    return thread + 1 < run->threads ? (size_t)run->parts[thread + 1] : run->result_rows;
}

/* Branch-free: writes every row; the next one overwrites a row that does not pass. */
static void write_dense(struct run *run, size_t thread, size_t begin, size_t end)
{
    size_t at = (size_t)run->parts[thread];
    const size_t stop = part_end(run, thread);
    for (size_t i = begin; i < end && at < stop; i++) {
        run->ints[at] = run->x[i];
        at += run->x[i] % 2 == 0;
    }
}

static void write_sparse(struct run *run, size_t thread, size_t begin, size_t end)
{
    size_t at = (size_t)run->parts[thread];
    const size_t stop = part_end(run, thread);
    for (size_t i = begin; i < end && at < stop; i++) {
        run->ints[at] = run->x[i];
        at += run->x[i] % 20 == 0;
    }
}

static void write_mapped(struct run *run, size_t thread, size_t begin, size_t end)
{
    size_t at = (size_t)run->parts[thread];
    const size_t stop = part_end(run, thread);
    for (size_t i = begin; i < end && at < stop; i++) {
        run->ints[at] = run->x[i] + 1;
        at += (run->x[i] + 1) % 2 == 0;
    }
}

static void filter(struct run *run, share_fn *count, share_fn *write)
{
    in_shares(run, count);
    place_parts(run);
    in_shares(run, write);
}

static size_t digit_of(const struct run *run, int32_t value)
{
    return (size_t)((uint32_t)value >> run->shift) % DIGITS;
}

static void count_digits(struct run *run, size_t thread, size_t begin, size_t end)
{
    memset(run->digits[thread], 0, sizeof run->digits[thread]);
    for (size_t i = begin; i < end; i++)
        run->digits[thread][digit_of(run, run->from[i])]++;
}

static void partition(struct run *run, size_t thread, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        run->ints[run->digits[thread][digit_of(run, run->from[i])]++] = run->from[i];
}

/* LSD radix sort; the values of x are 0 .. 2^30-1. */
static void sort(struct run *run)
{
    const size_t bytes = run->rows * sizeof(int32_t);
    int32_t *spare = allocate(bytes);
    run->ints = allocate(bytes);
    run->digits = allocate(run->threads * sizeof *run->digits);
    run->from = spare;
    memcpy(spare, run->x, bytes);
    for (run->shift = 0; run->shift < X_BITS; run->shift += DIGIT_BITS) {
        in_shares(run, count_digits);
        size_t at = 0;
        for (size_t digit = 0; digit < DIGITS; digit++) {
            for (size_t k = 0; k < run->threads; k++) {
                size_t count = run->digits[k][digit];
                run->digits[k][digit] = at;
                at += count;
            }
        }
        in_shares(run, partition);
        int32_t *partitioned = run->ints;
        run->ints = run->from;
        run->from = partitioned;
    }
    free(run->ints);
    run->ints = run->from;
    free(run->digits);
    run->result_rows = run->rows;
}

static void add_groups(struct run *run, size_t thread, size_t begin, size_t end)
{
    int64_t *sums = run->sums[thread], *counts = run->counts[thread];
    memset(sums, 0, sizeof run->sums[thread]);
    memset(counts, 0, sizeof run->counts[thread]);
    for (size_t i = begin; i < end; i++) {
        sums[run->ids[i]] += run->amounts[i];
        counts[run->ids[i]]++;
    }
}

static void group(struct run *run)
{
    run->sums = allocate(run->threads * sizeof *run->sums);
    run->counts = allocate(run->threads * sizeof *run->counts);
    in_shares(run, add_groups);
    run->long_count = 3;
    for (size_t c = 0; c < run->long_count; c++)
        run->longs[c] = allocate(KEYS * sizeof **run->longs);
    for (size_t key = 0; key < KEYS; key++) {
        int64_t sum = 0, count = 0;
        for (size_t k = 0; k < run->threads; k++) {
            sum += run->sums[k][key];
            count += run->counts[k][key];
        }
        run->longs[0][run->result_rows] = (int64_t)key;
        run->longs[1][run->result_rows] = sum;
        run->longs[2][run->result_rows] = count;
        run->result_rows += count > 0;
    }
    free(run->sums);
    free(run->counts);
}

static void add_x(struct run *run, size_t thread, size_t begin, size_t end)
{
    int64_t sum = 0;
    for (size_t i = begin; i < end; i++)
        sum += run->x[i];
    run->parts[thread] = sum;
}

static void scan_x(struct run *run, size_t thread, size_t begin, size_t end)
{
    int64_t sum = 0;
    for (size_t k = 0; k < thread; k++)
        sum += run->parts[k];
    for (size_t i = begin; i < end; i++) {
        sum += run->x[i];
        run->longs[0][i] = sum;
    }
}

static void scan(struct run *run)
{
    if (run->threads > 1)
        in_shares(run, add_x);
    run->long_count = 1;
    run->result_rows = run->rows;
    run->longs[0] = allocate(run->rows * sizeof **run->longs);
    in_shares(run, scan_x);
}

static bool run_task(struct run *run, const char *task)
{
    static const struct {
        const char *name;
        share_fn *work;
    } scalars[] = {{"q1", q1}, {"q2", q2}, {"q3", q3}, {"q4", q4}, {"q5", q5}};
    for (size_t k = 0; k < sizeof scalars / sizeof *scalars; k++) {
        if (strcmp(task, scalars[k].name) == 0) {
            in_shares(run, scalars[k].work);
            add_parts(run);
            return true;
        }
    }
    if (strcmp(task, "map") == 0) {
        run->result_rows = run->rows;
        run->ints = allocate(run->rows * sizeof *run->ints);
        in_shares(run, map);
    } else if (strcmp(task, "dense") == 0) {
        filter(run, count_dense, write_dense);
    } else if (strcmp(task, "sparse") == 0) {
        filter(run, count_sparse, write_sparse);
    } else if (strcmp(task, "mapfilter") == 0) {
        filter(run, count_mapped, write_mapped);
    } else if (strcmp(task, "sort") == 0) {
        sort(run);
    } else if (strcmp(task, "group") == 0) {
        group(run);
    } else if (strcmp(task, "scan") == 0) {
        scan(run);
    } else {
        return false;
    }
    return true;
}

static void release(struct run *run)
{
    free(run->ints);
    run->ints = NULL;
    for (size_t c = 0; c < run->long_count; c++)
        free(run->longs[c]);
    run->long_count = run->result_rows = 0;
}

static int64_t value_at(const struct run *run, size_t column, size_t row)
{
    return run->ints ? run->ints[row] : run->longs[column][row];
}

static void print_result(const struct run *run)
{
    if (!run->ints && run->long_count == 0) {
        printf("%" PRId64 "\n", run->scalar);
        return;
    }
    const size_t rows = run->result_rows;
    printf("%zu", rows);
    for (size_t c = 0; c < (run->ints ? 1 : run->long_count); c++) {
        uint64_t sum = 0; /* modulo 2^64 */
        for (size_t i = 0; i < rows; i++)
            sum += (uint64_t)value_at(run, c, i);
        printf(" %" PRIu64, sum);
        for (size_t k = 0; k < 3 && rows > 0; k++)
            printf(" %" PRId64, value_at(run, c, k == 0 ? 0 : k == 1 ? rows / 3 : rows - 1));
    }
    printf("\n");
}

static const int32_t *map_column(const char *folder, const char *file, size_t *rows)
{
    char path[4096];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &info) != 0)
        fail(path);
    void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (data == MAP_FAILED)
        fail(path);
    close(fd);
    *rows = (size_t)info.st_size / sizeof(int32_t);
    return data;
}

static struct run open_columns(const char *folder)
{
    struct run run = {.threads = 1};
    size_t rows[MOST_COLUMNS];
    run.ids = map_column(folder, "ids.bin", &rows[0]);
    run.amounts = map_column(folder, "amounts.bin", &rows[1]);
    run.x = map_column(folder, "x.i32", &rows[2]);
    if (rows[0] != rows[1] || rows[0] != rows[2]) {
        fprintf(stderr, "hand: columns of %zu, %zu and %zu rows\n", rows[0], rows[1], rows[2]);
        exit(1);
    }
    run.rows = rows[0];
    return run;
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int answer_lines(const char *folder)
{
    struct run run = open_columns(folder);
    char task[32];
    while (scanf("%31s %zu", task, &run.threads) == 2 && run.threads > 0 && run.threads <= MOST_THREADS) {
        int64_t began = now();
        release(&run);
        if (!run_task(&run, task)) {
            fprintf(stderr, "hand: there is no task `%s`\n", task);
            return 2;
        }
        printf("%" PRId64 " ", now() - began);
        print_result(&run);
        fflush(stdout);
    }
    return 0;
}

static int run_once(const char *folder, const char *task)
{
    struct run run = open_columns(folder);
    run.threads = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (run.threads > MOST_THREADS)
        run.threads = MOST_THREADS;
    if (!run_task(&run, task))
        return 2;
    print_result(&run);
    return 0;
}

/* SplitMix64, as in data/generate.c. */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void save(const char *folder, const char *file, const void *data, size_t bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(data, 1, bytes, out) != bytes || fclose(out) != 0)
        fail(path);
}

/* 30 random bits each. */
static int make_x(const char *folder, size_t rows)
{
    uint64_t state = 2718281828;
    int32_t *x = allocate(rows * sizeof *x);
    for (size_t i = 0; i < rows; i++)
        x[i] = (int32_t)(next(&state) >> (64 - X_BITS));
    save(folder, "x.i32", x, rows * sizeof *x);
    free(x);
    return 0;
}

/* f: sums of four uniform numbers, around 0. p: the positions, shuffled. */
static int make_more(const char *folder, size_t rows)
{
    uint64_t state = 3141592653;
    double *f = allocate(rows * sizeof *f);
    for (size_t i = 0; i < rows; i++) {
        f[i] = -2;
        for (int k = 0; k < 4; k++)
            f[i] += (double)(next(&state) >> 11) * 0x1p-53;
    }
    save(folder, "f.f64", f, rows * sizeof *f);
    free(f);
    int32_t *p = allocate(rows * sizeof *p);
    for (size_t i = 0; i < rows; i++) {
        size_t j = (size_t)(next(&state) % (i + 1));
        p[i] = p[j];
        p[j] = (int32_t)i;
    }
    save(folder, "p.i32", p, rows * sizeof *p);
    free(p);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "data") == 0)
        return make_x(argv[2], (size_t)strtoull(argv[3], NULL, 10));
    if (argc == 4 && strcmp(argv[1], "more") == 0)
        return make_more(argv[2], (size_t)strtoull(argv[3], NULL, 10));
    if (argc == 4 && strcmp(argv[1], "once") == 0)
        return run_once(argv[2], argv[3]);
    if (argc == 2)
        return answer_lines(argv[1]);
    fprintf(stderr, "usage: hand FOLDER | hand once FOLDER TASK | hand data|more FOLDER ROWS\n");
    return 2;
}
