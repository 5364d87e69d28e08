/* Tables saved as Parquet and read back: every type with and without missing values, extremes, no and one row, several
 * row groups, and what a file cannot hold as it is: durations and decimals of 19 digits. */
#include "scratch.h"

#include "base/time/time_zone.h"
#include "engine/parquet/reader.h"
#include "engine/parquet_write/writer.h"
#include "engine/values/dictionary.h"

#include <math.h>

enum { MAX_COLUMNS = 64 };

struct table {
    size_t count;
    struct column *columns[MAX_COLUMNS];
    const char *names[MAX_COLUMNS];
    int64_t rows;
    uint64_t random;
    struct arena *arena;
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Makes values missing: none, some, or all. */
static void hide(struct table *table, struct column *column, int which)
{
    if (which == 0 || table->rows == 0)
        return;
    struct column *validity = column_reserve(TYPE_BOOL, TYPE_BOOL, table->rows);
    assert_non_null(validity);
    size_t size = type_table[column->store].size;
    for (int64_t row = 0; row < table->rows; row++) {
        uint8_t present = which == 1 && row > 0 && next_random(&table->random) % 4 > 0;
        memcpy(column_at(validity, row), &present, 1);
        if (!present)
            memset(column_at(column, row), 0, size);
    }
    column_finish(validity, table->rows);
    column_set_validity(column, validity);
}

/* Adds a column whose element bits are values lo..hi, with the extremes, or random floats. */
static void add_column(struct table *table, enum type type, struct logical_type logical, int64_t lo, int64_t hi,
                       int hidden)
{
    struct column *column = column_reserve(type, type, table->rows);
    assert_non_null(column);
    uint64_t span = (uint64_t)hi - (uint64_t)lo + 1;
    for (int64_t row = 0; row < table->rows; row++) {
        uint64_t random = next_random(&table->random);
        int64_t value = row == 0 ? lo : row == 1 ? hi : (int64_t)((uint64_t)lo + (span ? random % span : random));
        static const double specials[] = {0, -0.0, INFINITY, -INFINITY, 0.1, -5e300};
        double number = random % 5 == 0 ? specials[random / 5 % 6] : (double)value * 1e-3;
        float narrow = (float)number;
        if (type == TYPE_F64)
            memcpy(column_at(column, row), &number, sizeof number);
        else if (type == TYPE_F32)
            memcpy(column_at(column, row), &narrow, sizeof narrow);
        else
            memcpy(column_at(column, row), &value, type_table[type].size);
    }
    column_finish(column, table->rows);
    column_set_logical(column, logical);
    hide(table, column, hidden);
    table->names[table->count] = arena_printf(table->arena, "c%zu", table->count);
    table->columns[table->count++] = column;
}

/* A dictionary of `count` strings: the empty one, long ones, digits. */
static struct dictionary *make_dictionary(size_t count)
{
    struct interner *interner = interner_new();
    for (size_t i = 0; i < count; i++) {
        char text[400];
        int length = snprintf(text, sizeof text, "%0*zu", i % 50 == 1 ? 300 : 1, i);
        interner_add(interner, (struct text){text, i == 0 ? 0 : (size_t)length});
    }
    uint32_t *map;
    const struct workers workers = {.threads = 1};
    struct dictionary *dictionary = dictionary_of_interners(&interner, 1, &map, &workers);
    assert_non_null(dictionary);
    free(map);
    interner_free(interner);
    return dictionary;
}

static void add_text(struct table *table, size_t strings, int hidden)
{
    struct dictionary *dictionary = make_dictionary(strings);
    struct logical_type logical = {.kind = LOGICAL_TEXT, .dictionary = dictionary};
    add_column(table, dictionary_code_type((int64_t)strings), logical, 0, (int64_t)strings - 1, hidden);
    dictionary_unref(dictionary);
}

static void fill(struct table *table)
{
    static const enum type types[] = {TYPE_BOOL, TYPE_I8,  TYPE_I16, TYPE_I32, TYPE_I64,
                                      TYPE_U8,   TYPE_U16, TYPE_U32, TYPE_F32, TYPE_F64};
    const struct logical_type number = {0};
    for (int hidden = 0; hidden < 3; hidden++) {
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
            bool is_float = type_table[types[i]].kind == KIND_FLOAT;
            add_column(table, types[i], number, is_float ? -1000000 : type_table[types[i]].lo,
                       is_float ? 1000000 : type_table[types[i]].hi, hidden);
        }
        add_column(table, TYPE_I64, number, -3, 500, hidden);
        add_column(table, TYPE_I32, (struct logical_type){.kind = LOGICAL_DATE}, -800000, 2900000, hidden);
        add_column(table, TYPE_I64, (struct logical_type){.kind = LOGICAL_TIMESTAMP}, INT64_MIN, INT64_MAX, hidden);
        add_column(table, TYPE_I64, (struct logical_type){.kind = LOGICAL_TIMESTAMP, .zone = &time_zone_utc}, 0, 1000,
                   hidden);
        add_column(table, TYPE_I64, (struct logical_type){.kind = LOGICAL_DURATION}, 0, 86399999999, hidden);
        add_column(table, TYPE_I64, (struct logical_type){.kind = LOGICAL_DURATION}, -1, 86400000000, hidden);
        add_column(table, TYPE_I64, (struct logical_type){.kind = LOGICAL_DECIMAL, .scale = 2}, -999, 999, hidden);
        add_column(table, TYPE_I64, (struct logical_type){.kind = LOGICAL_DECIMAL, .scale = 18}, INT64_MIN, INT64_MAX,
                   hidden);
        add_text(table, 3, hidden);
        add_text(table, 300, hidden);
    }
}

static void require_equal_values(const struct column *a, const struct column *b, const char *name)
{
    bool equal = true;
    for (int64_t row = 0; row < a->rows && equal; row++) {
        equal = column_is_missing(a, row) == column_is_missing(b, row);
        if (!equal || column_is_missing(a, row))
            continue;
        size_t size = type_table[a->type].size;
        if (a->logical.kind == LOGICAL_TEXT)
            equal = text_compare(dictionary_text(a->logical.dictionary, column_get_int(a, row)),
                                 dictionary_text(b->logical.dictionary, column_get_int(b, row))) == 0;
        else if (type_table[a->type].kind == KIND_INT)
            equal = column_get_int(a, row) == column_get_int(b, row);
        else
            equal = memcmp((const char *)a->data + (size_t)row * size, (const char *)b->data + (size_t)row * size,
                           size) == 0;
        if (!equal)
            fail_msg("%s, row %lld", name, (long long)row);
    }
    if (!equal)
        fail_msg("%s: what is missing differs", name);
}

static void require_equal(const struct column *a, const struct column *b, const char *name)
{
    bool is_text = a->logical.kind == LOGICAL_TEXT;
    assert_int_equal(a->rows, b->rows);
    assert_true(is_text || a->type == b->type);
    assert_int_equal(a->logical.kind, b->logical.kind);
    assert_int_equal(a->logical.scale, b->logical.scale);
    assert_ptr_equal(a->logical.zone, b->logical.zone);
    assert_int_equal(a->validity != NULL, b->validity != NULL);
    require_equal_values(a, b, name);
}

static void no_errors(enum status status, const struct diags *diags)
{
    if (status != STATUS_OK || diags->count > 0)
        fail_msg("%s", diags->count > 0 ? diags->at[0].message : "no message");
}

/* Saves the table and reads it back. */
static void round_trip(struct table *table, struct scratch *scratch, int threads)
{
    struct diags diags;
    diags_init(&diags, table->arena);
    const struct workers workers = {.threads = threads};
    const struct format_job job = {.workers = &workers, .diags = &diags};
    const char *path = scratch_path(scratch, "saved.parquet");
    struct relation *relation = relation_new(table->rows, table->count, table->columns, table->names);
    struct writer writer;
    no_errors(writer_open(&writer, path, job.span, &diags), &diags);
    no_errors(write_parquet(&job, relation, &writer), &diags);
    no_errors(writer_finish(&writer, job.span, &diags), &diags);
    no_errors(writer_publish(&writer, job.span, &diags), &diags);
    writer_discard(&writer);

    struct mappings *mappings = mappings_new();
    struct mapping *mapping;
    struct file_reader *reader;
    no_errors(mapping_open(mappings, path, job.span, &mapping, &diags), &diags);
    no_errors(open_parquet(&job, mapping, &reader), &diags);
    assert_int_equal(reader->rows, table->rows);
    assert_int_equal(reader->count, table->count);
    struct column *columns[MAX_COLUMNS];
    bool wanted[MAX_COLUMNS];
    memset(wanted, 1, sizeof wanted);
    no_errors(reader->ops->read(reader, &job, wanted, columns), &diags);
    for (size_t k = 0; k < table->count; k++) {
        assert_string_equal(reader->columns[k].name, table->names[k]);
        require_equal(table->columns[k], columns[k], table->names[k]);
        column_unref(columns[k]);
        column_unref(table->columns[k]);
    }
    reader->ops->close(reader);
    mapping_unref(mapping);
    mappings_free(mappings);
    relation_unref(relation);
}

static void every_type(void **state)
{
    (void)state;
    static const int64_t lengths[] = {0, 1, 2, 1000, 70000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct scratch *scratch = scratch_new();
        struct table table = {.rows = lengths[i], .random = 7 + i, .arena = arena_new()};
        fill(&table);
        round_trip(&table, scratch, 1 + (int)(i % 3));
        arena_free(table.arena);
        scratch_free(scratch);
    }
}

static void several_row_groups(void **state)
{
    (void)state;
    struct scratch *scratch = scratch_new();
    struct table table = {.rows = (3 << 20) + 5, .random = 3, .arena = arena_new()};
    add_column(&table, TYPE_I64, (struct logical_type){0}, INT64_MIN, INT64_MAX, 1);
    add_column(&table, TYPE_I16, (struct logical_type){0}, 0, 3, 0);
    add_text(&table, 100000, 1);
    add_text(&table, 3000000, 0); /* too many for dictionaries */
    round_trip(&table, scratch, 2);
    arena_free(table.arena);
    scratch_free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type),
        cmocka_unit_test(several_row_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
