/* .txt files: one number a line. The function is the read of formats.h. */
#ifndef RQL_ENGINE_TEXTFILE_H
#define RQL_ENGINE_TEXTFILE_H

#include "formats.h"

/* A column of i64, or of f64 if any line has a point, an exponent, inf or nan. White space around a number and blank
 * lines at the end are passed over; anything else is an error with its line. */
enum status read_text(const struct format_job *job, struct mapping *mapping, struct relation **relation);

#endif
