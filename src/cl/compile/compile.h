/* Compiles programs, and the keys under which they are cached. */
#ifndef RQL_CL_COMPILE_COMPILE_H
#define RQL_CL_COMPILE_COMPILE_H

#include "cl/compile/program_cache.h"
#include "cl/device/device.h"

/* A key of everything a compiled program depends on: versions of rql and the driver, the device, options, the text. To
 * be freed. */
struct blob compile_key(const struct device *device, const char *text);

/* The text in a key; NULL if the key is invalid or of another device. */
const char *compile_text(const struct blob *key, const struct device *device);

/* Builds a program, with options in addition to the default ones. NULL if that fails, with the failure set and the
 * compiler's output appended to `log`. */
cl_program compile_source(cl_context context, const struct device *device, const char *text, const char *more_options,
                          struct failure *failure, struct strbuf *log);

/* compile_save stores the binary of a program, to be freed, and compile_load creates a program from it. On failure they
 * return false or NULL and set `failure`. */
bool compile_save(cl_program program, struct blob *binary, struct failure *failure);
cl_program compile_load(cl_context context, const struct device *device, const struct blob *binary,
                        struct failure *failure);

/* The main function of the compiler process (compile_client.h): rql run with this word, the number of the device, and
 * optionally the cache directory as arguments. */
extern const char compile_role[];
int compile_serve(int argc, char **argv);

#endif
