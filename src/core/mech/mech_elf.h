/* mech_elf.h: whether the file of a plug-in is whole. */
#ifndef HEDDLE_MECH_ELF_H
#define HEDDLE_MECH_ELF_H

#include "base/base.h"

/* Returns what is wrong with the file, or NULL. dlopen maps what the headers name and touches it: where the
 * file ends before, the process gets a signal. What else is wrong with a file dlopen says itself. */
const char *mech_elf_fault(const char *path);

#endif
