#include "repl/print/pager.h"

#include "base/source.h"
#include "base/timing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_RUN = 126, NOT_FOUND = 127 /* exit statuses of the shell */ };

static bool is_on_path(const char *program)
{
    const char *path = getenv("PATH");
    struct strbuf file = {0};
    bool found = false;
    for (const char *at = path; at && *at && !found; at += strspn(at, ":")) {
        const size_t length = strcspn(at, ":");
        strbuf_clear(&file);
        strbuf_add(&file, at, length);
        strbuf_printf(&file, "/%s", program);
        found = access(file.text, X_OK) == 0;
        at += length;
    }
    strbuf_free(&file);
    return found;
}

const char *pager_command(void)
{
    const char *wanted = getenv("RQL_PAGER");
    if (wanted)
        return *wanted ? wanted : NULL;
    return is_on_path("less") ? "less -S" : NULL;
}

bool page_is_exceeded(const struct page *page, const struct strbuf *text)
{
    size_t lines = 0;
    for (size_t at = 0; at < text->length && lines <= page->lines;) {
        const char *line = text->text + at;
        const char *newline = memchr(line, '\n', text->length - at);
        const size_t length = newline ? (size_t)(newline - line) : text->length - at;
        const bool plain = !memchr(line, '\033', length); /* of others the width is not known */
        const size_t cells = plain && length > page->width ? text_width(line, length) : 1;
        if (page->cuts && cells > page->width)
            return true;
        lines += cells > 0 ? (cells + page->width - 1) / page->width : 1;
        at += length + 1;
    }
    return lines > page->lines;
}

static void run(const char *command, int input)
{
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGPIPE, SIG_DFL);
    /* Without R less would show escapes for colours as text. The shell sets it: after fork no memory may be allocated.
     */
    static const char script[] = "LESS=${LESS-R}; export LESS; eval \"$1\"";
    if (dup2(input, STDIN_FILENO) >= 0)
        (void)execl("/bin/sh", "sh", "-c", script, "sh", command, (char *)NULL);
    _exit(NOT_FOUND);
}

bool pager_start(struct pager *pager, const char *command)
{
    int ends[2];
    struct sigaction ignored = {.sa_handler = SIG_IGN};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    sigemptyset(&ignored.sa_mask);
    (void)sigaction(SIGINT, &ignored, &pager->interrupt);
    (void)sigaction(SIGPIPE, &ignored, &pager->broken_pipe);
    pager->began = now_ns();
    pager->child = fork();
    if (pager->child == 0)
        run(command, ends[0]);
    (void)close(ends[0]);
    pager->fd = ends[1];
    if (pager->child > 0)
        return true;
    (void)pager_finish(pager);
    return false;
}

bool pager_finish(struct pager *pager)
{
    int status = 0;
    (void)close(pager->fd);
    while (pager->child > 0 && waitpid(pager->child, &status, 0) < 0 && errno == EINTR) {
    }
    (void)sigaction(SIGINT, &pager->interrupt, NULL);
    (void)sigaction(SIGPIPE, &pager->broken_pipe, NULL);
    pager->child = 0;
    pager->shown += now_ns() - pager->began;
    return !(WIFEXITED(status) && (WEXITSTATUS(status) == NOT_RUN || WEXITSTATUS(status) == NOT_FOUND));
}
