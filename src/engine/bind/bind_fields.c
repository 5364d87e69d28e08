/* Names that are the beginning of paths: `commit` for all of `commit.*`, where a stage names columns. */
#include "engine/bind/bind_internal.h"
#include "engine/expression/names_unknown.h"

#include <string.h>

struct expr *fields_of(struct arena *arena, const struct flow *flow, const struct expr *member)
{
    if (member->kind != EXPR_NAME || !name_is_struct(flow, member->name.text) || flow_column(flow, member->name.text))
        return NULL;
    struct column_set *set = arena_alloc(arena, sizeof *set);
    struct expr *expr = arena_alloc(arena, sizeof *expr);
    set->pattern = member->name;
    set->pattern.text = arena_printf(arena, "%s.*", member->name.text);
    *expr = (struct expr){.kind = EXPR_SET, .span = member->span, .set = set, .depth = 1};
    return expr;
}

void items_of_fields(struct arena *arena, const struct flow *flow, enum stage_kind kind, struct item **items,
                     size_t count)
{
    struct item *copies = NULL;
    for (size_t i = 0; i < count; i++) {
        const bool named = (*items)[i].name.text && kind != STAGE_RENAME && kind != STAGE_PICK;
        struct expr *fields = named ? NULL : fields_of(arena, flow, (*items)[i].expr);
        if (!fields)
            continue;
        if (!copies) {
            copies = arena_array(arena, count, sizeof *copies);
            memcpy(copies, *items, count * sizeof *copies);
            *items = copies;
        }
        copies[i].expr = fields;
        if (copies[i].name.text) {
            copies[i].name.text = arena_printf(arena, "%s.*", copies[i].name.text);
            copies[i].pattern = true;
        }
    }
}
