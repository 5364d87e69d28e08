/* What there is instead of functions of other languages that are not there. */
#include "repl/rewrite/translator.h"

static const struct instead missing_functions[] = {
    {"ago getdate sys.time sys.date current_date current_timestamp",
     "`now()` is the time in UTC, `today()` the day: `now() - 1d`"},
    {"strftime to_char format_datetime date_format format",
     "`text(t, '%Y-%m')` writes a time in a format, `format('{} {:.2f}', a, b)` values in a pattern"},
    {"strptime to_date to_timestamp", "`date(s, '%d/%m/%Y')` and `timestamp(s, FORMAT)` read texts"},
    {"regexp_extract regexp_substr str_extract extract",
     "`extract(s, regex, k)` is what group k of a regular expression matches, 0 all of it"},
    {"regexp_replace str_replace_all gsub sub replace_all",
     "`replace_regex(s, regex, to)` replaces each match of a regular expression"},
    {"unnest explode generate_subscripts", "`| unnest NAME` is a stage, which makes a row of each element of a list"},
    {"json_extract json_extract_string get_json_object json_value parse_json",
     "fields of JSON are columns called by their paths, `author.name`, in files that `load` reads"},
    {"array_agg make_list make_set collect_list", "`collect(x)` is the values of a group as a list"},
    {"string_agg group_concat listagg list strcat_array paste", "`list(x, ', ')` is the values of a group as one text"},
    {"pad lpad rpad printf zfill rjust ljust center",
     "`pad(s, n, fill)` fills a text up on the left, on the right if n < 0; `format('{}-{:05}', a, "
     "n)` writes a pattern"},
    {"concat_ws", "`concat(a, '-', b)` joins values to one text"},
    {"round", "`round(x, 2)` rounds halves away from zero, R, Polars and pandas to even"},
    {"strpos instr position locate charindex indexof find",
     "`contains(s, a)` tells whether a is in s, `split(s, a, 0)` is what stands before it, `len(split(s, a, 0))` "
     "where"},
    {"var_pop stddev_pop varp stdevp",
     "`var(x)` and `stddev(x)` are of a sample; of all `var(x) * (count(x) - 1) / count(x)`"},
    {"approx_quantile approx_percentile", "`quantile(0.5, x)` is exact"},
    {"age", "`b - a` is the days between dates, the duration between timestamps"},
    {"make_date make_timestamp datefromparts",
     "a date is written 2024-01-31; `date(format('{}-{:02}-{:02}', y, m, d))` is made of columns"},
    {"grouping grouping_id", "`rollup` adds the column `level`: how many keys a row has; `cube` adds `keys`"},
    {"columns", "sets of columns are `pick p*`, `a..b`, `* of numeric` and `* but (x, y)`"},
    {"cut", "`x > 100 ? 'high' : 'low'` puts values into classes, `floor(x / 50) * 50` into equal ones"},
    {"todynamic parse_json_path", "fields of JSON are columns called by their paths in files that `load` reads"},
    {"ntile qcut", "`ntile(4, x)` is the quarter of x in order"},
    {"interpolate approx", "`fill(x, linear)` is on the line between the values around a gap"},
    {"rollmean roll_mean rollapply frollmean slide_dbl", "`mean(x) over -2..0` is of the row and the two before it"},
    {"ema ewm", "`ewma(x, 0.1)` is an exponentially weighted moving average"},
    {"percent_rank cume_dist", "`rank(x)` is the place of x in order, from 1"},
    {"nth_value", "`at(x, k)` is the value k rows further on, `first(x)` and `last(x)` are of all rows at hand"},
    {"first_value last_value", "`first(x)` and `last(x)` are of all rows at hand, `last(x) over ..0` of those so far"},
    {"percentile percentiles", "`quantile(0.95, x)` is in proportion between two values"},
    {"arg_max arg_min", "`per K: top 1 by t` is the latest row of each group, `argmax(t, x)` its value"},
    {"desc", "`rank(x, desc)` counts from the largest"},
    {"wday", "`weekday(d)` is 1 on Mondays and 7 on Sundays"},
    {"trunc", "`int(x)` drops the fraction, `floor(x)` rounds down"},
    {"random rand runif", "`random(k)` is a number from 0 to 1 that depends on k alone: `random(row)`"},
    {"regr_slope covar_samp covar_pop",
     "`corr(x, y)` is a correlation, `corr(x, y) * stddev(x) * stddev(y)` the covariance of a sample"},
    {"histogram", "`group x: count()` counts each value, `hist x` the values in equal intervals"},
    {"idxmax idxmin which.max which.min", "`top 1 by x` keeps the row with the largest x, `argmax(x)` is its number"},
    {"mode", "`mode(x)` is the most frequent value, of several the smallest"},
    {"split string_split str_split strsplit", "`split(s, sep, k)` is one part of a text"},
    {"generate_series", "`range A..B` are the integers from A to B"},
};

const char *find_instead(const struct instead *all, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (is_one_of(name, all[i].names))
            return all[i].text;
    }
    return NULL;
}

const char *instead_of_function(const char *name)
{
    return find_instead(missing_functions, sizeof missing_functions / sizeof *missing_functions, name);
}

/* What there is instead of functions of pandas. */
static const struct instead of_pandas[] = {
    {"cut", "`x > 100 ? 'high' : x > 50 ? 'middle' : 'low'` puts values into classes, `floor(x / 50) * 50` into equal "
            "ones, and `hist x` counts them"},
    {"qcut", "`ntile(4, x)` is the quarter of x in order"},
    {"to_datetime",
     "`timestamp(s, FORMAT)` and `date(s, FORMAT)` read texts; those of a file are times where it is read"},
    {"to_numeric", "`float(s)` and `int(s)` are the number that a text writes"},
    {"crosstab", "`group A: count() across B` counts the rows of each pair"},
    {"get_dummies", "`derive buy = int(side == 'buy')` is 1 where a condition holds"},
    {"concat", "`append S` adds the rows of another source, `zip S` its columns"},
    {"date_range", "`range 2024-01-01..2024-12-31 by 1mo` are dates"},
    {"DataFrame", "`[1, 2] as x | zip [3, 4] as y` are columns of these values"},
};

const char *instead_of_pandas(const char *name)
{
    return find_instead(of_pandas, sizeof of_pandas / sizeof *of_pandas, name);
}
