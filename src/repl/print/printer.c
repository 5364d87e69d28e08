#include "repl/print/printer.h"

#include <errno.h>
#include <unistd.h>

/* Large against the cost of a system call, small enough for the cache. */
enum { RELIEVE_BYTES = 128 * 1024 };

bool printer_is_full(const struct printer *out)
{
    return out->text.length >= RELIEVE_BYTES;
}

bool printer_relieve(struct printer *out)
{
    return printer_is_full(out) ? printer_flush(out) : out->error == 0 && !(out->file && out->file->error);
}

static bool is_stopped(const struct printer *out)
{
    return out->cancel && *out->cancel;
}

static bool flush_to_file(struct printer *out)
{
    const bool stopped = is_stopped(out);
    if (!stopped) {
        writer_add(out->file, out->text.text, out->text.length);
        out->wrote = out->wrote || out->text.length > 0;
    }
    strbuf_clear(&out->text);
    return !stopped && out->file->error == 0;
}

/* The pager begins with the first text that is written. */
static void choose_pager(struct printer *out)
{
    const bool first = out->page.lines > 0 && out->text.length > 0;
    const char *command = first && page_is_exceeded(&out->page, &out->text) ? pager_command() : NULL;
    if (first)
        out->page = (struct page){0};
    if (command)
        (void)pager_start(&out->pager, command);
}

bool printer_end_page(struct printer *out)
{
    out->page = (struct page){0};
    if (out->pager.child <= 0)
        return true;
    if (out->error == EPIPE)
        out->error = 0;
    return pager_finish(&out->pager);
}

bool printer_flush(struct printer *out)
{
    if (out->file)
        return flush_to_file(out);
    choose_pager(out);
    const int fd = out->pager.child > 0 ? out->pager.fd : out->fd;
    size_t done = 0;
    bool stopped = is_stopped(out);
    while (out->error == 0 && done < out->text.length && !stopped) {
        const ssize_t wrote = write(fd, out->text.text + done, out->text.length - done);
        if (wrote >= 0) {
            done += (size_t)wrote;
            out->wrote = true;
        } else if (errno != EINTR) {
            out->error = errno;
        }
        stopped = done < out->text.length && is_stopped(out);
    }
    strbuf_clear(&out->text);
    return out->error == 0 && !stopped;
}

void printer_discard(struct printer *out)
{
    strbuf_clear(&out->text);
}

void printer_free(struct printer *out)
{
    strbuf_free(&out->text);
}
