#include "parser/words.h"

#include "parser/grammar.h"

#include <string.h>

const struct word words[] = {
#define WORD(text, canonical, token, stage, reserved, usage, summary, example)                                         \
    {text, canonical, TOKEN_##token, STAGE_##stage, usage, summary, example, reserved},
#include "parser/words.def"
#undef WORD
};

bool stage_does(enum stage_kind stage, enum stage_fact fact)
{
    static const unsigned facts_of[STAGE_KINDS] = {
#define STAGE(kind, bind, in_groups, facts) [STAGE_##kind] = (facts),
#include "parser/stages.def"
    };
    return facts_of[stage] & (unsigned)fact;
}

const struct word word_of_call = {.text = "stage", .canonical = "stage", .stage = STAGE_CALL};

const size_t word_count = sizeof words / sizeof *words;

const struct word *word_find(const char *text, size_t length)
{
    if (length == 0)
        return NULL;
    for (size_t i = 0; i < word_count; i++) {
        if (words[i].text[0] == *text && strncmp(words[i].text, text, length) == 0 && !words[i].text[length])
            return &words[i];
    }
    return NULL;
}

bool name_is_plain(const char *name)
{
    const struct word *word = word_find(name, strlen(name));
    bool plain = !(word && word->reserved), begins = true; /* a part of a path */
    for (; *name && plain; name++) {
        const unsigned char byte = (unsigned char)*name;
        const unsigned char lower = byte | 0x20;
        const bool digit = byte >= '0' && byte <= '9', point = byte == '.';
        plain = begins ? !digit && !point : true;
        plain = plain && (byte >= 0x80 || byte == '_' || (lower >= 'a' && lower <= 'z') || digit || point);
        begins = point;
    }
    return plain && !begins;
}

const char *name_written(const char *name, struct arena *arena)
{
    return name_is_plain(name) ? name : arena_printf(arena, "`%s`", name);
}

const struct word *word_canonical(const struct word *word)
{
    return word_find(word->canonical, strlen(word->canonical));
}
