/* Expressions: the second part of the grammar. */

/* parse.c makes this token of a bracket that opens a pipeline where an expression stands. */
value(A) ::= VALUE_LP(B) pipeline(P) RP(E). { A = expr_pipeline(tree, B, P, E); }

vague(A) ::= NAME(N). { A = name_new(tree, N); }
vague(A) ::= ARGUMENT(N). { A = name_new(tree, N); }
vague(A) ::= LP(B) vague(N) RP(E). { A = name_paren(tree, B, N, E); }

expr(A) ::= vague(N). [BARE] { A = expr_name(tree, N); }
expr(A) ::= LP(B) bracketed(X) RP(E). { A = expr_paren(tree, B, X, E); }
expr(A) ::= value(V). { A = V; }
expr(A) ::= set(S). { A = S; }
expr(A) ::= INT(T). { A = expr_int(tree, T); }
expr(A) ::= MINUS(B) INT_LIMIT(T). { A = expr_int_min(tree, B, T); }
expr(A) ::= FLOAT(T). { A = expr_float(tree, T); }
expr(A) ::= TEXT(T). { A = expr_quoted(tree, T); }
expr(A) ::= DATE(T). { A = expr_time(tree, EXPR_DATE, T); }
expr(A) ::= TIMESTAMP(T). { A = expr_time(tree, EXPR_TIMESTAMP, T); }
expr(A) ::= DURATION(T). { A = expr_time(tree, EXPR_DURATION, T); }
expr(A) ::= MONTHS(T). { A = expr_time(tree, EXPR_MONTHS, T); }
expr(A) ::= MISSING(T). { A = expr_missing(tree, T); }
expr(A) ::= TRUE(T). { A = expr_bool(tree, T, true); }
expr(A) ::= FALSE(T). { A = expr_bool(tree, T, false); }
expr(A) ::= POSITION(T). { A = expr_position(tree, T); }
expr(A) ::= part(X). { A = X; }
part(A) ::= NAME(N) LP operand_list(L) RP(E). { A = expr_call(tree, N, L, E); }
expr(A) ::= MISSING(N) LP operand_list(L) RP(E). { A = expr_call(tree, N, L, E); }
expr(A) ::= NAME(N) LP operand_list(L) RP(E) OVER frame(F). { A = expr_over(tree, expr_call(tree, N, L, E), F); }
expr(A) ::= NAME(N) LP operands(L) COLON bracketed(X) RP(E). { A = expr_fold(tree, N, L, X, E); }
part(A) ::= NAME(N) LB places(L) RB(E). { A = expr_index(tree, N, L, E); }
part(A) ::= NAME(N) LB places(L) RB MEMBER(M). { A = expr_member(tree, expr_index(tree, N, L, M), M); }
part(A) ::= NAME(N) slice(S). { A = expr_slice(tree, expr_name(tree, name_new(tree, N)), S); }
part(A) ::= part(X) LB place(Y) RB(E). { A = expr_element(tree, X, Y, E); }
part(A) ::= part(X) LB place(Y) RB MEMBER(M). { A = expr_member(tree, expr_element(tree, X, Y, M), M); }
part(A) ::= part(X) slice(S). { A = expr_slice(tree, X, S); }
slice(A) ::= LB place(X) DOTDOT place(Y) RB(E). { A = expr_ends(tree, X, Y, E); }
slice(A) ::= LB place(X) DOTDOT RB(E). { A = expr_ends(tree, X, NULL, E); }
slice(A) ::= LB DOTDOT place(Y) RB(E). { A = expr_ends(tree, NULL, Y, E); }
places(A) ::= place(X). { A = expr_list_add(tree, NULL, X); }
places(A) ::= places(L) COMMA place(X). { A = expr_list_add(tree, L, X); }
place(A) ::= expr(X). { A = X; }
place(A) ::= place(X) PIPE(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_BITOR, Y); }

expr(A) ::= MINUS(O) expr(X). [SIGN] { A = expr_unary(tree, O, UNARY_NEG, X); }
expr(A) ::= TILDE(O) expr(X). [SIGN] { A = expr_unary(tree, O, UNARY_BITNOT, X); }
expr(A) ::= BANG(O) expr(X). { A = expr_unary(tree, O, UNARY_NOT, X); }
expr(A) ::= NOT(O) expr(X). { A = expr_unary(tree, O, UNARY_NOT, X); }

expr(A) ::= expr(X) STAR(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_MUL, Y); }
expr(A) ::= expr(X) SLASH(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_DIV, Y); }
expr(A) ::= expr(X) SLASH_SLASH(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_INT_DIV, Y); }
expr(A) ::= expr(X) SLASH_QUESTION(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_DIV_OR_MISSING, Y); }
expr(A) ::= expr(X) PERCENT(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_MOD, Y); }
expr(A) ::= expr(X) PLUS(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_ADD, Y); }
expr(A) ::= expr(X) MINUS(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_SUB, Y); }
expr(A) ::= expr(X) SHL(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_SHL, Y); }
expr(A) ::= expr(X) SHR(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_SHR, Y); }
expr(A) ::= expr(X) XOR(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_XOR, Y); }
expr(A) ::= expr(X) BITAND(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_BITAND, Y); }
expr(A) ::= expr(X) LT(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_LT, Y); }
expr(A) ::= expr(X) LE(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_LE, Y); }
expr(A) ::= expr(X) GT(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_GT, Y); }
expr(A) ::= expr(X) GE(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_GE, Y); }
expr(A) ::= expr(X) IN(O) expr(F) DOTDOT expr(T). { A = expr_in_range(tree, X, O, F, T); }
expr(A) ::= expr(X) IN(O) LB operand_list(L) RB(E). { A = expr_in_list(tree, X, O, L, E); }
expr(A) ::= expr(X) IN(O) expr(Y). { A = expr_in_named(tree, X, O, Y); }
expr(A) ::= expr(X) IN(O) LP(B) pipeline(P) RP(E). { A = expr_in_pipeline(tree, X, O, B, P, E); }
expr(A) ::= expr(X) NOT_IN(O) expr(Y). { A = expr_negated(tree, O, expr_in_named(tree, X, O, Y)); }
expr(A) ::= expr(X) NOT_IN(O) LP(B) pipeline(P) RP(E). {
    A = expr_negated(tree, O, expr_in_pipeline(tree, X, O, B, P, E));
}
expr(A) ::= expr(X) NOT_IN(O) expr(F) DOTDOT expr(T). {
    A = expr_negated(tree, O, expr_in_range(tree, X, O, F, T));
}
expr(A) ::= expr(X) NOT_IN(O) LB operand_list(L) RB(E). {
    A = expr_negated(tree, O, expr_in_list(tree, X, O, L, E));
}
expr(A) ::= expr(X) IS(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_IS, Y); }
expr(A) ::= expr(X) IS(O) NOT(P) expr(Y). [IS] { A = expr_binary_not(tree, X, O, P, BINARY_IS, Y); }
expr(A) ::= expr(X) LIKE(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_LIKE, Y); }
expr(A) ::= expr(X) NOT(O) LIKE(P) expr(Y). [LIKE] { A = expr_binary_not(tree, X, O, P, BINARY_LIKE, Y); }
expr(A) ::= expr(X) TILDE(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_MATCH, Y); }
expr(A) ::= expr(X) BANG_TILDE(O) expr(Y). { A = expr_binary_not(tree, X, O, O, BINARY_MATCH, Y); }
expr(A) ::= expr(X) EQ(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_EQ, Y); }
expr(A) ::= expr(X) NE(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_NE, Y); }
expr(A) ::= expr(X) AND(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_AND, Y); }
expr(A) ::= expr(X) OR(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_OR, Y); }
expr(A) ::= expr(X) COALESCE(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_COALESCE, Y); }
expr(A) ::= expr(X) QUESTION(O) expr(Y) COLON expr(Z). { A = expr_ternary(tree, X, O, Y, Z); }
expr(A) ::= LET(W) assignments(L) COLON expr(X). [BARE] { A = expr_let(tree, W, L, X); }

/* Within brackets, where `|` is not a pipe */
bracketed(A) ::= expr(X). { A = X; }
bracketed(A) ::= span(S). { A = S; }
bracketed(A) ::= bracketed(X) PIPE(O) expr(Y). { A = expr_binary(tree, X, O, BINARY_BITOR, Y); }

operand_list(A) ::= . { A = NULL; }
operand_list(A) ::= operands(L). { A = L; }
operands(A) ::= bracketed(X). { A = expr_list_add(tree, NULL, X); }
operands(A) ::= operands(L) COMMA bracketed(X). { A = expr_list_add(tree, L, X); }
