#include "engine/plan/result.h"

void result_release(struct result *result)
{
    relation_unref(result->relation);
    *result = (struct result){.kind = RESULT_NONE, .show_rows = -1};
}
