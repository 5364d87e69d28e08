#include "engine/env/read_column.h"

#include "engine/formats/file_cache.h"

enum status read_column(const struct env *env, struct column **column, struct span span, struct diags *diags)
{
    file_cache_renew(env->file_cache, column, 1);
    return (*column)->unread ? file_cache_read(env->file_cache, column, 1, span, diags) : STATUS_OK;
}
