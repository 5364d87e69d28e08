#include "repl/print/table_layout.h"

#include "repl/print/fit_text.h"
#include "repl/print/number_format.h"

#include "base/heap.h"
#include "engine/storage/list_store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 2, NAME_CELLS = 32, MIN_TEXT_CELLS = 16, MOST_ZEROS = 6 };

/* Significant digits that a reader of a table needs of the largest float of a column, and of the smallest. */
enum { LARGEST_DIGITS = 6, SMALLEST_DIGITS = 4, LEAST_DECIMALS = 2, LEAST_DIGITS = 2 };

/* The digits after the point of a printed float; 0: it has none, or an exponent. */
static size_t decimals_of(const struct strbuf *number)
{
    const char *point = memchr(number->text, '.', number->length);
    const bool plain = point && !memchr(number->text, 'e', number->length);
    return plain ? number->length - (size_t)(point + 1 - number->text) : 0;
}

/* The digits that a float lacks to those of its column. */
static size_t lacking(const struct table_column *column, const struct strbuf *number)
{
    const size_t decimals = column->decimals > 0 ? decimals_of(number) : 0;
    return decimals > 0 ? column->decimals - decimals : 0;
}

static bool has_exponent(const char *number, size_t length)
{
    return memchr(number, 'e', length);
}

/* Appends a float with an exponent and some significant digits. */
static void add_scientific(struct strbuf *out, const struct scalar *element, int digits)
{
    char text[32];
    struct scalar rounded = *element;
    (void)snprintf(text, sizeof text, "%.*e", digits - 1, element->number);
    rounded.number = strtod(text, NULL);
    scalar_print(out, &rounded);
}

/* Appends a float with the decimals of its column. One that would keep too few of its digits has an exponent. */
static void add_rounded(struct strbuf *out, const struct table_column *column, const struct scalar *element)
{
    const size_t begin = out->length;
    const double size = fabs(element->number);
    scalar_print(out, element);
    if (!isfinite(size))
        return;
    const bool scientific = has_exponent(out->text + begin, out->length - begin);
    out->length = begin;
    if (scientific)
        add_scientific(out, element, LARGEST_DIGITS);
    else if (size > 0 && size < pow(10, LEAST_DIGITS - 1 - (double)column->decimals))
        add_scientific(out, element, LEAST_DIGITS);
    else
        strbuf_printf(out, "%.*f", (int)column->decimals, element->number);
}

static void add_number(struct strbuf *out, const struct table_column *column, const struct scalar *element)
{
    if (column->rounded && element->kind == KIND_FLOAT && !element->missing)
        add_rounded(out, column, element);
    else
        scalar_print(out, element);
}

static void add_value(struct strbuf *out, const struct table_column *column, int64_t row, bool grouped)
{
    const struct scalar element = column_get(column->column, row);
    if (element.logical.kind == LOGICAL_LIST && !element.missing) {
        struct strbuf list = {0};
        list_add_json(&list, column->column, row);
        add_cut_text(out, (struct text){list.text, list.length}, column->width);
        strbuf_free(&list);
    } else if (column->is_text && !element.missing) {
        add_cut_text(out, element.text, column->width);
    } else if (grouped && !element.missing) {
        struct strbuf number = {0};
        add_number(&number, column, &element);
        number_format_group(out, number.text, number.length);
        strbuf_free(&number);
    } else {
        add_number(out, column, &element);
    }
}

static void widen(struct table_column *column, size_t cells)
{
    column->width = cells > column->width ? cells : column->width;
}

static void fit_value(struct table_column *column, int64_t row, bool separators, struct strbuf *scratch)
{
    const struct scalar element = column_get(column->column, row);
    strbuf_clear(scratch);
    if (element.logical.kind == LOGICAL_LIST && !element.missing)
        list_add_json(scratch, column->column, row);
    else
        add_number(scratch, column, &element);
    if (column->is_text) {
        widen(column, text_width(scratch->text, scratch->length));
        return;
    }
    const bool many = separators && !element.missing && number_format_are_many(scratch->text, scratch->length);
    column->grouped = column->grouped || many;
    if (separators) {
        strbuf_clear(scratch);
        add_value(scratch, column, row, true);
    }
    const bool is_float = element.kind == KIND_FLOAT && !element.missing;
    const size_t decimals = is_float ? decimals_of(scratch) : 0;
    column->long_exponents = column->long_exponents || (is_float && has_exponent(scratch->text, scratch->length) &&
                                                        scratch->length > LARGEST_DIGITS + strlen("-.e-308"));
    const size_t whole = decimals > 0 ? scratch->length - decimals - 1 : 0;
    if (decimals > 0 && element.number != 0) {
        const double size = fabs(element.number);
        column->largest = fmax(column->largest, size);
        column->smallest = column->smallest > 0 ? fmin(column->smallest, size) : size;
    }
    column->decimals = decimals > column->decimals ? decimals : column->decimals;
    column->whole = whole > column->whole ? whole : column->whole;
    widen(column, decimals > 0 ? 1 : scratch->length);
}

/* Of integers, the least, the greatest and a missing one are enough. */
static void fit_rows(struct table_column *column, int64_t begin, int64_t end, bool separators, struct strbuf *scratch)
{
    const struct column *values = column->column;
    const bool by_bounds = type_table[values->store].kind != KIND_FLOAT && logical_is_number(values->logical);
    int64_t least = -1, most = -1, missing = -1;
    for (int64_t row = begin; row < end; row++) {
        if (column_is_missing(values, row)) {
            missing = row;
        } else if (!by_bounds) {
            fit_value(column, row, separators, scratch);
        } else {
            const int64_t integer = column_get_int(values, row);
            least = least < 0 || integer < column_get_int(values, least) ? row : least;
            most = most < 0 || integer > column_get_int(values, most) ? row : most;
        }
    }
    const int64_t rows[] = {least, most, missing};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i] >= 0)
            fit_value(column, rows[i], separators, scratch);
    }
}

/* The decimals that show `digits` significant digits of a number. */
static int decimals_for(double size, int digits)
{
    return digits - 1 - (int)floor(log10(size));
}

static int clamp(int number, int least, int most)
{
    return number < least ? least : number > most ? most : number;
}

/* Floats end where their digits stop helping: the largest has some significant digits, and the smallest
 * too if that takes few decimals. */
static void choose_decimals(struct table_column *column)
{
    column->rounded = column->long_exponents;
    if (column->decimals <= MOST_ZEROS || column->largest == 0)
        return;
    const int for_largest = decimals_for(column->largest, LARGEST_DIGITS);
    const int for_smallest = clamp(decimals_for(column->smallest, SMALLEST_DIGITS), LEAST_DECIMALS, MOST_ZEROS);
    const int wanted = for_largest > for_smallest ? for_largest : for_smallest;
    if ((size_t)wanted < column->decimals) {
        column->decimals = (size_t)wanted;
        column->rounded = true;
    }
}

static void fit_parts(struct table_column *column, const struct row_part *parts, bool separators,
                      struct strbuf *scratch)
{
    column->width = 1;
    column->whole = 0;
    for (size_t i = 0; i < SHOWN_PARTS; i++)
        fit_rows(column, parts[i].begin, parts[i].end, separators, scratch);
}

static struct table_column fit_column(const struct relation *relation, size_t k, const struct row_part *parts,
                                      const struct print_style *style, struct strbuf *scratch)
{
    const struct column *values = relation->columns[k];
    const bool is_text = values->logical.kind == LOGICAL_TEXT || values->logical.kind == LOGICAL_LIST;
    struct table_column column = {.column = values, .name = relation->names[k], .width = 1, .is_text = is_text};
    const bool separators = style->separators && logical_is_number(values->logical);
    fit_parts(&column, parts, separators, scratch);
    if (style->rounds)
        choose_decimals(&column);
    if (column.rounded)
        fit_parts(&column, parts, separators, scratch);
    if (separators && !column.grouped)
        fit_parts(&column, parts, false, scratch);
    if (column.decimals > 0)
        widen(&column, column.whole + 1 + column.decimals);
    column.min_width = !column.is_text || column.width < MIN_TEXT_CELLS ? column.width : MIN_TEXT_CELLS;
    if (style->header) {
        const size_t name = text_width(column.name, strlen(column.name));
        const size_t type = strlen(logical_type_name(values->logical, values->type));
        const size_t heading = name > NAME_CELLS ? NAME_CELLS : name > type ? name : type;
        widen(&column, heading);
        column.min_width = heading > column.min_width ? heading : column.min_width;
    }
    return column;
}

/* If only one edge of the intervals has commas, the other gets them too; its numbers have at most four digits, so one
 * comma. */
static void match_edges(struct table_column *lower, struct table_column *upper)
{
    if (lower->grouped != upper->grouped) {
        struct table_column *plain = lower->grouped ? upper : lower;
        plain->grouped = true;
        plain->width++;
    }
}

/* The width of column k and the gap before it, with text cut to `cells`. */
static size_t cut_width(const struct table_layout *layout, size_t k, size_t cells)
{
    const struct table_column *column = &layout->columns[k];
    const size_t cut = cells > column->min_width ? cells : column->min_width;
    return (column->width < cut || !column->is_text ? column->width : cut) + (k > 0 ? GAP : 0);
}

static size_t cut_widths(const struct table_layout *layout, size_t cells)
{
    size_t width = 0;
    for (size_t k = 0; k < layout->count; k++)
        width += cut_width(layout, k, cells);
    return width;
}

/* As many columns as fit with their texts cut short, and then as much of the texts as fits. */
static void fit_terminal(struct table_layout *layout, size_t count, const struct print_style *style)
{
    size_t used = 0;
    while (layout->count < count) {
        used += cut_width(layout, layout->count, 0);
        if (used > style->width && layout->count > 0)
            break;
        layout->count++;
    }
    size_t cells = style->width;
    while (cells > 0 && cut_widths(layout, cells) > style->width)
        cells--;
    for (size_t k = 0; k < layout->count; k++)
        layout->columns[k].width = cut_width(layout, k, cells) - (k > 0 ? GAP : 0);
}

size_t table_most_columns(const struct relation *relation, const struct print_style *style)
{
    enum { LEAST_WIDTH = GAP + 2 }; /* as of i8 */
    const size_t most = style->width / LEAST_WIDTH + 2;
    return style->terminal && most < relation->count ? most : relation->count;
}

void table_layout_init(struct table_layout *layout, const struct relation *relation, bool histogram,
                       const struct row_part *parts, const struct print_style *style)
{
    const size_t most = table_most_columns(relation, style);
    *layout = (struct table_layout){.colour = style->colour};
    layout->columns = heap_array(most, sizeof *layout->columns);
    for (size_t k = 0; k < most; k++)
        layout->columns[k] = fit_column(relation, k, parts, style, &layout->scratch);
    if (histogram && relation->count > 2)
        match_edges(&layout->columns[0], &layout->columns[1]);
    if (style->terminal)
        fit_terminal(layout, most, style);
    else
        layout->count = relation->count;
    layout->width = cut_widths(layout, SIZE_MAX);
}

void table_layout_free(struct table_layout *layout)
{
    free(layout->columns);
    strbuf_free(&layout->scratch);
}

/* Appends the scratch text in the width of column k, with `after` blanks behind it; `filled` up to that width. */
static void add_cell(struct strbuf *out, const struct table_layout *layout, size_t k, size_t after, bool filled,
                     bool dim)
{
    const struct table_column *column = &layout->columns[k];
    const struct strbuf *text = &layout->scratch;
    const size_t cells = text_width(text->text, text->length) + after;
    const size_t space = column->width > cells ? column->width - cells : 0;
    strbuf_add_spaces(out, column->is_text ? 0 : space);
    strbuf_puts(out, dim ? "\033[2m" : "");
    strbuf_add(out, text->text, text->length);
    strbuf_puts(out, dim ? "\033[0m" : "");
    strbuf_add_spaces(out, filled ? after + (column->is_text ? space : 0) : 0);
}

/* Appends the scratch text as the field of column k in a line. */
static void add_field(struct strbuf *out, const struct table_layout *layout, size_t k, size_t after, bool dim)
{
    strbuf_add_spaces(out, k > 0 ? GAP : 0);
    add_cell(out, layout, k, after, k + 1 < layout->count, dim);
}

/* Gives the number in the scratch text as many decimals as its column has: zeros if they are few, else blanks, of which
 * it returns the number. Zeros after fifteen digits would look like a precision that nothing has. */
static size_t share_decimals(struct strbuf *number, const struct table_column *column)
{
    size_t lacks = lacking(column, number);
    if (column->decimals > MOST_ZEROS && !column->rounded)
        return lacks;
    for (; lacks > 0; lacks--)
        strbuf_putc(number, '0');
    return 0;
}

static void set_name(struct table_layout *layout, size_t k)
{
    const char *name = layout->columns[k].name;
    strbuf_clear(&layout->scratch);
    add_cut_text(&layout->scratch, (struct text){name, strlen(name)}, NAME_CELLS);
}

/* Returns the number of blanks behind the value. */
static size_t set_element(struct table_layout *layout, size_t k, int64_t row)
{
    const struct table_column *column = &layout->columns[k];
    strbuf_clear(&layout->scratch);
    add_value(&layout->scratch, column, row, column->grouped);
    return column_is_missing(column->column, row) ? 0 : share_decimals(&layout->scratch, column);
}

void table_add_names(struct strbuf *out, struct table_layout *layout)
{
    for (size_t k = 0; k < layout->count; k++) {
        set_name(layout, k);
        add_field(out, layout, k, 0, false);
    }
}

void table_add_types(struct strbuf *out, struct table_layout *layout)
{
    for (size_t k = 0; k < layout->count; k++) {
        const struct column *column = layout->columns[k].column;
        strbuf_clear(&layout->scratch);
        strbuf_puts(&layout->scratch, logical_type_name(column->logical, column->type));
        add_field(out, layout, k, 0, false);
    }
}

void table_add_dots(struct strbuf *out, struct table_layout *layout)
{
    strbuf_clear(&layout->scratch);
    strbuf_puts(&layout->scratch, "…");
    for (size_t k = 0; k < layout->count; k++)
        add_field(out, layout, k, 0, false);
}

void table_add_row(struct strbuf *out, struct table_layout *layout, int64_t row)
{
    for (size_t k = 0; k < layout->count; k++) {
        const size_t after = set_element(layout, k, row);
        add_field(out, layout, k, after, layout->colour && column_is_missing(layout->columns[k].column, row));
    }
}

size_t table_column_offset(const struct table_layout *layout, size_t k)
{
    size_t offset = 0;
    for (size_t before = 0; before < k; before++)
        offset += layout->columns[before].width + GAP;
    return offset;
}

void table_add_name(struct strbuf *out, struct table_layout *layout, size_t k)
{
    set_name(layout, k);
    add_cell(out, layout, k, 0, true, false);
}

void table_add_element(struct strbuf *out, struct table_layout *layout, size_t k, int64_t row)
{
    const size_t after = set_element(layout, k, row);
    add_cell(out, layout, k, after, true, false);
}
