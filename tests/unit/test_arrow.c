/* Arrow files: all types come back, in place where they can, and damaged files are refused with one error. */
#include "scratch.h"

#include "engine/arrow/arrow.h"
#include "engine/arrow/flatbuffer.h"
#include "engine/formats/save.h"
#include "engine/storage/growing_buffer.h"
#include "engine/values/dictionary.h"

#include "base/strbuf.h"
#include "base/time/time_zone.h"

#include <sys/mman.h>

static const struct workers workers = {.threads = 2};

static int setup(void **state)
{
    *state = scratch_new();
    return 0;
}

static int teardown(void **state)
{
    scratch_free(*state);
    return 0;
}

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 20;
}

/* The dictionary of the strings 00, 01, ... and two of them that are not plain. */
static struct dictionary *dictionary_of(int count)
{
    struct interner *interner = interner_new();
    for (int i = 0; i < count; i++) {
        char text[32];
        int length = snprintf(text, sizeof text, i == 4 ? "caf\xc3\xa9\t\"%02d" : "%02d", i);
        (void)interner_add(interner, (struct text){text, i == 3 ? 0 : (size_t)length});
    }
    uint32_t *map;
    struct dictionary *dictionary = dictionary_of_interners(&interner, 1, &map, &workers);
    free(map);
    interner_free(interner);
    return dictionary;
}

/* A random column; one in three values is missing if `missing`, all if there are no strings. */
static struct column *random_column(enum type type, enum type store, struct logical_type logical, int64_t rows,
                                    bool missing, uint64_t *seed)
{
    struct column *column = column_reserve(type, store, rows);
    struct column *validity = missing && rows > 0 ? column_reserve(TYPE_BOOL, TYPE_BOOL, rows) : NULL;
    size_t size = type_table[store].size;
    for (int64_t row = 0; row < rows; row++) {
        uint64_t random = next_random(seed) << 32 | next_random(seed) >> 12;
        bool present = !validity || next_random(seed) % 3 != 0;
        double number = (double)(int64_t)random / 1024;
        float narrow = (float)number;
        if (logical.kind == LOGICAL_TEXT) {
            present = present && logical.dictionary->count > 0;
            random %= logical.dictionary->count > 0 ? (uint64_t)logical.dictionary->count : 1;
        }
        if (store == TYPE_BOOL)
            random &= 1;
        if (validity)
            *(uint8_t *)column_at(validity, row) = present;
        if (!present)
            continue;
        const void *value = &random;
        if (type_table[store].kind == KIND_FLOAT)
            value = store == TYPE_F32 ? (const void *)&narrow : (const void *)&number;
        memcpy(column_at(column, row), value, size);
    }
    column_finish(column, rows);
    if (validity)
        column_finish(validity, rows);
    column_set_validity(column, validity);
    column_set_logical(column, logical);
    return column;
}

enum { COLUMNS = 22 };

/* A column of each type, with dictionaries of up to `most_strings`, and two stored narrower than their type. */
static struct relation *random_relation(int64_t rows, bool missing, int most_strings, uint64_t seed)
{
    struct column *columns[COLUMNS];
    const char *names[COLUMNS];
    size_t count = 0;
    for (int type = 0; type < TYPE_COUNT; type++)
        columns[count++] =
            random_column((enum type)type, (enum type)type, (struct logical_type){0}, rows, missing, &seed);
    static const int sizes[] = {1, 100, 300, 70000};
    for (size_t k = 0; k < 4; k++) {
        struct dictionary *dictionary = dictionary_of(sizes[k] < most_strings ? sizes[k] : most_strings);
        enum type codes = dictionary_code_type(dictionary->count);
        columns[count++] = random_column(codes, codes, (struct logical_type){LOGICAL_TEXT, .dictionary = dictionary},
                                         rows, missing, &seed);
        dictionary_unref(dictionary);
    }
    static const struct logical_type types[] = {
        {.kind = LOGICAL_DATE},     {.kind = LOGICAL_TIMESTAMP},   {LOGICAL_TIMESTAMP, .zone = &time_zone_utc},
        {.kind = LOGICAL_DURATION}, {LOGICAL_DECIMAL, .scale = 0}, {LOGICAL_DECIMAL, .scale = 18}};
    for (size_t k = 0; k < 6; k++) {
        enum type type = k == 0 ? TYPE_I32 : TYPE_I64;
        columns[count++] = random_column(type, type, types[k], rows, missing, &seed);
    }
    columns[count++] = random_column(TYPE_I64, TYPE_I16, (struct logical_type){0}, rows, missing, &seed);
    columns[count++] = random_column(TYPE_I64, TYPE_U8, types[1], rows, missing, &seed);
    assert_int_equal(count, COLUMNS);
    for (size_t k = 0; k < count; k++)
        names[k] = k == 5 ? "na\xc3\xafve \"name\"" : k == 6 ? "" : "same";
    struct relation *relation = relation_new(rows, count, columns, names);
    for (size_t k = 0; k < count; k++)
        column_unref(columns[k]);
    return relation;
}

static void assert_same_value(const struct column *a, const struct column *b, int64_t row)
{
    assert_int_equal(column_is_missing(a, row), column_is_missing(b, row));
    if (a->logical.kind == LOGICAL_TEXT && !column_is_missing(a, row)) {
        struct text x = dictionary_text(a->logical.dictionary, column_get_int(a, row));
        struct text y = dictionary_text(b->logical.dictionary, column_get_int(b, row));
        assert_int_equal(text_compare(x, y), 0);
    } else if (type_table[a->type].kind == KIND_FLOAT) {
        double x = column_get_float(a, row), y = column_get_float(b, row);
        assert_memory_equal(&x, &y, sizeof x);
    } else if (a->logical.kind != LOGICAL_TEXT) {
        assert_int_equal(column_get_int(a, row), column_get_int(b, row));
    } else {
        assert_int_equal(column_get_int(b, row), 0);
    }
}

static void assert_same(const struct relation *a, const struct relation *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->count, b->count);
    for (size_t k = 0; k < a->count; k++) {
        const struct column *x = a->columns[k], *y = b->columns[k];
        assert_string_equal(a->names[k], b->names[k]);
        if (x->logical.kind != LOGICAL_TEXT)
            assert_int_equal(x->type, y->type);
        assert_int_equal(x->logical.kind, y->logical.kind);
        assert_int_equal(x->logical.scale, y->logical.scale);
        assert_ptr_equal(x->logical.zone, y->logical.zone);
        bool any = false;
        for (int64_t row = 0; row < x->rows; row++) {
            any = any || column_is_missing(x, row);
            assert_same_value(x, y, row);
        }
        assert_int_equal(y->validity != NULL, any);
    }
}

static struct mapping *mapping_of(const void *data, size_t size)
{
    struct growing_buffer buffer = {.used = size, .size = size};
    void *memory = size ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : NULL;
    assert_ptr_not_equal(memory, MAP_FAILED);
    if (size)
        buffer.data = memcpy(memory, data, size);
    return mapping_from_buffer("x.arrow", (struct file_stamp){.size = (int64_t)size}, &buffer);
}

/* Opens the bytes and reads the columns with wanted[k]; NULL: all. */
static enum status read_bytes(struct scratch *scratch, const void *data, size_t size, const bool *wanted,
                              struct relation **relation)
{
    scratch->diags.count = 0;
    const struct format_job job = {.workers = &workers, .span = scratch->span, .diags = &scratch->diags};
    struct mapping *mapping = mapping_of(data, size);
    struct file_reader *reader;
    enum status status = open_arrow(&job, mapping, &reader);
    mapping_unref(mapping);
    if (status != STATUS_OK)
        return status;
    struct column **columns = calloc(reader->count, sizeof *columns);
    bool *all = malloc(reader->count);
    const char **names = calloc(reader->count, sizeof *names);
    memset(all, 1, reader->count);
    size_t count = 0;
    status = reader->ops->read(reader, &job, wanted ? wanted : all, columns);
    for (size_t k = 0; k < reader->count; k++) {
        assert_int_equal(columns[k] != NULL, status == STATUS_OK && (!wanted || wanted[k]));
        names[count] = reader->columns[k].name;
        if (columns[k]) {
            if (columns[k]->validity)
                assert_true(reader->columns[k].nullable);
            columns[count++] = columns[k];
        }
    }
    if (status == STATUS_OK)
        *relation = relation_new(reader->rows, count, columns, names);
    for (size_t k = 0; k < count; k++)
        column_unref(columns[k]);
    free(columns);
    free(all);
    free(names);
    reader->ops->close(reader);
    return status;
}

/* Saves a relation and returns the file's bytes. */
static const char *bytes_of(struct scratch *scratch, const struct relation *relation, const char *name, size_t *size)
{
    assert_int_equal(save_relation(relation, scratch_path(scratch, name), SAVE_WHOLE, NULL, &workers, scratch->span,
                                   &scratch->diags),
                     STATUS_OK);
    return scratch_read(scratch, name, size);
}

static void all_types_come_back(void **state)
{
    struct scratch *scratch = *state;
    static const int64_t sizes[] = {0, 1, 7, 8, 9, 1000, 70001, (1 << 20) + 12345};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int missing = 0; missing < 2; missing++) {
            struct relation *relation = random_relation(sizes[s], missing, 70000, 17 * s + 3);
            for (int stream = 0; stream < 2; stream++) {
                size_t size;
                const char *bytes = bytes_of(scratch, relation, stream ? "x.arrows" : "x.feather", &size);
                struct relation *back;
                assert_int_equal(read_bytes(scratch, bytes, size, NULL, &back), STATUS_OK);
                assert_int_equal(scratch->diags.count, 0);
                assert_same(relation, back);
                for (size_t k = TYPE_I8; k < TYPE_COUNT; k++)
                    assert_int_equal(back->columns[k]->mapping != NULL, sizes[s] > 0 && sizes[s] <= 1 << 20);
                relation_unref(back);
            }
            relation_unref(relation);
        }
    }
}

static void only_wanted_columns(void **state)
{
    struct scratch *scratch = *state;
    struct relation *relation = random_relation(5000, true, 70000, 99), *back = NULL;
    size_t size;
    const char *bytes = bytes_of(scratch, relation, "x.ipc", &size);
    for (size_t k = 0; k < relation->count; k++) {
        bool wanted[COLUMNS] = {0};
        wanted[k] = true;
        assert_int_equal(read_bytes(scratch, bytes, size, wanted, &back), STATUS_OK);
        assert_int_equal(back->count, 1);
        for (int64_t row = 0; row < relation->rows; row++)
            assert_same_value(relation->columns[k], back->columns[0], row);
        relation_unref(back);
    }
    relation_unref(relation);
}

static size_t errors_of(const struct scratch *scratch)
{
    size_t errors = 0;
    for (size_t i = 0; i < scratch->diags.count; i++)
        errors += scratch->diags.at[i].severity == SEVERITY_ERROR;
    return errors;
}

/* Reads bytes that may be damaged; every value must be readable. */
static bool try_bytes(struct scratch *scratch, const void *bytes, size_t size)
{
    struct relation *relation;
    if (read_bytes(scratch, bytes, size, NULL, &relation) != STATUS_OK) {
        assert_int_equal(errors_of(scratch), 1);
        return false;
    }
    assert_int_equal(errors_of(scratch), 0);
    for (size_t k = 0; k < relation->count; k++) {
        const struct column *column = relation->columns[k];
        const struct dictionary *dictionary = column->logical.dictionary;
        for (int64_t row = 0; row < column->rows && dictionary && !column_is_missing(column, row); row++)
            assert_in_range(column_get_int(column, row), 0, dictionary->count - 1);
    }
    relation_unref(relation);
    return true;
}

static void truncated_files(void **state)
{
    struct scratch *scratch = *state;
    struct relation *relation = random_relation(9, true, 300, 5);
    for (int stream = 0; stream < 2; stream++) {
        size_t size, good = 0;
        const char *bytes = bytes_of(scratch, relation, stream ? "x.arrows" : "x.arrow", &size);
        for (size_t length = 0; length < size; length += length < 3000 || length + 3000 > size ? 1 : 97)
            good += try_bytes(scratch, bytes, length);
        assert_int_equal(good > 0, stream); /* a stream may end after any message */
    }
    relation_unref(relation);
}

static void damaged_files(void **state)
{
    struct scratch *scratch = *state;
    struct relation *relation = random_relation(9, true, 3, 6);
    static const unsigned char changes[] = {0x01, 0xff};
    for (int stream = 0; stream < 2; stream++) {
        size_t size;
        const char *bytes = bytes_of(scratch, relation, stream ? "x.arrows" : "x.arrow", &size);
        char *copy = arena_text(scratch->arena, bytes, size);
        for (size_t at = 0; at < size; at += at < 2000 || at + 4000 > size ? 1 : 7) {
            for (size_t k = 0; k < sizeof changes; k++) {
                copy[at] = (char)(bytes[at] ^ changes[k]);
                (void)try_bytes(scratch, copy, size);
            }
            copy[at] = bytes[at];
        }
    }
    relation_unref(relation);
}

static void other_files(void **state)
{
    struct scratch *scratch = *state;
    struct relation *relation;
    assert_int_equal(read_bytes(scratch, "", 0, NULL, &relation), STATUS_FAILED);
    assert_only_told(scratch, "neither an Arrow file nor a stream");
    assert_int_equal(read_bytes(scratch, "FEA1xxxxxxxx", 12, NULL, &relation), STATUS_FAILED);
    assert_only_told(scratch, "version 1");
    assert_int_equal(read_bytes(scratch, "a,b,c\n1,2,3\n", 12, NULL, &relation), STATUS_FAILED);
    assert_only_told(scratch, "truncated or damaged");
    assert_int_equal(read_bytes(scratch, "ARROW1\0\0ARROW1", 14, NULL, &relation), STATUS_FAILED);
    assert_only_told(scratch, "truncated");
}

static void flatbuffers_come_back(void **state)
{
    (void)state;
    struct strbuf bytes = {0};
    struct flat_slot slots[] = {{.width = 1, .value = -3},
                                {.width = 8, .value = INT64_MIN},
                                {.width = 0},
                                {.width = 2, .value = 300},
                                {.width = 4},
                                {.width = 4}};
    flat_begin(&bytes);
    flat_link(&bytes, 0, flat_add_table(&bytes, slots, 6));
    flat_link(&bytes, slots[4].at, flat_add_text(&bytes, "text", 4));
    size_t vector = flat_add_vector(&bytes, 3, 8);
    flat_link(&bytes, slots[5].at, vector);
    flat_set(&bytes, vector + 4 + 16, -7, 8);
    for (size_t size = 0; size <= bytes.length; size++) {
        struct flat_buffer buffer = {(const unsigned char *)bytes.text, size, false};
        struct flat_table table = flat_root(&buffer);
        int64_t numbers[] = {flat_int(&table, 0, 1, 5), flat_int(&table, 1, 8, 5), flat_int(&table, 2, 8, 5),
                             flat_int(&table, 3, 2, 5), flat_int(&table, 6, 4, 5)};
        struct text text = flat_string(&table, 4);
        struct flat_vector values = flat_vector(&table, 5, 8);
        assert_int_equal(buffer.failed, size < bytes.length);
        if (buffer.failed)
            continue;
        static const int64_t expected[] = {-3, INT64_MIN, 5, 300, 5};
        assert_memory_equal(numbers, expected, sizeof expected);
        assert_int_equal(text.length, 4);
        assert_memory_equal(text.at, "text", 4);
        assert_int_equal(values.count, 3);
        assert_int_equal(values.at % 8, 0);
        assert_int_equal(flat_vector_int(&values, 2, 0, 8), -7);
    }
    strbuf_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flatbuffers_come_back),
        cmocka_unit_test_setup_teardown(all_types_come_back, setup, teardown),
        cmocka_unit_test_setup_teardown(only_wanted_columns, setup, teardown),
        cmocka_unit_test_setup_teardown(truncated_files, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_files, setup, teardown),
        cmocka_unit_test_setup_teardown(other_files, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
