/* An argument is data: it is parsed to see whether it is the literal of a number, date or the like, and never run. What
 * is no literal is a text, as given. */
#include "base/text.h"
#include "repl/session/data_files.h"

#include "repl/session/script.h"
#include "repl/session/session.h"

#include <string.h>

/* Types that `NAME:TYPE=VALUE` may state. */
static const struct argument_type {
    const char *name;
    enum expr_kind literal; /* EXPR_TEXT: whatever the value looks like */
} types[] = {{"text", EXPR_TEXT},        {"int", EXPR_INT},   {"float", EXPR_FLOAT},
             {"bool", EXPR_BOOL},        {"date", EXPR_DATE}, {"timestamp", EXPR_TIMESTAMP},
             {"duration", EXPR_DURATION}};

struct given {
    const char *label; /* for errors */
    const char *name;
    const char *value;
    const struct argument_type *type; /* NULL: its form tells */
    const char *unknown;              /* a stated type that there is not; or NULL */
};

/* The length of a possible name at the start; the parser decides whether it is one. */
static size_t name_length(const char *text)
{
    size_t length = 0;
    for (; text[length]; length++) {
        const unsigned char byte = (unsigned char)text[length];
        const bool letter = (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
        const bool digit = byte >= '0' && byte <= '9';
        if (!letter && !digit && byte != '_' && byte < 0x80)
            break;
    }
    return length;
}

/* NAME=VALUE or NAME:TYPE=VALUE; anything else is the value of `argK`. `a==3` names nothing. */
static struct given read_given(const char *argument, size_t number, struct arena *arena)
{
    struct given given = {.value = argument, .name = arena_printf(arena, "arg%zu", number)};
    const size_t length = name_length(argument);
    const char *end = argument + length, *type = NULL;
    if (*end == ':') {
        const size_t letters = name_length(end + 1);
        type = arena_text(arena, end + 1, letters);
        end += 1 + letters;
    }
    if (length == 0 || *end != '=' || end[1] == '=')
        return given;
    given.name = arena_text(arena, argument, length);
    given.value = end + 1;
    given.type = type ? TABLE_ROW(types, type) : NULL;
    given.unknown = given.type ? NULL : type;
    return given;
}

/* The only statement that the text parses to: `let NAME = VALUE`. NULL if there is none. */
static struct script *parse_value(const struct given *given, const char *before, const char *written, const char *after)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "let %s = %s%s%s", given->name, before, written, after);
    return script_new(given->label, &text, PARSE_SCRIPT);
}

/* Identifiers such as 00501 are texts, as in text files. */
static bool leads_with_zero(const char *written)
{
    const char *digits = written + (*written == '-');
    return digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' && !strpbrk(digits, ".-:eE");
}

/* The kind of literal that the whole value is; EXPR_TEXT: none. */
static enum expr_kind literal_of(const struct given *given)
{
    enum expr_kind kind = EXPR_TEXT;
    if (!strchr("-.0123456789tf", given->value[0]) || strpbrk(given->value, " \t\r\n;#") ||
        leads_with_zero(given->value))
        return kind;
    struct script *script = parse_value(given, "", given->value, "");
    const struct stmt *stmt = script->first;
    if (script->parsed == PARSE_OK && stmt && stmt->kind == STMT_LET && !stmt->next && stmt->expr) {
        const struct expr *expr = stmt->expr;
        if (expr->kind == EXPR_UNARY && expr->op.unary == UNARY_NEG)
            expr = expr->args[0];
        if (expr->kind == EXPR_INT || expr->kind == EXPR_FLOAT || expr->kind == EXPR_DURATION || expr == stmt->expr)
            kind = expr->kind;
    }
    script_free(script);
    const bool known = kind == EXPR_INT || kind == EXPR_FLOAT || kind == EXPR_BOOL || kind == EXPR_DATE ||
                       kind == EXPR_TIMESTAMP || kind == EXPR_DURATION;
    return known ? kind : EXPR_TEXT;
}

static enum exit_status refuse(struct session *session, struct script *script, const char *message, const char *hint)
{
    script->diags.count = 0;
    (void)diag_error(&script->diags, (struct span){&script->source, 0, (uint32_t)script->source.length}, "%s", message);
    diag_hint(&script->diags, "%s", hint);
    script->parsed = PARSE_FAILED;
    script->first = NULL;
    (void)script_run(session, script);
    return EXIT_USAGE;
}

static enum exit_status define(struct session *session, const char *label, const char *argument, size_t number)
{
    struct arena *arena = session->memory;
    struct given given = read_given(argument, number, arena);
    given.label = label;
    /* Names that `let` refuses are refused, and errors show the argument as given. */
    struct script *named = parse_value(&given, "0", "", "");
    if (named->parsed != PARSE_OK || !named->first || named->first->next) {
        const enum exit_status outcome = script_run(session, named);
        return outcome == EXIT_FINE ? EXIT_USAGE : outcome == EXIT_QUERY ? EXIT_USAGE : outcome;
    }
    script_free(named);
    const enum expr_kind kind = given.type && given.type->literal == EXPR_TEXT ? EXPR_TEXT : literal_of(&given);
    const bool converts = given.type && given.type->literal == EXPR_FLOAT && kind == EXPR_INT;
    if (given.unknown || (given.type && given.type->literal != kind && !converts)) {
        struct strbuf text = {0};
        strbuf_puts(&text, argument);
        const char *message = given.unknown ? arena_printf(arena, "there is no type `%s` of arguments", given.unknown)
                                            : arena_printf(arena, "this is no %s: `%s`", given.type->name, given.value);
        return refuse(session, script_new(label, &text, PARSE_SCRIPT), message,
                      given.unknown ? "NAME:TYPE=VALUE has text, int, float, bool, date, timestamp or duration"
                                    : "`NAME:text=VALUE` takes any text");
    }
    env_set_argument(session->runner.env, given.name, given.value);
    if (kind == EXPR_TEXT)
        return EXIT_FINE;
    const enum exit_status outcome =
        script_run(session, parse_value(&given, converts ? "float(" : "", given.value, converts ? ")" : ""));
    return outcome == EXIT_QUERY ? EXIT_USAGE : outcome;
}

enum exit_status arguments_define(struct session *session, const struct options *options)
{
    enum exit_status outcome = EXIT_FINE;
    for (size_t i = 0; i < options->named_count && outcome == EXIT_FINE; i++)
        outcome = define(session, "--arg", options->named[i], 0);
    for (size_t i = 0; i < options->argument_count && outcome == EXIT_FINE; i++)
        outcome = define(session, arena_printf(session->memory, "argument %zu", i + 1), options->arguments[i], i + 1);
    return outcome;
}
