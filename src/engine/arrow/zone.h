/* The time zones that files name. */
#ifndef RQL_ENGINE_ARROW_ZONE_H
#define RQL_ENGINE_ARROW_ZONE_H

#include "base/diag.h"
#include "base/text.h"
#include "base/time/time_zone.h"

/* The zone of this name; one that is not known here is UTC, with a note. */
const struct time_zone *zone_of_file(struct text name, const char *column, const char *path, struct diags *diags);

#endif
