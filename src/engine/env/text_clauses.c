#include "engine/env/text_clauses.h"

#include "engine/storage/text_options.h"
#include "parser/parse.h"

#include <string.h>

/* The types that a column of a text file can be stated to have. */
static const struct {
    const char *word;
    enum type type;
    enum logical logical;
} stated_types[] = {
#define INTEGER_TYPE(type, element, name, ...) {name, TYPE_##type, LOGICAL_NUMBER},
#define FLOAT_TYPE(type, element, name, ...)   {name, TYPE_##type, LOGICAL_NUMBER},
#include "engine/values/types.def"
    {"int", TYPE_I64, LOGICAL_NUMBER},
    {"float", TYPE_F64, LOGICAL_NUMBER},
#define LOGICAL_TYPE(kind, name, stored, ...) {name, stored, LOGICAL_##kind},
#include "engine/values/logical_types.def"
};

/* Lists, the last of them, have no text that could be stated to be one. */
enum { STATED_TYPES = sizeof stated_types / sizeof *stated_types - 1 };

/* A clause that lacks its value reads as a column with its type. */
static enum status unknown_value(const struct clause_info *clause, const struct name *word, struct diags *diags)
{
    const char *advice = arena_printf(diags->arena, "as in `%s`: %s", clause->example, clause->summary);
    if (clause->form == FORM_WORD)
        advice = arena_printf(diags->arena, "it is followed by one of: %s", clause->values);
    return diag_error_hint(diags, word->span, advice, "`%s` is no value of `%s`", word->text, clause->word);
}

static enum status unknown_type(const struct stated_column *column, struct diags *diags)
{
    const struct name *word = &column->type;
    const enum clause_kind clause = clause_find(column->name.text, strlen(column->name.text));
    if (clause < CLAUSE_KINDS)
        return unknown_value(&clause_table[clause], word, diags);
    const char *names[STATED_TYPES], *all = "types are";
    for (size_t i = 0; i < STATED_TYPES; i++) {
        names[i] = stated_types[i].word;
        all = arena_printf(diags->arena, "%s %s%s", all, names[i],
                           stated_types[i].logical == LOGICAL_DECIMAL ? "(DIGITS)" : "");
    }
    return diag_error_hint(diags, word->span, all, "unknown type `%s`%s", word->text,
                           did_you_mean(diags->arena, word->text, names, STATED_TYPES));
}

static enum status stated_type(const struct stated_column *column, struct stated_type *type, struct diags *diags)
{
    size_t i = 0;
    while (i < STATED_TYPES && strcmp(stated_types[i].word, column->type.text) != 0)
        i++;
    if (i == STATED_TYPES)
        return unknown_type(column, diags);
    *type = (struct stated_type){.name = column->name.text, .type = stated_types[i].type};
    type->logical.kind = stated_types[i].logical;
    const bool decimal = type->logical.kind == LOGICAL_DECIMAL;
    if (decimal != !!column->argument)
        return diag_error_hint(diags, column->span, "as in `price decimal(2)`",
                               decimal ? "a decimal type needs its number of digits after the point"
                                       : "`%s` takes no argument",
                               column->type.text);
    if (decimal && (column->argument->integer < 0 || column->argument->integer > DECIMAL_MAX_SCALE))
        return diag_error(diags, column->argument->span, "a decimal has 0 to %d digits after the point",
                          DECIMAL_MAX_SCALE);
    type->logical.scale = decimal ? (uint8_t)column->argument->integer : 0;
    return STATUS_OK;
}

static enum status bad_value(const struct path_clause *clause, const char *advice, struct diags *diags)
{
    const struct clause_info *info = &clause_table[clause->kind];
    return diag_error_hint(diags, clause->span, advice, "`%s` cannot be %s", info->word,
                           clause->text && *clause->text ? arena_printf(diags->arena, "`%s`", clause->text) : "empty");
}

/* The only character of a text, if it is one of these; 0: it is not. */
static char sign_of(const char *text, const char *signs)
{
    return text[0] && !text[1] && strchr(signs, text[0]) ? text[0] : 0;
}

/* The only character of a text that can separate values; 0: it is none. */
static char separator_of(const char *text)
{
    const unsigned char c = (unsigned char)text[0];
    return c < 0x80 && c && !text[1] && !strchr("\"\r\n\\", c) ? text[0] : 0;
}

static enum status apply(struct text_options *options, const struct path_clause *clause, struct diags *diags)
{
    const int value = clause->text ? clause_value(clause->kind, clause->text, strlen(clause->text)) : -1;
    switch (clause->kind) {
    case CLAUSE_SKIP:
        options->skips = true;
        options->skip = clause->integer;
        break;
    case CLAUSE_COMMENT:
        options->comment = clause->text;
        return *clause->text ? STATUS_OK : bad_value(clause, "as in `comment \"#\"`", diags);
    case CLAUSE_SEPARATOR:
        options->separator = separator_of(clause->text);
        return options->separator ? STATUS_OK
                                  : bad_value(clause, "it is one character, as in `separator \";\"`", diags);
    case CLAUSE_QUOTE:
        options->quote = *clause->text == '"' && !clause->text[1] ? '"' : separator_of(clause->text);
        return options->quote ? STATUS_OK : bad_value(clause, "it is one character, as in `quote \"'\"`", diags);
    case CLAUSE_ENCODING:
        options->encoding = clause->text;
        break;
    case CLAUSE_DECIMAL:
        options->decimal = sign_of(clause->text, ".,");
        return options->decimal ? STATUS_OK : bad_value(clause, "it is \".\" or \",\"", diags);
    case CLAUSE_THOUSANDS:
        options->thousands = sign_of(clause->text, ".,' ");
        return options->thousands ? STATUS_OK
                                  : bad_value(clause, "it is \".\", \",\", \"'\" or \" \" (any space)", diags);
    case CLAUSE_DATES:
        options->dates = (enum date_order)(value + 1);
        break;
    case CLAUSE_RAGGED:
        options->ragged = true;
        break;
    case CLAUSE_ERRORS:
        options->errors = (enum text_errors)(value + 1);
        break;
    case CLAUSE_KINDS:
        break;
    }
    return STATUS_OK;
}

static enum status apply_clauses(const struct path_item *item, struct text_options *options, struct diags *diags)
{
    for (size_t i = 0; i < item->clause_count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (item->clauses[k].kind == item->clauses[i].kind)
                return diag_error(diags, item->clauses[i].span, "`%s` is stated twice",
                                  clause_table[item->clauses[i].kind].word);
        }
        if (apply(options, &item->clauses[i], diags) != STATUS_OK)
            return STATUS_FAILED;
    }
    if (options->decimal && options->decimal == options->thousands)
        return diag_error(diags, item->span, "`decimal` and `thousands` are the same sign");
    return STATUS_OK;
}

enum status text_options_of(const struct path_item *item, const struct text_options **text, struct diags *diags)
{
    if (item->stated_count == 0 && item->missing_count == 0 && item->clause_count == 0)
        return STATUS_OK;
    struct arena *arena = diags->arena;
    struct text_options *options = arena_alloc(arena, sizeof *options);
    struct stated_type *types = arena_array(arena, item->stated_count + 1, sizeof *types);
    const char **missing = arena_array(arena, item->missing_count + 1, sizeof *missing);
    for (size_t i = 0; i < item->stated_count; i++) {
        if (stated_type(&item->stated[i], &types[i], diags) != STATUS_OK)
            return STATUS_FAILED;
    }
    for (size_t i = 0; i < item->missing_count; i++)
        missing[i] = item->missing[i].text;
    *options = (struct text_options){.columns = types,
                                     .count = item->stated_count,
                                     .missing = item->missing_count > 0 ? missing : NULL,
                                     .missing_count = item->missing_count};
    *text = options;
    return apply_clauses(item, options, diags);
}
