#include "cl/operators/group_record.h"

#include "engine/values/moments.h"
#include "engine/values/wide_moments.h"

#include <math.h>

enum { WORD_BITS = 32 };

static int exponent_of(const struct record_layout *layout, const struct record_field *field)
{
    const int own = group_record_exponent(&layout->values[field->value]);
    return field->other == NO_RECORD_VALUE ? own : own + group_record_exponent(&layout->values[field->other]);
}

double group_record_float_sum(const struct record_layout *layout, const struct record_field *field,
                              const uint32_t *record)
{
    const uint32_t *words = record + field->word;
    int128 sum = (int32_t)words[field->words - 1];
    for (size_t k = field->words - 1; k-- > 0;)
        sum = (int128)((uint128)sum << WORD_BITS | words[k]);
    return ldexp((double)sum, exponent_of(layout, field)) + 0.0;
}

/* Each word is a double. */
static struct moment_sum parts_of(const struct record_layout *layout, int field, const uint32_t *record)
{
    const struct record_field *of = &layout->fields[field];
    const uint32_t *words = record + of->word;
    struct moment_sum sum = {.count = 0};
    for (size_t k = of->words; k-- > 0;) {
        const double word = k + 1 == of->words ? (double)(int32_t)words[k] : (double)words[k];
        if (word != 0)
            sum.part[sum.count++] = ldexp(word, exponent_of(layout, of) + (int)k * WORD_BITS);
    }
    return sum;
}

static double moment_of_digits(const struct record_layout *layout, const struct record_moments *moments,
                               const uint32_t *record, int64_t count)
{
    const struct moment_sum x = parts_of(layout, moments->x, record), y = parts_of(layout, moments->y, record),
                            xx = parts_of(layout, moments->xx, record), yy = parts_of(layout, moments->yy, record),
                            xy = parts_of(layout, moments->xy, record);
    bool certain;
    const double first = moment_of_floats(count, &xx, &x, &x, 0, &certain);
    if (!moments->pairs)
        return variance_of(count, first);
    return correlation_of(first, moment_of_floats(count, &xy, &x, &y, 0, &certain),
                          moment_of_floats(count, &yy, &y, &y, 0, &certain));
}

/* The sum of offsets, whose moments are those of the values. */
static int128 offsets_of(const struct record_layout *layout, int field, const uint32_t *record)
{
    const struct record_field *of = &layout->fields[field];
    const uint64_t low = (uint64_t)record[of->word + 1] << WORD_BITS | record[of->word];
    return (int128)(of->top ? record[of->top] : 0) << 2 * WORD_BITS | low;
}

static struct wide_sum wide_of(const struct record_layout *layout, int field, const uint32_t *record)
{
    return (struct wide_sum){.low = (uint128)offsets_of(layout, field, record)};
}

int64_t group_record_present(const struct record_layout *layout, const struct record_moments *moments,
                             const uint32_t *record)
{
    return moments->count == NO_RECORD_VALUE
               ? group_record_count(layout, record)
               : (int64_t)group_record_sum(layout, &layout->fields[moments->count], record);
}

double group_record_moment(const struct record_layout *layout, const struct record_moments *moments,
                           const uint32_t *record, int scale)
{
    const int64_t count = group_record_present(layout, moments, record);
    if (count < 2)
        return 0;
    if (layout->values[layout->fields[moments->x].value].digits)
        return moment_of_digits(layout, moments, record, count);
    const struct wide_sums sums = {
        .xx = wide_of(layout, moments->xx, record),
        .yy = wide_of(layout, moments->yy, record),
        .xy = wide_of(layout, moments->xy, record),
        .x = offsets_of(layout, moments->x, record),
        .y = offsets_of(layout, moments->y, record),
        .count = count,
    };
    return moments->pairs ? wide_correlation(&sums) : wide_variance(&sums, scale);
}
