#include "sql/dialect.h"

#include <string.h>

#define LEAST "toInt64('-9223372036854775808')"
/* 18.16 has no integers of 128 bits; a decimal of 38 digits holds every product of two integers of 64. */
#define WIDE(x) "toDecimal128(" x ", 0)"
#define PRODUCT "(" WIDE("$a") " * " WIDE("$b") ")"
#define SHIFT   "if($b BETWEEN 0 AND 63, $b, toInt64(0))"

static const struct sql_operation clickhouse_operations[OP_COUNT] = {
    [OP_ADD] = {"($a + $b)", NULL, "(bitAnd(bitXor($a, $r), bitXor($b, $r)) < 0)"},
    [OP_SUB] = {"($a - $b)", NULL, "(bitAnd(bitXor($a, $b), bitXor($a, $r)) < 0)"},
    [OP_MUL] = {"($a * $b)", NULL,
                "(" PRODUCT " < " WIDE(LEAST) " OR " PRODUCT " > " WIDE("toInt64('9223372036854775807')") ")"},
    [OP_DIV] = {"intDiv($a, $b)", "if($b = -1, toInt64(0) - $a, intDiv($a, if($b = 0 OR $b = -1, toInt64(1), $b)))",
                "($b = 0 OR ($b = -1 AND $a = " LEAST "))"},
    [OP_MOD] = {"toInt64($a % $b)", "toInt64($a % if($b = 0 OR $b = -1, toInt64(1), $b))", "($b = 0)"},
    [OP_NEG] = {"(toInt64(0) - $a)", NULL, "($a = " LEAST ")"},
    [OP_ABS] = {"if($a < 0, toInt64(0) - $a, $a)", NULL, "($a = " LEAST ")"},
    [OP_SIGN] = {"if($a < 0, toInt64(-1), toInt64($a > 0))", NULL, NULL},
    [OP_BITAND] = {"bitAnd($a, $b)", NULL, NULL},
    [OP_BITOR] = {"bitOr($a, $b)", NULL, NULL},
    [OP_XOR] = {"bitXor($a, $b)", NULL, NULL},
    [OP_BITNOT] = {"bitNot($a)", NULL, NULL},
    [OP_SHL] = {"bitShiftLeft($a, $b)", "bitShiftLeft($a, " SHIFT ")",
                "(NOT ($b BETWEEN 0 AND 63) OR bitShiftRight($r, " SHIFT ") != $a)"},
    [OP_SHR] = {"bitShiftRight($a, $b)", "bitShiftRight($a, " SHIFT ")", "(NOT ($b BETWEEN 0 AND 63))"},
    [OP_EQ] = {"($a = $b)", NULL, NULL},
    [OP_NE] = {"($a != $b)", NULL, NULL},
    [OP_LT] = {"($a < $b)", NULL, NULL},
    [OP_LE] = {"($a <= $b)", NULL, NULL},
    [OP_AND] = {"($a AND $b)", NULL, NULL},
    [OP_OR] = {"($a OR $b)", NULL, NULL},
    [OP_NOT] = {"(NOT $a)", NULL, NULL},
    [OP_SELECT] = {"if($a, $b, $c)", NULL, NULL},
    [OP_MIN] = {"least($a, $b)", NULL, NULL},
    [OP_MAX] = {"greatest($a, $b)", NULL, NULL},
    [OP_BOOL_TO_INT] = {"toInt64($a)", NULL, NULL},
};

const struct sql_dialect sql_clickhouse = {.name = "clickhouse",
                                           .name_quote = '`',
                                           .escapes = true,
                                           .operations = clickhouse_operations,
                                           .integer = "toInt64($a)",
                                           .least_integer = LEAST};

static void add_quoted(struct strbuf *sql, const struct sql_dialect *dialect, char quote, struct text text)
{
    strbuf_putc(sql, quote);
    for (size_t i = 0; i < text.length; i++) {
        const char c = text.at[i];
        if (c == '\0' && dialect->escapes) {
            strbuf_puts(sql, "\\0");
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

void sql_add_string(struct strbuf *sql, const struct sql_dialect *dialect, struct text text)
{
    add_quoted(sql, dialect, '\'', text);
}

void sql_add_name(struct strbuf *sql, const struct sql_dialect *dialect, const char *name)
{
    add_quoted(sql, dialect, dialect->name_quote, (struct text){name, strlen(name)});
}
