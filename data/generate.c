/* Generates the two columns of the user study as little-endian int32 values: ids.bin, users 0 to 999, and amounts.bin,
 * transactions from -10000 to 10000. The same seed gives the same files everywhere; fewer rows are a prefix. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK_ROWS = 1 << 16, STATUS_USAGE = 2 };

static const uint64_t default_rows = 10000000;
static const uint64_t most_rows = UINT64_C(1) << 40;
static const uint64_t default_seed = 42;

struct options {
    uint64_t rows;
    uint64_t seed;
    const char *folder;
};

/* One column: uniformly distributed integers. */
struct column {
    const char *file;
    int32_t lo, hi;
};

static const struct column columns[] = {{"ids.bin", 0, 999}, {"amounts.bin", -10000, 10000}};

/* SplitMix64: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators" (2014). */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* A uniformly distributed number below `bound`, by multiplication with rejection. After D. Lemire, "Fast random integer
 * generation in an interval" (2019). */
static uint32_t below(uint64_t *state, uint32_t bound)
{
    uint64_t product = (next(state) >> 32) * bound;
    if ((uint32_t)product < bound) {
        uint32_t surplus = (0 - bound) % bound;
        while ((uint32_t)product < surplus)
            product = (next(state) >> 32) * bound;
    }
    return (uint32_t)(product >> 32);
}

static bool write_values(FILE *file, const struct column *column, uint64_t rows, uint64_t state)
{
    static unsigned char block[4 * BLOCK_ROWS];
    const uint32_t bound = (uint32_t)(column->hi - column->lo) + 1;
    while (rows > 0) {
        size_t count = rows < BLOCK_ROWS ? (size_t)rows : BLOCK_ROWS;
        for (size_t i = 0; i < count; i++) {
            uint32_t bits = (uint32_t)column->lo + below(&state, bound);
            for (size_t k = 0; k < 4; k++)
                block[4 * i + k] = (unsigned char)(bits >> 8 * k);
        }
        if (fwrite(block, 4, count, file) != count)
            return false;
        rows -= count;
    }
    return true;
}

static bool failed(const char *what, const char *path)
{
    fprintf(stderr, "generate: cannot %s %s: %s\n", what, path, strerror(errno));
    return false;
}

/* Writes to a temporary file and renames it. */
static bool write_column(const struct options *options, const struct column *column, uint64_t state)
{
    char path[4096], temporary[4096];
    int length = snprintf(path, sizeof path, "%s/%s", options->folder, column->file);
    int longer = snprintf(temporary, sizeof temporary, "%s/.%s.%ld", options->folder, column->file, (long)getpid());
    if (length < 0 || longer < 0 || (size_t)longer >= sizeof temporary || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return failed("write in", options->folder);
    }
    FILE *file = fopen(temporary, "wb");
    if (!file)
        return failed("write", path);
    bool written = write_values(file, column, options->rows, state);
    written = fclose(file) == 0 && written;
    if (written && rename(temporary, path) == 0)
        return true;
    failed("write", path);
    unlink(temporary);
    return false;
}

static void print_help(void)
{
    printf("usage: generate [--rows N] [--seed S] [--dir FOLDER]\n"
           "\n"
           "Generates the sample data of rql: two columns of little-endian int32 values.\n"
           "  ids.bin      users, 0 to 999\n"
           "  amounts.bin  amounts, -10000 to 10000\n"
           "\n"
           "  --rows N      number of rows (default %" PRIu64 ")\n"
           "  --seed S      random seed (default %" PRIu64 ")\n"
           "  --dir FOLDER  output folder (default: the current one)\n"
           "  --help        print this help\n",
           default_rows, default_seed);
}

static int usage_error(const char *message, const char *what)
{
    fprintf(stderr, "generate: %s%s\nTry: generate --help\n", message, what);
    return STATUS_USAGE;
}

static bool read_number(const char *text, uint64_t most, uint64_t *number)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    *number = value;
    return errno == 0 && *end == '\0' && value <= most;
}

/* Returns 0, or the exit status after printing a message. */
static int set_option(struct options *options, const char *name, const char *value)
{
    if (strcmp(name, "--rows") == 0) {
        if (!value || !read_number(value, most_rows, &options->rows))
            return usage_error("--rows takes a number of rows", value ? ", at most 2^40" : "");
    } else if (strcmp(name, "--seed") == 0) {
        if (!value || !read_number(value, UINT64_MAX, &options->seed))
            return usage_error("--seed takes a number", "");
    } else if (strcmp(name, "--dir") == 0) {
        if (!value)
            return usage_error("--dir takes a folder", "");
        options->folder = value;
    } else {
        return usage_error("unknown option ", name);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct options options = {default_rows, default_seed, "."};
    for (int i = 1; i < argc; i += 2) {
        if (strcmp(argv[i], "--help") == 0) {
            print_help();
            return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
        }
        int status = set_option(&options, argv[i], argv[i + 1]);
        if (status != 0)
            return status;
    }
    uint64_t seeds = options.seed;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        if (!write_column(&options, &columns[i], next(&seeds)))
            return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
