#include "engine/storage/unreadable.h"

#include <string.h>

void unreadable_add(struct unreadable_columns *columns, struct arena *arena, const char *name, const char *why)
{
    *ARENA_PUSH(arena, columns->at, columns->count, columns->capacity) =
        (struct unreadable_column){arena_text(arena, name, strlen(name)), why};
}

const char *unreadable_list(const struct unreadable_columns *columns, struct arena *arena)
{
    enum { LISTED = 8 };
    const char *list = "";
    for (size_t k = 0; k < columns->count && k < LISTED; k++)
        list = arena_printf(arena, "%s%s`%s` (%s)", list, k > 0 ? ", " : "", columns->at[k].name, columns->at[k].why);
    return columns->count > LISTED ? arena_printf(arena, "%s, ...", list) : list;
}

void unreadable_tell(const struct unreadable_columns *columns, const char *path, struct diags *diags)
{
    if (columns->count > 0)
        diag_note(diags, (struct span){0}, "`%s`: left out columns that cannot be read: %s", path,
                  unreadable_list(columns, diags->arena));
}
