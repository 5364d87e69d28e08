/* Lists in expressions. A term of lists is a number of a list, as a text's is a code. Length and elements are read from
 * the columns of its store (engine/storage/list_store.h), so they fuse and run on every backend. */
#ifndef RQL_ENGINE_LISTS_LISTS_H
#define RQL_ENGINE_LISTS_LISTS_H

#include "engine/expression/expression.h"

/* One of the lists whose elements an aggregate takes. */
struct turned_list {
    value number;
    const struct expr *part; /* as of struct named_list */
    struct term term;
};

/* Within an aggregate of a row's lists: their names stand for their elements at this position. */
struct element_position {
    value index;                     /* a COUNTER from 0 on */
    const struct turned_list *lists; /* of several, some may be shorter than others */
    size_t count;
};

/* A list that an expression names, as a column or a value of one: `tags`, or with a field of its structs, `items.price`
 * or `items.price.net`; or a part of one that is a list: a slice, `tags[1..3]`, or an element, `matrix[0]`. */
struct named_list {
    struct term term; /* of a part after list_bind */
    struct list_store *type;
    struct span span;
    const char *field;       /* NULL: none */
    const struct expr *part; /* whose value is the list; NULL: it is a name */
};

/* Whether the expression is the name of a list, perhaps with a position. Nothing is reported, and no name is
 * abbreviated. */
bool list_find(const struct scope *scope, const struct expr *expr, struct named_list *list);

/* Whether its value is a list that it names, or a part of one. Likewise. */
bool list_is_whole(const struct scope *scope, const struct expr *expr, struct named_list *list);

/* Binds a part; a name is bound. */
void list_bind(struct scope *scope, struct named_list *list);

/* Whether the expression has one outside of the functions and indices that take a list as a whole. */
bool list_is_within(const struct scope *scope, const struct expr *expr);

/* Whether a call of an aggregate is of the elements of each row's lists, and not of the rows. */
bool list_is_aggregated(const struct scope *scope, const struct expr *call);
struct term bind_list_aggregate(struct scope *scope, const struct expr *call);

/* How many elements the list has. */
struct term list_length(struct scope *scope, struct term list, struct span span);

/* m["key"]: the value of the last entry of a map with this key; missing if there is none. */
struct term list_entry(struct scope *scope, const struct expr *expr, const struct named_list *map, struct term key);

/* Where its elements begin among those of all lists. */
value list_start(struct scope *scope, struct term list, struct span span);

/* The element at an index of the list, or at a place among the elements of all lists, which is inside of the list where
 * `inside` holds; NO_VALUE: everywhere. */
struct term list_element_inside(struct scope *scope, const struct named_list *list, value index, bool is_place,
                                value inside);

/* The element at a position from 0, negative from the end; missing outside of the list. */
struct term list_element(struct scope *scope, const struct named_list *list, struct term position);

/* The list; within an aggregate of its elements the one in turn. */
struct term list_value(struct scope *scope, const struct named_list *list);

/* The elements of such lists that the field names, or that have none; NULL: there are none. */
struct column *list_elements(const struct list_store *type, const char *field);

/* NAME[E] of a list, or LIST[E]: of an EXPR_INDEX or EXPR_ELEMENT. */
struct term bind_list_index(struct scope *scope, const struct expr *expr, const struct named_list *list);

/* An EXPR_ELEMENT or EXPR_SLICE. */
struct term bind_list_part(struct scope *scope, const struct expr *expr);

/* E in LIST, where it is such a list. False: it is not. */
bool bind_in_lists(struct scope *scope, const struct expr *expr, struct term wanted, struct term *result);

/* Whether two lists are the same, element by element: missing elements are like missing ones. */
struct term bind_list_equal(struct scope *scope, struct term a, const struct expr *a_expr, struct term b,
                            const struct expr *b_expr, struct span span);

/* Of a call of a function whose first argument is the name of a list: len(list); contains(list, E), whether an element
 * equals the value. False: it is no such call. */
bool bind_list_function(struct scope *scope, const struct expr *call, struct term *result);
/* Likewise of a list that has no name; `wanted`: E. */
struct term list_function(struct scope *scope, const struct expr *call, const struct named_list *list,
                          struct term wanted);

/* NAME[A..B] or NAME[E].FIELD of what is no list: an error, unless that is not known yet. Unknown. */
struct term list_refuse_part(struct scope *scope, const struct expr *expr);
/* Whether the name may turn out to be that of a list. */
bool list_may_be_named(const struct scope *scope, const struct expr *expr);
/* Whether nothing but the types of the lists is known. */
bool list_is_unread(const struct scope *scope, struct term list);

/* Makes both numbers of one store; an error if their elements have no common type. */
bool lists_unify(struct scope *scope, struct term *a, const struct expr *a_expr, struct term *b,
                 const struct expr *b_expr, const char *what, struct span span);

/* Records that a list is no key of what a stage does. Returns false. */
bool list_refuse_key(struct binder *binder, const char *name, const char *stage, struct span span);

/* Keeps the store, whose reference it takes over, as long as the queue. */
void list_hold(struct binder *binder, struct list_store *store);

/* split(s, separator): a list of the parts. */
struct term list_of_parts(struct scope *scope, const struct expr *call, struct term text, struct term separator);

#endif
