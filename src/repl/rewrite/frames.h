/* Lines of pandas: a frame and its methods, and columns within expressions. */
#ifndef RQL_REPL_REWRITE_FRAMES_H
#define RQL_REPL_REWRITE_FRAMES_H

#include "repl/rewrite/translator.h"

/* What a chain of methods has made so far. */
struct chain {
    const char *text; /* a pipeline */
    bool is_column;   /* of one column, `column` */
    struct phrase column;
    const char *keys;    /* of a group, or NULL */
    const char *last;    /* the column of a group's values, by which they are sorted; or NULL */
    const char *columns; /* of the group's selected columns, or NULL */
    bool done;           /* it is no frame any more */
};

/* The columns of the chain's pipeline into the scope. */
void chain_columns(struct translator *t, const struct chain *chain);
void chain_add(struct translator *t, struct chain *chain, const char *stage);

/* `df[...]` and `df.loc[...]`, whose bracket is read. */
bool chain_index(struct translator *t, struct chain *chain, bool loc);

/* A method or a column of the frame, after its point. False: there is none, and a reason has been told. */
bool frame_step(struct translator *t, struct chain *chain);

/* pd.merge(...), pd.concat(...): NULL with a reason if it cannot be said. */
const char *pandas_function(struct translator *t);

/* A name of an expression: of the frame, of a module, of a column of a `query`. */
struct phrase frame_operand(struct translator *t);

/* What a `.method(...)` after an operand makes of it. */
struct phrase frame_method(struct translator *t, struct phrase x);

/* The line of tokens from t->at on, which begins with a frame: `df[df.x > 3].groupby("s")["x"].mean()`. */
const char *translate_frame(struct translator *t);

/* The pipeline's value if it is one aggregate of a column, `mean price`; else NULL. */
const char *terminal_of(struct translator *t, const struct phrase *aggregate);

/* Tokens of an argument: `name = ` before it is read away; false if it is not this one. */
bool accept_keyword(struct translator *t, const char *name);

/* A text, or a list of texts, as names with commas between them; NULL: something else stands there. */
const char *parse_names(struct translator *t);

#endif
