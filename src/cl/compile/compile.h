/* Compiling a program's text, and what a compiled one is known by. */
#ifndef RQL_CL_COMPILE_COMPILE_H
#define RQL_CL_COMPILE_COMPILE_H

#include "cl/compile/program_cache.h"
#include "cl/device/device.h"

/* Everything that a compiled program depends on: versions of rql and of the driver, the device, options, the text. To
 * be freed. */
struct blob compile_key(const struct device *device, const char *text);

/* The text in a key; NULL if the key is not this device's, or none at all. */
const char *compile_text(const struct blob *key, const struct device *device);

/* A built program, with options beside the usual ones; NULL, with the failure and what the compiler had to say appended
 * to `log`, if it does not build. */
cl_program compile_source(cl_context context, const struct device *device, const char *text, const char *more_options,
                          struct failure *failure, struct strbuf *log);

/* What compile_load takes in another process: to be freed. False with the failure. */
bool compile_save(cl_program program, struct blob *binary, struct failure *failure);
cl_program compile_load(cl_context context, const struct device *device, const struct blob *binary,
                        struct failure *failure);

/* rql in the role of the process that compiles for others (compile_client.h). Its arguments are this word, the number
 * of the device, and the directory of what is kept if there is one. */
extern const char compile_role[];
int compile_serve(int argc, char **argv);

#endif
