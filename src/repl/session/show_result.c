#include "repl/session/session.h"

#include "repl/grid/grid.h"
#include "repl/plot/plot.h"
#include "repl/print/table_layout.h"
#include "repl/session/progress_bar.h"

#include "base/timing.h"
#include "engine/storage/file_errors.h"

struct showing {
    struct session *session;
    struct span span;
    struct diags *diags;
    struct progress_bar bar;
    int64_t browsed_ns;
};

static bool has_unread(const struct relation *relation)
{
    for (size_t k = 0; k < relation->count; k++) {
        if (relation->columns[k]->unread)
            return true;
    }
    return false;
}

/* The relation with at least the rows and columns that are shown. NULL: *status says why. */
static struct relation *shown_rows(const struct session *session, const struct result *result,
                                   const struct print_style *style, struct span span, enum status *status,
                                   struct diags *diags)
{
    const struct relation *relation = result->relation;
    *status = STATUS_OK;
    if (result->quiet || !has_unread(relation))
        return relation_ref(result->relation);
    int64_t head, tail;
    const size_t most = table_most_columns(relation, style);
    struct column **columns = arena_array(diags->arena, relation->count, sizeof(struct column *));
    print_table_rows(result, style, &head, &tail);
    for (size_t k = 0; k < relation->count; k++)
        columns[k] = column_ref(relation->columns[k]);
    file_cache_set_progress(session->file_cache, session->runner.progress);
    *status = file_cache_read_ends(session->file_cache, columns, most, head, tail, span, diags);
    file_cache_set_progress(session->file_cache, NULL);
    struct relation *shown = NULL;
    if (*status == STATUS_OK)
        shown = relation_new(relation->rows, relation->count, columns, (const char *const *)relation->names);
    if (shown)
        relation_set_shape(shown, &relation->shape);
    columns_unref(columns, relation->count);
    return shown;
}

/* The file under a column was truncated while its rows were printed. */
static enum exit_status report_damage(struct showing *showing, const struct column *column, bool began)
{
    printer_discard(&showing->session->out);
    showing->diags->count = 0; /* already reported */
    (void)file_changed_error(column, showing->span, showing->diags);
    if (began)
        diag_hint(showing->diags,
                  "the rows printed so far are correct, the rest is missing; load the file again once it is "
                  "complete");
    session_report(showing->session, showing->diags);
    return EXIT_QUERY;
}

/* Returns whether something has been printed. */
static bool plot_result(struct showing *showing, const struct result *result, const struct print_style *style,
                        enum status *status)
{
    const atomic_int *cancel = showing->session->platform->cancel;
    const bool saved = result->plot_path.text;
    *status = plot_check(result->relation, showing->span, showing->diags);
    if (*status == STATUS_OK && saved)
        *status = plot_save(result->relation, &result->plot_path, cancel, showing->diags);
    else if (*status == STATUS_OK)
        plot_print(&showing->session->out.text, result->relation, style, cancel);
    session_report(showing->session, showing->diags);
    return *status == STATUS_OK && !saved;
}

static enum exit_status print_rows(struct showing *showing, const struct result *result,
                                   const struct print_style *chosen)
{
    struct printer *out = &showing->session->out;
    const struct print_style style = *chosen;
    out->wrote = false;
    enum status ready = print_check(result, &style, showing->span, showing->diags);
    if (ready == STATUS_OK)
        ready = print_fetch(result, &style, showing->span, showing->diags);
    if (ready != STATUS_OK) {
        session_report(showing->session, showing->diags);
        return exit_status_for(ready);
    }
    if (result->view == VIEW_PLOT && !plot_result(showing, result, &style, &ready))
        return exit_status_for(ready);
    if (result->view != VIEW_PLOT)
        print_result(out, result, &style);
    const struct column *damaged = NULL;
    if (result->kind == RESULT_RELATION && !result->quiet)
        damaged = changed_column(result->relation->columns, result->relation->count);
    return damaged ? report_damage(showing, damaged, out->wrote) : session_flush(showing->session);
}

/* All columns of a table that is to be shown, if a pager can show those that do not fit. */
static struct print_style result_style(struct session *session, const struct result *result)
{
    enum { PAGED_WIDTH = 1 << 20 };
    struct print_style style = session_print_style(session);
    const bool whole = result->kind == RESULT_RELATION && result->view == VIEW_ROWS && result->show_rows >= 0;
    if (whole && session->out.page.lines > 0 && style.terminal && pager_command()) {
        session->out.page.cuts = true;
        style.width = PAGED_WIDTH;
    }
    return style;
}

/* `browse`: the user scrolls through the relation, which may be another one afterwards. */
static enum exit_status browse(struct showing *showing, struct result *result, const struct print_style *style)
{
    struct session *session = showing->session;
    const struct platform *platform = session->platform;
    const struct grid_host host = {&session->runner, session->file_cache, platform->cancel, platform->signals};
    const int64_t began = now_ns();
    const enum status status = grid_show(&host, &result->relation, style, showing->span, showing->diags);
    showing->browsed_ns = now_ns() - began;
    session_report(session, showing->diags);
    return exit_status_for(status);
}

static enum exit_status show(struct showing *showing, struct result *result)
{
    struct result shown = *result;
    const struct print_style style = result_style(showing->session, result);
    enum status status = STATUS_OK;
    showing->diags->count = 0; /* already reported */
    const bool browses = result->kind == RESULT_RELATION && !result->quiet && result->show_rows == SHOW_BROWSED;
    if (browses && !showing->session->out.file && grid_is_possible(&style))
        return browse(showing, result, &style);
    if (result->kind == RESULT_RELATION) {
        session_start_progress(showing->session, &showing->bar);
        shown.relation = shown_rows(showing->session, result, &style, showing->span, &status, showing->diags);
        session_stop_progress(showing->session, &showing->bar);
        session_report(showing->session, showing->diags);
        showing->diags->count = 0;
    }
    const enum exit_status outcome =
        status == STATUS_OK ? print_rows(showing, &shown, &style) : exit_status_for(status);
    if (result->kind == RESULT_RELATION)
        relation_unref(shown.relation);
    return outcome;
}

enum exit_status show_result(struct session *session, struct result *result, struct span span, int64_t *browsed_ns,
                             struct diags *diags)
{
    struct showing showing = {.session = session, .span = span, .diags = diags};
    const enum exit_status outcome = show(&showing, result);
    *browsed_ns = showing.browsed_ns;
    return outcome;
}
