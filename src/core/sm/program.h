/* program.h: a kernel as an SM runs it: its decoded instructions, with the statistics of its loads and of its
 * grid. See program.c. */
#ifndef HEDDLE_SM_PROGRAM_H
#define HEDDLE_SM_PROGRAM_H

#include "core/sm/load_stats.h"
#include "core/sm/sm.h"
#include "core/sm/uop.h"

/* How often the SM has issued an instruction, and the lanes that executed it. Statistics that follow from
 * these two, such as instructions by unit, are computed when they are read. */
struct issue_count {
    /* scheduler.c */
    uint64_t issues, lanes;
};

struct sm_program {
    /* emu_grid_id, since a grid may have the address of an older one */
    uint64_t grid;
    const struct isa_kernel *kernel;
    /* [inst_count]; the instructions are shared with the other SMs */
    const struct uop *uops;
    struct issue_count *issued;
    struct sm_load *loads;
    /* from an address to the number of its line in the L1 */
    uint32_t line_shift;
    /* address of its first instruction */
    uint64_t code;
    /* the kernel's, which may be gone when the program is freed */
    uint32_t inst_count;
    /* resident CTAs */
    uint32_t ctas;
    /* the program is kept for its statistics alone */
    bool has_ended;
    /* owner of its requests (mem/req.h) */
    uint16_t owner;
    struct sm_own own;
};

struct programs {
    struct sm_program **list;
    uint32_t count;
    /* counts of the programs that were freed */
    struct sm_own ended;
};

/* The program of a grid, made at its first CTA. */
struct sm_program *program_for(struct sm *m, const struct emu_grid *g, uint32_t owner);
/* A CTA of the program starts, or has ended. */
void program_cta(struct sm_program *p, bool is_start);
/* The programs that have no CTA here have ended. */
void programs_end(struct sm *m);
/* Adds what all programs have counted so far, in the SM and at its L1. */
void programs_add_sm(const struct sm *m, struct sm_stats *sum);
void programs_add_l1(const struct sm *m, struct l1_stats *sum);
/* Thread instructions of all programs so far. */
uint64_t programs_thread_insts(const struct sm *m);
void programs_free(struct sm *m);

#endif
