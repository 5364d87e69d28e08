/* The grammar of one statement. Each action builds the tree by one call into ast.c. Lemon reads one file, so the build
 * joins this one, which has the declarations, statements, pipelines and stages, with grammar_expressions.y and
 * grammar_automaton.y. */
%name statement
%token_prefix TOKEN_
%token_type {struct token}
%extra_context {struct tree *tree}
%start_symbol program
%stack_size 8000

%include {
/* No tracing: the generated code would use global state. */
#undef NDEBUG
#define NDEBUG

#include "base/heap.h"
#include "parser/automaton.h"
#include "parser/parse.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

/* The generated functions are static; automaton.h is the interface. */
#define statement_ENGINEALWAYSONSTACK
#define YYNOERRORRECOVERY
static void statementInit(void *parser, struct tree *tree);
static void statementFinalize(void *parser);
static void statement(void *parser, int kind, struct token token);
static int statementFallback(int kind);

static const struct token absent;
}

%syntax_error {
    (void)yymajor, (void)yyminor;
    tree->unexpected = true;
}

/* Memory is in the arena. Without a destructor, parameters of the generated function are unused. */
%destructor query { (void)tree, (void)$$; }

/* The stack holds what LIMIT_NESTING levels can need, about 25 entries each; what is nested deeper by prefix operators
 * and `?:` alone, which are counted when they are complete, ends here. */
%stack_overflow {
    tree->too_deep = true;
}

/* From loosest to tightest. BARE is no token: the precedence of a name that is not yet an operand. */
%nonassoc BARE.
%nonassoc PIPE RP.
%right QUESTION COLON.
%left COALESCE.
%left OR.
%left AND.
%right NOT.
%left EQ NE IN NOT_IN IS LIKE TILDE BANG_TILDE.
%nonassoc DOTDOT.
%left LT LE GT GE.
%left XOR.
%left BITAND.
%left SHL SHR.
%left PLUS MINUS.
%left STAR SLASH SLASH_SLASH SLASH_QUESTION PERCENT.
%right BANG SIGN.

%fallback NAME LOAD RANGE BY LET DEF EXPLAIN KERNEL PASSES RUN SQL RACE STAGE_PLOT STAGE_SOURCES STAGE_CONDITION STAGE_OUTPUTS STAGE_ASSIGNS STAGE_WITH
    STAGE_OUTPUT STAGE_BARE STAGE_NAMES STAGE_COLUMNS STAGE_RENAMES STAGE_HIST STAGE_OPTIONAL STAGE_ARGUMENT STAGE_PATH STAGE_SCAN STAGE_REDUCE STAGE_KEYS
    STAGE_ASSERT STAGE_ARGUMENTS STAGE_GROUP STAGE_STENCIL STAGE_SOURCE STAGE_SCATTER STAGE_SHAPE
    STAGE_TOP STAGE_UNPIVOT STAGE_UNNEST OUTER STAGE_SAMPLE SEED STAGE_JOIN STAGE_LOOKUP JOIN_KIND CROSS NEARNESS WITHIN ASC DESC EXCLUSIVE FROM ELSE BORDER ALONG IS LIKE OVER OF BUT STAGE_PER ACROSS ROLLUP STAGE_REPEAT WHILE UNTIL.

%type vague {struct name *}
%type expr {struct expr *}
%type bracketed {struct expr *}
%type part {struct expr *}
%type slice {struct expr *}
%type place {struct expr *}
%type places {struct expr_list *}
%type operand_list {struct expr_list *}
%type operands {struct expr_list *}
%type item {struct item *}
%type items {struct item_list *}
%type arguments {struct item_list *}
%type assignment {struct item *}
%type assignments {struct item_list *}
%type column {struct item *}
%type columns {struct item_list *}
%type pick {struct item *}
%type picks {struct item_list *}
%type rename {struct item *}
%type members {struct item_list *}
%type member {struct item *}
%type settings {struct item_list *}
%type setting {struct item *}
%type set {struct expr *}
%type span {struct expr *}
%type bound {struct expr *}
%type limits {struct column_set *}
%type renames {struct item_list *}
%type bins {struct expr *}
%type name_list {struct name_list *}
%type names {struct name_list *}
%type head {struct head *}
%type path {struct token}
%type column_op {struct token}
%type combiner {struct combiner *}
%type exclusive {struct token}
%type initial {struct item_list *}
%type along {struct token}
%type key {struct item *}
%type list {struct item *}
%type unnested {struct item_list *}
%type keys {struct item_list *}
%type match {struct item *}
%type matches {struct item_list *}
%type folders {struct item_list *}
%type top_key {struct item *}
%type top_keys {struct item_list *}
%type neighbours {struct expr_list *}
%type reaches {struct expr_list *}
%type axes {struct item_list *}
%type extents {struct item_list *}
%type extent {struct expr *}
%type value {struct expr *}
%type edge {struct expr *}
%type distance {struct expr *}
%type frame {struct window_frame *}
%type timed {struct token}
%type file {struct path_item *}
%type typed_file {struct path_item *}
%type typed_files {struct path_list *}
%type blank_file {struct path_item *}
%type blank_files {struct path_list *}
%type files {struct path_list *}
%type more_files {struct path_list *}
%type clause_files {struct path_list *}
%type clause {struct path_clause *}
%type loaded {struct path_list *}
%type stated {struct stated_column *}
%type generated {struct source_node *}
%type named {struct source_node *}
%type source {struct source_node *}
%type zipped {struct source_node *}
%type zipped_list {struct source_list *}
%type stage {struct stage *}
%type stages {struct stage_list *}
%type argument {struct stage_argument *}
%type argument_list {struct argument_list *}
%type repeat {struct stage *}
%type pipeline {struct pipeline *}
%type query {struct pipeline *}

/* Statements */
program ::= query(P). { stmt_query(tree, P, NULL); }
program ::= expr(E). { stmt_query(tree, NULL, E); }
program ::= LET(W) NAME(N) ASSIGN query(P). { stmt_let(tree, W, N, P, NULL); }
program ::= LET(W) NAME(N) ASSIGN expr(E). { stmt_let(tree, W, N, NULL, E); }
program ::= DEF(W) NAME(N) LP name_list(L) RP ASSIGN expr(E). { stmt_def(tree, W, N, L, E); }
program ::= DEF(W) NAME(N) ASSIGN PIPE stages(S). { stmt_def_stages(tree, W, N, NULL, S); }
program ::= DEF(W) NAME(N) LP name_list(L) RP ASSIGN PIPE stages(S). { stmt_def_stages(tree, W, N, L, S); }
program ::= STAGE_ASSERT(W) expr(E). { stmt_assert(tree, W, E); }
program ::= EXPLAIN(W) query(P). { stmt_explain(tree, W, absent, P); }
program ::= EXPLAIN(W) KERNEL(V) query(P). { stmt_explain(tree, W, V, P); }
program ::= EXPLAIN(W) PASSES(V) query(P). { stmt_explain(tree, W, V, P); }
program ::= EXPLAIN(W) RUN(V) query(P). { stmt_explain(tree, W, V, P); }
program ::= EXPLAIN(W) SQL(V) query(P). { stmt_explain(tree, W, V, P); }
program ::= EXPLAIN(W) SQL(V) DIALECT(D) query(P). { stmt_explain(tree, W, V, P); stmt_dialect(tree, D); }
program ::= RACE(W) query(P). { stmt_race(tree, W, P); }

/* Pipelines */
query(A) ::= vague(N). [PIPE] { A = pipeline_new(tree, source_name(tree, N)); }
query(A) ::= pipeline(P). { A = P; }

pipeline(A) ::= source(S). { A = pipeline_new(tree, S); }
pipeline(A) ::= vague(N) PIPE stage(G). { A = pipeline_add(tree, pipeline_new(tree, source_name(tree, N)), G); }
pipeline(A) ::= pipeline(P) PIPE stage(G). { A = pipeline_add(tree, P, G); }

/* Sources */
source(A) ::= LOAD(W) loaded(L). { A = source_load(tree, W, L); }
source(A) ::= file(F). { A = source_path(tree, F); }
source(A) ::= LAST(W). { A = source_last(tree, W); }
source(A) ::= LAST(W) AS NAME(C). { A = source_as(tree, source_last(tree, W), C); }
source(A) ::= vague(N) AS NAME(C). { A = source_as(tree, source_name(tree, N), C); }
source(A) ::= named(S). { A = S; }

generated(A) ::= RANGE(W) expr(F) DOTDOT expr(T). { A = source_range(tree, W, F, T, NULL); }
generated(A) ::= RANGE(W) expr(F) DOTDOT expr(T) BY expr(S). { A = source_range(tree, W, F, T, S); }
generated(A) ::= LB(B) operand_list(L) RB(E). { A = source_literal(tree, B, L, E); }
generated(A) ::= LP(B) pipeline(P) RP(E). { A = source_pipeline(tree, B, P, E); }

named(A) ::= generated(S). { A = S; }
named(A) ::= generated(S) AS NAME(C). { A = source_as(tree, S, C); }

/* What may follow a comma depends on how the file before it ends: a file, another column with its type, or another word
 * for missing values. After a clause comes a file. */
loaded(A) ::= files(L). { A = L; }
loaded(A) ::= typed_files(L). { A = L; }
loaded(A) ::= blank_files(L). { A = L; }
loaded(A) ::= clause_files(L). { A = L; }

more_files(A) ::= files(L) COMMA. { A = L; }
more_files(A) ::= typed_files(L) COMMA. { A = L; }
more_files(A) ::= blank_files(L) COMMA. { A = L; }
more_files(A) ::= clause_files(L) COMMA. { A = L; }

files(A) ::= file(F). { A = path_list_add(tree, NULL, F); }
files(A) ::= more_files(L) file(F). { A = path_list_add(tree, L, F); }
typed_files(A) ::= typed_file(F). { A = path_list_add(tree, NULL, F); }
typed_files(A) ::= more_files(L) typed_file(F). { A = path_list_add(tree, L, F); }
typed_files(A) ::= typed_files(L) COMMA stated(C). { A = path_list_state(tree, L, C); }
blank_files(A) ::= blank_file(F). { A = path_list_add(tree, NULL, F); }
blank_files(A) ::= more_files(L) blank_file(F). { A = path_list_add(tree, L, F); }
blank_files(A) ::= typed_files(L) MISSING TEXT(T). { A = path_list_missing(tree, L, T); }
blank_files(A) ::= clause_files(L) MISSING TEXT(T). { A = path_list_missing(tree, L, T); }
blank_files(A) ::= blank_files(L) COMMA TEXT(T). { A = path_list_missing(tree, L, T); }
typed_files(A) ::= clause_files(L) stated(C). { A = path_list_state(tree, L, C); }
clause_files(A) ::= files(L) clause(C). { A = path_list_clause(tree, L, C); }
clause_files(A) ::= typed_files(L) clause(C). { A = path_list_clause(tree, L, C); }
clause_files(A) ::= blank_files(L) clause(C). { A = path_list_clause(tree, L, C); }
clause_files(A) ::= clause_files(L) clause(C). { A = path_list_clause(tree, L, C); }

typed_file(A) ::= path(P) stated(C). { A = path_state(tree, path_new(tree, P, absent, absent), C); }
typed_file(A) ::= path(P) NAME(F) stated(C). { A = path_state(tree, path_new(tree, P, absent, F), C); }
typed_file(A) ::= path(P) AS NAME(N) stated(C). { A = path_state(tree, path_new(tree, P, N, absent), C); }
typed_file(A) ::= path(P) AS NAME(N) NAME(F) stated(C). { A = path_state(tree, path_new(tree, P, N, F), C); }
typed_file(A) ::= path(P) NAME(F) AS NAME(N) stated(C). { A = path_state(tree, path_new(tree, P, N, F), C); }
blank_file(A) ::= file(F) MISSING TEXT(T). { A = path_missing(tree, F, T); }

stated(A) ::= NAME(N) NAME(T). { A = stated_new(tree, N, T, absent, absent); }
stated(A) ::= NAME(N) NAME(T) LP INT(I) RP(E). { A = stated_new(tree, N, T, I, E); }

/* parse.c says where a word of clauses.def is one. */
clause(A) ::= CLAUSE_BARE(W). { A = clause_new(tree, W, absent); }
clause(A) ::= CLAUSE(W) INT(V). { A = clause_new(tree, W, V); }
clause(A) ::= CLAUSE(W) TEXT(V). { A = clause_new(tree, W, V); }
clause(A) ::= CLAUSE(W) NAME(V). { A = clause_new(tree, W, V); }
clause(A) ::= CLAUSE(W) MISSING(V). { A = clause_new(tree, W, V); }

file(A) ::= path(P). { A = path_new(tree, P, absent, absent); }
file(A) ::= path(P) NAME(F). { A = path_new(tree, P, absent, F); }
file(A) ::= path(P) AS NAME(N). { A = path_new(tree, P, N, absent); }
file(A) ::= path(P) AS NAME(N) NAME(F). { A = path_new(tree, P, N, F); }
file(A) ::= path(P) NAME(F) AS NAME(N). { A = path_new(tree, P, N, F); }

path(A) ::= PATH(P). { A = P; }
path(A) ::= STRING(P). { A = P; }

zipped_list(A) ::= zipped(S). { A = source_list_add(tree, NULL, S); }
zipped_list(A) ::= zipped_list(L) COMMA zipped(S). { A = source_list_add(tree, L, S); }

zipped(A) ::= file(F). { A = source_path(tree, F); }
zipped(A) ::= vague(N). { A = source_name(tree, N); }
zipped(A) ::= vague(N) AS NAME(C). { A = source_as(tree, source_name(tree, N), C); }
zipped(A) ::= named(S). { A = S; }

/* Stages: one rule per syntax; words.def says which words use it */
stage(A) ::= STAGE_SOURCES(W) zipped_list(L). { A = stage_sources(tree, W, L); }
stage(A) ::= STAGE_CONDITION(W) head(H) expr(E). {
    A = stage_items(tree, W, H, item_list_add(tree, NULL, item_new(tree, E, absent)));
}
stage(A) ::= STAGE_ASSERT(W) head(H) expr(E). {
    A = stage_items(tree, W, H, item_list_add(tree, NULL, item_new(tree, E, absent)));
}
stage(A) ::= STAGE_OUTPUTS(W) head(H) items(L). { A = stage_items(tree, W, H, L); }
stage(A) ::= STAGE_ASSIGNS(W) head(H) settings(L). { A = stage_items(tree, W, H, L); }
stage(A) ::= STAGE_WITH(W) head(H) settings(L). { A = stage_items(tree, W, H, L); }
stage(A) ::= STAGE_OUTPUT(W) head(H) item(I). { A = stage_items(tree, W, H, item_list_add(tree, NULL, I)); }
stage(A) ::= STAGE_BARE(W). { A = stage_items(tree, W, NULL, NULL); }
stage(A) ::= STAGE_NAMES(W) members(L). { A = stage_items(tree, W, NULL, L); }
stage(A) ::= STAGE_COLUMNS(W) picks(L). { A = stage_items(tree, W, NULL, L); }
stage(A) ::= STAGE_RENAMES(W) renames(L). { A = stage_items(tree, W, NULL, L); }
stage(A) ::= STAGE_HIST(W). { A = stage_items(tree, W, NULL, NULL); }
stage(A) ::= STAGE_HIST(W) head(H) expr(E). {
    A = stage_items(tree, W, H, item_list_add(tree, NULL, item_new(tree, E, absent)));
}
stage(A) ::= STAGE_HIST(W) head(H) column(C) bins(E). {
    struct item_list *column_and_bins = item_list_add(tree, NULL, C);
    A = stage_items(tree, W, H, item_list_add(tree, column_and_bins, item_new(tree, E, absent)));
}
stage(A) ::= STAGE_OPTIONAL(W) along(X). { A = stage_along(tree, stage_items(tree, W, NULL, NULL), X); }
stage(A) ::= STAGE_OPTIONAL(W) head(H) expr(E) along(X). {
    A = stage_along(tree, stage_items(tree, W, H, item_list_add(tree, NULL, item_new(tree, E, absent))), X);
}
stage(A) ::= STAGE_ARGUMENTS(W) along(X). { A = stage_along(tree, stage_items(tree, W, NULL, NULL), X); }
stage(A) ::= STAGE_ARGUMENTS(W) head(H) arguments(L) along(X). {
    A = stage_along(tree, stage_items(tree, W, H, L), X);
}
stage(A) ::= STAGE_ARGUMENT(W). { A = stage_items(tree, W, NULL, NULL); }
stage(A) ::= STAGE_ARGUMENT(W) expr(E). {
    A = stage_items(tree, W, NULL, item_list_add(tree, NULL, item_new(tree, E, absent)));
}
stage(A) ::= STAGE_PATH(W) path(P). { A = stage_path(tree, W, P); }
stage(A) ::= STAGE_PATH(W) path(P) NAME(F). { A = stage_saves(tree, stage_path(tree, W, P), F); }
stage(A) ::= STAGE_PATH(W) path(P) BY folders(L). { A = stage_folders(tree, stage_path(tree, W, P), absent, L); }
stage(A) ::= STAGE_PATH(W) path(P) NAME(F) BY folders(L). { A = stage_folders(tree, stage_path(tree, W, P), F, L); }
stage(A) ::= STAGE_PLOT(W). { A = stage_items(tree, W, NULL, NULL); }
stage(A) ::= STAGE_PLOT(W) path(P). { A = stage_path(tree, W, P); }
stage(A) ::= STAGE_SOURCE(W) zipped(S). { A = stage_sources(tree, W, source_list_add(tree, NULL, S)); }
stage(A) ::= STAGE_SCATTER(W) zipped(S). { A = stage_scatter(tree, W, S, NULL); }
stage(A) ::= STAGE_SCATTER(W) zipped(S) INTO expr(N). { A = stage_scatter(tree, W, S, N); }
stage(A) ::= STAGE_JOIN(W) zipped(S) ON matches(L). { A = stage_join(tree, absent, W, S, L); }
stage(A) ::= JOIN_KIND(K) STAGE_JOIN(W) zipped(S) ON matches(L). { A = stage_join(tree, K, W, S, L); }
stage(A) ::= JOIN_KIND(K) STAGE_JOIN(W) zipped(S) ON matches(L) NEARNESS(D). {
    A = stage_nearness(tree, stage_join(tree, K, W, S, L), D, NULL);
}
stage(A) ::= JOIN_KIND(K) STAGE_JOIN(W) zipped(S) ON matches(L) WITHIN expr(T). {
    A = stage_nearness(tree, stage_join(tree, K, W, S, L), absent, T);
}
stage(A) ::= JOIN_KIND(K) STAGE_JOIN(W) zipped(S) ON matches(L) NEARNESS(D) WITHIN expr(T). {
    A = stage_nearness(tree, stage_join(tree, K, W, S, L), D, T);
}
stage(A) ::= STAGE_LOOKUP(W) zipped(S) ON matches(L). { A = stage_join(tree, absent, W, S, L); }
stage(A) ::= CROSS(K) STAGE_JOIN(W) zipped(S). { A = stage_join(tree, K, W, S, NULL); }
stage(A) ::= STAGE_UNPIVOT(W) members(L) AS NAME(K) COMMA NAME(V). {
    A = stage_unpivot(tree, stage_items(tree, W, NULL, L), K, V);
}
stage(A) ::= STAGE_UNNEST(W) unnested(L). { A = stage_unnest(tree, stage_items(tree, W, NULL, L), absent, absent); }
stage(A) ::= STAGE_UNNEST(W) OUTER(O) unnested(L). {
    A = stage_unnest(tree, stage_items(tree, W, NULL, L), O, absent);
}
stage(A) ::= STAGE_UNNEST(W) unnested(L) STAGE_WITH NAME(P). {
    A = stage_unnest(tree, stage_items(tree, W, NULL, L), absent, P);
}
stage(A) ::= STAGE_UNNEST(W) OUTER(O) unnested(L) STAGE_WITH NAME(P). {
    A = stage_unnest(tree, stage_items(tree, W, NULL, L), O, P);
}
stage(A) ::= STAGE_SAMPLE(W) expr(N). { A = stage_sample(tree, W, N, NULL); }
stage(A) ::= STAGE_SAMPLE(W) expr(N) SEED expr(S). { A = stage_sample(tree, W, N, S); }
stage(A) ::= STAGE_SAMPLE(W) expr(N) PERCENT. { A = stage_share(stage_sample(tree, W, N, NULL)); }
stage(A) ::= STAGE_SAMPLE(W) expr(N) PERCENT SEED expr(S). { A = stage_share(stage_sample(tree, W, N, S)); }
stage(A) ::= STAGE_KEYS(W). { A = stage_items(tree, W, NULL, NULL); }
stage(A) ::= STAGE_KEYS(W) head(H) keys(L). { A = stage_items(tree, W, H, L); }
stage(A) ::= STAGE_TOP(W) expr(N). { A = stage_top(tree, W, N, NULL, NULL); }
stage(A) ::= STAGE_TOP(W) expr(N) BY head(H) top_keys(L). { A = stage_top(tree, W, N, H, L); }
stage(A) ::= STAGE_GROUP(W) head(H) items(L). { A = stage_items(tree, W, H, L); }
stage(A) ::= STAGE_GROUP(W) head(H) items(L) COLON items(M). {
    A = stage_aggregates(stage_items(tree, W, H, L), M);
}
stage(A) ::= STAGE_GROUP(W) head(H) items(L) COLON items(M) ROLLUP(R). {
    A = stage_rollup(tree, stage_aggregates(stage_items(tree, W, H, L), M), R);
}
stage(A) ::= STAGE_GROUP(W) COLON items(M). {
    A = stage_aggregates(stage_items(tree, W, NULL, NULL), M);
}
stage(A) ::= STAGE_GROUP(W) head(H) items(L) COLON items(M) ACROSS column(C). {
    A = stage_across(stage_aggregates(stage_items(tree, W, H, L), M), C, NULL);
}
stage(A) ::= STAGE_GROUP(W) head(H) items(L) COLON items(M) ACROSS column(C) IN(O) LB operand_list(V) RB(E). {
    A = stage_across(stage_aggregates(stage_items(tree, W, H, L), M), C, expr_in_list(tree, C->expr, O, V, E));
}
stage(A) ::= STAGE_GROUP(W) COLON items(M) ACROSS column(C). {
    A = stage_across(stage_aggregates(stage_items(tree, W, NULL, NULL), M), C, NULL);
}
stage(A) ::= STAGE_GROUP(W) COLON items(M) ACROSS column(C) IN(O) LB operand_list(V) RB(E). {
    A = stage_across(stage_aggregates(stage_items(tree, W, NULL, NULL), M), C,
                     expr_in_list(tree, C->expr, O, V, E));
}
stage(A) ::= STAGE_PER(W) head(H) items(L) COLON stage(G). {
    A = stage_body(stage_items(tree, W, H, L), stage_list_add(tree, NULL, G), G->span);
}
stage(A) ::= STAGE_PER(W) head(H) items(L) COLON LP(B) stages(S) RP(E). {
    A = stage_body(stage_items(tree, W, H, L), S, span_join(token_span(tree, B), token_span(tree, E)));
}
stage(A) ::= STAGE_SCAN(W) combiner(C) exclusive(X) initial(I) along(Y). {
    A = stage_along(tree, stage_combine(tree, W, C, X, I), Y);
}
stage(A) ::= STAGE_REDUCE(W) combiner(C) initial(I) along(Y). {
    A = stage_along(tree, stage_combine(tree, W, C, absent, I), Y);
}
stage(A) ::= STAGE_STENCIL(W) neighbours(N) ELSE expr(V) COLON head(H) items(L). {
    A = stage_stencil(tree, stage_items(tree, W, H, L), N, absent, V);
}
stage(A) ::= STAGE_STENCIL(W) neighbours(N) BORDER(B) COLON head(H) items(L). {
    A = stage_stencil(tree, stage_items(tree, W, H, L), N, B, NULL);
}
stage(A) ::= STAGE_SHAPE(W) extents(L). { A = stage_items(tree, W, NULL, L); }
stage(A) ::= STAGE_SHAPE(W) axes(L). { A = stage_items(tree, W, NULL, L); }

stage(A) ::= repeat(R) COLON stage(G). {
    A = stage_body(R, stage_list_add(tree, NULL, G), G->span);
}
stage(A) ::= repeat(R) COLON LP(B) stages(S) RP(E). {
    A = stage_body(R, S, span_join(token_span(tree, B), token_span(tree, E)));
}
stage(A) ::= repeat(R) AS NAME(N) COLON stage(G). {
    A = stage_body(stage_prefix(tree, R, N), stage_list_add(tree, NULL, G), G->span);
}
stage(A) ::= repeat(R) AS NAME(N) COLON LP(B) stages(S) RP(E). {
    A = stage_body(stage_prefix(tree, R, N), S, span_join(token_span(tree, B), token_span(tree, E)));
}
stage(A) ::= repeat(R) AS NAME(N) COLON LP(B) pipeline(P) RP(E). {
    A = stage_loop(stage_prefix(tree, R, N), P, span_join(token_span(tree, B), token_span(tree, E)));
}
/* Written out: an empty clause before a word would make of this a name. */
repeat(A) ::= STAGE_REPEAT(W). { A = stage_repeat(tree, W, NULL, NULL, NULL); }
repeat(A) ::= STAGE_REPEAT(W) expr(N). { A = stage_repeat(tree, W, N, NULL, NULL); }
repeat(A) ::= STAGE_REPEAT(W) WHILE expr(C). { A = stage_repeat(tree, W, NULL, C, NULL); }
repeat(A) ::= STAGE_REPEAT(W) UNTIL expr(U). { A = stage_repeat(tree, W, NULL, NULL, U); }
repeat(A) ::= STAGE_REPEAT(W) WHILE expr(C) UNTIL expr(U). { A = stage_repeat(tree, W, NULL, C, U); }
repeat(A) ::= STAGE_REPEAT(W) expr(N) WHILE expr(C). { A = stage_repeat(tree, W, N, C, NULL); }
repeat(A) ::= STAGE_REPEAT(W) expr(N) UNTIL expr(U). { A = stage_repeat(tree, W, N, NULL, U); }
repeat(A) ::= STAGE_REPEAT(W) expr(N) WHILE expr(C) UNTIL expr(U). { A = stage_repeat(tree, W, N, C, U); }

/* A stage that the user has defined; next_lexeme makes this token of a name. */
stage(A) ::= STAGE_NAME(N). { A = stage_call(tree, N, NULL, N); }
stage(A) ::= STAGE_NAME(N) LP RP(E). { A = stage_call(tree, N, NULL, E); }
stage(A) ::= STAGE_NAME(N) LP argument_list(L) RP(E). { A = stage_call(tree, N, L, E); }
argument_list(A) ::= argument(X). { A = argument_list_add(tree, NULL, X); }
argument_list(A) ::= argument_list(L) COMMA argument(X). { A = argument_list_add(tree, L, X); }
argument(A) ::= expr(E). { A = argument_new(tree, E, NULL); }
argument(A) ::= LB(B) operand_list(L) RB(E). { A = argument_new(tree, NULL, source_literal(tree, B, L, E)); }
argument(A) ::= LP(B) pipeline(P) RP(E). { A = argument_new(tree, NULL, source_pipeline(tree, B, P, E)); }

stages(A) ::= stage(G). { A = stage_list_add(tree, NULL, G); }
stages(A) ::= stages(L) PIPE stage(G). { A = stage_list_add(tree, L, G); }

/* After scan and reduce an operator is a name, so that a line may end with it. */
combiner(A) ::= column_op(O). { A = combiner_new(tree, O, NULL, NULL); }
combiner(A) ::= HEAD(B) names(L) PIPE(E) items(I). { A = combiner_new(tree, absent, head_new(tree, B, L, E), I); }

column_op(A) ::= PLUS(T). { A = T; }
column_op(A) ::= STAR(T). { A = T; }
column_op(A) ::= BITAND(T). { A = T; }
column_op(A) ::= XOR(T). { A = T; }
column_op(A) ::= OR(T). { A = T; }
column_op(A) ::= NAME(T). { A = T; }

exclusive(A) ::= . { A = absent; }
exclusive(A) ::= EXCLUSIVE(T). { A = T; }
initial(A) ::= . { A = NULL; }
initial(A) ::= FROM arguments(L). { A = L; }
along(A) ::= . { A = absent; }
along(A) ::= ALONG NAME(N). { A = N; }

folders(A) ::= column(C). { A = item_list_add(tree, NULL, C); }
folders(A) ::= folders(L) COMMA column(C). { A = item_list_add(tree, L, C); }

matches(A) ::= match(I). { A = item_list_add(tree, NULL, I); }
matches(A) ::= matches(L) COMMA match(I). { A = item_list_add(tree, L, I); }
match(A) ::= column(C). { A = C; }
match(A) ::= column(C) ASSIGN NAME(N). { A = item_named(tree, C, N); }
match(A) ::= column(C) LT NAME(N). { A = item_compared(tree, C, BINARY_LT, N); }
match(A) ::= column(C) LE NAME(N). { A = item_compared(tree, C, BINARY_LE, N); }
match(A) ::= column(C) GT NAME(N). { A = item_compared(tree, C, BINARY_GT, N); }
match(A) ::= column(C) GE NAME(N). { A = item_compared(tree, C, BINARY_GE, N); }

keys(A) ::= key(I). { A = item_list_add(tree, NULL, I); }
keys(A) ::= keys(L) COMMA key(I). { A = item_list_add(tree, L, I); }
key(A) ::= expr(E). { A = key_new(tree, E, absent, false); }
key(A) ::= expr(E) ASC(T). { A = key_new(tree, E, T, false); }
key(A) ::= expr(E) DESC(T). { A = key_new(tree, E, T, true); }
key(A) ::= span(E). { A = key_new(tree, E, absent, false); }
key(A) ::= span(E) ASC(T). { A = key_new(tree, E, T, false); }
key(A) ::= span(E) DESC(T). { A = key_new(tree, E, T, true); }

top_keys(A) ::= top_key(I). { A = item_list_add(tree, NULL, I); }
top_keys(A) ::= top_keys(L) COMMA top_key(I). { A = item_list_add(tree, L, I); }
top_key(A) ::= expr(E). { A = key_new(tree, E, absent, true); }
top_key(A) ::= expr(E) ASC(T). { A = key_new(tree, E, T, false); }
top_key(A) ::= expr(E) DESC(T). { A = key_new(tree, E, T, true); }

neighbours(A) ::= expr(F) DOTDOT expr(T). { A = expr_list_add(tree, expr_list_add(tree, NULL, F), T); }
neighbours(A) ::= LB reaches(L) RB. { A = L; }
reaches(A) ::= expr(F) DOTDOT expr(T). { A = expr_list_add(tree, expr_list_add(tree, NULL, F), T); }
reaches(A) ::= reaches(L) COMMA expr(F) DOTDOT expr(T). {
    A = expr_list_add(tree, expr_list_add(tree, L, F), T);
}

/* After a column, so a number or a name. */
bins(A) ::= INT(T). { A = expr_int(tree, T); }
bins(A) ::= NAME(N). { A = expr_name(tree, name_new(tree, N)); }
bins(A) ::= ARGUMENT(N). { A = expr_name(tree, name_new(tree, N)); }

/* The rows of a window. An edge binds tighter than operators: `sum(x) over -1..1 / 3` divides the sum. It is no bare
 * name, since words may follow. */
frame(A) ::= edge(F) DOTDOT(D) edge(T) timed(N). { A = frame_new(tree, F, D, T, N); }
edge(A) ::= . [BARE] { A = NULL; }
edge(A) ::= distance(X). { A = X; }
edge(A) ::= MINUS(O) distance(X). { A = expr_unary(tree, O, UNARY_NEG, X); }
edge(A) ::= MINUS(O) INT_LIMIT(T). { A = expr_int_min(tree, O, T); }
distance(A) ::= value(V). { A = V; }
distance(A) ::= INT(T). { A = expr_int(tree, T); }
distance(A) ::= DURATION(T). { A = expr_time(tree, EXPR_DURATION, T); }
distance(A) ::= MONTHS(T). { A = expr_time(tree, EXPR_MONTHS, T); }
distance(A) ::= ARGUMENT(N). { A = expr_name(tree, name_new(tree, N)); }
distance(A) ::= LP(B) bracketed(X) RP(E). { A = expr_paren(tree, B, X, E); }
timed(A) ::= . [BARE] { A = absent; }
timed(A) ::= OF NAME(N). { A = N; }

/* Between commas stands an axis, of which axis_new takes a name from its size; without a comma these are sizes. */
axes(A) ::= extents(X) COMMA extents(Y). {
    A = item_list_add(tree, item_list_add(tree, NULL, axis_new(tree, X)), axis_new(tree, Y));
}
axes(A) ::= axes(L) COMMA extents(X). { A = item_list_add(tree, L, axis_new(tree, X)); }
extents(A) ::= extent(X). { A = item_list_add(tree, NULL, item_new(tree, X, absent)); }
extents(A) ::= extents(L) extent(X). { A = item_list_add(tree, L, item_new(tree, X, absent)); }
/* These are adjacent, so each is a number, a name, or in parentheses. */
extent(A) ::= INT(T). { A = expr_int(tree, T); }
extent(A) ::= value(V). { A = V; }
extent(A) ::= vague(N). { A = expr_name(tree, N); }
extent(A) ::= LP(B) bracketed(X) RP(E). { A = expr_paren(tree, B, X, E); }

head(A) ::= . { A = NULL; }
head(A) ::= HEAD(B) names(L) PIPE(E). { A = head_new(tree, B, L, E); }

name_list(A) ::= . { A = NULL; }
name_list(A) ::= names(L). { A = L; }
names(A) ::= NAME(N). { A = name_list_add(tree, NULL, N); }
names(A) ::= names(L) COMMA NAME(N). { A = name_list_add(tree, L, N); }

items(A) ::= item(I). { A = item_list_add(tree, NULL, I); }
items(A) ::= items(L) COMMA item(I). { A = item_list_add(tree, L, I); }
item(A) ::= expr(E). { A = item_new(tree, E, absent); }
item(A) ::= expr(E) AS NAME(N). { A = item_new(tree, E, N); }
item(A) ::= expr(E) AS SET(N). { A = item_of_set(tree, E, N); }
item(A) ::= span(E). { A = item_new(tree, E, absent); }
item(A) ::= span(E) AS SET(N). { A = item_of_set(tree, E, N); }

arguments(A) ::= expr(E). { A = item_list_add(tree, NULL, item_new(tree, E, absent)); }
arguments(A) ::= arguments(L) COMMA expr(E). { A = item_list_add(tree, L, item_new(tree, E, absent)); }

assignments(A) ::= assignment(I). { A = item_list_add(tree, NULL, I); }
assignments(A) ::= assignments(L) COMMA assignment(I). { A = item_list_add(tree, L, I); }
assignment(A) ::= NAME(N) ASSIGN expr(E). { A = item_new(tree, E, N); }

settings(A) ::= setting(I). { A = item_list_add(tree, NULL, I); }
settings(A) ::= settings(L) COMMA setting(I). { A = item_list_add(tree, L, I); }
setting(A) ::= assignment(I). { A = I; }
setting(A) ::= set(S) ASSIGN expr(E). { A = item_assigned(tree, S, E); }
setting(A) ::= span(S) ASSIGN expr(E). { A = item_assigned(tree, S, E); }

/* Sets of columns: those whose names fit a pattern, or those from one to another in order; of these perhaps some. A
 * span is no expression, because `..` has other meanings beside some. */
set(A) ::= SET(T) limits(L). { A = set_of_pattern(tree, T, L); }
span(A) ::= bound(F) DOTDOT bound(T) limits(L). { A = set_of_span(tree, F, T, L); }
/* As `column`, but apart from that: `hist` has a name after it. */
bound(A) ::= NAME(N). { A = expr_name(tree, name_new(tree, N)); }
bound(A) ::= POSITION(P). { A = expr_position(tree, P); }
limits(A) ::= . { A = NULL; }
limits(A) ::= limits(L) OF NAME(T). { A = set_of_type(tree, L, T); }
limits(A) ::= limits(L) BUT column(I). { A = set_without(tree, L, item_list_add(tree, NULL, I), absent); }
limits(A) ::= limits(L) BUT SET(T). {
    A = set_without(tree, L, item_list_add(tree, NULL, item_new(tree, set_of_pattern(tree, T, NULL), absent)), absent);
}
limits(A) ::= limits(L) BUT LP members(M) RP(E). { A = set_without(tree, L, M, E); }

column(A) ::= NAME(N). { A = item_new(tree, expr_name(tree, name_new(tree, N)), absent); }
column(A) ::= MISSING(N). { A = item_new(tree, expr_name(tree, name_new(tree, N)), absent); }
column(A) ::= POSITION(P). { A = item_new(tree, expr_position(tree, P), absent); }

members(A) ::= member(I). { A = item_list_add(tree, NULL, I); }
members(A) ::= members(L) COMMA member(I). { A = item_list_add(tree, L, I); }
member(A) ::= column(I). { A = I; }
member(A) ::= set(S). { A = item_new(tree, S, absent); }
member(A) ::= span(S). { A = item_new(tree, S, absent); }

unnested(A) ::= list(I). { A = item_list_add(tree, NULL, I); }
unnested(A) ::= unnested(L) COMMA list(I). { A = item_list_add(tree, L, I); }
list(A) ::= column(C). { A = C; }
list(A) ::= column(C) AS NAME(N). { A = item_new(tree, C->expr, N); }

picks(A) ::= pick(I). { A = item_list_add(tree, NULL, I); }
picks(A) ::= picks(L) COMMA pick(I). { A = item_list_add(tree, L, I); }
pick(A) ::= member(C). { A = C; }
pick(A) ::= rename(R). { A = R; }
renames(A) ::= rename(I). { A = item_list_add(tree, NULL, I); }
renames(A) ::= renames(L) COMMA rename(I). { A = item_list_add(tree, L, I); }
rename(A) ::= column(C) AS NAME(N). { A = item_named(tree, C, N); }
rename(A) ::= set(S) AS SET(N). { A = item_of_set(tree, S, N); }
rename(A) ::= span(S) AS SET(N). { A = item_of_set(tree, S, N); }
