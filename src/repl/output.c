/* `.output`: where results go. */
#include "shell.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* What was printed before belongs to the place before. */
static void leave_file(struct shell *shell)
{
    (void)shell_flush(shell);
    if (shell->out.fd != STDOUT_FILENO) {
        (void)close(shell->out.fd);
        shell->out.fd = STDOUT_FILENO;
    }
}

enum status output_to(struct shell *shell, const char *path, struct span span, struct diags *diags)
{
    int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : STDOUT_FILENO;
    if (file < 0) {
        return diag_error(diags, span, "cannot write `%s`: %s", path, strerror(errno));
    }
    leave_file(shell);
    shell->out.fd = file;
    shell->out_terminal = shell->stdout_terminal && !path;
    shell->out_colour = shell->stdout_colour && !path;
    return STATUS_OK;
}
