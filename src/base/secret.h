/* Passwords and signatures within addresses, which are neither kept nor shown. */
#ifndef RQL_BASE_SECRET_H
#define RQL_BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

/* Replaces each byte of a password, SCHEME://USER:PASSWORD@HOST, and of the value of a parameter such as
 * SCHEME://HOST/PATH?sig=VALUE by `*`; returns whether there were any. A password may have any character: it ends at
 * the last `@` of its address. HOST:PORT/PATH with an `@` in the path has none. `cut`: addresses may end before
 * the `@`, as words in messages do, so that what is no port is a password. */
bool secrets_mask(char *text, size_t length, bool cut);

#endif
