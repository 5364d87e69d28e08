/* What the files that read SQL share. */
#ifndef RQL_REPL_FROM_SQL_SQL_H
#define RQL_REPL_FROM_SQL_SQL_H

#include "base/strbuf.h"
#include "repl/rewrite/translator.h"

/* Words that end the condition of a join. */
extern const char after_join[];

/* Conditions with `and` between them, as ranges of tokens. */
struct conjunct {
    size_t begin, end;
};

/* At most `most` of them; 0: there is an `or`. */
size_t find_conjuncts(struct translator *t, size_t begin, size_t end, struct conjunct *conjuncts, size_t most);

/* The conditions of a query, of which joins may have used some. */
struct where {
    struct conjunct conjuncts[24];
    bool used[24];
    size_t count;
};

/* A side of a join. */
struct side {
    const char *text; /* a pipeline */
    const char *name; /* of the table, or NULL */
    struct known_columns scope;
};

/* The keys of a join. */
struct keys {
    const struct known_column *left[16], *right[16];
    const char *signs[16]; /* between them; NULL: they are equal */
    size_t count;
    const char *of_left, *of_right; /* other conditions on one side, or NULL */
    const char *of_both;
    bool merged; /* `using`: a key is one column */
};

/* A source and its name. */
bool sql_source(struct translator *t, struct side *side);

/* A pipeline as the source of a join. */
const char *sql_joined_source(struct translator *t, const char *text);

/* The column of `x` or `t.x` on one side; or NULL. */
const struct known_column *sql_column_of(struct translator *t, const struct side *side, size_t begin, size_t end);

/* A condition between both sides as a key, or on one side. */
bool sql_add_key(struct translator *t, const struct side *left, const struct side *right, size_t begin, size_t end,
                 struct keys *keys);
bool sql_add_condition(struct translator *t, const struct side *left, const struct side *right,
                       struct conjunct conjunct, struct keys *keys);

/* What follows `on`; NULL: a key is none of the columns. */
const char *sql_join_keys(struct translator *t, const struct keys *keys);

/* The sources of the tokens at hand, joined: a pipeline, with its columns. */
const char *translate_from(struct translator *t, struct known_columns *scope, struct where *where);

/* `x in (select ...)`, a condition of tokens begin..end-1 whose query reads the rows around it, as a stage; or NULL. */
const char *translate_in_query(struct translator *t, size_t begin, size_t in, size_t end);

/* A query as a value that reads the row around it: the column of a join that is added to the pipeline. */
struct phrase translate_correlated(struct translator *t, size_t at, size_t end);

enum clause { SELECT, FROM, WHERE, GROUP, HAVING, QUALIFY, ORDER, LIMIT, OFFSET, WINDOW, FETCH, CLAUSE_COUNT };

struct range {
    size_t begin, end;
    bool there;
};

enum star { NO_STAR, STAR_ALL, STAR_EXCLUDE, STAR_REPLACE };

/* An item of the list: an expression, or `*`. */
struct list_item {
    size_t begin, end; /* the tokens of the expression */
    const char *alias;
    enum star star;
    const char *table;   /* of `t.*` */
    const char *columns; /* of `* exclude (...)`, or the assignments of `* replace (...)` */
    struct phrase phrase;
};

struct select {
    struct range clauses[CLAUSE_COUNT];
    struct list_item *items;
    size_t count, capacity;
    struct where where;
    bool distinct;
    struct range distinct_on;
    struct strbuf out;
    const char *top; /* top N of other dialects */
};

/* Goes to the tokens of the range. */
void enter_range(struct translator *t, struct range range);

/* The list of the query. */
bool parse_list(struct translator *t, struct select *s);
struct list_item *add_item(struct translator *t, struct select *s);

/* The item of which this is the number, from 1, where `*` is all columns; or NULL. */
struct list_item *item_of_number(struct translator *t, struct select *s, size_t begin, size_t end);

/* The stage that gives the columns of the list. */
bool add_list(struct translator *t, struct select *s);

/* What a phrase is after the group, a column of it; without a text if it is none. */
struct phrase of_group(struct translator *t, struct phrase phrase);

/* The stages of a query with groups, and those that follow in any query. */
bool translate_group(struct translator *t, struct select *s);
bool add_order(struct translator *t, struct select *s, bool columns);
bool add_limit(struct translator *t, struct select *s);
void derive_windows(struct translator *t, struct select *s);

/* A query, and another one after `union`, `except` or `intersect`. */
const char *sql_combined(struct translator *t, const char *a, const char *word, bool all, const char *b);

#endif
