/* Programs of awk: conditions on columns, what is printed, counts and sums. */
#include "repl/rewrite/shell.h"

#include <stdio.h>
#include <string.h>

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

/* $4 > 100, $3 == "x", $4 ~ /x/ */
static const char *awk_test(struct translator *t, const char *program)
{
    const struct known_column *column;
    const size_t digits = *program == '$' ? strspn(program + 1, "0123456789") : 0;
    column = shell_column(t, arena_text(t->arena, program + (digits > 0), digits));
    const char *rest = program + 1 + digits;
    rest += strspn(rest, " ");
    const size_t sign = strspn(rest, "<>=!");
    const size_t slash = *rest == '~' ? 1 + strspn(rest + 1, " ") : 0, end = strlen(rest);
    const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ ";
    if (slash > 0 && column && column->type == PHRASE_TEXT && !column->optional && end > slash + 2 &&
        rest[slash] == '/' && rest[end - 1] == '/' && strspn(rest + slash + 1, letters) == end - slash - 2)
        return arena_printf(t->arena, "contains(%s, '%.*s')", column->text, (int)(end - slash - 2), rest + slash + 1);
    const char *value = rest + sign + strspn(rest + sign, " ");
    const size_t length = strlen(value);
    if (!column || sign == 0 || sign > 2 || column->optional || length == 0)
        return NULL;
    const bool text = value[0] == '"' && value[length - 1] == '"' && length > 1 && !strpbrk(value, "'\\");
    const bool numeral = strspn(value, "0123456789.") == length;
    if (text ? column->type != PHRASE_TEXT : !numeral || column->type == PHRASE_TEXT)
        return NULL;
    return arena_printf(t->arena, "%s %.*s %s", column->text, (int)sign, rest, value);
}

/* Tests with && between them; `NR > 1` leaves the line of names out. NULL: it is none; "": it leaves nothing else out.
 */
static const char *awk_condition(struct translator *t, const char *program, size_t length)
{
    const char *all = "", *text = arena_text(t->arena, program, length);
    while (*text) {
        const char *sign = strstr(text, "&&"), *rest = sign ? sign + 2 : text + strlen(text);
        size_t end = (size_t)(rest - text) - (sign ? 2 : 0);
        while (end > 0 && text[end - 1] == ' ')
            end--;
        const char *part = arena_text(t->arena, text, end);
        if (strcmp(part, "NR > 1") != 0 && strcmp(part, "NR>1") != 0) {
            const char *test = awk_test(t, part);
            if (!test)
                return NULL;
            all = *all ? arena_printf(t->arena, "%s and %s", all, test) : test;
        }
        text = rest + strspn(rest, " ");
    }
    return all;
}

/* {print $2, $3}, {print $2 "," $3}: the columns, or NULL */
static const char *awk_columns(struct translator *t, const char *action)
{
    const char *names = NULL, *at = action + strspn(action, "{ ");
    if (strncmp(at, "print", 5) != 0)
        return NULL;
    for (at += 5; *(at += strspn(at, " ")) == '$';) {
        const size_t digits = strspn(at + 1, "0123456789");
        const struct known_column *column = shell_column(t, arena_text(t->arena, at + 1, digits));
        if (!column)
            return NULL;
        list_add(t, &names, "%s", column->text);
        at += 1 + digits;
        at += strspn(at, " ");
        at += strncmp(at, "\",\"", 3) == 0 ? 3 : *at == ',';
    }
    return strcmp(at + strspn(at, " "), "}") == 0 ? names : NULL;
}

const char *shell_awk(struct translator *t, const struct command *command, bool *value)
{
    static const char instead[] =
        "`map` computes columns, `select E` keeps rows, `group K: sum(x)` adds up; columns have names";
    static const struct {
        const char *form, *stage; /* A and B: the columns, of which the last is summed */
        bool value;
    } forms[] = {
        {"{@++} END {print @}", "count", true},
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
    const char *brace = strchr(command->program, '{');
    if (strncmp(command->program, "END", 3) == 0)
        brace = command->program;
    const size_t length = brace ? (size_t)(brace - command->program) : strlen(command->program);
    const char *condition = awk_condition(t, command->program, length), *columns = NULL;
    if (!condition)
        return translate_fail(t, "%s", instead).text;
    const char *select = *condition ? arena_printf(t->arena, "select %s", condition) : "";
    if (!brace)
        return select;
    columns = awk_columns(t, brace);
    if (columns)
        return arena_printf(t->arena, "%s%spick %s", select, *select ? " | " : "", columns);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (!has_form(brace, forms[i].form, numbers, name))
            continue;
        const struct known_column *of[] = {shell_column(t, first), shell_column(t, second)};
        const bool sums = strstr(forms[i].stage, "sum") || strstr(forms[i].stage, "mean");
        const struct known_column *last = of[1] ? of[1] : of[0];
        if ((*first && !of[0]) || (*second && !of[1]) || (sums && (last->type == PHRASE_TEXT || last->optional)))
            break;
        struct phrase both[2] = {phrase_operand(of[0] ? of[0]->text : "", PHRASE_UNKNOWN),
                                 phrase_operand(of[1] ? of[1]->text : "", PHRASE_UNKNOWN)};
        if (*condition && strstr(forms[i].form, "NR"))
            break; /* the number of all lines */
        *value = forms[i].value;
        const char *stage = phrase_fill(forms[i].stage, LEVEL_OPERAND, PHRASE_UNKNOWN, both, 2, t->arena).text;
        return arena_printf(t->arena, "%s%s%s", select, *select ? " | " : "", stage);
    }
    return translate_fail(t, "%s", instead).text;
}
