/* Netpbm images: reading, save and load round trips, and errors for invalid files and values. */
#include "scratch.h"

#include "engine/formats/file_cache.h"
#include "engine/formats/save.h"

enum { MOST_CHANNELS = 3 };

struct fixture {
    struct scratch *scratch;
    struct mappings *mappings;
    struct file_cache *file_cache;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    fixture->scratch = scratch_new();
    fixture->mappings = mappings_new();
    fixture->file_cache = file_cache_new(fixture->mappings, NULL);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    file_cache_free(fixture->file_cache);
    mappings_free(fixture->mappings);
    scratch_free(fixture->scratch);
    free(fixture);
    return 0;
}

static enum status load(struct fixture *fixture, const char *name, struct loaded *loaded)
{
    struct scratch *scratch = fixture->scratch;
    scratch->diags.count = 0;
    return file_cache_load(fixture->file_cache, scratch_path(scratch, name), scratch->span, NULL, loaded,
                           &scratch->diags);
}

static enum status load_bytes(struct fixture *fixture, const char *name, const void *bytes, size_t size,
                              struct loaded *loaded)
{
    (void)scratch_write(fixture->scratch, name, bytes, size);
    return load(fixture, name, loaded);
}

static void assert_shape(struct shape shape, int64_t rows, int64_t cols)
{
    assert_int_equal(shape.axes, 2);
    assert_int_equal(shape.extents[0], rows);
    assert_int_equal(shape.extents[1], cols);
}

static void assert_values(const struct column *column, enum type type, const int64_t *values, int64_t rows)
{
    assert_int_equal(column->type, type);
    assert_int_equal(column->rows, rows);
    for (int64_t row = 0; row < rows; row++)
        assert_int_equal(column_get_int(column, row), values[row]);
}

/* A literal's bytes without the final NUL. */
struct bytes {
    const char *at;
    size_t size;
};
#define BYTES(literal) ((struct bytes){literal, sizeof(literal) - 1})

static void grey_pictures_are_a_column(void **state)
{
    struct fixture *fixture = *state;
    static const int64_t values[] = {0, 10, 32, 35, 200, 255};
    static const int64_t wide[] = {0, 10, 256, 35 * 256, 65535, 0x2023};
    const struct {
        struct bytes bytes;
        enum type type;
        const int64_t *values;
    } cases[] = {
        /* The first pixels look like white space and a comment. */
        {BYTES("P5\n3 2\n255\n\0\n #\xc8\xff"), TYPE_U8, values},
        {BYTES("P5 3 2 255 \0\n #\xc8\xff"), TYPE_U8, values},
        {BYTES("P5# one\n#two\n\n 3# three\n\t2\r\n255# four\n\0\n #\xc8\xff"), TYPE_U8, values},
        {BYTES("P5\n3 2\n65535\n\0\0\0\n\1\0#\0\xff\xff #"), TYPE_U16, wide},
        {BYTES("P2\n3 2\n255\n0 10 32\n35 200 255"), TYPE_U8, values},
        {BYTES("P2 # plain\n3 2 255 # four\n0 10 # five\n32 35 200 0255\n\n# end"), TYPE_U8, values},
        {BYTES("P2 3 2 65535 0 10 256 8960 65535 8227\n"), TYPE_U16, wide},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct loaded loaded;
        const char *name = arena_printf(fixture->scratch->arena, "grey%zu.pgm", i);
        assert_int_equal(load_bytes(fixture, name, cases[i].bytes.at, cases[i].bytes.size, &loaded), STATUS_OK);
        assert_int_equal(loaded.count, 1);
        assert_string_equal(loaded.names[0], arena_printf(fixture->scratch->arena, "grey%zu", i));
        assert_shape(loaded.shape, 2, 3);
        assert_values(loaded.columns[0], cases[i].type, cases[i].values, 6);
        loaded_release(&loaded);
    }
}

static void a_picture_says_what_its_values_stay_within(void **state)
{
    struct fixture *fixture = *state;
    struct loaded loaded;
    const struct bytes bytes = BYTES("P5 2 1 4095 \x0f\xff\0\1");
    assert_int_equal(load_bytes(fixture, "twelve.pgm", bytes.at, bytes.size, &loaded), STATUS_OK);
    assert_values(loaded.columns[0], TYPE_U16, (const int64_t[]){4095, 1}, 2);
    assert_true(loaded.columns[0]->range_known);
    assert_int_equal(loaded.columns[0]->lo, 0);
    assert_int_equal(loaded.columns[0]->hi, 4095);
    loaded_release(&loaded);
}

static void colour_pictures_are_three_columns(void **state)
{
    struct fixture *fixture = *state;
    static const char *const names[] = {"red", "green", "blue"};
    static const int64_t values[MOST_CHANNELS][2] = {{1, 4}, {2, 5}, {3, 6}};
    const struct {
        struct bytes bytes;
        enum type type;
    } cases[] = {
        {BYTES("P6 1 2 255\n\1\2\3\4\5\6"), TYPE_U8},
        {BYTES("P6 1 2 256\n\0\1\0\2\0\3\0\4\0\5\0\6"), TYPE_U16},
        {BYTES("P3 1 2 255\n1 2 3\n4 5 6\n"), TYPE_U8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct loaded loaded;
        const char *name = arena_printf(fixture->scratch->arena, "colour%zu.ppm", i);
        assert_int_equal(load_bytes(fixture, name, cases[i].bytes.at, cases[i].bytes.size, &loaded), STATUS_OK);
        assert_int_equal(loaded.count, MOST_CHANNELS);
        assert_shape(loaded.shape, 2, 1);
        for (size_t c = 0; c < MOST_CHANNELS; c++) {
            assert_string_equal(loaded.names[c], names[c]);
            assert_values(loaded.columns[c], cases[i].type, values[c], 2);
        }
        loaded_release(&loaded);
    }
}

static void what_is_no_picture_is_told(void **state)
{
    struct fixture *fixture = *state;
    const struct {
        const char *name;
        struct bytes bytes;
        const char *told;
    } cases[] = {
        {"a.pgm", BYTES(""), "does not begin with P5 or P2"},
        {"a.pgm", BYTES("P"), "does not begin with P5 or P2"},
        {"a.pgm", BYTES("P6 1 1 255\n\1\2\3"), "those of a .ppm image"},
        {"a.ppm", BYTES("P2 1 1 255\n1"), "those of a .pgm image"},
        {"a.ppm", BYTES("\x89PNG\r\n"), "does not begin with P6 or P3"},
        {"a.pgm", BYTES("P5"), "no width from 1 to"},
        {"a.pgm", BYTES("P5 # 3 2 255 "), "no width from 1 to"},
        {"a.pgm", BYTES("P5 -3 2 255\n"), "no width from 1 to"},
        {"a.pgm", BYTES("P5 0 2 255\n"), "no width from 1 to"},
        {"a.pgm", BYTES("P5 3x2 255\n"), "no height from 1 to"},
        {"a.pgm", BYTES("P5 3 0 255\n"), "no height from 1 to"},
        {"a.pgm", BYTES("P5 3 99999999999999999999999 255\n"), "no height from 1 to"},
        {"a.pgm", BYTES("P5 3 2"), "no maximum value from 1 to 65535"},
        {"a.pgm", BYTES("P5 3 2 0\n"), "no maximum value from 1 to 65535"},
        {"a.pgm", BYTES("P5 3 2 65536\n"), "no maximum value from 1 to 65535"},
        {"a.pgm", BYTES("P5 3 2 255x123456"), "does not end after its maximum value"},
        {"a.pgm", BYTES("P5 3 2 255\n12345"), "truncated: 3 x 2 pixels take 6 bytes, but it has 5"},
        {"a.pgm", BYTES("P5 3 2 256\n12345678901"), "truncated: 3 x 2 pixels take 12 bytes, but it has 11"},
        {"a.ppm", BYTES("P6 1073741824 1073741824 65535\n"), "truncated"},
        {"a.ppm", BYTES("P3 1073741824 1073741824 65535\n1"), "truncated"},
        {"a.pgm", BYTES("P5 3 2 255\n1234567"), "has data after its 3 x 2 pixels"},
        {"a.pgm", BYTES("P5 3 2 255\r\n123456"), "has data after its 3 x 2 pixels"},
        {"a.pgm", BYTES("P2 1 2 255\n1 2 3"), "has data after its 1 x 2 pixels"},
        {"a.pgm", BYTES("P5 2 1 99\n\x63\x64"), "row 1: the pixel exceeds 99"},
        {"a.pgm", BYTES("P2 2 1 99\n99 100"), "row 1: the pixel exceeds 99"},
        {"a.pgm", BYTES("P2 2 1 99\n99 18446744073709551616"), "row 1: the pixel exceeds 99"},
        {"a.pgm", BYTES("P2 2 1 99\n99 -1"), "row 1: the pixel is not a number"},
        {"a.pgm", BYTES("P2 2 1 99\n9 1.5"), "has data after its 2 x 1 pixels"},
        {"a.pgm", BYTES("P2 2 1 99\n99   "), "truncated: it ends at row 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct loaded loaded;
        assert_int_equal(load_bytes(fixture, cases[i].name, cases[i].bytes.at, cases[i].bytes.size, &loaded),
                         STATUS_FAILED);
        assert_only_told(fixture->scratch, cases[i].told);
    }
}

/* Truncated images fail. */
static void pictures_cut_short_are_told(void **state)
{
    struct fixture *fixture = *state;
    const struct {
        const char *name;
        struct bytes bytes;
    } cases[] = {
        {"cut.pgm", BYTES("P5\n# comment\n3 2\n255\n123456")},
        {"cut.ppm", BYTES("P6\n1 2\n1000\n\1\2\1\2\1\2\1\2\1\2\1\2")},
        {"cut.pgm", BYTES("P2\n3 2\n9\n1 2 3 4 5 6")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct loaded loaded;
        for (size_t size = 0; size < cases[i].bytes.size; size++) {
            assert_int_equal(load_bytes(fixture, cases[i].name, cases[i].bytes.at, size, &loaded), STATUS_FAILED);
            assert_int_equal(fixture->scratch->diags.count, 1);
        }
        assert_int_equal(load_bytes(fixture, cases[i].name, cases[i].bytes.at, cases[i].bytes.size, &loaded),
                         STATUS_OK);
        loaded_release(&loaded);
    }
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Any bytes load as an image within its stated bounds or fail. */
static void damaged_pictures_are_pictures_or_errors(void **state)
{
    struct fixture *fixture = *state;
    const struct bytes whole[] = {BYTES("P5 # c\n4 3\n255\n123456789012"),
                                  BYTES("P2 # c\n4 3\n9\n1 2 3 4 5 6 7 8 9 0 1 2\n"),
                                  BYTES("P5 2 3 300\n\1\2\1\2\1\2\1\2\1\2\1\2")};
    uint32_t seed = 7;
    int read = 0;
    for (int turn = 0; turn < 600; turn++) {
        const struct bytes *from = &whole[turn % 3];
        char bytes[64];
        memcpy(bytes, from->at, from->size);
        for (uint32_t k = next_random(&seed) % 3; k < 3; k++)
            bytes[next_random(&seed) % from->size] =
                (char)(k ? '0' + next_random(&seed) % 10 : next_random(&seed) % 256);
        struct loaded loaded;
        if (load_bytes(fixture, "odd.pgm", bytes, from->size, &loaded) != STATUS_OK) {
            assert_int_equal(fixture->scratch->diags.count, 1);
            continue;
        }
        const struct column *column = loaded.columns[0];
        assert_int_equal(loaded.shape.extents[0] * loaded.shape.extents[1], column->rows);
        for (int64_t row = 0; row < column->rows; row++)
            assert_in_range(column_get_int(column, row), 0, column->hi);
        loaded_release(&loaded);
        read++;
    }
    assert_in_range(read, 50, 550);
}

/* A file is read once per extension. */
static void the_ending_tells_what_a_file_is_taken_for(void **state)
{
    struct fixture *fixture = *state;
    struct loaded loaded;
    const struct bytes bytes = BYTES("P5 1 1 255\n1");
    const char *path = scratch_write(fixture->scratch, "one.pgm", bytes.at, bytes.size);
    assert_int_equal(symlink(path, scratch_path(fixture->scratch, "one.ppm")), 0);
    usleep(100000); /* so that the file cache trusts the mtime */
    assert_int_equal(load(fixture, "one.pgm", &loaded), STATUS_OK);
    loaded_release(&loaded);
    assert_int_equal(load(fixture, "one.ppm", &loaded), STATUS_FAILED);
    assert_only_told(fixture->scratch, "those of a .pgm image");
}

/* A relation of integer columns shaped rows x cols; values[c * rows * cols + row]. */
static struct relation *picture(const int64_t *values, size_t channels, int64_t rows, int64_t cols)
{
    static const char *const names[] = {"r", "g", "b"};
    struct column *columns[MOST_CHANNELS] = {NULL};
    for (size_t c = 0; c < channels; c++)
        columns[c] = column_of_ints(values + (int64_t)c * rows * cols, rows * cols);
    struct relation *relation = relation_new(rows * cols, channels, columns, names);
    relation->shape = (struct shape){.axes = 2, .extents = {rows, cols}};
    for (size_t c = 0; c < channels; c++)
        column_unref(columns[c]);
    return relation;
}

static enum status save(struct fixture *fixture, const struct relation *relation, const char *name)
{
    fixture->scratch->diags.count = 0;
    const struct workers workers = {.threads = 1};
    return save_relation(relation, scratch_path(fixture->scratch, name), SAVE_WHOLE, NULL, &workers,
                         fixture->scratch->span, &fixture->scratch->diags);
}

static void assert_file(struct fixture *fixture, const char *name, struct bytes bytes)
{
    size_t size;
    const char *got = scratch_read(fixture->scratch, name, &size);
    assert_non_null(got);
    assert_int_equal(size, bytes.size);
    assert_memory_equal(got, bytes.at, size);
}

static void the_bytes_are_as_the_formats_say(void **state)
{
    struct fixture *fixture = *state;
    struct relation *relation = picture((const int64_t[]){0, 1, 255, 10, 35, 32}, 1, 2, 3);
    assert_int_equal(save(fixture, relation, "a.pgm"), STATUS_OK);
    assert_file(fixture, "a.pgm", BYTES("P5\n3 2\n255\n\0\1\xff\n# "));
    relation_unref(relation);
    relation = picture((const int64_t[]){0, 256}, 1, 2, 1);
    assert_int_equal(save(fixture, relation, "b.pgm"), STATUS_OK);
    assert_file(fixture, "b.pgm", BYTES("P5\n1 2\n65535\n\0\0\1\0"));
    relation_unref(relation);
    relation = picture((const int64_t[]){1, 2, 3, 4, 5, 6}, 3, 1, 2);
    assert_int_equal(save(fixture, relation, "c.ppm"), STATUS_OK);
    assert_file(fixture, "c.ppm", BYTES("P6\n2 1\n255\n\1\3\5\2\4\6"));
    relation_unref(relation);
}

static void what_was_saved_loads_back_equal(void **state)
{
    struct fixture *fixture = *state;
    const struct {
        const char *name;
        size_t channels;
        int64_t rows, cols;
        uint32_t most;
        enum type type;
    } cases[] = {
        {"one.pgm", 1, 1, 1, 255, TYPE_U8},      {"a.pgm", 1, 301, 977, 255, TYPE_U8},
        {"b.pgm", 1, 211, 499, 65535, TYPE_U16}, {"c.ppm", 3, 173, 331, 255, TYPE_U8},
        {"wide.pgm", 1, 1, 98304, 255, TYPE_U8}, {"tall.ppm", 3, 32768, 1, 255, TYPE_U8},
    };
    uint32_t seed = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t rows = cases[i].rows * cases[i].cols;
        size_t count = cases[i].channels * (size_t)rows;
        int64_t *values = calloc(count, sizeof *values);
        for (size_t k = 0; k < count; k++)
            values[k] = next_random(&seed) % (cases[i].most + 1);
        values[0] = cases[i].most;
        struct relation *relation = picture(values, cases[i].channels, cases[i].rows, cases[i].cols);
        assert_int_equal(save(fixture, relation, cases[i].name), STATUS_OK);
        relation_unref(relation);

        struct loaded loaded;
        assert_int_equal(load(fixture, cases[i].name, &loaded), STATUS_OK);
        assert_int_equal(loaded.count, cases[i].channels);
        assert_shape(loaded.shape, cases[i].rows, cases[i].cols);
        for (size_t c = 0; c < loaded.count; c++)
            assert_values(loaded.columns[c], cases[i].type, values + (int64_t)c * rows, rows);
        loaded_release(&loaded);
        free(values);
    }
}

/* 16-bit images stay 16-bit, whatever their values. */
static void dark_pictures_keep_their_type(void **state)
{
    struct fixture *fixture = *state;
    struct loaded loaded;
    const struct bytes bytes = BYTES("P5\n2 1\n65535\n\0\1\0\2");
    assert_int_equal(load_bytes(fixture, "dark.pgm", bytes.at, bytes.size, &loaded), STATUS_OK);
    struct relation *relation = relation_new(2, 1, loaded.columns, loaded.names);
    relation->shape = loaded.shape;
    assert_int_equal(save(fixture, relation, "again.pgm"), STATUS_OK);
    assert_file(fixture, "again.pgm", bytes);
    relation_unref(relation);
    loaded_release(&loaded);
}

static void what_cannot_be_a_picture_leaves_the_old_file(void **state)
{
    struct fixture *fixture = *state;
    struct scratch *scratch = fixture->scratch;
    const struct {
        const char *name;
        size_t channels;
        int64_t values[6];
        const char *told;
    } cases[] = {
        {"a.pgm", 1, {0, -1}, "row 1: -1 does not fit a .pgm image"},
        {"a.pgm", 1, {65536, 0}, "row 0: 65536 does not fit a .pgm image"},
        {"a.pgm", 1, {0, INT64_MIN}, "row 1: -9223372036854775808"},
        {"a.ppm", 3, {0, 0, 0, 256, 0, 0}, "row 1: 256 does not fit a .ppm image"},
        {"a.ppm", 3, {0, 1, 2, 3, -7, -8}, "row 0: -7 does not fit a .ppm image"},
        {"a.ppm", 1, {0, 0}, "`map RED as red"},
        {"a.pgm", 3, {0}, "holds one column, but there are 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scratch_write_text(scratch, cases[i].name, "old");
        struct relation *relation = picture(cases[i].values, cases[i].channels, 1, 2);
        assert_int_equal(save(fixture, relation, cases[i].name), STATUS_FAILED);
        assert_only_told(scratch, cases[i].told);
        assert_file_text(scratch, cases[i].name, "old");
        relation_unref(relation);
    }
    struct relation *relation = picture((const int64_t[]){0, 1}, 1, 1, 2);
    relation->shape = (struct shape){0};
    assert_int_equal(save(fixture, relation, "a.pgm"), STATUS_FAILED);
    assert_only_told(scratch, "`shape R C` arranges");
    relation_unref(relation);

    struct column *column = column_of_floats((const double[]){0.5, 1}, 2);
    relation = relation_new(2, 1, &column, &(const char *){"x"});
    column_unref(column);
    relation->shape = (struct shape){.axes = 2, .extents = {1, 2}};
    assert_int_equal(save(fixture, relation, "a.pgm"), STATUS_FAILED);
    assert_only_told(scratch, "column `x` holds floats, but .pgm images hold integers");
    assert_file_text(scratch, "a.pgm", "old");
    relation_unref(relation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(grey_pictures_are_a_column, setup, teardown),
        cmocka_unit_test_setup_teardown(a_picture_says_what_its_values_stay_within, setup, teardown),
        cmocka_unit_test_setup_teardown(colour_pictures_are_three_columns, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_picture_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(pictures_cut_short_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_pictures_are_pictures_or_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(the_ending_tells_what_a_file_is_taken_for, setup, teardown),
        cmocka_unit_test_setup_teardown(the_bytes_are_as_the_formats_say, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_saved_loads_back_equal, setup, teardown),
        cmocka_unit_test_setup_teardown(dark_pictures_keep_their_type, setup, teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_a_picture_leaves_the_old_file, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
