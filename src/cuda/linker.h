/* linker.h: links several PTX modules into one (relocatable device code, cuLink*). */
#ifndef HEDDLE_CUDA_LINKER_H
#define HEDDLE_CUDA_LINKER_H

#include "ptx/ptx.h"

/* Joins the modules into *out. The result points into the inputs, which are changed and must outlive it;
 * lower it, then linked_free(out), then free the inputs. False on error (multiple definition, missing
 * definition, mixed word sizes). */
bool linked_modules(const char *name, struct ptx_module *const *modules, uint32_t count,
                    struct ptx_module *out, struct diag_list *diags);
void linked_free(struct ptx_module *out);

#endif
