/* Building the syntax tree: one function for each action of the grammar.
 *
 * Errors (exceeded limits) are recorded in the diagnostics and set `failed`; the tree stays well-formed and the caller
 * that feeds the grammar stops. Everything lives in the arena. */
#ifndef RQL_PARSER_AST_BUILD_H
#define RQL_PARSER_AST_BUILD_H

#include "base/arena.h"
#include "base/diag.h"
#include "parser/ast.h"
#include "parser/token.h"

/* The state of building one statement. */
struct tree {
    const struct source *source;
    struct arena *arena;
    struct diags *diags;
    struct stmt *stmt; /* the result */
    size_t terms;      /* expression nodes so far */
    bool failed;       /* a limit was exceeded, or a word has no meaning; an error was recorded */
    bool too_deep;     /* the automaton's stack overflowed; nothing was recorded */
    bool unexpected;   /* a token was not accepted */
};

/* Lists under construction, which become arrays of the tree. */
struct item_list {
    struct item *at;
    size_t count;
};
struct name_list {
    struct name *at;
    size_t count;
};
struct path_list {
    struct path_item *at;
    size_t count;
};
struct source_list {
    struct source_node *at;
    size_t count;
};

struct stage_list {
    struct stage *at;
    size_t count;
};

struct argument_list {
    struct stage_argument *at;
    size_t count;
};

/* The operator of scan and reduce: a name, or a head and an expression. */
struct combiner {
    struct name op;
    struct head *head;
    struct item_list *items;
};

/* The span of a token; and its name, absent for the zero token. */
struct span token_span(const struct tree *tree, struct token token);
struct name token_name(const struct tree *tree, struct token token);

/* Makes room for one more element. Capacities are powers of two, so that the tree need not store them. */
void *list_reserve(struct tree *tree, void *at, size_t count, size_t size);

struct expr_list *expr_list_add(struct tree *tree, struct expr_list *list, struct expr *expr);
struct item_list *item_list_add(struct tree *tree, struct item_list *list, const struct item *item);
struct name_list *name_list_add(struct tree *tree, struct name_list *list, struct token name);
struct path_list *path_list_add(struct tree *tree, struct path_list *list, const struct path_item *path);
struct source_list *source_list_add(struct tree *tree, struct source_list *list, const struct source_node *source);

struct stage_list *stage_list_add(struct tree *tree, struct stage_list *list, const struct stage *stage);
struct argument_list *argument_list_add(struct tree *tree, struct argument_list *list,
                                        const struct stage_argument *argument);

/* Expressions. A list may be NULL, for none. */
struct expr *expr_int(struct tree *tree, struct token token);
struct expr *expr_int_min(struct tree *tree, struct token minus, struct token token);
struct expr *expr_float(struct tree *tree, struct token token);
struct expr *expr_quoted(struct tree *tree, struct token token);
/* A literal of kind EXPR_DATE, EXPR_TIMESTAMP, EXPR_DURATION or EXPR_MONTHS. */
struct expr *expr_time(struct tree *tree, enum expr_kind kind, struct token token);
struct expr *expr_bool(struct tree *tree, struct token token, bool value);
struct expr *expr_missing(struct tree *tree, struct token token);
struct expr *expr_name(struct tree *tree, const struct name *name);
struct expr *expr_position(struct tree *tree, struct token token);
struct expr *expr_unary(struct tree *tree, struct token op, enum unary_op kind, struct expr *a);
struct expr *expr_binary(struct tree *tree, struct expr *a, struct token op, enum binary_op kind, struct expr *b);
struct expr *expr_ternary(struct tree *tree, struct expr *a, struct token op, struct expr *b, struct expr *c);
struct expr *expr_call(struct tree *tree, struct token name, struct expr_list *args, struct token end);
/* The rows from `first` to `last`, which may be NULL; `dots` is the sign between them. */
struct window_frame *frame_new(struct tree *tree, struct expr *first, struct token dots, struct expr *last,
                               struct token of);
/* name(ranges: body) */
struct expr *expr_fold(struct tree *tree, struct token name, struct expr_list *ranges, struct expr *body,
                       struct token end);
struct expr *expr_over(struct tree *tree, struct expr *call, const struct window_frame *frame);
/* `column` and `end` may be the zero token, the latter with a column. */
struct expr *expr_index(struct tree *tree, struct token name, struct expr_list *at, struct token end);
struct expr *expr_element(struct tree *tree, struct expr *list, struct expr *position, struct token end);
/* A slice of nothing yet, to the bracket at its end; `first` or `last` may be NULL. */
struct expr *expr_ends(struct tree *tree, struct expr *first, struct expr *last, struct token end);
struct expr *expr_slice(struct tree *tree, struct expr *list, const struct expr *ends);
struct expr *expr_member(struct tree *tree, struct expr *index, struct token member);
struct expr *expr_in_range(struct tree *tree, struct expr *a, struct token op, struct expr *from, struct expr *to);
struct expr *expr_in_list(struct tree *tree, struct expr *a, struct token op, struct expr_list *list, struct token end);
/* `a not in ...`: the negation of the result of expr_in_... for the same token. */
struct expr *expr_negated(struct tree *tree, struct token op, struct expr *positive);
/* `a not like b`: the negation of a binary operator that is written as the tokens first to last. */
struct expr *expr_binary_not(struct tree *tree, struct expr *a, struct token first, struct token last,
                             enum binary_op kind, struct expr *b);
/* a in b, where b is a name or, at check, an error; and a in (pipeline). */
struct expr *expr_in_named(struct tree *tree, struct expr *a, struct token op, struct expr *b);
struct expr *expr_in_pipeline(struct tree *tree, struct expr *a, struct token op, struct token begin,
                              struct pipeline *pipeline, struct token end);
/* let NAME = E, ...: body; links the names in it to their definitions. */
struct expr *expr_let(struct tree *tree, struct token word, const struct item_list *list, struct expr *body);
/* The value of a pipeline in parentheses. */
struct expr *expr_pipeline(struct tree *tree, struct token begin, struct pipeline *pipeline, struct token end);
/* The expression in parentheses. */
struct expr *expr_paren(struct tree *tree, struct token begin, struct expr *expr, struct token end);

/* Names and items; `name` absent is the zero token. */
struct name *name_new(struct tree *tree, struct token token);
struct name *name_paren(struct tree *tree, struct token begin, struct name *name, struct token end);
struct item *item_new(struct tree *tree, struct expr *expr, struct token name);
/* An axis of a shape from what stands between two commas, NAME SIZE or SIZE; an error if it is neither. */
struct item *axis_new(struct tree *tree, const struct item_list *extents);
struct item *item_named(struct tree *tree, struct item *item, struct token name);
struct item *item_compared(struct tree *tree, struct item *item, enum binary_op compared, struct token name);
/* ast_set.c: sets of columns. `limits`, which of them are meant, may be NULL; so are what the last two return. */
struct expr *set_of_pattern(struct tree *tree, struct token pattern, struct column_set *limits);
struct expr *set_of_span(struct tree *tree, struct expr *first, struct expr *last, struct column_set *limits);
struct column_set *set_of_type(struct tree *tree, struct column_set *limits, struct token type);
struct column_set *set_without(struct tree *tree, struct column_set *limits, const struct item_list *members,
                               struct token end);
/* An item whose name has a `*`, and SET = E. */
struct item *item_of_set(struct tree *tree, struct expr *expr, struct token name);
struct item *item_assigned(struct tree *tree, struct expr *set, struct expr *expr);
struct head *head_new(struct tree *tree, struct token begin, struct name_list *names, struct token end);
/* `as` and `format` may be the zero token. */
struct path_item *path_new(struct tree *tree, struct token path, struct token as, struct token format);
/* Each adds to a file and returns it. */
struct path_item *path_state(struct tree *tree, struct path_item *file, const struct stated_column *column);
struct path_item *path_missing(struct tree *tree, struct path_item *file, struct token text);
/* Each adds to the last file of a list and returns the list. */
struct path_list *path_list_state(struct tree *tree, struct path_list *list, const struct stated_column *column);
struct path_list *path_list_missing(struct tree *tree, struct path_list *list, struct token text);
struct path_clause *clause_new(struct tree *tree, struct token word, struct token value);
struct path_list *path_list_clause(struct tree *tree, struct path_list *list, const struct path_clause *clause);
/* NAME TYPE, or NAME TYPE(ARGUMENT): then `end` is the bracket, else both are absent. */
struct stated_column *stated_new(struct tree *tree, struct token name, struct token type, struct token argument,
                                 struct token end);

/* Sources. */
struct source_node *source_load(struct tree *tree, struct token word, struct path_list *paths);
struct source_node *source_path(struct tree *tree, struct path_item *path);
struct source_node *source_range(struct tree *tree, struct token word, struct expr *from, struct expr *to,
                                 struct expr *by);
struct source_node *source_literal(struct tree *tree, struct token begin, struct expr_list *items, struct token end);
struct source_node *source_name(struct tree *tree, struct name *name);
struct source_node *source_pipeline(struct tree *tree, struct token begin, struct pipeline *pipeline, struct token end);
struct source_node *source_last(struct tree *tree, struct token token);
struct source_node *source_as(struct tree *tree, struct source_node *source, struct token name);

/* Stages; head and items may be NULL. */
struct stage *stage_items(struct tree *tree, struct token word, struct head *head, struct item_list *items);
struct stage *stage_sources(struct tree *tree, struct token word, struct source_list *sources);
struct stage *stage_path(struct tree *tree, struct token word, struct token path);
struct stage *stage_saves(struct tree *tree, struct stage *stage, struct token way);
struct stage *stage_folders(struct tree *tree, struct stage *stage, struct token format, struct item_list *columns);
/* `keys` may be NULL. */
struct stage *stage_top(struct tree *tree, struct token word, struct expr *most, struct head *head,
                        struct item_list *keys);
struct stage *stage_scatter(struct tree *tree, struct token word, struct source_node *source, struct expr *into);
/* `kind` may be the zero token, `keys` NULL. The source's `as` is the stage's. */
struct stage *stage_join(struct tree *tree, struct token kind, struct token word, struct source_node *source,
                         struct item_list *keys);
/* `nearness` may be the zero token, `within` NULL. */
struct stage *stage_nearness(struct tree *tree, struct stage *stage, struct token nearness, struct expr *within);
/* `outer` and `position` may be the zero token. */
struct stage *stage_unnest(struct tree *tree, struct stage *stage, struct token outer, struct token position);
struct stage *stage_unpivot(struct tree *tree, struct stage *stage, struct token key, struct token value);
struct stage *stage_share(struct stage *stage);
struct stage *stage_sample(struct tree *tree, struct token word, struct expr *count, struct expr *seed);
struct stage *stage_combine(struct tree *tree, struct token word, struct combiner *combiner, struct token exclusive,
                            struct item_list *initial);
/* `rounds`, `condition` and `until` may be NULL; the body is added. */
struct stage *stage_repeat(struct tree *tree, struct token word, struct expr *rounds, struct expr *condition,
                           struct expr *until);
/* A stage of the user's; `arguments` may be NULL, `end` is the last token. */
struct stage *stage_call(struct tree *tree, struct token name, struct argument_list *arguments, struct token end);
/* Either is NULL. */
struct stage_argument *argument_new(struct tree *tree, struct expr *expr, struct source_node *source);
/* Each adds a clause to the stage and returns it. */
struct stage *stage_prefix(struct tree *tree, struct stage *stage, struct token name);
struct stage *stage_loop(struct stage *stage, struct pipeline *pipeline, struct span span);
struct stage *stage_along(struct tree *tree, struct stage *stage, struct token axis);
struct stage *stage_body(struct stage *stage, struct stage_list *body, struct span span);
struct stage *stage_aggregates(struct stage *stage, struct item_list *aggregates);
struct stage *stage_across(struct stage *stage, struct item *column, struct expr *values);
struct stage *stage_rollup(struct tree *tree, struct stage *stage, struct token word);
/* Either `border` is the zero token or `otherwise` is NULL. */
struct stage *stage_stencil(struct tree *tree, struct stage *stage, struct expr_list *bounds, struct token border,
                            struct expr *otherwise);

/* Parts of stages. Of a combiner either `op` is the zero token or head and items are NULL; `order` is the word after a
 * key or the zero token. */
struct combiner *combiner_new(struct tree *tree, struct token op, struct head *head, struct item_list *items);
struct item *key_new(struct tree *tree, struct expr *expr, struct token order, bool descending);

struct pipeline *pipeline_new(struct tree *tree, struct source_node *source);
struct pipeline *pipeline_add(struct tree *tree, struct pipeline *pipeline, struct stage *stage);

/* Statements: each sets tree->stmt. Either the pipeline or the expression is NULL. */
void stmt_query(struct tree *tree, struct pipeline *pipeline, struct expr *expr);
void stmt_let(struct tree *tree, struct token word, struct token name, struct pipeline *pipeline, struct expr *expr);
void stmt_def(struct tree *tree, struct token word, struct token name, struct name_list *params, struct expr *expr);
void stmt_def_stages(struct tree *tree, struct token word, struct token name, struct name_list *params,
                     struct stage_list *stages);
void stmt_assert(struct tree *tree, struct token word, struct expr *expr);
/* The lexeme is `--dialect NAME`. */
void stmt_dialect(struct tree *tree, struct token dialect);
void stmt_explain(struct tree *tree, struct token word, struct token variant, struct pipeline *pipeline);
void stmt_race(struct tree *tree, struct token word, struct pipeline *pipeline);
void stmt_command(struct tree *tree, struct token command);

/* Records the first limit that a statement exceeds, and sets `failed`: "too many WHAT: the limit is MAX". */
void tree_limit(struct tree *tree, struct span span, int max, const char *what, const char *hint);
/* Likewise that LIMIT_NESTING is exceeded at `span`. */
void tree_too_deep(struct tree *tree, struct span span);
/* Creates an expression, and tracks the number and depth of all; and one that is nested, as within brackets. */
struct expr *expr_new(struct tree *tree, enum expr_kind kind, struct span span, struct expr **args, size_t arg_count);
struct expr *expr_nested(struct tree *tree, struct expr *expr);

#endif
