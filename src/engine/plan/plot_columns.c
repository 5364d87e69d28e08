#include "engine/plan/plot_columns.h"

enum plot_fault plot_columns_choose(struct plot_columns *columns, const bool *text, size_t count)
{
    size_t texts = 0;
    for (size_t k = 0; k < count; k++)
        texts += text[k];
    *columns = (struct plot_columns){.bars = count > 0 && text[0], .x = count > 1 ? 0 : -1, .key = -1};
    if (texts == count)
        return PLOT_NO_NUMBERS;
    for (size_t k = columns->x + 1 > 0 ? 1 : 0; k < count; k++) {
        if (text[k] && columns->key >= 0)
            return PLOT_MANY_TEXTS;
        if (text[k])
            columns->key = (int)k;
        else if (columns->value_count == PLOT_SERIES)
            return PLOT_MANY_SERIES;
        else
            columns->values[columns->value_count++] = (int)k;
    }
    if (columns->value_count == 0)
        return PLOT_NO_NUMBERS;
    return columns->key >= 0 && columns->value_count > 1 ? PLOT_MANY_TEXTS : PLOT_FINE;
}
