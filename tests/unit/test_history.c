/* The history file: entries round-trip, only the user can read it, and problems are harmless. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "repl/line/history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Entries from history_load, whose callback takes no context. */
static char *loaded[3 * HISTORY_ENTRIES];
static size_t loaded_count;

static void collect(const char *entry)
{
    loaded[loaded_count++] = strdup(entry);
}

static void forget(void)
{
    while (loaded_count > 0) {
        free(loaded[--loaded_count]);
    }
}

static void load(void)
{
    int problem;
    struct history *history = history_open(&problem);
    forget();
    history_load(history, collect);
    history_close(history);
}

/* Each test has its own state directory below its temporary one. */
static int set_up(void **state)
{
    char *directory = strdup("/tmp/rql-history-XXXXXX");
    *state = mkdtemp(directory);
    return *state && setenv("XDG_STATE_HOME", directory, 1) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[256];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
    forget();
    free(*state);
    return system(command);
}

static void append(struct history *history, const char *entry)
{
    history_append(history, entry, strlen(entry));
}

static void entries_come_back_in_order(void **state)
{
    (void)state;
    int problem;
    struct history *history = history_open(&problem);
    assert_int_equal(problem, 0);
    append(history, "load a.bin\n| sum");
    append(history, "a \\n b \\\\ \\");
    append(history, "a \\n b \\\\ \\");
    append(history, "last");
    history_close(history);
    load();
    assert_int_equal(loaded_count, 3);
    assert_string_equal(loaded[0], "load a.bin\n| sum");
    assert_string_equal(loaded[1], "a \\n b \\\\ \\");
    assert_string_equal(loaded[2], "last");
}

static void entries_that_come_again_count_once(void **state)
{
    (void)state;
    int problem;
    struct history *history = history_open(&problem);
    append(history, "first");
    append(history, "again");
    append(history, "between");
    append(history, "again");
    history_close(history);
    load();
    assert_int_equal(loaded_count, 3);
    assert_string_equal(loaded[0], "first");
    assert_string_equal(loaded[1], "between");
    assert_string_equal(loaded[2], "again");
}

static void secrets_are_not_kept(void **state)
{
    (void)state;
    static const char *const secret[] = {
        "load http://bob:secret77@host/t.csv",        "load 'https://bob:p,secret77@host/t.csv' | sum a",
        "load clickhouse://bob:secret77@host/t",      "load https://host/a.csv, https://bob:secret77@host/t.csv",
        "load http://bob:p/secret77@host/t.csv",      "load 'http://bob:p secret77@host/t.csv'",
        "load 'https://host/t.csv?x=1&sig=secret77'", "load https://host/t.csv?X-Amz-Signature=secret77",
    };
    static const char *const open[] = {
        "load http://host:8080/a@b.csv",
        "load clickhouse://bob@host:8123/t?by=pos",
        "load http://host/sig=1.csv | derive a = \"x:y@z\"",
        "load 'http://host/t.csv?design=1'",
    };
    enum { SECRETS = sizeof secret / sizeof *secret, OPEN = sizeof open / sizeof *open };
    int problem;
    struct history *history = history_open(&problem);
    for (size_t i = 0; i < SECRETS; i++)
        append(history, secret[i]);
    for (size_t i = 0; i < OPEN; i++)
        append(history, open[i]);
    history_close(history);
    load();
    assert_int_equal(loaded_count, OPEN);
    for (size_t i = 0; i < OPEN; i++)
        assert_string_equal(loaded[i], open[i]);
}

static void the_file_is_the_users_alone(void **state)
{
    (void)state;
    int problem;
    struct history *history = history_open(&problem);
    struct stat status;
    assert_int_equal(stat(history_path(history), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    char directory[256];
    (void)snprintf(directory, sizeof directory, "%s/rql", (char *)*state);
    assert_int_equal(stat(directory, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_int_equal(chmod(history_path(history), 0644), 0);
    history_close(history);
    history = history_open(&problem);
    assert_int_equal(stat(history_path(history), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    history_close(history);
}

static void long_files_are_shortened(void **state)
{
    (void)state;
    int problem;
    struct history *history = history_open(&problem);
    FILE *file = fopen(history_path(history), "w");
    for (int i = 0; i < 2 * HISTORY_ENTRIES + 1; i++) {
        (void)fprintf(file, "entry %d\n", i);
    }
    (void)fclose(file);
    history_close(history);
    for (int round = 0; round < 2; round++) {
        load();
        assert_int_equal(loaded_count, HISTORY_ENTRIES);
        assert_string_equal(loaded[0], "entry 5001");
        assert_string_equal(loaded[HISTORY_ENTRIES - 1], "entry 10000");
    }
    struct stat status;
    history = history_open(&problem);
    assert_int_equal(stat(history_path(history), &status), 0);
    assert_true(status.st_size < HISTORY_ENTRIES * 12);
    assert_int_equal(status.st_mode & 0777, 0600);
    history_close(history);
}

static void an_unusable_place_is_told_and_harmless(void **state)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/file", (char *)*state);
    FILE *file = fopen(path, "w");
    (void)fclose(file);
    assert_int_equal(setenv("XDG_STATE_HOME", path, 1), 0);
    int problem;
    struct history *history = history_open(&problem);
    assert_int_equal(problem, ENOTDIR);
    append(history, "x");
    forget();
    history_load(history, collect);
    assert_int_equal(loaded_count, 0);
    history_close(history);
}

/* Users disable history by a link to /dev/null, whose mode must not change. */
static void a_link_to_nowhere_is_left_alone(void **state)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/rql", (char *)*state);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof path, "%s/rql/history", (char *)*state);
    assert_int_equal(symlink("/dev/null", path), 0);
    struct stat before, after;
    assert_int_equal(stat("/dev/null", &before), 0);
    int problem;
    struct history *history = history_open(&problem);
    assert_int_equal(problem, 0);
    append(history, "x");
    history_load(history, collect);
    assert_int_equal(loaded_count, 0);
    history_close(history);
    assert_int_equal(stat("/dev/null", &after), 0);
    assert_int_equal(before.st_mode, after.st_mode);
}

static void a_pipe_is_not_waited_for(void **state)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/rql", (char *)*state);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof path, "%s/rql/history", (char *)*state);
    assert_int_equal(mkfifo(path, 0600), 0);
    int problem;
    struct history *history = history_open(&problem);
    assert_int_equal(problem, ENXIO);
    append(history, "x");
    history_load(history, collect);
    assert_int_equal(loaded_count, 0);
    history_close(history);
}

static void no_home_is_told_and_harmless(void **state)
{
    (void)state;
    char *home = strdup(getenv("HOME") ? getenv("HOME") : "");
    assert_int_equal(setenv("XDG_STATE_HOME", "relative", 1), 0);
    assert_int_equal(unsetenv("HOME"), 0);
    int problem;
    struct history *history = history_open(&problem);
    assert_int_equal(problem, ENOENT);
    assert_null(history_path(history));
    append(history, "x");
    history_close(history);
    assert_int_equal(setenv("HOME", home, 1), 0);
    free(home);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(entries_come_back_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(entries_that_come_again_count_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(secrets_are_not_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_file_is_the_users_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_files_are_shortened, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_unusable_place_is_told_and_harmless, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_link_to_nowhere_is_left_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_pipe_is_not_waited_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_home_is_told_and_harmless, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
