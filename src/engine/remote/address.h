/* Addresses of files: https://HOST/PATH, http://HOST/PATH, and s3://BUCKET/KEY, which stands for one of these. */
#ifndef RQL_ENGINE_REMOTE_ADDRESS_H
#define RQL_ENGINE_REMOTE_ADDRESS_H

#include "base/diag.h"

/* Where objects of S3 are and who asks for them, by the environment and the files of AWS's own programs. */
struct aws_settings {
    const char *region;   /* never NULL */
    const char *endpoint; /* NULL: AWS's own */
    const char *key, *secret;
    const char *token;   /* NULL: none */
    const char *lacks;   /* what a profile has instead of keys, such as sso_session; NULL: nothing */
    const char *profile; /* the one that was read */
    bool no_profile;     /* AWS_PROFILE names one that is in neither file */
};

/* Reads AWS_..., ~/.aws/credentials and ~/.aws/config; texts are in the arena. */
struct aws_settings aws_settings_read(struct arena *arena);

struct address {
    const char *shown; /* for messages: without what follows `?`, which may be a signature */
    const char *url;   /* to be requested */
    const char *moved; /* where the redirects of the first request have led; NULL: nowhere else */
    const char *host;  /* for messages */
    bool secure;       /* https */
    bool s3;
    const char *bucket;      /* of S3 */
    struct aws_settings aws; /* of S3; without a key the request is not signed */
};

/* Takes the address apart; texts are in the arena of `diags`. An address with a password is an error. */
enum status address_parse(const char *path, struct address *address, struct span span, struct diags *diags);

/* The same of an address of S3 that stands for several objects: what follows the bucket is *pattern, and the address is
 * to be set by address_set_list. */
enum status address_parse_list(const char *path, struct address *address, const char **pattern, struct span span,
                               struct diags *diags);

/* Makes it the request for the keys that begin as the pattern, behind those before `token`; NULL: the first. */
void address_set_list(struct address *address, const char *pattern, const char *token, struct arena *arena);

/* Makes an address of S3 one in another region. */
void address_set_region(struct address *address, const char *path, const char *region, struct arena *arena);

#endif
