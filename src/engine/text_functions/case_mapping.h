/* Upper and lower case of code points: Unicode's simple mappings, in which one code point becomes one, in no particular
 * language. The system's towupper depends on the locale that is set, and its table on the system. */
#ifndef RQL_ENGINE_TEXT_FUNCTIONS_CASE_MAPPING_H
#define RQL_ENGINE_TEXT_FUNCTIONS_CASE_MAPPING_H

#include <stdint.h>

/* The code point in the other case; itself if it has none. Any 32 bits may be given. */
uint32_t case_upper(uint32_t code);
uint32_t case_lower(uint32_t code);

#endif
