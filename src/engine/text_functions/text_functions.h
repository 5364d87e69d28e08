/* Functions of text, computed once for each string of a dictionary: their result is a lookup by code. What help and
 * completion say of them is in plan/functions.h. */
#ifndef RQL_ENGINE_TEXT_FUNCTIONS_TEXT_FUNCTIONS_H
#define RQL_ENGINE_TEXT_FUNCTIONS_TEXT_FUNCTIONS_H

#include "base/diag.h"
#include "engine/values/dictionary.h"
#include "engine/values/logical_type.h"

enum { TEXT_ARGUMENTS = 2 }; /* most that a function has after the text */

enum text_argument_kind { ARGUMENT_NONE, ARGUMENT_TEXT, ARGUMENT_INT };

/* A constant; only the member of its kind is read. */
struct text_argument {
    struct text text;
    int64_t integer;
};

enum text_result {
    TEXT_TO_BOOL,
    TEXT_TO_INT,
    TEXT_TO_FLOAT,
    TEXT_TO_DATE,
    TEXT_TO_TIMESTAMP,
    TEXT_TO_DURATION,
    TEXT_TO_TEXT
};

struct text_call; /* text_call.h */

struct text_function {
    const char *name;
    int least, most; /* arguments after the text */
    enum text_argument_kind kinds[TEXT_ARGUMENTS];
    enum text_result result;
    bool partial; /* some texts have no result, of which a note tells */

    /* Of one string, by its result; false: missing. */
    bool (*number)(struct text_call *call, struct text text, int64_t *number); /* also bools, dates and timestamps */
    bool (*real)(struct text_call *call, struct text text, double *real);
    bool (*edit)(struct text_call *call, struct text text, struct text *result); /* NULL: the text as it is */

    /* What is wrong with the arguments, or NULL; may be NULL. */
    const char *(*check)(const struct text_argument *args, int count);
};

/* All functions, in the order of help. */
extern const struct text_function text_functions[];
extern const size_t text_function_count;

/* The function of exactly this name, or NULL. */
const struct text_function *text_function_find(const char *name);

/* Whether argument k after the text, a regular expression or a format, has to be the same for all texts. */
bool text_argument_is_constant(const struct text_function *function, size_t k);

/* Whether its first argument after the text is a regular expression. */
bool text_takes_regex(const struct text_function *function);

/* A constant text before the column's: "x" + s. Not in the table, where "+" is s + "x". */
extern const struct text_function text_prepend;

/* Comparisons with a constant text, by the order of bytes. Not in the table either. */
enum { TEXT_EQUAL, TEXT_LESS, TEXT_AT_MOST };
extern const struct text_function text_comparisons[];

/* What a function gives for each code of a dictionary. Initialise with zeroes; release with text_lookup_free. */
struct text_lookup {
    enum type type;              /* bool, i64, f64, i32 for dates; for text the type of codes in logical.dictionary */
    struct logical_type logical; /* with a reference to its dictionary */
    int64_t count;
    void *values;      /* 0 where missing */
    uint8_t *present;  /* 1, or 0 where missing; NULL if none is */
    int64_t missing;   /* how many strings have no value */
    int64_t cut;       /* timestamps with digits beyond microseconds, which were cut */
    const char *wrong; /* what is wrong with an argument of some items, which have no value; or NULL */
};

/* Releases the values and the reference to the dictionary. */
void text_lookup_free(struct text_lookup *lookup);

/* Checks constant arguments, a regular expression too: so that a script's errors are found before it runs. */
enum status text_function_check(const struct text_function *function, const struct text_argument *args, int count,
                                struct span span, struct diags *diags);

/* Applies the function to each string, on all threads; `workers` may be NULL. Adds an error, with this span, for wrong
 * arguments, a regular expression that needs too many steps, and results that no dictionary can hold. */
enum status text_function_apply(const struct text_function *function, const struct dictionary *dictionary,
                                const struct text_argument *args, int count, const struct workers *workers,
                                struct span span, struct diags *diags, struct text_lookup *lookup);

/* Items at once: their texts, where there are any, and the arguments that differ from item to item. */
enum { TEXT_BATCH = 64 };
struct text_batch {
    bool present[TEXT_BATCH];
    struct text texts[TEXT_BATCH];
    struct text_argument args[TEXT_ARGUMENTS][TEXT_BATCH];
};

/* What a function is applied to, where that is no dictionary. */
struct text_items {
    int64_t count;
    /* Sets the batch for `count` items from `begin` on. `member` is the thread; the texts have to stay until its next
     * call. */
    void (*make)(void *context, int member, int64_t begin, int64_t count, struct text_batch *batch);
    void *context;
    bool varies[TEXT_ARGUMENTS]; /* the argument differs from item to item */
    bool any_order; /* results that are text may have an unsorted dictionary: that of item k then is string k, and the
                       lookup has no values */
};

/* Applies the function to each item; as above, but the arguments have been checked. */
enum status text_items_apply(const struct text_function *function, const struct text_items *items,
                             const struct text_argument *args, int count, const struct workers *workers,
                             struct span span, struct diags *diags, struct text_lookup *lookup);

#endif
