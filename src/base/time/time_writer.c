#include "base/time/time_writer.h"

#include "base/heap.h"
#include "base/number_text.h"

#include <stdlib.h>
#include <string.h>

enum { HOLES = 6, DAY_BYTES = 48, DAYS = 512 /* that are kept, by their lower bits */ };

static const int64_t SECOND_US = 1000000;

/* A day by the format; its clock is to be set. */
struct day_text {
    int64_t day;
    bool made;
    uint8_t length, holes[HOLES];
    char text[DAY_BYTES];
};

/* What the format has before each hole and, last, after all. */
struct piece {
    size_t begin, end;
    char code;
};

struct time_writer {
    struct text format;
    struct strbuf parts; /* the format without composites */
    struct piece pieces[HOLES + 1];
    size_t holes;
    bool varies; /* something else depends on the time of day, or a text is too long: nothing is kept */
    struct strbuf made;
    struct day_text *days;
};

/* Appends the format with what composites such as %T stand for. */
static void expand(struct strbuf *out, struct text format)
{
    for (size_t k = 0; k < format.length; k++) {
        const char *parts = NULL;
        if (format.at[k] == '%' && k + 1 < format.length)
            parts = time_format_composite(format.at[k + 1]);
        if (parts)
            strbuf_puts(out, parts);
        else
            strbuf_add(out, format.at + k, format.at[k] == '%' && k + 1 < format.length ? 2 : 1);
        k += format.at[k] == '%';
    }
}

/* Finds the parts of the clock, each of two digits or six. */
static void find_holes(struct time_writer *writer)
{
    const char *format = writer->parts.text;
    size_t begin = 0;
    for (size_t k = 0; k + 1 < writer->parts.length && !writer->varies; k++) {
        if (format[k] != '%')
            continue;
        const char code = format[++k];
        if (code == '-') {
            writer->varies = k + 1 < writer->parts.length && is_among("HIMSfpszZTR", format[k + 1]);
            k++;
        } else if (is_among("HIMSfp", code) && writer->holes < HOLES) {
            writer->pieces[writer->holes++] = (struct piece){begin, k - 1, code};
            begin = k + 1;
        } else {
            writer->varies = is_among("HIMSfpszZ", code);
        }
    }
    writer->pieces[writer->holes] = (struct piece){begin, writer->parts.length, '\0'};
}

struct time_writer *time_writer_new(struct text format)
{
    struct time_writer *writer = heap_array(1, sizeof *writer);
    writer->format = format;
    strbuf_reserve(&writer->parts, format.length);
    expand(&writer->parts, format);
    find_holes(writer);
    writer->days = heap_array(writer->varies ? 1 : DAYS, sizeof *writer->days);
    return writer;
}

void time_writer_free(struct time_writer *writer)
{
    if (!writer)
        return;
    strbuf_free(&writer->parts);
    strbuf_free(&writer->made);
    free(writer->days);
    free(writer);
}

static void make_day(struct time_writer *writer, struct day_text *day, int64_t days)
{
    static const char zeros[] = "000000";
    const struct time_written midnight = {.days = days};
    strbuf_clear(&writer->made);
    for (size_t k = 0; k <= writer->holes; k++) {
        const struct piece *piece = &writer->pieces[k];
        time_format_write(&writer->made, (struct text){writer->parts.text + piece->begin, piece->end - piece->begin},
                          &midnight);
        if (k == writer->holes)
            break;
        day->holes[k] = (uint8_t)writer->made.length;
        strbuf_add(&writer->made, zeros, piece->code == 'f' ? 6 : 2);
    }
    writer->varies = writer->made.length > DAY_BYTES;
    day->day = days;
    day->made = !writer->varies;
    day->length = (uint8_t)writer->made.length;
    if (writer->made.length > 0 && !writer->varies)
        memcpy(day->text, writer->made.text, writer->made.length);
}

static void fill_hole(char *at, char code, uint32_t second, uint32_t fraction)
{
    const uint32_t hour = second / 3600;
    switch (code) {
    case 'H':
        (void)write_pair(at, hour);
        break;
    case 'I':
        (void)write_pair(at, (hour + 11) % 12 + 1);
        break;
    case 'M':
        (void)write_pair(at, second / 60 % 60);
        break;
    case 'S':
        (void)write_pair(at, second % 60);
        break;
    case 'f':
        (void)write_pair(at, fraction / 10000);
        (void)write_pair(at + 2, fraction / 100 % 100);
        (void)write_pair(at + 4, fraction % 100);
        break;
    default: /* p */
        memcpy(at, hour < 12 ? "AM" : "PM", 2);
        break;
    }
}

void time_writer_add(struct time_writer *writer, struct strbuf *out, const struct time_written *time)
{
    const int64_t most_clock = 100 * 3600 * SECOND_US; /* its hours have two digits */
    struct day_text *day = writer->varies ? NULL : &writer->days[(uint64_t)time->days % DAYS];
    if (day && time->clock < most_clock && !(day->made && day->day == time->days))
        make_day(writer, day, time->days);
    if (writer->varies || time->clock >= most_clock) {
        time_format_write(out, writer->format, time);
        return;
    }
    char *at = strbuf_reserve(out, DAY_BYTES);
    const uint32_t second = (uint32_t)(time->clock / SECOND_US);
    const uint32_t fraction = (uint32_t)(time->clock - (int64_t)second * SECOND_US);
    memcpy(at, day->text, DAY_BYTES);
    for (size_t k = 0; k < writer->holes; k++)
        fill_hole(at + day->holes[k], writer->pieces[k].code, second, fraction);
    strbuf_commit(out, day->length);
}
