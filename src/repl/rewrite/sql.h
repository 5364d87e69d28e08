/* What the files that read SQL share. */
#ifndef RQL_REPL_REWRITE_SQL_H
#define RQL_REPL_REWRITE_SQL_H

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

/* The sources of the tokens at hand, joined: a pipeline, with its columns. */
const char *translate_from(struct translator *t, struct known_columns *scope);

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

#endif
