/* What is saved as text is loaded equal: values, missing ones, names, and types where the values show them. */
#include "scratch.h"
#include "typed_columns.h"

#include "base/time/time_zone.h"
#include "engine/formats/formats.h"
#include "engine/formats/save.h"

#include <math.h>

static uint64_t next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1d;
}

/* Strings of characters that some format needs to escape. The first character makes a column of them text. */
static const char *random_text(uint64_t *random, struct arena *arena)
{
    static const char *const parts[] = {"a", "B",    " ", ",", ";", "\t", "\n", "\r", "\"", "\\",   "|",    "'",
                                        "é", "日本", "n", "t", "1", "-",  ".",  "#",  "{",  "\x01", "🙂", "N/A"};
    struct strbuf text = {0};
    strbuf_puts(&text, "");
    for (uint64_t length = next(random) % 8; length > 0; length--)
        strbuf_puts(&text, parts[next(random) % (sizeof parts / sizeof *parts)]);
    const char *copy = arena_text(arena, text.text ? text.text : "", text.length);
    strbuf_free(&text);
    return copy;
}

static struct column *random_column(uint64_t *random, int kind, int64_t rows, struct arena *arena)
{
    static const struct logical_type types[] = {
        {.kind = LOGICAL_TEXT},
        {.kind = LOGICAL_NUMBER},
        {.kind = LOGICAL_DATE},
        {.kind = LOGICAL_TIMESTAMP},
        {.kind = LOGICAL_TIMESTAMP, .zone = &time_zone_utc},
    };
    enum { FLOATS = sizeof types / sizeof *types };
    const char **strings = arena_array(arena, (size_t)rows, sizeof *strings);
    int64_t *values = arena_array(arena, (size_t)rows, sizeof *values);
    double *floats = arena_array(arena, (size_t)rows, sizeof *floats);
    unsigned char *present = arena_array(arena, (size_t)rows, 1);
    bool some_missing = false;
    for (int64_t row = 0; row < rows; row++) {
        bool missing = row > 0 && next(random) % 4 == 0;
        some_missing = some_missing || missing;
        present[row] = !missing;
        strings[row] = missing ? NULL : row == 0 ? "text" : random_text(random, arena);
        int64_t wide = (int64_t)next(random) >> next(random) % 64;
        values[row] = missing ? 0 : kind == 2 ? wide % 700000 : kind > 2 ? wide % INT64_C(60000000000000000) : wide;
        floats[row] = missing ? 0 : ldexp((double)wide, (int)(next(random) % 100) - 80) + 0.5;
    }
    if (kind == 0)
        return text_column(strings, rows);
    if (kind < FLOATS)
        return logical_column(kind == 2 ? TYPE_I32 : TYPE_I64, types[kind], values, some_missing ? present : NULL,
                              rows);
    struct column *column = column_of_floats(floats, rows);
    if (some_missing)
        set_present(column, present);
    return column;
}

static void assert_equal_columns(const struct column *saved, const struct column *loaded, const char *path,
                                 const char *name)
{
    assert_int_equal(saved->rows, loaded->rows);
    if (saved->logical.kind != loaded->logical.kind || saved->logical.zone != loaded->logical.zone)
        fail_msg("%s: `%s` is %s, not %s", path, name, logical_type_name(loaded->logical, loaded->type),
                 logical_type_name(saved->logical, saved->type));
    assert_true((saved->validity == NULL) == (loaded->validity == NULL));
    for (int64_t row = 0; row < saved->rows; row++) {
        struct scalar a = column_get(saved, row), b = column_get(loaded, row);
        struct strbuf texts[2] = {{0}};
        scalar_print(&texts[0], &a);
        scalar_print(&texts[1], &b);
        strbuf_puts(&texts[0], "");
        strbuf_puts(&texts[1], "");
        if (a.missing != b.missing || texts[0].length != texts[1].length ||
            (texts[0].length > 0 && memcmp(texts[0].text, texts[1].text, texts[0].length) != 0))
            fail_msg("%s: `%s`, row %lld: `%s` was saved, `%s` loaded", path, name, (long long)row,
                     texts[0].text ? texts[0].text : "", texts[1].text ? texts[1].text : "");
        assert_true(a.kind != KIND_FLOAT || a.number == b.number);
        strbuf_free(&texts[0]);
        strbuf_free(&texts[1]);
    }
}

struct fixture {
    struct scratch *scratch;
    struct mappings *mappings;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->scratch = scratch_new();
    fixture->mappings = mappings_new();
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    mappings_free(fixture->mappings);
    scratch_free(fixture->scratch);
    free(fixture);
    return 0;
}

static void fail_told(struct scratch *scratch, const char *file)
{
    size_t size;
    print_error("%s\n", (const char *)scratch_read(scratch, file, &size));
    for (size_t i = 0; i < scratch->diags.count; i++)
        print_error("%s\n", scratch->diags.at[i].message);
    fail();
}

static void save_and_load(struct fixture *fixture, const struct relation *relation, const char *file)
{
    enum { MOST = 8 };
    struct scratch *scratch = fixture->scratch;
    const struct workers workers = {.threads = 2};
    const char *path = scratch_path(scratch, file);
    const struct format_job job = {
        .format = format_of_path(path), .workers = &workers, .span = scratch->span, .diags = &scratch->diags};
    struct mapping *mapping;
    struct file_reader *reader;
    struct column *columns[MOST];
    const bool wanted[MOST] = {true, true, true, true, true, true, true, true};
    scratch->diags.count = 0;
    if (save_relation(relation, path, SAVE_WHOLE, NULL, &workers, scratch->span, &scratch->diags) != STATUS_OK)
        fail_told(scratch, file);
    assert_int_equal(mapping_open(fixture->mappings, path, scratch->span, &mapping, &scratch->diags), STATUS_OK);
    if (job.format->open(&job, mapping, &reader) != STATUS_OK || reader->count != relation->count ||
        reader->ops->read(reader, &job, wanted, columns) != STATUS_OK)
        fail_told(scratch, file);
    for (size_t k = 0; k < reader->count; k++) {
        if (job.format != format_by_word("txt") && strcmp(reader->columns[k].name, relation->names[k]) != 0)
            fail_told(scratch, file);
        assert_equal_columns(relation->columns[k], columns[k], file, relation->names[k]);
        column_unref(columns[k]);
    }
    reader->ops->close(reader);
    mapping_unref(mapping);
}

static void random_tables(void **state)
{
    struct fixture *fixture = *state;
    static const char *const extensions[] = {"csv", "tsv", "jsonl"};
    static const char *const pool[] = {"sym",  "a b",         "a,b",    "x\"y",      "tab\there", "2023",
                                       "true", "NA",          "-1.5e3", "größe",     "a;b",       "a|b;c",
                                       "\\N",  "back\\slash", "null",   "2024-01-31"};
    enum { POOL = sizeof pool / sizeof *pool, MOST = 6, KINDS = 6 };
    uint64_t random = 4711;
    for (int i = 0; i < 600; i++) {
        struct arena *arena = arena_new();
        size_t count = 1 + next(&random) % MOST;
        int64_t rows = i % 3 == 0 ? 1 + (int64_t)(next(&random) % 3) : (int64_t)(next(&random) % 300) + 1;
        const char *extension = extensions[i % 3];
        struct column *columns[MOST];
        const char *names[MOST];
        for (size_t k = 0; k < count; k++) {
            columns[k] = random_column(&random, (int)(next(&random) % KINDS), rows, arena);
            names[k] = pool[(i + (int)k * 5) % POOL];
        }
        struct relation *relation = relation_new(rows, count, columns, names);
        save_and_load(fixture, relation, arena_printf(arena, "t%d.%s", i, extension));
        for (size_t k = 0; k < count; k++)
            column_unref(columns[k]);
        relation_unref(relation);
        arena_free(arena);
    }
}

/* Text that would read as something else in a column of its own. */
static void odd_texts(void **state)
{
    struct fixture *fixture = *state;
    static const char *const texts[] = {"x",    "",  " ",          "NA",  "null", "-",  "\"",   "\"\"",
                                        "nan",  "1", "2024-01-31", "\\N", "true", NULL, "\t",   "\n",
                                        "\r\n", ",", "a\n",        "\\",  "\\t",  "'",  "\x7f", "x "};
    static const char *const files[] = {"o.csv", "o.tsv", "o.jsonl"};
    enum { ROWS = sizeof texts / sizeof *texts };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        for (size_t first = 0; first < ROWS; first++) { /* any of them last */
            const char *turned[ROWS];
            for (size_t k = 0; k < ROWS; k++)
                turned[k] = texts[(first + k) % ROWS];
            struct column *column = text_column(turned, ROWS);
            struct relation *relation = relation_new(ROWS, 1, &column, &(const char *){"s"});
            column_unref(column);
            save_and_load(fixture, relation, arena_printf(fixture->scratch->arena, "%zu%s", first, files[i]));
            relation_unref(relation);
        }
    }
}

/* Lines hold what has neither line breaks nor blanks at its ends. */
static void lines_of_text(void **state)
{
    struct fixture *fixture = *state;
    static const char *const texts[] = {"x", "\"", "a,\"b\"", NULL, "\\n", "NA", "1", "日本", "a\tb", NULL};
    struct column *column = text_column(texts, sizeof texts / sizeof *texts);
    struct relation *relation = relation_new(column->rows, 1, &column, &(const char *){"lines"});
    column_unref(column);
    save_and_load(fixture, relation, "lines.txt");
    relation_unref(relation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(random_tables, setup, teardown),
                                       cmocka_unit_test_setup_teardown(odd_texts, setup, teardown),
                                       cmocka_unit_test_setup_teardown(lines_of_text, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
