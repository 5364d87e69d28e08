#include "repl/session/command_call.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *editor_command(void)
{
    static const char *const variables[] = {"VISUAL", "EDITOR"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *command = getenv(variables[i]);
        if (command && *command)
            return command;
    }
    return "vi";
}

static enum status report_errno(struct diags *diags, struct span span, const char *what)
{
    return diag_error(diags, span, "cannot %s: %s", what, strerror(errno));
}

/* A new file, private to the user; -1 on failure. Editors highlight by the extension. */
static int create_file(char *path, size_t size)
{
    const char *directory = getenv("TMPDIR");
    (void)snprintf(path, size, "%s/rql-XXXXXX.rql", directory && directory[0] == '/' ? directory : "/tmp");
    return mkstemps(path, (int)strlen(".rql"));
}

static bool write_file(int fd, const char *text)
{
    FILE *file = fdopen(fd, "w");
    const bool written = file && fputs(text, file) >= 0 && fputc('\n', file) != EOF;
    return file && fclose(file) == 0 && written;
}

/* Runs the editor on the terminal, as a shell would: Ctrl-C goes to the editor, not to rql. */
static int run_editor(const char *path)
{
    struct sigaction ignored = {.sa_handler = SIG_IGN}, before;
    sigemptyset(&ignored.sa_mask);
    (void)sigaction(SIGINT, &ignored, &before);
    pid_t child = fork();
    if (child == 0) {
        (void)signal(SIGINT, SIG_DFL);
        /* Like git: the variable may contain options. */
        struct strbuf command = {0};
        strbuf_printf(&command, "%s \"$1\"", editor_command());
        (void)execl("/bin/sh", "sh", "-c", command.text, editor_command(), path, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    (void)sigaction(SIGINT, &before, NULL);
    return child < 0 ? -1 : status;
}

static bool read_file(const char *path, struct strbuf *text)
{
    enum { CHUNK = 4096 };
    FILE *file = fopen(path, "re");
    size_t got = 0;
    while (file && (got = fread(strbuf_reserve(text, CHUNK), 1, CHUNK, file)) > 0)
        strbuf_commit(text, got);
    const bool whole = file && !ferror(file);
    if (file)
        (void)fclose(file);
    while (text->length > 0 && strchr(" \t\r\n", text->text[text->length - 1]))
        text->text[--text->length] = '\0';
    return whole;
}

enum status external_editor_run(const char *text, struct span span, struct strbuf *edited, struct diags *diags)
{
    char path[4096];
    const int fd = create_file(path, sizeof path);
    if (fd < 0)
        return report_errno(diags, span, "create a file for the editor");
    enum status status = STATUS_OK;
    const int ended = write_file(fd, text) ? run_editor(path) : -1;
    if (ended != 0) {
        status = diag_error(diags, span, "the editor `%s` failed, so nothing is run", editor_command());
        diag_hint(diags, "set VISUAL or EDITOR to choose another editor");
    } else if (!read_file(path, edited)) {
        status = report_errno(diags, span, "read the edited text");
    }
    (void)unlink(path);
    return status;
}
