/* `union`, `except` and `intersect` of SQL. */
#include "repl/from_sql/sql.h"

#include <string.h>
#include <strings.h>

/* The columns of B under the names that those of A have in the same places. */
static const char *with_names_of(struct translator *t, const char *a, const char *b, const char **all, bool *optional)
{
    struct known_columns of_a = {0}, of_b = {0};
    const bool known_a = known_add_source(t, &of_a, a, NULL), known_b = known_add_source(t, &of_b, b, NULL);
    const bool known = known_a && known_b;
    const char *renamed = "", *plain = "";
    bool same = true;
    *all = NULL;
    *optional = false;
    if (known && of_a.count != of_b.count)
        return translate_fail(t, "the two have different numbers of columns").text;
    for (size_t i = 0; known && i < of_a.count; i++) {
        const char *name = of_a.columns[i].text, *other = of_b.columns[i].text;
        same = same && strcmp(name, other) == 0;
        renamed = arena_printf(t->arena, "%s%s%s%s%s", renamed, i > 0 ? ", " : "", other,
                               strcmp(name, other) == 0 ? "" : " as ", strcmp(name, other) == 0 ? "" : name);
        plain = arena_printf(t->arena, "%s%s%s", plain, i > 0 ? ", " : "", other);
        *all = *all ? arena_printf(t->arena, "%s, %s", *all, name) : name;
        *optional = *optional || of_a.columns[i].optional || of_b.columns[i].optional;
    }
    if (same)
        return b;
    const char *last = strstr(b, " | map ");
    while (last && strstr(last + 1, " | map "))
        last = strstr(last + 1, " | map ");
    if (last && strcmp(last + strlen(" | map "), plain) == 0)
        b = arena_text(t->arena, b, (size_t)(last - b));
    return arena_printf(t->arena, "%s | map %s", b, renamed);
}

const char *sql_combined(struct translator *t, const char *a, const char *word, bool all, const char *b)
{
    const char *columns;
    bool optional;
    if (!a || !b || !(b = with_names_of(t, a, b, &columns, &optional)))
        return NULL;
    const char *source = strpbrk(b, " |") ? arena_printf(t->arena, "(%s)", b) : b;
    if (strcasecmp(word, "union") == 0)
        return arena_printf(t->arena, "%s | append %s%s", a, source, all ? "" : " | distinct");
    if (all)
        return translate_fail(t, "`except S` and `intersect S` keep each row once").text;
    if (!columns || optional)
        return arena_printf(t->arena, "%s | %s %s", a, strcasecmp(word, "intersect") == 0 ? "intersect" : "except",
                            source);
    return arena_printf(t->arena, "%s | %s join %s on %s | distinct", a,
                        strcasecmp(word, "intersect") == 0 ? "semi" : "anti", source, columns);
}
