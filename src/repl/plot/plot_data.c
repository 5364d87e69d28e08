#include "repl/plot/plot_data.h"

#include <math.h>
#include <string.h>

double plot_number(const struct column *column, int64_t row)
{
    if (column_is_missing(column, row) || column->logical.kind == LOGICAL_TEXT)
        return NAN;
    if (type_table[column->store].kind == KIND_FLOAT)
        return column_get_float(column, row);
    const double integer = (double)column_get_int(column, row);
    return column->logical.kind == LOGICAL_DECIMAL ? integer / pow(10, column->logical.scale) : integer;
}

int64_t plot_series_rows(const struct plot_data *data, const struct plot_series *series)
{
    return series->rows ? series->row_count : data->relation->rows;
}

int64_t plot_series_row(const struct plot_series *series, int64_t i)
{
    return series->rows ? series->rows[i] : i;
}

static struct text text_at(const struct column *column, int64_t row)
{
    static const char missing[] = "missing";
    const struct scalar element = column_get(column, row);
    return element.missing ? (struct text){missing, strlen(missing)} : element.text;
}

/* The number of a text in a list that grows up to `most`; `most`: it is full. */
static size_t number_of(struct text text, const char **list, size_t *count, size_t most, struct arena *arena)
{
    const char **known = row_of_text(list, *count, sizeof *list, text);
    if (known)
        return (size_t)(known - list);
    if (*count < most)
        list[*count] = arena_text(arena, text.at, text.length);
    return *count < most ? (*count)++ : most;
}

/* Gives each row to the series that its key names. False: there are too many. */
static bool split_by_key(struct plot_data *data, struct arena *arena)
{
    const struct column *key = data->relation->columns[data->columns.key];
    const int64_t rows = data->relation->rows;
    const char *names[PLOT_SERIES];
    unsigned char *series_of = arena_array(arena, (size_t)rows + 1, 1);
    for (int64_t row = 0; row < rows; row++) {
        const bool repeats = row > 0 && !column_is_missing(key, row) && !column_is_missing(key, row - 1) &&
                             column_get_int(key, row) == column_get_int(key, row - 1);
        const size_t k =
            repeats ? series_of[row - 1] : number_of(text_at(key, row), names, &data->series_count, PLOT_SERIES, arena);
        if (k == PLOT_SERIES) {
            for (size_t i = 0; i < PLOT_SERIES; i++)
                data->series[i].name = names[i];
            return false;
        }
        series_of[row] = (unsigned char)k;
        data->series[k].row_count++;
    }
    for (size_t k = 0; k < data->series_count; k++) {
        struct plot_series *series = &data->series[k];
        series->name = names[k];
        series->values = data->relation->columns[data->columns.values[0]];
        series->rows = arena_array(arena, (size_t)series->row_count, sizeof *series->rows);
        series->row_count = 0;
    }
    for (int64_t row = 0; row < rows; row++) {
        struct plot_series *series = &data->series[series_of[row]];
        series->rows[series->row_count++] = row;
    }
    return true;
}

static enum plot_data_fault fill_bars(struct plot_data *data, struct arena *arena)
{
    const struct column *names = data->relation->columns[data->columns.x < 0 ? 0 : data->columns.x];
    const bool keyed = data->columns.key >= 0;
    data->names = arena_array(arena, PLOT_BARS, sizeof *data->names);
    data->bars = arena_array(arena, PLOT_BARS * (data->series_count + 1), sizeof *data->bars);
    for (size_t k = 0; k < PLOT_BARS * data->series_count; k++)
        data->bars[k] = NAN;
    for (size_t s = 0; s < data->series_count; s++) {
        const struct plot_series *series = &data->series[s];
        for (int64_t i = 0; i < plot_series_rows(data, series); i++) {
            const int64_t row = plot_series_row(series, i);
            const struct text name = text_at(names, row);
            const size_t bar = keyed ? number_of(name, data->names, &data->name_count, PLOT_BARS, arena) : (size_t)row;
            if (bar >= PLOT_BARS)
                return PLOT_DATA_MANY_BARS;
            if (!keyed) {
                data->names[bar] = arena_text(arena, name.at, name.length);
                data->name_count = bar + 1 > data->name_count ? bar + 1 : data->name_count;
            }
            double *value = &data->bars[bar * data->series_count + s];
            if (keyed && !isnan(*value))
                return PLOT_DATA_REPEATED;
            *value = plot_number(series->values, row);
        }
    }
    return PLOT_DATA_FINE;
}

enum plot_data_fault plot_data_init(struct plot_data *data, const struct relation *relation, struct arena *arena)
{
    bool *text = arena_array(arena, relation->count, sizeof *text);
    for (size_t k = 0; k < relation->count; k++)
        text[k] = relation->columns[k]->logical.kind == LOGICAL_TEXT;
    *data = (struct plot_data){.relation = relation};
    const enum plot_fault fault = plot_columns_choose(&data->columns, text, relation->count);
    if (fault == PLOT_MANY_SERIES)
        return PLOT_DATA_MANY_SERIES;
    if (fault != PLOT_FINE)
        return PLOT_DATA_COLUMNS;
    if (data->columns.key >= 0 && !split_by_key(data, arena))
        return PLOT_DATA_MANY_SERIES;
    for (size_t k = 0; k < data->columns.value_count && data->columns.key < 0; k++) {
        const int at = data->columns.values[k];
        data->series[data->series_count++] =
            (struct plot_series){.name = relation->names[at], .values = relation->columns[at]};
    }
    return data->columns.bars ? fill_bars(data, arena) : PLOT_DATA_FINE;
}

void plot_bar_bounds(const struct plot_data *data, double *least, double *greatest)
{
    *least = *greatest = 0;
    for (size_t k = 0; k < data->name_count * data->series_count; k++) {
        if (isfinite(data->bars[k])) {
            *least = data->bars[k] < *least ? data->bars[k] : *least;
            *greatest = data->bars[k] > *greatest ? data->bars[k] : *greatest;
        }
    }
}
