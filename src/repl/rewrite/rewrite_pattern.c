#include "repl/rewrite/rewrite_pattern.h"

#include "engine/plan/aggregates.h"
#include "engine/plan/functions.h"
#include "parser/words.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Enough for any line that a person types; a pattern with several runs could take long on others. */
enum { MAX_STEPS = 20000, MAX_ELEMENTS = 64, MAX_WORD = 64, MAX_ALTERNATIVES = 12 };

struct element {
    char letter; /* of a class; 0: literal, '[' and ']': what may be left out, '^' and '$': START and END */
    bool here;   /* the error is at this element */
    size_t jump; /* of '[': the place of its ']' */
    struct {
        const char *text;
        size_t length;
    } words[MAX_ALTERNATIVES]; /* of a literal: the alternatives */
    size_t word_count;
};

struct matcher {
    const struct rewrite_text *text;
    const struct env *env;
    struct rewrite_error error;
    struct element *elements; /* those before `count` are set: zeroing all takes as long as a match */
    size_t count;
    size_t steps;
    struct rewrite_match *match;
};

static bool match_from(struct matcher *m, size_t element, size_t token);

static void compile(struct matcher *m, const char *pattern, struct arena *arena)
{
    const struct rewrite_text tokens = rewrite_tokenize(pattern, strlen(pattern), arena);
    size_t open = 0;
    bool here = false;
    for (size_t i = 0; i < tokens.count && m->count < MAX_ELEMENTS; i++) {
        const char *text = pattern + tokens.tokens[i].begin;
        size_t length = tokens.tokens[i].end - tokens.tokens[i].begin;
        struct element *element = &m->elements[m->count];
        *element = (struct element){.here = here};
        here = *text == '@';
        if (here)
            continue;
        if (*text == '[' || *text == ']') {
            element->letter = *text;
            open = *text == '[' ? m->count : open;
            m->elements[open].jump = m->count;
        } else if (length == 5 && memcmp(text, "START", length) == 0) {
            element->letter = '^';
        } else if (length == 3 && memcmp(text, "END", length) == 0) {
            element->letter = '$';
        } else if (length == 1 && *text >= 'A' && *text <= 'Z') {
            element->letter = *text;
        } else {
            if (*text == '\\' && ++i < tokens.count) {
                text = pattern + tokens.tokens[i].begin;
                length = tokens.tokens[i].end - tokens.tokens[i].begin;
            }
            element->words[element->word_count].text = text;
            element->words[element->word_count++].length = length;
            while (i + 2 < tokens.count && tokens.tokens[i].kind == REWRITE_WORD &&
                   pattern[tokens.tokens[i].end] == '/' && tokens.tokens[i + 2].kind == REWRITE_WORD &&
                   element->word_count < MAX_ALTERNATIVES) {
                i += 2;
                element->words[element->word_count].text = pattern + tokens.tokens[i].begin;
                element->words[element->word_count++].length = tokens.tokens[i].end - tokens.tokens[i].begin;
            }
        }
        m->count++;
    }
}

static const struct rewrite_token *at(const struct matcher *m, size_t token)
{
    return &m->text->tokens[token];
}

static char first_of(const struct matcher *m, size_t token)
{
    return at(m, token)->kind == REWRITE_END ? '\0' : m->text->text[at(m, token)->begin];
}

static bool is_sign(const struct matcher *m, size_t token, const char *sign)
{
    return rewrite_token_is(m->text, token, sign, strlen(sign));
}

static bool is_open(char c)
{
    return c == '(' || c == '[' || c == '{';
}

static bool is_close(char c)
{
    return c == ')' || c == ']' || c == '}';
}

static bool ends_stage(const struct matcher *m, size_t token)
{
    return at(m, token)->kind == REWRITE_END || is_sign(m, token, "|") || is_sign(m, token, ";") ||
           is_sign(m, token, ")");
}

/* The token after the brackets that open at `token`, or `token` if they are not closed. */
static size_t after_brackets(const struct matcher *m, size_t token)
{
    size_t depth = 0;
    for (size_t i = token; i < m->text->count; i++) {
        const bool sign = at(m, i)->kind == REWRITE_SIGN;
        depth += sign && is_open(first_of(m, i)) ? 1 : 0;
        if (sign && is_close(first_of(m, i)) && --depth == 0)
            return i + 1;
    }
    return token;
}

/* The first token of the statement, or of what follows `let NAME =` or `explain`. */
static bool at_start(const struct matcher *m, size_t token)
{
    return token == 0 || (token == 1 && is_sign(m, 0, "explain")) ||
           (token == 3 && is_sign(m, 0, "let") && is_sign(m, 2, "="));
}

static const char *word_at(const struct matcher *m, size_t token, char *word)
{
    const size_t length = at(m, token)->end - at(m, token)->begin;
    if (at(m, token)->kind != REWRITE_WORD || length >= MAX_WORD)
        return "";
    memcpy(word, m->text->text + at(m, token)->begin, length);
    word[length] = '\0';
    return word;
}

static bool is_relation(const struct matcher *m, const char *name)
{
    const struct binding *binding = m->env ? env_find(m->env, name) : NULL;
    return binding && binding->kind == BINDING_RELATION;
}

static bool is_aggregate(const char *name)
{
    return aggregate_find(name);
}

/* The types of other languages and the functions that convert to them. */
static const char *conversion_to(const char *type)
{
    static const struct {
        const char *type, *function;
    } conversions[] = {{"int", "int"},           {"integer", "int"},   {"bigint", "int"}, {"smallint", "int"},
                       {"int32", "int"},         {"int64", "int"},     {"i64", "int"},    {"long", "int"},
                       {"float", "float"},       {"double", "float"},  {"real", "float"}, {"float64", "float"},
                       {"f64", "float"},         {"numeric", "float"}, {"date", "date"},  {"timestamp", "timestamp"},
                       {"datetime", "timestamp"}};
    for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++) {
        if (strcasecmp(type, conversions[i].type) == 0)
            return conversions[i].function;
    }
    return NULL;
}

static bool is_stage(const char *name)
{
    const struct word *word = word_find(name, strlen(name));
    return word && word->stage != STAGE_NONE;
}

static bool is_other_case(const char *word)
{
    char lower[MAX_WORD];
    const size_t length = strlen(word);
    for (size_t i = 0; i <= length; i++)
        lower[i] = word[i] >= 'A' && word[i] <= 'Z' ? (char)(word[i] + 32) : word[i];
    return strcmp(word, lower) != 0 && word_find(lower, length);
}

/* Whether one token is of the class. */
static bool is_one(const struct matcher *m, char class, size_t token)
{
    char buffer[MAX_WORD];
    const char *word = word_at(m, token, buffer);
    const struct rewrite_token *found = at(m, token);
    const bool quoted = found->kind == REWRITE_QUOTED && first_of(m, token) != '`';
    switch (class) {
    case 'N':
    case 'O':
        return found->kind == REWRITE_WORD || (found->kind == REWRITE_QUOTED && !quoted);
    case 'I':
    case 'J':
        return found->kind == REWRITE_NUMBER;
    case 'D':
        return found->kind == REWRITE_NUMBER && found->adjacent && found->end - found->begin == 3;
    case 'T':
    case 'U':
    case 'V':
        return quoted;
    case 'F':
        return function_find(word) || is_aggregate(word);
    case 'G':
        return is_aggregate(word);
    case 'R':
        return is_relation(m, word);
    case 'C':
        return conversion_to(word);
    case 'Q':
        return is_stage(word);
    case 'W':
        return is_other_case(word);
    default:
        return false;
    }
}

/* The token after a path, or `token` if there is none. A name is one only if `names`. */
static size_t after_path(const struct matcher *m, size_t token, bool names)
{
    if (at(m, token)->kind == REWRITE_QUOTED)
        return first_of(m, token) == '`' ? token : token + 1;
    size_t end = token;
    bool path = names;
    while (end < m->text->count && (end == token || at(m, end)->adjacent) &&
           !strchr("|;,()[]<>=\"'`", first_of(m, end))) {
        path = path || strchr("./~", first_of(m, end));
        end++;
    }
    return path && at(m, token)->kind != REWRITE_NUMBER ? end : token;
}

static size_t after_operand(const struct matcher *m, size_t token)
{
    const struct rewrite_token *found = at(m, token);
    if (found->kind == REWRITE_SIGN && is_open(first_of(m, token)))
        return after_brackets(m, token);
    if (found->kind == REWRITE_SIGN || found->kind == REWRITE_END)
        return token;
    bool call = found->kind == REWRITE_WORD && is_sign(m, token + 1, "(") && at(m, token + 1)->adjacent;
    const size_t end = call ? after_brackets(m, token + 1) : token + 1;
    return end == token + 1 && call ? token : end;
}

static bool same_text(const struct matcher *m, struct rewrite_capture a, struct rewrite_capture b)
{
    return a.end - a.begin == b.end - b.begin &&
           memcmp(m->text->text + a.begin, m->text->text + b.begin, a.end - a.begin) == 0;
}

/* Takes tokens begin..end-1 for the element and matches the rest. */
static bool take(struct matcher *m, size_t element, size_t begin, size_t end)
{
    const char letter = m->elements[element].letter;
    struct rewrite_capture *slot = &m->match->captures[letter - 'A'];
    const struct rewrite_capture before = *slot;
    struct rewrite_capture found = {at(m, begin)->begin, at(m, end - 1)->end};
    if (letter == 'U' || letter == 'V')
        found = (struct rewrite_capture){found.begin + 1, found.end - 1};
    if (before.end && !same_text(m, before, found))
        return false;
    *slot = found;
    if (match_from(m, element + 1, end))
        return true;
    *slot = before;
    return false;
}

/* Runs of tokens, shortest first. */
static bool take_run(struct matcher *m, size_t element, size_t begin)
{
    const char letter = m->elements[element].letter;
    const bool list = strchr("LKM", letter), all = letter == 'H';
    for (size_t end = begin; end < m->text->count;) {
        const bool sign = at(m, end)->kind == REWRITE_SIGN;
        if (!all && sign &&
            (is_close(first_of(m, end)) || is_sign(m, end, "|") || is_sign(m, end, ";") ||
             (!list && is_sign(m, end, ","))))
            return false;
        const size_t next = !all && sign && is_open(first_of(m, end)) ? after_brackets(m, end) : end + 1;
        if (next == end)
            return false;
        end = next;
        if ((!all || end == m->text->count) && take(m, element, begin, end))
            return true;
    }
    return false;
}

static bool is_here(const struct matcher *m, size_t token)
{
    const bool last = token > 0 && m->error.begin == m->error.end && m->error.begin == at(m, token - 1)->end;
    return (m->error.begin >= at(m, token)->begin && m->error.begin < at(m, token)->end) || last;
}

static bool match_literal(struct matcher *m, size_t element, size_t token)
{
    const struct element *e = &m->elements[element];
    for (size_t i = 0; i < e->word_count; i++) {
        if (!rewrite_token_is(m->text, token, e->words[i].text, e->words[i].length))
            continue;
        const struct rewrite_capture before = m->match->word;
        if (e->word_count > 1 && !before.end)
            m->match->word = (struct rewrite_capture){at(m, token)->begin, at(m, token)->end};
        if (match_from(m, element + 1, token + 1))
            return true;
        m->match->word = before;
    }
    return false;
}

/* Whether the elements from this one on match from this token on. */
static bool match_from(struct matcher *m, size_t element, size_t token)
{
    if (element == m->count) {
        m->match->end = token > 0 ? at(m, token - 1)->end : 0;
        return true;
    }
    const struct element *e = &m->elements[element];
    if (m->steps++ > MAX_STEPS || (e->here && !is_here(m, token)))
        return false;
    switch (e->letter) {
    case '\0':
        return at(m, token)->kind != REWRITE_END && match_literal(m, element, token);
    case '[':
        return match_from(m, element + 1, token) || match_from(m, e->jump + 1, token);
    case ']':
        return match_from(m, element + 1, token);
    case '^':
        return at_start(m, token) && match_from(m, element + 1, token);
    case '$':
        return ends_stage(m, token) && match_from(m, element + 1, token);
    default:
        break;
    }
    if (at(m, token)->kind == REWRITE_END)
        return false;
    if (strchr("EXYZLKMH", e->letter))
        return take_run(m, element, token);
    const size_t end = strchr("AB", e->letter)   ? after_operand(m, token)
                       : strchr("PS", e->letter) ? after_path(m, token, e->letter == 'S')
                                                 : token + is_one(m, e->letter, token);
    return end > token && take(m, element, token, end);
}

bool rewrite_match(const struct rewrite_text *text, const char *pattern, struct rewrite_error error,
                   const struct env *env, struct arena *arena, struct rewrite_match *match)
{
    struct element elements[MAX_ELEMENTS];
    struct matcher m = {.text = text, .env = env, .error = error, .elements = elements, .match = match};
    compile(&m, pattern, arena);
    for (size_t token = 0; token < text->count; token++) {
        *match = (struct rewrite_match){.begin = text->tokens[token].begin};
        if (match_from(&m, 0, token) && match->begin <= error.end && error.begin <= match->end)
            return true;
    }
    return false;
}

/* Expanding replacements. */

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_part_of_word(char c)
{
    return is_upper(c) || (c >= 'a' && c <= 'z') || c == '_';
}

/* Whether the letter at `text + i` stands for a capture: no letter is beside it. */
static bool is_placeholder(const char *text, size_t i)
{
    return is_upper(text[i]) && (i == 0 || !is_part_of_word(text[i - 1])) && !is_part_of_word(text[i + 1]);
}

static void expand_capture(struct strbuf *out, char letter, const char *text, size_t length, bool less_one)
{
    char word[MAX_WORD] = "";
    if (length < sizeof word)
        memcpy(word, text, length);
    if (less_one) {
        strbuf_printf(out, "%lld", strtoll(word, NULL, 10) - 1);
    } else if (letter == 'C') {
        strbuf_puts(out, conversion_to(word));
    } else if (letter == 'W') {
        for (size_t i = 0; i < length; i++)
            strbuf_putc(out, is_upper(text[i]) ? (char)(text[i] + 32) : text[i]);
    } else {
        const bool file = letter == 'S' && (!name_is_plain(word) || strchr(word, '.'));
        strbuf_puts(out, file ? "load " : "");
        strbuf_add(out, text, length);
    }
}

/* Whether every letter of replacement[begin..] up to its `]` matched something. *end: that place. */
static bool is_complete(const struct rewrite_match *match, const char *replacement, size_t begin, size_t *end)
{
    bool complete = true;
    for (*end = begin; replacement[*end] != ']'; ++*end) {
        if (is_placeholder(replacement, *end))
            complete = complete && match->captures[replacement[*end] - 'A'].end;
    }
    return complete;
}

void rewrite_expand(struct strbuf *out, const struct rewrite_text *text, const struct rewrite_match *match,
                    const char *replacement)
{
    for (size_t i = 0; replacement[i]; i++) {
        const char c = replacement[i];
        size_t end;
        if (c == '[' && !is_complete(match, replacement, i + 1, &end)) {
            i = end;
        } else if (c == '\\') {
            strbuf_putc(out, replacement[++i]);
        } else if (c == '@') {
            strbuf_add(out, text->text + match->word.begin, match->word.end - match->word.begin);
        } else if (is_placeholder(replacement, i) && match->captures[c - 'A'].end) {
            const struct rewrite_capture *found = &match->captures[c - 'A'];
            const bool less_one = strchr("IJ", c) && replacement[i + 1] == '\'';
            expand_capture(out, c, text->text + found->begin, found->end - found->begin, less_one);
            i += less_one ? 1 : 0;
        } else if (c != '[' && c != ']') {
            strbuf_putc(out, c);
        }
    }
}

void rewrite_fill(struct strbuf *out, const struct rewrite_text *text, const struct rewrite_match *match,
                  const char *message)
{
    for (size_t i = 0; message[i]; i++) {
        if (message[i] != '{') {
            strbuf_putc(out, message[i]);
            continue;
        }
        const struct rewrite_capture *found = &match->captures[message[i + 1] - 'A'];
        expand_capture(out, message[i + 1], text->text + found->begin, found->end - found->begin, false);
        i += 2;
    }
}
