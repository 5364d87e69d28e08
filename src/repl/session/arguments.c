#include "repl/session/arguments.h"

#include "repl/session/script.h"
#include "repl/session/session.h"

#include "engine/run/check.h"

#include <string.h>

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

/* `a==3` is a comparison, not a definition. */
static bool is_named(const char *argument, size_t length)
{
    return length > 0 && argument[length] == '=' && argument[length + 1] != '=';
}

static void write_definition(struct strbuf *text, const char *argument, size_t number)
{
    const size_t length = name_length(argument);
    const bool named = is_named(argument, length);
    strbuf_puts(text, "let ");
    if (named)
        strbuf_add(text, argument, length);
    else
        strbuf_printf(text, "arg%zu", number);
    strbuf_printf(text, " = %s", named ? argument + length + 1 : argument);
}

/* Arguments may come from other programs: a second statement in one is refused. */
static bool is_one_definition(const struct script *script)
{
    return script->parsed == PARSE_OK && script->first && script->first->kind == STMT_LET && !script->first->next;
}

/* Keeps the text as given, for use as a path or text. */
static const char *keep_text(struct session *session, const char *argument, size_t number)
{
    const size_t length = name_length(argument);
    const bool named = is_named(argument, length);
    struct strbuf name = {0};
    if (named)
        strbuf_add(&name, argument, length);
    else
        strbuf_printf(&name, "arg%zu", number);
    const char *text = named ? argument + length + 1 : argument;
    env_set_argument(session->runner.env, name.text, text);
    strbuf_free(&name);
    return text;
}

/* Whether the value is nothing but a path, which would be loaded. */
static bool is_bare_path(const struct stmt *definition)
{
    const struct pipeline *pipeline = definition->pipeline;
    return pipeline && pipeline->stage_count == 0 && pipeline->source.kind == SOURCE_LOAD &&
           pipeline->source.span.begin == pipeline->source.paths->path.span.begin &&
           pipeline->source.span.end == pipeline->source.paths->path.span.end;
}

/* Whether it is a path or a text, because it is neither a value nor a pipeline, right or wrong. */
static bool is_only_text(struct session *session, const struct script *script, const char *text)
{
    if (strpbrk(text, "|;\n"))
        return false;
    if (is_one_definition(script) && is_bare_path(script->first))
        return true;
    struct env *trial = env_copy(session->runner.env);
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    const bool is_value =
        is_one_definition(script) && check_statement(trial, script->first, arena, &diags) == STATUS_OK;
    env_free(trial);
    arena_free(arena);
    return !is_value;
}

/* `name`: for errors. */
static enum exit_status define(struct session *session, const char *name, const char *argument, size_t number)
{
    struct strbuf text = {0};
    write_definition(&text, argument, number);
    struct script *script = script_new(name, &text, PARSE_SCRIPT);
    if (is_only_text(session, script, keep_text(session, argument, number))) {
        script_free(script);
        return EXIT_FINE;
    }
    if (script->parsed == PARSE_OK && !is_one_definition(script)) {
        (void)diag_error(&script->diags, (struct span){&script->source, 0, (uint32_t)script->source.length},
                         "an argument must be one value or pipeline");
        script->parsed = PARSE_FAILED;
        script->first = NULL;
    }
    const enum exit_status outcome = script_run(session, script);
    return outcome == EXIT_QUERY ? EXIT_USAGE : outcome;
}

enum exit_status arguments_define(struct session *session, const struct options *options)
{
    enum exit_status outcome = EXIT_FINE;
    for (size_t i = 0; i < options->named_count && outcome == EXIT_FINE; i++)
        outcome = define(session, "--arg", options->named[i], 0);
    for (size_t i = 0; i < options->argument_count && outcome == EXIT_FINE; i++) {
        struct strbuf name = {0};
        strbuf_printf(&name, "argument %zu", i + 1);
        outcome = define(session, name.text, options->arguments[i], i + 1);
        strbuf_free(&name);
    }
    return outcome;
}
