#include "engine/storage/file_changed.h"

#include "engine/storage/mapped_file.h"

const struct column *changed_column(struct column *const *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (columns[i]->mapping && mapping_changed(columns[i]->mapping))
            return columns[i];
    }
    return NULL;
}

enum status file_changed_error(const struct column *column, struct span span, struct diags *diags)
{
    diag_error(diags, span, "`%s` was truncated or rewritten after it was opened", mapping_path(column->mapping));
    diag_hint(diags, "nothing was printed or saved; load it again once it is complete. Replacing a file by renaming a "
                     "new one over it is safe");
    return STATUS_FAILED;
}
