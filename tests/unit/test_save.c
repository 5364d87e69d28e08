/* Saving: data round-trips, and a failure leaves the old contents and no stray files. */
#include "scratch.h"
#include "typed_columns.h"

#include "engine/formats/file_cache.h"
#include "engine/formats/formats.h"
#include "engine/formats/save.h"
#include "engine/storage/atomic_writer.h"

#include <dirent.h>
#include <float.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static struct mappings *mappings; /* for the signal handler */

struct fixture {
    struct scratch *scratch;
    struct file_cache *file_cache;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    fixture->scratch = scratch_new();
    mappings = mappings_new();
    fixture->file_cache = file_cache_new(mappings, NULL);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    file_cache_free(fixture->file_cache);
    mappings_free(mappings);
    scratch_free(fixture->scratch);
    free(fixture);
    return 0;
}

static enum status save(struct fixture *fixture, const struct relation *relation, const char *name)
{
    fixture->scratch->diags.count = 0;
    const struct workers workers = {.threads = 1};
    return save_relation(relation, scratch_path(fixture->scratch, name), SAVE_WHOLE, NULL, &workers,
                         fixture->scratch->span, &fixture->scratch->diags);
}

static struct relation *relation_of(struct column *column, const char *name)
{
    struct relation *relation = relation_new(column->rows, 1, &column, &name);
    column_unref(column);
    return relation;
}

static struct relation *ints(const int64_t *values, int64_t rows)
{
    return relation_of(column_of_ints(values, rows), "n");
}

static struct relation *floats(const double *values, int64_t rows)
{
    return relation_of(column_of_floats(values, rows), "x");
}

/* Columns ids (i64) and amounts (f64). */
static struct relation *table(void)
{
    static const char *const names[] = {"ids", "amounts"};
    struct column *columns[] = {column_of_ints((const int64_t[]){1, -2, 3}, 3),
                                column_of_floats((const double[]){0.5, INFINITY, NAN}, 3)};
    struct relation *relation = relation_new(3, 2, columns, names);
    column_unref(columns[0]);
    column_unref(columns[1]);
    return relation;
}

/* Sorted names in a directory except "." and "..", space-separated. */
static const char *listing(struct fixture *fixture, const char *name)
{
    struct dirent **entries;
    int count = scandir(scratch_path(fixture->scratch, name), &entries, NULL, alphasort);
    assert_true(count >= 2);
    const char *list = "";
    for (int i = 0; i < count; i++) {
        const char *entry = entries[i]->d_name;
        if (strcmp(entry, ".") != 0 && strcmp(entry, "..") != 0)
            list = arena_printf(fixture->scratch->arena, "%s%s%s", list, *list ? " " : "", entry);
        free(entries[i]);
    }
    free(entries);
    return list;
}

static void integers_come_back(void **state)
{
    struct fixture *fixture = *state;
    for (int type = TYPE_I8; type <= TYPE_U32; type++) {
        const struct type_info *info = &type_table[type];
        const int64_t values[] = {info->lo, info->hi, 0, 1};
        struct relation *relation = ints(values, 4);
        const char *name = arena_printf(fixture->scratch->arena, "n%s", info->extension);
        assert_int_equal(save(fixture, relation, name), STATUS_OK);
        struct loaded loaded;
        assert_int_equal(file_cache_load(fixture->file_cache, scratch_path(fixture->scratch, name),
                                         fixture->scratch->span, NULL, &loaded, &fixture->scratch->diags),
                         STATUS_OK);
        assert_int_equal(loaded.columns[0]->type, type);
        assert_int_equal(loaded.columns[0]->rows, 4);
        for (int row = 0; row < 4; row++)
            assert_int_equal(column_get_int(loaded.columns[0], row), values[row]);
        column_unref(loaded.columns[0]);
        relation_unref(relation);
    }
}

/* More rows than one conversion batch, in a column stored narrower than its type. */
static void many_rows_come_back(void **state)
{
    struct fixture *fixture = *state;
    enum { ROWS = 50000 };
    struct column *column = column_reserve(TYPE_I64, TYPE_I32, ROWS);
    for (int i = 0; i < ROWS; i++)
        *(int32_t *)column_at(column, i) = i - ROWS / 2;
    column_finish(column, ROWS);
    struct relation *relation = relation_of(column, "n");
    static const char *const names[] = {"n.i32", "n.i64", "n.f64", "n.f32", "n.i16", "n.bin"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t size;
        assert_int_equal(save(fixture, relation, names[i]), STATUS_OK);
        const enum type type = format_of_path(names[i])->type;
        const char *bytes = scratch_read(fixture->scratch, names[i], &size);
        assert_int_equal(size, ROWS * type_table[type].size);
        struct column written = {.type = type, .store = type, .rows = ROWS, .data = bytes};
        for (int row = 0; row < ROWS; row++) {
            double value = type_table[type].kind == KIND_FLOAT ? column_get_float(&written, row)
                                                               : (double)column_get_int(&written, row);
            assert_true(value == row - ROWS / 2);
        }
    }
    relation_unref(relation);
}

static void texts(void **state)
{
    struct fixture *fixture = *state;
    struct relation *relation = table();
    assert_int_equal(save(fixture, relation, "t.tsv"), STATUS_OK);
    assert_file_text(fixture->scratch, "t.tsv", "ids\tamounts\n1\t0.5\n-2\tinf\n3\tnan\n");
    assert_int_equal(save(fixture, relation, "t.csv"), STATUS_OK);
    assert_file_text(fixture->scratch, "t.csv", "ids,amounts\n1,0.5\n-2,inf\n3,nan\n");
    assert_int_equal(save(fixture, relation, "t.jsonl"), STATUS_OK);
    assert_file_text(fixture->scratch, "t.jsonl",
                     "{\"ids\":1,\"amounts\":0.5}\n{\"ids\":-2,\"amounts\":null}\n{\"ids\":3,\"amounts\":null}\n");
    relation_unref(relation);

    relation = floats((const double[]){3, -0.25}, 2);
    assert_int_equal(save(fixture, relation, "x.txt"), STATUS_OK);
    assert_file_text(fixture->scratch, "x.txt", "3.0\n-0.25\n");
    relation_unref(relation);

    struct column *column = column_of_ints((const int64_t[]){1}, 1);
    relation = relation_of(column, "a,\"b\"\t\n\xff");
    assert_int_equal(save(fixture, relation, "n.csv"), STATUS_OK);
    assert_file_text(fixture->scratch, "n.csv", "\"a,\"\"b\"\"\t\n\xff\"\n1\n");
    assert_int_equal(save(fixture, relation, "n.tsv"), STATUS_OK);
    assert_file_text(fixture->scratch, "n.tsv", "a,\"b\"\\t\\n\xff\n1\n");
    assert_int_equal(save(fixture, relation, "n.jsonl"), STATUS_OK);
    assert_file_text(fixture->scratch, "n.jsonl", "{\"a,\\\"b\\\"\\u0009\\u000a\xef\xbf\xbd\":1}\n");
    relation_unref(relation);
}

/* Booleans are one byte, 0 or 1, or the words of text formats. */
static void bools(void **state)
{
    struct fixture *fixture = *state;
    struct column *column = column_reserve(TYPE_BOOL, TYPE_BOOL, 2);
    memcpy(column_at(column, 0), "\1\0", 2);
    column_finish(column, 2);
    struct relation *relation = relation_of(column, "b");
    static const struct {
        const char *name, *bytes;
        size_t size;
    } cases[] = {{"b.u8", "\1\0", 2}, {"b.i16", "\1\0\0\0", 4}, {"b.txt", "true\nfalse\n", 11}};
    for (size_t i = 0; i < 3; i++) {
        size_t size;
        assert_int_equal(save(fixture, relation, cases[i].name), STATUS_OK);
        assert_memory_equal(scratch_read(fixture->scratch, cases[i].name, &size), cases[i].bytes, cases[i].size);
        assert_int_equal(size, cases[i].size);
    }
    relation_unref(relation);
}

static void nothing_is_written_of_what_does_not_fit(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        int64_t integer;
        double number;
        const char *name, *told;
    } cases[] = {
        {128, 0, "old.i8", "row 1: 128 does not fit i8"},
        {-1, 0, "old.u32", "row 1: -1 does not fit u32"},
        {INT64_C(1) << 31, 0, "old.bin", "row 1: 2147483648 does not fit i32"},
        {(INT64_C(1) << 53) + 1, 0, "old.f64", "row 1: 9007199254740993 does not fit f64"},
        {INT64_MAX, 0, "old.f64", "does not fit f64"},
        {(1 << 24) + 1, 0, "old.f32", "does not fit f32"},
        {0, 1e39, "old.f32", "row 1: 1e39 does not fit f32"},
        {0, 1.5, "old.i64", "holds floats"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct relation *relation = cases[i].integer ? ints((const int64_t[]){0, cases[i].integer}, 2)
                                                     : floats((const double[]){0, cases[i].number}, 2);
        scratch_write_text(fixture->scratch, cases[i].name, "old");
        assert_int_equal(save(fixture, relation, cases[i].name), STATUS_FAILED);
        assert_only_told(fixture->scratch, cases[i].told);
        assert_file_text(fixture->scratch, cases[i].name, "old");
        assert_string_equal(listing(fixture, "."), cases[i].name);
        unlink(scratch_path(fixture->scratch, cases[i].name));
        relation_unref(relation);
    }
    struct relation *relation = floats((const double[]){INFINITY, NAN, FLT_MAX, 0.1}, 4);
    assert_int_equal(save(fixture, relation, "x.f32"), STATUS_OK); /* rounded */
    relation_unref(relation);
}

static void places_that_cannot_be_written(void **state)
{
    struct fixture *fixture = *state;
    struct scratch *scratch = fixture->scratch;
    static const struct {
        const char *name, *told;
    } cases[] = {
        {"nowhere/n.i64", "no such directory"}, {"file/n.i64", "cannot write"},
        {"folder.i64", "is a directory"},       {"pipe.i64", "is not a regular file"},
        {"full.i64", "is not a regular file"},  {"loop.i64", "cannot write"},
        {"full", "is not a regular file"},      {"n", "cannot tell the format"},
        {"n.xyz", "cannot tell the format"},    {"file/", "is a file, not a directory"},
        {"nowhere/at/", "no such directory"},
    };
    scratch_write_text(scratch, "file", "old");
    assert_int_equal(mkdir(scratch_path(scratch, "folder.i64"), 0777), 0);
    assert_int_equal(mkfifo(scratch_path(scratch, "pipe.i64"), 0666), 0);
    assert_int_equal(symlink("/dev/full", scratch_path(scratch, "full.i64")), 0);
    assert_int_equal(symlink("/dev/full", scratch_path(scratch, "full")), 0);
    assert_int_equal(symlink("loop.i64", scratch_path(scratch, "loop.i64")), 0);
    const char *before = listing(fixture, ".");
    struct relation *relation = ints((const int64_t[]){1}, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(save(fixture, relation, cases[i].name), STATUS_FAILED);
        assert_only_told(scratch, cases[i].told);
        assert_int_equal(save_check(scratch_path(scratch, cases[i].name), NULL, 1, (struct shape){0}, scratch->span,
                                    &scratch->diags),
                         STATUS_FAILED);
        assert_only_told(scratch, cases[i].told);
        assert_string_equal(listing(fixture, "."), before);
    }
    assert_file_text(scratch, "file", "old");
    relation_unref(relation);

    relation = table();
    assert_int_equal(save(fixture, relation, "t.i64"), STATUS_FAILED);
    assert_only_told(scratch, "holds one column, but there are 2");
    relation_unref(relation);
}

static void protected_places(void **state)
{
    struct fixture *fixture = *state;
    struct scratch *scratch = fixture->scratch;
    assert_int_equal(mkdir(scratch_path(scratch, "locked"), 0755), 0);
    scratch_write_text(scratch, "locked/n.i64", "old");
    assert_int_equal(mkdir(scratch_path(scratch, "open"), 0777), 0);
    assert_int_equal(chmod(scratch_path(scratch, "open"), 0777), 0);
    scratch_write_text(scratch, "open/n.i64", "old");
    assert_int_equal(chmod(scratch_path(scratch, "open/n.i64"), 0444), 0);
    assert_int_equal(chmod(scratch_path(scratch, "locked"), 0555), 0);
    assert_int_equal(chmod(scratch->folder, 0755), 0);
    struct relation *relation = ints((const int64_t[]){1}, 1);
    uid_t user = geteuid();
    if (user == 0)
        assert_int_equal(seteuid(65534), 0); /* root may write anywhere */
    static const char *const names[] = {"locked/n.i64", "locked/new.i64", "locked/new/", "locked/", "open/n.i64"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(save(fixture, relation, names[i]), STATUS_FAILED);
        assert_only_told(scratch, "ermi"); /* permission denied, not permitted */
    }
    assert_int_equal(seteuid(user), 0);
    assert_int_equal(chmod(scratch_path(scratch, "locked"), 0755), 0);
    assert_file_text(scratch, "locked/n.i64", "old");
    assert_file_text(scratch, "open/n.i64", "old");
    assert_string_equal(listing(fixture, "locked"), "n.i64");
    assert_string_equal(listing(fixture, "open"), "n.i64");
    relation_unref(relation);
}

/* A file size limit simulates a full disk. */
static void full_disk(void **state)
{
    struct fixture *fixture = *state;
    enum { ROWS = 100000 };
    struct column *column = column_reserve(TYPE_I64, TYPE_I64, ROWS);
    column_finish(column, ROWS);
    struct relation *relation = relation_of(column, "n");
    static const char *const names[] = {"n.i64", "n.i32", "n.tsv", "n.txt", "new/"};
    struct rlimit limit, before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 100000;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool directory = strchr(names[i], '/') != NULL;
        if (!directory)
            scratch_write_text(fixture->scratch, names[i], "old");
        signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        enum status status = save(fixture, relation, names[i]);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        signal(SIGXFSZ, SIG_DFL);
        assert_int_equal(status, STATUS_FAILED);
        assert_only_told(fixture->scratch, "File too large");
        assert_string_equal(listing(fixture, "."), directory ? "" : names[i]);
        if (!directory)
            assert_file_text(fixture->scratch, names[i], "old");
        unlink(scratch_path(fixture->scratch, names[i]));
    }
    relation_unref(relation);
}

static void on_bus(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (!mappings_repair(mappings, info->si_addr)) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

/* Saving over the data's own source file, and over one truncated meanwhile. */
static void over_its_own_input(void **state)
{
    struct fixture *fixture = *state;
    struct scratch *scratch = fixture->scratch;
    const char *path = scratch_write_text(scratch, "n.u8", "abc");
    struct sigaction action = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO}, usual;
    assert_int_equal(sigaction(SIGBUS, &action, &usual), 0);
    struct loaded loaded;
    assert_int_equal(file_cache_load(fixture->file_cache, path, scratch->span, NULL, &loaded, &scratch->diags),
                     STATUS_OK);
    struct relation *relation = relation_of(loaded.columns[0], "n");
    assert_int_equal(save(fixture, relation, "n.u8"), STATUS_OK);
    assert_file_text(scratch, "n.u8", "abc");
    static const char *const names[] = {"n.u8", "n.i64", "n.txt", "t/"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(save(fixture, relation, names[i]), STATUS_OK); /* the old file lives on, unlinked */
    }
    relation_unref(relation);

    assert_int_equal(file_cache_load(fixture->file_cache, path, scratch->span, NULL, &loaded, &scratch->diags),
                     STATUS_OK);
    relation = relation_of(loaded.columns[0], "n");
    assert_int_equal(truncate(path, 0), 0);
    const char *before = listing(fixture, ".");
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(save(fixture, relation, names[i]), STATUS_FAILED);
        assert_only_told(scratch, "changed while it was read");
    }
    assert_string_equal(listing(fixture, "."), before);
    assert_file_text(scratch, "n.txt", "97\n98\n99\n");
    assert_file_text(scratch, "t/n.u8", "abc");
    relation_unref(relation);
    sigaction(SIGBUS, &usual, NULL);
}

static void links_and_modes_stay(void **state)
{
    struct fixture *fixture = *state;
    struct scratch *scratch = fixture->scratch;
    struct stat info;
    assert_int_equal(mkdir(scratch_path(scratch, "far"), 0777), 0);
    scratch_write_text(scratch, "far/n.u8", "old");
    assert_int_equal(chmod(scratch_path(scratch, "far/n.u8"), 0640), 0);
    assert_int_equal(symlink("far/n.u8", scratch_path(scratch, "n.u8")), 0);
    struct relation *relation = ints((const int64_t[]){'x'}, 1);
    assert_int_equal(save(fixture, relation, "n.u8"), STATUS_OK);
    assert_file_text(scratch, "far/n.u8", "x");
    assert_int_equal(lstat(scratch_path(scratch, "n.u8"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(scratch_path(scratch, "far/n.u8"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_string_equal(listing(fixture, "far"), "n.u8");

    assert_int_equal(symlink("new.u8", scratch_path(scratch, "dangling.u8")), 0);
    assert_int_equal(save(fixture, relation, "dangling.u8"), STATUS_OK);
    assert_file_text(scratch, "new.u8", "x");
    relation_unref(relation);
}

/* Publishing may fail too, and a writer may be discarded at any step. */
static void writers(void **state)
{
    struct fixture *fixture = *state;
    struct scratch *scratch = fixture->scratch;
    struct writer writer;
    for (int step = 0; step < 3; step++) {
        assert_int_equal(writer_open(&writer, scratch_path(scratch, "w"), scratch->span, &scratch->diags), STATUS_OK);
        writer_add(&writer, "abc", 3);
        if (step > 0)
            assert_int_equal(writer_finish(&writer, scratch->span, &scratch->diags), STATUS_OK);
        if (step > 1) { /* a directory is in the way */
            assert_int_equal(mkdir(scratch_path(scratch, "w"), 0777), 0);
            assert_int_equal(writer_publish(&writer, scratch->span, &scratch->diags), STATUS_FAILED);
            assert_only_told(scratch, "cannot write");
        }
        writer_discard(&writer);
        writer_discard(&writer);
        assert_string_equal(listing(fixture, "."), step > 1 ? "w" : "");
    }
}

static void directories(void **state)
{
    struct fixture *fixture = *state;
    struct scratch *scratch = fixture->scratch;
    struct relation *relation = table();
    assert_int_equal(save(fixture, relation, "t/"), STATUS_OK);
    assert_string_equal(listing(fixture, "."), "t");
    assert_string_equal(listing(fixture, "t"), "amounts.f64 ids.i64");

    /* Existing columns of the same length stay; replaced ones are removed, whatever their type. */
    scratch_write_text(scratch, "t/other.u8", "abc");
    scratch_write_text(scratch, "t/ids.i32", "123");
    scratch_write_text(scratch, "t/ids.csv", "not a column");
    assert_int_equal(save(fixture, relation, "t"), STATUS_OK);
    assert_string_equal(listing(fixture, "t"), "amounts.f64 ids.csv ids.i64 other.u8");
    scratch_write_text(scratch, "t/longer.u8", "abcd");
    scratch_write_text(scratch, "t/ids.i64", "old");
    assert_int_equal(save(fixture, relation, "t"), STATUS_FAILED);
    assert_only_told(scratch, "has 3 rows, but the existing column");
    assert_file_text(scratch, "t/ids.i64", "old");
    assert_string_equal(listing(fixture, "t"), "amounts.f64 ids.csv ids.i64 longer.u8 other.u8");

    struct loaded loaded;
    unlink(scratch_path(scratch, "t/longer.u8"));
    assert_int_equal(save(fixture, relation, "t//"), STATUS_OK);
    assert_int_equal(file_cache_load(fixture->file_cache, scratch_path(scratch, "t/"), scratch->span, NULL, &loaded,
                                     &scratch->diags),
                     STATUS_OK);
    assert_int_equal(loaded.count, 3);
    assert_string_equal(loaded.names[1], "ids");
    assert_int_equal(column_get_int(loaded.columns[1], 1), -2);
    loaded_release(&loaded);
    relation_unref(relation);

    static const char *const names[] = {"", ".", "..", "a/b", ".hidden"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        relation = relation_of(column_of_ints((const int64_t[]){1}, 1), names[i]);
        assert_int_equal(save(fixture, relation, "u/"), STATUS_FAILED);
        assert_only_told(scratch, "cannot be a file name");
        relation_unref(relation);
    }
    struct column *column = column_of_ints((const int64_t[]){1}, 1);
    struct column *columns[] = {column, column};
    relation = relation_new(1, 2, columns, (const char *const[]){"same", "same"});
    column_unref(column);
    assert_int_equal(save(fixture, relation, "u/"), STATUS_FAILED);
    assert_only_told(scratch, "two columns are named");
    assert_string_equal(listing(fixture, "."), "t");
    relation_unref(relation);
}

/* Raw files, directories and images hold plain numbers; dates are their integers. */
static void what_raw_files_hold(void **state)
{
    struct fixture *fixture = *state;
    struct scratch *scratch = fixture->scratch;
    static const char *const paths[] = {"x.i64", "x.f64", "t/", "x.bin"};
    const unsigned char present[] = {1, 0};
    const int64_t values[] = {19782, 5};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct relation *text = relation_of(text_column((const char *const[]){"a", "b"}, 2), "s");
        assert_int_equal(save(fixture, text, paths[i]), STATUS_FAILED);
        assert_only_told(scratch, "column `s` holds text");
        relation_unref(text);
        struct relation *missing =
            relation_of(logical_column(TYPE_I64, (struct logical_type){0}, values, present, 2), "n");
        assert_int_equal(save(fixture, missing, paths[i]), STATUS_FAILED);
        assert_only_told(scratch, "`n` has missing values");
        relation_unref(missing);
        struct relation *decimals = relation_of(
            logical_column(TYPE_I64, (struct logical_type){.kind = LOGICAL_DECIMAL, .scale = 2}, values, NULL, 2), "m");
        assert_int_equal(save(fixture, decimals, paths[i]), STATUS_FAILED);
        assert_only_told(scratch, "`m` holds decimals");
        relation_unref(decimals);
    }
    struct relation *dates =
        relation_of(logical_column(TYPE_I32, (struct logical_type){.kind = LOGICAL_DATE}, values, NULL, 2), "d");
    assert_int_equal(save(fixture, dates, "d.bin"), STATUS_OK);
    assert_only_told(scratch, "column `d` is written as integers: days since 1970-01-01");
    assert_int_equal(save(fixture, dates, "d/"), STATUS_OK);
    assert_only_told(scratch, "days since 1970-01-01");
    dates->shape = (struct shape){.axes = 2, .extents = {1, 2}};
    assert_int_equal(save(fixture, dates, "d.pgm"), STATUS_OK);
    relation_unref(dates);
    assert_string_equal(listing(fixture, "."), "d d.bin d.pgm");
    assert_string_equal(listing(fixture, "d"), "d.i32");
    struct relation *text = relation_of(text_column((const char *const[]){"a", "b"}, 2), "s");
    text->shape = (struct shape){.axes = 2, .extents = {1, 2}};
    assert_int_equal(save(fixture, text, "s.pgm"), STATUS_FAILED);
    assert_only_told(scratch, "column `s` holds text, but .pgm images hold plain numbers");
    relation_unref(text);
}

/* A .txt file has neither quotes nor escapes. */
static void lines_of_text(void **state)
{
    struct fixture *fixture = *state;
    struct scratch *scratch = fixture->scratch;
    struct relation *lines = relation_of(text_column((const char *const[]){"a,\"b\"", NULL, "\\n"}, 3), "s");
    assert_int_equal(save(fixture, lines, "s.txt"), STATUS_OK);
    assert_file_text(scratch, "s.txt", "a,\"b\"\n\n\\n\n");
    relation_unref(lines);
    static const struct {
        const char *text, *told;
    } cases[] = {{"a\nb", "row 1 cannot be a line of a .txt file: the text has a line break"},
                 {"", "row 1 cannot be a line of a .txt file: the text is empty"},
                 {"a ", "begins or ends with a blank"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lines = relation_of(text_column((const char *const[]){"x", cases[i].text, NULL}, 3), "s");
        assert_int_equal(save(fixture, lines, "s.txt"), STATUS_FAILED);
        assert_only_told(scratch, cases[i].told);
        assert_file_text(scratch, "s.txt", "a,\"b\"\n\n\\n\n");
        relation_unref(lines);
    }
}

/* Many pieces of many rows on several threads, each string in many of them. */
static void many_texts(void **state)
{
    struct fixture *fixture = *state;
    enum { ROWS = 300000, STRINGS = 1000 };
    static const char *const ends[] = {"", ",", "\"", "\n", "plain"};
    const char **strings = calloc(ROWS, sizeof *strings);
    struct strbuf expected = {0};
    strbuf_puts(&expected, "s\n");
    for (int row = 0; row < ROWS; row++) {
        int k = (int)((int64_t)row * 7919 % STRINGS);
        const char *end = ends[k % 5];
        strings[row] = k == 0 ? NULL : arena_printf(fixture->scratch->arena, "text %d%s", k, end);
        if (k > 0 && (k % 5 == 0 || k % 5 == 4))
            strbuf_puts(&expected, strings[row]);
        else if (k > 0)
            strbuf_printf(&expected, "\"text %d%s\"", k, *end == '"' ? "\"\"" : end);
        strbuf_putc(&expected, '\n');
    }
    struct relation *relation = relation_of(text_column(strings, ROWS), "s");
    for (int threads = 1; threads <= 8; threads += 7) {
        const struct workers workers = {.threads = threads};
        assert_int_equal(save_relation(relation, scratch_path(fixture->scratch, "s.csv"), SAVE_WHOLE, NULL, &workers,
                                       fixture->scratch->span, &fixture->scratch->diags),
                         STATUS_OK);
        assert_file_text(fixture->scratch, "s.csv", expected.text);
    }
    relation_unref(relation);
    strbuf_free(&expected);
    free(strings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(integers_come_back, setup, teardown),
        cmocka_unit_test_setup_teardown(many_rows_come_back, setup, teardown),
        cmocka_unit_test_setup_teardown(texts, setup, teardown),
        cmocka_unit_test_setup_teardown(bools, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_is_written_of_what_does_not_fit, setup, teardown),
        cmocka_unit_test_setup_teardown(places_that_cannot_be_written, setup, teardown),
        cmocka_unit_test_setup_teardown(protected_places, setup, teardown),
        cmocka_unit_test_setup_teardown(full_disk, setup, teardown),
        cmocka_unit_test_setup_teardown(over_its_own_input, setup, teardown),
        cmocka_unit_test_setup_teardown(links_and_modes_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(writers, setup, teardown),
        cmocka_unit_test_setup_teardown(directories, setup, teardown),
        cmocka_unit_test_setup_teardown(what_raw_files_hold, setup, teardown),
        cmocka_unit_test_setup_teardown(lines_of_text, setup, teardown),
        cmocka_unit_test_setup_teardown(many_texts, setup, teardown),
    };
    return cmocka_run_group_tests_name("save", tests, NULL, NULL);
}
