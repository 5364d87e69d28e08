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

#endif
