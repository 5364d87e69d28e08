/* libFuzzer target for the parser: any input yields trees or errors; errors point into the text and contain no terminal
 * control bytes. */
#include "base/utf8.h"
#include "parser/parse.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_text(const char *text)
{
    for (size_t at = 0, length = strlen(text); at < length;) {
        uint32_t code = 0;
        size_t size = utf8_decode(text + at, length - at, &code);
        require(size > 0 && !utf8_is_control(code));
        at += size;
    }
}

static void check_diag(const struct source *source, const struct diag *diag)
{
    require(diag->span.begin <= diag->span.end && diag->span.end <= source->length);
    check_text(diag->message);
    if (diag->hint)
        check_text(diag->hint);
    struct place place = source_place(source, diag->span.begin);
    require(place.line >= 1 && place.column >= 1 && place.length <= source->length);
}

static void parse_as(const struct source *source, enum parse_mode mode)
{
    struct arena *arena = arena_new();
    struct diags diags;
    struct stmt *first;
    diags_init(&diags, arena);
    enum parse_result result = parse(source, mode, arena, &diags, &first);

    require(diags_have_errors(&diags) == (result == PARSE_FAILED));
    require(mode == PARSE_PROMPT || result != PARSE_INCOMPLETE);
    require(diags.count <= LIMIT_ERRORS + 1);
    for (size_t i = 0; i < diags.count; i++)
        check_diag(source, &diags.at[i]);
    /* Statements are in order and do not overlap. */
    uint32_t end = 0;
    for (const struct stmt *stmt = first; stmt; stmt = stmt->next) {
        require(stmt->span.begin >= end && stmt->span.end >= stmt->span.begin && stmt->span.end <= source->length);
        end = stmt->span.end;
    }
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    require(text != NULL);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    const struct source source = {"fuzz", text, size};
    char open[8];

    parse_as(&source, PARSE_SCRIPT);
    parse_as(&source, PARSE_PROMPT);
    parse_open_delimiters(&source, open, sizeof open);
    free(text);
    return 0;
}
