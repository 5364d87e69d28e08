/* Strings of a dictionary that contain a part, found by one search in the bytes of many. */
#ifndef RQL_ENGINE_TEXT_FUNCTIONS_TEXT_SEARCH_H
#define RQL_ENGINE_TEXT_FUNCTIONS_TEXT_SEARCH_H

#include "engine/text_functions/text_call.h"

/* What each string has to contain for which the function, of these constant arguments, is true: of `contains` its
 * argument, of `like` the longest part of the pattern that stands for itself. Empty: nothing of two bytes or more. */
struct text text_needed_part(const struct text_function *function, const struct text_argument *args);

/* Sets truths[code], for the codes begin .. end-1 of the dictionary, to the function's result, which is false for
 * strings without the part. False, and sets nothing: their bytes are not one after another. */
bool text_search_strings(const struct text_function *function, struct text_call *call,
                         const struct dictionary *dictionary, struct text part, int64_t begin, int64_t end,
                         uint8_t *truths);

#endif
