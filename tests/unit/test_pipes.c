/* Loading pipes: read to the end once, kept, resumed after an interruption, and refused if unreadable. */
#include "loads.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct fixture {
    struct progress progress; /* first: cast to fixture */
    int tells_left;           /* reports until the load is cancelled; 0: never */
    atomic_int cancel;
    struct scratch *scratch;
    struct mappings *mappings;
    struct file_cache *file_cache;
    struct loaded loaded;
};

static void count_down(struct progress *progress, const struct progress_step *advance)
{
    struct fixture *fixture = (struct fixture *)progress;
    assert_non_null(strstr(advance->what, "load "));
    if (fixture->tells_left > 0 && --fixture->tells_left == 0)
        fixture->cancel = 1;
}

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    fixture->progress.report = count_down;
    fixture->scratch = scratch_new();
    fixture->mappings = mappings_new();
    fixture->file_cache = file_cache_new(fixture->mappings, &fixture->cancel);
    file_cache_set_progress(fixture->file_cache, &fixture->progress);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    loaded_release(&fixture->loaded);
    file_cache_free(fixture->file_cache);
    mappings_free(fixture->mappings);
    scratch_free(fixture->scratch);
    free(fixture);
    return 0;
}

static enum status load(struct fixture *fixture, const char *path, const char *word)
{
    return load_anew(fixture->scratch, fixture->file_cache, path, word, &fixture->loaded);
}

static const char *named_pipe(struct fixture *fixture)
{
    const char *path = scratch_path(fixture->scratch, "p.csv");
    (void)unlink(path);
    assert_int_equal(mkfifo(path, 0666), 0);
    return path;
}

/* Forks a writer of two texts to a pipe; the second waits for a byte or the end of `go`, unless -1. */
static pid_t write_from_afar(const char *path, const char *first, const char *second, int go)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0)
        return child;
    char byte;
    int file = open(path, O_WRONLY);
    bool wrote = write(file, first, strlen(first)) == (ssize_t)strlen(first);
    wrote = wrote && (go < 0 || read(go, &byte, 1) >= 0);
    wrote = wrote && write(file, second, strlen(second)) == (ssize_t)strlen(second);
    _exit(wrote ? 0 : 1);
}

static void assert_wrote(pid_t child)
{
    int outcome;
    assert_int_equal(waitpid(child, &outcome, 0), child);
    assert_int_equal(outcome, 0);
}

static void read_once_and_kept(void **state)
{
    struct fixture *fixture = *state;
    const char *path = named_pipe(fixture);
    pid_t child = write_from_afar(path, "a,b\n1,", "2\n3,4\n", -1);
    assert_int_equal(load(fixture, path, NULL), STATUS_OK);
    assert_wrote(child);
    assert_int_equal(fixture->loaded.count, 2);
    assert_int_equal(column_get_int(fixture->loaded.columns[1], 1), 4);
    struct column *first = column_ref(fixture->loaded.columns[0]);
    file_cache_sweep(fixture->file_cache);
    assert_true(file_cache_contains(fixture->file_cache, path, format_by_word("csv")));
    assert_int_equal(load(fixture, path, "csv"), STATUS_OK);
    assert_ptr_equal(fixture->loaded.columns[0], first);
    column_unref(first);
    assert_int_equal(load(fixture, path, "u8"), STATUS_OK);
    assert_int_equal(fixture->loaded.columns[0]->rows, 12);
    assert_string_equal(fixture->loaded.names[0], "p");
    assert_int_equal(load(fixture, path, "jsonl"), STATUS_FAILED);
    assert_only_told(fixture->scratch, "line 1 is not a JSON object");
}

/* A resumed load neither loses nor repeats data. */
static void gone_on_with(void **state)
{
    struct fixture *fixture = *state;
    const char *path = named_pipe(fixture);
    int go[2];
    assert_int_equal(pipe(go), 0);
    pid_t child = write_from_afar(path, "a\n1\n", "2\n3\n", go[0]);
    fixture->tells_left = 6;
    assert_int_equal(load(fixture, path, NULL), STATUS_CANCELLED);
    assert_int_equal(fixture->scratch->diags.count, 0);
    assert_int_equal(write(go[1], "x", 1), 1);
    fixture->cancel = 0;
    assert_int_equal(load(fixture, path, NULL), STATUS_OK);
    assert_wrote(child);
    assert_int_equal(fixture->loaded.columns[0]->rows, 3);
    assert_int_equal(column_get_int(fixture->loaded.columns[0], 0), 1);
    assert_int_equal(column_get_int(fixture->loaded.columns[0], 2), 3);
    close(go[0]);
    close(go[1]);
}

/* A new pipe of the same name is read anew. */
static void another_of_its_name(void **state)
{
    struct fixture *fixture = *state;
    static const char *const texts[] = {"a\n1\n", "a\n2\n", "a\n3\n"};
    for (int i = 0; i < 3; i++) {
        const char *path = named_pipe(fixture);
        pid_t child = write_from_afar(path, texts[i], "", -1);
        assert_int_equal(load(fixture, path, NULL), STATUS_OK);
        assert_wrote(child);
        assert_int_equal(column_get_int(fixture->loaded.columns[0], 0), i + 1);
    }
}

/* An inherited pipe ends even if its writer closed it before the load; an empty one has no rows. */
static void given_pipes(void **state)
{
    struct fixture *fixture = *state;
    static const char *const texts[] = {"", "abc"};
    for (size_t i = 0; i < 2; i++) {
        int ends[2];
        char path[32];
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], texts[i], strlen(texts[i])), strlen(texts[i]));
        close(ends[1]);
        snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
        assert_int_equal(load(fixture, path, "u8"), STATUS_OK);
        assert_int_equal(fixture->loaded.columns[0]->rows, strlen(texts[i]));
        assert_int_equal(load(fixture, path, "i16"), i == 0 ? STATUS_OK : STATUS_FAILED);
        close(ends[0]);
    }
}

/* More than a pipe and the initial buffer hold. */
static void much(void **state)
{
    struct fixture *fixture = *state;
    enum { BYTES = 5 << 20 };
    const char *path = named_pipe(fixture);
    char *text = malloc(BYTES + 1);
    memset(text, 7, BYTES);
    text[BYTES] = '\0';
    pid_t child = write_from_afar(path, text, text, -1);
    assert_int_equal(load(fixture, path, "u8"), STATUS_OK);
    assert_wrote(child);
    const struct column *column = fixture->loaded.columns[0];
    assert_int_equal(column->rows, 2 * BYTES);
    for (int64_t row = 0; row < column->rows; row += BYTES / 8)
        assert_int_equal(column_get_int(column, row), 7);
    assert_memory_equal(column->data, text, BYTES);
    free(text);
}

static void refused(void **state)
{
    struct fixture *fixture = *state;
    int ends[2], input = dup(STDIN_FILENO);
    char path[32];
    assert_int_equal(pipe(ends), 0);
    assert_true(dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
    file_cache_reserve_stdin(fixture->file_cache);
    assert_int_equal(load(fixture, "/dev/stdin", "csv"), STATUS_FAILED);
    assert_told(fixture->scratch, "`rql -c QUERY`");
    assert_only_told(fixture->scratch, "`/dev/stdin` supplies the statements");
    assert_true(dup2(input, STDIN_FILENO) == STDIN_FILENO);
    close(input);
    close(ends[0]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    assert_int_equal(load(fixture, path, "csv"), STATUS_FAILED);
    assert_only_told(fixture->scratch, "is open for output only");
    close(ends[1]);
    assert_int_equal(load(fixture, scratch_path(fixture->scratch, "none"), "csv"), STATUS_FAILED);
    assert_only_told(fixture->scratch, "no such file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(read_once_and_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(gone_on_with, setup, teardown),
        cmocka_unit_test_setup_teardown(another_of_its_name, setup, teardown),
        cmocka_unit_test_setup_teardown(given_pipes, setup, teardown),
        cmocka_unit_test_setup_teardown(much, setup, teardown),
        cmocka_unit_test_setup_teardown(refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
