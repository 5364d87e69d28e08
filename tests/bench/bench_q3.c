/* Question 3 by hand: the sum of the amounts whose id is the target's, in two threads, over the same files. The figure
 * that rql's kernel is measured against (bench_q3.py). Prints the sum and the time of each round in milliseconds. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 2 };

struct share {
    const int32_t *ids, *amounts;
    size_t rows;
    int32_t target;
    int64_t sum;
};

static void *add_share(void *argument)
{
    struct share *share = argument;
    const int32_t *ids = share->ids;
    const int32_t *amounts = share->amounts;
    int64_t sum = 0;
    for (size_t i = 0; i < share->rows; i++) {
        sum += ids[i] == share->target ? amounts[i] : 0;
    }
    share->sum = sum;
    return NULL;
}

static int64_t add_all(const int32_t *ids, const int32_t *amounts, size_t rows, int32_t target)
{
    pthread_t threads[THREADS];
    struct share shares[THREADS];
    int64_t sum = 0;
    for (size_t k = 0; k < THREADS; k++) {
        size_t begin = rows * k / THREADS;
        shares[k] = (struct share){ids + begin, amounts + begin, rows * (k + 1) / THREADS - begin, target, 0};
        if (pthread_create(&threads[k], NULL, add_share, &shares[k]) != 0) {
            perror("bench_q3: a thread");
            exit(1);
        }
    }
    for (size_t k = 0; k < THREADS; k++) {
        pthread_join(threads[k], NULL);
        sum += shares[k].sum;
    }
    return sum;
}

static const int32_t *map_column(const char *path, size_t *rows)
{
    struct stat info;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &info) != 0) {
        perror(path);
        exit(1);
    }
    void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (data == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    close(fd);
    *rows = (size_t)info.st_size / sizeof(int32_t);
    return data;
}

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: bench_q3 IDS AMOUNTS TARGET ROUNDS\n");
        return 2;
    }
    size_t rows;
    size_t amount_rows;
    const int32_t *ids = map_column(argv[1], &rows);
    const int32_t *amounts = map_column(argv[2], &amount_rows);
    if (rows != amount_rows) {
        fprintf(stderr, "bench_q3: %zu ids, %zu amounts\n", rows, amount_rows);
        return 1;
    }
    int32_t target = (int32_t)strtol(argv[3], NULL, 10);
    long rounds = strtol(argv[4], NULL, 10);
    int64_t sum = 0;
    for (long round = 0; round < rounds; round++) {
        double begin = milliseconds();
        sum = add_all(ids, amounts, rows, target);
        printf("%.4f\n", milliseconds() - begin);
    }
    printf("sum %lld\n", (long long)sum);
    return 0;
}
