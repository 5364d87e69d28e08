#include "complete.h"

#include "commands.h"
#include "settings.h"

#include "../engine/functions.h"
#include "../parser/words.h"

#include <stdbool.h>
#include <string.h>

/* The words that a path follows. */
static const char *const path_words[] = {"load", "zip", "gather", "scatter", "save", ".read"};

/* The word before `at`, as the bytes from the return value on; *length may be 0. */
static const char *word_before(const char *line, size_t at, size_t *length)
{
    while (at > 0 && (line[at - 1] == ' ' || line[at - 1] == '\t')) {
        at--;
    }
    size_t begin = at;
    while (begin > 0 && !strchr(" \t\n|;,(", line[begin - 1])) {
        begin--;
    }
    *length = at - begin;
    return line + begin;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

enum complete_kind complete_kind(const char *line, size_t start, size_t end)
{
    if (memchr(line + start, '/', end - start)) {
        return COMPLETE_PATH;
    }
    if (line[start] == '.' && strspn(line, " \t") == start) {
        return COMPLETE_COMMAND;
    }
    bool quoted = start > 0 && (line[start - 1] == '"' || line[start - 1] == '\'');
    size_t length;
    const char *before = word_before(line, quoted ? start - 1 : start, &length);
    for (size_t i = 0; i < sizeof path_words / sizeof *path_words; i++) {
        if (is_word(before, length, path_words[i])) {
            return COMPLETE_PATH;
        }
    }
    return is_word(before, length, ".set") ? COMPLETE_SETTING : COMPLETE_WORD;
}

/* The k-th name of a kind, or NULL beyond the last. */
static const char *name_at(enum complete_kind kind, size_t k)
{
    switch (kind) {
    case COMPLETE_COMMAND:
        return k < command_count ? command_table[k].name : NULL;
    case COMPLETE_SETTING:
        return k < setting_count ? setting_table[k].name : NULL;
    case COMPLETE_WORD:
        if (k < word_count) {
            return words[k].text;
        }
        return k - word_count < function_count ? functions[k - word_count].name : NULL;
    case COMPLETE_PATH:
        break;
    }
    return NULL;
}

const char *complete_next(enum complete_kind kind, const char *prefix, size_t *at)
{
    size_t length = strlen(prefix);
    for (const char *name = name_at(kind, *at); name; name = name_at(kind, *at)) {
        (*at)++;
        if (strncmp(name, prefix, length) == 0) {
            return name;
        }
    }
    return NULL;
}
