/* Lines of a shell: programs on a file of values between commas, with `|` between them.
 *
 * The file's first line, which names its columns, is one of the lines there and none of the rows here. A line is
 * answered where its columns decide what it does, and else told plainly. */
#include "repl/rewrite/chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static bool is_number(const char *text)
{
    return text && *text && strspn(text, "0123456789") == strlen(text);
}

/* Whether the option changes what the tool prints in a way that has no form here. */
static bool has_no_form(const char *name, char option)
{
    return (strcmp(name, "grep") == 0 && !strchr("ceivhmr", option)) || strcmp(name, "cat") == 0 ||
           (strcmp(name, "tail") == 0 && option == 'f');
}

/* Options, of which some have a value, and what is none. False: one is not known. */
static bool parse_options(struct command *command)
{
    static const struct {
        const char *name, *with_value;
    } values[] = {{"head", "nc"}, {"tail", "nc"}, {"awk", "Fv"}, {"sort", "tk"}, {"cut", "dfc"}, {"grep", "em"}};
    const char *name = command->words[0], *with_value = "";
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        with_value = strcmp(name, values[i].name) == 0 ? values[i].with_value : with_value;
    const bool program = is_one_of(name, "grep egrep awk gawk mawk sed");
    for (size_t i = 1; i < command->count; i++) {
        const char *word = command->words[i];
        if (*word == '+' && is_number(word + 1) && strcmp(name, "tail") == 0) {
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
        if (is_number(word + 1)) {
            command->number = word + 1;
            continue;
        }
        for (word++; *word; word++) {
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
            *option = word[1] ? word + 1 : i + 1 < command->count ? command->words[++i] : "";
            if (*word == 'k' && command->key_count < MOST_KEYS)
                command->keys[command->key_count++] = *option;
            break;
        }
    }
    return true;
}

static const struct known_column *column_of(const struct translator *t, const char *number)
{
    const size_t index = is_number(number) ? (size_t)strtoul(number, NULL, 10) : 0;
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

/* Whether the program has the form, in which $ is the number of a column, @ a name, the same one each time. */
static bool has_form(const char *program, const char *form, char *const numbers[2], char name[16])
{
    size_t found = 0;
    *name = '\0';
    for (;; form++) {
        program += strspn(program, " ;");
        if (*form == '\0')
            return !*program;
        if (*form == '$') {
            const size_t digits = *program == '$' ? strspn(program + 1, "0123456789") : 0;
            if (digits == 0 || digits > 7)
                return false;
            snprintf(numbers[found++], 8, "%.*s", (int)digits, program + 1);
            program += digits + 1;
        } else if (*form == '@') {
            const size_t length = strspn(program, "abcdefghijklmnopqrstuvwxyz");
            if (length == 0 || length > 15 ||
                (*name && (strlen(name) != length || strncmp(name, program, length) != 0)))
                return false;
            snprintf(name, 16, "%.*s", (int)length, program);
            program += length;
        } else if (*form != ' ' && *program++ != *form) {
            return false;
        }
    }
}

/* $4 > 100, $3 == "x" */
static const char *awk_condition(struct translator *t, const char *program)
{
    const struct known_column *column;
    const size_t digits = *program == '$' ? strspn(program + 1, "0123456789") : 0;
    column = column_of(t, arena_text(t->arena, program + (digits > 0), digits));
    const char *rest = program + 1 + digits;
    rest += strspn(rest, " ");
    const size_t sign = strspn(rest, "<>=!");
    const char *value = rest + sign + strspn(rest + sign, " ");
    const size_t length = strlen(value);
    if (!column || sign == 0 || sign > 2 || column->optional || length == 0)
        return NULL;
    const bool text = value[0] == '"' && value[length - 1] == '"' && length > 1 && !strpbrk(value, "'\\");
    const bool numeral = strspn(value, "0123456789.") == length;
    if (text ? column->type != PHRASE_TEXT : !numeral || column->type == PHRASE_TEXT)
        return NULL;
    return arena_printf(t->arena, "select %s %.*s %s", column->text, (int)sign, rest, value);
}

/* A program of awk; *value: it gives a value. */
static const char *awk(struct translator *t, const struct command *command, bool *value)
{
    static const char instead[] =
        "`map` computes columns, `select E` keeps rows, `group K: sum(x)` adds up; columns have names";
    static const struct {
        const char *form, *stage; /* A and B: the columns, of which the last is summed */
        bool value;
    } forms[] = {
        {"{print $}", "pick A", false},
        {"{@ += $} END {print @}", "sum A", true},
        {"{@ += $} END {print @ / NR}", "mean A", true},
        {"END {print NR}", "count", true},
        {"{@[$]++} END {for (k in @) print k, @[k]}", "group A: count()", false},
        {"{@[$] += $} END {for (k in @) print k, @[k]}", "group A: sum(B)", false},
    };
    char first[8] = "", second[8] = "", name[16];
    char *const numbers[] = {first, second};
    const char *separator = command->option['f' - 'a'];
    if (!command->program || !separator || strcmp(separator, ",") != 0)
        return translate_fail(t, "%s", instead).text;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (!has_form(command->program, forms[i].form, numbers, name))
            continue;
        const struct known_column *of[] = {column_of(t, first), column_of(t, second)};
        const bool sums = strstr(forms[i].stage, "sum") || strstr(forms[i].stage, "mean");
        const struct known_column *last = of[1] ? of[1] : of[0];
        if ((*first && !of[0]) || (*second && !of[1]) || (sums && (last->type == PHRASE_TEXT || last->optional)))
            break;
        struct phrase columns[2] = {phrase_operand(of[0] ? of[0]->text : "", PHRASE_UNKNOWN),
                                    phrase_operand(of[1] ? of[1]->text : "", PHRASE_UNKNOWN)};
        *value = forms[i].value;
        return phrase_fill(forms[i].stage, LEVEL_OPERAND, PHRASE_UNKNOWN, columns, 2, t->arena).text;
    }
    const char *brace = strchr(command->program, '{');
    size_t length = brace ? (size_t)(brace - command->program) : strlen(command->program);
    while (length > 0 && command->program[length - 1] == ' ')
        length--;
    const char *condition = awk_condition(t, arena_text(t->arena, command->program, length));
    if (condition && !brace)
        return condition;
    if (!condition || !has_form(brace, "{print $}", numbers, name) || !column_of(t, first))
        return translate_fail(t, "%s", instead).text;
    return arena_printf(t->arena, "%s | pick %s", condition, column_of(t, first)->text);
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
                                    : key || one ? column_of(t, digits)
                                                 : NULL);
        if (!text || (to_end && !strchr(key, 'n')))
            return translate_fail(t, "%s", instead).text;
        list_add(t, &keys, "%s", text);
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
    if (is_number(count))
        return arena_printf(t->arena, "%s %s", name, count);
    const long from = count && *count == '+' && *name == 't' && is_number(count + 1) ? strtol(count + 1, NULL, 10) : 0;
    if (from < 1)
        return translate_fail(t, "`take N`, `tail N` and `skip N` keep rows by their places").text;
    const long skipped = from - 1 - named; /* the line of names is the first */
    return skipped < 1 ? "" : arena_printf(t->arena, "skip %ld", skipped);
}

/* What a pipeline has been through, and what it gives. */
struct shell_state {
    bool sorted, counted, named, value;
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
        return rows(t, command, state->named);
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
        return awk(t, command, &state->value);
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
        if (!parse_words(&at, &command, t->arena) || !is_one_of(command.words[0], programs))
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
        if (!parse_words(&at, &command, t->arena) || !parse_options(&command))
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
        const char *stage = strcmp(name, "cat") == 0 ? "" : stage_of(t, &command, &chain, &state);
        if (!stage)
            return NULL;
        if (state.value)
            (void)chain_end(t, &chain, "%s", stage);
        else if (*stage)
            (void)chain_add(t, &chain, "%s", stage);
        state.named = state.named && (!*stage || strcmp(name, "sort") == 0);
    }
    return chain.text;
}
