/* Text tables: .csv, .tsv, .txt and .jsonl files, on any number of threads, and errors for malformed files. */
#include "scratch.h"

#include "base/strbuf.h"
#include "engine/formats/formats.h"
#include "engine/storage/buffer_pool.h"
#include "engine/storage/text_options.h"
#include "engine/values/dictionary.h"

#include <math.h>
#include <stdatomic.h>

struct fixture {
    struct scratch *scratch;
    struct mappings *mappings;
    struct relation *relation; /* last read */
    const struct text_options *options;
    struct buffer_pool *pool;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    fixture->scratch = scratch_new();
    fixture->mappings = mappings_new();
    fixture->pool = buffer_pool_new(1 << 24);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
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
static struct relation *relation_of(struct file_reader *reader, const struct format_job *job, const bool *wanted,
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

static struct mapping *open_mapping(struct fixture *fixture, const char *name, const void *bytes, size_t size)
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
static void soil_pool(struct buffer_pool *pool)
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

static enum status read_with(struct fixture *fixture, const char *name, const void *bytes, size_t size,
                             const struct workers *workers)
{
    struct scratch *scratch = fixture->scratch;
    struct mapping *mapping = open_mapping(fixture, name, bytes, size);
    struct workers pooled = *workers;
    pooled.pool = fixture->pool;
    soil_pool(fixture->pool);
    const struct format_job job = {format_of_path(name), &pooled,          scratch->span,
                                   &scratch->diags,      fixture->options, false};
    struct file_reader *reader;
    enum status status = job.format->open(&job, mapping, &reader);
    mapping_unref(mapping);
    if (status == STATUS_OK) {
        fixture->relation = relation_of(reader, &job, NULL, &status);
        reader->ops->close(reader);
    }
    return status;
}

static enum status read_text_as(struct fixture *fixture, const char *name, const char *text)
{
    const struct workers workers = {.threads = 2};
    return read_with(fixture, name, text, strlen(text), &workers);
}

static void check_column(const struct column *column, int64_t rows)
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
static void expect(struct fixture *fixture, const char *expected)
{
    const struct relation *relation = fixture->relation;
    assert_non_null(relation);
    struct strbuf text = {0};
    for (size_t k = 0; k < relation->count; k++) {
        const struct column *column = relation->columns[k];
        check_column(column, relation->rows);
        strbuf_printf(&text, "%s%s:%s%s", k > 0 ? "," : "", relation->names[k],
                      logical_type_name(column->logical, column->type), column->logical.utc ? "z" : "");
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

static void expect_read(struct fixture *fixture, const char *name, const char *text, const char *expected)
{
    if (read_text_as(fixture, name, text) != STATUS_OK)
        fail_msg("%s", fixture->scratch->diags.at[0].message);
    expect(fixture, expected);
}

/* Also expects one note that contains `told`; NULL: none. */
static void expect_told(struct fixture *fixture, const char *name, const char *text, const char *expected,
                        const char *told)
{
    expect_read(fixture, name, text, expected);
    assert_int_equal(fixture->scratch->diags.count, told ? 1 : 0);
    if (told)
        assert_told(fixture->scratch, told);
}

static void names_and_types(void **state)
{
    struct fixture *fixture = *state;
    expect_read(fixture, "a.csv", "id,amt\n1,2\n-3,4\n", "id:i64,amt:i64\n1,2\n-3,4\n");
    expect_read(fixture, "A.CSV", "id,amt\n1,2\n-3,4\n", "id:i64,amt:i64\n1,2\n-3,4\n");
    expect_read(fixture, "a.csv", "id,amt\r\n1,2.5\r\n-3,4\r\n", "id:i64,amt:f64\n1,2.5\n-3,4.0\n");
    expect_read(fixture, "a.csv", "\xef\xbb\xbfid\n1", "id:i64\n1\n");
    expect_read(fixture, "a.csv", "\"a,b\",\"say \"\"x\"\"\", c \n\"1\" , 2 ,+3\n\n \n",
                "a,b:i64,say \"x\":i64,c:i64\n1,2,3\n");
    expect_read(fixture, "a.csv", "\"two\nlines\",b\n1,2", "two\nlines:i64,b:i64\n1,2\n");
    expect_read(fixture, "a.csv", "ok,x\ntrue,1\nFalse,2\n", "ok:bool,x:i64\n1,1\n0,2\n");
    expect_read(fixture, "a.csv", ",b\n0,1\n", "c1:i64,b:i64\n0,1\n");
    expect_read(fixture, "a.csv", "a,b\n", "a:i64,b:i64\n");
    expect_read(fixture, "a.csv", "a,a,b,a,a_2\n1,2,3,4,5\n", "a:i64,a_2:i64,b:i64,a_3:i64,a_2_2:i64\n1,2,3,4,5\n");
    expect_read(fixture, "a.tsv", "a\\tb\tc\\\\d\\n\n1\t2\n", "a\tb:i64,c\\d\n:i64\n1,2\n");
    expect_read(fixture, "a.tsv", "\"a\"\tb\n1.5\t2\n", "a:f64,b:i64\n1.5,2\n");
    /* A quote that does not begin a value is a character like others. */
    expect_read(fixture, "a.csv", "a,b\nx,2\ny\"z,4\n5\"6,7\n", "a:text,b:i64\n'x',2\n'y\"z',4\n'5\"6',7\n");
    expect_read(fixture, "a.csv", "a\"b,c\n1,2\n", "a\"b:i64,c:i64\n1,2\n");
    expect_read(fixture, "a.csv", "a,b\"c\n1,2\n", "a:i64,b\"c:i64\n1,2\n");
}

static void dates_and_times(void **state)
{
    struct fixture *fixture = *state;
    expect_told(fixture, "a.csv", "d,t\n2024-01-31,2024-01-31 09:30\n1969-12-31,1969-12-31T23:59:59.5\n",
                "d:date,t:timestamp\n2024-01-31,2024-01-31T09:30:00\n1969-12-31,1969-12-31T23:59:59.500\n", NULL);
    expect_told(fixture, "a.csv", "t,b\r\n2024-01-31T09:30:00Z,1\r\n2024-01-31T11:30:00+02:00,2\r\n",
                "t:timestampz,b:i64\n2024-01-31T09:30:00Z,1\n2024-01-31T09:30:00Z,2\n", NULL);
    /* Dates and timestamps, zones and none, do not mix. */
    expect_told(fixture, "a.csv", "t,b\n2024-01-31,1\n2024-01-31T11:30:00,2\n",
                "t:text,b:i64\n'2024-01-31',1\n'2024-01-31T11:30:00',2\n",
                "`t` is text: `2024-01-31T11:30:00` in line 3");
    expect_told(fixture, "a.csv", "t,b\n2024-01-31T11:30,1\n2024-01-31T11:30Z,2\n",
                "t:text,b:i64\n'2024-01-31T11:30',1\n'2024-01-31T11:30Z',2\n", "in line 3");
    expect_told(fixture, "a.csv", "d,b\n2023-02-29,1\n", "d:text,b:i64\n'2023-02-29',1\n", NULL);
    expect_told(fixture, "a.csv", "t,b\n2024-01-31T11:30:00.123456789,1\n2024-01-31T11:30:00.123456000,2\n",
                "t:timestamp,b:i64\n2024-01-31T11:30:00.123456,1\n2024-01-31T11:30:00.123456,2\n",
                "1 cut to microseconds in `t`");
}

static void the_first_line(void **state)
{
    struct fixture *fixture = *state;
    expect_read(fixture, "a.csv", "1,2\n3,4\n", "c1:i64,c2:i64\n1,2\n3,4\n");
    expect_read(fixture, "a.csv", "nan,-1e5\n", "c1:f64,c2:f64\nnan,-100000.0\n");
    expect_read(fixture, "a.csv", "\"1\",2\n3,4\n", "1:i64,2:i64\n3,4\n");
    expect_read(fixture, "a.csv", "2019,x\n3,4\n", "2019:i64,x:i64\n3,4\n");
    expect_read(fixture, "a.csv", "AAPL,1.5,2024-01-02\nMSFT,2,2024-01-03\n",
                "c1:text,c2:f64,c3:date\n'AAPL',1.5,2024-01-02\n'MSFT',2.0,2024-01-03\n");
    expect_read(fixture, "a.csv", "AAPL,\nMSFT,2\n", "AAPL:text,c2:i64\n'MSFT',2\n");
    expect_read(fixture, "a.csv", "x,true\ny,false\n", "c1:text,c2:bool\n'x',1\n'y',0\n");
    expect_read(fixture, "a.csv", "sym,name\nx,y\n", "sym:text,name:text\n'x','y'\n");
    expect_read(fixture, "a.csv", "\"2023\",\"2024\"\n1,2\n", "2023:i64,2024:i64\n1,2\n");
    expect_read(fixture, "a.csv", "id,1\nx,2\n", "c1:text,c2:i64\n'id',1\n'x',2\n");
    expect_read(fixture, "a.csv", "\"a\",1\n\"b\",2\n", "c1:text,c2:i64\n'a',1\n'b',2\n");
    expect_read(fixture, "a.csv", "\"a\",\"b\"\n", "a:i64,b:i64\n");
}

static void separators(void **state)
{
    struct fixture *fixture = *state;
    expect_told(fixture, "a.csv", "a;b\n1;2.5\n", "a:i64,b:f64\n1,2.5\n", "its values are separated by `;`");
    expect_told(fixture, "a.csv", "a\tb\n1\t2\n", "a:i64,b:i64\n1,2\n", "separated by tabs");
    expect_told(fixture, "a.csv", "a|b|\"c,d,e,f\"\n1|2|3\n", "a:i64,b:i64,c,d,e,f:i64\n1,2,3\n", "separated by `|`");
    expect_told(fixture, "a.csv", "a,b;c\n1,2\n", "a:i64,b;c:i64\n1,2\n", NULL);
    expect_told(fixture, "a.csv", "a\tb;c;d\n1\t2;3;4\n", "a\tb:text,c:i64,d:i64\n'1\t2',3,4\n", "separated by `;`");
    expect_told(fixture, "a.tsv", "a,b\n1,2\n", "a,b:text\n'1,2'\n", "name it .csv");
    expect_read(fixture, "a.csv", "a;b\n1,5;x\n-2,25;y\n", "a:text,b:text\n'1,5','x'\n'-2,25','y'\n");
    assert_int_equal(fixture->scratch->diags.count, 2);
    assert_told(fixture->scratch, "`a` is text: `1,5` has a decimal comma");
}

static void numbers_are_exact(void **state)
{
    struct fixture *fixture = *state;
    expect_read(fixture, "a.csv", "a\n9223372036854775807\n-9223372036854775808\n-0\n0\n",
                "a:i64\n9223372036854775807\n-9223372036854775808\n0\n0\n");
    assert_true(fixture->relation->columns[0]->range_known);
    assert_true(fixture->relation->columns[0]->lo == INT64_MIN && fixture->relation->columns[0]->hi == INT64_MAX);
    expect_read(
        fixture, "a.csv",
        "a\n0.1\n-.5\n5.\n1e-400\n123456789012345678901234567890\n9007199254740993\n17976931348623157e292\nInf\n",
        "a:f64\n0.1\n-0.5\n5.0\n0.0\n1.2345678901234568e29\n9007199254740992.0\n1.7976931348623157e308\ninf\n");
    /* Also if the float follows integers too large for i64. */
    expect_told(fixture, "a.csv", "a,b\n99999999999999999999,1\n1.5,2\n", "a:f64,b:i64\n1e20,1\n1.5,2\n", NULL);
    expect_told(fixture, "a.csv", "a,b\n1,NaN\n2,3\n", "a:i64,b:f64\n1,nan\n2,3.0\n", NULL);
}

static void what_is_text(void **state)
{
    struct fixture *fixture = *state;
    expect_told(fixture, "a.csv", "id,name,amt,\n1,\"x, \"\"y\"\"\nz\",2,\n3,,4,\n",
                "id:i64,name:text,amt:i64,c4:text\n1,'x, \"y\"\nz',2,\n3,,4,\n", "1 missing in `name`, 2 in `c4`");
    /* Identifiers: leading zeros, more than 64 bits. */
    expect_told(fixture, "a.csv", "zip,b\n10001,1\n00501,2\n", "zip:text,b:i64\n'10001',1\n'00501',2\n",
                "`zip` is text: `00501` in line 3");
    expect_told(fixture, "a.csv", "zip,b\n00501,1\n10001,2\n", "zip:text,b:i64\n'00501',1\n'10001',2\n", NULL);
    expect_told(fixture, "a.csv", "x,b\n00.5,1\n-01,2\n", "x:text,b:i64\n'00.5',1\n'-01',2\n", NULL);
    expect_told(fixture, "a.csv", "x,b\n0,1\n0.5,2\n-0.25,3\n0e1,4\n", "x:f64,b:i64\n0.0,1\n0.5,2\n-0.25,3\n0.0,4\n",
                NULL);
    expect_told(fixture, "a.csv", "x,b\n1,1\n9223372036854775808,2\n", "x:text,b:i64\n'1',1\n'9223372036854775808',2\n",
                "`x` is text: `9223372036854775808` in line 3");
    expect_told(fixture, "a.csv", "x,b\n1.5,1\n-1e400,2\n", "x:text,b:i64\n'1.5',1\n'-1e400',2\n", "-1e400");
    expect_told(fixture, "a.csv", "x,b\n1,1\nA17,2\nB2,3\n", "x:text,b:i64\n'1',1\n'A17',2\n'B2',3\n",
                "`x` is text: `A17` in line 3");
    expect_told(fixture, "a.csv", "x,b\ntrue,1\n1,2\n", "x:text,b:i64\n'true',1\n'1',2\n", "`1` in line 3");
    expect_told(fixture, "a.csv", "x,b\n0x10,1\n1_000,2\n", "x:text,b:i64\n'0x10',1\n'1_000',2\n", NULL);
    /* White space belongs to text, and is ignored around other values. */
    expect_told(fixture, "a.csv", "x,b\n a , 1 \n\tb,\t2\t\n", "x:text,b:i64\n' a ',1\n'\tb',2\n", NULL);
    expect_told(fixture, "a.csv", "x,b\r\na,u\r\nb,v\r\n", "x:text,b:text\n'a','u'\n'b','v'\n", NULL);
    expect_told(fixture, "a.csv", "x,b\na,u\nb,v \n \n", "x:text,b:text\n'a','u'\n'b','v '\n", NULL);
    expect_told(fixture, "a.csv", "x,b\n z\xc3\xa9, \"q\" \n", "x:text,b:text\n' z\xc3\xa9','q'\n", NULL);
    expect_told(fixture, "a.tsv", "x\ty\na\\tb\\n\\\\\tC:\\x\n\"q\"\"\\t\"\t\"\n",
                "x:text,y:text\n'a\tb\n\\','C:x'\n'q\"\t','\"'\n", NULL);
}

static void what_is_missing(void **state)
{
    struct fixture *fixture = *state;
    expect_told(fixture, "a.csv", "i,f,b,d\n1,0.5,true,2024-01-01\n,NA,N/A,None\n-,?,null,#N/A\nNULL, ,\"\",-\n",
                "i:i64,f:f64,b:bool,d:date\n1,0.5,1,2024-01-01\n,,,\n,,,\n,,,\n",
                "3 missing in `i`, 3 in `f`, 3 in `b`, 3 in `d`");
    expect_told(fixture, "a.csv", "country,n\nNA,1\n,2\n\"\",3\n-,4\n", "country:text,n:i64\n'NA',1\n,2\n'',3\n'-',4\n",
                "1 missing in `country`");
    expect_told(fixture, "a.csv", "a,b\nNA,1\nNA,2\n", "a:text,b:i64\n'NA',1\n'NA',2\n", NULL);
    expect_told(fixture, "a.csv", "a,b\n,1\n,2\n", "a:text,b:i64\n,1\n,2\n", "2 missing in `a`");
    assert_int_equal(fixture->relation->columns[0]->logical.dictionary->count, 0);
    /* NA is missing until a value makes the column text. */
    expect_told(fixture, "a.csv", "a,b\n1,1\nNA,2\nx,3\n", "a:text,b:i64\n'1',1\n'NA',2\n'x',3\n",
                "`a` is text: `x` in line 4");
    /* One column: blank lines are rows. */
    expect_told(fixture, "a.csv", "a\n1\n\n2\n\n", "a:i64\n1\n\n2\n\n", "2 missing in `a`");
    expect_told(fixture, "a.csv", "a\r\n1\r\n\r\n", "a:i64\n1\n\n", "1 missing in `a`");
    expect_told(fixture, "a.csv", "a\n\"\"\nx\n\n", "a:text\n''\n'x'\n\n", "1 missing in `a`");
    expect_told(fixture, "a.csv", "a\n\n", "a:text\n\n", "1 missing in `a`");
    expect_told(fixture, "a.csv", "a\n", "a:i64\n", NULL);
    expect_told(fixture, "a.tsv", "a\tb\n\t\\N\n\"\"\tx\ny\t\\\\N\n", "a:text,b:text\n,\n'','x'\n'y','\\N'\n",
                "1 missing in `a`, 1 in `b`");
    expect_told(fixture, "a.tsv", "a\tb\n1\t2\n3\t\n", "a:i64,b:i64\n1,2\n3,\n", "1 missing in `b`");
}

static void lines_of_json(void **state)
{
    struct fixture *fixture = *state;
    expect_told(fixture, "a.jsonl", "{\"a\":1,\"b\":0.5}\n{ \"a\" : -2 , \"b\" : 3 }\r\n\n",
                "a:i64,b:f64\n1,0.5\n-2,3.0\n", NULL);
    expect_told(fixture, "a.jsonl", "{\"x\\u00e9\\ud834\\udd1e\\n\":true,\"\":7}",
                "x\u00e9\U0001d11e\n:bool,c2:i64\n1,7\n", NULL);
    expect_told(fixture, "a.jsonl",
                "{\"t\":\"a\\\",}\",\"n\":[1,{\"a\":\"]\"}],\"b\":5}\n{\"t\":null,\"n\":{},\"b\":6}\n",
                "t:text,b:i64\n'a\",}',5\n,6\n", "1 missing in `t`; left out: `n` (objects or arrays)");
    /* Keys in any order, absent ones, and keys that come late. */
    expect_told(fixture, "a.jsonl", "{\"a\":1}\n{\"b\":2,\"a\":3}\n{}\n{\"b\":4}\n", "a:i64,b:i64\n1,\n3,2\n,\n,4\n",
                "2 missing in `a`, 2 in `b`");
    /* Strings are text, but for dates and timestamps. */
    expect_told(fixture, "a.jsonl",
                "{\"s\":\"1\",\"d\":\"2024-01-31\",\"t\":\"2024-01-31T00:00:00Z\",\"e\":\"NA\"}\n"
                "{\"s\":\"\",\"d\":null,\"t\":null,\"e\":\"\\u0041\\\\\"}\n",
                "s:text,d:date,t:timestampz,e:text\n'1',2024-01-31,2024-01-31T00:00:00Z,'NA'\n'',,,'A\\'\n",
                "1 missing in `d`, 1 in `t`");
    expect_told(fixture, "a.jsonl", "{\"a\":1}\n{\"a\":\"x\"}\n", "a:text\n'1'\n'x'\n", "`a` is text: `x` in line 2");
    expect_told(fixture, "a.jsonl", "{\"a\":1}\n{\"a\":NaN}\n", "a:f64\n1.0\nnan\n", NULL);
    struct strbuf late = {0};
    for (int i = 0; i < 3000; i++)
        strbuf_printf(&late, "{\"a\":%s%s}\n", i == 2500 ? "[7]" : "7", i == 2000 ? ",\"z\":1" : "");
    assert_int_equal(read_text_as(fixture, "a.jsonl", late.text), STATUS_OK);
    assert_int_equal(fixture->relation->count, 1);
    assert_told(fixture->scratch, "`a` is text: `[7]` in line 2501; left out: `z` (first in line 2001)");
    strbuf_free(&late);
}

static void lines_of_text(void **state)
{
    struct fixture *fixture = *state;
    expect_read(fixture, "a.txt", "", ":i64\n");
    expect_read(fixture, "a.txt", "\n", ":text\n\n");
    expect_read(fixture, "a.txt", " 1\t\r\n2\n\n \n", ":i64\n1\n2\n\n\n");
    expect_read(fixture, "a.txt", "1\n2.5", ":f64\n1.0\n2.5\n");
    expect_read(fixture, "a.txt", "b\na,\"x\"\n\"q\"\n\nC:\\n\n", ":text\n'b'\n'a,\"x\"'\n'\"q\"'\n\n'C:\\n'\n");
    expect_told(fixture, "a.txt", "1\nx\n", ":text\n'1'\n'x'\n", "a.txt`: it is text: `x` in line 2");
    expect_told(fixture, "a.txt", "2024-01-31\n-\n", ":date\n2024-01-31\n\n", "a.txt`: 1 missing");
}

static void stated_types(void **state)
{
    struct fixture *fixture = *state;
    static const struct stated_type columns[] = {
        {"id", TYPE_COUNT, {.kind = LOGICAL_TEXT}},     {"price", TYPE_COUNT, {.kind = LOGICAL_DECIMAL, .scale = 2}},
        {"n", TYPE_I8, {.kind = LOGICAL_NUMBER}},       {"x", TYPE_F32, {.kind = LOGICAL_NUMBER}},
        {"t", TYPE_COUNT, {.kind = LOGICAL_TIMESTAMP}}, {"took", TYPE_COUNT, {.kind = LOGICAL_DURATION}},
    };
    const struct text_options all = {.columns = columns, .count = sizeof columns / sizeof *columns};
    fixture->options = &all;
    expect_told(
        fixture, "a.csv",
        "id,price,n,x,t,took,more\n1,12.5,007,0.1,2024-01-31 09:30Z,2d 03:15:00,1\n"
        "02,-.07,-128,3,,-,2\n,NA,,-,NULL,,3\n",
        "id:text,price:decimal(2),n:i8,x:f32,t:timestampz,took:duration,more:i64\n"
        "'1',12.50,7,0.10000000149011612,2024-01-31T09:30:00Z,2d 03:15:00,1\n'02',-0.07,-128,3.0,,,2\n,,,,,,3\n",
        "1 missing in `id`, 1 in `price`, 1 in `n`, 1 in `x`, 2 in `t`, 2 in `took`");
    static const struct {
        const char *cells, *told;
    } bad[] = {
        {"x,12.345,1,1,,", "column `price`: 12.345 does not fit decimal(2)"},
        {"x,99999999999999999.99,1,1,,", "does not fit decimal(2)"},
        {"x,1e5,1,1,,", "`1e5` is not a decimal(2)"},
        {"x,1,128,1,,", "column `n`: 128 does not fit i8"},
        {"x,1,1.5,1,,", "column `n`: `1.5` is not an integer"},
        {"x,1,1,1e39,,", "column `x`: 1e39 does not fit f32"},
        {"x,1,1,y,,", "column `x`: `y` is not a number"},
        {"x,1,1,1,2024-02-30,", "column `t`: `2024-02-30` is not a timestamp"},
        {"x,1,1,1,,3h", "column `took`: `3h` is not a duration"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct strbuf text = {0};
        strbuf_printf(&text, "id,price,n,x,t,took\n,,,,,\n%s\n", bad[i].cells);
        assert_int_equal(read_text_as(fixture, "a.csv", text.text), STATUS_FAILED);
        assert_told(fixture->scratch, "line 3, ");
        assert_only_told(fixture->scratch, bad[i].told);
        strbuf_free(&text);
    }
    assert_int_equal(
        read_text_as(fixture, "a.csv", "id,price,n,x,t,took\n,,,,2024-01-01T00:00,\n,,,,2024-01-01T00:00Z,\n"),
        STATUS_FAILED);
    assert_only_told(fixture->scratch, "line 3, column `t`: `2024-01-01T00:00Z` is not a timestamp");
    assert_int_equal(read_text_as(fixture, "a.csv", "id,prices\n1,2\n"), STATUS_FAILED);
    assert_only_told(fixture->scratch, "has no column `price`; did you mean `prices`?");
    static const char *const missing[] = {"-99", "x"};
    const struct text_options words = {.missing = missing, .missing_count = 2};
    fixture->options = &words;
    expect_told(fixture, "a.csv", "a,b,c\n-99,x,-\n1,\"x\",x\n,y,\n", "a:i64,b:text,c:text\n,,'-'\n1,,\n,'y',\n",
                "2 missing in `a`, 2 in `b`, 2 in `c`");
    const struct text_options none = {.missing = missing};
    fixture->options = &none;
    expect_told(fixture, "a.csv", "a,b\n1,NA\n,2\n", "a:i64,b:text\n1,'NA'\n,'2'\n", "1 missing in `a`");
}

/* Only the wanted columns are parsed; others may hold anything, as long as each line has its cells. */
static void some_columns(void **state)
{
    struct fixture *fixture = *state;
    static const char csv[] = "time,sym,price,qty\n2024-01-01T00:00:00,\"a,b\",1.5,1\n2024-01-01T00:00:01,c,x,2\n"
                              "\"quoted, twice \"\" \",\xff,3,3\n";
    static const char jsonl[] =
        "{\"time\":1,\"sym\":\"x\",\"price\":2,\"qty\":1}\n"
        "{\"qty\":2,\"time\":[1],\"sym\":\"\xff\",\"price\":\"a\"}\n{\"sym\":\"a\",\"qty\":3}\n";
    static const char *const expected[] = {"qty:i64\n1\n2\n3\n", "price:text,qty:i64\n'1.5',1\n'x',2\n'3',3\n",
                                           "qty:i64\n1\n2\n3\n", "price:text,qty:i64\n'2',1\n'a',2\n,3\n"};
    const struct workers workers = {.threads = 2};
    for (int json = 0; json < 2; json++) {
        struct mapping *mapping = open_mapping(fixture, json ? "a.jsonl" : "a.csv", json ? jsonl : csv,
                                               json ? sizeof jsonl - 1 : sizeof csv - 1);
        const struct format_job job = {format_by_word(json ? "jsonl" : "csv"),
                                       &workers,
                                       fixture->scratch->span,
                                       &fixture->scratch->diags,
                                       NULL,
                                       false};
        struct file_reader *reader;
        assert_int_equal(job.format->open(&job, mapping, &reader), STATUS_OK);
        mapping_unref(mapping);
        assert_int_equal(reader->rows, 3);
        enum status status;
        for (int i = 0; i < 2; i++) {
            size_t qty = reader->count - 1, price = qty - 1;
            bool wanted[4] = {false};
            wanted[qty] = true;
            wanted[price] = i == 1;
            relation_unref(fixture->relation);
            fixture->relation = relation_of(reader, &job, wanted, &status);
            expect(fixture, expected[2 * json + i]);
        }
        fixture->scratch->diags.count = 0;
        assert_null(relation_of(reader, &job, NULL, &status));
        assert_int_equal(status, STATUS_FAILED);
        assert_only_told(fixture->scratch, json ? "line 2, column `sym`: text that is not UTF-8"
                                                : "line 4, column `sym`: text that is not UTF-8");
        reader->ops->close(reader);
    }
}

struct bad {
    const char *name, *text, *told;
};

static void whatever_is_wrong_is_told_with_its_line(void **state)
{
    struct fixture *fixture = *state;
    static const struct bad bad[] = {
        {"a.csv", "", "is empty"},
        {"a.csv", "\n\n", "is empty"},
        {"a.csv", "a,b\r1,2\r3,4\r", "has carriage returns instead of newlines"},
        {"a.csv", "a,b\n1,2\n3\n", "line 3 has 1 value, but the first line has 2"},
        {"a.csv", "a,b\n1,2\n3,4,5\n6,7\n", "line 3 has 3 values, but the first line has 2"},
        {"a.csv", "a,b\n1,2\n\n3,4\n", "line 3 is blank"},
        {"a.csv", "a,b\n1,2\n3,\"4\n5,6\n", "line 3: malformed quotes"},
        {"a.csv", "a,b\n1,2\n3,\"4\"5\n", "line 3: malformed quotes"},
        {"a.csv", "a,\"b\nc\"\n1,2\n3,\xe9\n", "line 4, column `b\nc`: text that is not UTF-8"},
        {"a.tsv", "a\tb\n1\n3\t4\n", "line 2"},
        {"a.jsonl", "", "is empty"},
        {"a.jsonl", "[1,2]\n", "line 1 is not a JSON object"},
        {"a.jsonl", "{}\n", "line 1 is not a JSON object"},
        {"a.jsonl", "{\"a\":1}\n{\"a\":2} x\n", "line 2 is not a JSON object"},
        {"a.jsonl", "{\"a\":1}\n{\"a\":2\n}\n", "line 2 is not a JSON object"},
        {"a.jsonl", "{\"a\":1}\n{\"a\":x}\n", "line 2 is not a JSON object"},
        {"a.jsonl", "{\"a\":1}\n{\"a\":\"x}\n", "line 2 is not a JSON object"},
        {"a.jsonl", "{\"a\":1}\n{\"a\":2,}\n", "line 2 is not a JSON object"},
        {"a.jsonl", "{\"a\":1}\n{\"a\":2,\"a\":3}\n", "line 2 has the key `a` twice"},
        {"a.jsonl", "{\"a\":1}\n\n{\"a\":2}\n", "line 2 is blank"},
        {"a.jsonl", "{\"a\":[1]}\n", "neither objects nor arrays"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (read_text_as(fixture, bad[i].name, bad[i].text) != STATUS_FAILED)
            fail_msg("was read: %s", bad[i].text);
        assert_only_told(fixture->scratch, bad[i].told);
    }
    const struct workers workers = {.threads = 1};
    assert_int_equal(read_with(fixture, "a.csv", "a\0b\n1", 5, &workers), STATUS_FAILED);
    assert_only_told(fixture->scratch, "is not UTF-8 text");
    assert_int_equal(read_with(fixture, "a.csv", "a\n1\n2\0\n", 7, &workers), STATUS_FAILED);
    assert_only_told(fixture->scratch, "line 3, column `a`: text with a NUL byte");
    struct strbuf wide = {0};
    for (int i = 0; i < 30001; i++)
        strbuf_puts(&wide, "a,");
    assert_int_equal(read_text_as(fixture, "a.csv", wide.text), STATUS_FAILED);
    assert_only_told(fixture->scratch, "has more than 30 000 columns");
    strbuf_free(&wide);
}

/* Row i: i, text with quotes, commas and newlines, then `third` or, if NULL, i / 4. */
static void add_row(struct strbuf *text, int64_t i, const char *third)
{
    static const char *const texts[] = {"plain", "\"a,b\"", "\"two\nlines\"", "\"\"", "\"\"\"\n\"\"\"", ""};
    strbuf_printf(text, "%lld,%s,", (long long)i, texts[i * 7919 % 6]);
    if (third)
        strbuf_puts(text, third);
    else if (i % 4 == 0)
        strbuf_printf(text, "%lld", (long long)(i / 4));
    else
        strbuf_printf(text, "%.2f", (double)i / 4);
    strbuf_putc(text, '\n');
}

/* Several chunks, whose boundaries may fall inside quotes. */
static void many_rows(void **state)
{
    enum { ROWS = 300000 };
    static const char *const texts[] = {"plain", "a,b", "two\nlines", "", "\"\n\"", NULL};
    struct fixture *fixture = *state;
    struct strbuf text = {0};
    strbuf_puts(&text, "id,text,quarter\n");
    for (int64_t i = 0; i < ROWS; i++)
        add_row(&text, i, NULL);
    assert_true(text.length > (size_t)3 << 20);
    for (int threads = 1; threads <= 3; threads++) {
        const struct workers workers = {.threads = threads};
        assert_int_equal(read_with(fixture, "a.csv", text.text, text.length, &workers), STATUS_OK);
        const struct relation *relation = fixture->relation;
        assert_int_equal(relation->count, 3);
        assert_int_equal(relation->rows, ROWS);
        for (int64_t i = 0; i < ROWS; i++) {
            const char *expected = texts[i * 7919 % 6];
            struct scalar found = column_get(relation->columns[1], i);
            if (column_get_int(relation->columns[0], i) != i ||
                column_get_float(relation->columns[2], i) != (double)i / 4 ||
                column_is_missing(relation->columns[1], i) != !expected ||
                (expected &&
                 (found.text.length != strlen(expected) || memcmp(found.text.at, expected, found.text.length) != 0)))
                fail_msg("row %lld", (long long)i);
        }
        assert_true(relation->columns[0]->range_known);
        assert_true(relation->columns[0]->lo == 0 && relation->columns[0]->hi == ROWS - 1);
        assert_int_equal(relation->columns[1]->type, TYPE_U8);
        for (int k = 0; k < 3; k++)
            check_column(relation->columns[k], ROWS);
    }
    strbuf_free(&text);
}

/* A column's last value decides its type, and more strings than fit 8 and 16 bits. */
static void late_values(void **state)
{
    enum { ROWS = 100000 };
    static const struct {
        const char *last;
        enum type type;
        enum logical logical;
    } cases[] = {{"1", TYPE_I64, LOGICAL_NUMBER},  {"1.5", TYPE_F64, LOGICAL_NUMBER}, {"NA", TYPE_I64, LOGICAL_NUMBER},
                 {"x", TYPE_U32, LOGICAL_TEXT},    {"01", TYPE_U32, LOGICAL_TEXT},    {"true", TYPE_U32, LOGICAL_TEXT},
                 {"1e400", TYPE_U32, LOGICAL_TEXT}};
    struct fixture *fixture = *state;
    const struct workers workers = {.threads = 3};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strbuf text = {0};
        strbuf_puts(&text, "a,b\n");
        for (int row = 0; row < ROWS; row++)
            strbuf_printf(&text, "%d,\n", row);
        strbuf_printf(&text, "%s,%s\n", cases[i].last, cases[i].last);
        assert_int_equal(read_with(fixture, "a.csv", text.text, text.length, &workers), STATUS_OK);
        const struct column *a = fixture->relation->columns[0];
        assert_int_equal(a->type, cases[i].type);
        assert_int_equal(a->logical.kind, cases[i].logical);
        for (int k = 0; k < 2; k++)
            check_column(fixture->relation->columns[k], ROWS + 1);
        assert_int_equal(fixture->relation->columns[1]->validity != NULL, true);
        for (int row = 0; row < ROWS && cases[i].logical == LOGICAL_TEXT; row++) {
            char number[16];
            int length = snprintf(number, sizeof number, "%d", row);
            struct scalar found = column_get(a, row);
            if (found.text.length != (size_t)length || memcmp(found.text.at, number, found.text.length) != 0)
                fail_msg("row %d", row);
        }
        strbuf_free(&text);
    }
}

/* The first of several errors is reported, whichever thread finds one first. */
static void the_first_line_that_is_wrong(void **state)
{
    enum { ROWS = 200000 };
    struct fixture *fixture = *state;
    struct strbuf text = {0};
    strbuf_puts(&text, "id,text,quarter\n");
    int64_t line = 1;
    for (int64_t i = 0; i < ROWS; i++) {
        if (i == 49999) {
            line = 1;
            for (size_t k = 0; k < text.length; k++)
                line += text.text[k] == '\n';
        }
        add_row(&text, i, i % 50000 == 49999 ? "1,2" : NULL);
    }
    const struct workers workers = {.threads = 3};
    assert_int_equal(read_with(fixture, "a.csv", text.text, text.length, &workers), STATUS_FAILED);
    char told[40];
    snprintf(told, sizeof told, "line %lld has 4 values", (long long)line);
    assert_only_told(fixture->scratch, told);
    strbuf_free(&text);
}

static void an_interrupt_stops_it(void **state)
{
    struct fixture *fixture = *state;
    const atomic_int cancel = 1;
    const struct workers workers = {.threads = 2, .cancel = &cancel};
    assert_int_equal(read_with(fixture, "a.csv", "a\n1\n", 4, &workers), STATUS_CANCELLED);
    assert_int_equal(fixture->scratch->diags.count, 0);
    assert_null(fixture->relation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_and_types, setup, teardown),
        cmocka_unit_test_setup_teardown(dates_and_times, setup, teardown),
        cmocka_unit_test_setup_teardown(the_first_line, setup, teardown),
        cmocka_unit_test_setup_teardown(separators, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_are_exact, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_text, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_missing, setup, teardown),
        cmocka_unit_test_setup_teardown(lines_of_json, setup, teardown),
        cmocka_unit_test_setup_teardown(lines_of_text, setup, teardown),
        cmocka_unit_test_setup_teardown(stated_types, setup, teardown),
        cmocka_unit_test_setup_teardown(some_columns, setup, teardown),
        cmocka_unit_test_setup_teardown(whatever_is_wrong_is_told_with_its_line, setup, teardown),
        cmocka_unit_test_setup_teardown(many_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(late_values, setup, teardown),
        cmocka_unit_test_setup_teardown(the_first_line_that_is_wrong, setup, teardown),
        cmocka_unit_test_setup_teardown(an_interrupt_stops_it, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
