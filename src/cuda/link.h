/* link.h: several PTX modules made one (relocatable device code, cuLink*). */
#ifndef HEDDLE_LINK_H
#define HEDDLE_LINK_H

#include "ptx/ptx.h"

/* Joins the modules into *out. The result points into the inputs, which are changed and must outlive it;
 * lower it, then link_free(out), then free the inputs. False on error (multiple definition, missing
 * definition, mixed word sizes). */
bool link_modules(const char *name, struct ptx_module *const *modules, uint32_t count, struct ptx_module *out,
                  struct diag_list *diags);
void link_free(struct ptx_module *out);

#endif
