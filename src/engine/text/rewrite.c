#include "engine/text/rewrite.h"

#include "base/arena.h"
#include "engine/storage/growing_buffer.h"

#include <string.h>

enum { HEAD_LINES = 5, HEAD_BYTES = 1 << 16, LEAST_RULE = 3 };

static const char box[] = "\xe2\x94", box_end[] = "\xe2\x95"; /* U+2500 to U+257F begin with either */

static const char *line_end_of(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    return newline ? newline : end;
}

static bool is_box(const char *at, const char *end)
{
    return end - at >= 3 && (memcmp(at, box, 2) == 0 || memcmp(at, box_end, 2) == 0);
}

/* The bytes of a line between cells that begins at `at`: a bar, or a vertical one of Unicode. 0: none does. */
static size_t bar_at(const char *at, const char *end)
{
    static const char *const bars[] = {"|", "\xe2\x94\x82", "\xe2\x94\x83", "\xe2\x94\x86", "\xe2\x95\x91"};
    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++) {
        const size_t length = strlen(bars[i]);
        if ((size_t)(end - at) >= length && memcmp(at, bars[i], length) == 0)
            return length;
    }
    return 0;
}

static bool is_dash(const char *at, size_t bytes)
{
    static const char *const dashes[] = {"\xe2\x94\x80", "\xe2\x94\x81", "\xe2\x95\x90"};
    bool found = bytes == 1 && (*at == '-' || *at == '=');
    for (size_t i = 0; i < sizeof dashes / sizeof *dashes && bytes == 3; i++)
        found = found || memcmp(at, dashes[i], 3) == 0;
    return found;
}

/* How many junctions a rule has, which is all of ASCII or of Unicode; 0: the line is none. */
static size_t junctions_of(const char *at, const char *end)
{
    size_t dashes = 0, junctions = 0, ascii = 0, boxes = 0;
    while (at < end && *at != '\r') {
        const size_t bytes = is_box(at, end) ? 3 : 1;
        if (bytes == 1 && !strchr("+-=|: ", *at))
            return 0;
        boxes += bytes == 3;
        ascii += bytes == 1 && *at != ' ';
        if (is_dash(at, bytes))
            dashes++;
        else if (bytes == 3 || *at == '+' || *at == '|')
            junctions++;
        at += bytes;
    }
    return dashes >= LEAST_RULE && (ascii == 0 || boxes == 0) ? junctions : 0;
}

static size_t bars_of(const char *at, const char *end)
{
    size_t bars = 0;
    while (at < end) {
        const size_t bytes = bar_at(at, end);
        bars += bytes > 0;
        at += bytes > 0 ? bytes : 1;
    }
    return bars;
}

/* The line of names of a drawn table, above or below the first rule that has as many junctions as it has bars; NULL: it
 * is no such table. */
static const char *find_names(const char *text, size_t length)
{
    const char *at = text, *end = text + (length < HEAD_BYTES ? length : HEAD_BYTES), *last = NULL;
    size_t last_bars = 0, last_junctions = 0;
    for (int line = 0; at < end && line < HEAD_LINES; line++) {
        const char *next = line_end_of(at, end);
        const size_t bars = bars_of(at, next), junctions = junctions_of(at, next);
        if (junctions > 0 && junctions == last_bars && last_junctions == 0)
            return last;
        if (junctions == 0 && bars > 0 && bars == last_junctions)
            return at;
        last = at;
        last_bars = bars;
        last_junctions = junctions;
        at = next + (next < end ? 1 : 0);
    }
    return NULL;
}

bool text_is_drawn(const char *text, size_t length)
{
    return find_names(text, length);
}

/* What a text becomes. */
struct rewriting {
    struct growing_buffer out;
    bool failed; /* no memory */
};

static void put(struct rewriting *to, const char *text, size_t length)
{
    to->failed = to->failed || !growing_buffer_reserve(&to->out, length);
    if (to->failed || length == 0)
        return;
    memcpy(to->out.data + to->out.used, text, length);
    to->out.used += length;
}

/* A value of a drawn table, of as many lines as have been read. */
struct drawn_value {
    struct growing_buffer text;
    bool goes_on; /* in the next line */
};

struct drawn {
    bool edges;        /* a bar begins each line, and ends it */
    bool marks;        /* where a value goes on a mark follows it in place of a blank, as psql draws it */
    size_t last_width; /* characters of the last column with its blanks */
    struct arena *arena;
    struct drawn_value *row;
    size_t count, capacity; /* of its values */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\r';
}

/* The bytes of the mark at the end of a cell that goes on in the next line; *breaks: the line's end is of the value. */
static size_t mark_of(const struct drawn *table, const char *at, const char *bar, bool last, bool *breaks)
{
    static const struct {
        const char *text;
        bool breaks;
    } marks[] = {{"+", true}, {".", false}, {"\xe2\x86\xb5", true}, {"\xe2\x80\xa6", false}};
    size_t width = 0;
    for (const char *c = at; c < bar && last; c++)
        width += ((unsigned char)*c & 0xc0) != 0x80;
    for (size_t i = 0; i < sizeof marks / sizeof *marks && table->marks && (!last || width == table->last_width); i++) {
        const size_t length = strlen(marks[i].text);
        *breaks = marks[i].breaks;
        if ((size_t)(bar - at) > length && memcmp(bar - length, marks[i].text, length) == 0)
            return length;
    }
    return 0;
}

/* Adds a cell to its value; whether that goes on. */
static bool add_cell(struct rewriting *to, struct drawn *table, size_t k, const char *at, const char *bar, bool last)
{
    bool breaks = false;
    while (last && bar > at && bar[-1] == '\r')
        bar--;
    const size_t mark = mark_of(table, at, bar, last, &breaks);
    struct drawn_value *value = &table->row[k];
    const char *end = bar - mark;
    if (mark > 0 || value->text.used > 0)
        at += at < end; /* blanks within a value are kept */
    while (mark == 0 && value->text.used == 0 && at < end && is_blank(*at))
        at++;
    while ((mark == 0 || breaks) && end > at && is_blank(end[-1]))
        end--;
    const size_t length = value->goes_on || value->text.used == 0 ? (size_t)(end - at) : 0;
    to->failed = to->failed || !growing_buffer_reserve(&value->text, length + 1);
    if (to->failed)
        return false;
    memcpy(value->text.data + value->text.used, at, length);
    value->text.used += length;
    if (breaks && mark > 0)
        value->text.data[value->text.used++] = '\n';
    value->goes_on = mark > 0;
    return mark > 0;
}

/* Makes room for the values of a line. */
static void make_room(struct drawn *table, size_t count)
{
    if (count <= table->capacity)
        return;
    const size_t capacity = count < 2 * table->capacity ? 2 * table->capacity : count;
    table->row = arena_grow(table->arena, table->row, table->capacity, capacity, sizeof *table->row);
    table->capacity = capacity;
}

/* Adds a line of cells between bars; whether one of them goes on in the next line. */
static bool add_cells(struct rewriting *to, struct drawn *table, const char *at, const char *end)
{
    bool goes_on = false;
    make_room(table, bars_of(at, end) + 1);
    while (end > at && is_blank(end[-1]) && table->edges)
        end--;
    while (table->edges && at < end && *at == ' ')
        at++;
    at += table->edges ? bar_at(at, end) : 0;
    for (size_t k = 0; !to->failed; k++) {
        const char *bar = at;
        while (bar < end && bar_at(bar, end) == 0)
            bar++;
        if (bar == end && table->edges)
            break;
        goes_on = add_cell(to, table, k, at, bar, bar == end) || goes_on;
        table->count = k >= table->count ? k + 1 : table->count;
        if (bar == end)
            break;
        at = bar + bar_at(bar, end);
    }
    return goes_on;
}

/* Writes the row, its values in quotes if they need them. */
static void put_row(struct rewriting *to, struct drawn *table)
{
    for (size_t k = 0; k < table->count; k++) {
        struct growing_buffer *text = &table->row[k].text;
        const char *at = text->data;
        const bool quoted = text->used > 0 && (memchr(at, ',', text->used) || memchr(at, '"', text->used) ||
                                               memchr(at, '\n', text->used));
        put(to, ",", k > 0);
        put(to, "\"", quoted);
        for (size_t i = 0; i < text->used && quoted; i++)
            put(to, at[i] == '"' ? "\"\"" : &at[i], at[i] == '"' ? 2 : 1);
        if (!quoted)
            put(to, at, text->used);
        put(to, "\"", quoted);
        text->used = 0;
        table->row[k].goes_on = false;
    }
    put(to, "\n", 1);
    table->count = 0;
}

/* Looks at the rule below the names. */
static void read_rule(struct drawn *table, const char *at, const char *end)
{
    table->marks = is_box(at, end) || memchr(at, '+', (size_t)(end - at));
    while (at < end && *at != '\r') {
        const size_t bytes = is_box(at, end) ? 3 : 1;
        table->last_width = is_dash(at, bytes) ? table->last_width + 1 : 0;
        at += bytes;
    }
}

/* Whether all of a line's cells are points, which stand for rows that are not shown. */
static bool is_row_of_points(const char *at, const char *end)
{
    static const char *const points[] = {"\xc2\xb7", "\xe2\x80\xa6"};
    bool found = false;
    while (at < end) {
        size_t bytes = *at == ' ' || *at == '\r' ? 1 : bar_at(at, end);
        for (size_t i = 0; i < sizeof points / sizeof *points && bytes == 0; i++) {
            const size_t length = strlen(points[i]);
            if ((size_t)(end - at) >= length && memcmp(at, points[i], length) == 0)
                bytes = length;
            found = found || bytes > 0;
        }
        if (bytes == 0)
            return false;
        at += bytes;
    }
    return found;
}

static enum status take(const struct format_job *job, struct rewriting *made, struct mapping **mapping)
{
    if (made->failed) {
        growing_buffer_free(&made->out);
        return file_memory_error(mapping_path(*mapping), job->span, job->diags);
    }
    struct mapping *content = mapping_from_buffer(mapping_path(*mapping), mapping_stamp(*mapping), &made->out);
    mapping_unref(*mapping);
    *mapping = content;
    return STATUS_OK;
}

static void free_drawn(struct drawn *table)
{
    for (size_t k = 0; k < table->capacity; k++)
        growing_buffer_free(&table->row[k].text);
}

/* What stands between the names and the next rule, such as types, is left out, and lines with fewer bars, such as
 * `(2 rows)`. */
enum status rewrite_drawn(const struct format_job *job, struct mapping **mapping, bool *gaps)
{
    struct rewriting made = {.out.pool = job->workers->pool};
    const char *at = mapping_data(*mapping), *end = at + mapping_length(*mapping);
    const char *names = find_names(at, mapping_length(*mapping));
    const char *first = names + strspn(names, " ");
    struct drawn table = {.edges = bar_at(first, end) > 0, .arena = job->diags->arena};
    const size_t bars = bars_of(names, line_end_of(names, end));
    bool values = false, goes_on = false;
    *gaps = false;
    for (const char *next; at < end && !made.failed; at = next + (next < end ? 1 : 0)) {
        next = line_end_of(at, end);
        if (at > names && junctions_of(at, next) > 0) {
            if (!values)
                read_rule(&table, at, next);
            values = true;
        } else if (values && is_row_of_points(at, next) && !goes_on) {
            *gaps = true;
        } else if (at == names || (values && bars_of(at, next) >= bars)) {
            goes_on = add_cells(&made, &table, at, next);
            if (!goes_on)
                put_row(&made, &table);
        }
    }
    if (goes_on)
        put_row(&made, &table);
    free_drawn(&table);
    return take(job, &made, mapping);
}

/* A text within other quotes: where it is. */
struct value_place {
    bool begins;  /* a value may begin */
    bool quoted;  /* within quotes */
    bool wrapped; /* within a value that begins with a `"`, which is no quote */
};

static void put_quoted(struct rewriting *to, struct value_place *place, const char **at, const char *end, char quote)
{
    const bool is_quote = **at == quote, doubled = is_quote && *at + 1 < end && (*at)[1] == quote;
    *at += doubled;
    if (is_quote && !doubled) {
        put(to, "\"", 1);
        place->quoted = false;
    } else {
        put(to, **at == '"' ? "\"\"" : *at, **at == '"' ? 2 : 1);
    }
}

enum status rewrite_quotes(const struct format_job *job, char quote, char separator, struct mapping **mapping)
{
    struct rewriting made = {.out.pool = job->workers->pool};
    const char *at = mapping_data(*mapping), *end = at + mapping_length(*mapping);
    const char separators[] = {separator ? separator : ',',
                               separator ? separator : ';',
                               separator ? separator : '\t',
                               separator ? separator : '|',
                               '\n',
                               '\0'};
    struct value_place place = {.begins = true};
    for (; at < end && !made.failed; at++) {
        if (place.quoted) {
            put_quoted(&made, &place, &at, end, quote);
            continue;
        }
        const bool ends = *at && strchr(separators, *at);
        if (ends && place.wrapped)
            put(&made, "\"", 1);
        place.wrapped = place.wrapped && !ends;
        if (place.begins && *at == quote) {
            put(&made, "\"", 1);
            place.quoted = true;
        } else if (*at == '"' && (place.begins || place.wrapped)) {
            put(&made, "\"\"\"", place.begins ? 3 : 2);
            place.wrapped = true;
        } else {
            put(&made, at, 1);
        }
        place.begins = ends || (place.begins && *at == ' ');
    }
    if (place.wrapped)
        put(&made, "\"", 1);
    return take(job, &made, mapping);
}
