/* Text files as relations. Every function is static inline because a test program is one source file. */
#ifndef RQL_TESTS_TEXT_TABLES_H
#define RQL_TESTS_TEXT_TABLES_H

#include "scratch.h"

#include "base/buffer_pool.h"
#include "base/strbuf.h"
#include "engine/formats/formats.h"
#include "engine/storage/text_options.h"
#include "engine/values/dictionary.h"

struct fixture {
    struct scratch *scratch;
    struct mappings *mappings;
    struct relation *relation; /* last read */
    const struct text_options *options;
    struct buffer_pool *pool;
};

static inline int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    fixture->scratch = scratch_new();
    fixture->mappings = mappings_new();
    fixture->pool = buffer_pool_new(1 << 24);
    *state = fixture;
    return 0;
}

static inline int teardown(void **state)
{
    struct fixture *fixture = *state;
    relation_unref(fixture->relation);
    mappings_free(fixture->mappings);
    buffer_pool_unref(fixture->pool);
    scratch_free(fixture->scratch);
    free(fixture);
    return 0;
}

/* The wanted columns (NULL: all) as a relation; NULL if they cannot be read. */
static inline struct relation *relation_of(struct file_reader *reader, const struct format_job *job, const bool *wanted,
                                           enum status *status)
{
    struct column **columns = calloc(reader->count, sizeof(struct column *));
    const char **names = calloc(reader->count, sizeof *names);
    bool *all = calloc(reader->count, sizeof *all);
    assert_non_null(columns);
    assert_non_null(names);
    assert_non_null(all);
    struct relation *relation = NULL;
    for (size_t k = 0; k < reader->count; k++)
        all[k] = !wanted || wanted[k];
    *status = reader->ops->read(reader, job, all, columns);
    size_t count = 0;
    for (size_t k = 0; k < reader->count && *status == STATUS_OK; k++) {
        if (!all[k])
            continue;
        assert_int_equal(columns[k]->type == TYPE_U8 || columns[k]->type == TYPE_U16 ? TYPE_U32 : columns[k]->type,
                         reader->columns[k].type);
        names[count] = reader->columns[k].name;
        columns[count++] = columns[k];
    }
    if (*status == STATUS_OK)
        relation = relation_new(reader->rows, count, columns, names);
    for (size_t k = 0; k < count; k++)
        column_unref(columns[k]);
    free(columns);
    free(names);
    free(all);
    return relation;
}

static inline struct mapping *open_mapping(struct fixture *fixture, const char *name, const void *bytes, size_t size)
{
    struct scratch *scratch = fixture->scratch;
    const char *path = scratch_write(scratch, name, bytes, size);
    struct mapping *mapping;
    scratch->diags.count = 0;
    relation_unref(fixture->relation);
    fixture->relation = NULL;
    assert_int_equal(mapping_open(fixture->mappings, path, scratch->span, &mapping, &scratch->diags), STATUS_OK);
    return mapping;
}

/* Fills the pool with blocks that are not zero. */
static inline void soil_pool(struct buffer_pool *pool)
{
    enum { BLOCKS = 16, BYTES = 1 << 16 };
    void *blocks[BLOCKS];
    size_t sizes[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = buffer_pool_alloc(pool, BYTES, &sizes[i]);
        assert_non_null(blocks[i]);
        memset(blocks[i], 0xa5, BYTES);
    }
    for (int i = 0; i < BLOCKS; i++)
        buffer_pool_release(pool, blocks[i], sizes[i]);
}

static inline enum status read_with(struct fixture *fixture, const char *name, const void *bytes, size_t size,
                                    const struct workers *workers)
{
    struct scratch *scratch = fixture->scratch;
    struct mapping *mapping = open_mapping(fixture, name, bytes, size);
    struct workers pooled = *workers;
    pooled.pool = fixture->pool;
    soil_pool(fixture->pool);
    const struct format_job job = {.format = format_of_path(name),
                                   .workers = &pooled,
                                   .span = scratch->span,
                                   .diags = &scratch->diags,
                                   .text = fixture->options};
    struct file_reader *reader;
    enum status status = job.format->open(&job, mapping, &reader);
    mapping_unref(mapping);
    if (status == STATUS_OK) {
        fixture->relation = relation_of(reader, &job, NULL, &status);
        reader->ops->close(reader);
    }
    return status;
}

static inline enum status read_text_as(struct fixture *fixture, const char *name, const char *text)
{
    const struct workers workers = {.threads = 2};
    return read_with(fixture, name, text, strlen(text), &workers);
}

static inline void check_column(const struct column *column, int64_t rows)
{
    assert_true(column->rows == rows);
    assert_true(!column->validity || (column->validity->rows == rows && column->validity->type == TYPE_BOOL));
    int64_t missing = 0;
    for (int64_t row = 0; row < rows; row++) {
        bool is_float = type_table[column->type].kind == KIND_FLOAT;
        int64_t value = is_float ? 0 : column_get_int(column, row);
        assert_true(!column->range_known || (column->lo <= value && value <= column->hi));
        if (!column_is_missing(column, row))
            continue;
        missing++;
        assert_true(value == 0 && (!is_float || column_get_float(column, row) == 0));
    }
    assert_true(!column->validity || missing > 0);
}

/* Expects the relation as CSV with types in the header: "a:i64,b:f64\n1,0.5\n". Text is in quotes. */
static inline void expect(struct fixture *fixture, const char *expected)
{
    const struct relation *relation = fixture->relation;
    assert_non_null(relation);
    struct strbuf text = {0};
    for (size_t k = 0; k < relation->count; k++) {
        const struct column *column = relation->columns[k];
        check_column(column, relation->rows);
        strbuf_printf(&text, "%s%s:%s%s", k > 0 ? "," : "", relation->names[k],
                      logical_type_name(column->logical, column->type), column->logical.zone ? "z" : "");
    }
    strbuf_putc(&text, '\n');
    for (int64_t row = 0; row < relation->rows; row++) {
        for (size_t k = 0; k < relation->count; k++) {
            const struct column *column = relation->columns[k];
            bool is_text = column->logical.kind == LOGICAL_TEXT;
            strbuf_puts(&text, k > 0 ? "," : "");
            if (column_is_missing(column, row))
                continue;
            struct scalar value = column_get(column, row);
            strbuf_puts(&text, is_text ? "'" : "");
            scalar_print(&text, &value);
            strbuf_puts(&text, is_text ? "'" : "");
        }
        strbuf_putc(&text, '\n');
    }
    assert_string_equal(text.text, expected);
    strbuf_free(&text);
}

static inline void expect_read(struct fixture *fixture, const char *name, const char *text, const char *expected)
{
    if (read_text_as(fixture, name, text) != STATUS_OK)
        fail_msg("%s", fixture->scratch->diags.at[0].message);
    expect(fixture, expected);
}

/* Also expects one note that contains `told`; NULL: none. */
static inline void expect_told(struct fixture *fixture, const char *name, const char *text, const char *expected,
                               const char *told)
{
    expect_read(fixture, name, text, expected);
    assert_int_equal(fixture->scratch->diags.count, told ? 1 : 0);
    if (told)
        assert_told(fixture->scratch, told);
}

#endif
