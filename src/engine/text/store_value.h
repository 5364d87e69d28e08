/* Values of any form, stored one by one: what the loops of parse_value.c leave. */
#ifndef RQL_ENGINE_TEXT_STORE_VALUE_H
#define RQL_ENGINE_TEXT_STORE_VALUE_H

#include "engine/text/pass.h"

/* What became of a value. */
enum outcome { STORED, OTHER, OUT_OF_RANGE };

static inline void seen_integer(struct seen *seen, int64_t value)
{
    seen->values++;
    seen->lo = value < seen->lo ? value : seen->lo;
    seen->hi = value > seen->hi ? value : seen->hi;
}

/* Stores the value if it is of the column's kind, which is not text. */
enum outcome value_store(const struct table *table, const struct step *step, struct seen *seen, int64_t row,
                         struct cell cell);

#endif
