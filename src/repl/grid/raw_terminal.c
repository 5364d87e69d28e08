#include "repl/grid/raw_terminal.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { ESCAPE_MS = 50 /* after Escape the rest of a key's sequence arrives at once */ };

static bool write_all(int fd, const char *text)
{
    const size_t length = strlen(text);
    return write(fd, text, length) == (ssize_t)length;
}

bool terminal_open(struct raw_terminal *terminal)
{
    if (tcgetattr(terminal->fd, &terminal->before) != 0)
        return false;
    struct termios raw = terminal->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
    raw.c_iflag &= ~(tcflag_t)(ICRNL | IXON);
    raw.c_cc[VSUSP] = raw.c_cc[VQUIT] = _POSIX_VDISABLE;
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    terminal->raw = tcsetattr(terminal->fd, TCSADRAIN, &raw) == 0;
    return terminal->raw && write_all(STDOUT_FILENO, "\033[?1049h\033[?25l\033[?1h\033=");
}

void terminal_close(struct raw_terminal *terminal)
{
    if (!terminal->raw)
        return;
    (void)write_all(STDOUT_FILENO, "\033[?1l\033>\033[?25h\033[?1049l");
    (void)tcsetattr(terminal->fd, TCSADRAIN, &terminal->before);
}

void terminal_size(const struct raw_terminal *terminal, size_t *width, size_t *height)
{
    struct winsize size;
    if (ioctl(terminal->fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
        return;
    *width = size.ws_col;
    *height = size.ws_row;
}

/* The next byte, if there is one within the time (-1: however long); else a key without a text. */
static int read_byte(struct raw_terminal *terminal, int milliseconds)
{
    struct pollfd wanted[] = {{terminal->fd, POLLIN, 0}, {terminal->signals, POLLIN, 0}};
    unsigned char byte;
    const int ready = poll(wanted, 2, milliseconds);
    if (ready == 0)
        return KEY_OTHER;
    if (ready > 0 && wanted[1].revents) {
        if (read(terminal->signals, &byte, 1) != 1)
            return KEY_RESIZED;
        return byte == SIGINT ? KEY_INTERRUPT : byte == SIGWINCH || byte == SIGCONT ? KEY_RESIZED : KEY_CLOSED;
    }
    if (ready < 0)
        return errno == EINTR ? KEY_RESIZED : KEY_CLOSED;
    return read(terminal->fd, &byte, 1) == 1 ? byte : KEY_CLOSED;
}

/* The keys that end a sequence: a letter, or ~ after a number. */
static int key_of_letter(int letter)
{
    static const struct {
        char letter;
        int key;
    } keys[] = {{'A', KEY_UP}, {'B', KEY_DOWN}, {'C', KEY_RIGHT}, {'D', KEY_LEFT}, {'H', KEY_HOME}, {'F', KEY_END}};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        if (keys[k].letter == letter)
            return keys[k].key;
    }
    return KEY_OTHER;
}

static int key_of_number(int number)
{
    switch (number) {
    case 1:
    case 7:
        return KEY_HOME;
    case 4:
    case 8:
        return KEY_END;
    case 5:
        return KEY_PAGE_UP;
    case 6:
        return KEY_PAGE_DOWN;
    default:
        return KEY_OTHER;
    }
}

int terminal_read_key(struct raw_terminal *terminal)
{
    const int first = read_byte(terminal, -1);
    if (first != KEY_ESCAPE)
        return first == '\n' ? KEY_ENTER : first == '\b' ? KEY_BACKSPACE : first;
    const int second = read_byte(terminal, ESCAPE_MS);
    if (second == KEY_OTHER)
        return KEY_ESCAPE;
    if (second != '[' && second != 'O')
        return second > UCHAR_MAX ? second : KEY_OTHER;
    int number = 0, at = read_byte(terminal, ESCAPE_MS);
    for (; (at >= '0' && at <= '9') || at == ';'; at = read_byte(terminal, ESCAPE_MS))
        number = at == ';' ? number : number * 10 % 1000 + at - '0';
    return at == '~' ? key_of_number(number) : key_of_letter(at);
}
