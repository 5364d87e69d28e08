#include "engine/arrow/zone.h"

const struct time_zone *zone_of_file(struct text name, const char *column, const char *path, struct diags *diags)
{
    const char *text = arena_text(diags->arena, name.at, name.length);
    const struct time_zone *zone;
    if (time_zone_find(text, &zone) == TIME_ZONE_FOUND)
        return zone;
    diag_note(diags, (struct span){0}, "`%s`: `%s` has the time zone %s, of which there is no file in %s: shown in UTC",
              path, column, text, time_zone_directory());
    return &time_zone_utc;
}
