/* libcuda_export.h: the parts of cuGetExportTable. */
#ifndef HEDDLE_LIBCUDA_EXPORT_H
#define HEDDLE_LIBCUDA_EXPORT_H

#include "cuda/libcuda.h"

CUresult integrity_answer(uint32_t version, uint64_t unix_seconds, const void *runtime_table,
                          const void *integrity_table, const void *function, uint64_t out[2]);

#endif
