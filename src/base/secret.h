/* Passwords and signatures within addresses, which are neither kept nor shown. */
#ifndef RQL_BASE_SECRET_H
#define RQL_BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

/* Whether byte `at` is of a password, SCHEME://USER:PASSWORD@HOST, or of the value of a parameter such as
 * SCHEME://HOST/PATH?sig=VALUE. Looks at some hundred bytes around it. */
bool text_is_secret(const char *text, size_t length, size_t at);

#endif
