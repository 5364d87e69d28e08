/* What formats of plain numbers (raw files, images) can hold. */
#ifndef RQL_ENGINE_FORMATS_PLAIN_NUMBERS_H
#define RQL_ENGINE_FORMATS_PLAIN_NUMBERS_H

#include "engine/storage/column.h"

/* Checks that all columns are numbers without missing values; `format` names the format in errors: ".i32 files". Dates,
 * timestamps and durations are the integers that they are stored as, which is noted. */
enum status check_plain_numbers(const struct relation *relation, const char *format, struct span span,
                                struct diags *diags);

#endif
