/* What functions of text share: a call's arguments and one thread's memory. */
#ifndef RQL_ENGINE_TEXT_FUNCTIONS_TEXT_CALL_H
#define RQL_ENGINE_TEXT_FUNCTIONS_TEXT_CALL_H

#include "engine/text_functions/regex.h"
#include "engine/text_functions/text_functions.h"

#include "base/time/time_format.h"

#include <stdint.h>

/* Made for each thread; zero-initialised but for its arguments. */
struct text_call {
    const struct text_argument *args;
    int count;    /* of args */
    char *buffer; /* for results that are no part of the argument, until the next call; malloc'd */
    size_t buffer_size;
    struct regex_matcher *matcher; /* of a regular expression */
    struct time_pattern pattern;   /* of the format of times that was read last */
    struct text run;               /* what has the texts of this batch one behind the other; empty: they are not */
    const char *ahead;             /* in the run: the first place of the part behind those looked at; its end: none */
    bool too_long;                 /* a match was given up */
    const char *wrong;             /* what was wrong with an argument of some item, or NULL */
    bool zoned_only;               /* timestamps without a zone are missing */
    int64_t zoned, unzoned, cut;   /* timestamps with a zone, without one, cut */
};

/* The bytes of the code point at the start of a non-empty text, at most all. */
size_t first_code_point(struct text text);

/* The first place of `part` in `text`, or NULL. */
const char *find_text(struct text text, struct text part);

/* The bytes that have the texts of a batch with nothing but their lengths between them; all may be read. Empty: they
 * are otherwise. */
struct text text_batch_run(const struct text_batch *batch, int64_t count);

/* As find_text, for a part that all texts of the batch are searched for, where they are a run: each place is found
 * once. */
const char *find_in_run(struct text_call *call, struct text text, struct text part);

/* How many bytes begin a code point; of invalid UTF-8 as many as are no continuation. */
int64_t count_code_points(struct text text);

/* The functions of text_functions.def, where each is described. They set the result of one string, and return false if
 * it is missing. Dates are days, timestamps microseconds since 1970, conditions 0 or 1; a resulting text is in the
 * argument, in an argument of the call or in its buffer. The checks return what is wrong with constant arguments, or
 * NULL. In text_numbers.c: */
bool text_len(struct text_call *call, struct text text, int64_t *number);
bool text_bytes(struct text_call *call, struct text text, int64_t *number);
bool text_int(struct text_call *call, struct text text, int64_t *number);
bool text_float(struct text_call *call, struct text text, double *real);
bool text_date(struct text_call *call, struct text text, int64_t *days);
bool text_timestamp(struct text_call *call, struct text text, int64_t *microseconds);
bool text_time(struct text_call *call, struct text text, int64_t *microseconds);
bool text_starts(struct text_call *call, struct text text, int64_t *truth);
bool text_ends(struct text_call *call, struct text text, int64_t *truth);
bool text_contains(struct text_call *call, struct text text, int64_t *truth);
bool text_equals(struct text_call *call, struct text text, int64_t *truth);
bool text_is_less(struct text_call *call, struct text text, int64_t *truth);
bool text_is_at_most(struct text_call *call, struct text text, int64_t *truth);
bool text_like(struct text_call *call, struct text text, int64_t *truth);
bool text_matches(struct text_call *call, struct text text, int64_t *truth);
const char *check_like(const struct text_argument *args, int count);
const char *check_date(const struct text_argument *args, int count);
const char *check_timestamp(const struct text_argument *args, int count);
const char *check_time(const struct text_argument *args, int count);

/* In text_edit.c: */
bool text_upper(struct text_call *call, struct text text, struct text *result);
bool text_lower(struct text_call *call, struct text text, struct text *result);
bool text_trim(struct text_call *call, struct text text, struct text *result);
bool text_substr(struct text_call *call, struct text text, struct text *result);
bool text_replace(struct text_call *call, struct text text, struct text *result);
bool text_split(struct text_call *call, struct text text, struct text *result);
bool text_pad(struct text_call *call, struct text text, struct text *result);
bool text_appended(struct text_call *call, struct text text, struct text *result);
bool text_prepended(struct text_call *call, struct text text, struct text *result);
const char *check_substr(const struct text_argument *args, int count);
const char *check_replace(const struct text_argument *args, int count);
const char *check_split(const struct text_argument *args, int count);
const char *check_pad(const struct text_argument *args, int count);

/* Room for a result; what was written to the last one stays. */
char *text_call_buffer(struct text_call *call, size_t size);

/* In text_regex.c: */
bool text_extract(struct text_call *call, struct text text, struct text *result);
bool text_replace_regex(struct text_call *call, struct text text, struct text *result);

/* What is wrong with the arguments beside such an expression, or NULL. */
const char *check_groups(const struct text_function *function, const struct regex *regex,
                         const struct text_argument *args, int count);

/* text_search.c: strings of a dictionary that contain a part, found by one search in the bytes of many. */

/* What each string has to contain for which the function, of these constant arguments, is true: of `contains` its
 * argument, of `like` the longest part of the pattern that stands for itself. Empty: nothing of two bytes or more. */
struct text text_needed_part(const struct text_function *function, const struct text_argument *args);

/* Sets truths[code], for the codes begin .. end-1 of the dictionary, to the function's result, which is false for
 * strings without the part. False, and sets nothing: their bytes are not one after another. */
bool text_search_strings(const struct text_function *function, struct text_call *call,
                         const struct dictionary *dictionary, struct text part, int64_t begin, int64_t end,
                         uint8_t *truths);

/* case_mapping.c: upper and lower case of code points: Unicode's simple mappings, in which one code point becomes one,
 * in no particular language. The system's towupper depends on the locale that is set, and its table on the system. */

/* The code point in the other case; itself if it has none. Any 32 bits may be given. */
uint32_t case_upper(uint32_t code);
uint32_t case_lower(uint32_t code);

#endif
