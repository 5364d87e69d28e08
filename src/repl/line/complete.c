#include "repl/line/complete.h"

#include "base/text.h"
#include "repl/session/commands.h"

#include "base/time/time_zone.h"
#include "engine/formats/formats.h"
#include "engine/formats/open_file.h"
#include "engine/plan/functions.h"
#include "engine/run/preview.h"
#include "parser/next.h"

#include <ctype.h>
#include <string.h>

enum { MAX_PARTS = 24 };

/* Collects the names that begin with the text typed. */
struct offer {
    const char *typed;
    struct arena *arena;
    struct completions *found;
    size_t capacity;
};

static bool is_offered(const struct offer *offer, const char *name)
{
    return ROW_NAMED(offer->found->names, offer->found->count, name);
}

static void add(struct offer *offer, const char *name)
{
    struct completions *found = offer->found;
    *ARENA_PUSH(offer->arena, found->names, found->count, offer->capacity) = name;
}

static void offer_name(struct offer *offer, const char *name)
{
    if (strncmp(name, offer->typed, strlen(offer->typed)) == 0 && !is_offered(offer, name))
        add(offer, name);
}

/* A name that needs backquotes is offered only before anything is typed. */
static void offer_column(struct offer *offer, const char *name)
{
    if (name_is_plain(name))
        offer_name(offer, name);
    else if (!*offer->typed && !strchr(name, '`'))
        offer_name(offer, arena_printf(offer->arena, "`%s`", name));
}

/* Letters that a single column has in this order are replaced by it if no name begins with the text. */
static void offer_columns(struct offer *offer, const char *const *names, size_t count)
{
    const size_t before = offer->found->count;
    const char *column = NULL;
    size_t matches = 0;
    for (size_t i = 0; i < count; i++) {
        offer_column(offer, names[i]);
        if (name_has_letters(names[i], offer->typed) && name_is_plain(names[i])) {
            column = names[i];
            matches++;
        }
    }
    if (offer->found->count == before && matches == 1)
        add(offer, column);
    offer->found->columns = offer->found->count;
}

static void offer_bindings(struct offer *offer, const struct env *env, enum binding_kind kind)
{
    for (size_t i = 0; i < env->count; i++) {
        const struct binding *binding = &env->bindings[i];
        if (binding->kind == kind)
            offer_name(offer,
                       kind == BINDING_FUNCTION ? arena_printf(offer->arena, "%s(", binding->name) : binding->name);
    }
}

static void offer_functions(struct offer *offer)
{
    for (size_t i = 0; i < function_count; i++)
        offer_name(offer, arena_printf(offer->arena, "%s(", functions[i].name));
}

/* The pipeline that a text ends with, or NULL. */
static const struct pipeline *parse_pipeline(const struct source *source, struct arena *arena)
{
    struct diags diags;
    struct stmt *first;
    diags_init(&diags, arena);
    if (parse(source, PARSE_PROMPT, arena, &diags, &first) != PARSE_OK || !first)
        return NULL;
    while (first->next)
        first = first->next;
    return first->pipeline;
}

static const struct pipeline *parse_part(const struct source *text, struct span span, struct arena *arena)
{
    struct source *part = arena_alloc(arena, sizeof *part);
    const size_t length = span.end - span.begin;
    *part = (struct source){"", arena_text(arena, text->text + span.begin, length), length};
    return parse_pipeline(part, arena);
}

/* The pipeline before the stage at the cursor, or NULL. */
static const struct pipeline *pipeline_before(const struct source *text, struct arena *arena)
{
    struct span parts[MAX_PARTS];
    const size_t part_count = next_pipelines(text, parts, MAX_PARTS);
    const struct pipeline *pipeline = NULL;
    for (size_t i = 0; i < part_count && !pipeline; i++)
        pipeline = parse_part(text, parts[i], arena);
    return pipeline;
}

/* Whether the stage at the cursor follows a terminal. */
static bool follows_value(const struct completer *completer, const struct source *text, struct arena *arena)
{
    const struct pipeline *pipeline = pipeline_before(text, arena);
    return pipeline && preview_is_value(completer->env, pipeline, arena);
}

/* The input columns of the stage at the cursor; false if unknown. */
static bool columns_before(const struct completer *completer, const struct source *text, struct arena *arena,
                           const char *const **names, size_t *count)
{
    struct span parts[MAX_PARTS];
    const size_t part_count = next_pipelines(text, parts, MAX_PARTS);
    for (size_t i = 0; i < part_count; i++) {
        const struct pipeline *pipeline = parse_part(text, parts[i], arena);
        struct preview_column *columns;
        if (pipeline && preview_columns(completer->env, pipeline, arena, &columns, count)) {
            *names = preview_names(columns, *count, arena);
            return true;
        }
    }
    /* A leading `|` continues from the last result. */
    const struct relation *last = completer->env->last;
    if (last && text->text[strspn(text->text, " \t")] == '|') {
        *names = (const char *const *)last->names;
        *count = last->count;
        return true;
    }
    return false;
}

/* The names of the axes of the rows that the stage at the cursor takes. */
static void offer_axes(const struct completer *completer, const struct source *text, struct offer *offer)
{
    const struct pipeline *pipeline = pipeline_before(text, offer->arena);
    struct shape shape = {0};
    if (pipeline)
        shape = preview_shape(completer->env, pipeline, offer->arena);
    else if (completer->env->last && text->text[strspn(text->text, " \t")] == '|')
        shape = completer->env->last->shape;
    for (size_t i = 0; i < MOST_AXES; i++) {
        if (shape.names[i])
            offer_name(offer, shape.names[i]);
    }
}

/* Aggregates, written like calls; in an expression of rows, min and max are among the functions. */
static void offer_aggregates(struct offer *offer, bool of_rows)
{
    for (size_t i = 0; i < aggregate_function_count; i++) {
        const struct aggregate_function *function = &aggregate_functions[i];
        bool alias = !function->usage, shared = of_rows && function_find(function->name);
        if (!shared && (!alias || *offer->typed))
            offer_name(offer, arena_printf(offer->arena, "%s(", function->name));
    }
}

static void offer_expression(const struct completer *completer, const struct source *text, struct offer *offer,
                             bool whole)
{
    const char *const *names;
    size_t count;
    if (columns_before(completer, text, offer->arena, &names, &count))
        offer_columns(offer, names, count);
    if (whole) {
        offer_axes(completer, text, offer);
        offer_bindings(offer, completer->env, BINDING_SCALAR);
        offer_name(offer, "pi");
        offer_bindings(offer, completer->env, BINDING_FUNCTION);
        offer_functions(offer);
        if (*offer->typed)
            offer_aggregates(offer, true);
    }
}

static void offer_formats(struct offer *offer)
{
    for (size_t i = 0; i < format_count; i++) {
        if (format_loads(&format_table[i]))
            offer_name(offer, format_word(&format_table[i]));
    }
}

static void offer_clauses(struct offer *offer)
{
    for (size_t i = 0; i < clause_count; i++)
        offer_name(offer, clause_table[i].word);
}

static void offer_each(struct offer *offer, const char *const *names)
{
    for (; *names; names++)
        offer_name(offer, *names);
}

/* Aliases are offered only after their first letter, and after a terminal only the stages that take a value. */
static void offer_words(struct offer *offer, const struct next *next, bool of_value)
{
    for (size_t i = 0; i < next->word_count; i++) {
        const struct word *word = next->words[i];
        const bool alias = word_canonical(word) != word;
        const bool fits = !of_value || word->stage == STAGE_NONE || stage_does(word->stage, TAKES_VALUE);
        /* A column may be called `missing`, but elsewhere than in expressions the word means nothing. */
        const bool means = strcmp(word->text, "missing") != 0 || next->kinds & NEXT_EXPRESSION;
        if (fits && means && (!alias || *offer->typed))
            offer_name(offer, word->text);
    }
}

static void offer_next(const struct completer *completer, const struct source *text, const struct next *next,
                       struct offer *offer)
{
    static const char *const combiners[] = {"min", "max", "bitor", NULL};
    static const char *const axes[] = {"rows", "cols", NULL};
    if (next->kinds & NEXT_AGGREGATE) {
        offer_aggregates(offer, false);
        return;
    }
    if (next->kinds & (NEXT_EXPRESSION | NEXT_COLUMN))
        offer_expression(completer, text, offer, next->kinds & NEXT_EXPRESSION);
    if (next->kinds & NEXT_SOURCE)
        offer_bindings(offer, completer->env, BINDING_RELATION);
    if (next->kinds & NEXT_STAGE)
        offer_bindings(offer, completer->env, BINDING_STAGE);
    if (next->kinds & NEXT_FORMAT)
        offer_formats(offer);
    if (next->kinds & NEXT_CLAUSE)
        offer_clauses(offer);
    if (next->kinds & NEXT_COMBINER)
        offer_each(offer, combiners);
    if (next->kinds & NEXT_AXIS) {
        offer_axes(completer, text, offer);
        offer_each(offer, axes);
    }
    if (next->kinds & NEXT_DIALECT)
        offer_name(offer, "--dialect");
    const bool stage = next->word_count > 0 && !(next->kinds & (NEXT_EXPRESSION | NEXT_STATEMENT));
    offer_words(offer, next, stage && follows_value(completer, text, offer->arena));
    /* Where a query begins, names come before files. */
    const bool named = next->kinds & NEXT_EXPRESSION && offer->found->count > 0;
    offer->found->paths = next->kinds & NEXT_PATH && !named;
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'';
}

/* Steps back over blanks before `end`. */
static size_t before_blanks(const char *text, size_t end)
{
    while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '\t'))
        end--;
    return end;
}

/* Where the word that ends at `end` begins: letters, digits, `_` and bytes of other letters. */
static size_t word_begin(const char *text, size_t end)
{
    while (end > 0 && (isalnum((unsigned char)text[end - 1]) || text[end - 1] == '_' || (text[end - 1] & 0x80)))
        end--;
    return end;
}

static bool is_operator_word(const char *word, size_t length)
{
    static const char *const operators[] = {"in", "like", "not", "is"};
    return row_of_text(operators, sizeof operators / sizeof *operators, sizeof *operators, (struct text){word, length});
}

/* The name before the comparison that the text ends with, as in `sym == ` or `sym in ["A", `; NULL: it ends with none.
 */
static const char *compared_name(const struct source *source, struct arena *arena)
{
    const char *text = source->text;
    size_t end = before_blanks(text, source->length);
    while (end > 0 && (text[end - 1] == ',' || is_quote(text[end - 1]))) { /* the elements of a list before this one */
        end = before_blanks(text, end - (text[end - 1] == ','));
        if (end < 2 || !is_quote(text[end - 1]))
            return NULL;
        const char quote = text[--end];
        while (end > 0 && text[end - 1] != quote)
            end--;
        end = end > 0 ? before_blanks(text, end - 1) : 0;
    }
    const size_t signs = end;
    while (end > 0 && strchr("=!<>~[", text[end - 1]))
        end--;
    bool sign = end < signs;
    end = before_blanks(text, end);
    size_t begin = word_begin(text, end);
    while (is_operator_word(text + begin, end - begin)) { /* `not in` is two */
        sign = true;
        end = before_blanks(text, begin);
        begin = word_begin(text, end);
    }
    return sign && end > begin ? arena_text(arena, text + begin, end - begin) : NULL;
}

/* Whether the text ends in `in`, which a time zone may follow. */
static bool ends_in_in(const char *text, size_t length)
{
    const size_t end = before_blanks(text, length), begin = word_begin(text, end);
    return end - begin == 2 && memcmp(text + begin, "in", 2) == 0;
}

/* Within quotes after a comparison: the strings of the column that is compared, and after `in` names of time zones. */
static void offer_texts(const struct completer *completer, const struct source *text, struct offer *offer)
{
    enum { MOST_TEXTS = 500 };
    struct arena *arena = offer->arena;
    const char *name = compared_name(text, arena);
    struct span parts[MAX_PARTS];
    const size_t part_count = name ? next_pipelines(text, parts, MAX_PARTS) : 0;
    struct preview_texts texts = {0};
    for (size_t i = 0; i < part_count && texts.count == 0; i++) {
        const struct pipeline *pipeline = parse_part(text, parts[i], arena);
        if (pipeline)
            texts = preview_texts(completer->env, pipeline, name, offer->typed, MOST_TEXTS, arena);
    }
    const struct relation *last = completer->env->last;
    if (name && texts.count == 0 && last && text->text[strspn(text->text, " \t")] == '|')
        texts = relation_texts(last, name, offer->typed, MOST_TEXTS, arena);
    for (size_t i = 0; i < texts.count; i++)
        add(offer, texts.at[i]);
    if (texts.count == 0 && ends_in_in(text->text, text->length))
        offer_each(offer, time_zone_names(arena));
}

/* Within NAME.COLUMN: the columns of a `let` relation. Returns false if that is not being typed. */
static bool offer_columns_of(const struct env *env, struct offer *offer)
{
    const char *point = strchr(offer->typed, '.');
    if (!point)
        return false;
    const char *name = arena_text(offer->arena, offer->typed, (size_t)(point - offer->typed));
    const struct binding *binding = env_find(env, name);
    const struct relation *relation = binding && binding->kind == BINDING_RELATION ? binding->relation : NULL;
    for (size_t i = 0; relation && i < relation->count; i++) {
        if (name_is_plain(relation->names[i]))
            offer_name(offer, arena_printf(offer->arena, "%s.%s", name, relation->names[i]));
    }
    return relation;
}

/* After a syntax error: all words and functions. */
static void offer_anything(const struct completer *completer, const struct source *text, struct offer *offer)
{
    for (size_t i = 0; i < word_count; i++)
        offer_name(offer, words[i].text);
    offer_expression(completer, text, offer, true);
    offer_bindings(offer, completer->env, BINDING_RELATION);
}

struct source completer_text(const struct completer *completer, const char *line, size_t length, struct arena *arena)
{
    struct strbuf text = {0};
    const struct strbuf *entry = completer->entry;
    if (entry && entry->length) {
        strbuf_add(&text, entry->text, entry->length);
        strbuf_putc(&text, '\n');
    }
    strbuf_add(&text, line, length);
    struct source source = {"", arena_text(arena, text.text ? text.text : "", text.length), text.length};
    strbuf_free(&text);
    return source;
}

/* `help WORD` without the dot is a command unless something is named help; then the result is one byte longer. */
static const char *as_command(const struct completer *completer, const char *line, struct arena *arena)
{
    static const char help[] = "help ";
    const bool plain = strncmp(line, help, strlen(help)) == 0 && !env_find(completer->env, "help");
    return plain ? arena_printf(arena, ".%s", line) : line;
}

bool complete_takes_path(const struct completer *completer, const char *line, size_t start)
{
    if (start > 0 && is_quote(line[start - 1]) && ends_in_in(line, start - 1))
        return true; /* a zone, whose name has slashes as a path has */
    struct arena *arena = arena_new();
    struct next next = {0};
    struct source text = completer_text(completer, line, start, arena);
    bool takes = complete_is_command(line) ? complete_command_takes_path(line, start)
                                           : next_after(&text, arena, &next) && next.kinds & NEXT_PATH;
    /* Where a query begins, most words are no paths. */
    if (takes && next.kinds & NEXT_EXPRESSION) {
        const bool digit = line[start] >= '0' && line[start] <= '9';
        takes = !digit && strcspn(line + start, "./~") < strcspn(line + start, " \t(");
    }
    arena_free(arena);
    return takes;
}

/* After `--dialect`: the names of dialects. Returns false if that is not being typed. */
static bool offer_dialects(const struct completer *completer, const struct source *text, struct offer *offer)
{
    static const char option[] = "sql --dialect";
    const struct table_source *tables = file_cache_tables(completer->env->file_cache);
    const size_t end = before_blanks(text->text, text->length), length = strlen(option);
    if (!tables || end == text->length || end < length || strncmp(text->text + end - length, option, length) != 0)
        return false;
    for (size_t k = 0; tables->dialect(k); k++)
        offer_name(offer, tables->dialect(k));
    return true;
}

/* After the word of a clause: its values. Returns false if that is not being typed. */
static bool offer_clause_values(const struct source *text, const struct next *next, struct offer *offer)
{
    const size_t end = before_blanks(text->text, text->length), begin = word_begin(text->text, end);
    const enum clause_kind kind = clause_find(text->text + begin, end - begin);
    if (end == text->length || kind == CLAUSE_KINDS || !(next->kinds & NEXT_CLAUSE) || !*clause_table[kind].values)
        return false;
    for (const char *at = clause_table[kind].values; *at;) {
        const size_t length = strcspn(at, " ");
        offer_name(offer, arena_text(offer->arena, at, length));
        at += length + (at[length] == ' ');
    }
    return true;
}

/* An address of a table on a server: no files are offered. */
static void offer_addresses(const struct completer *completer, struct offer *offer)
{
    const struct table_source *tables = file_cache_tables(completer->env->file_cache);
    size_t count = 0;
    if (!offer->found->paths || !tables || !tables->accepts(offer->typed))
        return;
    const char **names = tables->complete(tables->servers, offer->typed, offer->arena, &count);
    for (size_t i = 0; i < count; i++)
        offer_name(offer, names[i]);
    offer->found->paths = false;
}

struct completions complete_word(const struct completer *completer, const char *line, size_t start, size_t end,
                                 struct arena *arena)
{
    struct completions found = {0};
    struct offer offer = {.typed = arena_text(arena, line + start, end - start), .arena = arena, .found = &found};
    const size_t before = start > 0 && is_quote(line[start - 1]) ? start - 1 : start;
    const bool continued = completer->entry && completer->entry->length;
    struct next next;
    struct source text = completer_text(completer, line, before, arena);
    const char *command_line = as_command(completer, line, arena);
    if (!continued && complete_is_command(command_line)) {
        const size_t at = before + (command_line == line ? 0 : 1);
        struct command_words command = complete_command(command_line, at, completer->env, arena);
        offer_each(&offer, command.words);
        found.paths = command.paths;
    } else if (offer_dialects(completer, &text, &offer)) {
        return found;
    } else if (!next_after(&text, arena, &next)) {
        offer_anything(completer, &text, &offer);
    } else if (before == start && offer_clause_values(&text, &next, &offer)) {
        found.paths = false;
    } else if (before == start && next.kinds & NEXT_EXPRESSION && offer_columns_of(completer->env, &offer)) {
        found.paths = next.kinds & NEXT_PATH;
    } else if (before == start) {
        offer_next(completer, &text, &next, &offer);
    } else {
        found.paths = next.kinds & NEXT_PATH;
        if (next.kinds & NEXT_EXPRESSION)
            offer_texts(completer, &text, &offer);
        found.paths = found.paths && found.count == 0;
    }
    offer_addresses(completer, &offer);
    return found;
}
