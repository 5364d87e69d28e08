#include "base/text.h"

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
