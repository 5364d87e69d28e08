/* A piece of text: any bytes, not NUL-terminated. */
#ifndef RQL_BASE_TEXT_H
#define RQL_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    const char *at;
    size_t length;
};

/* <0, 0, >0, by bytes; of UTF-8 also by code points. */
int text_compare(struct text a, struct text b);

/* Whether it is this NUL-terminated word. */
bool text_is(struct text text, const char *word);

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Whether it is one of the characters, of which NUL is none. */
bool is_among(const char *characters, char c);

bool word_begins(const char *text, const char *start);
bool ends_in(const char *text, const char *end);
bool same_word(const char *a, const char *b); /* or both are NULL */

/* For qsort of an array of char *. */
int compare_words(const void *a, const void *b);

/* A variable of the environment; NULL where it is not set, or empty. */
const char *set_variable(const char *name);

/* The first of `count` rows of `size` bytes that has this name, which is a row's first member; NULL: there is none. */
void *row_of_text(const void *rows, size_t count, size_t size, struct text name);
void *row_named(const void *rows, size_t count, size_t size, const char *name);

#define ROW_NAMED(rows, count, name) row_named(rows, count, sizeof *(rows), name)
#define TABLE_ROW(table, name)       row_named(table, sizeof(table) / sizeof *(table), sizeof *(table), name)

#endif
