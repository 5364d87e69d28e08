#include "base/text.h"

#include <stdlib.h>
#include <string.h>

int text_compare(struct text a, struct text b)
{
    const size_t common = a.length < b.length ? a.length : b.length;
    const int order = common > 0 ? memcmp(a.at, b.at, common) : 0;
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

bool text_is(struct text text, const char *word)
{
    return text_compare(text, (struct text){word, strlen(word)}) == 0;
}

void *row_of_text(const void *rows, size_t count, size_t size, struct text name)
{
    for (size_t i = 0; i < count; i++) {
        const char *row = (const char *)rows + i * size, *of_row;
        memcpy(&of_row, row, sizeof of_row);
        if (text_is(name, of_row))
            return (char *)row;
    }
    return NULL;
}

void *row_named(const void *rows, size_t count, size_t size, const char *name)
{
    return row_of_text(rows, count, size, (struct text){name, strlen(name)});
}

bool is_among(const char *characters, char c)
{
    return c != '\0' && strchr(characters, c);
}

bool word_begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

bool same_word(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

int compare_words(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *set_variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}
