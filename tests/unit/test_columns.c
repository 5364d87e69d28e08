/* Loading: files of every type, invalid files, files that change while mapped, and directories; and columns
 * themselves. */
#include "loads.h"

#include "base/path.h"
#include "engine/compression/compression.h"
#include "engine/evaluator/evaluator.h"
#include "engine/storage/file_errors.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

static struct mappings *mappings; /* for the signal handler */

struct fixture {
    struct scratch *scratch;
    struct file_cache *file_cache;
    struct loaded loaded;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    mappings = mappings_new();
    fixture->scratch = scratch_new();
    fixture->file_cache = file_cache_new(mappings, NULL);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    loaded_release(&fixture->loaded);
    file_cache_free(fixture->file_cache);
    scratch_free(fixture->scratch);
    mappings_free(mappings);
    free(fixture);
    return 0;
}

/* Loads a path as given, replacing the previous load. */
static enum status load_path(struct fixture *fixture, const char *path, const char *word)
{
    return load_anew(fixture->scratch, fixture->file_cache, path, word, &fixture->loaded);
}

static enum status load(struct fixture *fixture, const char *name, const char *word)
{
    return load_path(fixture, scratch_path(fixture->scratch, name), word);
}

/* Backdates a file's mtime, since the cache never trusts a recent one. */
static void make_old(struct fixture *fixture, const char *name, time_t when)
{
    const struct timespec times[2] = {{.tv_sec = when}, {.tv_sec = when}};
    assert_int_equal(utimensat(AT_FDCWD, scratch_path(fixture->scratch, name), times, 0), 0);
}

static void every_type(void **state)
{
    struct fixture *fixture = *state;
    static const unsigned char bytes[16] = {1, 2, 3, 4, 5, 6, 7, 0x88, 0, 0, 0, 0, 0, 0, 0xf8, 0xbf};
    static const struct {
        const char *file, *word;
        enum type expected;
        int64_t rows;
        const char *last; /* row, as printed */
    } cases[] = {
        {"c.bin", NULL, TYPE_I32, 4, "-1074266112"},
        {"c.i8", NULL, TYPE_I8, 16, "-65"},
        {"c.i16", NULL, TYPE_I16, 8, "-16392"},
        {"c.i32", NULL, TYPE_I32, 4, "-1074266112"},
        {"c.i64", NULL, TYPE_I64, 2, "-4613937818241073152"},
        {"c.u8", NULL, TYPE_U8, 16, "191"},
        {"c.u16", NULL, TYPE_U16, 8, "49144"},
        {"c.u32", NULL, TYPE_U32, 4, "3220701184"},
        {"c.f32", NULL, TYPE_F32, 4, "-1.9375"},
        {"c.f64", NULL, TYPE_F64, 2, "-1.5"},
        {"c.dat", "u16", TYPE_U16, 8, "49144"},
        {"c", "f64", TYPE_F64, 2, "-1.5"},
        {"c.i64", "i8", TYPE_I8, 16, "-65"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scratch_write(fixture->scratch, cases[i].file, bytes, sizeof bytes);
        assert_int_equal(load(fixture, cases[i].file, cases[i].word), STATUS_OK);
        assert_int_equal(fixture->loaded.count, 1);
        assert_string_equal(fixture->loaded.names[0], "c");
        const struct column *column = fixture->loaded.columns[0];
        assert_int_equal(column->type, cases[i].expected);
        assert_int_equal(column->rows, cases[i].rows);
        struct strbuf out = {0};
        struct scalar element = column_get(column, column->rows - 1);
        scalar_print(&out, &element);
        assert_string_equal(out.text, cases[i].last);
        strbuf_free(&out);
    }
}

static void texts(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *text;
        enum type type;
        int64_t rows;
        double first, last;
    } good[] = {
        {"", TYPE_I64, 0, 0, 0},
        {"7", TYPE_I64, 1, 7, 7},
        {"1\n-2\n+3\n", TYPE_I64, 3, 1, 3},
        {"\t1 \r\n2\r\n", TYPE_I64, 2, 1, 2},
        {"1\n2.5\n", TYPE_F64, 2, 1, 2.5},
        {"1e3\n.5", TYPE_F64, 2, 1000, 0.5},
        {"-inf\n1", TYPE_F64, 2, -1.0 / 0.0, 1},
        {"9223372036854775808\n0.0", TYPE_F64, 2, 0x1p63, 0},
        {"-9223372036854775808", TYPE_I64, 1, -0x1p63, -0x1p63},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        scratch_write_text(fixture->scratch, "t.txt", good[i].text);
        assert_int_equal(load(fixture, "t.txt", NULL), STATUS_OK);
        const struct column *column = fixture->loaded.columns[0];
        assert_int_equal(column->type, good[i].type);
        assert_int_equal(column->rows, good[i].rows);
        for (int last = 0; last < 2 && column->rows > 0; last++) {
            struct scalar element = column_get(column, last ? column->rows - 1 : 0);
            double number = element.kind == KIND_FLOAT ? element.number : (double)element.integer;
            assert_true(number == (last ? good[i].last : good[i].first));
        }
    }
}

/* A stated format overrides the extension; each format of a file is cached separately. */
static void stated_formats(void **state)
{
    struct fixture *fixture = *state;
    struct scratch *scratch = fixture->scratch;
    static const struct {
        const char *file, *word;
        size_t columns;
        int64_t rows;
    } cases[] = {
        {"t.dat", "csv", 2, 2}, {"t.npy", "csv", 2, 2}, {"t.dat", "u8", 1, 12}, {"t.dat", "bin", 1, 3},
        {"t", "csv", 2, 2},     {"n.csv", "txt", 1, 3}, {"t.dat", "csv", 2, 2},
    };
    static const char *const names[] = {"t.dat", "t.npy", "t"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        scratch_write_text(scratch, names[i], "a,b\n1,2\n3,4\n");
        make_old(fixture, names[i], 1000);
    }
    scratch_write_text(scratch, "n.csv", "1\n2\n3\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(load(fixture, cases[i].file, cases[i].word), STATUS_OK);
        assert_int_equal(fixture->loaded.count, cases[i].columns);
        assert_int_equal(fixture->loaded.columns[0]->rows, cases[i].rows);
        assert_true(i > 0 || strcmp(fixture->loaded.names[1], "b") == 0);
    }
    /* "1\n" compressed with gzip; raw formats do not decompress. */
    static const unsigned char packed[] = {0x1f, 0x8b, 8, 0,    0,    0,    0,    0, 2, 3, 0x33,
                                           0xe4, 2,    0, 0x53, 0xfc, 0x51, 0x67, 2, 0, 0, 0};
    scratch_write(scratch, "one", packed, sizeof packed);
    assert_int_equal(load(fixture, "one", "txt"), STATUS_OK);
    assert_int_equal(column_get_int(fixture->loaded.columns[0], 0), 1);
    assert_int_equal(load(fixture, "one", "u8"), STATUS_OK);
    assert_int_equal(fixture->loaded.columns[0]->rows, sizeof packed);
    const char *path = scratch_path(scratch, "t.dat");
    assert_true(file_cache_contains(fixture->file_cache, path, format_by_word("csv")));
    assert_false(file_cache_contains(fixture->file_cache, path, format_by_word("tsv")));
    assert_null(format_by_word("CSV"));
    assert_null(format_by_word(""));
}

static void empty_files_have_no_rows(void **state)
{
    struct fixture *fixture = *state;
    scratch_write_text(fixture->scratch, "e.f64", "");
    assert_int_equal(load(fixture, "e.f64", NULL), STATUS_OK);
    assert_int_equal(fixture->loaded.columns[0]->rows, 0);
}

/* Files that report no size can be read. */
static void unsized_files(void **state)
{
    struct fixture *fixture = *state;
    if (access("/proc/self/status", R_OK) != 0)
        skip();
    assert_int_equal(load_path(fixture, "/proc/self/status", "u8"), STATUS_OK);
    assert_true(fixture->loaded.columns[0]->rows > 0);
    assert_int_equal(column_get_int(fixture->loaded.columns[0], 0), 'N'); /* Name: */
}

static void wrong_files(void **state)
{
    struct fixture *fixture = *state;
    struct scratch *scratch = fixture->scratch;
    static const struct {
        const char *name, *told, *hint;
    } cases[] = {
        {"amuonts.bin", "no such file", "did you mean"},
        {"nowhere/at/all.bin", "no such file", "no such directory"},
        {"amounts.bin/x.bin", "no such file", "no such directory"},
        {"odd.i16", "3 bytes, which is not a multiple of the size of i16", "its size fits i8, u8"},
        {"odd.i64", "3 bytes, which is not a multiple of the size of i64", "truncated"},
        {"odd.f32", "3 bytes, which is not a multiple of the size of f32", NULL},
        {"amounts", "cannot tell the format", "amounts csv`"},
        {"amounts.md", "can be saved, but not loaded", ".txt"},
        {"rows.json", "is an array without objects", NULL},
        {"trades.orc", "is not supported", "pyarrow"},
        {"Trades.XLSX", "is not supported", "xlsx2csv"},
        {"folder", "holds no files that can be loaded", ".parquet"},
        {"folder.bin", "holds no files that can be loaded", NULL},
        {"device.bin", "is a device", "to a file and load"},
        {"loop.bin", "cannot open", NULL},
    };
    scratch_write_text(scratch, "amounts.bin", "12345678");
    scratch_write_text(scratch, "amounts", "12345678");
    scratch_write_text(scratch, "amounts.md", "a\n1\n");
    scratch_write_text(scratch, "rows.json", "[]");
    scratch_write_text(scratch, "trades.orc", "ORC");
    scratch_write_text(scratch, "Trades.XLSX", "PK");
    static const char *const odd[] = {"odd.i16", "odd.i64", "odd.f32"};
    for (size_t i = 0; i < 3; i++)
        scratch_write_text(scratch, odd[i], "123");
    assert_int_equal(mkdir(scratch_path(scratch, "folder"), 0777), 0);
    assert_int_equal(mkdir(scratch_path(scratch, "folder.bin"), 0777), 0);
    assert_int_equal(symlink("/dev/null", scratch_path(scratch, "device.bin")), 0);
    assert_int_equal(symlink("loop.bin", scratch_path(scratch, "loop.bin")), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(load(fixture, cases[i].name, NULL), STATUS_FAILED);
        assert_int_equal(fixture->loaded.count, 0);
        if (cases[i].hint)
            assert_told(scratch, cases[i].hint);
        assert_only_told(scratch, cases[i].told);
    }
}

static void unreadable_files(void **state)
{
    struct fixture *fixture = *state;
    scratch_write_text(fixture->scratch, "secret.bin", "1234");
    assert_int_equal(chmod(scratch_path(fixture->scratch, "secret.bin"), 0), 0);
    assert_int_equal(chmod(fixture->scratch->folder, 0755), 0);
    uid_t user = geteuid();
    if (user == 0)
        assert_int_equal(seteuid(65534), 0); /* root can read anything */
    enum status status = load(fixture, "secret.bin", NULL);
    assert_int_equal(seteuid(user), 0);
    assert_int_equal(status, STATUS_FAILED);
    assert_only_told(fixture->scratch, "cannot read");
}

static void unchanged_files_are_the_same_column(void **state)
{
    struct fixture *fixture = *state;
    scratch_write_text(fixture->scratch, "a.i8", "abc");
    make_old(fixture, "a.i8", 1000);
    assert_int_equal(load(fixture, "a.i8", NULL), STATUS_OK);
    struct column *first = column_ref(fixture->loaded.columns[0]);
    file_cache_sweep(fixture->file_cache);
    assert_int_equal(load(fixture, "a.i8", NULL), STATUS_OK);
    assert_ptr_equal(fixture->loaded.columns[0], first);
    assert_int_equal(load(fixture, "a.i8", "u8"), STATUS_OK);
    assert_ptr_not_equal(fixture->loaded.columns[0], first);

    /* Replaced by another file: the old column keeps its data. */
    scratch_write_text(fixture->scratch, "new.i8", "xyz");
    make_old(fixture, "new.i8", 1000);
    assert_int_equal(rename(scratch_path(fixture->scratch, "new.i8"), scratch_path(fixture->scratch, "a.i8")), 0);
    assert_int_equal(load(fixture, "a.i8", NULL), STATUS_OK);
    assert_ptr_not_equal(fixture->loaded.columns[0], first);
    assert_int_equal(column_get_int(fixture->loaded.columns[0], 0), 'x');
    assert_int_equal(column_get_int(first, 0), 'a');
    assert_false(mapping_changed(first->mapping));
    column_unref(first);

    /* A file just written may change again within the same file system clock tick. */
    scratch_write_text(fixture->scratch, "a.i8", "123");
    assert_int_equal(load(fixture, "a.i8", NULL), STATUS_OK);
    first = column_ref(fixture->loaded.columns[0]);
    assert_int_equal(load(fixture, "a.i8", NULL), STATUS_OK);
    assert_ptr_not_equal(fixture->loaded.columns[0], first);
    column_unref(first);
}

/* Loads more files than the cache keeps unused. */
static void idle_files_are_let_go(void **state)
{
    struct fixture *fixture = *state;
    enum { FILES = 100 };
    for (int i = 0; i < FILES; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d.u8", i);
        scratch_write_text(fixture->scratch, name, "x");
        make_old(fixture, name, 1000 + i);
        assert_int_equal(load(fixture, name, NULL), STATUS_OK);
    }
    struct mapping *kept = mapping_ref(fixture->loaded.columns[0]->mapping);
    loaded_release(&fixture->loaded);
    file_cache_sweep(fixture->file_cache);
    assert_int_equal(load(fixture, "f99.u8", NULL), STATUS_OK);
    assert_ptr_equal(fixture->loaded.columns[0]->mapping, kept);
    mapping_unref(kept);
}

static void on_bus(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (!mappings_repair(mappings, info->si_addr)) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

/* Evaluator threads summing a truncated file finish, and the truncation is reported. */
static void truncated_while_mapped(void **state)
{
    struct fixture *fixture = *state;
    enum { ROWS = 300000 };
    static const off_t lengths[] = {0, 4, 5000, sizeof(int32_t) * (ROWS / 2), sizeof(int32_t) * ROWS - 1};
    struct sigaction action = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO}, before;
    assert_int_equal(sigaction(SIGBUS, &action, &before), 0);
    struct backend *evaluator = evaluator_open_threads(3);
    int32_t *ones = malloc(ROWS * sizeof *ones);
    for (int i = 0; i < ROWS; i++)
        ones[i] = 1;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct arena *arena = fixture->scratch->arena;
        scratch_write(fixture->scratch, "ones.i32", ones, ROWS * sizeof *ones);
        make_old(fixture, "ones.i32", 1000);
        assert_int_equal(load(fixture, "ones.i32", NULL), STATUS_OK);
        struct column *column = fixture->loaded.columns[0];
        assert_null(changed_column(&column, 1));

        struct task task = {.sink = SINK_AGGREGATE, .rows = ROWS, .input_count = 1, .aggregate_count = 1};
        code_init(&task.code, arena);
        struct aggregate sum = {.kind = AGG_SUM, .value = code_input(&task.code, 0, KIND_INT, (struct span){0})};
        task.aggregates = &sum;
        struct job job = {.task = &task, .columns = &column, .end = ROWS, .diags = &fixture->scratch->diags};
        struct agg_state total;
        agg_init(&total, &sum, &task.code);
        assert_int_equal(truncate(scratch_path(fixture->scratch, "ones.i32"), lengths[i]), 0);
        bool flagged;
        assert_int_equal(evaluator->ops->aggregate(evaluator, &job, &total, &flagged), STATUS_OK);
        assert_false(flagged);
        /* Pages past the truncation read as zeroes. */
        assert_true(total.sum >= lengths[i] / 4 && total.sum <= lengths[i] / 4 + 1);
        assert_ptr_equal(changed_column(&column, 1), column);
        assert_int_equal(file_changed_error(column, fixture->scratch->span, &fixture->scratch->diags), STATUS_FAILED);
        assert_only_told(fixture->scratch, "was truncated or rewritten");

        /* Restored, it is the same file, but not the same data. */
        scratch_write(fixture->scratch, "ones.i32", ones, ROWS * sizeof *ones);
        make_old(fixture, "ones.i32", 1000);
        column_ref(column);
        assert_int_equal(load(fixture, "ones.i32", NULL), STATUS_OK);
        if (mapping_changed(column->mapping))
            assert_ptr_not_equal(fixture->loaded.columns[0], column);
        assert_false(mapping_changed(fixture->loaded.columns[0]->mapping));
        assert_int_equal(column_get_int(fixture->loaded.columns[0], ROWS - 1), 1);
        column_unref(column);
    }
    free(ones);
    evaluator->ops->close(evaluator);
    assert_false(mappings_repair(mappings, &action)); /* not in a mapping */
    sigaction(SIGBUS, &before, NULL);
}

static void rewritten_and_grown_files(void **state)
{
    struct fixture *fixture = *state;
    scratch_write_text(fixture->scratch, "a.i8", "abc");
    make_old(fixture, "a.i8", 1000);
    assert_int_equal(load(fixture, "a.i8", NULL), STATUS_OK);
    const struct mapping *mapping = fixture->loaded.columns[0]->mapping;
    FILE *file = fopen(scratch_path(fixture->scratch, "a.i8"), "ab");
    assert_non_null(file);
    fputs("d", file);
    fclose(file);
    assert_false(mapping_changed(mapping)); /* old bytes are unchanged */
    assert_int_equal(fixture->loaded.columns[0]->rows, 3);
    scratch_write_text(fixture->scratch, "a.i8", "xyz");
    assert_true(mapping_changed(mapping));
}

static void directories(void **state)
{
    struct fixture *fixture = *state;
    struct scratch *scratch = fixture->scratch;
    assert_int_equal(mkdir(scratch_path(scratch, "t"), 0777), 0);
    assert_int_equal(mkdir(scratch_path(scratch, "t/sub.i32"), 0777), 0);
    scratch_write_text(scratch, "t/b.i16", "123456");
    scratch_write_text(scratch, "t/a.u8", "123");
    scratch_write_text(scratch, "t/.hidden.u8", "1");
    scratch_write_text(scratch, "t/README", "what this is");
    scratch_write_text(scratch, "t/notes.txt", "1\n");
    static const char *const ways[] = {"t", "t/"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(load(fixture, ways[i], NULL), STATUS_OK);
        assert_int_equal(fixture->loaded.count, 2);
        assert_string_equal(fixture->loaded.names[0], "a");
        assert_string_equal(fixture->loaded.names[1], "b");
        assert_int_equal(fixture->loaded.columns[1]->type, TYPE_I16);
    }
    assert_int_equal(load(fixture, "t", "i32"), STATUS_FAILED);
    assert_only_told(scratch, "is a directory");
    scratch_write_text(scratch, "t/c.u8", "1234");
    assert_int_equal(load(fixture, "t", NULL), STATUS_FAILED);
    assert_only_told(scratch, "differ in length");
    scratch_write_text(scratch, "t/c.u32", "12345");
    assert_int_equal(load(fixture, "t", NULL), STATUS_FAILED);
    assert_only_told(scratch, "not a multiple of the size of u32");
}

static void memory(void **state)
{
    (void)state;
    assert_null(column_reserve(TYPE_I64, TYPE_I64, INT64_MAX));
    assert_null(column_reserve(TYPE_I8, TYPE_I8, INT64_MAX));
    struct column *column = column_reserve(TYPE_I64, TYPE_I32, 1000000);
    assert_int_equal((uintptr_t)column->data % 4096, 0);
    *(int32_t *)column_at(column, 1) = 7;
    *(int32_t *)column_at(column, 1000000) = 7; /* just past the end */
    column_finish(column, 2);
    assert_int_equal(column->rows, 2);
    assert_true(column_get(column, 0).integer == 0 && column_get(column, 1).integer == 7);
    assert_true(column->reserved < 10000 * sizeof(int32_t));
    struct relation *relation = relation_new(2, 1, &column, &(const char *){"x"});
    column_unref(column);
    assert_ptr_equal(relation_ref(relation), relation);
    relation_unref(relation);
    assert_int_equal(column_get_int(relation->columns[0], 1), 7);
    relation_unref(relation);

    column = column_of_ints((const int64_t[]){3, -5, 4}, 3);
    assert_true(column->range_known && column->lo == -5 && column->hi == 4);
    column_unref(column);
    column = column_of_ints(NULL, 0);
    assert_true(!column->range_known && column->rows == 0 && !column->data);
    column_unref(column);
    column = column_of_floats((const double[]){0.5}, 1);
    assert_true(column_get_float(column, 0) == 0.5);
    column_unref(column);
}

/* From every store of integers to every one that holds them, with the extremes; more rows than are copied at once. */
static void copies_of_integers(void **state)
{
    (void)state;
    enum { ROWS = 2051 };
    for (enum type store = 0; store < TYPE_COUNT; store++) {
        const int64_t lo = type_table[store].lo, hi = type_table[store].hi;
        struct column *column = column_reserve(store, store, ROWS);
        assert_non_null(column);
        if (type_table[store].kind == KIND_FLOAT) {
            column_unref(column);
            continue;
        }
        for (int64_t row = 0; row < ROWS; row++)
            column_set_int(column, row, row % 3 == 0 ? lo : row % 3 == 1 ? hi : row & 1);
        column_finish(column, ROWS);
        for (enum type other = 0; other < TYPE_COUNT; other++) {
            if (type_table[other].kind == KIND_FLOAT || type_table[other].lo > lo || type_table[other].hi < hi)
                continue;
            for (int64_t rows = 0; rows <= ROWS; rows += rows < 1023 ? 1023 : rows < 1025 ? 1 : ROWS - 1025) {
                struct column *copy = column_reserve(other, other, ROWS);
                assert_non_null(copy);
                column_copy(copy, column, rows);
                column_finish(copy, rows);
                for (int64_t row = 0; row < rows; row++)
                    assert_int_equal(column_get_int(copy, row), column_get_int(column, row));
                column_unref(copy);
                if (rows == ROWS)
                    break;
            }
        }
        column_unref(column);
    }
}

static void parts_of_paths(void **state)
{
    struct fixture *fixture = *state;
    struct arena *arena = fixture->scratch->arena;
    static const struct {
        const char *path, *base, *extension, *folder;
    } cases[] = {
        {"ids.bin", "ids.bin", ".bin", "."},
        {"data/ids.bin", "ids.bin", ".bin", "data/"},
        {"/ids", "ids", "", "/"},
        {"a.b/ids", "ids", "", "a.b/"},
        {".hidden", ".hidden", "", "."},
        {"x.tar.gz", "x.tar.gz", ".tar.gz", "."},
        {"x.csv.zst", "x.csv.zst", ".csv.zst", "."},
        {"x.gz", "x.gz", ".gz", "."},
        {".hidden.gz", ".hidden.gz", ".gz", "."},
        {"dir/", "", "", "dir/"},
        {"ids.", "ids.", ".", "."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(path_base(cases[i].path), cases[i].base);
        assert_string_equal(path_extension(cases[i].path), cases[i].extension);
        assert_string_equal(path_directory(cases[i].path, arena), cases[i].folder);
    }
    char *longest = arena_alloc(arena, 3001);
    for (int i = 0; i < 3000; i += 2)
        memcpy(longest + i, "\xc3\xa4", 2);
    const char *shown = path_display(longest, arena);
    assert_in_range(strlen(shown), 100, 250);
    assert_non_null(strstr(shown, "\xa4...\xc3")); /* cut between characters */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_type, setup, teardown),
        cmocka_unit_test_setup_teardown(texts, setup, teardown),
        cmocka_unit_test_setup_teardown(stated_formats, setup, teardown),
        cmocka_unit_test_setup_teardown(empty_files_have_no_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(unsized_files, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_files, setup, teardown),
        cmocka_unit_test_setup_teardown(unreadable_files, setup, teardown),
        cmocka_unit_test_setup_teardown(unchanged_files_are_the_same_column, setup, teardown),
        cmocka_unit_test_setup_teardown(idle_files_are_let_go, setup, teardown),
        cmocka_unit_test_setup_teardown(truncated_while_mapped, setup, teardown),
        cmocka_unit_test_setup_teardown(rewritten_and_grown_files, setup, teardown),
        cmocka_unit_test_setup_teardown(directories, setup, teardown),
        cmocka_unit_test_setup_teardown(memory, setup, teardown),
        cmocka_unit_test(copies_of_integers),
        cmocka_unit_test_setup_teardown(parts_of_paths, setup, teardown),
    };
    return cmocka_run_group_tests_name("columns", tests, NULL, NULL);
}
