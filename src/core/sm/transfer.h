/* transfer.h: registers of CTAs on their way to memory and back. See transfer.c. */
#ifndef HEDDLE_SM_TRANSFER_H
#define HEDDLE_SM_TRANSFER_H

#include "heddle/mechanism.h"

#include "base/base.h"
#include "base/tick.h"
#include "base/vec.h"
#include "mem/ring.h"

enum transfer_way { TRANSFER_OUT, TRANSFER_IN, TRANSFER_WAYS };
/* Where the registers of a CTA are. */
enum transfer_where { REGISTERS_HERE, REGISTERS_LEAVE, REGISTERS_AWAY, REGISTERS_COME };

RING_TYPE(transfer_rows, uint32_t) /* rows of the register file */

struct transfer_move {
    /* the CTA slot; SM_NONE: nothing moves this way */
    uint32_t cta;
    /* out: instructions of the CTA are under way, and their results come first */
    bool drains;
    /* rows that move; the most that the buffer holds */
    uint32_t rows, buffer;
    /* out: read from their bank, in the queue, acknowledged. In: asked for, here, written to their bank */
    uint32_t begun, passed, ended;
    /* the next row of the register file to be read or asked for */
    uint32_t row;
};
/* A row of a CTA, by its number among the CTA's rows. */
struct transfer_row {
    uint32_t cta, index;
};
struct transfer {
    struct transfer_move moves[TRANSFER_WAYS];
    /* of the move in: rows that are here and not written */
    struct transfer_rows here;
    /* by CTA slot: where its registers are (enum transfer_where), how many rows of them are in memory, how
     * many late rows are not acknowledged */
    struct transfer_cta {
        uint8_t where;
        uint32_t rows, late;
    } * ctas;
    /* CTAs whose registers are not all in the register file */
    uint32_t absent;
    /* late rows: results that came after their row was read to leave, in their order; those before late_sent
     * are on their way */
    VEC(struct transfer_row) late;
    uint32_t late_sent;
    /* the engine has the first turn at the queue, before the load-store unit */
    bool is_first;
    /* when it last put a row into the queue; when anything last moved */
    tick sent, moved;
};

struct context;
struct sm;
struct strbuf;
struct uop;
void transfer_init(struct sm *m);
void transfer_free(struct sm *m);
/* The port cta_registers. */
bool transfer_ask(struct sm *m, const struct mech_transfer *t);
/* The stages of a cycle: before the load-store unit serves its queue, and after it. */
void transfer_before(struct sm *m);
void transfer_after(struct sm *m);
/* A warp gets the result of an instruction. Only where transfer.absent is not 0. */
void transfer_result(struct sm *m, const struct context *x, const struct uop *u);
/* Keeps warps whose registers are not all in the register file from issuing. Called when that set, or the
 * slots of a CTA, changes. */
void transfer_hold(struct sm *m);
/* Nothing moves, and no CTA's registers are in memory. */
bool transfer_idle(const struct sm *m);
enum transfer_where transfer_where(const struct sm *m, uint32_t cta);
/* What moves, and which CTAs' registers are away, for the report of a machine that is stuck. */
void transfer_explain(const struct sm *m, struct strbuf *out);

#endif
