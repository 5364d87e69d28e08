/* A relation and the stages that a line of another language adds to it, one after another.
 *
 * Words that need no more than their arguments are rows of verbs.def; the others are functions of the files of their
 * dialects: pandas in frames.c, frame_methods.c, frame_columns.c and frame_texts.c, dplyr in dplyr.c, R in base_r.c and
 * data_table.c, KQL in kql.c, q in q.c, programs of a shell in shell.c. */
#ifndef RQL_REPL_REWRITE_CHAIN_H
#define RQL_REPL_REWRITE_CHAIN_H

#include "repl/rewrite/translator.h"

struct chain {
    const char *text;     /* a pipeline */
    bool is_column;       /* of one column, `column` */
    struct phrase column; /* of which, in pandas, a method may follow */
    const char *keys;     /* of a group, or NULL */
    const char *index;    /* of pandas, the keys of the last group; or NULL */
    bool keeps_missing;   /* of which one may be missing */
    bool appears;         /* groups are in the order in which they appear */
    const char *last;     /* the column of a group's values, by which they are sorted; or NULL */
    const char *columns;  /* of the group's selected columns, or NULL */
    bool done;            /* it is no frame any more */
};

/* The columns of the chain's pipeline into the scope. */
void chain_columns(struct translator *t, const struct chain *chain);

/* Adds a stage, in dplyr within the groups if there are some: true. */
bool chain_add(struct translator *t, struct chain *chain, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a stage after which there are no rows: true. */
bool chain_end(struct translator *t, struct chain *chain, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What the words of verbs.def belong to. */
enum verb_kind { VERB_FRAME = 1, VERB_COLUMN = 2, VERB_GROUP = 4, VERB_R = 8, VERB_KQL = 16 };

/* Adds the stage of the word, whose arguments are the tokens up to `close`. *found: whether there is a row; with NULL,
 * it is told that there is none. */
bool chain_verb(struct translator *t, struct chain *chain, enum verb_kind kind, const char *name, size_t close,
                bool *found);

/* Keys on the left and on the right of a join. */
struct join_names {
    const char *left[8], *right[8];
    const char *sign; /* between the last ones, the times of an `asof join`; NULL: as they are */
    size_t count;
};

/* Adds a join; `kind`: "" or a word with a blank. */
bool chain_join(struct translator *t, struct chain *chain, const char *kind, const char *other,
                const struct join_names *names);

/* `df.groupby("k")["x"].transform("mean")`, a value of each row, whose frame and point are read. */
struct phrase grouped_value(struct translator *t);

/* A stage that computes columns, within the groups of the phrase if it has some. */
bool chain_derive(struct translator *t, struct chain *chain, const char *name, const struct phrase *value);

/* Whether the values are right where the phrase is used: those of groups are not mixed with those of all rows. */
bool is_of_one_kind(struct translator *t, const struct phrase *value);

/* Groups the rows by the keys of the chain: true. */
bool chain_group(struct translator *t, struct chain *chain, const char *aggregates);

/* Drops the rows without one of these keys, which are in no group of pandas. */
void drop_missing_keys(struct translator *t, struct chain *chain, const char *keys);

/* Which of the columns, NULL: of all, may be missing, as `missing(a) || missing(b)`; NULL: none. If `all`, as
 * `missing(a) && missing(b)`; NULL: one of them is never missing. */
const char *missing_columns(struct translator *t, const char *only, bool all);

/* `df[...]` and `df.loc[...]`, whose bracket is read. */
bool chain_index(struct translator *t, struct chain *chain, bool loc);

/* Behind the `(` of `pd.read_csv(`, `read.csv(` and the like, whose text follows; else `at`. */
size_t read_call(const struct translator *t, size_t at);

/* Reads the method or column that follows the `.` of a frame. False: there is none, and the reason has been reported.
 */
bool frame_step(struct translator *t, struct chain *chain);

/* pd.merge(...): NULL with a reason if it cannot be said. */
const char *pandas_function(struct translator *t);
bool pandas_frame(struct translator *t, struct chain *chain); /* those that give a frame, whose methods may follow */

/* A name of an expression: of the frame, of a module, of a column of a `query`. */
struct phrase frame_operand(struct translator *t);

/* Polars: whether the line is one; an operand after `pl.`, a method of an expression and of a frame, with its bracket
 * read, and `.agg(...)` of a group. */
bool is_polars(const struct translator *t);
struct phrase polars_operand(struct translator *t);
struct phrase polars_method(struct translator *t, struct phrase x, const char *method, size_t close, bool *found);
bool polars_call(struct translator *t, struct chain *chain, const char *name, size_t close, bool *found);
bool frame_unpivot(struct translator *t, struct chain *chain, size_t close);
bool polars_group(struct translator *t, struct chain *chain, const char *name, size_t close);

/* A method with operands, whose bracket is read. */
struct phrase call_method(struct translator *t, struct phrase x, const char *method, size_t close);

/* `days=1, hours=2` or "2 days", up to the bracket that is read, too. */
struct phrase duration_of(struct translator *t, size_t close);

/* What follows `.str.` or, with its bracket at hand, `.str`. */
struct phrase text_methods(struct translator *t, struct phrase x);

/* What a `.method(...)` after an operand makes of it. */
struct phrase frame_method(struct translator *t, struct phrase x);

/* The pipeline's value if it is one aggregate of a column, `mean price`; else NULL. */
const char *terminal_of(struct translator *t, const struct phrase *aggregate);

/* Tokens of an argument: `name = ` is read away; false if it is not this one. */
bool accept_keyword(struct translator *t, const char *name);

/* `pad` of pandas, behind its width, to the bracket at `close`. */
struct phrase pad_text(struct translator *t, struct phrase *operands, size_t count, size_t close);

/* A text, or a list of texts, as names with commas between them; NULL: something else stands there. */
const char *parse_names(struct translator *t);

/* The keys of pandas' sort_values, a condition that a text writes, the pairs of `{"a": "b"}` as `a as b`. */
const char *frame_keys(struct translator *t, const char *last, size_t close);
const char *condition_of_text(struct translator *t, const char *text);
const char *renamed_columns(struct translator *t);

/* `t$x` of R, a column of the frame; without a text if it is none. */
struct phrase base_r_column(struct translator *t);

/* `order(a, -b)` of R, whose bracket is read, as the keys of a sort. */
const char *order_keys(struct translator *t);

/* The line of a chain that is a computed column or a value. */
const char *chain_finish(struct translator *t, const struct chain *chain);

/* `a, b` or `c(a, b)` of R, as names with commas between them. */
const char *bare_names(struct translator *t);

/* `a, -b` or `c(a, n = b)` of dplyr. */
const char *selected_columns(struct translator *t, size_t close);

/* An expression of q, which is read from right to left. */
struct phrase q_expression(struct translator *t);

/* `case_when(a ~ b, TRUE ~ c)` of R, whose bracket is read, up to the token `close`. */
struct phrase case_when(struct translator *t, size_t close);

/* Those of SQL with regular expressions that mean the same here. */
struct phrase sql_regex(const char *name, const struct phrase *operands, size_t count, struct arena *arena,
                        bool *found);

/* to_char(t, 'YYYY-MM-DD'): the codes of PostgreSQL and Oracle as those of strftime. No phrase: it has others. */
struct phrase sql_to_char(const struct phrase *operands, struct arena *arena);

/* A text without these characters at its beginning (`before`), at its end (`behind`), or at both. */
struct phrase sql_trim(struct translator *t, const struct phrase *x, const struct phrase *characters, bool before,
                       bool behind);

/* trim(both '-' from x), up to the bracket at `close`. */
struct phrase sql_trim_from(struct translator *t, size_t close);

/* Whether a line of the dialect begins there. */
bool is_dplyr(const struct translator *t, size_t at);
bool is_base_r(const struct translator *t, size_t at);
bool is_data_table(const struct translator *t, size_t at);
bool is_kql(const struct translator *t, size_t at);
bool is_q(const struct translator *t, size_t at);
bool is_shell(const struct translator *t, size_t at);

/* The line of the tokens at hand; NULL: it cannot be said. */
const char *translate_frame(struct translator *t);
const char *translate_dplyr(struct translator *t);
const char *translate_base_r(struct translator *t);
const char *translate_data_table(struct translator *t);
const char *translate_kql(struct translator *t);
const char *translate_q(struct translator *t);
const char *translate_shell(struct translator *t);

#endif
