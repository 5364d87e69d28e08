#include "sql/wire/query.h"

#include "base/strbuf.h"

/* Those that a server does not have are left alone. */
static const struct pinned {
    const char *name, *value;
} pinned[] = {
    {"skip_unavailable_shards", "0"},
    {"distributed_group_by_no_merge", "0"},
    {"read_overflow_mode", "throw"},
    {"read_overflow_mode_leaf", "throw"},
    {"result_overflow_mode", "throw"},
    {"timeout_overflow_mode", "throw"},
    {"group_by_overflow_mode", "throw"},
    {"sort_overflow_mode", "throw"},
    {"set_overflow_mode", "throw"},
    {"join_overflow_mode", "throw"},
    {"transfer_overflow_mode", "throw"},
    {"distinct_overflow_mode", "throw"},
    {"limit", "0"},
    {"offset", "0"},
    {"extremes", "0"},
    {"use_query_cache", "0"},
    {"apply_deleted_mask", "1"},
    {"additional_result_filter", ""},
    {"output_format_native_encode_types_in_binary_format", "0"},
};

static const char *wanted_value(struct text name)
{
    const struct pinned *setting = row_of_text(pinned, sizeof pinned / sizeof *pinned, sizeof *pinned, name);
    return setting ? setting->value : NULL;
}

static bool is_setting(const struct query_texts *answer, int64_t row)
{
    return text_is(query_text(answer, 2, row), "setting");
}

/* Whether the user may not change settings: `readonly` is 1. */
static bool is_fixed(const struct query_texts *answer)
{
    for (int64_t row = 0; row < answer->rows; row++) {
        if (is_setting(answer, row) && text_is(query_text(answer, 0, row), "readonly"))
            return text_is(query_text(answer, 1, row), "1");
    }
    return false;
}

void server_settings_ask(struct strbuf *sql)
{
    strbuf_puts(sql, "SELECT name AS rql_0, value AS rql_1, 'setting' AS rql_2 FROM system.settings WHERE name IN "
                     "('readonly'");
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++)
        strbuf_printf(sql, ", '%s'", pinned[i].name);
    strbuf_puts(sql, ")");
}

enum status server_settings_pin(struct http *http, const char *server, const struct query_texts *answer, bool *changed,
                                struct span span, struct diags *diags)
{
    struct strbuf changes = {0};
    const bool fixed = is_fixed(answer);
    enum status status = STATUS_OK;
    for (int64_t row = 0; row < answer->rows && status == STATUS_OK; row++) {
        const struct text name = query_text(answer, 0, row), value = query_text(answer, 1, row);
        const char *wanted = is_setting(answer, row) ? wanted_value(name) : NULL;
        if (!wanted || text_is(value, wanted))
            continue;
        if (fixed) {
            diag_error(diags, span, "`%s` has the setting %.*s = %.*s, which can leave rows out without a word", server,
                       (int)name.length, name.at, (int)value.length, value.at);
            diag_hint(diags, "the user's profile is readonly = 1 and forbids to change it: readonly = 2 allows that");
            status = STATUS_FAILED;
        }
        strbuf_printf(&changes, "&%.*s=%s", (int)name.length, name.at, wanted);
    }
    *changed = changes.length > 0;
    if (status == STATUS_OK && *changed)
        http_set_settings(http, changes.text);
    strbuf_free(&changes);
    return status;
}
