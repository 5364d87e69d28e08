/* The command `.cache`: shows and empties the caches of files, on the disk and in memory. */
#include "repl/session/command_call.h"

#include "engine/formats/file_cache.h"
#include "engine/remote/remote.h"

#include <string.h>

static bool is_clear(const struct command_call *call)
{
    return strcmp(call->words[1].text, "clear") == 0;
}

void check_cache(struct command_call *call, struct checker *checker)
{
    (void)checker;
    if (call->count > 1 && !is_clear(call))
        (void)diag_error_hint(call->diags, call->words[1].span,
                              "`.cache clear` drops what is kept; `.set cache N` is its limit",
                              "`.cache` cannot do `%s`", call->words[1].text);
}

enum exit_status run_cache(struct command_call *call)
{
    struct session *session = call->session;
    struct remote *remote = file_cache_remote(session->file_cache);
    check_cache(call, NULL);
    if (diags_have_errors(call->diags))
        return EXIT_QUERY;
    if (call->count > 1) {
        remote_cache_clear(remote);
        file_cache_shrink(session->file_cache, 0);
        kept_shrink(session->runner.env->kept, 0);
    }
    const struct remote_cache cache = remote_cache(remote, call->arena);
    if (!cache.directory)
        strbuf_puts(&session->out.text, "no folder can be used for a cache: $HOME names none\n");
    else
        strbuf_printf(&session->out.text, "%lld file%s, %.1f MB in %s\n", (long long)cache.files,
                      cache.files == 1 ? "" : "s", (double)cache.bytes / 1e6, cache.directory);
    const struct file_cache_columns columns = file_cache_columns(session->file_cache);
    if (columns.count > 0)
        strbuf_printf(&session->out.text, "%zu column%s, %.1f MB in memory\n", columns.count,
                      columns.count == 1 ? "" : "s", (double)columns.bytes / 1e6);
    return EXIT_FINE;
}
