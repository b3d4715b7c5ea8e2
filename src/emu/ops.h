/* ops.h: inside the emulator: each file of instructions puts its rows into the table of the device. */
#ifndef HEDDLE_EMU_OPS_H
#define HEDDLE_EMU_OPS_H

#include "emu/exec.h"

/* Loads, stores, cp.async, prefetch, isspacep. */
void ops_memory(exec_fn **table);
void ops_atomic(exec_fn **table);
void ops_texture(exec_fn **table);
void ops_surface(exec_fn **table);
/* Shuffles, votes, special registers, indirect moves. */
void ops_warp(exec_fn **table);
/* Waiting for member masks. */
void ops_sync(exec_fn **table);
void ops_barrier(exec_fn **table);
/* Mbarriers, cp.async.bulk. */
void ops_mbarrier(exec_fn **table);
/* Calls, returns, exit, traps. */
void ops_control(exec_fn **table);
/* Printf, malloc, free, assert. */
void ops_services(exec_fn **table);

/* warp_ops.c: the instruction itself, once all lanes that it needs have arrived. NULL: op has no such
 * part. */
exec_fn *warp_op(uint16_t op);

#endif
