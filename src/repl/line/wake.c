#include "repl/line/line_editor.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

static bool next_signal(const struct platform *platform, int *number)
{
    unsigned char byte;
    if (read(platform->signals, &byte, 1) != 1)
        return false;
    *number = byte;
    return true;
}

void discard_signals(const struct platform *platform)
{
    int number;
    while (next_signal(platform, &number)) {
    }
    *platform->cancel = 0;
}

enum wake wait_for_wake(const struct platform *platform)
{
    for (;;) {
        if (*platform->leave)
            return WAKE_LEAVE;
        struct pollfd wanted[] = {{platform->signals, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
        if (poll(wanted, 2, -1) < 0)
            continue; /* EINTR: the pipe says which */
        int number;
        if (wanted[0].revents && next_signal(platform, &number)) {
            if (number == SIGINT) {
                *platform->cancel = 0;
                return WAKE_INTERRUPT;
            }
            if (number == SIGCONT || number == SIGWINCH)
                return number == SIGCONT ? WAKE_RESUMED : WAKE_RESIZED;
        } else if (wanted[1].revents) {
            return WAKE_INPUT;
        }
    }
}

bool input_waits(void)
{
    struct pollfd wanted = {STDIN_FILENO, POLLIN, 0};
    return poll(&wanted, 1, 0) > 0;
}
