#include "engine/storage/pandas_index.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

const char pandas_key[] = "pandas";

struct cursor {
    const char *at, *end;
};

/* Passes over white space and then `c`, if it is there. */
static bool take(struct cursor *in, char c)
{
    while (in->at < in->end && isspace((unsigned char)*in->at))
        in->at++;
    const bool found = in->at < in->end && *in->at == c;
    in->at += found;
    return found;
}

/* A string between quotes, with its escapes; without any, where another value is, which is passed over. */
static struct text take_value(struct cursor *in)
{
    if (!take(in, '"')) {
        struct text bare = {in->at, 0};
        while (in->at < in->end && !strchr(",}]", *in->at))
            in->at++;
        bare.length = (size_t)(in->at - bare.at);
        return bare;
    }
    struct text string = {in->at, 0};
    while (in->at < in->end && *in->at != '"')
        in->at += *in->at == '\\' && in->end - in->at > 1 ? 2 : 1;
    string.length = (size_t)(in->at - string.at);
    take(in, '"');
    return string;
}

static bool is_integer(struct text text)
{
    const size_t sign = text.length > 0 && *text.at == '-';
    for (size_t i = sign; i < text.length; i++) {
        if (!isdigit((unsigned char)text.at[i]))
            return false;
    }
    return text.length > sign;
}

static bool is_plain_name(struct text name)
{
    for (size_t i = 0; i < name.length; i++) {
        if (!isalnum((unsigned char)name.at[i]) && name.at[i] != '_')
            return false;
    }
    return name.length > 0 && !isdigit((unsigned char)*name.at);
}

/* The object of the range: {"kind": "range", "name": "year", "start": 1990, "stop": 2005, "step": 5}. */
struct range {
    struct text kind, name, start, step;
};

/* Reads the first of "index_columns", if it is an object. */
static bool read_range(struct text metadata, struct range *range)
{
    static const char key[] = "\"index_columns\"";
    *range = (struct range){0};
    const char *found = memmem(metadata.at, metadata.length, key, sizeof key - 1);
    if (!found)
        return false;
    struct cursor in = {found + sizeof key - 1, metadata.at + metadata.length};
    if (!take(&in, ':') || !take(&in, '[') || !take(&in, '{'))
        return false;
    do {
        struct text name = take_value(&in);
        if (!take(&in, ':'))
            return false;
        const bool string = take(&in, '"');
        in.at -= string;
        struct text value = take_value(&in);
        if (text_is(name, "kind"))
            range->kind = value;
        else if (text_is(name, "name") && string)
            range->name = value;
        else if (text_is(name, "start"))
            range->start = value;
        else if (text_is(name, "step"))
            range->step = value;
    } while (take(&in, ','));
    return text_is(range->kind, "range") && is_integer(range->start) && is_integer(range->step);
}

void pandas_note_range(struct text metadata, const char *path, struct diags *diags)
{
    struct range range;
    if (metadata.length == 0 || !read_range(metadata, &range) || range.name.length == 0)
        return;
    struct text name = is_plain_name(range.name) ? range.name : (struct text){"index", strlen("index")};
    diag_note(diags, (struct span){0}, "`%s`: the index of pandas is a range, which is no column of the file", path);
    if (text_is(range.start, "0") && text_is(range.step, "1"))
        diag_hint(diags, "`derive %.*s = row` makes one", (int)name.length, name.at);
    else
        diag_hint(diags, "`derive %.*s = %.*s + %.*s * row` makes one", (int)name.length, name.at,
                  (int)range.start.length, range.start.at, (int)range.step.length, range.step.at);
}
