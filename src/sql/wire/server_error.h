/* Exceptions of a ClickHouse server, as they stand in its answers:
 *
 *   Code: 60, e.displayText() = DB::Exception: Table db.t doesn't exist., e.what() = DB::Exception      (until 19)
 *   Code: 60. DB::Exception: Table db.t doesn't exist. (UNKNOWN_TABLE) (version 23.8.1.1 (official build))  (since 20)
 */
#ifndef RQL_SQL_WIRE_SERVER_ERROR_H
#define RQL_SQL_WIRE_SERVER_ERROR_H

#include "base/diag.h"

#include <stdbool.h>

struct server_error {
    int code;
    const char *message; /* without what surrounds it */
};

/* Whether the text begins with an exception. */
bool server_error_parse(const char *text, size_t length, struct arena *arena, struct server_error *error);

/* Finds an exception among the last SERVER_ERROR_BYTES bytes of an answer. */
enum { SERVER_ERROR_BYTES = 1 << 14 };
bool server_error_find(const char *text, size_t length, struct arena *arena, struct server_error *error);

/* Reports the exception of `server`, with what to do about it if that is known. STATUS_FAILED. */
enum status server_error_report(const struct server_error *error, const char *server, struct span span,
                                struct diags *diags);

/* Codes of src/Common/ErrorCodes.cpp there. */
enum {
    SERVER_TOO_MANY_ROWS = 158,
    SERVER_TIMEOUT_EXCEEDED = 159,
    SERVER_CANNOT_READ_ALL_DATA = 33,
    SERVER_ATTEMPT_TO_READ_AFTER_EOF = 32,
    SERVER_UNEXPECTED_PACKET = 101,
    SERVER_SOCKET_TIMEOUT = 209,
    SERVER_NETWORK_ERROR = 210,
    SERVER_ALL_CONNECTION_TRIES_FAILED = 279,
    SERVER_NO_REMOTE_SHARD_AVAILABLE = 519,
    SERVER_READONLY = 164,
    SERVER_UNKNOWN_USER = 192,
    SERVER_WRONG_PASSWORD = 193,
    SERVER_REQUIRED_PASSWORD = 194,
    SERVER_ADDRESS_NOT_ALLOWED = 195,
    SERVER_TOO_MANY_QUERIES = 202,
    SERVER_MEMORY_LIMIT_EXCEEDED = 241,
    SERVER_TOO_MANY_BYTES = 307,
    SERVER_AUTHENTICATION_FAILED = 516
};

/* Whether the server does not accept the user. */
bool server_error_is_refusal(int code);

/* Whether a connection between servers was refused or broke off. */
bool server_error_is_lost(int code);

#endif
