#include "repl/session/data_files.h"

#include "repl/session/script.h"
#include "repl/session/session.h"

#include "engine/formats/file_list.h"
#include "engine/formats/formats.h"
#include "engine/storage/program_input.h"

#include <string.h>
#include <sys/stat.h>

bool is_data_file(const char *argument)
{
    const struct format *format = format_of_path(argument);
    struct stat info;
    if (path_is_program(argument))
        return false;
    return strstr(argument, "://") || (format && format_loads(format)) ||
           (stat(argument, &info) == 0 && S_ISDIR(info.st_mode));
}

static bool can_be_named(const char *name)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "let %s = 1", name);
    struct script *script = script_new("", &text, PARSE_SCRIPT);
    const bool valid = script->parsed == PARSE_OK;
    script_free(script);
    return valid;
}

/* A new name from the file's: what is no letter or digit becomes `_`; a word of the language and a name that is taken
 * get a suffix. */
static const char *name_of_file(const struct session *session, const char *path)
{
    struct arena *arena = session->memory;
    struct strbuf text = {0};
    const char *file = strstr(path, "://") ? arena_text(arena, path, strcspn(path, "?")) : path;
    for (const char *c = path_stem(file, arena); *c; c++) {
        const unsigned char byte = (unsigned char)*c, letter = byte | 0x20;
        const bool digit = byte >= '0' && byte <= '9';
        if (digit && text.length == 0)
            strbuf_putc(&text, '_');
        if ((byte & 0xc0) != 0x80) /* one for each code point */
            strbuf_putc(&text, digit || (letter >= 'a' && letter <= 'z' && byte < 0x80) ? *c : '_');
    }
    const bool blank = text.length == 0 || strspn(text.text, "_") == text.length;
    const char *stem = blank ? "data" : arena_text(arena, text.text, text.length), *name = stem;
    strbuf_free(&text);
    for (int i = 2; env_find(session->runner.env, name) || !can_be_named(name); i++)
        name = arena_printf(arena, "%s_%d", stem, i);
    return name;
}

void add_quoted_path(struct strbuf *text, const char *path)
{
    if (strchr(path, '\''))
        strbuf_add_literal(text, path);
    else
        strbuf_printf(text, "'%s'", path);
}

enum exit_status data_files_define(struct session *session, const struct options *options)
{
    enum exit_status outcome = EXIT_FINE;
    for (size_t i = 0; i < options->file_count && outcome == EXIT_FINE; i++) {
        struct strbuf text = {0};
        session->data_name = name_of_file(session, options->files[i]);
        strbuf_printf(&text, "let %s = load ", session->data_name);
        add_quoted_path(&text, options->files[i]);
        outcome = script_run(session, script_new("", &text, PARSE_SCRIPT));
    }
    return outcome == EXIT_QUERY ? EXIT_USAGE : outcome;
}

enum exit_status data_files_show(struct session *session)
{
    struct strbuf text = {0};
    strbuf_puts(&text, session->data_name);
    return script_run(session, script_new("", &text, PARSE_PROMPT));
}

void data_files_continue(const struct session *session, struct strbuf *text)
{
    const size_t blank = text->text ? strspn(text->text, " \t\r\n") : 0;
    if (!session->data_name || !text->text || text->text[blank] != '|')
        return;
    struct strbuf whole = {0};
    strbuf_puts(&whole, session->data_name);
    strbuf_putc(&whole, ' ');
    strbuf_add(&whole, text->text, text->length);
    strbuf_free(text);
    *text = whole;
}
