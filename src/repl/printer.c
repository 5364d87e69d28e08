#include "printer.h"

#include <errno.h>
#include <unistd.h>

/* Large enough that the system call costs nothing beside the formatting, small enough to stay in the cache. */
enum { RELIEVE_BYTES = 128 * 1024 };

bool printer_is_full(const struct printer *out)
{
    return out->text.length >= RELIEVE_BYTES;
}

bool printer_relieve(struct printer *out)
{
    return printer_is_full(out) ? printer_flush(out) : out->error == 0;
}

bool printer_flush(struct printer *out)
{
    size_t done = 0;
    while (out->error == 0 && done < out->text.length && !(out->cancel && *out->cancel)) {
        ssize_t wrote = write(out->fd, out->text.text + done, out->text.length - done);
        if (wrote >= 0) {
            done += (size_t)wrote;
            out->wrote = true;
        } else if (errno != EINTR) {
            out->error = errno;
        }
    }
    bool all = done == out->text.length;
    strbuf_clear(&out->text);
    return all && out->error == 0;
}

void printer_discard(struct printer *out)
{
    strbuf_clear(&out->text);
}

void printer_free(struct printer *out)
{
    strbuf_free(&out->text);
}
