#include "sql/lower/select.h"

#include <string.h>

bool select_is_limited(const struct select *select)
{
    return select->skip > 0 || select->take < INT64_MAX;
}

const char *sql_either(const char *a, const char *b, struct arena *arena)
{
    return a && b ? arena_printf(arena, "(%s OR %s)", a, b) : a ? a : b;
}

const char *sql_float_key(const struct sql_dialect *dialect, const char *x, struct arena *arena)
{
    return arena_printf(arena, "if(%s, nan, %s + toFloat64(0))", sql_phrase(dialect->is_nan, x, NULL, arena), x);
}

const char *sql_join_key(const struct sql_dialect *dialect, const char *text, bool is_text, enum kind kind,
                         struct arena *arena)
{
    const bool server = dialect == sql_clickhouse;
    if (is_text || kind == KIND_INT)
        return text;
    if (kind == KIND_BOOL)
        return server ? arena_printf(arena, "toUInt8(%s)", text) : text;
    struct strbuf zero = {0};
    sql_add_number(&zero, dialect, 0);
    text = arena_printf(arena, "(%s + %s)", text, zero.text);
    strbuf_free(&zero);
    if (!server)
        return text;
    return arena_printf(
        arena, "if(isNaN(%s), toInt64(9221120237041090560), reinterpretAsInt64(reinterpretAsString(%s)))", text, text);
}

static void add_order(struct strbuf *out, const struct select *select)
{
    const char *before = " ORDER BY ";
    /* What fails must not be cut off. */
    if (select->fails && select_is_limited(select)) {
        strbuf_printf(out, "%s%s DESC", before, select->fails);
        before = ", ";
    }
    for (size_t i = 0; i < select->order_count; i++) {
        const struct select_order *key = &select->order[i];
        strbuf_printf(out, "%s%s%s%s", before, key->text, key->descending ? " DESC" : "",
                      key->reversed ? " NULLS FIRST" : "");
        before = ", ";
    }
}

/* Marks around what is not shown. */
enum { MARK_BEGIN = 1, MARK_END };

static void add_checks(struct strbuf *out, const struct select *select)
{
    const struct select_checks *checks = select->checks;
    if (!checks || checks->count == 0)
        return;
    strbuf_putc(out, MARK_BEGIN);
    strbuf_puts(out, select->where ? " AND NOT throwIf(" : " WHERE NOT throwIf(");
    for (size_t i = 0; i < checks->count; i++)
        strbuf_printf(out, "%s%s", i > 0 ? " OR " : "", checks->conditions[i]);
    strbuf_putc(out, ')');
    strbuf_putc(out, MARK_END);
}

void select_add_check(struct select_checks *checks, const struct sql_dialect *dialect, const char *raw,
                      const struct wire_type *wire, struct arena *arena)
{
    struct strbuf condition = {0};
    strbuf_printf(&condition, "toTypeName(%s) != ", raw);
    sql_add_string(&condition, dialect, (struct text){wire->name, strlen(wire->name)});
    const char *text = strbuf_take(&condition, arena);
    if (!ROW_NAMED(checks->conditions, checks->count, text))
        *ARENA_PUSH(arena, checks->conditions, checks->count, checks->capacity) = text;
}

/* The text with or without what is between marks. */
static const char *without_marks(const char *text, bool whole, struct arena *arena)
{
    char *out = arena_alloc(arena, strlen(text) + 1), *at = out;
    bool within = false;
    for (; *text; text++) {
        if (*text == MARK_BEGIN || *text == MARK_END)
            within = *text == MARK_BEGIN;
        else if (whole || !within)
            *at++ = *text;
    }
    *at = '\0';
    return out;
}

const char *select_shown(const char *text, struct arena *arena)
{
    return without_marks(text, false, arena);
}

const char *select_run(const char *text, struct arena *arena)
{
    return without_marks(text, true, arena);
}

bool select_is_retyped(const char *message)
{
    return strstr(message, "Value passed to 'throwIf'");
}

const char *select_text(const struct select *select, const struct select_item *items, size_t count, bool in_order,
                        struct arena *arena)
{
    struct strbuf out = {0};
    for (size_t i = 0; i < count; i++)
        strbuf_printf(&out, "%s%s AS %s", i > 0 ? ", " : "SELECT ", items[i].text, items[i].name);
    strbuf_printf(&out, " FROM %s", select->from);
    if (select->where)
        strbuf_printf(&out, " WHERE %s", select->where);
    add_checks(&out, select);
    if (select->group)
        strbuf_printf(&out, " GROUP BY %s", select->group);
    if (in_order || select_is_limited(select))
        add_order(&out, select);
    if (select->skip > 0 && !select->dialect->skip)
        strbuf_printf(&out, " LIMIT %lld, %lld", (long long)select->skip, (long long)select->take);
    else if (select->take < INT64_MAX)
        strbuf_printf(&out, " LIMIT %lld", (long long)select->take);
    if (select->skip > 0 && select->dialect->skip)
        strbuf_puts(
            &out, sql_phrase(select->dialect->skip, arena_printf(arena, "%lld", (long long)select->skip), NULL, arena));
    return strbuf_take(&out, arena);
}

void select_reverse(struct select *select, struct arena *arena)
{
    struct select_order *order = arena_array(arena, select->order_count + 1, sizeof *order);
    for (size_t i = 0; i < select->order_count; i++) {
        order[i] = select->order[i];
        order[i].descending = !order[i].descending;
        order[i].reversed = !order[i].reversed;
    }
    select->order = order;
}

static void wrap(struct select *select, bool in_order, struct arena *arena)
{
    const size_t most = select->count + select->order_count + 1;
    struct select_item *items = arena_array(arena, most, sizeof *items);
    struct select_column *columns = arena_array(arena, select->count + 1, sizeof *columns);
    struct select_order *order = arena_array(arena, select->order_count + 1, sizeof *order);
    size_t count = 0;
    for (size_t k = 0; k < select->count; k++) {
        const struct select_column *column = &select->columns[k];
        const char *name = arena_printf(arena, "rql_%d_%zu", select->depth, count);
        const char *text = column->raw ? column->raw : column->moment ? column->moment_of : column->leaf.text;
        if (!text)
            continue;
        items[count++] = (struct select_item){text, name};
        columns[k] = *column;
        columns[k].leaf.text = column->moment ? NULL : name;
        columns[k].leaf.truth = column->leaf.truth ? arena_printf(arena, "(%s = 1)", name) : NULL;
        columns[k].moment_of = column->moment ? name : NULL;
        columns[k].fails = NULL; /* it was computed with */
        if (column->raw)
            columns[k] = select_column_of(select->dialect, name, column->wire, arena);
        columns[k].leaf.column = column->leaf.column ? name : NULL;
    }
    for (size_t i = 0; i < select->order_count; i++) {
        const char *name = arena_printf(arena, "rql_%d_%zu", select->depth, count);
        items[count++] = (struct select_item){select->order[i].text, name};
        order[i] = select->order[i];
        order[i].text = name;
    }
    const char *fails = select->fails ? arena_printf(arena, "rql_%d_%zu", select->depth, count) : NULL;
    if (fails)
        items[count++] = (struct select_item){select->fails, fails};
    if (count == 0)
        items[count++] = (struct select_item){"1", arena_printf(arena, "rql_%d_0", select->depth)};
    const char *text = select_text(select, items, count, in_order, arena);
    *select = (struct select){.dialect = select->dialect,
                              .from = arena_printf(arena, "(%s)", text),
                              .fails = fails,
                              .columns = columns,
                              .count = select->count,
                              .order = order,
                              .order_count = select->order_count,
                              .ordered = select->ordered,
                              .take = INT64_MAX,
                              .rows = select->rows,
                              .depth = select->depth + 1};
}

void select_wrap(struct select *select, struct arena *arena)
{
    wrap(select, false, arena);
}

void select_wrap_numbered(struct select *select, const char **number, struct arena *arena)
{
    *number = arena_printf(arena, "rql_%d_row", select->depth);
    wrap(select, true, arena);
    select->from =
        arena_printf(arena, "(SELECT *, toInt64(rowNumberInAllBlocks()) AS %s FROM %s)", *number, select->from);
    select->depth++;
}

void select_wrap_keys(struct select *select, const size_t *keys, size_t count, struct arena *arena)
{
    bool found = false;
    for (size_t i = 0; i < count && !found; i++) {
        const char *text = keys[i] == SIZE_MAX ? NULL : select->columns[keys[i]].leaf.text;
        found = text &&
                ((!strchr(text, select->dialect->name_quote) && !strstr(text, "rql_")) || strstr(text, "IN (SELECT"));
    }
    if (found)
        select_wrap(select, arena);
}

const char *select_fails_of_group(const struct select *select, struct arena *arena)
{
    return select->fails ? sql_phrase(select->dialect->any, select->fails, NULL, arena) : NULL;
}

/* A decimal of at most 18 digits as here: without its point. NULL: the dialect does not say it. */
static const char *decimal_of(const struct sql_dialect *dialect, const char *raw, const struct wire_type *wire,
                              struct arena *arena)
{
    if (!dialect->decimal || wire->width > sizeof(int64_t))
        return NULL;
    const char *power = wire->scale > 0 ? arena_printf(arena, "1%0*d", wire->scale, 0) : "1";
    const char *wide = sql_phrase(dialect->decimal, raw, arena_printf(arena, "%d", wire->scale), arena);
    return sql_phrase(dialect->unscaled, wide, power, arena);
}

const char *sql_converted(const struct sql_dialect *dialect, const char *raw, const struct wire_type *wire,
                          struct arena *arena)
{
    if (dialect == sql_clickhouse)
        return wire_type_sent(wire, raw, arena);
    return wire->cast && wire->form == WIRE_TEXT ? sql_phrase(dialect->as_text, raw, NULL, arena) : raw;
}

/* A time stamp in microseconds. */
static const char *micros_of(const struct sql_dialect *dialect, const char *raw, int scale, struct arena *arena)
{
    enum { MICRO_SCALE = 6 };
    if (scale <= MICRO_SCALE)
        return sql_phrase(dialect->micros, raw, NULL, arena);
    return sql_phrase(dialect->finer, raw, arena_printf(arena, "1%0*d", scale - MICRO_SCALE, 0), arena);
}

/* What the server has as a number, or as something that it converts to its number. */
static const char *number_of(const struct sql_dialect *dialect, const char *raw, const struct wire_type *wire,
                             struct arena *arena)
{
    const bool is_float = type_table[wire->type].kind == KIND_FLOAT;
    switch (wire->form) {
    case WIRE_AS_IS:
        if (wire->type == TYPE_BOOL)
            return raw;
        if (wire->logical.kind == LOGICAL_DATE)
            return sql_phrase(dialect->days, raw, NULL, arena);
        return sql_phrase(is_float ? dialect->as_float : dialect->as_integer, raw, NULL, arena);
    case WIRE_DAYS:
        return sql_phrase(dialect->days, raw, NULL, arena);
    case WIRE_SECONDS:
        return sql_phrase(dialect->seconds, raw, NULL, arena);
    case WIRE_UNSIGNED:
        return dialect->beyond ? sql_phrase(dialect->as_integer, raw, NULL, arena) : NULL;
    case WIRE_TICKS:
        return micros_of(dialect, raw, wire->scale, arena);
    case WIRE_DECIMAL:
        return decimal_of(dialect, raw, wire, arena);
    default:
        return NULL;
    }
}

struct select_column select_column_of(const struct sql_dialect *dialect, const char *raw, const struct wire_type *wire,
                                      struct arena *arena)
{
    struct select_column column = {.raw = raw, .wire = wire};
    const bool plain = wire->form == WIRE_AS_IS && wire->logical.kind == LOGICAL_NUMBER;
    const bool truth = wire->type == TYPE_BOOL;
    if (wire->form == WIRE_TEXT || wire->form == WIRE_FIXED_TEXT) {
        column.leaf.is_text = true;
        column.leaf.text = wire->form == WIRE_FIXED_TEXT ? sql_phrase(dialect->unpadded, raw, NULL, arena)
                                                         : sql_converted(dialect, raw, wire, arena);
        if (wire->nullable && column.leaf.text)
            column.leaf.text = sql_phrase(dialect->value_or, column.leaf.text, "''", arena);
        return column;
    }
    column.leaf.text = number_of(dialect, raw, wire, arena);
    if (wire->nullable && column.leaf.text)
        column.leaf.text = sql_phrase(dialect->value_or, column.leaf.text, truth ? dialect->truths[0] : "0", arena);
    else if (plain && type_table[wire->type].kind == KIND_INT && !wire->cast)
        column.leaf.column = raw;
    if (wire->form == WIRE_UNSIGNED && column.leaf.text) {
        column.fails = sql_phrase(dialect->beyond, raw, NULL, arena);
        if (wire->nullable)
            column.fails = sql_phrase(dialect->value_or, column.fails, dialect->truths[0], arena);
    }
    return column;
}

struct select_column select_present(const struct sql_dialect *dialect, const char *raw, struct arena *arena)
{
    return (struct select_column){.leaf = {.text = sql_phrase(dialect->present, raw, NULL, arena)}};
}
