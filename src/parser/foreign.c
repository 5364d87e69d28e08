#include "parser/foreign.h"

#include <string.h>
#include <strings.h>

static const char aggregates[] =
    "`group K: sum(E), count()` aggregates each group; `sum` and `mean` aggregate all rows";
static const char sorts[] = "`sort E` sorts the rows, `sort E desc` from the largest down";
static const char ranks[] = "`quantile 0.99, x` is the 99th percentile";
static const char windows[] = "`mean(x) over -19..0` is the average of a row and the 19 before it";
static const char spreads[] = "`stddev x` and `var x` are those of a sample";
static const char values[] = "an expression or a pipeline prints its result";
static const char names[] = "`.tables` lists the named relations, `describe` summarises columns";
static const char tops[] = "`top N by E` keeps the N rows with the largest E";
static const char bottoms[] = "`top N by E asc` keeps the N rows with the smallest E";
static const char loads[] = "`load PATH` reads a file";
static const char truths[] = "write `true` and `false`";
static const char infinities[] = "`1 / 0.0` is infinity";
static const char holes[] = "`missing` is the missing value; `x is missing` tests for it, `x ?? 0` replaces it";
static const char dates[] = "dates and times are written without quotes: 2024-01-31, 2024-01-31T09:30";
static const char not_a_number[] = "`x != x` holds only for nan";
static const char choices[] = "use `CONDITION ? A : B`";
static const char shapes[] = "`shape R C` lays rows out along axes; after it `sum along rows` aggregates along one";
static const char transpositions[] =
    "with `let m = ... | shape R C`, `range 0..R*C-1 | shape C R | map m[col, row]` is its transposition";
static const char conversions[] = "`int(x)` and `float(x)` convert";

/* Shared hints, so that equal advice reads alike. */
static const struct foreign_word {
    const char *text;
    enum foreign_place place; /* where it is used in the other language */
    const char *advice;
} foreign_words[] = {
    {"transpose", FOREIGN_STAGE, transpositions},
    {"reshape", FOREIGN_STAGE, shapes},
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
    {"having", FOREIGN_STAGE, "`select` after `group` keeps the groups that satisfy a condition"},
    {"arrange", FOREIGN_STAGE, sorts},
    {"order_by", FOREIGN_STAGE, sorts},
    {"orderby", FOREIGN_STAGE, sorts},
    {"sort_by", FOREIGN_STAGE, sorts},
    {"sortby", FOREIGN_STAGE, sorts},
    {"transform", FOREIGN_STAGE, "`derive NAME = E` adds or replaces a column"},
    {"assign", FOREIGN_STAGE, "`derive NAME = E` adds or replaces a column"},
    {"with_column", FOREIGN_STAGE, "`derive NAME = E` adds or replaces a column"},
    {"with_columns", FOREIGN_STAGE, "`derive NAME = E` adds or replaces a column"},
    {"columns", FOREIGN_STAGE, "`pick NAME, ...` keeps these columns"},
    {"keep", FOREIGN_STAGE, "`pick NAME, ...` keeps columns, `select E` rows"},
    {"exclude", FOREIGN_STAGE, "`drop NAME, ...` drops columns, `reject E` rows"},
    {"remove", FOREIGN_STAGE, "`drop NAME, ...` drops columns, `reject E` rows"},
    {"join", FOREIGN_STAGE, "`zip` combines columns side by side, `gather` fetches rows by position"},
    {"cumsum", FOREIGN_STAGE, "`scan +` is the running sum, `sum(x) over ..0` one beside other columns"},
    {"rolling", FOREIGN_STAGE, windows},
    {"rolling_mean", FOREIGN_STAGE, windows},
    {"window", FOREIGN_STAGE, windows},
    {"partition", FOREIGN_STAGE, "`per K: STAGE` runs stages within each group of rows with equal K"},
    {"ffill", FOREIGN_STAGE, "`last(x) over ..0` fills gaps with the value before"},
    {"forward_fill", FOREIGN_STAGE, "`last(x) over ..0` fills gaps with the value before"},
    {"row_number", FOREIGN_STAGE, "`row` is the row's number from 0, within `per` that in its group"},
    {"dense_rank", FOREIGN_STAGE, "`rank(x, dense)` leaves no gaps after equal values"},
    {"accumulate", FOREIGN_STAGE, "`scan +` is the running sum, `reduce +` the total"},
    {"shift", FOREIGN_STAGE, "`at(x, -1)` is the previous row's, as in `derive before = at(x, -1)`"},
    {"lag", FOREIGN_STAGE, "`at(x, -1)` is the previous row's, as in `derive before = at(x, -1)`"},
    {"lead", FOREIGN_STAGE, "`at(x, 1)` is the next row's, as in `derive next = at(x, 1)`"},
    {"diff", FOREIGN_STAGE, "`x - at(x, -1)` is the difference from the previous row"},
    {"histogram", FOREIGN_STAGE, "`hist` counts the values in equal intervals"},
    {"len", FOREIGN_STAGE, "`count` counts the rows"},
    {"size", FOREIGN_STAGE, "`count` counts the rows"},
    {"rows", FOREIGN_STAGE, "`count` counts the rows"},
    {"nrow", FOREIGN_STAGE, "`count` counts the rows"},
    {"wc", FOREIGN_STAGE, "`count` counts the rows"},
    {"last", FOREIGN_STAGE, "`tail N` keeps the last N rows"},
    {"offset", FOREIGN_STAGE, "`skip N` drops the first N rows"},
    {"slice", FOREIGN_STAGE, "`skip N | take M` keeps the M rows after the first N"},
    {"percentile", FOREIGN_STAGE, ranks},
    {"std", FOREIGN_STAGE, spreads},
    {"stdev", FOREIGN_STAGE, spreads},
    {"variance", FOREIGN_STAGE, spreads},
    {"sample", FOREIGN_STAGE, "`select row % N == 0` keeps every N-th row"},
    {"shuffle", FOREIGN_STAGE, "`gather` takes rows in the order of the positions in its source"},
    {"summary", FOREIGN_STAGE, "`describe` prints a line for each column"},
    {"info", FOREIGN_STAGE, "`describe` prints a line for each column"},
    {"print", FOREIGN_STAGE, "a pipeline prints its result; `show N` prints the first N rows"},
    {"display", FOREIGN_STAGE, "a pipeline prints its result; `show N` prints the first N rows"},
    {"collect", FOREIGN_STAGE, "a pipeline prints its result; `let NAME = ...` before it keeps the result"},
    {"write", FOREIGN_STAGE, "`save PATH` writes a file"},
    {"export", FOREIGN_STAGE, "`save PATH` writes a file"},
    {"help", FOREIGN_STATEMENT, "use `.help`, or `.help WORD`"},
    {"man", FOREIGN_STATEMENT, "use `.help`, or `.help WORD`"},
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
    {"cd", FOREIGN_STATEMENT, "`.cd DIR` changes the directory"},
    {"pwd", FOREIGN_STATEMENT, "`.cd` shows the current directory"},
    {"source", FOREIGN_STATEMENT, "`.read FILE` runs a script"},
    {"timing", FOREIGN_STATEMENT, "`.timing on` shows where the time went"},
    {"ls", FOREIGN_STATEMENT, "`.tables` lists the named relations; Tab after `load` completes files"},
    {"set", FOREIGN_STATEMENT, "`let NAME = ...` names a result; `.set` changes a setting"},
    {"var", FOREIGN_STATEMENT, "`let NAME = ...` names a result"},
    {"const", FOREIGN_STATEMENT, "`let NAME = ...` names a result"},
    {"fn", FOREIGN_STATEMENT, "`def NAME(a, b) = E` defines a function"},
    {"function", FOREIGN_STATEMENT, "`def NAME(a, b) = E` defines a function"},
    {"between", FOREIGN_OPERATOR, "`E in A..B` includes both ends"},
    {"ilike", FOREIGN_OPERATOR, "`lower(x) like \"a%\"` ignores case"},
    {"rlike", FOREIGN_OPERATOR, "`x ~ 'RE'` matches a regular expression"},
    {"regexp", FOREIGN_OPERATOR, "`x ~ 'RE'` matches a regular expression"},
    {"isnull", FOREIGN_OPERATOR, holes},
    {"notnull", FOREIGN_OPERATOR, holes},
    {"mod", FOREIGN_OPERATOR, "`%` is the remainder"},
    {"div", FOREIGN_OPERATOR, "`//` is integer division"},
    {"xor", FOREIGN_OPERATOR, "`^` is bitwise exclusive or, `!=` that of conditions"},
    {"if", FOREIGN_OPERATOR, choices},
    {"then", FOREIGN_OPERATOR, choices},
    {"when", FOREIGN_OPERATOR, choices},
    {"to", FOREIGN_OPERATOR, "`A..B` is the range from A to B, both included"},
    {"**", FOREIGN_OPERATOR, "`pow(x, y)` is the power"},
    {"<>", FOREIGN_OPERATOR, "`!=` is the opposite of `==`"},
    {"=<", FOREIGN_OPERATOR, "use `<=`"},
    {"|>", FOREIGN_OPERATOR, "stages are separated by `|`"},
    {"isnan", FOREIGN_FUNCTION, not_a_number},
    {"is_nan", FOREIGN_FUNCTION, not_a_number},
    {"isfinite", FOREIGN_FUNCTION, "`x - x == 0` holds for finite numbers"},
    {"is_finite", FOREIGN_FUNCTION, "`x - x == 0` holds for finite numbers"},
    {"isinf", FOREIGN_FUNCTION, "`abs(x) == 1 / 0.0` holds for infinities"},
    {"is_infinite", FOREIGN_FUNCTION, "`abs(x) == 1 / 0.0` holds for infinities"},
    {"isnull", FOREIGN_FUNCTION, holes},
    {"isna", FOREIGN_FUNCTION, holes},
    {"fillna", FOREIGN_FUNCTION, holes},
    {"fill_null", FOREIGN_FUNCTION, holes},
    {"nvl", FOREIGN_FUNCTION, holes},
    {"is_null", FOREIGN_FUNCTION, holes},
    {"ifnull", FOREIGN_FUNCTION, holes},
    {"coalesce", FOREIGN_FUNCTION, holes},
    {"ln", FOREIGN_FUNCTION, "`log(x)` is the natural logarithm"},
    {"log2", FOREIGN_FUNCTION, "`log(x) / log(2)`: log is the natural logarithm"},
    {"log10", FOREIGN_FUNCTION, "`log(x) / log(10)`: log is the natural logarithm"},
    {"trunc", FOREIGN_FUNCTION, "`int(x)` truncates towards zero"},
    {"truncate", FOREIGN_FUNCTION, "`int(x)` truncates towards zero"},
    {"power", FOREIGN_FUNCTION, "`pow(x, y)` is the power"},
    {"square", FOREIGN_FUNCTION, "use `x * x`, or define `def square(a) = a * a`"},
    {"mod", FOREIGN_FUNCTION, "`%` is the remainder"},
    {"xor", FOREIGN_FUNCTION, "`^` is bitwise exclusive or, `!=` that of conditions"},
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
    {"nan", FOREIGN_VALUE, "`0 / 0.0` is nan, and `x != x` holds only for nan"},
    {"inf", FOREIGN_VALUE, infinities},
    {"infinity", FOREIGN_VALUE, infinities},
    {"null", FOREIGN_VALUE, holes},
    {"none", FOREIGN_VALUE, holes},
    {"nil", FOREIGN_VALUE, holes},
    {"na", FOREIGN_VALUE, holes},
    {"date", FOREIGN_PREFIX, dates},
    {"datetime", FOREIGN_PREFIX, dates},
    {"timestamp", FOREIGN_PREFIX, dates},
    {"time", FOREIGN_PREFIX, dates},
    {"interval", FOREIGN_PREFIX, "durations are written 10us, 90s, 15min, 4h, 2d, 1w; calendar steps 1mo, 2q, 1y"},
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
