/* The command line and the table of settings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "repl/print/print.h"
#include "repl/session/options.h"

#include <string.h>

enum { MOST_ARGS = 8 };

/* Options parsed from up to MOST_ARGS - 1 arguments, and the messages. */
struct parsed {
    char *argv[MOST_ARGS + 1];
    struct options options;
    struct strbuf message;
    enum options_result result;
};

static struct parsed parse_args(const char *const *args)
{
    struct parsed parsed = {.argv = {(char *)"rql"}};
    int argc = 1;
    for (; args[argc - 1]; argc++) {
        assert_true(argc < MOST_ARGS);
        parsed.argv[argc] = (char *)(uintptr_t)args[argc - 1];
    }
    parsed.result = options_parse(&parsed.options, argc, parsed.argv, &parsed.message);
    return parsed;
}

#define PARSE(...) parse_args((const char *const[]){__VA_ARGS__, NULL})

static void parsed_free(struct parsed *parsed)
{
    options_free(&parsed->options);
    strbuf_free(&parsed->message);
}

static void expect_bad(struct parsed parsed, const char *said)
{
    assert_int_equal(parsed.result, OPTIONS_BAD);
    if (!strstr(parsed.message.text, said)) {
        fail_msg("'%s' does not say '%s'", parsed.message.text, said);
    }
    parsed_free(&parsed);
}

static void no_argument_means_defaults(void **state)
{
    (void)state;
    struct parsed parsed = parse_args((const char *const[]){NULL});
    assert_int_equal(parsed.result, OPTIONS_RUN);
    assert_null(parsed.options.script);
    assert_int_equal(parsed.options.query_count, 0);
    assert_int_equal(parsed.options.settings.fusion, 1);
    assert_int_equal(parsed.options.settings.timing, 0);
    assert_int_equal(parsed.options.settings.device, DEVICE_AUTO);
    parsed_free(&parsed);
}

static void queries_are_kept_in_order(void **state)
{
    (void)state;
    struct parsed parsed = PARSE("-c", "range 1..3", "--command=1+1", "-c2+2");
    assert_int_equal(parsed.result, OPTIONS_RUN);
    assert_int_equal(parsed.options.query_count, 3);
    assert_string_equal(parsed.options.queries[0], "range 1..3");
    assert_string_equal(parsed.options.queries[1], "1+1");
    assert_string_equal(parsed.options.queries[2], "2+2");
    parsed_free(&parsed);
}

static void values_follow_or_are_joined(void **state)
{
    (void)state;
    struct parsed parsed = PARSE("--format", "csv", "--device=3", "--fusion=off", "--timing", "q.rql");
    assert_int_equal(parsed.result, OPTIONS_RUN);
    assert_int_equal(parsed.options.settings.format, PRINT_CSV);
    assert_int_equal(parsed.options.settings.device, DEVICE_NUMBER + 3);
    assert_int_equal(parsed.options.settings.fusion, 0);
    assert_int_equal(parsed.options.settings.timing, 1);
    assert_string_equal(parsed.options.script, "q.rql");
    parsed_free(&parsed);
}

static void dash_is_a_script_and_two_end_options(void **state)
{
    (void)state;
    struct parsed parsed = PARSE("-");
    assert_string_equal(parsed.options.script, "-");
    parsed_free(&parsed);
    parsed = PARSE("--", "--timing");
    assert_int_equal(parsed.result, OPTIONS_RUN);
    assert_string_equal(parsed.options.script, "--timing");
    assert_int_equal(parsed.options.settings.timing, 0);
    parsed_free(&parsed);
}

static void what_follows_the_script_is_its_own(void **state)
{
    (void)state;
    struct parsed parsed = PARSE("--timing", "q.rql", "id=42", "-7", "", "-");
    assert_int_equal(parsed.result, OPTIONS_RUN);
    assert_string_equal(parsed.options.script, "q.rql");
    assert_int_equal(parsed.options.argument_count, 4);
    assert_string_equal(parsed.options.arguments[0], "id=42");
    assert_string_equal(parsed.options.arguments[1], "-7");
    assert_string_equal(parsed.options.arguments[2], "");
    assert_string_equal(parsed.options.arguments[3], "-");
    parsed_free(&parsed);
    parsed = PARSE("q.rql", "--", "--timing");
    assert_int_equal(parsed.result, OPTIONS_RUN);
    assert_int_equal(parsed.options.argument_count, 1);
    assert_string_equal(parsed.options.arguments[0], "--timing");
    assert_int_equal(parsed.options.settings.timing, 0);
    parsed_free(&parsed);
}

static void mistakes_are_explained(void **state)
{
    (void)state;
    expect_bad(PARSE("--timming"), "did you mean --timing?");
    expect_bad(PARSE("--formt=csv"), "did you mean --format?");
    expect_bad(PARSE("-x"), "unknown option '-x'");
    expect_bad(PARSE("--\033[31m"), "unknown option '--^[[31m'");
    expect_bad(PARSE("--format"), "--format needs a value");
    expect_bad(PARSE("--format", "xml"), "one of auto|table|tsv|csv|json|jsonl|markdown|npy|raw");
    expect_bad(PARSE("--device", "99999"), "auto|cpu|gpu|host|all|N");
    expect_bad(PARSE("--device", ""), "--device: ''");
    expect_bad(PARSE("--timing=on"), "takes no value");
    expect_bad(PARSE("a.rql", "--timing"), "NAME=VALUE needs no option");
    expect_bad(PARSE("a.rql", "-c", "1"), "options go before");
    expect_bad(PARSE("-", "id=42", "--timing"), "options go before");
    expect_bad(PARSE("-c", "1", "a.rql"), "mutually exclusive");
    expect_bad(PARSE(""), "name is empty");
}

static void help_names_every_option_and_fits_a_screen(void **state)
{
    (void)state;
    struct parsed parsed = PARSE("--help", "--nonsense");
    assert_int_equal(parsed.result, OPTIONS_PRINT);
    for (size_t i = 0; i < option_count; i++) {
        assert_non_null(strstr(parsed.message.text, option_table[i].name));
    }
    size_t lines = 0;
    const char *line = parsed.message.text;
    for (const char *end; (end = strchr(line, '\n')); line = end + 1) {
        assert_true(end - line <= 100);
        lines++;
    }
    assert_true(lines <= 24);
    assert_string_equal(line, ""); /* ends with a newline */
    parsed_free(&parsed);
}

static void version_is_told(void **state)
{
    (void)state;
    struct parsed parsed = PARSE("--version");
    assert_int_equal(parsed.result, OPTIONS_PRINT);
    assert_string_equal(parsed.message.text, "rql " RQL_VERSION "\n");
    parsed_free(&parsed);
}

static void every_choice_of_every_setting_reads_back(void **state)
{
    (void)state;
    struct settings settings = settings_default();
    for (size_t i = 0; i < setting_count; i++) {
        const struct setting *setting = &setting_table[i];
        assert_ptr_equal(setting_find(setting->name), setting);
        for (size_t k = 0; setting->choices[k]; k++) {
            struct strbuf text = {0};
            assert_true(setting_set(&settings, setting, setting->choices[k]));
            setting_print(&text, &settings, setting);
            assert_string_equal(text.text, setting->choices[k]);
            strbuf_free(&text);
        }
        struct settings before = settings;
        assert_false(setting_set(&settings, setting, "nonsense"));
        assert_memory_equal(&before, &settings, sizeof settings);
    }
    assert_null(setting_find("nonsense"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_argument_means_defaults),
        cmocka_unit_test(queries_are_kept_in_order),
        cmocka_unit_test(values_follow_or_are_joined),
        cmocka_unit_test(dash_is_a_script_and_two_end_options),
        cmocka_unit_test(what_follows_the_script_is_its_own),
        cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(help_names_every_option_and_fits_a_screen),
        cmocka_unit_test(version_is_told),
        cmocka_unit_test(every_choice_of_every_setting_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
