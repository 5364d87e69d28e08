#include "foreign.h"

#include <string.h>
#include <strings.h>

static const char aggregates[] =
    "`group K: sum(E), count()` aggregates each group; `sum`, `mean` and their like all rows";
static const char sorts[] = "`sort E` orders the rows, `sort E desc` from the largest down";
static const char tops[] = "`top N by E` gives the N rows with the largest E";
static const char bottoms[] = "`top N by E asc` gives the N rows with the smallest E";
static const char loads[] = "`load PATH` reads a file";

/* Written once, so that equal advice reads alike. */
static const struct foreign_word {
    const char *text;
    bool begins; /* it begins a statement where it comes from, else it is a stage there */
    const char *advice;
} foreign_words[] = {
    {"topk", false, tops},
    {"top_k", false, tops},
    {"nlargest", false, tops},
    {"largest", false, tops},
    {"bottom", false, bottoms},
    {"nsmallest", false, bottoms},
    {"smallest", false, bottoms},
    {"aggregate", false, aggregates},
    {"agg", false, aggregates},
    {"summarize", false, aggregates},
    {"summarise", false, aggregates},
    {"group_by", false, aggregates},
    {"groupby", false, aggregates},
    {"having", false, "`select` after `group` keeps the groups for which a condition holds"},
    {"arrange", false, sorts},
    {"order_by", false, sorts},
    {"orderby", false, sorts},
    {"sort_by", false, sorts},
    {"sortby", false, sorts},
    {"transform", false, "`derive NAME = E` adds or replaces a column"},
    {"assign", false, "`derive NAME = E` adds or replaces a column"},
    {"with_column", false, "`derive NAME = E` adds or replaces a column"},
    {"with_columns", false, "`derive NAME = E` adds or replaces a column"},
    {"rename", false, "`map E as NAME, ...` names the columns anew"},
    {"columns", false, "`pick NAME, ...` keeps these columns"},
    {"keep", false, "`pick NAME, ...` keeps columns, `select E` rows"},
    {"drop", false, "`pick NAME, ...` says which columns stay, `reject E` which rows go"},
    {"exclude", false, "`pick NAME, ...` says which columns stay, `reject E` which rows go"},
    {"join", false, "`zip` puts columns side by side, `gather` fetches rows by position"},
    {"cumsum", false, "`scan +` is the running sum"},
    {"accumulate", false, "`scan +` is the running sum, `reduce +` the total"},
    {"shift", false, "`stencil -1..0 else 0: at(-1)` is each row's predecessor"},
    {"lag", false, "`stencil -1..0 else 0: at(-1)` is each row's predecessor"},
    {"lead", false, "`stencil 0..1 else 0: at(1)` is each row's successor"},
    {"diff", false, "`stencil -1..0 else 0: at(0) - at(-1)` is each row less the one before"},
    {"histogram", false, "`hist` counts the values in equal intervals"},
    {"len", false, "`count` tells how many rows there are"},
    {"size", false, "`count` tells how many rows there are"},
    {"rows", false, "`count` tells how many rows there are"},
    {"nrow", false, "`count` tells how many rows there are"},
    {"wc", false, "`count` tells how many rows there are"},
    {"last", false, "`tail N` keeps the last N rows"},
    {"offset", false, "`skip N` drops the first N rows"},
    {"slice", false, "`skip N | take M` keeps the M rows after the first N"},
    {"print", false, "a pipeline prints its result; `show N` prints the first N rows"},
    {"display", false, "a pipeline prints its result; `show N` prints the first N rows"},
    {"collect", false, "a pipeline prints its result; `let NAME = ...` before it keeps the result"},
    {"write", false, "`save PATH` writes a file"},
    {"export", false, "`save PATH` writes a file"},
    {"help", true, "`.help` alone, or with a word, tells what there is"},
    {"man", true, "`.help` alone, or with a word, tells what there is"},
    {"from", true, loads},
    {"read", true, loads},
    {"open", true, loads},
    {"import", true, loads},
    {"use", true, loads},
    {"cat", true, loads},
    {"ls", true, "`.tables` lists what has been named; files are completed by Tab after `load`"},
    {"set", true, "`let NAME = ...` names a result; `.set` changes a setting"},
    {"var", true, "`let NAME = ...` names a result"},
    {"const", true, "`let NAME = ...` names a result"},
    {"fn", true, "`def NAME(a, b) = E` defines a function"},
    {"function", true, "`def NAME(a, b) = E` defines a function"},
};

const char *foreign_advice(const char *text, size_t length, bool begins)
{
    for (size_t i = 0; i < sizeof foreign_words / sizeof *foreign_words; i++) {
        const struct foreign_word *word = &foreign_words[i];
        if (word->begins == begins && strlen(word->text) == length && strncasecmp(word->text, text, length) == 0)
            return word->advice;
    }
    return NULL;
}
