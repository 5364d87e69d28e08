#include "sql/wire/server_error.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The length of a message without the error's name, which servers of today put behind it: " (UNKNOWN_DATABASE)". */
static size_t without_name(const char *message, size_t length)
{
    if (length == 0 || message[length - 1] != ')')
        return length;
    size_t begin = length - 1;
    while (begin > 0 && (isupper((unsigned char)message[begin - 1]) || message[begin - 1] == '_' ||
                         isdigit((unsigned char)message[begin - 1])))
        begin--;
    return begin > 1 && begin < length - 1 && message[begin - 1] == '(' && message[begin - 2] == ' ' ? begin - 2
                                                                                                     : length;
}

/* A server tells what another one told it, and that of each that it tried: the last says what was wrong. */
static char *innermost(char *message)
{
    static const char *const names[] = {"DB::Exception: ", "DB::NetException: "};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (char *at = message; (at = strstr(at, names[i]));)
            message = at += strlen(names[i]);
    }
    return message;
}

bool server_error_parse(const char *text, size_t length, struct arena *arena, struct server_error *error)
{
    static const char start[] = "Code: ", of_library[] = "Poco::Exception. ", own[] = "e.displayText() = ";
    if (length > strlen(of_library) && memcmp(text, of_library, strlen(of_library)) == 0) {
        text += strlen(of_library);
        length -= strlen(of_library);
    }
    if (length < strlen(start) || memcmp(text, start, strlen(start)) != 0)
        return false;
    char *copy = arena_text(arena, text, length);
    error->code = atoi(copy + strlen(start));
    char *message = strstr(copy, own) ? strstr(copy, own) + strlen(own) : copy;
    message = innermost(message);
    static const char *const ends[] = {", e.what() = ", " (version ", ", Stack trace"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char *end = strstr(message, ends[i]);
        if (end)
            *end = '\0';
    }
    size_t rest = without_name(message, strlen(message));
    while (rest > 0 && (isspace((unsigned char)message[rest - 1]) || message[rest - 1] == '.'))
        message[--rest] = '\0';
    error->message = message;
    return true;
}

bool server_error_find(const char *text, size_t length, struct arena *arena, struct server_error *error)
{
    static const char start[] = "Code: ", name[] = "DB::Exception";
    enum { MOST_BEFORE = 64 };
    const char *end = text + length, *at = length > SERVER_ERROR_BYTES ? end - SERVER_ERROR_BYTES : text;
    for (; (at = memmem(at, (size_t)(end - at), start, strlen(start))); at++) {
        const size_t rest = (size_t)(end - at);
        if (memmem(at, rest < MOST_BEFORE ? rest : MOST_BEFORE, name, strlen(name)))
            return server_error_parse(at, rest, arena, error);
    }
    return false;
}

bool server_error_is_refusal(int code)
{
    return code == SERVER_UNKNOWN_USER || code == SERVER_WRONG_PASSWORD || code == SERVER_REQUIRED_PASSWORD ||
           code == SERVER_ADDRESS_NOT_ALLOWED || code == SERVER_AUTHENTICATION_FAILED;
}

bool server_error_is_lost(int code)
{
    static const int codes[] = {SERVER_ATTEMPT_TO_READ_AFTER_EOF,
                                SERVER_CANNOT_READ_ALL_DATA,
                                SERVER_UNEXPECTED_PACKET,
                                SERVER_SOCKET_TIMEOUT,
                                SERVER_NETWORK_ERROR,
                                SERVER_ALL_CONNECTION_TRIES_FAILED,
                                SERVER_NO_REMOTE_SHARD_AVAILABLE};
    bool lost = false;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        lost = lost || codes[i] == code;
    return lost;
}

enum status server_error_report(const struct server_error *error, const char *server, struct span span,
                                struct diags *diags)
{
    static const struct {
        int code;
        const char *hint;
    } hints[] = {
        {SERVER_MEMORY_LIMIT_EXCEEDED, "`select` fewer rows or `pick` fewer columns first, or have the server's "
                                       "administrator raise `max_memory_usage`"},
        {SERVER_TIMEOUT_EXCEEDED, "`select` fewer rows first, or have the server's administrator raise "
                                  "`max_execution_time`"},
        {SERVER_TOO_MANY_ROWS, "`select` fewer rows first, or have the server's administrator raise "
                               "`max_rows_to_read`"},
        {SERVER_TOO_MANY_BYTES, "`select` fewer rows or `pick` fewer columns first, or have the server's "
                                "administrator raise `max_bytes_to_read`"},
        {SERVER_TOO_MANY_QUERIES, "try again when the queries of others have ended"},
    };
    if (server_error_is_lost(error->code))
        return diag_error_hint(diags, span, "all servers of a table have to answer, of replicas one; try again later",
                               "`%s` has lost one of the servers of this table: %s", server, error->message);
    diag_error(diags, span, "`%s`: %s", server, error->message);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        if (hints[i].code == error->code)
            diag_hint(diags, "%s", hints[i].hint);
    }
    return STATUS_FAILED;
}
