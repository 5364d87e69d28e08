/* What functions of text share: a call's arguments and one thread's memory. */
#ifndef RQL_ENGINE_VALUES_TEXT_CALL_H
#define RQL_ENGINE_VALUES_TEXT_CALL_H

#include "engine/values/regex.h"
#include "engine/values/text_functions.h"

struct text_call {
    const struct text_argument *args;
    int count; /* of args */
    char *buffer;
    size_t buffer_size;
    struct regex_matcher *matcher; /* of `~` */
    bool too_long;                 /* a match was given up */
    bool zoned_only;               /* timestamps without a zone are missing */
    int64_t zoned, unzoned, cut;   /* timestamps with a zone, without one, cut */
};

/* The bytes of the code point at the start of a non-empty text, at most all. */
size_t first_code_point(struct text text);

/* The first place of `part` in `text`, or NULL. */
const char *find_text(struct text text, struct text part);

int64_t count_code_points(struct text text);

/* The functions themselves: text_numbers.c, */
bool text_len(struct text_call *call, struct text text, int64_t *number);
bool text_bytes(struct text_call *call, struct text text, int64_t *number);
bool text_int(struct text_call *call, struct text text, int64_t *number);
bool text_float(struct text_call *call, struct text text, double *real);
bool text_date(struct text_call *call, struct text text, int64_t *days);
bool text_timestamp(struct text_call *call, struct text text, int64_t *microseconds);
bool text_starts(struct text_call *call, struct text text, int64_t *truth);
bool text_ends(struct text_call *call, struct text text, int64_t *truth);
bool text_contains(struct text_call *call, struct text text, int64_t *truth);
bool text_like(struct text_call *call, struct text text, int64_t *truth);
bool text_matches(struct text_call *call, struct text text, int64_t *truth);
const char *check_like(const struct text_argument *args, int count);

/* text_edit.c. */
bool text_upper(struct text_call *call, struct text text, struct text *result);
bool text_lower(struct text_call *call, struct text text, struct text *result);
bool text_trim(struct text_call *call, struct text text, struct text *result);
bool text_substr(struct text_call *call, struct text text, struct text *result);
bool text_replace(struct text_call *call, struct text text, struct text *result);
bool text_split(struct text_call *call, struct text text, struct text *result);
bool text_appended(struct text_call *call, struct text text, struct text *result);
bool text_prepended(struct text_call *call, struct text text, struct text *result);
const char *check_substr(const struct text_argument *args, int count);
const char *check_replace(const struct text_argument *args, int count);
const char *check_split(const struct text_argument *args, int count);

#endif
