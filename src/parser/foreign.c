#include "parser/foreign.h"

#include <string.h>
#include <strings.h>

static const char aggregates[] =
    "`group K: sum(E), count()` aggregates each group; `sum`, `mean` and their like all rows";
static const char sorts[] = "`sort E` orders the rows, `sort E desc` from the largest down";
static const char places[] = "`sort | skip N | take 1` gives the value in place N, counted from 0";
static const char spreads[] =
    "`describe` shows how values spread; a variance is the mean of squares less the squared mean";
static const char values[] = "an expression or a pipeline alone prints what it gives";
static const char names[] = "`.tables` lists what has been named, `describe` tells about columns";
static const char tops[] = "`top N by E` gives the N rows with the largest E";
static const char bottoms[] = "`top N by E asc` gives the N rows with the smallest E";
static const char loads[] = "`load PATH` reads a file";
static const char truths[] = "true is 1 and false is 0";
static const char infinities[] = "`1 / 0.0` is infinity";
static const char holes[] = "no value is ever missing; `x != x` tells nan";
static const char choices[] = "`CONDITION ? A : B` chooses";
static const char conversions[] = "`int(x)` and `float(x)` convert";
static const char small_letters[] = "the words of the language are written in small letters";

/* Written once, so that equal advice reads alike. */
static const struct foreign_word {
    const char *text;
    enum foreign_place place; /* where it stands where it comes from */
    const char *advice;
} foreign_words[] = {
    {"topk", FOREIGN_STAGE, tops},
    {"top_k", FOREIGN_STAGE, tops},
    {"nlargest", FOREIGN_STAGE, tops},
    {"largest", FOREIGN_STAGE, tops},
    {"bottom", FOREIGN_STAGE, bottoms},
    {"nsmallest", FOREIGN_STAGE, bottoms},
    {"smallest", FOREIGN_STAGE, bottoms},
    {"aggregate", FOREIGN_STAGE, aggregates},
    {"agg", FOREIGN_STAGE, aggregates},
    {"summarize", FOREIGN_STAGE, aggregates},
    {"summarise", FOREIGN_STAGE, aggregates},
    {"group_by", FOREIGN_STAGE, aggregates},
    {"groupby", FOREIGN_STAGE, aggregates},
    {"having", FOREIGN_STAGE, "`select` after `group` keeps the groups for which a condition holds"},
    {"arrange", FOREIGN_STAGE, sorts},
    {"order_by", FOREIGN_STAGE, sorts},
    {"orderby", FOREIGN_STAGE, sorts},
    {"sort_by", FOREIGN_STAGE, sorts},
    {"sortby", FOREIGN_STAGE, sorts},
    {"transform", FOREIGN_STAGE, "`derive NAME = E` adds or replaces a column"},
    {"assign", FOREIGN_STAGE, "`derive NAME = E` adds or replaces a column"},
    {"with_column", FOREIGN_STAGE, "`derive NAME = E` adds or replaces a column"},
    {"with_columns", FOREIGN_STAGE, "`derive NAME = E` adds or replaces a column"},
    {"rename", FOREIGN_STAGE, "`map E as NAME, ...` names the columns anew"},
    {"columns", FOREIGN_STAGE, "`pick NAME, ...` keeps these columns"},
    {"keep", FOREIGN_STAGE, "`pick NAME, ...` keeps columns, `select E` rows"},
    {"drop", FOREIGN_STAGE, "`pick NAME, ...` says which columns stay, `reject E` which rows go"},
    {"exclude", FOREIGN_STAGE, "`pick NAME, ...` says which columns stay, `reject E` which rows go"},
    {"join", FOREIGN_STAGE, "`zip` puts columns side by side, `gather` fetches rows by position"},
    {"cumsum", FOREIGN_STAGE, "`scan +` is the running sum"},
    {"accumulate", FOREIGN_STAGE, "`scan +` is the running sum, `reduce +` the total"},
    {"shift", FOREIGN_STAGE, "`stencil -1..0 else 0: at(-1)` is each row's predecessor"},
    {"lag", FOREIGN_STAGE, "`stencil -1..0 else 0: at(-1)` is each row's predecessor"},
    {"lead", FOREIGN_STAGE, "`stencil 0..1 else 0: at(1)` is each row's successor"},
    {"diff", FOREIGN_STAGE, "`stencil -1..0 else 0: at(0) - at(-1)` is each row less the one before"},
    {"histogram", FOREIGN_STAGE, "`hist` counts the values in equal intervals"},
    {"len", FOREIGN_STAGE, "`count` tells how many rows there are"},
    {"size", FOREIGN_STAGE, "`count` tells how many rows there are"},
    {"rows", FOREIGN_STAGE, "`count` tells how many rows there are"},
    {"nrow", FOREIGN_STAGE, "`count` tells how many rows there are"},
    {"wc", FOREIGN_STAGE, "`count` tells how many rows there are"},
    {"last", FOREIGN_STAGE, "`tail N` keeps the last N rows"},
    {"offset", FOREIGN_STAGE, "`skip N` drops the first N rows"},
    {"slice", FOREIGN_STAGE, "`skip N | take M` keeps the M rows after the first N"},
    {"median", FOREIGN_STAGE, places},
    {"percentile", FOREIGN_STAGE, places},
    {"quantile", FOREIGN_STAGE, places},
    {"std", FOREIGN_STAGE, spreads},
    {"stddev", FOREIGN_STAGE, spreads},
    {"stdev", FOREIGN_STAGE, spreads},
    {"var", FOREIGN_STAGE, spreads},
    {"variance", FOREIGN_STAGE, spreads},
    {"sample", FOREIGN_STAGE, "`select row % N == 0` keeps every N-th row"},
    {"shuffle", FOREIGN_STAGE, "`gather` takes the rows in the order of the positions that its source holds"},
    {"summary", FOREIGN_STAGE, "`describe` prints a line about each column"},
    {"info", FOREIGN_STAGE, "`describe` prints a line about each column"},
    {"print", FOREIGN_STAGE, "a pipeline prints its result; `show N` prints the first N rows"},
    {"display", FOREIGN_STAGE, "a pipeline prints its result; `show N` prints the first N rows"},
    {"collect", FOREIGN_STAGE, "a pipeline prints its result; `let NAME = ...` before it keeps the result"},
    {"write", FOREIGN_STAGE, "`save PATH` writes a file"},
    {"export", FOREIGN_STAGE, "`save PATH` writes a file"},
    {"help", FOREIGN_STATEMENT, "`.help` alone, or with a word, tells what there is"},
    {"man", FOREIGN_STATEMENT, "`.help` alone, or with a word, tells what there is"},
    {"from", FOREIGN_STATEMENT, loads},
    {"read", FOREIGN_STATEMENT, loads},
    {"open", FOREIGN_STATEMENT, loads},
    {"import", FOREIGN_STATEMENT, loads},
    {"use", FOREIGN_STATEMENT, loads},
    {"cat", FOREIGN_STATEMENT, loads},
    {"print", FOREIGN_STATEMENT, values},
    {"echo", FOREIGN_STATEMENT, values},
    {"tables", FOREIGN_STATEMENT, names},
    {"schema", FOREIGN_STATEMENT, names},
    {"cd", FOREIGN_STATEMENT, "`.cd DIR` goes to a folder"},
    {"pwd", FOREIGN_STATEMENT, "`.cd` tells the folder where paths begin"},
    {"source", FOREIGN_STATEMENT, "`.read FILE` runs a script"},
    {"timing", FOREIGN_STATEMENT, "`.timing on` tells where the time went"},
    {"ls", FOREIGN_STATEMENT, "`.tables` lists what has been named; files are completed by Tab after `load`"},
    {"set", FOREIGN_STATEMENT, "`let NAME = ...` names a result; `.set` changes a setting"},
    {"var", FOREIGN_STATEMENT, "`let NAME = ...` names a result"},
    {"const", FOREIGN_STATEMENT, "`let NAME = ...` names a result"},
    {"fn", FOREIGN_STATEMENT, "`def NAME(a, b) = E` defines a function"},
    {"function", FOREIGN_STATEMENT, "`def NAME(a, b) = E` defines a function"},
    {"between", FOREIGN_OPERATOR, "`E in A..B` includes both ends"},
    {"is", FOREIGN_OPERATOR, "`==` compares; no value is ever missing, and `x != x` tells nan"},
    {"like", FOREIGN_OPERATOR, "rql has numbers and no text"},
    {"mod", FOREIGN_OPERATOR, "`%` is the remainder"},
    {"div", FOREIGN_OPERATOR, "`/` of integers cuts off"},
    {"xor", FOREIGN_OPERATOR, "`^` is the exclusive or of bits, `!=` that of conditions"},
    {"if", FOREIGN_OPERATOR, choices},
    {"then", FOREIGN_OPERATOR, choices},
    {"when", FOREIGN_OPERATOR, choices},
    {"to", FOREIGN_OPERATOR, "`A..B` goes from A to B, both included"},
    {"and", FOREIGN_OPERATOR, small_letters},
    {"or", FOREIGN_OPERATOR, small_letters},
    {"not", FOREIGN_OPERATOR, small_letters},
    {"in", FOREIGN_OPERATOR, small_letters},
    {"as", FOREIGN_OPERATOR, small_letters},
    {"**", FOREIGN_OPERATOR, "`pow(x, y)` is the power"},
    {"//", FOREIGN_OPERATOR, "`/` of integers cuts off"},
    {"<>", FOREIGN_OPERATOR, "`!=` is the opposite of `==`"},
    {"=<", FOREIGN_OPERATOR, "it is written `<=`"},
    {"|>", FOREIGN_OPERATOR, "stages are joined by `|` alone"},
    {"isnan", FOREIGN_FUNCTION, "`x != x` holds for nan alone"},
    {"is_nan", FOREIGN_FUNCTION, "`x != x` holds for nan alone"},
    {"isfinite", FOREIGN_FUNCTION, "`x - x == 0` holds for what is neither infinite nor nan"},
    {"is_finite", FOREIGN_FUNCTION, "`x - x == 0` holds for what is neither infinite nor nan"},
    {"isinf", FOREIGN_FUNCTION, "`abs(x) == 1 / 0.0` holds for what is infinite"},
    {"is_infinite", FOREIGN_FUNCTION, "`abs(x) == 1 / 0.0` holds for what is infinite"},
    {"isnull", FOREIGN_FUNCTION, holes},
    {"is_null", FOREIGN_FUNCTION, holes},
    {"ifnull", FOREIGN_FUNCTION, holes},
    {"coalesce", FOREIGN_FUNCTION, holes},
    {"ln", FOREIGN_FUNCTION, "`log(x)` is the natural logarithm"},
    {"log2", FOREIGN_FUNCTION, "`log(x) / log(2)`: log is the natural logarithm"},
    {"log10", FOREIGN_FUNCTION, "`log(x) / log(10)`: log is the natural logarithm"},
    {"trunc", FOREIGN_FUNCTION, "`int(x)` is x cut off towards zero"},
    {"truncate", FOREIGN_FUNCTION, "`int(x)` is x cut off towards zero"},
    {"power", FOREIGN_FUNCTION, "`pow(x, y)` is the power"},
    {"square", FOREIGN_FUNCTION, "`x * x`, or `def square(a) = a * a` before"},
    {"mod", FOREIGN_FUNCTION, "`%` is the remainder"},
    {"xor", FOREIGN_FUNCTION, "`^` is the exclusive or of bits, `!=` that of conditions"},
    {"least", FOREIGN_FUNCTION, "`min(x, y, ...)` is the smallest"},
    {"minimum", FOREIGN_FUNCTION, "`min(x, y, ...)` is the smallest"},
    {"greatest", FOREIGN_FUNCTION, "`max(x, y, ...)` is the largest"},
    {"maximum", FOREIGN_FUNCTION, "`max(x, y, ...)` is the largest"},
    {"if", FOREIGN_FUNCTION, choices},
    {"iif", FOREIGN_FUNCTION, choices},
    {"ifelse", FOREIGN_FUNCTION, choices},
    {"if_else", FOREIGN_FUNCTION, choices},
    {"cast", FOREIGN_FUNCTION, conversions},
    {"astype", FOREIGN_FUNCTION, conversions},
    {"double", FOREIGN_FUNCTION, conversions},
    {"integer", FOREIGN_FUNCTION, conversions},
    {"true", FOREIGN_VALUE, truths},
    {"false", FOREIGN_VALUE, truths},
    {"nan", FOREIGN_VALUE, "`0 / 0.0` is nan, and `x != x` holds for nan alone"},
    {"inf", FOREIGN_VALUE, infinities},
    {"infinity", FOREIGN_VALUE, infinities},
    {"null", FOREIGN_VALUE, holes},
    {"none", FOREIGN_VALUE, holes},
    {"nil", FOREIGN_VALUE, holes},
};

const char *foreign_advice(const char *text, size_t length, enum foreign_place place)
{
    for (size_t i = 0; i < sizeof foreign_words / sizeof *foreign_words; i++) {
        const struct foreign_word *word = &foreign_words[i];
        if (word->place == place && strlen(word->text) == length && strncasecmp(word->text, text, length) == 0)
            return word->advice;
    }
    return NULL;
}
