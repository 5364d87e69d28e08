#include "base/progress.h"

void progress_report(struct progress *progress, const struct progress_step *advance)
{
    if (progress)
        progress->report(progress, advance);
}
