/* The on-disk program cache returns what was stored or nothing, whatever happened to its files. */
#include "scratch.h"

#include "base/cachedir.h"
#include "cl/compile/program_cache.h"
#include "cl/device/pocl_home.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { PROGRAM_BYTES = 700, HEADER_BYTES = 32, MOST_BYTES = 1 << 20 };

static const char key_text[] = "rql 1\0driver\0device\0options\0__kernel void f() {}";
static const struct blob key = {(void *)(uintptr_t)key_text, sizeof key_text};

static struct cache *open_in(struct scratch *scratch, int64_t most_bytes)
{
    int problem;
    struct cache *cache = cache_open(scratch_path(scratch, "programs"), most_bytes, &problem);
    assert_non_null(cache);
    return cache;
}

static struct blob program_of(unsigned seed, size_t size)
{
    unsigned char *bytes = malloc(size);
    assert_non_null(bytes);
    for (size_t k = 0; k < size; k++) {
        seed = seed * 1664525 + 1013904223;
        bytes[k] = (unsigned char)(seed >> 24);
    }
    return (struct blob){bytes, size};
}

static bool finds(const struct cache *cache, const struct blob *of, const struct blob *wanted)
{
    struct blob found;
    if (!cache_find(cache, of, &found))
        return false;
    assert_int_equal(found.size, wanted->size);
    assert_memory_equal(found.bytes, wanted->bytes, wanted->size);
    free(found.bytes);
    return true;
}

/* The path of the only entry. */
static const char *entry_path(struct scratch *scratch)
{
    const char *folder = scratch_path(scratch, "programs"), *path = NULL;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (const struct dirent *file; (file = readdir(directory));) {
        if (file->d_name[0] == '.')
            continue;
        assert_null(path);
        path = arena_printf(scratch->arena, "%s/%s", folder, file->d_name);
    }
    closedir(directory);
    return path;
}

static void what_is_kept_is_found(void **state)
{
    struct scratch *scratch = *state;
    struct cache *cache = open_in(scratch, MOST_BYTES);
    struct blob program = program_of(1, PROGRAM_BYTES), other = program_of(2, PROGRAM_BYTES / 3);
    char other_key[] = "rql 2";
    const struct blob second = {other_key, sizeof other_key};
    struct stat status;

    assert_false(finds(cache, &key, &program));
    assert_true(cache_store(cache, &key, &program));
    assert_true(finds(cache, &key, &program));
    assert_int_equal(stat(entry_path(scratch), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_false(finds(cache, &second, &program));
    assert_true(cache_store(cache, &second, &other));
    assert_true(cache_store(cache, &key, &other)); /* replaces the first */
    assert_true(finds(cache, &key, &other));
    cache_drop(cache, &key);
    assert_false(finds(cache, &key, &other));
    assert_true(finds(cache, &second, &other));
    cache_close(cache);
    cache = open_in(scratch, MOST_BYTES);
    assert_true(finds(cache, &second, &other));
    cache_close(cache);
    free(program.bytes);
    free(other.bytes);
}

/* Another key's entry under this key's file name, as in a hash collision. */
static void foreign_entries_are_missing(void **state)
{
    struct scratch *scratch = *state;
    struct cache *cache = open_in(scratch, MOST_BYTES);
    struct blob program = program_of(3, PROGRAM_BYTES);
    char other_key[] = "rql 1\0driver\0device\0options\0__kernel void g() {}";
    const struct blob second = {other_key, sizeof other_key};

    assert_true(cache_store(cache, &key, &program));
    const char *path = entry_path(scratch);
    cache_drop(cache, &key);
    assert_true(cache_store(cache, &second, &program));
    assert_int_equal(rename(entry_path(scratch), path), 0);
    assert_false(finds(cache, &key, &program));
    assert_int_equal(access(path, F_OK), -1);

    static const char *const others[] = {"", "x", "RIFF and what belongs to it, for more bytes than a header has"};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        scratch_write(scratch, "other", others[k], strlen(others[k]));
        assert_int_equal(rename(scratch_path(scratch, "other"), path), 0);
        assert_false(finds(cache, &key, &program));
    }
    assert_int_equal(mkfifo(path, 0600), 0); /* must not block */
    assert_false(finds(cache, &key, &program));
    assert_int_equal(symlink("/etc/passwd", path), 0); /* not followed */
    assert_false(finds(cache, &key, &program));
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(finds(cache, &key, &program));
    assert_false(cache_store(cache, &key, &program));
    rmdir(path);
    assert_true(cache_store(cache, &key, &program));
    assert_true(finds(cache, &key, &program));
    cache_close(cache);
    free(program.bytes);
}

/* Every truncated length, and one byte too many. */
static void truncated_entries_are_missing(void **state)
{
    struct scratch *scratch = *state;
    struct cache *cache = open_in(scratch, MOST_BYTES);
    struct blob program = program_of(4, PROGRAM_BYTES);
    const off_t whole = HEADER_BYTES + (off_t)sizeof key_text + PROGRAM_BYTES;
    struct stat status;

    for (off_t length = 0; length <= whole + 1; length++) {
        assert_true(cache_store(cache, &key, &program));
        const char *path = entry_path(scratch);
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_size, whole);
        assert_int_equal(truncate(path, length), 0);
        assert_int_equal(finds(cache, &key, &program), length == whole);
    }
    cache_close(cache);
    free(program.bytes);
}

static void flip(const char *path, off_t byte, int bit)
{
    unsigned char value;
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &value, 1, byte), 1);
    value ^= (unsigned char)(1 << bit);
    assert_int_equal(pwrite(fd, &value, 1, byte), 1);
    close(fd);
}

static void flipped_bits_are_noticed(void **state)
{
    struct scratch *scratch = *state;
    struct cache *cache = open_in(scratch, MOST_BYTES);
    struct blob program = program_of(5, PROGRAM_BYTES);
    const off_t whole = HEADER_BYTES + (off_t)sizeof key_text + PROGRAM_BYTES;

    for (off_t byte = 0; byte < whole; byte++) {
        assert_true(cache_store(cache, &key, &program));
        flip(entry_path(scratch), byte, (int)(byte % 8));
        assert_false(finds(cache, &key, &program));
    }
    cache_close(cache);
    free(program.bytes);
}

/* When full, the least recently used entries are evicted. */
static void the_cache_is_bounded(void **state)
{
    enum { ENTRIES = 40, BYTES = 10000, KEPT = 20 };
    struct scratch *scratch = *state;
    struct cache *cache = open_in(scratch, KEPT * BYTES);
    struct blob program = program_of(6, BYTES - 100);
    char names[ENTRIES][16];
    int kept = 0;

    for (int k = 0; k < ENTRIES; k++) {
        snprintf(names[k], sizeof names[k], "%d", k);
        const struct blob name = {names[k], sizeof names[k]};
        assert_true(cache_store(cache, &name, &program));
        if (k > 0) /* keep the first recently used */
            assert_true(finds(cache, &(struct blob){names[0], sizeof names[0]}, &program));
        usleep(2000); /* file times are that coarse */
    }
    for (int k = 0; k < ENTRIES; k++)
        kept += finds(cache, &(struct blob){names[k], sizeof names[k]}, &program);
    assert_in_range(kept, KEPT * 3 / 4 - 1, KEPT);
    assert_true(finds(cache, &(struct blob){names[0], sizeof names[0]}, &program));
    assert_false(finds(cache, &(struct blob){names[1], sizeof names[1]}, &program));
    assert_true(finds(cache, &(struct blob){names[ENTRIES - 1], sizeof names[ENTRIES - 1]}, &program));

    /* Stale partial files of dead processes are removed too. */
    const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    scratch_write(scratch, "programs/0123456789abcdef.77.new", "half", 4);
    scratch_write(scratch, "programs/0123456789abcdef.78.new", "half", 4);
    assert_int_equal(utimensat(AT_FDCWD, scratch_path(scratch, "programs/0123456789abcdef.77.new"), long_ago, 0), 0);
    assert_true(cache_store(cache, &key, &program));
    assert_int_equal(access(scratch_path(scratch, "programs/0123456789abcdef.77.new"), F_OK), -1);
    assert_int_equal(access(scratch_path(scratch, "programs/0123456789abcdef.78.new"), F_OK), 0);
    cache_close(cache);
    free(program.bytes);
}

/* Processes storing, finding and dropping the same entries see whole programs or none. */
static void processes_do_not_disturb_each_other(void **state)
{
    enum { PROCESSES = 3, ROUNDS = 300, PROGRAMS = 4 };
    struct scratch *scratch = *state;
    pid_t children[PROCESSES];

    for (int p = 0; p < PROCESSES; p++) {
        children[p] = fork();
        assert_true(children[p] >= 0);
        if (children[p] > 0)
            continue;
        struct cache *cache = open_in(scratch, 5000);
        int wrong = 0;
        for (int round = 0; round < ROUNDS; round++) {
            char name[2] = {(char)('a' + (round + p) % PROGRAMS), 0};
            const struct blob of = {name, sizeof name};
            struct blob program = program_of((unsigned)name[0], 2000), found;
            if (cache_find(cache, &of, &found)) {
                wrong += found.size != program.size || memcmp(found.bytes, program.bytes, program.size) != 0;
                free(found.bytes);
            } else {
                wrong += !cache_store(cache, &of, &program);
            }
            if (round % 7 == 0)
                cache_drop(cache, &of);
            free(program.bytes);
        }
        cache_close(cache);
        _exit(wrong > 0);
    }
    for (int p = 0; p < PROCESSES; p++) {
        int status;
        assert_int_equal(waitpid(children[p], &status, 0), children[p]);
        assert_int_equal(status, 0);
    }
}

static void unusable_directories_are_told_of(void **state)
{
    struct scratch *scratch = *state;
    int problem = 0;
    assert_null(cache_open(scratch_path(scratch, "missing/programs"), MOST_BYTES, &problem));
    assert_int_equal(problem, ENOENT);
    scratch_write(scratch, "file", "x", 1);
    assert_null(cache_open(scratch_path(scratch, "file"), MOST_BYTES, &problem));
    assert_int_equal(problem, ENOTDIR);
    if (geteuid() != 0) {
        assert_int_equal(mkdir(scratch_path(scratch, "closed"), 0500), 0);
        assert_null(cache_open(scratch_path(scratch, "closed/programs"), MOST_BYTES, &problem));
        assert_int_equal(problem, EACCES);
    }
}

static int make_with(const char *cache, const char *home, struct strbuf *path)
{
    if (cache)
        setenv("XDG_CACHE_HOME", cache, 1);
    else
        unsetenv("XDG_CACHE_HOME");
    if (home)
        setenv("HOME", home, 1);
    else
        unsetenv("HOME");
    strbuf_clear(path);
    return cachedir_create(path);
}

static void directories_are_the_users_alone(void **state)
{
    struct scratch *scratch = *state;
    struct strbuf path = {0};
    struct stat status;
    const char *deep = scratch_path(scratch, "a/b");

    assert_int_equal(make_with(deep, "/nowhere", &path), 0);
    assert_string_equal(path.text, scratch_path(scratch, "a/b/rql"));
    assert_int_equal(stat(path.text, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_int_equal(chmod(path.text, 0755), 0); /* no longer private; must be made so again */
    assert_int_equal(make_with(deep, "/nowhere", &path), 0);
    assert_int_equal(stat(path.text, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_int_equal(make_with("relative", deep, &path), 0);
    assert_string_equal(path.text, scratch_path(scratch, "a/b/.cache/rql"));
    assert_int_equal(make_with(NULL, NULL, &path), ENOENT);
    assert_int_equal(path.length, 0);
    assert_int_equal(make_with("/proc/self", NULL, &path), ENOENT);
    assert_string_equal(path.text, "/proc/self/rql");
    scratch_write(scratch, "rql", "x", 1);
    assert_int_equal(make_with(scratch->folder, NULL, &path), ENOTDIR);
    if (geteuid() == 0) {
        assert_int_equal(chown(scratch_path(scratch, "a/b/rql"), 12345, (gid_t)-1), 0);
        assert_int_equal(make_with(deep, NULL, &path), EPERM);
    }
    strbuf_free(&path);
}

static void pocl_homes_do_not_stay(void **state)
{
    struct scratch *scratch = *state;
    const char *base = scratch_path(scratch, "base"), *left = scratch_path(scratch, "base/pocl.gone42");
    const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    struct pocl_home first = {0}, second = {0}, elsewhere = {0};

    assert_int_equal(mkdir(base, 0700), 0);
    assert_int_equal(mkdir(left, 0700), 0);
    scratch_write(scratch, "base/pocl.gone42/file", "x", 1);
    assert_int_equal(utimensat(AT_FDCWD, left, long_ago, 0), 0);
    pocl_home_create(&first, base);
    assert_int_equal(access(left, F_OK), -1); /* not in use */
    assert_int_equal(strncmp(first.path, base, strlen(base)), 0);
    assert_string_equal(getenv("POCL_CACHE_DIR"), first.path);
    assert_int_equal(utimensat(AT_FDCWD, first.path, long_ago, 0), 0);
    pocl_home_create(&second, base);
    assert_int_equal(access(first.path, F_OK), 0); /* still in use */
    pocl_home_remove(&second);
    char *path = strdup(first.path);
    pocl_home_remove(&first);
    assert_int_equal(access(path, F_OK), -1);
    free(path);

    assert_int_equal(setenv("TMPDIR", base, 1), 0);
    pocl_home_create(&elsewhere, scratch_path(scratch, "missing"));
    assert_int_equal(strncmp(elsewhere.path, base, strlen(base)), 0);
    pocl_home_remove(&elsewhere);
    pocl_home_remove(&elsewhere);
    unsetenv("TMPDIR");
}

static int open_scratch(void **state)
{
    *state = scratch_new();
    return 0;
}

static int close_scratch(void **state)
{
    scratch_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_kept_is_found, open_scratch, close_scratch),
        cmocka_unit_test_setup_teardown(foreign_entries_are_missing, open_scratch, close_scratch),
        cmocka_unit_test_setup_teardown(truncated_entries_are_missing, open_scratch, close_scratch),
        cmocka_unit_test_setup_teardown(flipped_bits_are_noticed, open_scratch, close_scratch),
        cmocka_unit_test_setup_teardown(the_cache_is_bounded, open_scratch, close_scratch),
        cmocka_unit_test_setup_teardown(processes_do_not_disturb_each_other, open_scratch, close_scratch),
        cmocka_unit_test_setup_teardown(unusable_directories_are_told_of, open_scratch, close_scratch),
        cmocka_unit_test_setup_teardown(directories_are_the_users_alone, open_scratch, close_scratch),
        cmocka_unit_test_setup_teardown(pocl_homes_do_not_stay, open_scratch, close_scratch),
    };
    return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
