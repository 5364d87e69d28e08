/* Text tables: .csv, .tsv, .txt and .jsonl files, what they hold, and errors for malformed files. */
#include "text_tables.h"

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
    expect_read(fixture, "a.csv", "ok,x\ntrue,1\nFalse,2\n", "ok:bool,x:i64\ntrue,1\nfalse,2\n");
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
                "t:timestamp in UTCz,b:i64\n2024-01-31T09:30:00Z,1\n2024-01-31T09:30:00Z,2\n", NULL);
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
    expect_read(fixture, "a.csv", "x,true\ny,false\n", "c1:text,c2:bool\n'x',true\n'y',false\n");
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
    expect_told(fixture, "a.tsv", "a,b\n1,2\n", "a,b:f64\n1.2\n", "name it .csv");
    expect_told(fixture, "a.csv", "a;b\n1,5;x\n-2,25;y\n", "a:f64,b:text\n1.5,'x'\n-2.25,'y'\n", "decimal comma");
    expect_told(fixture, "a.csv", "a,b\n1,2\n\n3,4\n", "a:i64,b:i64\n1,2\n3,4\n", "blank");
    expect_told(fixture, "a.jsonl", "{\"a\":1}\n\n{\"a\":2}\n", "a:i64\n1\n2\n", "blank");
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
                "i:i64,f:f64,b:bool,d:date\n1,0.5,true,2024-01-01\n,,,\n,,,\n,,,\n",
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
                "x\u00e9\U0001d11e\n:bool,c2:i64\ntrue,7\n", NULL);
    expect_told(fixture, "a.jsonl",
                "{\"t\":\"a\\\",}\",\"n\":[1,{\"a\":\"]\"}],\"b\":5}\n{\"t\":null,\"n\":{},\"b\":6}\n",
                "t:text,n:list of text,b:i64\n'a\",}',0,5\n,,6\n",
                "1 missing in `t`, 1 in `n`; `n[]` is text: `{\"a\":\"]\"}` in line 1");
    /* Keys in any order, absent ones, and keys that come late. */
    expect_told(fixture, "a.jsonl", "{\"a\":1}\n{\"b\":2,\"a\":3}\n{}\n{\"b\":4}\n", "a:i64,b:i64\n1,\n3,2\n,\n,4\n",
                "2 missing in `a`, 2 in `b`");
    /* Strings are text, but for dates and timestamps. */
    expect_told(fixture, "a.jsonl",
                "{\"s\":\"1\",\"d\":\"2024-01-31\",\"t\":\"2024-01-31T00:00:00Z\",\"e\":\"NA\"}\n"
                "{\"s\":\"\",\"d\":null,\"t\":null,\"e\":\"\\u0041\\\\\"}\n",
                "s:text,d:date,t:timestamp in UTCz,e:text\n'1',2024-01-31,2024-01-31T00:00:00Z,'NA'\n'',,,'A\\'\n",
                "1 missing in `d`, 1 in `t`");
    expect_told(fixture, "a.jsonl", "{\"a\":1}\n{\"a\":\"x\"}\n", "a:text\n'1'\n'x'\n", "`a` is text: `x` in line 2");
    expect_told(fixture, "a.jsonl", "{\"a\":1}\n{\"a\":NaN}\n", "a:f64\n1.0\nnan\n", NULL);
    struct strbuf late = {0};
    for (int i = 0; i < 3000; i++)
        strbuf_printf(&late, "{\"a\":%s%s}\n", i == 2500 ? "[7]" : "7", i == 2000 ? ",\"z\":1" : "");
    assert_int_equal(read_text_as(fixture, "a.jsonl", late.text), STATUS_OK);
    assert_int_equal(fixture->relation->count, 2);
    assert_told(fixture->scratch, "2,999 missing in `z`; `a` is text: `[7]` in line 2501");
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
        "id:text,price:decimal(2),n:i8,x:f32,t:timestamp in UTCz,took:duration,more:i64\n"
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
        const struct format_job job = {.format = format_by_word(json ? "jsonl" : "csv"),
                                       .workers = &workers,
                                       .span = fixture->scratch->span,
                                       .diags = &fixture->scratch->diags};
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
        {"a.csv", "a,b\n1,2\n3,\"4\n5,6\n", "line 3: malformed quotes"},
        {"a.csv", "a,b\n1,2\n3,\"4\"5\n", "line 3: malformed quotes"},
        {"a.csv", "a,\"b\nc\"\n1,2\n3,\xe9\n", "line 4, column `b\nc`: text that is not UTF-8"},
        {"a.tsv", "a\tb\n1\n3\t4\n", "line 2"},
        {"a.jsonl", "", "is empty"},
        {"a.jsonl", "[1,2]\n", "line 1: what begins here is not a JSON object"},
        {"a.jsonl", "{}\n", "its objects are empty"},
        {"a.jsonl", "{\"a\":1}\n{\"a\":2} x\n", "line 2 is not a JSON object"},
        {"a.jsonl", "{\"a\":1}\n{\"a\":2\n}\n", "line 2 is not a JSON object"},
        {"a.jsonl", "{\"a\":1}\n{\"a\":x}\n", "line 2: `x` is no value of JSON"},
        {"a.jsonl", "{\"a\":1}\n{\"a\":\"x}\n", "line 2 is not a JSON object"},
        {"a.jsonl", "{\"a\":1}\n{\"a\":2,}\n", "line 2 is not a JSON object"},
        {"a.jsonl", "{\"a\":1}\n{\"a\":2,\"a\":3}\n", "line 2 has the key `a` twice"},
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
