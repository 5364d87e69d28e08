/* Reads lines of other languages and writes them in this one.
 *
 * What is written means the same, or nothing is written: then `told` says what there is instead. Columns are looked up
 * where the sources are known, since their types decide what a line means: `a / b` of integers, a text beside a date,
 * a sum of which nothing may be left. */
#ifndef RQL_REPL_REWRITE_TRANSLATOR_H
#define RQL_REPL_REWRITE_TRANSLATOR_H

#include "base/strbuf.h"
#include "engine/env/env.h"
#include "repl/rewrite/phrase.h"
#include "repl/rewrite/rewrite_tokens.h"

enum dialect { DIALECT_SQL = 1, DIALECT_PYTHON = 2, DIALECT_R = 4, DIALECT_KQL = 8, DIALECT_Q = 16 };

struct known_column {
    const char *table; /* the name of its source, or NULL */
    const char *name;  /* as others call it */
    const char *text;  /* as it is written here */
    enum phrase_type type;
    bool optional;
    bool days;   /* it has 16 bits: beside a date it is the days since 1970 */
    bool hidden; /* it can be named, but is no column of `*`: a key of the right side of a join */
};

struct known_columns {
    struct known_column *columns;
    size_t count, capacity;
    bool open; /* there may be others: a source is not known */
};

/* A part of a query that has a name: `with NAME as (...)`, or an alias of an expression. */
struct named_text {
    const char *name;
    struct phrase phrase;
    struct named_text *next;
};

/* The aggregates of a group, while what follows it is read: there they are columns. */
struct group_item {
    struct phrase phrase; /* as it is computed */
    const char *name;     /* of its column; NULL: it has the name that the group gives */
    bool key;
    bool shown; /* it is in the list of the query */
};

struct grouping {
    struct group_item *items;
    size_t count, capacity;
    const char *totals; /* "rollup" or "cube"; NULL: none */
};

/* What the rows at hand are of the frame that a line of pandas begins with, whose columns are aligned by row. */
enum rows_of_frame {
    ROWS_ALL,
    ROWS_SOME, /* or all of them in another order */
    ROWS_OTHER
};

struct translator {
    const struct rewrite_text *text;
    size_t at, end; /* the tokens that are left to read */
    struct env *env;
    const char *before; /* the statements before the line, or NULL */
    struct arena *arena;
    enum dialect dialect;
    struct known_columns scope;
    struct named_text *aliases;
    struct named_text *parts;
    struct grouping *grouping; /* what is read follows a group; or NULL */
    struct strbuf *out;        /* the stages of the query so far, to which others may be added; or NULL */
    const char *helpers;       /* columns that were added for a condition, or NULL */
    const char *value_of;      /* a pipeline of which aggregates are values; or NULL */
    bool polars;               /* a line of Python is one of Polars */
    const char *frame;         /* in lines of pandas: the name of the frame whose columns are read */
    enum rows_of_frame rows;   /* of that frame, after the stages so far */
    const char *changed;       /* its columns that these have changed, or NULL */
    bool swapped;              /* a join has the columns of its right side first */
    bool no_missing;           /* the first column of the last query has no missing values */
    bool guarded;              /* a sum is missing where it is of nothing */
    bool may_be_none;          /* aggregates are of all rows, of which there may be none */
    bool key_once;             /* a key of a join is one column, where SQL has two */
    bool aliases_first;        /* in `order by`, an alias comes before a column */
    const char *told;          /* why it cannot be said, and what there is instead */
};

/* Gives up with a reason, of which the first one counts. */
struct phrase translate_fail(struct translator *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Tells what there is instead: false. */
bool tell(struct translator *t, const char *instead);

/* Adds an item to a list with commas between its items, which is NULL before the first one. */
void list_add(struct translator *t, const char **list, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The first name of such a list, which is advanced behind it; NULL: it is empty. */
const char *list_next(struct translator *t, const char **list);
bool list_has(struct translator *t, const char *list, const char *name);

/* Tokens. Words are compared in any case; quoted text is none. */
const struct rewrite_token *token_at(const struct translator *t, size_t token); /* the end of the text beyond it */
bool token_is(const struct translator *t, size_t token, const char *word);
bool next_is(const struct translator *t, const char *word);
bool accept(struct translator *t, const char *word);
bool accept_two(struct translator *t, const char *first, const char *second);
bool expect(struct translator *t, const char *word);
enum rewrite_token_kind next_kind(const struct translator *t);
const char *token_text(const struct translator *t, size_t token);
const char *token_raw(const struct translator *t, size_t token); /* without quotes */
bool next_is_name(const struct translator *t);                   /* a word, or a quoted identifier of the dialect */
size_t after_brackets(const struct translator *t, size_t open);  /* behind the bracket that closes it, at most t->end */
/* The first token from `from` on, outside brackets, that is one of the words, which have blanks between them. */
size_t find_word(const struct translator *t, size_t from, const char *list);

/* Whether it is one of the words, which have blanks between them, in any case. */
bool is_one_of(const char *name, const char *list);

/* Whether it is the name of a relation, or of what a statement before the line calls so. */
bool known_relation(const struct translator *t, const char *name);

/* The columns of a pipeline into the scope, under a table's name. False: they are unknown, and the scope is open. */
bool known_add_source(struct translator *t, struct known_columns *scope, const char *pipeline, const char *table);
void known_add(struct translator *t, struct known_columns *scope, struct known_column column);
const struct known_column *known_find(const struct known_columns *scope, const char *table, const char *name);

/* An expression of the tokens at hand. */
struct phrase translate_expression(struct translator *t);

/* An operator of the dialect between two operands. */
struct phrase translate_operator(struct translator *t, const char *sign, struct phrase a, struct phrase b);

/* An operand of an expression, with what follows it. */
struct phrase translate_operand(struct translator *t);

/* The expression of tokens begin..end-1, all of them. */
struct phrase translate_range(struct translator *t, size_t begin, size_t end);

/* Expressions up to the token `end`, each of which may have a name before it, as `E as NAME` or, if it `derives`, as
 * `NAME = E`. *aggregates: how many are aggregates, *count: how many there are. */
const char *translate_list(struct translator *t, size_t end, bool derives, size_t *aggregates, size_t *count);

/* A word for a missing value or a bool; without a text if it is none. */
struct phrase translate_constant(struct translator *t);

/* A column or an alias. */
struct phrase translate_name(struct translator *t, const char *table, const char *name);

/* A call whose name and `(` are read. */
struct phrase translate_call(struct translator *t, const char *name);

/* The call of a function of these operands; without a text and a reason if there is no such function. */
struct phrase translate_function(struct translator *t, const char *name, struct phrase *operands, size_t count);

/* An aggregate of these operands, of the rows for which `where` holds unless it is NULL. */
struct phrase translate_aggregate(struct translator *t, const char *name, struct phrase *operands, size_t count,
                                  bool distinct, const struct phrase *where);
bool is_aggregate_name(const struct translator *t, const char *name);

/* What there is instead of functions that are not there, whose names have blanks between them. */
struct instead {
    const char *names, *text;
};

/* The text of the first that has the name; NULL: none. */
const char *find_instead(const struct instead *all, size_t count, const char *name);

/* What there is instead of a function that is not there, and of one of `pd`; NULL: nothing. */
const char *instead_of_function(const char *name);
const char *instead_of_pandas(const char *name);

/* The aggregate as it is used where the translator is: of rows, after a group, or as a pipeline's value. */
struct phrase place_aggregate(struct translator *t, struct phrase aggregate);

/* X of `count(y) > 0 ? X : missing`, as a sum of what may be nothing is written; NULL: it is no such. */
const char *guarded_part(const char *text);

/* A window function, of which `over` follows. */
struct phrase translate_window(struct translator *t, const char *name, struct phrase *operands, size_t count,
                               const struct phrase *where);

/* Comparisons and arithmetic that depend on types. */
struct phrase compare(struct translator *t, struct phrase a, const char *op, struct phrase b);
struct phrase divide(struct translator *t, struct phrase a, struct phrase b);
struct phrase between(struct translator *t, struct phrase x, struct phrase low, struct phrase high, bool negated);
struct phrase choose(struct translator *t, struct phrase condition, struct phrase yes, struct phrase no);
struct phrase convert(struct translator *t, struct phrase x, const char *type);

/* `x.replace(old, new)` of whole values. */
struct phrase replace_value(struct translator *t, struct phrase x, struct phrase old, struct phrase new);

/* A call of a function that means something of its own in KQL; *found: whether it is one. */
struct phrase kql_function(struct translator *t, const char *name, struct phrase *operands, size_t count, bool *found);

/* A function of R that reads other rows, or floor_date. */
struct phrase r_function(struct translator *t, const char *name, struct phrase *operands, size_t count, bool *found);

/* A unit of `date_trunc` and the like, a text, or NULL. */
const char *time_unit(const struct phrase *unit);
struct phrase join_text(struct translator *t, struct phrase a, struct phrase b);

/* The first operand that is there. */
struct phrase coalesced(struct translator *t, struct phrase *operands, size_t count);

/* The texts one behind the other; in SQL and KQL a missing one is none. */
struct phrase concatenated(struct translator *t, struct phrase *operands, size_t count);
struct phrase negate(struct translator *t, struct phrase x);
struct phrase as_value(struct translator *t, struct phrase x); /* where a test that is unknown there is false */
struct phrase as_type(struct translator *t, struct phrase x, enum phrase_type type); /* a literal beside such a value */

/* Values of which the first one counts whose condition holds, else the other one. */
struct phrase choose_first(struct translator *t, const struct phrase *conditions, const struct phrase *values,
                           size_t count, struct phrase other);

/* `x in [A, B]` with the items up to the token `close`. */
struct phrase in_items(struct translator *t, struct phrase x, const char *word, size_t close);

/* `(a, b) in ((1, 2), (3, 4))`, whose first part is read. */
struct phrase rows_in_list(struct translator *t, struct phrase first);

/* A literal of text in lower case, and a text in it, to be compared in any case. */
struct phrase in_lower_case(struct translator *t, struct phrase x);

/* The query of tokens at..end as a pipeline; NULL if it cannot be said. */
const char *translate_query(struct translator *t, size_t at, size_t end);

/* The query as a value, a pipeline that ends in one or a computation with such. */
struct phrase translate_scalar_query(struct translator *t, size_t at, size_t end);

/* The columns of a group by which it is read afterwards: its name, given if it has none. */
const char *group_column(struct translator *t, struct group_item *item);

/* `[not] exists (...)` as a semi join or an anti join, a stage. */
const char *translate_exists(struct translator *t, size_t at, size_t end, bool negated);

#endif
