/* The levels in front of a page's values: which of these are missing, and where lists begin. A value is there if its
 * definition level is the highest; lower ones say how much of the path to it is. A repetition level is the depth of the
 * list that goes on with this value, 0 where a row begins. */
#ifndef RQL_ENGINE_PARQUET_LEVELS_H
#define RQL_ENGINE_PARQUET_LEVELS_H

#include "engine/parquet/page_header.h"

/* What a column has in front of its values, and where it goes: a byte for each value, missing ones included. */
struct page_levels {
    unsigned definition, repetition;    /* the highest ones */
    uint8_t *validity;                  /* 1 where there is a value; not written if there are all */
    uint8_t *definitions, *repetitions; /* if there are repetition levels */
};

/* Reads the levels of a page of version 1 from *at, and moves that behind them; counts the values that are there. False
 * if they are malformed. */
bool levels_take(const struct page_header *page, const struct page_levels *levels, const uint8_t **at,
                 const uint8_t *end, size_t *present);

/* Those of PAGE_DATA_V2, whose lengths lie within the page. */
bool levels_take_v2(const struct page_header *page, const struct page_levels *levels, size_t *present);

#endif
