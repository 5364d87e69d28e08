/* A terminal in raw mode: the screen that is given back as it was, and the keys that are pressed. */
#ifndef RQL_REPL_GRID_RAW_TERMINAL_H
#define RQL_REPL_GRID_RAW_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

/* A key: a byte of text, or one of these. */
enum key {
    KEY_ENTER = '\r',
    KEY_ESCAPE = 27,
    KEY_BACKSPACE = 127,
    KEY_UP = 256,
    KEY_DOWN,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_HOME,
    KEY_END,
    KEY_OTHER,   /* one without a meaning here */
    KEY_RESIZED, /* the terminal has another size, or was stopped and goes on */
    KEY_INTERRUPT,
    KEY_CLOSED /* the input has ended */
};

struct raw_terminal {
    int fd;      /* the terminal */
    int signals; /* a non-blocking pipe of the numbers of caught signals */
    struct termios before;
    bool raw;
};

/* Switches to raw mode and the alternate screen. Ctrl-C still sends SIGINT. False: it is no terminal. */
bool terminal_open(struct raw_terminal *terminal);

/* Gives the terminal and its screen back as they were. */
void terminal_close(struct raw_terminal *terminal);

/* The width and height of the screen, which are kept as they are if the terminal does not know them. */
void terminal_size(const struct raw_terminal *terminal, size_t *width, size_t *height);

/* Waits for a key. */
int terminal_read_key(struct raw_terminal *terminal);

#endif
