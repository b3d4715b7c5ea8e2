/* scoreboard.h: which registers an issued instruction is still to write, and which memory operations are
 * under way. See scoreboard.c. */
#ifndef HEDDLE_SM_SCOREBOARD_H
#define HEDDLE_SM_SCOREBOARD_H

#include "core/sm/context.h"

struct board_hot {
    /* there may be warps that wait at a fence, or have ended and wait for their last stores */
    bool awaits_writes;
};
struct board_cold {
    /* warps without slots that wait for their stores */
    uint32_t away;
};

struct sm;
/* An instruction has issued: it will write its registers. A memory instruction counts as under way until
 * board_memory_done. */
void board_reserve(struct context *x, const struct uop *u);
void board_flight(struct context *x);
/* The answer is for board_memory_done. */
uint8_t board_memory(struct context *x, const struct uop *u);
/* Writeback. board_flight_done and board_memory_done come before board_release. */
void board_flight_done(struct context *x);
void board_memory_done(struct sm *m, struct context *x, const struct uop *u, uint8_t group);
void board_release(struct sm *m, struct context *x, const struct uop *u);
/* A fence has issued; a group of cp.async was closed; a warp has ended and waits for its stores. */
void board_fence(struct sm *m, struct context *x);
void board_commit(struct context *x);
/* An arrival at an mbarrier waits for the copies that the warp has issued so far. */
void board_arrival(struct sm *m, struct context *x);
void board_await_writes(struct sm *m);
/* The next instruction of a warp, or what it waits for, has changed. */
void board_refresh(struct sm *m, struct context *x);
/* Has the warp memory operations that are not acknowledged? */
bool board_writes(const struct sm *m, const struct context *x);
/* Stores were acknowledged: fences and ended warps go on. */
void board_acknowledged(struct sm *m);
/* The warp loses its slot; has one again. */
void board_out(struct sm *m, struct context *x);
void board_in(struct sm *m, struct context *x);
/* Could a warp without a slot issue its next instruction, as far as results go? */
bool board_is_free(const struct context *x);
/* The warp of a slot has left. */
void board_forget(struct sm *m, uint32_t slot);

#endif
