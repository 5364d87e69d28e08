#include "repl/plot/plot.h"

#include "base/text.h"

#include "repl/plot/plot_file.h"

#include "engine/storage/atomic_writer.h"

#include <string.h>

static enum status write_file(const struct strbuf *text, const struct name *path, struct diags *diags)
{
    struct writer writer;
    enum status status = writer_open(&writer, path->text, path->span, diags);
    if (status != STATUS_OK)
        return status;
    writer_add(&writer, text->text, text->length);
    status = writer_finish(&writer, path->span, diags);
    if (status == STATUS_OK)
        status = writer_publish(&writer, path->span, diags);
    writer_discard(&writer);
    return status;
}

/* Appends the drawing. */
static enum status draw(struct strbuf *out, const struct plot_data *data, const struct name *path, struct arena *arena,
                        const atomic_int *cancel, struct diags *diags)
{
    struct plot plot;
    const bool bars = data->columns.bars;
    if (!bars && !plot_reduce(&plot, data, ACROSS, DOWN, arena, cancel))
        return STATUS_CANCELLED;
    if (ends_in(path->text, ".png"))
        return png_add(out, bars ? NULL : &plot, data, path->span, diags) ? STATUS_OK : STATUS_FAILED;
    if (bars)
        svg_add_bars(out, data);
    else
        svg_add_plot(out, &plot, data);
    return STATUS_OK;
}

enum status plot_save(const struct relation *relation, const struct name *path, const atomic_int *cancel,
                      struct diags *diags)
{
    struct arena *arena = arena_new();
    struct plot_data data;
    struct strbuf text = {0};
    enum status status = STATUS_OK;
    if (plot_data_init(&data, relation, arena) == PLOT_DATA_FINE)
        status = draw(&text, &data, path, arena, cancel, diags);
    if (status == STATUS_OK)
        status = write_file(&text, path, diags);
    strbuf_free(&text);
    arena_free(arena);
    return status;
}
