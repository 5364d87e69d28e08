/* Rows as JSON objects, with objects in them: columns whose names are paths are fields. */
#ifndef RQL_ENGINE_FORMATS_JSON_FRAME_H
#define RQL_ENGINE_FORMATS_JSON_FRAME_H

#include "engine/formats/row_encode.h"

/* Fills in what is before the values, their order, and the objects: at each, `separator` begins a row. */
void json_fill_objects(struct frame *frame, const struct relation *relation, const char *separator);

/* Reports a row in which a column has a value and fields, too: `mix` and `mix.a`. */
enum status json_check_objects(const struct relation *relation, struct span span, struct diags *diags);

#endif
