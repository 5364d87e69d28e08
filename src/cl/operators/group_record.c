#include "cl/operators/group_record.h"

#include "cl/operators/column_minmax.h"

#include <math.h>

static const uint64_t narrow_most = UINT32_MAX;

/* What is added up to a sum of floats, or of products of two, is an integer of so many bits at most, and in units of
 * 2^exponent whose products are finite, normal floats. */
enum { MOST_DIGITS = 94, LEAST_EXPONENT = -1000, MOST_EXPONENT = 900 };

/* How a value is read. Of bounded ones the sum is known to be a double, which a mean on the device is made of. */
enum reading { READ_EXTREME, READ_SUM, READ_MEAN, READ_FACTOR };

int group_record_exponent(const struct group_record_value *own)
{
    enum { WIDE_BIAS = 1075, NARROW_BIAS = 150 };
    return own->unit - (own->encoded.encoding->wide ? WIDE_BIAS : NARROW_BIAS);
}

static enum status measure_digits(struct group_record_value *own, struct accelerator *accelerator,
                                  const struct operator_job *job)
{
    struct column_minmax bounds;
    const enum status status = column_minmax_digits(accelerator, job, own->encoded.column, &bounds);
    if (status != STATUS_OK)
        return status;
    const bool any = bounds.least < bounds.most; /* one that is not 0 */
    own->unit = any ? (int)bounds.least : 1;
    own->bits = any ? (int)(bounds.most - bounds.least) : 1;
    const bool suits = !bounds.nan && own->bits <= MOST_DIGITS;
    return suits && group_record_exponent(own) + own->bits <= MOST_EXPONENT ? STATUS_OK : STATUS_UNABLE;
}

static enum status measure_bounds(struct group_record_value *own, struct accelerator *accelerator,
                                  const struct operator_job *job)
{
    struct column_minmax bounds;
    const enum status status = column_minmax_bounds(accelerator, job, own->encoded.column, &bounds);
    if (status != STATUS_OK)
        return status;
    own->encoded.least = bounds.least;
    own->most = bounds.most - bounds.least;
    own->wide = own->most > narrow_most;
    own->bounded = true;
    return STATUS_OK;
}

/* Finds the number of the value that reads a column, or adds it. */
static enum status add_value(struct record_layout *layout, struct accelerator *accelerator,
                             const struct operator_job *job, struct column *column, enum reading reading, int *number)
{
    const struct key_encoding *encoding = &key_encodings[column->store];
    const bool digits = encoding->is_float && reading != READ_EXTREME;
    size_t k = 0;
    while (k < layout->value_count &&
           (layout->values[k].encoded.column != column || layout->values[k].digits != digits))
        k++;
    *number = (int)k;
    struct group_record_value *own = &layout->values[k];
    const bool known = k < layout->value_count;
    if (!known) {
        layout->value_count++;
        *own = (struct group_record_value){
            .encoded = {.column = column, .encoding = encoding},
            .most = encoding->wide ? UINT64_MAX : narrow_most,
            .wide = encoding->wide,
            .digits = digits,
        };
    }
    if (digits)
        return known ? STATUS_OK : measure_digits(own, accelerator, job);
    const bool bounded = !encoding->is_float && (encoding->wide || reading == READ_FACTOR ||
                                                 (reading == READ_MEAN && type_table[column->store].size > 2));
    return bounded && !own->bounded ? measure_bounds(own, accelerator, job) : STATUS_OK;
}

/* The words of a sum of floats, or of products of two: a number of `bits` and a sign for each of 2^32 rows. */
static size_t words_of(const struct record_layout *layout, const struct record_field *field)
{
    enum { WORD_BITS = 32 };
    const struct group_record_value *values = layout->values;
    const int bits = values[field->value].bits + (field->other != NO_RECORD_VALUE ? values[field->other].bits : 0);
    return values[field->value].digits ? (size_t)(bits + 1 + WORD_BITS + WORD_BITS - 1) / WORD_BITS : 0;
}

static int add_field(struct record_layout *layout, const struct record_field *wanted)
{
    size_t k = 0;
    while (k < layout->field_count &&
           (layout->fields[k].kind != wanted->kind || layout->fields[k].value != wanted->value ||
            layout->fields[k].other != wanted->other || layout->fields[k].where != wanted->where))
        k++;
    if (k == layout->field_count) {
        struct record_field *field = &layout->fields[layout->field_count++];
        *field = *wanted;
        field->words = field->kind == AGG_SUM ? words_of(layout, field) : 0;
    }
    return (int)k;
}

bool group_record_is_long(const struct record_layout *layout, const struct record_field *field)
{
    return field->kind == AGG_SUM || layout->values[field->value].wide;
}

bool group_record_adds_long(const struct record_layout *layout, const struct record_field *field)
{
    const struct group_record_value *own = &layout->values[field->value];
    if (field->other == NO_RECORD_VALUE)
        return own->wide;
    const uint64_t most = layout->values[field->other].most;
    return most > 0 && own->most > narrow_most / most;
}

/* Pairs of words first, for alignment. */
static void place_words(struct record_layout *layout)
{
    size_t at = 0;
    for (size_t k = 0; k < layout->field_count; k++) {
        struct record_field *field = &layout->fields[k];
        if (group_record_is_long(layout, field)) {
            field->word = at;
            at += field->words > 2 ? (field->words + 1) / 2 * 2 : 2;
        }
    }
    for (size_t k = 0; k < layout->field_count; k++) {
        struct record_field *field = &layout->fields[k];
        if (!group_record_is_long(layout, field))
            field->word = at++;
        else if (field->kind == AGG_SUM && field->words == 0 && group_record_adds_long(layout, field))
            field->top = at++;
    }
    layout->count_word = at++;
    layout->stride = (at + 1) / 2 * 2;
}

void group_record_plan_count(struct record_layout *layout)
{
    *layout = (struct record_layout){0};
    place_words(layout);
}

/* Whether there are sums for its products with itself and others like it. */
static bool has_products(const struct group_record_value *own)
{
    const int exponent = group_record_exponent(own);
    return own->digits ? 2 * exponent >= LEAST_EXPONENT && 2 * (exponent + own->bits) <= MOST_EXPONENT : !own->wide;
}

/* Plans the number of rows with values; all of them need no field. */
static enum status plan_count(struct record_layout *layout, struct accelerator *accelerator,
                              const struct operator_job *job, const struct aggregate *aggregate, int *field)
{
    struct record_field wanted = {.kind = AGG_SUM, .other = NO_RECORD_VALUE, .where = NO_RECORD_VALUE};
    *field = NO_RECORD_VALUE;
    if (aggregate->where == NO_VALUE)
        return STATUS_OK;
    const enum status status =
        add_value(layout, accelerator, job, operator_input(job, aggregate->where), READ_SUM, &wanted.value);
    if (status == STATUS_OK)
        *field = add_field(layout, &wanted);
    return status;
}

/* Plans the sums of a variance or correlation of aggregate k. */
static enum status plan_moments(struct record_layout *layout, struct accelerator *accelerator,
                                const struct operator_job *job, size_t k)
{
    const struct aggregate *aggregate = &job->task->aggregates[k];
    const bool pairs = aggregate->kind == AGG_CORR;
    struct record_moments *moments = &layout->moments[k];
    int x = 0, y;
    enum status status = plan_count(layout, accelerator, job, aggregate, &moments->count);
    const int where = moments->count == NO_RECORD_VALUE ? NO_RECORD_VALUE : layout->fields[moments->count].value;
    if (status == STATUS_OK)
        status = add_value(layout, accelerator, job, operator_input(job, aggregate->value), READ_FACTOR, &x);
    y = x;
    if (status == STATUS_OK && pairs)
        status = add_value(layout, accelerator, job, operator_input(job, aggregate->other), READ_FACTOR, &y);
    if (status != STATUS_OK)
        return status;
    const struct group_record_value *first = &layout->values[x], *second = &layout->values[y];
    if (first->digits != second->digits || !has_products(first) || !has_products(second))
        return STATUS_UNABLE;
    const int none = NO_RECORD_VALUE;
    moments->pairs = pairs;
    moments->x = add_field(layout, &(struct record_field){.kind = AGG_SUM, .value = x, .other = none, .where = where});
    moments->y = add_field(layout, &(struct record_field){.kind = AGG_SUM, .value = y, .other = none, .where = where});
    moments->xx = add_field(layout, &(struct record_field){.kind = AGG_SUM, .value = x, .other = x, .where = where});
    moments->yy = add_field(layout, &(struct record_field){.kind = AGG_SUM, .value = y, .other = y, .where = where});
    moments->xy = add_field(layout, &(struct record_field){.kind = AGG_SUM, .value = x, .other = y, .where = where});
    return STATUS_OK;
}

static enum status plan_aggregate(struct record_layout *layout, struct accelerator *accelerator,
                                  const struct operator_job *job, size_t k, size_t *field)
{
    const struct aggregate *aggregate = &job->task->aggregates[k];
    const bool sum = aggregate_table[aggregate->kind].sums;
    struct record_field wanted = {
        .kind = sum ? AGG_SUM : aggregate->kind, .other = NO_RECORD_VALUE, .where = NO_RECORD_VALUE};
    if (aggregate->kind == AGG_QUANTILE)
        return plan_count(layout, accelerator, job, aggregate, &layout->moments[k].count);
    if (aggregate->kind == AGG_VAR || aggregate->kind == AGG_CORR)
        return plan_moments(layout, accelerator, job, k);
    if (!sum && !aggregate_table[aggregate->kind].extreme)
        return STATUS_UNABLE;
    const enum reading reading = aggregate->kind == AGG_MEAN ? READ_MEAN : sum ? READ_SUM : READ_EXTREME;
    const enum status status =
        add_value(layout, accelerator, job, operator_input(job, aggregate->value), reading, &wanted.value);
    if (status == STATUS_OK)
        *field = (size_t)add_field(layout, &wanted);
    return status;
}

enum status group_record_plan(struct record_layout *layout, struct accelerator *accelerator,
                              const struct operator_job *job, size_t *field_of)
{
    enum { MOST_FIELDS = 6 }; /* of an aggregate, of as many values */
    const struct task *task = job->task;
    struct arena *arena = job->diags->arena;
    const size_t most = task->aggregate_count * MOST_FIELDS + 1;
    enum status status = STATUS_OK;
    *layout = (struct record_layout){
        .fields = arena_array(arena, most, sizeof *layout->fields),
        .values = arena_array(arena, most, sizeof *layout->values),
        .moments = arena_array(arena, task->aggregate_count + 1, sizeof *layout->moments),
    };
    layout->only_keys = true;
    for (size_t k = 0; k < task->aggregate_count && status == STATUS_OK; k++) {
        const bool needed = task->outputs[task->column_op->key_count + k].needed;
        layout->only_keys = layout->only_keys && !needed;
        if (task->aggregates[k].kind != AGG_COUNT && needed)
            status = plan_aggregate(layout, accelerator, job, k, &field_of[k]);
    }
    place_words(layout);
    return status;
}

bool group_record_long_extremes(const struct record_layout *layout)
{
    for (size_t k = 0; k < layout->field_count; k++) {
        if (layout->fields[k].kind != AGG_SUM && group_record_is_long(layout, &layout->fields[k]))
            return true;
    }
    return false;
}

int64_t group_record_count(const struct record_layout *layout, const uint32_t *record)
{
    return record[layout->count_word];
}

static uint64_t two_words(const uint32_t *words)
{
    return (uint64_t)words[1] << 32 | words[0];
}

static uint64_t offset_of(const struct record_layout *layout, const struct record_field *field, const uint32_t *record)
{
    return group_record_is_long(layout, field) ? two_words(&record[field->word]) : record[field->word];
}

int128 group_record_sum(const struct record_layout *layout, const struct record_field *field, const uint32_t *record)
{
    const struct encoded_column *encoded = &layout->values[field->value].encoded;
    int128 offsets = two_words(&record[field->word]);
    if (field->top)
        offsets += (int128)record[field->top] << 64;
    return offsets + (int128)decode_integer(encoded->encoding, encoded->least) * record[layout->count_word];
}

int64_t group_record_integer(const struct record_layout *layout, const struct record_field *field,
                             const uint32_t *record)
{
    const struct encoded_column *encoded = &layout->values[field->value].encoded;
    return decode_integer(encoded->encoding, encoded->least + offset_of(layout, field, record));
}

double group_record_float(const struct record_layout *layout, const struct record_field *field, const uint32_t *record)
{
    const struct encoded_column *encoded = &layout->values[field->value].encoded;
    const uint64_t encoding = encoded->least + offset_of(layout, field, record);
    /* No number has either of these encodings: the group has only NaN. */
    return encoding == 0 || encoding == key_encoding_max(encoded->encoding) ? NAN
                                                                            : decode_float(encoded->encoding, encoding);
}
