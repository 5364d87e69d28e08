#include "base/progress.h"

#include <stddef.h>

void progress_tell(struct progress *progress, const struct advance *advance)
{
    if (progress)
        progress->tell(progress, advance);
}
