/* mech_elf.h: whether the file of a plug-in is complete. */
#ifndef HEDDLE_MECH_ELF_H
#define HEDDLE_MECH_ELF_H

#include "base/base.h"

/* Returns what is wrong with the file, or NULL. dlopen maps the segments that the headers name and reads
 * them: where the file ends before their end, the process gets a signal. dlopen itself reports all other
 * faults of a file. */
const char *mech_elf_fault(const char *path);

#endif
