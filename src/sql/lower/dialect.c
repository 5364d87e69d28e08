#include "sql/lower/dialect.h"

#include "base/text.h"
#include "engine/values/scalar.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* In the order of enum bits of dialect_operations.c. */
const struct sql_dialect sql_dialects[SQL_DIALECTS] = {
    {.name = "clickhouse",
     .bit = 1,
     .name_quote = '`',
     .escapes = true,
     .control = "\\x",
     .truths = {"0", "1"},
     .integer = "toInt64($a)",
     .least_integer = "toInt64('-9223372036854775808')",
     .bare_bits = 31,
     .number = "$a",
     .special = "$a",
     .tiny = "reinterpretAsFloat64(reinterpretAsString(toInt64($a)))",
     .count = "if($b BETWEEN 0 AND 63, $b, toInt64(0))",
     .as_integer = "toInt64($a)",
     .as_float = "toFloat64($a)",
     .days = "toInt64($a)",
     .seconds = "(toInt64($a) * 1000000)",
     .beyond = "($a > 9223372036854775807)",
     .micros = "toUnixTimestamp64Micro($a)",
     .finer = "(intDiv(reinterpretAsInt64($a), $b) - (modulo(reinterpretAsInt64($a), $b) < 0))",
     .unpadded = "replaceRegexpOne(toString($a), '\\\\x00+\\\\z', '')",
     .value_or = "ifNull($a, $b)",
     .present = "isNotNull($a)",
     .decimal = "toDecimal128($a, $b)",
     .unscaled = "toInt64($a * toDecimal128('$b', 0))",
     .is_nan = "isNaN($a)",
     .rows = "toInt64(count())",
     .all = "GLOBAL ALL ",
     .in = "GLOBAL IN",
     .any = "(max(toUInt8($a)) = 1)",
     .sorted = "arraySort(groupArrayIf($a, $b))",
     .length = "toInt64(length($a))",
     .element = "arrayElement($a, toUInt64($b) + 1)",
     .string = "arrayElement([$a], toUInt64($b) + 1)",
     .half = "(bitShiftRight($a, 1) + bitShiftRight($b, 1) + bitAnd(bitAnd($a, $b), 1))",
     .odd = "bitAnd(bitXor($a, $b), 1)",
     .bit_or = "bitOr($a, $b)",
     .distance = "toFloat64(toUInt64($b - $a))",
     .distinct_about = "toInt64(uniqCombinedIf($a, $b))",
     .distinct = "toInt64(uniqExactIf($a, $b))"},
    {.name = "duckdb",
     .bit = 2,
     .name_quote = '"',
     .truths = {"FALSE", "TRUE"},
     .integer = "CAST($a AS BIGINT)",
     .least_integer = "CAST('-9223372036854775808' AS BIGINT)",
     .bare_bits = 63,
     .number = "CAST('$a' AS DOUBLE)",
     .special = "CAST('$a' AS DOUBLE)",
     .count = "CASE WHEN $b BETWEEN 0 AND 63 THEN $b ELSE 0 END",
     .as_integer = "CAST($a AS BIGINT)",
     .as_float = "CAST($a AS DOUBLE)",
     .as_text = "CAST($a AS VARCHAR)",
     .days = "CAST($a - DATE '1970-01-01' AS BIGINT)",
     .seconds = "epoch_us($a)",
     .value_or = "coalesce($a, $b)",
     .present = "($a IS NOT NULL)",
     .rows = "count(*)",
     .all = "",
     .in = "IN",
     .any = "bool_or($a)",
     .sum = "coalesce(TRY_CAST(sum($a) AS BIGINT), 0)",
     .sum_fails = "(TRY_CAST(sum($a) AS BIGINT) IS NULL)",
     .whole_sum = "coalesce(sum($a), 0)",
     .sorted = "list($a ORDER BY $a) FILTER (WHERE $b)",
     .length = "coalesce(len($a), 0)",
     .element = "coalesce(list_extract($a, $b + 1), 0)",
     .half = "(($a >> 1) + ($b >> 1) + (($a & $b) & 1))",
     .odd = "(xor($a, $b) & 1)",
     .bit_or = "($a | $b)",
     .distance = "CAST(CAST($b AS HUGEINT) - $a AS DOUBLE)",
     .distinct = "count(DISTINCT CASE WHEN $b THEN $a END)",
     .micros = "epoch_us($a)",
     .decimal = "CAST($a AS DECIMAL(38, $b))",
     .unscaled = "CAST($a * $b AS BIGINT)",
     .file = "read_parquet($a, file_row_number = true, binary_as_string = true, hive_partitioning = false)",
     .file_row = "file_row_number",
     .skip = " OFFSET $a"},
};

const struct sql_dialect *const sql_clickhouse = &sql_dialects[0];

const struct sql_dialect *sql_dialect_find(const char *name)
{
    return ROW_NAMED(sql_dialects, SQL_DIALECTS, name);
}

const char *sql_dialect_name(size_t k)
{
    return k < SQL_DIALECTS ? sql_dialects[k].name : NULL;
}

static void add_quoted(struct strbuf *sql, const struct sql_dialect *dialect, char quote, struct text text)
{
    strbuf_putc(sql, quote);
    for (size_t i = 0; i < text.length; i++) {
        const char c = text.at[i];
        if (dialect->control && (unsigned char)c < ' ') {
            strbuf_printf(sql, "%s%02x", dialect->control, (unsigned)c);
            continue;
        }
        if (dialect->escapes && (c == quote || c == '\\'))
            strbuf_putc(sql, '\\');
        else if (c == quote)
            strbuf_putc(sql, c);
        strbuf_putc(sql, c);
    }
    strbuf_putc(sql, quote);
}

bool sql_add_string(struct strbuf *sql, const struct sql_dialect *dialect, struct text text)
{
    if (!dialect->escapes && text.length > 0 && memchr(text.at, '\0', text.length))
        return false;
    add_quoted(sql, dialect, '\'', text);
    return true;
}

void sql_add_name(struct strbuf *sql, const struct sql_dialect *dialect, const char *name)
{
    add_quoted(sql, dialect, dialect->name_quote, (struct text){name, strlen(name)});
}

const char *sql_phrase(const char *form, const char *a, const char *b, struct arena *arena)
{
    struct strbuf text = {0};
    if (!form)
        return NULL;
    for (; *form; form++) {
        if (*form == '$')
            strbuf_puts(&text, *++form == 'a' ? a : b);
        else
            strbuf_putc(&text, *form);
    }
    return strbuf_take(&text, arena);
}

static void add_form(struct strbuf *sql, const char *form, const char *argument)
{
    for (; *form; form++) {
        if (*form == '$')
            strbuf_puts(sql, argument);
        else
            strbuf_putc(sql, *form);
        form += *form == '$';
    }
}

void sql_add_number(struct strbuf *sql, const struct sql_dialect *dialect, double number)
{
    const double magnitude = fabs(number);
    const bool negative = signbit(number) && !isnan(number);
    struct strbuf text = {0};
    strbuf_puts(sql, negative ? "(-" : "");
    if (dialect->tiny && magnitude > 0 && magnitude < DBL_MIN) {
        int64_t bits;
        memcpy(&bits, &magnitude, sizeof bits);
        print_int(&text, bits);
        add_form(sql, dialect->tiny, text.text);
    } else {
        print_float(&text, magnitude);
        add_form(sql, isfinite(number) ? dialect->number : dialect->special, text.text);
    }
    strbuf_free(&text);
    strbuf_puts(sql, negative ? ")" : "");
}
