#include "engine/remote/address.h"

#include "base/path.h"
#include "base/strbuf.h"

#include <string.h>
#include <strings.h>

static const char http[] = "http://", https[] = "https://", s3[] = "s3://";

static bool begins_with(const char *text, const char *start)
{
    return strncasecmp(text, start, strlen(start)) == 0;
}

/* Appends a text with %XX for all bytes but those of `plain`, letters and digits. */
static void add_escaped(struct strbuf *out, const char *text, const char *plain)
{
    static const char always[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    for (; *text; text++) {
        if (strchr(always, *text) || strchr(plain, *text))
            strbuf_putc(out, *text);
        else
            strbuf_printf(out, "%%%02X", (unsigned char)*text);
    }
}

static enum status wrong(struct diags *diags, struct span span, const char *problem)
{
    return diag_error_hint(diags, span, "as in `https://HOST/PATH` or `s3://BUCKET/KEY`", "%s", problem);
}

static enum status parse_http(const char *path, struct address *address, struct span span, struct diags *diags)
{
    address->secure = begins_with(path, https);
    const char *server = path + strlen(address->secure ? https : http);
    const size_t length = strcspn(server, "/?#");
    if (memchr(server, '@', length))
        return diag_error_hint(diags, span,
                               address->secure
                                   ? "put them into ~/.netrc: machine HOST login USER password PASSWORD"
                                   : "with https:// they are read from ~/.netrc; over http:// anybody could read them",
                               "an address holds no user and no password");
    if (length == 0 || strcspn(server, " \t\"'\\<>%") < length)
        return wrong(diags, span, "the address names no host");
    address->host = arena_text(diags->arena, server, length);
    address->shown = path_display(arena_printf(diags->arena, "%.*s%s", (int)strcspn(path, "?#"), path,
                                               path[strcspn(path, "?#")] == '?' ? "?..." : ""),
                                  diags->arena);
    struct strbuf url = {0};
    /* What is escaped stays so. */
    add_escaped(&url, arena_text(diags->arena, path, strcspn(path, "#")), "-._~:/?[]@!$&'()*+,;=%");
    address->url = strbuf_take(&url, diags->arena);
    return STATUS_OK;
}

/* BUCKET.s3.REGION.amazonaws.com, or ENDPOINT/BUCKET; the certificate of AWS is not for names with dots before it. */
static void set_s3_url(struct address *address, const char *key, struct arena *arena)
{
    struct strbuf url = {0};
    const char *bucket = address->bucket, *endpoint = address->aws.endpoint, *region = address->aws.region;
    if (endpoint) {
        const size_t length = strlen(endpoint);
        strbuf_printf(&url, "%.*s/%s/", (int)(length - (length > 0 && endpoint[length - 1] == '/')), endpoint, bucket);
        address->secure = begins_with(endpoint, https);
    } else {
        if (strchr(bucket, '.'))
            strbuf_printf(&url, "https://s3.%s.amazonaws.com/%s/", region, bucket);
        else
            strbuf_printf(&url, "https://%s.s3.%s.amazonaws.com/", bucket, region);
        address->secure = true;
    }
    add_escaped(&url, key, "-._~/");
    address->url = strbuf_take(&url, arena);
    const char *host = strstr(address->url, "://") + strlen("://");
    address->host = arena_text(arena, host, strcspn(host, "/"));
}

static const char *s3_key(const char *path)
{
    const char *bucket = path + strlen(s3), *slash = strchr(bucket, '/');
    return slash ? slash + 1 : bucket + strlen(bucket);
}

static enum status parse_bucket(const char *path, struct address *address, struct span span, struct diags *diags)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    const char *bucket = path + strlen(s3);
    *address = (struct address){.s3 = true, .shown = path_display(path, diags->arena)};
    address->bucket = arena_text(diags->arena, bucket, strcspn(bucket, "/"));
    address->aws = aws_settings_read(diags->arena);
    const char *endpoint = address->aws.endpoint;
    if (!*address->bucket || strspn(address->bucket, allowed) < strlen(address->bucket))
        return wrong(diags, span, "the address names no bucket");
    if (address->aws.no_profile && !address->aws.key)
        return diag_error(diags, span,
                          "AWS_PROFILE is `%s`, which is no profile of ~/.aws/credentials or ~/.aws/config",
                          address->aws.profile);
    if (endpoint && !begins_with(endpoint, http) && !begins_with(endpoint, https))
        return diag_error_hint(diags, span, "as in `AWS_ENDPOINT_URL=http://localhost:9000`",
                               "the endpoint of S3 is no address: `%s`", endpoint);
    return STATUS_OK;
}

static enum status parse_s3(const char *path, struct address *address, struct span span, struct diags *diags)
{
    const char *key = s3_key(path);
    if (parse_bucket(path, address, span, diags) != STATUS_OK)
        return STATUS_FAILED;
    if (!*key)
        return wrong(diags, span, "the address names no object of the bucket");
    set_s3_url(address, key, diags->arena);
    return STATUS_OK;
}

enum status address_parse_list(const char *path, struct address *address, const char **pattern, struct span span,
                               struct diags *diags)
{
    *pattern = s3_key(path);
    return parse_bucket(path, address, span, diags);
}

void address_set_list(struct address *address, const char *pattern, const char *token, struct arena *arena)
{
    static const char plain[] = "-._~";
    struct strbuf url = {0};
    set_s3_url(address, "", arena);
    /* In the order of their names, which the signature needs. */
    strbuf_printf(&url, "%s?", address->url);
    if (token) {
        strbuf_puts(&url, "continuation-token=");
        add_escaped(&url, token, plain);
        strbuf_putc(&url, '&');
    }
    strbuf_puts(&url, "list-type=2&prefix=");
    add_escaped(&url, arena_text(arena, pattern, strcspn(pattern, "*?[")), plain);
    address->url = strbuf_take(&url, arena);
}

enum status address_parse(const char *path, struct address *address, struct span span, struct diags *diags)
{
    *address = (struct address){0};
    return begins_with(path, s3) ? parse_s3(path, address, span, diags) : parse_http(path, address, span, diags);
}

void address_set_region(struct address *address, const char *path, const char *region, struct arena *arena)
{
    address->aws.region = arena_text(arena, region, strlen(region));
    set_s3_url(address, s3_key(path), arena);
}
