#include "repl/print/print_guard.h"

#include "engine/storage/file_errors.h"

bool print_relieve(struct printer *out, const struct relation *relation)
{
    const bool damaged = printer_is_full(out) && changed_column(relation->columns, relation->count);
    return !damaged && printer_relieve(out);
}
