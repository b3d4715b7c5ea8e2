/* mechanism.h: the public interface of Heddle's mechanisms. A plug-in may include only this header and
 * rows.h.
 *
 * A mechanism is one struct: its name, its parameters and statistics as rows, the size of its state, and the
 * hooks that it fills. The host makes one zeroed state for each SM, and one for the GPU where gpu_state_bytes
 * > 0. Hooks receive the state, read-only views and events. A mechanism acts on the machine only through its
 * ports.
 *
 * A *policy* is a hook that answers a question which needs one answer (pick, take_miss, victim, admit): at
 * most one attached mechanism fills it. *Votes* of any number of mechanisms are combined by rules that do not
 * depend on order: masks are ANDed, a miss or an allocation needs a yes from every mechanism, limits take the
 * minimum. The host asks every voter every time. *Events* report what happened.
 *
 * Warps. A resident warp has a *context*; while it can issue, it also has a warp *slot* of a scheduler. Slots
 * are numbered in *banks* of 64: slot = 64 * bank + bit. An SM of up to 64 slots has one bank for all of its
 * schedulers; a larger SM has one bank for each scheduler. A mask covers one bank. An array that a view
 * points to begins at the first slot of the bank. `warp` in an event or a port is a slot.
 *
 * Invariants. (1) The host calls pick only when view->ready is not empty, at most once for each scheduler and
 * cycle, and the warp that pick returns issues in that cycle: a policy does not depend on how often the host
 * visits an idle machine. (2) A vote stays until it is set again; the initial vote is "all". A new vote takes
 * effect at the next pick or access. (3) The host reports an event when it happens: on_timer before the picks
 * of its cycle, on_issue and the start of a wait at a barrier between the picks of two schedulers. (4) What a
 * mechanism does in a hook never changes an earlier cycle. (5) The hooks of one SM are called one after
 * another, in the order of cycles; hooks of different SMs may run at the same time on several threads. So a
 * hook of an SM touches its own state and, of a GPU-wide state, only the entry of its own SM (gpu_init,
 * on_gpu_timer). A mechanism with a GPU-wide state and without a GPU timer may touch all of that state at any
 * time; all SMs then run on one thread. (6) Everything is deterministic: no time of day, no host addresses,
 * no random numbers without a fixed seed.
 *
 * The host checks each answer of a mechanism. A wrong answer or a crash ends the run with a message that
 * names the mechanism, the hook and the cycle. */
#ifndef HEDDLE_MECHANISM_H
#define HEDDLE_MECHANISM_H

#include <stdio.h>
#include <stdlib.h>

#include "heddle/rows.h"

#define HEDDLE_MECHANISM_API 9
#define MECH_NO_WARP         (-1)
#define MECH_NO_CTA          UINT32_MAX
/* bytes of memory that belong to a mechanism (memory_read) */
#define MECH_MEMORY_BYTES ((uint64_t)1 << 40)
enum {
    MECH_BANK_WARPS = 64,
    MECH_BANKS_MAX = 4,
    MECH_WARPS_MAX = MECH_BANK_WARPS * MECH_BANKS_MAX,
    MECH_SCHEDULERS_MAX = 4,
    /* words of a set of the registers of a thread: 256 bits */
    MECH_REGISTER_WORDS = 4,
    /* the longest delay that take_miss may answer */
    MECH_MISS_CYCLES_MAX = 1 << 16,
    /* limit in bytes of a state, of a GPU-wide state, of the parameters, and of the sum of all blocks that
     * the port `memory` returns on one SM */
    MECH_STATE_BYTES_MAX = 1 << 30,
    /* most entries of reexec_queue */
    MECH_REEXEC_MAX = 1 << 16,
    /* notes that the host keeps of one mechanism on one SM; it counts further ones */
    MECH_NOTES_MAX = 1 << 16,
    /* most rows in the buffer of a transfer */
    MECH_TRANSFER_BUFFER_MAX = 64,
    /* size of the text that check writes, with its terminating zero */
    MECH_REASON_BYTES = 256,
    /* most words of a mask of SMs */
    MECH_SM_WORDS = 16
};

/* States what the mechanism relies on. Every build evaluates the condition, also with NDEBUG, so the
 * condition should cost little compared with the code around it. If it does not hold, it is printed and the
 * run ends as after a crash of the mechanism. */
#define mech_assert(condition) ((condition) ? (void)0 : mech_assert_failed(__FILE__, __LINE__, #condition))
_Noreturn static inline void mech_assert_failed(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}

static inline uint32_t mech_bank(int warp) { return (uint32_t)warp / MECH_BANK_WARPS; }
static inline uint64_t mech_bit(int warp) { return (uint64_t)1 << (uint32_t)warp % MECH_BANK_WARPS; }

/* ---- check ---- */

/* The machine that the parameters of a mechanism have to fit. */
struct mech_machine {
    uint32_t sm_count, warps, schedulers, line_bytes;
    /* entries of the queue that the port `prefetch` fills */
    uint32_t prefetch_queue;
    /* loads of global memory look up the L1 */
    bool l1_caches_global;
    /* size of the machine's own L1; rows of the register file; CTA slots */
    uint32_t l1_sets, l1_ways, register_rows, ctas;
    /* slices of the L2; entries of the SMs' ring, as in mech_ports */
    uint32_t l2_slices;
    uint32_t ring_queue, ring_request_buffer, ring_response_buffer;
    /* names of other attached mechanisms: the one that fills admit, and the one that takes rows of the
     * register file (MECH_OWNS_REGISTERS); NULL where there is none */
    const char *admits, *takes_rows;
    /* name of the machine: its file without .yaml */
    const char *name;
};

enum mech_fit {
    MECH_FITS,
    /* the mechanism runs, with a warning */
    MECH_FITS_POORLY,
    /* an error: nothing runs */
    MECH_MISFIT
};

/* ---- cost ---- */

/* How many copies of a row of storage the machine has: one for each SM, one for each slice, or one. */
enum mech_scope { MECH_EACH_SM, MECH_EACH_SLICE, MECH_WHOLE_GPU };
/* Storage of the mechanism's hardware: `entries` of `bits` each. */
struct mech_storage {
    /* letters, digits, '-' and '_' */
    const char *name;
    uint64_t entries, bits;
    enum mech_scope scope;
    /* one line that says what it holds */
    const char *help;
};
enum { MECH_STORAGE_MAX = 16 };
/* Rows in the order in which the paper has them. */
struct mech_cost {
    struct mech_storage rows[MECH_STORAGE_MAX];
    uint32_t count;
};

/* Appends a row. A row beyond MECH_STORAGE_MAX is counted but not kept, and the host then reports an
 * error. */
static inline void mech_cost_add(struct mech_cost *c, enum mech_scope scope, const char *name,
                                 uint64_t entries, uint64_t bits, const char *help)
{
    if (c->count < MECH_STORAGE_MAX)
        c->rows[c->count] = (struct mech_storage){name, entries, bits, scope, help};
    c->count++;
}

/* ---- views ---- */

/* One scheduler in one cycle. Masks and arrays cover its bank: bit i is warp slot 64 * bank + i. */
struct mech_sched_view {
    /* warps of this scheduler that can issue now and that all votes allow to issue */
    uint64_t ready;
    /* warps of this scheduler that have not ended */
    uint64_t resident;
    /* warps whose next instruction is a load, store or atomic to global or local memory; warps whose next
     * instruction is such a load */
    uint64_t memory_next, load_next;
    /* launch number of each warp: a smaller one is older; no two are equal */
    const uint64_t *age;
    /* CTA slot of each warp */
    const uint32_t *cta;
    /* bit of the warp that this scheduler issued from last, or MECH_NO_WARP */
    int last;
    uint32_t bank, scheduler, scheduler_count;
    uint64_t cycle;
    /* warps whose next instruction needs the result of a load or atomic that is under way */
    uint64_t memory_wait;
    /* warps that wait at a barrier, or sleep */
    uint64_t barrier_wait;
    /* warps whose next instruction the votes allow; the host fills this field */
    uint64_t allowed;
};

/* Counts of one SM since its kernel began. Loads are demand loads from global and local memory: load_accesses
 * = load_hits + load_pending + load_misses; the l1_ fields also count stores and atomics. */
struct mech_counters {
    uint64_t cycles, issued, loads;
    uint64_t l1_accesses, l1_hits, l1_intra_warp_hits, l1_misses, l1_stall_cycles;
    uint64_t load_accesses, load_hits, load_pending, load_misses;
    uint64_t miss_latency_sum, misses_done;
    /* cycles in which a request waited in the SM's queues to the crossbar; cycles in which the SM took a
     * reply */
    uint64_t miss_queue_busy, reply_busy;
};

/* A set of the L1 from which a line has to leave. The L1 fills empty ways before it asks a mechanism. */
struct mech_victim_view {
    uint32_t set, ways;
    /* mask of the ways that may be replaced, [(ways + 63) / 64] words */
    const uint64_t *candidates;
    /* the line that comes in */
    uint64_t line;
};

/* ---- events ---- */

struct mech_launch {
    uint64_t cycle;
    const char *kernel;
    /* number of the launch, from 1 */
    uint64_t launch;
    uint32_t grid[3], block[3];
    /* registers of a thread; bytes of shared memory of a CTA; CTAs that fit onto an SM */
    uint32_t registers, shared_bytes, ctas_fit;
    /* CTAs of the grid may wait for each other, so all of them are resident */
    bool is_cooperative;
};

struct mech_issue {
    uint64_t cycle;
    /* links the L1's answers to this instruction (mech_l1_access.id); not 0 where l1_lines is not 0 */
    uint64_t id;
    int warp;
    uint32_t pc;
    bool is_load, is_store, is_global, is_local;
    uint32_t scheduler;
    uint32_t lanes;
    /* accesses that the instruction will make to the L1 */
    uint32_t l1_lines;
    /* launch number of the warp */
    uint64_t launch;
    /* sets of the registers that the instruction reads and writes */
    const uint64_t *reads, *writes;
};

/* The next instruction of a warp is known. live: the registers that are live before it. */
struct mech_next {
    uint64_t cycle;
    int warp;
    uint32_t pc;
    const uint64_t *live;
};

enum mech_l1_outcome {
    MECH_L1_HIT,
    /* merged with a miss that is under way */
    MECH_L1_PENDING,
    MECH_L1_MISS,
    /* a store, an atomic or a load that bypasses the L1 is on its way to the L2 */
    MECH_L1_SENT
};
struct mech_l1_access {
    uint64_t cycle;
    /* mech_issue.id of the instruction; 0 for a prefetch */
    uint64_t id;
    int warp;
    uint32_t pc;
    uint64_t line;
    /* mask of the line's 32-byte sectors */
    uint32_t sectors;
    /* the first access of its instruction; a hit on a line that the same warp brought; the first demand
     * access to a prefetched line */
    bool is_first_line, intra_warp, is_first_use;
    /* the access is a load if it is neither a store nor an atomic */
    bool is_store, is_atomic, is_local, is_prefetch;
    /* a hit on a line beyond the machine's own ways (l1_lines), which lies in registers */
    bool is_extra;
    enum mech_l1_outcome outcome;
    /* address of the first active lane */
    uint64_t lane_address;
    uint64_t launch;
};

enum mech_evict_cause { MECH_EVICT_REPLACED, MECH_EVICT_STORE, MECH_EVICT_FLUSH, MECH_EVICT_RESIZE };
struct mech_l1_evict {
    uint64_t cycle;
    uint64_t line;
    /* sectors that were valid */
    uint32_t sectors;
    enum mech_evict_cause cause;
    /* the warp and PC that brought the line, and those that touched it last */
    int owner_warp, last_warp;
    uint32_t owner_pc, last_pc;
    /* launch number of the owner, whose slot another warp may have by then */
    uint64_t owner_launch;
    /* was_used: false: a prefetch brought the line and no load has used it; was_prefetch: the opposite */
    bool was_prefetch, was_used, is_local;
};

struct mech_l1_fill {
    uint64_t cycle;
    uint64_t line;
    uint32_t latency_cycles;
    /* kept: the line stays in the L1; is_extra: it is in a way beyond the machine's own, in registers */
    bool is_prefetch, is_local, kept, is_extra;
};

enum mech_prefetch_outcome {
    MECH_PREFETCH_SENT,
    /* the line was in the L1, on its way or in the prefetch queue */
    MECH_PREFETCH_REDUNDANT,
    /* dropped by newer prefetches in a full queue, by the end of the kernel, or by the L1 */
    MECH_PREFETCH_DROPPED,
    /* the address is in no allocation */
    MECH_PREFETCH_REFUSED
};
struct mech_prefetch {
    uint64_t cycle, line;
    uint32_t pc;
    int warp;
    enum mech_prefetch_outcome outcome;
};

/* MSHRs and entries of the miss queue: how many are in use, and how many there are. */
struct mech_l1_level {
    uint64_t cycle;
    uint32_t mshrs_used, mshrs, queue_used, queue;
};

struct mech_warp_event {
    uint64_t cycle;
    int warp;
    uint32_t cta_slot;
    uint64_t cta;
    /* false: the warp has ended; its last stores may still be under way */
    bool is_start;
    /* the warp gets a slot back, or has lost its slot, with its CTA (cta_swap); it has neither started nor
     * ended */
    bool is_swap;
    /* scheduler of the warp; its index in the CTA; warps of the CTA */
    uint32_t scheduler, index, cta_warps;
    uint64_t launch;
};

struct mech_barrier {
    uint64_t cycle;
    uint32_t bank;
    uint64_t warps;
    /* false: the warps were released */
    bool is_wait;
};

/* The mechanism loses rows of the register file that it had taken, because registers of a CTA need them, or
 * registers that another mechanism keeps (registers_keep). */
struct mech_rows_lost {
    uint64_t cycle;
    uint32_t first, rows;
};

/* An event of a CTA: it starts (told before its warps start), it has ended, or its registers have left for
 * memory or come back. The rows are the rows of the register file that it owns from then on, or owned until
 * then: the lowest, the highest, and how many. A CTA whose registers are in memory owns no rows: another CTA
 * or a mechanism may have them.
 *
 * STALLED: every warp of an active CTA that has not ended waits for memory or at a barrier, at least one
 * waits for memory, and no other instruction of the CTA is under way. RESUMED: that is over, and the CTA is
 * still active. READY: a warp of an inactive CTA could go on; a CTA that starts inactive is ready at once.
 * These three are told once, when the state changes. OUT, IN: the CTA has lost its slots; it has got slots
 * (cta_swap). PARKED, UNPARKED: its rows are free; it has rows again (cta_park, cta_unpark); told before
 * these ports return. */
enum mech_cta_kind {
    MECH_CTA_START,
    MECH_CTA_END,
    MECH_CTA_REGISTERS_OUT,
    MECH_CTA_REGISTERS_IN,
    MECH_CTA_STALLED,
    MECH_CTA_READY,
    MECH_CTA_RESUMED,
    MECH_CTA_OUT,
    MECH_CTA_IN,
    MECH_CTA_PARKED,
    MECH_CTA_UNPARKED
};
struct mech_cta {
    uint64_t cycle;
    enum mech_cta_kind kind;
    uint32_t cta_slot;
    /* number of the CTA in the grid */
    uint64_t cta;
    uint32_t first_row, last_row, rows;
    uint32_t warps;
    /* results of its instructions that came while it owned no rows, since it lost them last */
    uint32_t results;
};

/* ---- admit ---- */

/* What one more CTA would take of the SM. The CTA slots, threads and warps in use are those of active
 * CTAs. */
struct mech_share {
    uint64_t in_use, asked, limit;
};
struct mech_admit {
    uint64_t cycle;
    struct mech_share ctas, threads, warps;
    /* registers, and bytes of shared memory, rounded up to whole allocation units */
    struct mech_share registers, shared;
    /* warps of the CTA; registers of a thread */
    uint32_t cta_warps, thread_registers;
    /* in and out: registers that the CTA gets, at most as many as it asks for */
    uint64_t gets_registers;
};

/* ---- take_miss ---- */

enum mech_miss_answer {
    /* the miss goes on to the L2 after `cycles` */
    MECH_MISS_PASS,
    /* the data is there after `cycles`; the L1 takes no line for it */
    MECH_MISS_HIT,
    /* the mechanism calls miss_answer or miss_forward with the token later */
    MECH_MISS_CLAIM,
    /* the data is there after `cycles`, and the L1 keeps the line as it keeps that of a reply */
    MECH_MISS_FILL
};
struct mech_miss {
    enum mech_miss_answer answer;
    uint32_t cycles;
};

/* ---- the SMs' ring ---- */

/* Requests travel from each SM to the next one, responses in the opposite direction. */
enum mech_ring_channel { MECH_RING_REQUEST, MECH_RING_RESPONSE };
/* The message is for every SM on the way, and comes back to its sender. */
#define MECH_RING_ALL UINT32_MAX
/* Like MECH_RING_ALL, for a message that the mechanism passes on at every SM whose L1 lacks the whole line
 * words[0] of global memory (l1_probe). The host may pass it on at such an SM without calling on_ring, which
 * costs the host less. */
#define MECH_RING_HOLDERS (UINT32_MAX - 1)
enum { MECH_RING_WORDS = 4, MECH_RING_BYTES_MAX = 1 << 16 };
struct mech_ring_message {
    /* content of the message; only the mechanism reads it */
    uint64_t words[MECH_RING_WORDS];
    /* bytes that it takes on the links of its channel (ring.request_bytes, ring.response_bytes) */
    uint32_t bytes;
    /* the SM that it is for, which is not the sender; or MECH_RING_ALL or MECH_RING_HOLDERS */
    uint32_t to;
    /* links that it has travelled; filled by the host */
    uint32_t hops;
};

/* ---- cta_registers ---- */

/* The SM's transfer engine moves the registers of a CTA between the register file and memory. */
struct mech_transfer {
    uint32_t cta_slot;
    /* to memory; false: back */
    bool is_out;
    /* out: results of instructions that are under way arrive before the registers leave; false: they follow
     * the registers to memory */
    bool drains;
    /* out: how many of its rows have to travel (the others hold no values); UINT32_MAX = all. As many come
     * back. */
    uint32_t rows;
    /* rows in the engine's buffer, 1 to MECH_TRANSFER_BUFFER_MAX. On the way out a row is in the buffer from
     * its bank to the queue to the crossbar; on the way back, from the request to its bank. */
    uint32_t buffer;
};

/* ---- ports ---- */

/* What a mechanism may do. Any port may be called in any hook of an SM, with two exceptions. (1) The L1 is
 * made after init, with the size that init asks for, so init may call only memory, the votes (allow_...,
 * limit_ctas, l1_lines), set_timer, note, and the ports marked "only in init". (2) Those may be called only
 * in init. */
struct mech_ports {
    void *host;
    uint32_t sm, sm_count, warps, banks, schedulers, line_bytes;
    /* CTA slots */
    uint32_t ctas;
    /* size of the machine's own L1; cycles from its tags to the data of a hit */
    uint32_t l1_sets, l1_ways, l1_latency;
    /* rows of the register file, each of 32 lanes of 4 bytes; banks of the register file */
    uint32_t register_rows, register_banks;
    /* another mechanism keeps registers in rows that no CTA owns (MECH_KEEPS_REGISTERS) */
    bool others_keep_rows;
    /* slots of a queue of the SMs' ring, and of the buffers in front of it (ring.queue, ring.request_buffer,
     * ring.response_buffer) */
    uint32_t ring_queue, ring_request_buffer, ring_response_buffer;

    /* Only in init: returns zeroed memory that lives as long as the state. */
    void *(*memory)(void *host, size_t bytes);

    /* Set which warps of a bank may issue at all; which may issue instructions to global and local memory;
     * which may issue loads of these. Masks of all mechanisms are ANDed; a mask stays until it is set
     * again. */
    void (*allow_issue)(void *host, uint32_t bank, uint64_t warps);
    void (*allow_memory)(void *host, uint32_t bank, uint64_t warps);
    void (*allow_load)(void *host, uint32_t bank, uint64_t warps);

    /* Asks the L1 to fetch the line of an address in global memory when the L1 has a free port and MSHR. The
     * prefetch waits in a queue; when the queue is full, the new one takes the slot of the oldest. Returns
     * false when the address is in no allocation. on_prefetch reports the outcome, possibly before this
     * returns. */
    bool (*prefetch)(void *host, uint64_t address, uint32_t pc, int target_warp);

    const struct mech_counters *(*counters)(void *host);
    /* Returns how many instructions the warp in a slot has issued since it started. */
    uint64_t (*warp_issued)(void *host, int warp);
    /* Returns the warps of a bank that wait for memory: mech_sched_view.memory_wait, for hooks without a
     * view. */
    uint64_t (*memory_wait)(void *host, uint32_t bank);
    /* Returns the set of registers that are live before an instruction of the kernel that the warp runs. */
    const uint64_t *(*live_registers)(void *host, int warp, uint32_t pc);

    /* Calls on_timer at now + cycles and then every `cycles` cycles, in place of timer_cycles; 0 = never.
     * now: the cycle of the event that the hook handles, 0 in init. */
    void (*set_timer)(void *host, uint64_t now, uint32_t cycles);
    /* Writes a note: kind is an index into the mechanism's note_names. Notes appear in the JSON summary and
     * as a track of the timeline; they are not part of the hash. */
    void (*note)(void *host, uint64_t cycle, uint32_t kind, uint64_t a, uint64_t b);

    /* End a claim of take_miss. miss_answer: the data is here. miss_forward: the miss goes on to the L2.
     * miss_forward returns false when the miss queue is full or no line is free; the claim then stays, and
     * has the next free entry of the queue. */
    void (*miss_answer)(void *host, uint32_t token);
    bool (*miss_forward)(void *host, uint32_t token);
    /* In take_miss, or before miss_answer: says that the data of the miss is as old as the copy of the line
     * that it was read from (copy_as_of). Without this call the data counts as older than the newest store to
     * its line. */
    void (*miss_as_of)(void *host, uint32_t token, uint64_t as_of);
    /* Only in init: a load that may_miss or the L1 refuses waits in a queue of this many instructions beside
     * the load-store unit, at most one for each warp, and the loads behind it go on. The smallest number
     * above 0 of all mechanisms applies. */
    void (*reexec_queue)(void *host, uint32_t entries);
    /* Only in init: the most lines that this mechanism will ask for with l1_lines; the L1 makes tags for
     * them. At most l1_sets * mech_l1_ways_max. */
    void (*l1_lines_max)(void *host, uint32_t lines);
    /* Sets the capacity of the L1 in lines, rounded down to whole ways but at least one way; the L1 takes the
     * minimum of all mechanisms that have set it. At most the machine's own lines or this mechanism's
     * l1_lines_max. Lines beyond the machine's own ways lie in registers. */
    void (*l1_lines)(void *host, uint32_t lines);
    /* Returns the set of the L1 that a line belongs to. */
    uint32_t (*l1_set)(void *host, uint64_t line);
    /* l1_probe: is the line valid in the L1? It changes nothing and takes no port. l1_read: takes a data port
     * of this cycle from the load-store unit; false: no port is free. */
    bool (*l1_probe)(void *host, uint64_t line);
    bool (*l1_read)(void *host, uint64_t line);

    /* Take and give back adjacent rows of the register file that hold no registers: the lowest that fit, at
     * or above `from`. False: there are no such rows. Only with MECH_OWNS_REGISTERS. The mechanism loses its
     * rows when a CTA or registers_keep needs them (on_rows_lost). */
    bool (*registers_take)(void *host, uint32_t from, uint32_t rows, uint32_t *first);
    void (*registers_give)(void *host, uint32_t first, uint32_t rows);
    /* Only in init, with MECH_KEEPS_REGISTERS: CTAs that admit lets in own rows below this one. The rows
     * from it on are for registers_keep; another mechanism may take those that are not kept. */
    void (*cta_rows)(void *host, uint32_t rows);
    /* With MECH_KEEPS_REGISTERS. registers_keep: the row holds registers of a CTA that owns no rows, until
     * registers_release. Another mechanism that had taken the row has lost it when this returns
     * (on_rows_lost). False: the row belongs to a CTA that admit was not asked about. */
    bool (*registers_keep)(void *host, uint32_t row);
    void (*registers_release)(void *host, uint32_t row);
    /* Asks for the bank of a row in this cycle, with lower priority than the operands of instructions. False:
     * a conflict, which is counted. A mechanism with only MECH_OWNS_REGISTERS may ask for rows that it has
     * taken. */
    bool (*bank_access)(void *host, uint32_t row, bool is_write);
    /* No CTA starts while n or more are resident; the minimum of all mechanisms applies. */
    void (*limit_ctas)(void *host, uint32_t n);

    /* The SMs' ring, with MECH_USES_RING. ring_push sends a message; false: no room (a full buffer, where the
     * channel has one; else fewer than two free slots of its queue, or a message that has entered it in this
     * cycle). ring_peek reads the message that this SM sees on a channel; false: there is none. ring_pop
     * takes that message. ring_pass lets a message for all go on to the next SM. */
    bool (*ring_push)(void *host, enum mech_ring_channel channel, const struct mech_ring_message *m);
    bool (*ring_peek)(void *host, enum mech_ring_channel channel, struct mech_ring_message *m);
    void (*ring_pop)(void *host, enum mech_ring_channel channel);
    void (*ring_pass)(void *host, enum mech_ring_channel channel);
    /* With MECH_USES_SHARERS: returns the L1s that held a whole line of global memory at the end of the
     * previous cycle: a mask of SMs, [(sm_count + 63) / 64] words, valid until the hook returns. */
    const uint64_t *(*sharers)(void *host, uint64_t line);
    /* With MECH_USES_AGES: returns the age of the copy of a line of global memory in the L1 of an SM: of this
     * SM at present, of another SM at the end of the previous cycle. 0: since the copy was read at the L2,
     * the L2 has performed a store to the line or the host has written to it. Otherwise the number to give
     * miss_as_of for data that is read from the copy. */
    uint64_t (*copy_as_of)(void *host, uint32_t sm, uint64_t line);
    /* Returns how many thread instructions this SM has issued since the machine was made. */
    uint64_t (*thread_insts)(void *host);
    /* Moves the registers of a CTA to memory or back, one row of 128 bytes a cycle, as real traffic; rows
     * that come back have priority. No warp of the CTA issues from this call until its registers are back
     * (on_cta REGISTERS_IN). False: a CTA already moves in this direction, or this CTA is not in the state
     * that the move needs, has ended, or finds too few free rows. */
    bool (*cta_registers)(void *host, const struct mech_transfer *t);

    /* CTAs beyond the slots of the schedulers: for the mechanism that fills admit.
     *
     * cta_swap: `out` loses its slots; after `cycles`, at least one, `in` has these or free ones, and on_cta
     * tells OUT and IN. Either CTA may be MECH_NO_CTA. Slots of `out` that `in` does not get are free after
     * `cycles`. The age of a warp does not change. Returns false and changes nothing when `out` is not active
     * and stalled at the time of the call, when `in` is not inactive, when the registers of one of them are
     * not in the register file, or when `in` would not find slots. */
    bool (*cta_swap)(void *host, uint32_t out, uint32_t in, uint32_t cycles);
    /* Only in init: on_cta tells STALLED of a CTA after it has been stalled for this many cycles; the
     * largest number of all mechanisms applies. It filters waits for shared memory and for L1 hits, which are
     * shorter than misses. */
    void (*stall_after)(void *host, uint32_t cycles);
    /* Writes the distinct PCs at which the parts of a warp go on: lanes that run together, lanes that wait
     * for others, and their callers. Returns how many there are, and writes at most max; 0: the warp has
     * ended. */
    uint32_t (*warp_pcs)(void *host, uint32_t cta_slot, uint32_t index, uint32_t *pcs, uint32_t max);
    /* Returns the set of registers that are live before an instruction of the kernel of a CTA. */
    const uint64_t *(*cta_live)(void *host, uint32_t cta_slot, uint32_t pc);
    /* cta_park: frees the rows of an inactive CTA. The mechanism keeps a set of registers of each warp
     * (MECH_REGISTER_WORDS words each); all other registers lose their values. cta_unpark: gives an inactive
     * CTA rows again; false: too few are free. */
    void (*cta_park)(void *host, uint32_t cta_slot, const uint64_t *kept);
    bool (*cta_unpark)(void *host, uint32_t cta_slot);
    /* Returns whether there are CTAs that have not started. The answer is what the dispatcher told the SM
     * after on_cta START of its newest CTA, or when the SM last made room and so asked for one. */
    bool (*ctas_left)(void *host);
    /* memory_read reads 32 bytes of memory that belongs to the mechanism and is shared by all SMs; the read
     * bypasses the L1 and is real traffic. on_memory_read tells when the data is here. False: too many reads
     * are under way. code_address returns the offset of an instruction in the code of all kernels, 8 bytes
     * each, for tables in this memory that are indexed by instruction. */
    bool (*memory_read)(void *host, uint64_t offset, uint32_t token);
    uint64_t (*code_address)(void *host, uint32_t cta_slot, uint32_t pc);

    /* Ends the run with this sentence: the mechanism cannot run this kernel. */
    void (*refuse)(void *host, const char *why);
};

/* ---- SMs in cache mode, and the slices of the L2 ---- */

/* A part of a helper kernel: warps that run one entry. */
struct mech_helper_part {
    /* the entry that the warps run; its only parameter is the address of a table that holds, for each of its
     * warps, the addresses of the warp's lines of the window */
    const char *entry;
    /* warps on each SM in cache mode, at least one; bytes of dynamic shared memory of each */
    uint32_t warps, shared_bytes;
    /* local memory of a thread; it stays in the L1 of its SM, 4 bytes of each lane in a line */
    uint32_t local_bytes;
};

/* What the host needs to know of a helper kernel beside its PTX. */
enum { MECH_HELPER_PARTS = 3 };
struct mech_helper {
    /* Threads of the first part may have the registers that the other parts leave. Warps are numbered part by
     * part, and SM by SM within a part; warp w belongs to slice w modulo slices. */
    struct mech_helper_part parts[MECH_HELPER_PARTS];
    uint32_t part_count;
    /* lines of the controller's window that each warp has; loads of these lines that a warp has parked while
     * it waits for work */
    uint32_t window_lines, window_loads;
};

enum mech_request_kind { MECH_READ, MECH_WRITE, MECH_ATOMIC };

/* A request at the tags of an L2 slice. */
struct mech_request {
    /* core cycle; name of the request in calls of ports */
    uint64_t cycle;
    uint32_t token;
    /* enum mech_request_kind */
    uint8_t kind;
    /* a write that does not cover all bytes of its sectors */
    bool is_partial;
    /* the request comes from the helper kernel and is for line `window` of the slice's window: a MECH_WRITE,
     * or a MECH_READ, which returns what the line holds when the read is applied */
    bool is_window;
    uint32_t window;
    /* mask of the line's 32-byte sectors; the SM that sent the request */
    uint32_t sectors, sm;
    /* address of the line; number of the line within the slice: no two lines of a slice share one, and
     * numbers are dense. has_bytes: the line lies in device memory (line_bytes); lines of registers and local
     * memory do not. */
    uint64_t line, number;
    bool has_bytes;
};

enum mech_take {
    MECH_PASS,
    MECH_CLAIM,
    /* the mechanism has no room: the request waits at the tags, as do the program's requests behind it, while
     * the helper's requests go on */
    MECH_WAIT
};

/* What a mechanism may do at a slice. */
struct mech_slice_ports {
    void *host;
    /* index of this slice; lines that its cache holds; warps of the helper that belong to it; SMs in cache
     * mode */
    uint32_t index, slice_count, lines, line_bytes, warps, cache_sms;
    /* Returns zeroed memory that lives until the helper starts again (slice_init). */
    void *(*memory)(void *host, size_t bytes);
    /* Applies a claimed atomic or load of the window when the step ends. Called once for each, before its
     * reply. */
    void (*apply)(void *host, uint32_t token);
    /* Answers a claimed request: its reply waits for room in the response queue. */
    void (*reply)(void *host, uint32_t token);
    /* A claimed load of the window waits for work. The machine is idle when all loads of the helper are
     * parked. */
    void (*park)(void *host, uint32_t token);
    /* Read or write sectors of a line in DRAM, past the L2's tags; the whole line where the L2 has no
     * sectors. on_dram tells when the data of a read is here. */
    void (*dram_read)(void *host, uint64_t line, uint32_t sectors, uint32_t tag);
    void (*dram_write)(void *host, uint64_t line, uint32_t sectors);
    /* Returns the bytes of a line of the window, which the slice may write. */
    unsigned char *(*window)(void *host, uint32_t window);
    /* Returns the bytes of a line with has_bytes, as they were at the end of the last step. */
    const unsigned char *(*line)(void *host, uint64_t line);
    /* Ends the run with this sentence: a law of the mechanism is broken. */
    void (*refuse)(void *host, const char *why);
};

/* A grid that was alone on the machine from its launch to its end (choose_sms). */
struct mech_grid_run {
    /* number that all launches of a kernel with this grid and block size share */
    uint64_t kernel;
    /* SMs in cache mode during the grid */
    uint32_t cache_sms;
    /* core cycles; warp instructions of the program; command clocks of all DRAM channels; those of them with
     * data on the bus */
    uint64_t cycles, warp_insts, dram_cycles, dram_busy;
};

enum { MECH_ROW_BYTES = 128 };
/* The most ways that the L1 can have: the machine's own, and those whose lines fit into the register file. */
static inline uint32_t mech_l1_ways_max(const struct mech_ports *p)
{
    const uint64_t in_registers = (uint64_t)p->register_rows * MECH_ROW_BYTES / p->line_bytes;
    return p->l1_ways + (uint32_t)(in_registers / p->l1_sets);
}

/* What a mechanism claims for itself. Two mechanisms that claim the same thing are an error that names
 * both. */
enum mech_owns {
    /* the rows that hold no registers (registers_take) */
    MECH_OWNS_REGISTERS = 1,
    /* rows for registers of CTAs that own no rows (cta_rows, registers_keep) */
    MECH_KEEPS_REGISTERS = 2
};

/* Parts of the machine that exist only where a mechanism uses them. While one of them exists, SMs do not run
 * ahead of each other. */
enum mech_uses {
    /* ring_push, ring_peek, ring_pop, ring_pass, on_ring; for one mechanism */
    MECH_USES_RING = 1,
    MECH_USES_SHARERS = 2,
    /* copy_as_of */
    MECH_USES_AGES = 4
};

/* What may_miss would answer for a load that it has already refused or let pass. */
enum mech_hold { MECH_HOLD_UNKNOWN, MECH_HOLD_NO, MECH_HOLD_YES };

struct mechanism {
    /* HEDDLE_MECHANISM_API */
    uint32_t api;
    const char *name, *summary, *paper;
    /* rows for a struct of param_bytes, "NAME.something" each; may be NULL */
    const struct param_row *params;
    size_t param_bytes;
    /* rows with offsets into the state, "NAME.something" each; may be NULL. Names consist of letters, digits,
     * '-' and '_'. */
    const struct stat_row *stats;
    /* energy of its events, "NAME.something" each; may be NULL. Read when energy is printed. */
    const struct energy_row *energy;
    size_t state_bytes, gpu_state_bytes;
    /* period of on_timer in core cycles; 0 = never */
    uint32_t timer_cycles;
    /* period of on_gpu_timer in core cycles; 0 = never. Where gpu_timer_period is filled, its answer is used
     * instead. */
    uint32_t gpu_timer_cycles;
    uint32_t (*gpu_timer_period)(const void *params);
    /* a mask of enum mech_owns */
    uint32_t owns;
    /* on_cta also tells STALLED and RESUMED, for which the SM has to look at its CTAs in every cycle. Where a
     * mechanism fills admit, on_cta tells them in any case. */
    bool hears_stalls;
    /* A miss that take_miss claims or fills holds a line of the L1 from then on, as a miss that goes to the
     * L2 does; take_miss is asked when a line can be replaced, and victim before it. Without this flag the
     * line is taken when the data comes. */
    bool claims_lines;
    /* names of the kinds of its notes, NULL-terminated; may be NULL */
    const char *const *note_names;
    /* size of a state for each slice of the L2; where it is not 0, the offsets of `stats` are into that
     * state */
    size_t slice_state_bytes;
    /* size of the state of choose_sms */
    size_t choice_bytes;

    /* Do the parameters fit the machine and each other? Asked once, before the SMs' init, with parameters
     * that are inside their bounds. Unless they fit, it writes the reason: a clause without a full stop, of
     * MECH_REASON_BYTES at most. */
    enum mech_fit (*check)(const void *params, const struct mech_machine *machine, char *reason);
    /* Lists the storage of its hardware, with these parameters on a machine that they fit. Called by commands
     * that print it, not by a run. */
    void (*cost)(const void *params, const struct mech_machine *machine, struct mech_cost *cost);
    /* Returns what it uses with these parameters: a mask of enum mech_uses. Called once, before the SMs'
     * init. NULL: 0. */
    uint32_t (*uses)(const void *params);
    /* params and ports live as long as the state: keep the pointers. */
    void (*init)(void *state, void *gpu_state, const void *params, const struct mech_ports *ports);
    /* Called once, before the SMs' init. */
    void (*gpu_init)(void *gpu_state, const void *params, uint32_t sm_count);
    /* is_start: the SM had no kernel and gets its first CTA. Otherwise its last kernel has ended. */
    void (*on_kernel)(void *state, bool is_start);
    /* A grid comes to the machine: called once for each grid and SM, before the first CTA of the grid. */
    void (*on_launch)(void *state, const struct mech_launch *e);

    /* ---- policies ---- */

    /* Returns how many SMs are in cache mode: the last ones, which get no CTA of the program and run the
     * helper kernel from the first launch on. With choose_sms: how many may be. Called once. */
    uint32_t (*cache_sms)(const void *params, uint32_t sm_count);
    /* Returns how many of the SMs of cache_sms are in cache mode from then on. Called once before the SMs'
     * init, with ran = NULL, and then after each grid that was alone on the machine. Roles change when the
     * next grid comes and the machine is empty: the helper retires (on_retire) and starts again (slice_init).
     * NULL: always all of them. */
    uint32_t (*choose_sms)(void *choice, const void *params, const struct mech_grid_run *ran);
    /* Writes the PTX of the helper kernel as snprintf does, and returns its length. A mechanism fills both
     * helper and cache_sms, or neither. */
    size_t (*helper)(const void *params, struct mech_helper *helper, char *ptx, size_t room);
    /* A request of an SM is at the tags of a slice: does the mechanism take it? After MECH_WAIT the host asks
     * again each time that the slice looks at the request: MECH_WAIT changes nothing, and the answer may
     * change only in a hook of the slice. Of the helper's requests only those for the window come here, and
     * the mechanism has to claim them. */
    enum mech_take (*take_request)(void *slice_state, const struct mech_request *r);
    /* Returns a bit of view->ready, or MECH_NO_WARP to leave the issue slot empty (sm.slots_held); the host
     * then asks again in the next cycle. */
    int (*pick)(void *state, const struct mech_sched_view *view);
    /* What happens to a load that missed in the tags? Asked once for each miss, when an MSHR is free, and
     * before a line is taken, a line is evicted or the miss queue is checked. With claims_lines it is asked
     * when a line of the set can be replaced as well, after a dirty victim has left. *answer is PASS after 0
     * cycles at the call. */
    void (*take_miss)(void *state, const struct mech_l1_access *a, uint32_t token, struct mech_miss *answer);
    /* Replacement in the L1. victim: returns a way of view->candidates when a line has to leave for one that
     * comes in. The line that it chose stays if it is dirty and the miss queue has no room for its content,
     * or if take_miss, asked afterwards with claims_lines, keeps no line. The answer holds for its set until
     * a line of the L1 changes (a hit, a line that comes or leaves); then the host asks again, even for the
     * same access. line_touched: a hit. line_inserted: a line was put into a way, which shows whether an
     * answer was used. */
    uint32_t (*victim)(void *state, const struct mech_victim_view *view);
    void (*line_touched)(void *state, uint32_t set, uint32_t way);
    void (*line_inserted)(void *state, uint32_t set, uint32_t way);

    /* May one more CTA become resident? Replaces the occupancy rule, but registers and shared memory must
     * still be free. A CTA that is admitted without free slots starts inactive. The host asks each time that
     * the dispatcher looks for room, so admit changes nothing, and a no may become a yes only when a CTA ends
     * or a port has made room. For CTAs of a cooperative grid the occupancy rule decides. */
    bool (*admit)(void *state, struct mech_admit *a);

    /* ---- votes ---- */

    /* May this miss take a line of the L1? Asked once for each access, however often the L1 refuses it. */
    bool (*may_allocate)(void *state, const struct mech_l1_access *a);
    /* May this load miss? Asked after the tags, before line and MSHR. No: the load is refused, or waits in
     * the re-execution queue, and may_miss is asked again each time that the load is offered. Yes: holds
     * until the L1 has taken the load. */
    bool (*may_miss)(void *state, const struct mech_l1_access *a);
    /* Predicts may_miss for a load of this warp: YES = may_miss refuses it, NO = may_miss allows it, UNKNOWN
     * = ask may_miss. The answer must hold until another hook is called or a port's answer changes, and a
     * skipped call of may_miss must change nothing but what on_held counts. An SM that could only offer loads
     * of the re-execution queue that would be refused then sleeps; without this hook it offers one in each
     * cycle. */
    enum mech_hold (*holds)(void *state, int warp);
    /* A load hits a line in this way: returns by how many cycles its data comes later than l1_latency. Ways
     * from l1_ways on (l1_lines) lie in registers. The largest answer of all mechanisms applies; later hits
     * do not overtake the load. */
    uint32_t (*extra_hit)(void *state, uint32_t set, uint32_t way);

    /* ---- events ---- */

    /* on_l1_access tells an access when the L1 takes it, not when the L1 refuses it and it has to come again.
     * Warps start in launch order. on_timer gets the cycle at which it was due. */
    void (*on_issue)(void *state, const struct mech_issue *e);
    /* Tells how many calls of may_miss the host skipped because `holds` said YES. */
    void (*on_held)(void *state, uint64_t offers);
    void (*on_next)(void *state, const struct mech_next *e);
    void (*on_l1_access)(void *state, const struct mech_l1_access *e);
    void (*on_l1_evict)(void *state, const struct mech_l1_evict *e);
    void (*on_l1_fill)(void *state, const struct mech_l1_fill *e);
    void (*on_l1_level)(void *state, const struct mech_l1_level *e);
    void (*on_prefetch)(void *state, const struct mech_prefetch *e);
    void (*on_warp)(void *state, const struct mech_warp_event *e);
    void (*on_barrier)(void *state, const struct mech_barrier *e);
    void (*on_rows_lost)(void *state, const struct mech_rows_lost *e);
    void (*on_cta)(void *state, const struct mech_cta *e);
    void (*on_memory_read)(void *state, uint64_t cycle, uint32_t token);
    void (*on_timer)(void *state, uint64_t cycle);
    /* The SM can see a message of the ring (ring_peek): called at the beginning of the SM's cycle, in each
     * cycle until the message is taken or passed on. */
    void (*on_ring)(void *state, uint64_t cycle);
    /* Hooks of a slice touch only its own state. slice_init: called each time that the helper starts, when it
     * is there. keeps_line: may the slice keep a line that it holds after a change of roles? The line is
     * named by its number; NULL: the slice keeps all. on_dram: the data of dram_read is here. on_host_write:
     * the host has written to a line while no kernel ran. on_retire: the helper is about to end: the
     * mechanism answers each load of the window that is parked or comes later so that its warp exits. */
    void (*slice_init)(void *slice_state, const void *params, const struct mech_slice_ports *ports);
    bool (*keeps_line)(void *slice_state, uint64_t number);
    void (*on_dram)(void *slice_state, uint64_t cycle, uint32_t tag);
    void (*on_host_write)(void *slice_state, uint64_t line, uint64_t number);
    void (*on_retire)(void *slice_state);
    /* Called before the SMs of its cycle run, while all of them are at rest: the only hook that may read the
     * entries of all SMs in the GPU-wide state and write what all SMs read. */
    void (*on_gpu_timer)(void *gpu_state, uint64_t cycle);
};

/* A plug-in built as a shared object exports this symbol, marked with HEDDLE_MECHANISM_EXPORT. */
#define HEDDLE_MECHANISM_SYMBOL "heddle_mechanism"
#define HEDDLE_MECHANISM_EXPORT __attribute__((visibility("default")))
extern const struct mechanism heddle_mechanism;

#endif
