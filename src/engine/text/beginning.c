/* Where a table begins in its file, and what separates its values.
 *
 * Of several separators in the first record, it is the one by which most records have as many cells as that one, then
 * the one by which more of their cells are no text. If the first two records have equally many cells, the table begins
 * with them. Else the separator may be another, and the first lines a title or comments: the number of cells that most
 * of the first records have decides. */
#include "engine/text/cells.h"
#include "engine/text/classify.h"
#include "engine/text/records.h"
#include "engine/text/ways.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { LOOK_RECORDS = 64 };

static const char separators[] = ",;\t|";

/* The first records of a text. */
struct look {
    const char *at[LOOK_RECORDS];
    size_t cells[LOOK_RECORDS]; /* 0: malformed */
    size_t count, usual;        /* the number of cells that most have */
    size_t share;               /* how many have it */
    size_t first;               /* the first one that has */
};

/* `sep=;` alone in the first line, as files for Excel have it: the separator, and the next line; else 0. */
static char told_separator(const struct table *table, const char **next)
{
    static const char begin[] = "sep=";
    const size_t length = sizeof begin - 1;
    const char *at = table->begin, *end = line_end(table, at);
    *next = end + (end < table->end);
    end -= end > at && end[-1] == '\r';
    if (end - at > 1 && *at == '"' && end[-1] == '"') {
        at++;
        end--;
    }
    const bool told = (size_t)(end - at) == length + 1 && strncasecmp(at, begin, length) == 0;
    return told && !isalnum((unsigned char)end[-1]) && end[-1] != '"' ? end[-1] : 0;
}

/* The separator that the first record has most of, outside quotes. *several: it has others, too. */
static char find_separator(const struct table *table, size_t counts[], bool *several)
{
    size_t best = 0;
    bool quoted = false;
    for (const char *at = table->begin; at < table->end && (quoted || *at != '\n'); at++) {
        if (*at == '"' && (quoted || at == table->begin || at[-1] == ' ' || strchr(separators, at[-1])))
            quoted = !quoted;
        const char *found = *at && !quoted ? strchr(separators, *at) : NULL;
        if (found)
            counts[found - separators]++;
    }
    *several = false;
    for (size_t i = 1; separators[i]; i++) {
        *several = *several || (counts[i] > 0 && counts[best] > 0);
        best = counts[i] > counts[best] ? i : best;
    }
    return separators[best];
}

static void look_at_records(const struct table *table, struct look *look)
{
    *look = (struct look){0};
    const char *at = table->begin;
    for (; look->count < LOOK_RECORDS && (at = skip_left_out(table, at)) < table->end; look->count++) {
        look->at[look->count] = at;
        at = record_end(table, at, &look->cells[look->count]);
        at += at < table->end;
    }
    for (size_t i = 0; i < look->count; i++) {
        size_t share = 0, cells = look->cells[i];
        for (size_t k = i; k < look->count; k++)
            share += look->cells[k] == cells;
        if (cells > 1 && share > look->share) {
            look->usual = cells;
            look->share = share;
            look->first = i;
        }
    }
}

/* Whether most records from the first usual one on are usual, and all before it are too short to be names. */
static bool is_sound(const struct look *look)
{
    if (look->share < 2 || 2 * look->share <= look->count - look->first)
        return false;
    for (size_t i = 0; i < look->first; i++) {
        if (look->cells[i] > 1 && look->cells[i] + 1 >= look->usual && *look->at[i] != '#')
            return false;
    }
    return true;
}

/* Of a record, how many cells are neither blank nor missing, and how many of these are no text. */
static size_t count_filled(const struct table *table, const char *at, size_t *typed)
{
    size_t filled = 0;
    *typed = 0;
    for (;; at++) {
        struct cell cell;
        at = cell_scan(table->dialect, at, table->end, &cell);
        const enum value_class value_class = at ? classify(table, cell) : CLASS_BLANK;
        filled += value_class != CLASS_BLANK;
        *typed += value_class != CLASS_BLANK && value_class != CLASS_TEXT;
        if (!at || at == table->end || *at == '\n')
            return filled;
    }
}

/* How even the first records are, see above. */
struct evenness {
    size_t records, typed;
};

static struct evenness evenness_of(const struct table *table)
{
    struct evenness even = {0};
    struct look look;
    look_at_records(table, &look);
    for (size_t i = 0; i < look.count && look.cells[0] > 1; i++) {
        size_t typed = 0;
        if (look.cells[i] != look.cells[0])
            continue;
        even.records++;
        if (i > 0)
            (void)count_filled(table, look.at[i], &typed);
        even.typed += typed;
    }
    return even;
}

static void choose_separator(const struct table *table, struct dialect *dialect)
{
    size_t counts[sizeof separators] = {0};
    bool several;
    char best = dialect->delimiter = find_separator(table, counts, &several);
    struct evenness most = several ? evenness_of(table) : (struct evenness){0};
    for (size_t i = 0; separators[i] && several; i++) {
        dialect->delimiter = separators[i];
        const struct evenness even = counts[i] > 0 ? evenness_of(table) : (struct evenness){0};
        if (even.records > most.records || (even.records == most.records && even.typed > most.typed)) {
            best = separators[i];
            most = even;
        }
    }
    dialect->delimiter = best;
}

/* Titles that a spreadsheet has padded with separators: records with a single text, before one of texts alone. */
static size_t count_padded(const struct table *table, const struct look *look)
{
    size_t filled = look->usual, typed = 0, k = look->first;
    while (look->usual > 2 && k < look->count && (filled = count_filled(table, look->at[k], &typed)) <= 1)
        k++;
    return k > look->first && k < look->count && filled == look->usual && typed == 0 ? k - look->first : 0;
}

/* Lines of the file before `at`. */
static int lines_before(const struct table *table, const char *at)
{
    int lines = 0;
    for (const char *c = table->text; c < at; c++)
        lines += *c == '\n';
    return lines;
}

static void tell_separator(struct strbuf *found, char separator)
{
    const char name[] = {'`', separator, '`', '\0'};
    strbuf_printf(found, "%sits values are separated by %s", found->length > 0 ? "; " : "",
                  separator == '\t' ? "tabs" : name);
}

/* Whether fewer of the records from the first usual one on differ from it, or as many and more are like it. */
static bool is_more_even(const struct look *a, const struct look *b)
{
    const size_t odd_a = a->count - a->first - a->share, odd_b = b->count - b->first - b->share;
    return odd_a < odd_b || (odd_a == odd_b && a->share > b->share);
}

/* The separator by which the records are most even and not shorter; of equal ones that which stands first. */
static void look_for_separator(const struct table *table, struct dialect *dialect, struct look *look)
{
    char best = dialect->delimiter;
    for (size_t i = 0; separators[i]; i++) {
        struct look other;
        dialect->delimiter = separators[i];
        look_at_records(table, &other);
        if (is_sound(&other) && (!is_sound(look) || (is_more_even(&other, look) && other.usual >= look->usual))) {
            *look = other;
            best = separators[i];
        }
    }
    dialect->delimiter = best;
}

/* Whether there is a name without a comma above lines that are numbers with commas: one column, not a title above
 * several without names. */
static bool is_one_column(const struct table *table, const struct look *look)
{
    const struct dialect lines = {.delimiter = '\n'};
    struct table comma = *table;
    comma.dialect = &lines;
    comma.ways &= WAYS_OF_COMMA | WAY_POINT;
    if (table->dialect->delimiter != ',' || look->share == 0 || look->cells[0] != 1)
        return false;
    for (size_t i = 1; i < look->count; i++) {
        struct cell cell;
        if (!cell_scan(&lines, look->at[i], table->end, &cell) ||
            (ways_of(&comma, cell).value_class != CLASS_DRESSED && classify(&comma, cell) != CLASS_INT))
            return false;
    }
    return true;
}

/* Skips the lines above the names. Returns whether they are of one column of numbers, of which it tells. */
static bool skip_title(struct table *table, struct dialect *dialect, bool stated, struct strbuf *found)
{
    struct look look;
    look_at_records(table, &look);
    const bool regular = look.count > 0 && look.first == 0 && look.share == look.count;
    if (!regular && dialect->quotes && !stated)
        look_for_separator(table, dialect, &look);
    if (dialect->quotes && !stated && is_one_column(table, &look)) {
        dialect->delimiter = ';';
        strbuf_puts(found, "it is one column (`separator \";\"`; if it is several, `separator \",\"`)");
        return true;
    }
    if (look.share == 0 || (look.first > 0 && !is_sound(&look)))
        return false;
    const char *names = look.at[look.first + count_padded(table, &look)];
    const int lines = names > table->begin ? lines_before(table, names) : 0;
    table->begin = names;
    if (lines > 0)
        strbuf_printf(found, "%s%d line%s above its names %s left out (`skip %d`)", found->length > 0 ? "; " : "",
                      lines, lines == 1 ? "" : "s", lines == 1 ? "is" : "are", lines);
    return false;
}

void table_find_beginning(struct table *table, struct dialect *dialect, const struct text_options *options,
                          struct strbuf *found)
{
    const char *next;
    const char told = dialect->quotes && !(options && options->separator) ? told_separator(table, &next) : 0;
    const bool stated = told || (options && options->separator);
    if (told && !(options && options->skips))
        table->begin = next;
    for (int64_t i = 0; options && options->skips && i < options->skip && table->begin < table->end; i++) {
        table->begin = line_end(table, table->begin);
        table->begin += table->begin < table->end;
    }
    table->begin = skip_left_out(table, table->begin);
    if (stated)
        dialect->delimiter = told ? told : options->separator;
    else if (dialect->quotes)
        choose_separator(table, dialect);
    bool one = false;
    if (dialect->header && !dialect->json && !(options && options->skips))
        one = skip_title(table, dialect, stated, found);
    if (dialect->quotes && (told || (!stated && dialect->delimiter != ',' && !one)))
        tell_separator(found, dialect->delimiter);
}
