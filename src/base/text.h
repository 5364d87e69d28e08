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

/* The first of `count` rows of `size` bytes that has this name, which is a row's first member; NULL: there is none. */
void *row_of_text(const void *rows, size_t count, size_t size, struct text name);
void *row_named(const void *rows, size_t count, size_t size, const char *name);

#define ROW_NAMED(rows, count, name) row_named(rows, count, sizeof *(rows), name)
#define TABLE_ROW(table, name)       row_named(table, sizeof(table) / sizeof *(table), sizeof *(table), name)

#endif
