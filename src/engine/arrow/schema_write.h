/* The schema of the columns of a relation, as written. */
#ifndef RQL_ENGINE_ARROW_SCHEMA_WRITE_H
#define RQL_ENGINE_ARROW_SCHEMA_WRITE_H

#include "base/strbuf.h"
#include "engine/storage/column.h"

/* Appends a Schema table to a FlatBuffer; returns its place. The dictionary of a text column has its number as id. */
size_t arrow_schema_add(struct strbuf *buffer, const struct relation *relation);

/* Whether the strings of a dictionary need 64-bit offsets. */
bool arrow_dictionary_is_large(const struct dictionary *dictionary);

#endif
