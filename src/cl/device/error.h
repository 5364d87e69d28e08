/* OpenCL errors as text. */
#ifndef RQL_CL_DEVICE_ERROR_H
#define RQL_CL_DEVICE_ERROR_H

#include "base/diag.h"
#include "base/strbuf.h"

#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

/* The first call that failed since the last report. */
struct failure {
    const char *call; /* "clEnqueueNDRangeKernel"; NULL: nothing failed */
    cl_int code;
};

/* "CL_OUT_OF_RESOURCES" for -5; "error -9999" for what no standard names. */
const char *cl_error_name(cl_int code);

/* Whether the device ran out of memory, possibly in an earlier allocation. */
bool cl_error_is_memory(cl_int code);

/* True if the code is CL_SUCCESS; else records the failure, unless there is an earlier one. */
bool cl_ok(struct failure *failure, const char *call, cl_int code);

/* "clBuildProgram on DEVICE gave CL_BUILD_PROGRAM_FAILURE (-11)". */
void cl_failure_text(const struct failure *failure, const char *device, struct strbuf *out);

/* Records the failure as a note about `device`, clears it and returns STATUS_UNABLE: another backend may run the task.
 */
enum status cl_report(struct failure *failure, const char *device, struct diags *diags);

#endif
