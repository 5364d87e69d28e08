/* The settings of AWS's own programs: the environment comes before their files. */
#include "engine/remote/address.h"

#include "base/strbuf.h"
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text between blanks, in place. */
static char *trimmed(char *text)
{
    text += strspn(text, " \t\r\n");
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return text;
}

static void set(const char **value, const char *text, struct arena *arena)
{
    if (!*value && *text)
        *value = arena_text(arena, text, strlen(text));
}

static void take_pair(struct aws_settings *settings, const char *name, const char *value, struct arena *arena)
{
    static const char *const other_ways[] = {"sso_session", "sso_start_url", "role_arn", "credential_process",
                                             "login_session"};
    if (strcmp(name, "aws_access_key_id") == 0)
        set(&settings->key, value, arena);
    else if (strcmp(name, "aws_secret_access_key") == 0)
        set(&settings->secret, value, arena);
    else if (strcmp(name, "aws_session_token") == 0)
        set(&settings->token, value, arena);
    else if (strcmp(name, "region") == 0)
        set(&settings->region, value, arena);
    else if (strcmp(name, "endpoint_url") == 0)
        set(&settings->endpoint, value, arena);
    for (size_t i = 0; i < sizeof other_ways / sizeof *other_ways; i++) {
        if (strcmp(name, other_ways[i]) == 0)
            settings->lacks = other_ways[i];
    }
}

/* Reads a section, [NAME] or [profile NAME], of a file of `name = value`. Lines that are indented belong to the value
 * before them. */
static void read_file(const char *path, const char *profile, struct aws_settings *settings, struct arena *arena)
{
    FILE *file = path ? fopen(path, "re") : NULL;
    char *line = NULL;
    size_t capacity = 0;
    bool within = false;
    const char *long_name = arena_printf(arena, "profile %s", profile);
    while (file && getline(&line, &capacity, file) >= 0) {
        if (isspace((unsigned char)*line) || *line == '#' || *line == ';')
            continue;
        char *text = trimmed(line), *equals = strchr(text, '=');
        const size_t length = strlen(text);
        if (*text == '[' && length > 1 && text[length - 1] == ']') {
            text[length - 1] = '\0';
            const char *name = trimmed(text + 1);
            within = strcmp(name, profile) == 0 || strcmp(name, long_name) == 0;
            settings->no_profile = settings->no_profile && !within;
        } else if (within && equals) {
            *equals = '\0';
            const char *name = trimmed(text);
            take_pair(settings, name, trimmed(equals + 1), arena);
        }
    }
    free(line);
    if (file)
        (void)fclose(file);
}

static const char *file_path(const char *name, const char *base, struct arena *arena)
{
    const char *path = set_variable(name), *home = set_variable("HOME");
    return path ? path : home ? arena_printf(arena, "%s/.aws/%s", home, base) : NULL;
}

struct aws_settings aws_settings_read(struct arena *arena)
{
    struct aws_settings settings = {.key = set_variable("AWS_ACCESS_KEY_ID"),
                                    .secret = set_variable("AWS_SECRET_ACCESS_KEY"),
                                    .token = set_variable("AWS_SESSION_TOKEN"),
                                    .region = set_variable("AWS_REGION"),
                                    .endpoint = set_variable("AWS_ENDPOINT_URL_S3"),
                                    .profile = set_variable("AWS_PROFILE")};
    const bool complete = settings.key && settings.secret;
    struct aws_settings own = {.no_profile = settings.profile};
    settings.region = settings.region ? settings.region : set_variable("AWS_DEFAULT_REGION");
    settings.endpoint = settings.endpoint ? settings.endpoint : set_variable("AWS_ENDPOINT_URL");
    settings.profile = settings.profile ? settings.profile : "default";
    read_file(file_path("AWS_SHARED_CREDENTIALS_FILE", "credentials", arena), settings.profile, &own, arena);
    read_file(file_path("AWS_CONFIG_FILE", "config", arena), settings.profile, &own, arena);
    if (!complete) { /* parts of two do not fit together */
        const bool has = own.key && own.secret;
        settings.key = has ? own.key : NULL;
        settings.secret = has ? own.secret : NULL;
        settings.token = has ? own.token : NULL;
        settings.lacks = has ? NULL : own.lacks;
    }
    settings.no_profile = own.no_profile;
    settings.region = settings.region ? settings.region : own.region ? own.region : "us-east-1";
    settings.endpoint = settings.endpoint ? settings.endpoint : own.endpoint;
    return settings;
}
