/* rt_driver.h: functions of the driver API, found by name. */
#ifndef HEDDLE_RT_DRIVER_H
#define HEDDLE_RT_DRIVER_H

#include "cuda/cuda_runtime_types.h"

/* result may be NULL; then a name that is not found is an error. */
cudaError_t rt_driver_find(const char *symbol, int version, unsigned long long flags, void **out,
                           enum cudaDriverEntryPointQueryResult *result);

#endif
