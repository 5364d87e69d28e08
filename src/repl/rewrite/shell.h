/* What the files that read lines of a shell share. */
#ifndef RQL_REPL_REWRITE_SHELL_H
#define RQL_REPL_REWRITE_SHELL_H

#include "repl/rewrite/chain.h"

enum { MOST_WORDS = 12, MOST_KEYS = 6 };

/* A program and its words, without quotes. */
struct command {
    const char *words[MOST_WORDS];
    size_t count;
    const char *option[26];      /* what follows -a to -z, "" if nothing does */
    const char *keys[MOST_KEYS]; /* of sort, each after a -k */
    size_t key_count;
    const char *program; /* of grep, awk, sed: its first word that is no option */
    const char *file, *second;
    const char *number; /* of `head -5`, `tail +5` */
};

bool shell_is_number(const char *text);

/* The column of this number, from 1; NULL: there is none. */
const struct known_column *shell_column(const struct translator *t, const char *number);

/* A program of awk as stages; *value: they give a value. */
const char *shell_awk(struct translator *t, const struct command *command, bool *value);

/* The arguments of a program for files of values between commas. */
struct tool_words {
    const char *first;       /* before the file */
    const char *option[128]; /* the values of options, "" of those without; NULL: it is not there */
};

/* Whether it is the name of such a program, and its stage, `=` before it if no rows are left; *file: what it reads. */
bool is_shell_tool(const char *name);
const char *shell_tool(struct translator *t, const struct command *command, const char **file);

#endif
