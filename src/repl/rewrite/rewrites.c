#include "repl/rewrite/rewrites.h"

#include "repl/rewrite/rewrite_pattern.h"
#include "repl/rewrite/translate.h"

#include "engine/run/run.h"

#include <string.h>

/* Limits: of the bytes of a statement, of the rules applied to it, and of the matches tried. */
enum { MAX_STATEMENT = 2000, MAX_REWRITES = 8, MAX_TRIES = 400 };

enum rewrite_kind { REWRITE_OF_LINE, REWRITE_OF_ADVICE, REWRITE_OF_NOTE };

struct rewrite {
    enum rewrite_kind kind;
    const char
        *error; /* parts of the message of an error of names or types, to which it applies; NULL: to errors of syntax */
    const char *pattern;
    const char *replacement; /* of a line */
    const char *message;
    const char *operand; /* of REWRITE_WHOLE: what is converted; else NULL */
};

static const struct rewrite rewrites[] = {
#define REWRITE(pattern, replacement, message) {REWRITE_OF_LINE, NULL, pattern, replacement, message, NULL},
#define REWRITE_MEANING(error, pattern, replacement, message)                                                          \
    {REWRITE_OF_LINE, error, pattern, replacement, message, NULL},
#define REWRITE_WHOLE(operand, pattern, replacement, message)                                                          \
    {REWRITE_OF_LINE, NULL, pattern, replacement, message, operand},
#define REWRITE_ADVICE(pattern, message)                {REWRITE_OF_ADVICE, NULL, pattern, NULL, message, NULL},
#define REWRITE_ADVICE_MEANING(error, pattern, message) {REWRITE_OF_ADVICE, error, pattern, NULL, message, NULL},
#define REWRITE_NOTE(pattern, message)                  {REWRITE_OF_NOTE, NULL, pattern, NULL, message, NULL},
#include "repl/rewrite/rewrites.def"
#undef REWRITE
#undef REWRITE_MEANING
#undef REWRITE_WHOLE
#undef REWRITE_ADVICE
#undef REWRITE_ADVICE_MEANING
#undef REWRITE_NOTE
};

/* A statement being corrected. */
enum { MAX_BEFORE = 1 << 20 /* bytes that are looked at */ };

struct correction {
    const struct env *env;
    enum parse_mode mode;
    struct arena *arena;
    const char *before;  /* the statements before it, or NULL */
    struct diags *heard; /* notes about files that are read on the way */
    int left;            /* texts to try */
    bool sourceless;     /* the last of them had a source that is not there yet */
};

/* The statement after some rewrites. */
struct state {
    const char *text;
    size_t length;
    struct rewrite_error error;
    const char *meaning; /* the message of an error of meaning, or NULL */
    const char *message; /* of the first rewrites that say something */
    int said;            /* how many */
    size_t begin, end;   /* what has changed */
};

static const char *expanded(const struct rewrite_text *text, const struct rewrite_match *match, const char *message,
                            struct arena *arena)
{
    struct strbuf out = {0};
    rewrite_fill(&out, text, match, message);
    return strbuf_take(&out, arena);
}

/* What the rewrites so far and one more say: at most two things, each once. */
static void say(const struct correction *c, const struct state *before, const char *message, struct state *after)
{
    enum { MOST_SAID = 2 };
    const bool repeated = before->message && strstr(before->message, message);
    const bool more = !repeated && before->said < MOST_SAID;
    after->said = before->said + more;
    after->message = !before->message ? message
                     : more           ? arena_printf(c->arena, "%s; %s", before->message, message)
                                      : before->message;
}

/* Copies what replaces a match into *after. */
static void replace(const struct correction *c, const struct state *before, const struct rewrite_text *text,
                    const struct rewrite_match *match, const struct rewrite *rewrite, struct state *after)
{
    struct strbuf line = {0};
    const bool first = !before->message;
    strbuf_add(&line, before->text, match->begin);
    rewrite_expand(&line, text, match, rewrite->replacement);
    const size_t end = line.length;
    /* The blank that ends a replacement stands for the one that follows. */
    size_t rest = match->end;
    if (end > 0 && line.text[end - 1] == ' ' && rest < before->length && before->text[rest] == ' ')
        rest++;
    strbuf_add(&line, before->text + rest, before->length - rest);
    *after = (struct state){
        .text = arena_text(c->arena, line.text ? line.text : "", line.length),
        .length = line.length,
        .begin = first || match->begin < before->begin ? match->begin : before->begin,
        .end = first || match->end > before->end ? end : line.length - (before->length - before->end),
    };
    strbuf_free(&line);
    say(c, before, expanded(text, match, rewrite->message, c->arena), after);
}

/* Whether it is an error of syntax: also of a stage that is unknown when it is bound. */
static bool is_of_syntax(const struct diag *diag)
{
    static const char start[] = "expected ";
    return diag->statement.source || strncmp(diag->message, start, strlen(start)) == 0;
}

/* Whether the error is that a source is not there yet: the line runs as soon as it is. */
static bool is_of_source(const struct diag *diag)
{
    static const char *const starts[] = {"unknown relation", "no such file"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        if (strncmp(diag->message, starts[i], strlen(starts[i])) == 0)
            return true;
    }
    return false;
}

/* Whether the statement has a meaning, too. */
static bool has_meaning(struct correction *c, const struct stmt *stmt, struct state *state)
{
    if (stmt->kind == STMT_COMMAND)
        return true;
    struct diags diags;
    diags_init(&diags, c->arena);
    struct env *env = env_copy(c->env);
    env->peeks = true;
    (void)check_statement(env, stmt, c->arena, &diags);
    env_free(env);
    for (size_t i = 0; i < diags.count; i++) {
        const struct diag *diag = &diags.at[i];
        c->sourceless = c->sourceless || is_of_source(diag);
        if (diag->severity != SEVERITY_ERROR || is_of_source(diag))
            continue;
        state->meaning = is_of_syntax(diag) ? NULL : diag->message;
        state->error = (struct rewrite_error){diag->span.begin, diag->span.end};
        return false;
    }
    return true;
}

/* Whether the text is a statement. If not, *state has its error. */
static bool is_statement(struct correction *c, struct state *state)
{
    struct source source = {"", state->text, state->length};
    struct diags diags;
    struct stmt *first;
    diags_init(&diags, c->arena);
    c->left--;
    if (parse(&source, c->mode, c->arena, &diags, &first) == PARSE_OK)
        return first && !first->next && has_meaning(c, first, state);
    if (diags.count > 0)
        state->error = (struct rewrite_error){diags.at[0].span.begin, diags.at[0].span.end};
    else
        c->left = 0;
    return false;
}

/* Whether the message has one of these parts, which have semicolons between them. */
static bool has_part(const char *message, const char *parts, struct arena *arena)
{
    for (;; parts++) {
        const size_t length = strcspn(parts, ";");
        if (strstr(message, arena_text(arena, parts, length)))
            return true;
        parts += length;
        if (!*parts)
            return false;
    }
}

static bool applies(const struct correction *c, const struct rewrite *rewrite, const struct state *state)
{
    return !rewrite->error == !state->meaning &&
           (!rewrite->error || has_part(state->meaning, rewrite->error, c->arena));
}

/* Whether the rule's conversion gives the same here. SQL rounds to an integer, `int` drops the fraction: the operand
 * has to be of a type without one. */
static bool converts_alike(struct correction *c, const struct state *before, const struct rewrite_text *text,
                           const struct rewrite_match *match, const struct rewrite *rewrite)
{
    static const char *const probes[] = {"(%s) & 1", "(%s) && true", "len(%s)"}; /* of integers, conditions, texts */
    struct strbuf function = {0};
    rewrite_expand(&function, text, match, "C");
    bool alike = strcmp(strbuf_take(&function, c->arena), "int") != 0;
    for (size_t i = 0; i < sizeof probes / sizeof *probes && !alike; i++) {
        struct rewrite tried = *rewrite;
        struct state after;
        tried.replacement = arena_printf(c->arena, probes[i], rewrite->operand);
        replace(c, before, text, match, &tried, &after);
        c->sourceless = false;
        alike = is_statement(c, &after) && !c->sourceless;
    }
    return alike;
}

/* Applies so many rules one after another, each at the error that is left, until the text is a valid statement. */
static bool correct(struct correction *c, struct state *state, int count)
{
    const struct rewrite_text text = rewrite_tokenize(state->text, state->length, c->arena);
    for (size_t i = 0; i < sizeof rewrites / sizeof *rewrites && c->left > 0; i++) {
        const struct rewrite *rewrite = &rewrites[i];
        struct rewrite_match match;
        if (rewrite->kind != REWRITE_OF_LINE || !applies(c, rewrite, state) ||
            !rewrite_match(&text, rewrite->pattern, state->error, c->env, c->arena, &match) ||
            (rewrite->operand && !converts_alike(c, state, &text, &match, rewrite)))
            continue;
        struct state after;
        replace(c, state, &text, &match, rewrite, &after);
        if (is_statement(c, &after) ? count == 1 : count > 1 && correct(c, &after, count - 1)) {
            *state = after;
            return true;
        }
    }
    return false;
}

/* Corrects the statement by as few rewrites as possible. */
static bool find_correction(struct correction *c, struct state *state)
{
    c->left = MAX_TRIES;
    for (int count = 1; count <= MAX_REWRITES; count++) {
        if (correct(c, state, count))
            return true;
    }
    return false;
}

/* The lines that have changed. */
static const char *changed_lines(const struct state *state, struct arena *arena)
{
    size_t begin = state->begin, end = state->end;
    while (begin > 0 && state->text[begin - 1] != '\n')
        begin--;
    while (end < state->length && state->text[end] != '\n')
        end++;
    while (end > begin && state->text[end - 1] == ' ')
        end--;
    return arena_text(arena, state->text + begin, end - begin);
}

/* Where no line says the same. */
static void advise(const struct correction *c, const struct state *state, struct diag *diag)
{
    const struct rewrite_text text = rewrite_tokenize(state->text, state->length, c->arena);
    struct rewrite_match match;
    for (size_t i = 0; i < sizeof rewrites / sizeof *rewrites; i++) {
        if (rewrites[i].kind == REWRITE_OF_ADVICE && applies(c, &rewrites[i], state) &&
            rewrite_match(&text, rewrites[i].pattern, state->error, c->env, c->arena, &match)) {
            diag->hint = expanded(&text, &match, rewrites[i].message, c->arena);
            return;
        }
    }
}

enum outcome { OUTCOME_NONE, OUTCOME_LINE, OUTCOME_ADVICE };

/* Translates the statement if it is of a language that is read as a whole. A line that is shown has been bound. */
static enum outcome translate_statement(struct correction *c, const struct state *state, struct diag *diag)
{
    struct env *env = env_copy(c->env);
    env->heard = c->heard;
    const struct translation translation = translate_line(env, c->before, state->text, state->length, c->arena);
    env_free(env);
    if (!translation.found)
        return OUTCOME_NONE;
    if (translation.line) {
        struct state line = {.text = translation.line, .length = strlen(translation.line)};
        c->left = 1;
        if (is_statement(c, &line)) {
            diag->message = translation.message;
            diag->hint = arena_printf(c->arena, "write `%s`", translation.line);
            return OUTCOME_LINE;
        }
    }
    /* A line that could be read has an error of its own, unless its names are those of another language, or a column
     * stands where one value has to: "`t` has 7 rows". */
    if (!translation.instead || (state->meaning && strncmp(translation.instead, "there is no column", 18) == 0) ||
        (state->meaning &&
         !has_part(state->meaning,
                   "unknown;expected a function;no such file;is not an aggregate;is a stage, not a function",
                   c->arena) &&
         !has_part(translation.instead,
                   "in a chain the frame's name;a value of a group beside;values of two groupings;NumPy", c->arena) &&
         (*state->meaning != '`' || !strstr(state->meaning, " rows") ||
          strstr(translation.instead, "is not understood"))))
        return OUTCOME_NONE;
    diag->message = translation.message;
    diag->hint = translation.instead;
    return OUTCOME_ADVICE;
}

/* Corrects the statement of the error; returns whether what it says now is of the whole statement. */
static bool correct_error(const struct env *env, enum parse_mode mode, struct diags *diags, struct diag *diag,
                          struct span statement, struct diags *heard)
{
    const bool meaning = !is_of_syntax(diag);
    if (!statement.source || diag->second.source || diag->span.source != statement.source ||
        diag->span.begin < statement.begin || statement.end - statement.begin > MAX_STATEMENT)
        return false;
    struct correction c = {.env = env, .mode = mode, .arena = diags->arena, .heard = heard};
    if (statement.begin <= MAX_BEFORE)
        c.before = arena_text(diags->arena, statement.source->text, statement.begin);
    struct state state = {
        .text = arena_text(diags->arena, statement.source->text + statement.begin, statement.end - statement.begin),
        .length = statement.end - statement.begin,
        .error = {diag->span.begin - statement.begin, diag->span.end - statement.begin},
        .meaning = meaning ? diag->message : NULL,
    };
    const enum outcome outcome = translate_statement(&c, &state, diag);
    if (outcome != OUTCOME_NONE)
        return true;
    if (!find_correction(&c, &state)) {
        advise(&c, &state, diag);
        return false;
    }
    diag->message = state.message;
    diag->hint = arena_printf(diags->arena, "write `%s`", changed_lines(&state, diags->arena));
    return true;
}

/* Drops the errors of the statement after number `first`: the correction is for all. */
static void drop_errors(struct diags *diags, size_t first, struct span statement)
{
    size_t kept = first + 1;
    for (size_t i = kept; i < diags->count; i++) {
        const struct diag *diag = &diags->at[i];
        if (diag->severity != SEVERITY_ERROR || diag->span.source != statement.source ||
            diag->span.begin < statement.begin || diag->span.begin > statement.end)
            diags->at[kept++] = *diag;
    }
    diags->count = kept;
}

void rewrites_correct(const struct env *env, enum parse_mode mode, struct diags *diags, size_t since,
                      struct span statement)
{
    struct diags heard;
    diags_init(&heard, diags->arena);
    for (size_t i = since; i < diags->count; i++) {
        struct diag *diag = &diags->at[i];
        if (diag->severity != SEVERITY_ERROR || diag->of_rows)
            continue;
        const struct span whole = diag->statement.source ? diag->statement : statement;
        if (correct_error(env, mode, diags, diag, whole, &heard))
            drop_errors(diags, i, whole);
    }
    diags_append(diags, &heard);
}

/* `-2#t` of q, whose end is a comment here. */
static void note_rows_of_q(const struct env *env, struct span statement, struct diags *diags)
{
    const char *text = statement.source->text + statement.begin, *end = statement.source->text + statement.end;
    const char *count = text + (*text == '-'), *name = end + 1;
    if (end == count || strspn(count, "0123456789") < (size_t)(end - count) || *end != '#')
        return;
    if (*name == '`' || strncmp(name + (*name == '('), "select ", 7) == 0) { /* 10#`x xdesc t */
        name += *name == '(';
        struct env *copy = env_copy(env);
        const struct translation of = translate_line(copy, NULL, name, strcspn(name, ";)\n"), diags->arena);
        env_free(copy);
        if (of.line)
            diag_note(diags, statement, "`#` begins a comment; `%s | %s %.*s` has rows of that", of.line,
                      count > text ? "tail" : "take", (int)(end - count), count);
        return;
    }
    const char *source = arena_text(diags->arena, name, strcspn(name, " \n"));
    const struct binding *binding = env_find(env, source);
    if (binding && binding->kind == BINDING_RELATION)
        diag_note(diags, statement, "`#` begins a comment; `%s | %s %.*s` has rows of `%s`", source,
                  count > text ? "tail" : "take", (int)(end - count), count, source);
}

/* `like 'A*'`, which finds the star. */
static void note_stars(const struct rewrite_text *text, struct span statement, struct diags *diags)
{
    for (size_t i = 0; i + 1 < text->count; i++) {
        const struct rewrite_token *pattern = &text->tokens[i + 1];
        const char *written = arena_text(diags->arena, text->text + pattern->begin, pattern->end - pattern->begin);
        if (pattern->kind != REWRITE_QUOTED || !rewrite_token_is(text, i, "like", 4) || !strchr(written, '*') ||
            strpbrk(written, "%_"))
            continue;
        const struct span span = {statement.source, statement.begin + (uint32_t)pattern->begin,
                                  statement.begin + (uint32_t)pattern->end};
        diag_note(diags, span, "in `like`, %% stands for any text and _ for a character; `*` is itself");
    }
}

void rewrites_note(const struct env *env, struct span statement, struct diags *diags)
{
    if (!statement.source || statement.end - statement.begin > MAX_STATEMENT)
        return;
    const struct rewrite_text text =
        rewrite_tokenize(statement.source->text + statement.begin, statement.end - statement.begin, diags->arena);
    const struct rewrite_error whole = {0, text.length};
    struct rewrite_match match;
    for (size_t i = 0; i < sizeof rewrites / sizeof *rewrites; i++) {
        if (rewrites[i].kind != REWRITE_OF_NOTE ||
            !rewrite_match(&text, rewrites[i].pattern, whole, env, diags->arena, &match))
            continue;
        struct span span = {statement.source, statement.begin + (uint32_t)match.begin,
                            statement.begin + (uint32_t)match.end};
        diag_note(diags, span, "%s", expanded(&text, &match, rewrites[i].message, diags->arena));
        return;
    }
    note_rows_of_q(env, statement, diags);
    note_stars(&text, statement, diags);
}
