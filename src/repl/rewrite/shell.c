/* Lines of a shell: programs on a file of values between commas, with `|` between them.
 *
 * The file's first line, which names its columns, is one of the lines there and none of the rows here. A line is
 * answered where its columns decide what it does, and else told plainly. */
#include "repl/rewrite/shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char programs[] = "cat head tail wc grep egrep awk gawk mawk sort cut uniq sed tr paste join comm nl tac";

/* Reads one command of the text; *at: behind the `|` that ends it. False: it has too many words, or an open quote. */
static bool parse_words(const char **at, struct command *command, struct arena *arena)
{
    *command = (struct command){0};
    const char *text = *at;
    while (*text && *text != '|') {
        if (*text == ' ' || *text == '\t') {
            text++;
            continue;
        }
        const char *word = "";
        while (*text && !strchr(" \t|", *text)) { /* -F',' is one word */
            const char quote = *text == '\'' || *text == '"' ? *text : '\0';
            const char *end = quote ? strchr(text + 1, quote) : text + strcspn(text, " \t|'\"");
            if (!end || command->count == MOST_WORDS)
                return false;
            word = arena_printf(arena, "%s%.*s", word, (int)(end - text - (quote != 0)), text + (quote != 0));
            text = end + (quote != 0);
        }
        command->words[command->count++] = word;
    }
    *at = text + (*text == '|');
    return command->count > 0;
}

bool shell_is_number(const char *text)
{
    return text && *text && strspn(text, "0123456789") == strlen(text);
}

/* Whether the option changes what the tool prints in a way that has no form here. */
static bool has_no_form(const char *name, char option)
{
    return (strcmp(name, "grep") == 0 && !strchr("ceivhmr", option)) || strcmp(name, "cat") == 0 ||
           (strcmp(name, "tail") == 0 && option == 'f');
}

/* The options of word *i, and the value of the last, which may be the next word. False: one is not known. */
static bool parse_letters(struct command *command, const char *with_value, size_t *i)
{
    const char *name = command->words[0];
    for (const char *word = command->words[*i] + 1; *word; word++) {
        if (*word < 'a' || *word > 'z') {
            if (!strchr("EF", *word) || (*word == 'F' && strcmp(name, "grep") == 0))
                return false;
            if (*word == 'E')
                continue;
        }
        if (has_no_form(name, *word))
            return false;
        const char **option = &command->option[(*word | 0x20) - 'a'];
        *option = "";
        if (!strchr(with_value, *word))
            continue;
        *option = word[1] ? word + 1 : *i + 1 < command->count ? command->words[++*i] : "";
        if (*word == 'k' && command->key_count < MOST_KEYS)
            command->keys[command->key_count++] = *option;
        break;
    }
    return true;
}

/* Options, of which some have a value, and what is none. False: one is not known. */
static bool parse_options(struct command *command)
{
    static const struct values {
        const char *name, *with_value;
    } values[] = {{"head", "nc"}, {"tail", "nc"}, {"awk", "Fv"}, {"sort", "tk"}, {"cut", "dfc"}, {"grep", "em"}};
    const char *name = command->words[0];
    const struct values *of_name = TABLE_ROW(values, name);
    const char *with_value = of_name ? of_name->with_value : "";
    const bool program = is_one_of(name, "grep egrep awk gawk mawk sed");
    for (size_t i = 1; i < command->count; i++) {
        const char *word = command->words[i];
        if (*word == '+' && shell_is_number(word + 1) && strcmp(name, "tail") == 0) {
            command->number = word;
            continue;
        }
        if (*word != '-' || !word[1]) {
            const bool first = program && !command->program;
            const char **slot = first ? &command->program : command->file ? &command->second : &command->file;
            if (command->second)
                return false;
            *slot = word;
            continue;
        }
        if (shell_is_number(word + 1)) {
            command->number = word + 1;
            continue;
        }
        if (!parse_letters(command, with_value, &i))
            return false;
    }
    return true;
}

const struct known_column *shell_column(const struct translator *t, const char *number)
{
    const size_t index = shell_is_number(number) ? (size_t)strtoul(number, NULL, 10) : 0;
    return index > 0 && index <= t->scope.count ? &t->scope.columns[index - 1] : NULL;
}

/* Columns by their numbers, as 1,3-4,6-. */
static const char *columns_of(struct translator *t, const char *numbers)
{
    const char *names = NULL;
    size_t before = 0;
    for (const char *part; (part = list_next(t, &numbers));) {
        const size_t digits = strspn(part, "0123456789");
        const size_t first = (size_t)strtoul(part, NULL, 10);
        const size_t last = !part[digits]      ? first
                            : part[digits + 1] ? (size_t)strtoul(part + digits + 1, NULL, 10)
                                               : t->scope.count;
        if (first <= before || last < first || last > t->scope.count || strspn(part, "0123456789-") != strlen(part))
            return NULL;
        for (size_t i = first; i <= last; i++)
            list_add(t, &names, "%s", t->scope.columns[i - 1].text);
        before = last;
    }
    return names;
}

/* A pattern that only a column of text can have: words with a letter that no number and no time has. */
static const char *grep(struct translator *t, const struct command *command, bool *counts)
{
    static const char instead[] = "`select NAME ~ 'REGEX'` searches a column";
    const char *pattern = command->program ? command->program : command->option['e' - 'a'];
    const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/ |";
    const bool any_case = command->option['i' - 'a'], inverts = command->option['v' - 'a'];
    const char *condition = NULL;
    *counts = command->option['c' - 'a'];
    if (!pattern || strspn(pattern, letters) != strlen(pattern) ||
        strspn(pattern, "0123456789TZaeinft ") == strlen(pattern) ||
        (strchr(pattern, '|') && strcmp(command->words[0], "egrep") != 0 && strcmp(command->words[1], "-E") != 0) ||
        command->option['o' - 'a'] || command->option['m' - 'a'])
        return translate_fail(t, "%s", instead).text;
    const bool plain = !any_case && !strchr(pattern, '|');
    for (size_t i = 0; i < t->scope.count; i++) {
        const struct known_column *column = &t->scope.columns[i];
        if (column->type != PHRASE_TEXT)
            continue;
        const char *test = arena_printf(t->arena, plain ? "contains(%s, '%s%s')" : "%s ~ '%s%s'", column->text,
                                        any_case ? "(?i)" : "", pattern);
        if (column->optional)
            test = arena_printf(t->arena, "(%s ?? false)", test);
        condition = condition ? arena_printf(t->arena, "%s or %s", condition, test) : test;
    }
    return condition ? arena_printf(t->arena, "%s %s", inverts ? "reject" : "select", condition)
                     : translate_fail(t, "%s", instead).text;
}

/* A key as `-k4,4nr`, with the options of all keys where it has none. NULL: it sorts otherwise than a column does. */
static const char *sort_key(struct translator *t, const struct command *command, const char *key,
                            const struct known_column *column)
{
    const char *flags = key ? key + strspn(key, "0123456789,.") : "";
    const bool own = *flags, number = column && column->type >= PHRASE_INT && column->type <= PHRASE_DECIMAL;
    const bool all_numeric = command->option['n' - 'a'] || command->option['g' - 'a'];
    const bool numeric = strpbrk(flags, "ng") || (!own && all_numeric);
    const bool down = strchr(flags, 'r') || (!own && command->option['r' - 'a']);
    if (!column || column->optional || (number && !numeric && column->type != PHRASE_INT) || (numeric && !number))
        return NULL;
    return arena_printf(t->arena, number && !numeric ? "text(%s)%s" : "%s%s", column->text, down ? " desc" : "");
}

/* -k4, -k4,4, -k3,3 -k4,4nr; `counted`: of `uniq -c`, whose counts come first */
static const char *sort(struct translator *t, const struct command *command, bool counted)
{
    static const char instead[] = "`sort NAME, NAME desc` sorts by columns, numbers by size and text by its characters";
    const char *separator = command->option['t' - 'a'];
    const bool unique = command->option['u' - 'a'], one = t->scope.count == 1;
    const bool plain = !command->option['n' - 'a'] && !command->option['r' - 'a'];
    const char *keys = NULL;
    if (command->key_count == 0 && !counted && plain && !one) /* lines, by their first characters */
        return t->scope.open || t->scope.columns[0].type == PHRASE_INT ? translate_fail(t, "%s", instead).text
               : unique                                                ? "distinct | sort"
                                                                       : "sort";
    for (size_t i = 0; i < (command->key_count > 0 ? command->key_count : 1); i++) {
        const char *key = command->key_count > 0 ? command->keys[i] : NULL;
        const char *digits = key ? arena_text(t->arena, key, strspn(key, "0123456789")) : "1";
        const bool of_count = counted && strcmp(digits, "1") == 0;
        const bool to_end = key && key[strlen(digits)] != ',' && i + 1 < command->key_count; /* `-k3 -k4` */
        const char *text = sort_key(t, command, key,
                                    of_count     ? known_find(&t->scope, NULL, "n")
                                    : key || one ? shell_column(t, digits)
                                                 : NULL);
        if (!text || (to_end && !strchr(key, 'n')))
            return translate_fail(t, "%s", instead).text;
        list_add(t, &keys, "%s", text);
        for (size_t k = 0; of_count && i + 1 == command->key_count + (command->key_count == 0) && k < t->scope.count;
             k++) {
            const struct known_column *other = &t->scope.columns[k]; /* equal counts are in the order of their lines */
            if (strcmp(other->name, "n") != 0)
                list_add(t, &keys, other->type == PHRASE_TEXT ? "%s%s" : "text(%s)%s", other->text,
                         command->option['r' - 'a'] ? " desc" : "");
        }
    }
    if ((unique && (command->key_count > 0 || !one)) || (separator && strcmp(separator, ",") != 0) ||
        (command->key_count > 0 && !counted && !separator && !one))
        return translate_fail(t, "%s", instead).text;
    return arena_printf(t->arena, "%ssort %s", unique ? "distinct | " : "", keys);
}

/* `sed -n 5,10p`, `sed -n 5p`, `sed 1d`, `sed 1,3d`: lines by their numbers, of which that with the names is the first.
 */
static const char *lines(struct translator *t, const struct command *command, bool named)
{
    const char *program = command->program;
    const size_t digits = program ? strspn(program, "0123456789") : 0;
    const bool range = digits > 0 && program[digits] == ',';
    const char *second = digits > 0 ? program + digits + range : "", *end = second + strspn(second, "0123456789$");
    const long first = digits > 0 ? strtol(program, NULL, 10) - named : 0;
    const long last = !range ? first : *second == '$' ? -1 : strtol(second, NULL, 10) - named;
    const bool prints = command->option['n' - 'a'] && strcmp(end, "p") == 0;
    const bool drops = !command->option['n' - 'a'] && strcmp(end, "d") == 0 && first <= 1 && last >= 0;
    if (digits == 0 || command->option['i' - 'a'] || (!prints && !drops) || (last >= 0 && last < first) || last == 0)
        return drops && last == 0 ? "" : NULL;
    if (drops)
        return arena_printf(t->arena, "skip %ld", last);
    const char *skip = first > 1 ? arena_printf(t->arena, "skip %ld", first - 1) : "";
    const char *take = last < 0 ? "" : arena_printf(t->arena, "take %ld", last - (first > 1 ? first - 1 : 0));
    return arena_printf(t->arena, "%s%s%s", skip, *skip && *take ? " | " : "", take);
}

/* The first or the last rows: `head -5`, `tail -n 5`, `tail -n +5`. */
static const char *rows(struct translator *t, const struct command *command, bool named)
{
    const char *name = command->words[0];
    const char *count = command->number ? command->number : command->option['n' - 'a'];
    if (!count && !command->option['c' - 'a'])
        return name;
    if (shell_is_number(count) && *name == 'h' && named) {
        const long taken = strtol(count, NULL, 10) - 1;
        return taken > 0
                   ? arena_printf(t->arena, "head %ld", taken)
                   : translate_fail(t, "the line of names is none of the rows: `take N` keeps the first rows").text;
    }
    if (shell_is_number(count))
        return arena_printf(t->arena, "%s %s", name, count);
    const long from =
        count && *count == '+' && *name == 't' && shell_is_number(count + 1) ? strtol(count + 1, NULL, 10) : 0;
    if (from < 1)
        return translate_fail(t, "`take N`, `tail N` and `skip N` keep rows by their places").text;
    const long skipped = from - 1 - named; /* the line of names is the first */
    return skipped < 1 ? "" : arena_printf(t->arena, "skip %ld", skipped);
}

/* What a pipeline has been through, and what it gives. */
struct shell_state {
    bool sorted, counted, value;
    bool named;   /* the first line has the names */
    bool numbers; /* a later command counts lines from that one */
};

static const char *instead_of(const char *name)
{
    return strcmp(name, "join") == 0 ? "`load FILE | join OTHER on KEY` joins two files"
           : is_one_of(name, "paste comm")
               ? "`load FILE | zip OTHER` joins rows by position, `except` and `intersect` compare them"
           : is_one_of(name, "cat head tail wc") ? "`load FILE | append OTHER` has the rows of both"
           : strcmp(name, "tac") == 0            ? "`sort row desc` turns the rows round"
           : strcmp(name, "nl") == 0             ? "`derive n = row + 1` numbers the rows"
           : strcmp(name, "tr") == 0 ? "`upper(s)` and `lower(s)` change case, `replace(s, a, b)` characters"
                                     : "`derive NAME = replace(NAME, 'a', 'b')` changes a text, "
                                       "`replace_regex` by a regular expression";
}

/* Takes its last stage away, which is a sort, that groups do not need: gives it back. */
static const char *drop_sort(struct translator *t, struct chain *chain)
{
    const char *last = strstr(chain->text, " | sort ");
    if (!last)
        return "sort";
    chain->text = arena_text(t->arena, chain->text, (size_t)(last - chain->text));
    return last + strlen(" | ");
}

static const char *stage_of(struct translator *t, const struct command *command, struct chain *chain,
                            struct shell_state *state)
{
    const char *name = command->words[0];
    bool counts = false;
    const char *stage = NULL;
    if (is_one_of(name, "head tail"))
        return rows(t, command, state->named && (*name == 't' || state->numbers));
    if (strcmp(name, "wc") == 0) {
        state->value = true;
        const bool others = command->option['c' - 'a'] || command->option['m' - 'a'] || command->option['w' - 'a'];
        return others ? translate_fail(t, "`count` counts the rows, `len(s)` the characters of a text").text : "count";
    }
    if (is_one_of(name, "grep egrep")) {
        stage = grep(t, command, &counts);
        state->value = counts;
        return counts && stage ? arena_printf(t->arena, "%s | count", stage) : stage;
    }
    if (is_one_of(name, "awk gawk mawk"))
        return shell_awk(t, command, &state->value);
    if (strcmp(name, "sort") == 0) {
        state->sorted = true;
        return sort(t, command, state->counted);
    }
    if (strcmp(name, "sed") == 0 && (stage = lines(t, command, state->named)))
        return stage;
    if (strcmp(name, "cut") == 0) {
        const char *separator = command->option['d' - 'a'], *fields = command->option['f' - 'a'];
        const char *names = separator && strcmp(separator, ",") == 0 && fields ? columns_of(t, fields) : NULL;
        return names ? arena_printf(t->arena, "pick %s", names)
                     : translate_fail(t,
                                      "`pick NAME, ...` keeps columns, `substr(s, from, n)` characters, `split(s, sep, "
                                      "k)` a part of a text")
                           .text;
    }
    if (strcmp(name, "uniq") == 0) {
        const bool others = command->option['d' - 'a'] || command->option['u' - 'a'] || command->option['i' - 'a'];
        if (!state->sorted || t->scope.count != 1 || others)
            return translate_fail(
                       t, "`distinct` drops repeated rows, wherever they are; `group K: count() as n` counts them")
                .text;
        state->counted = command->option['c' - 'a'];
        const char *order = drop_sort(t, chain);
        return state->counted ? arena_printf(t->arena, "group %s: count() as n | %s", t->scope.columns[0].text, order)
                              : arena_printf(t->arena, "distinct | %s", order);
    }
    return translate_fail(t, "%s", instead_of(name)).text;
}

bool is_shell(const struct translator *t, size_t begin)
{
    const char *at = arena_text(t->arena, t->text->text, t->text->length);
    struct command command;
    bool file = false;
    if (begin > 0)
        return false;
    for (size_t i = 0; *at; i++) {
        if (!parse_words(&at, &command, t->arena))
            return false;
        if (i == 0 && !*at && is_shell_tool(command.words[0]) && command.count > 1)
            return true;
        if (!is_one_of(command.words[0], programs))
            return false;
        const char *last = command.words[command.count - 1];
        file = file || (i == 0 && command.count > 1 && strpbrk(last, "./") && !strpbrk(last, "{}() "));
    }
    return file;
}

const char *translate_shell(struct translator *t)
{
    const char *at = arena_text(t->arena, t->text->text, t->text->length);
    struct shell_state state = {.named = true};
    struct chain chain = {0};
    t->at = t->end;
    while (*at) {
        struct command command;
        const bool read = parse_words(&at, &command, t->arena);
        if (read && is_shell_tool(command.words[0])) {
            const char *file, *stage = shell_tool(t, &command, &file);
            return stage ? arena_printf(t->arena, "load %s%s%s", file, *stage ? " | " : "", stage + (*stage == '='))
                         : NULL;
        }
        if (!read || !parse_options(&command))
            return translate_fail(
                       t, "`load \"|COMMAND\" csv` loads what a program prints; `.help stages` lists what there is")
                .text;
        const char *name = command.words[0];
        if (command.second || strcmp(name, "tr") == 0)
            return translate_fail(t, "%s", instead_of(name)).text;
        if (state.value || (command.file && chain.text))
            return translate_fail(t, "a value has no rows").text;
        if (!chain.text) {
            if (!command.file)
                return translate_fail(t, "a query begins with its source: `load FILE | ...`").text;
            chain.text = arena_printf(t->arena, "load %s", command.file);
            chain_columns(t, &chain);
        }
        state.numbers = strstr(at, "tail") || strstr(at, "sed");
        const char *stage = strcmp(name, "cat") == 0 ? "" : stage_of(t, &command, &chain, &state);
        if (!stage)
            return NULL;
        if (state.value)
            (void)chain_end(t, &chain, "%s", stage);
        else if (*stage)
            (void)chain_add(t, &chain, "%s", stage);
        state.named = state.named && (is_one_of(name, "cat sort cut head") ||
                                      (is_one_of(name, "grep egrep") && command.option['v' - 'a']));
    }
    return chain.text;
}
