/* What wakes the line editor: keys and signals. */
#ifndef RQL_REPL_LINE_WAKE_H
#define RQL_REPL_LINE_WAKE_H

#include "repl/session/platform.h"

#include <stdbool.h>

enum wake { WAKE_INPUT, WAKE_INTERRUPT, WAKE_RESUMED, WAKE_RESIZED, WAKE_LEAVE };

/* Waits for a key or a signal. Signals come through a pipe: a flag looked at before poll could be set in between. */
enum wake wait_for_wake(const struct platform *platform);

/* Forgets the signals caught so far. */
void discard_signals(const struct platform *platform);

/* Whether more has been typed or pasted: the line is drawn in colours after it. */
bool input_waits(void);

#endif
