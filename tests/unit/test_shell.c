/* The shell as a whole, without a device: options in, text and exit status out. */
#include "scratch.h"

#include "repl/shell.h"

#include <fcntl.h>

/* What one run of the shell wrote and returned. */
struct visit {
    struct scratch *scratch;
    const char *script; /* a path, or NULL */
    const char *queries[4];
    const char *arguments[4];
    enum exit_status outcome;
};

static size_t count_strings(const char *const *strings)
{
    size_t count = 0;
    while (count < 4 && strings[count]) {
        count++;
    }
    return count;
}

static struct backend *no_device(const char *choice)
{
    (void)choice;
    return NULL;
}

static void describe_nothing(struct strbuf *out)
{
    strbuf_puts(out, "no devices\n");
}

/* Redirects `fd` to a scratch file; returns the old one. */
static int redirect(struct scratch *scratch, int fd, const char *name)
{
    int kept = dup(fd);
    int file = open(scratch_path(scratch, name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(kept >= 0 && file >= 0);
    assert_int_equal(dup2(file, fd), fd);
    assert_int_equal(close(file), 0);
    return kept;
}

static void put_back(int kept, int fd)
{
    assert_int_equal(dup2(kept, fd), fd);
    assert_int_equal(close(kept), 0);
}

/* Runs the shell with its output in the files `out` and `err` of the scratch folder. */
static void visit(struct visit *visit)
{
    struct options options = {.settings = settings_default(), .script = visit->script};
    options.queries = visit->queries;
    options.query_count = count_strings(visit->queries);
    options.arguments = visit->arguments;
    options.argument_count = count_strings(visit->arguments);
    atomic_int cancel = 0;
    atomic_int leave = 0;
    struct mappings *mappings = mappings_new();
    struct platform platform = {mappings, &cancel, &leave, -1, no_device, describe_nothing, NULL, false};
    (void)fflush(NULL);
    int out = redirect(visit->scratch, STDOUT_FILENO, "out");
    int err = redirect(visit->scratch, STDERR_FILENO, "err");
    visit->outcome = shell_main(&options, &platform);
    put_back(out, STDOUT_FILENO);
    put_back(err, STDERR_FILENO);
    mappings_free(mappings);
}

/* An empty `text` means no output. */
static void assert_error_says(struct visit *done, const char *text)
{
    size_t size;
    const char *said = scratch_read(done->scratch, "err", &size);
    if (*text == '\0') {
        assert_string_equal(said, "");
    } else if (!strstr(said, text)) {
        fail_msg("'%s' does not say '%s'", said, text);
    }
}

/* Runs the queries as -c options; `error` is for the last one if it fails. */
static void expect(const char *const *queries, const char *out, enum exit_status outcome, const char *error)
{
    struct visit done = {.scratch = scratch_new()};
    for (size_t i = 0; i < count_strings(queries); i++) {
        done.queries[i] = queries[i];
    }
    visit(&done);
    assert_file_text(done.scratch, "out", out);
    assert_error_says(&done, error);
    assert_int_equal(done.outcome, outcome);
    scratch_free(done.scratch);
}

#define EXPECT(out, outcome, error, ...) expect((const char *const[4]){__VA_ARGS__}, out, outcome, error)

static void queries_share_names_and_stop_at_a_failure(void **state)
{
    (void)state;
    EXPECT("5\n", EXIT_FINE, "", "let a = 2", "a + 3");
    EXPECT("1\n", EXIT_QUERY, "-c:1:1: error: unknown relation or value", "1", "nonsense", "3");
    EXPECT("", EXIT_QUERY, "error", "1; nonsense");
    EXPECT("1\n2\n", EXIT_QUERY, "row 2", "range 1..2; range 1..3 | map 1 / (x - 3)", "7");
}

static void commands_take_comments_and_a_last_semicolon(void **state)
{
    (void)state;
    EXPECT("a\t\t\t\t2\n", EXIT_FINE, "", "let a = 2", ".tables ; # all of them");
    EXPECT("", EXIT_QUERY, "a command must be alone on its line", ".tables; 3");
    EXPECT("fusion\toff\tfuse stages into as few passes as possible\toff|on\n", EXIT_FINE, "", ".set fusion off",
           ".set fusion");
    EXPECT("", EXIT_QUERY, "did you mean `fusion`?", ".set fusoin off");
    EXPECT("", EXIT_QUERY, "choose one of off|on", ".set fusion maybe");
    EXPECT("", EXIT_QUERY, "did you mean `.timing`?", ".timming on");
    EXPECT("", EXIT_QUERY, "usage: .drop NAME ...", ".drop");
    EXPECT("", EXIT_QUERY, "too many arguments", ".quit now");
    EXPECT("1\n", EXIT_FINE, "", "1", ".quit", "2");
    EXPECT("no devices\nhost: the built-in evaluator, without OpenCL\nselected: auto\n", EXIT_FINE, "", ".devices");
}

static void dropped_names_are_gone(void **state)
{
    (void)state;
    EXPECT("", EXIT_QUERY, "unknown relation or value", "let abc = 2", ".drop abc", "abc");
    EXPECT("", EXIT_QUERY, "did you mean `abc`?", "let abc = 2", ".drop abd");
    EXPECT("r\t2\t32\tmemory\tc1 i64, y i64\nf\t\t\t\tdef f(x) = x * x\n", EXIT_FINE, "",
           "let r = range 1..2 | map x, x as y", "def f(x) = x * x", ".tables");
}

static void timing_is_told_when_asked_for(void **state)
{
    (void)state;
    EXPECT("6\n", EXIT_FINE, "\ntotal ", ".timing on", "range 1..3 | sum");
    EXPECT("6\n", EXIT_FINE, "", "range 1..3 | sum");
}

static struct visit run_script(const char *text, const char *first, const char *second)
{
    struct visit done = {.scratch = scratch_new(), .arguments = {first, second}};
    done.script = scratch_write_text(done.scratch, "s.rql", text);
    visit(&done);
    return done;
}

static void expect_script(struct visit done, const char *out, enum exit_status outcome, const char *error)
{
    assert_file_text(done.scratch, "out", out);
    assert_error_says(&done, error);
    assert_int_equal(done.outcome, outcome);
    scratch_free(done.scratch);
}

static void scripts_get_their_arguments_by_name_or_place(void **state)
{
    (void)state;
    expect_script(run_script("a * 2\narg2", "a=21", "-7"), "42\n-7\n", EXIT_FINE, "");
    expect_script(run_script("len($r)", "r=range 1..3", NULL), "10\n", EXIT_FINE, "");
    expect_script(run_script("len($a)", "a=", NULL), "0\n", EXIT_FINE, "");
    expect_script(run_script("len($b)", "a=1", "b=nonsense"), "8\n", EXIT_FINE, "");
    expect_script(run_script("1", "1 == 1", NULL), "1\n", EXIT_FINE, "");
    expect_script(run_script("$a * $arg2", "a=6", "7"), "42\n", EXIT_FINE, "");
    expect_script(run_script("$a", "a=no/such.file", NULL), "", EXIT_QUERY, "no such file: `no/such.file`");
    expect_script(run_script("load $a", "a=no/such.file", NULL), "", EXIT_QUERY, "no such file: `no/such.file`");
}

static void arguments_smuggle_in_no_statement(void **state)
{
    (void)state;
    expect_script(run_script("len($a)", "a=1; 2", NULL), "4\n", EXIT_FINE, "");
    expect_script(run_script("len($a)", "a=1\n.quit", NULL), "7\n", EXIT_FINE, "");
    expect_script(run_script("len($arg1)", "2\n3", NULL), "3\n", EXIT_FINE, "");
}

static void scripts_are_checked_before_they_run(void **state)
{
    (void)state;
    expect_script(run_script("1\n.set fusoin off\nrange 1..3 | select y > z\n", NULL, NULL), "", EXIT_QUERY,
                  "s.rql:2:6: error: unknown setting `fusoin`");
    expect_script(run_script("let a = 1\n.drop a\na", NULL, NULL), "", EXIT_QUERY, "s.rql:3:1: error");
    expect_script(run_script(".read nowhere.rql", NULL, NULL), "", EXIT_QUERY, "no such file: `nowhere.rql`");
}

static void a_script_that_reads_itself_ends(void **state)
{
    (void)state;
    struct visit done = {.scratch = scratch_new()};
    const char *path = scratch_path(done.scratch, "s.rql");
    scratch_write_text(done.scratch, "s.rql", arena_printf(done.scratch->arena, ".read \"%s\"\n", path));
    done.script = path;
    visit(&done);
    expect_script(done, "", EXIT_QUERY, "`.read` is nested more than 16 deep");
}

static void a_missing_script_is_bad_usage(void **state)
{
    (void)state;
    struct visit done = {.scratch = scratch_new(), .script = "/nowhere/s.rql"};
    visit(&done);
    expect_script(done, "", EXIT_USAGE, "no such file: `/nowhere/s.rql`");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_share_names_and_stop_at_a_failure),
        cmocka_unit_test(commands_take_comments_and_a_last_semicolon),
        cmocka_unit_test(dropped_names_are_gone),
        cmocka_unit_test(timing_is_told_when_asked_for),
        cmocka_unit_test(scripts_get_their_arguments_by_name_or_place),
        cmocka_unit_test(arguments_smuggle_in_no_statement),
        cmocka_unit_test(scripts_are_checked_before_they_run),
        cmocka_unit_test(a_script_that_reads_itself_ends),
        cmocka_unit_test(a_missing_script_is_bad_usage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
