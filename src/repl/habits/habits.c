#include "repl/habits/habits.h"

#include "repl/habits/habit_pattern.h"

#include "engine/bind/check.h"

#include <string.h>

/* Longer statements were not typed from a habit. */
enum { MAX_STATEMENT = 2000, MAX_HABITS = 8, MAX_TRIES = 400 };

struct habit {
    const char *pattern;
    const char *replacement; /* NULL: advice without one */
    const char *message;
    const char *error; /* part of the message of the error of meaning that it answers; NULL: errors of syntax */
};

static const struct habit habits[] = {
#define HABIT(pattern, replacement, message)                {pattern, replacement, message, NULL},
#define HABIT_MEANING(error, pattern, replacement, message) {pattern, replacement, message, error},
#define HABIT_ADVICE(pattern, message)                      {pattern, NULL, message, NULL},
#define HABIT_ADVICE_MEANING(error, pattern, message)       {pattern, NULL, message, error},
#define HABIT_NOTE(pattern, message)
#include "repl/habits/habits.def"
#undef HABIT
#undef HABIT_MEANING
#undef HABIT_ADVICE
#undef HABIT_ADVICE_MEANING
#undef HABIT_NOTE
};

static const struct habit noted_habits[] = {
#define HABIT(pattern, replacement, message)
#define HABIT_MEANING(error, pattern, replacement, message)
#define HABIT_ADVICE(pattern, message)
#define HABIT_ADVICE_MEANING(error, pattern, message)
#define HABIT_NOTE(pattern, message) {pattern, NULL, message, NULL},
#include "repl/habits/habits.def"
#undef HABIT
#undef HABIT_MEANING
#undef HABIT_ADVICE
#undef HABIT_ADVICE_MEANING
#undef HABIT_NOTE
};

/* A statement being corrected. */
struct correction {
    const struct env *env;
    enum parse_mode mode;
    struct arena *arena;
    int left; /* texts to try */
};

/* The statement as it is after some habits. */
struct state {
    const char *text;
    size_t length;
    struct habit_error error;
    const char *meaning; /* the message of an error of meaning, or NULL */
    const char *message; /* of the first habit */
    size_t begin, end;   /* what has changed */
};

static const char *expanded(const struct habit_text *text, const struct habit_match *match, const char *message,
                            struct arena *arena)
{
    struct strbuf out = {0};
    habit_fill(&out, text, match, message);
    const char *copy = arena_text(arena, out.text ? out.text : "", out.length);
    strbuf_free(&out);
    return copy;
}

/* Copies what replaces a match into *after. */
static void replace(const struct correction *c, const struct state *before, const struct habit_text *text,
                    const struct habit_match *match, const struct habit *habit, struct state *after)
{
    struct strbuf line = {0};
    const bool first = !before->message;
    strbuf_add(&line, before->text, match->begin);
    habit_expand(&line, text, match, habit->replacement);
    const size_t end = line.length;
    /* The blank that ends a replacement stands for the one that follows. */
    size_t rest = match->end;
    if (end > 0 && line.text[end - 1] == ' ' && rest < before->length && before->text[rest] == ' ')
        rest++;
    strbuf_add(&line, before->text + rest, before->length - rest);
    *after = (struct state){
        .text = arena_text(c->arena, line.text ? line.text : "", line.length),
        .length = line.length,
        .message = first ? expanded(text, match, habit->message, c->arena) : before->message,
        .begin = first || match->begin < before->begin ? match->begin : before->begin,
        .end = first || match->end > before->end ? end : line.length - (before->length - before->end),
    };
    strbuf_free(&line);
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
static bool has_meaning(const struct correction *c, const struct stmt *stmt, struct state *state)
{
    if (stmt->kind == STMT_COMMAND)
        return true;
    struct diags diags;
    diags_init(&diags, c->arena);
    struct env *env = env_copy(c->env);
    (void)check_statement(env, stmt, c->arena, &diags);
    env_free(env);
    for (size_t i = 0; i < diags.count; i++) {
        const struct diag *diag = &diags.at[i];
        if (diag->severity != SEVERITY_ERROR || is_of_source(diag))
            continue;
        state->meaning = is_of_syntax(diag) ? NULL : diag->message;
        state->error = (struct habit_error){diag->span.begin, diag->span.end};
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
        state->error = (struct habit_error){diags.at[0].span.begin, diags.at[0].span.end};
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

static bool answers(const struct correction *c, const struct habit *habit, const struct state *state)
{
    return !habit->error == !state->meaning && (!habit->error || has_part(state->meaning, habit->error, c->arena));
}

/* Applies as many habits at the error, each at what the one before has left, if the text then is a statement. */
static bool correct(struct correction *c, struct state *state, int count)
{
    const struct habit_text text = habit_tokenize(state->text, state->length, c->arena);
    for (size_t i = 0; i < sizeof habits / sizeof *habits && c->left > 0; i++) {
        const struct habit *habit = &habits[i];
        struct habit_match match;
        if (!habit->replacement || !answers(c, habit, state) ||
            !habit_match(&text, habit->pattern, state->error, c->env, c->arena, &match))
            continue;
        struct state after;
        replace(c, state, &text, &match, habit, &after);
        if (is_statement(c, &after) ? count == 1 : count > 1 && correct(c, &after, count - 1)) {
            *state = after;
            return true;
        }
    }
    return false;
}

/* With as few habits as possible. */
static bool find_correction(struct correction *c, struct state *state)
{
    c->left = MAX_TRIES;
    for (int count = 1; count <= MAX_HABITS; count++) {
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
    const struct habit_text text = habit_tokenize(state->text, state->length, c->arena);
    struct habit_match match;
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++) {
        if (!habits[i].replacement && answers(c, &habits[i], state) &&
            habit_match(&text, habits[i].pattern, state->error, c->env, c->arena, &match)) {
            diag->hint = expanded(&text, &match, habits[i].message, c->arena);
            return;
        }
    }
}

/* Returns whether the error now has the answer. */
static bool answer(const struct env *env, enum parse_mode mode, struct diags *diags, struct diag *diag,
                   struct span statement)
{
    const bool meaning = !is_of_syntax(diag);
    if (!statement.source || diag->second.source || diag->span.source != statement.source ||
        diag->span.begin < statement.begin || statement.end - statement.begin > MAX_STATEMENT)
        return false;
    struct correction c = {.env = env, .mode = mode, .arena = diags->arena};
    struct state state = {
        .text = arena_text(diags->arena, statement.source->text + statement.begin, statement.end - statement.begin),
        .length = statement.end - statement.begin,
        .error = {diag->span.begin - statement.begin, diag->span.end - statement.begin},
        .meaning = meaning ? diag->message : NULL,
    };
    if (!find_correction(&c, &state)) {
        advise(&c, &state, diag);
        return false;
    }
    diag->message = state.message;
    diag->hint = arena_printf(diags->arena, "write `%s`", changed_lines(&state, diags->arena));
    return true;
}

/* Drops the errors of the statement after number `first`: the answer is for all. */
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

void habits_answer(const struct env *env, enum parse_mode mode, struct diags *diags, size_t since,
                   struct span statement)
{
    for (size_t i = since; i < diags->count; i++) {
        struct diag *diag = &diags->at[i];
        if (diag->severity != SEVERITY_ERROR || diag->of_rows)
            continue;
        const struct span whole = diag->statement.source ? diag->statement : statement;
        if (answer(env, mode, diags, diag, whole))
            drop_errors(diags, i, whole);
    }
}

void habits_note(const struct env *env, struct span statement, struct diags *diags)
{
    if (!statement.source || statement.end - statement.begin > MAX_STATEMENT)
        return;
    const struct habit_text text =
        habit_tokenize(statement.source->text + statement.begin, statement.end - statement.begin, diags->arena);
    const struct habit_error whole = {0, text.length};
    struct habit_match match;
    for (size_t i = 0; i < sizeof noted_habits / sizeof *noted_habits; i++) {
        if (!habit_match(&text, noted_habits[i].pattern, whole, env, diags->arena, &match))
            continue;
        struct span span = {statement.source, statement.begin + (uint32_t)match.begin,
                            statement.begin + (uint32_t)match.end};
        diag_note(diags, span, "%s", expanded(&text, &match, noted_habits[i].message, diags->arena));
        return;
    }
}
