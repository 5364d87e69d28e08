#include "engine/text_functions/text_call.h"

#include <stddef.h>

/* Every step-th code point from first to last has its other case at a distance of `delta`. */
struct case_range {
    uint32_t first, last, step;
    int32_t delta;
};

static const struct case_range upper_ranges[] = {
#define UPPER(first, last, step, delta) {first, last, step, delta},
#define LOWER(first, last, step, delta)
#include "engine/text_functions/case_mapping.def"
#undef UPPER
#undef LOWER
};

static const struct case_range lower_ranges[] = {
#define UPPER(first, last, step, delta)
#define LOWER(first, last, step, delta) {first, last, step, delta},
#include "engine/text_functions/case_mapping.def"
#undef UPPER
#undef LOWER
};

static uint32_t map_case(const struct case_range *ranges, size_t count, uint32_t code)
{
    size_t begin = 0, end = count;
    while (begin < end) { /* the first range that does not end before `code` */
        const size_t middle = begin + (end - begin) / 2;
        if (ranges[middle].last < code)
            begin = middle + 1;
        else
            end = middle;
    }
    const struct case_range *range = &ranges[begin];
    if (begin == count || code < range->first || (code - range->first) % range->step != 0)
        return code;
    return code + (uint32_t)range->delta;
}

uint32_t case_upper(uint32_t code)
{
    if (code < 0x80)
        return code - 'a' < 26 ? code - 32 : code;
    return map_case(upper_ranges, sizeof upper_ranges / sizeof *upper_ranges, code);
}

uint32_t case_lower(uint32_t code)
{
    if (code < 0x80)
        return code - 'A' < 26 ? code + 32 : code;
    return map_case(lower_ranges, sizeof lower_ranges / sizeof *lower_ranges, code);
}
