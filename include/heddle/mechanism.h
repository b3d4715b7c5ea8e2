/* mechanism.h: the public interface of Heddle's mechanisms: all that a plug-in may include.
 *
 * A mechanism is one struct: what it is called, its parameters and statistics as rows, the size of its state,
 * and the hooks that it fills. The host makes one state for each SM (and one for the GPU where
 * gpu_state_bytes > 0), zeroed. Hooks get the state, read-only views and events; a mechanism acts through its
 * ports alone.
 *
 * A *policy* answers a question that needs one answer (pick, take_miss, victim, admit): at most one attached
 * mechanism fills it. *Votes* of any number of mechanisms are combined by rules that do not depend on order:
 * masks are ANDed, a miss or an allocation needs the yes of all, limits take the minimum. Every voter is
 * asked every time. *Events* tell what happened.
 *
 * Warps. A warp that is resident has a *context*; while it can issue it also has a warp *slot* of a
 * scheduler. Slots are numbered in *banks* of 64: slot = 64 * bank + bit. An SM of up to 64 slots has one
 * bank for all of its schedulers, a larger one has a bank for each scheduler. Masks are of one bank; arrays
 * that a view points to begin at the bank's first slot. `warp` in an event or a port is a slot.
 *
 * Invariants. (1) pick is called only when view->ready is not empty, at most once a cycle and scheduler, and
 * what it answers issues in that cycle: a policy does not depend on how often an idle machine is looked at.
 * (2) A vote stays until it is set again; the first one is "all". It counts from the next pick or access on.
 * (3) Events come when what they tell happens: on_timer before the picks of its cycle, on_issue and the start
 * of a wait at a barrier between the picks of two schedulers. (4) What a mechanism does in a hook never
 * reaches into an earlier cycle. (5) The hooks of one SM are called one after another, in the order of
 * cycles; those of different SMs may run at the same time on several threads. So a hook of an SM touches its
 * own state, and of a GPU-wide state only the entry of its own SM (gpu_init, on_gpu_timer). A mechanism with
 * a GPU-wide state and no GPU timer may touch all of it at any time: then all SMs run on one thread. (6)
 * Everything is deterministic: no time of day, no host addresses, no random numbers without a fixed seed.
 *
 * What a mechanism answers is checked: a bad answer, or a crash, ends the run with its name, the hook and the
 * cycle. */
#ifndef HEDDLE_MECHANISM_H
#define HEDDLE_MECHANISM_H

#include <stdio.h>
#include <stdlib.h>

#include "heddle/rows.h"

#define HEDDLE_MECHANISM_API 9
#define MECH_NO_WARP         (-1)
#define MECH_NO_CTA          UINT32_MAX
/* memory of a mechanism (memory_read) */
#define MECH_MEMORY_BYTES ((uint64_t)1 << 40)
enum {
    MECH_BANK_WARPS = 64,
    MECH_BANKS_MAX = 4,
    MECH_WARPS_MAX = MECH_BANK_WARPS * MECH_BANKS_MAX,
    MECH_SCHEDULERS_MAX = 4,
    /* a set of registers of a thread: 256 bits */
    MECH_REGISTER_WORDS = 4,
    /* the longest delay that take_miss may answer */
    MECH_MISS_CYCLES_MAX = 1 << 16,
    /* the most bytes of a state, of a GPU-wide state and of parameters, and of all blocks of the port
     * `memory` on one SM together */
    MECH_STATE_BYTES_MAX = 1 << 30,
    /* the most entries of reexec_queue */
    MECH_REEXEC_MAX = 1 << 16,
    /* notes that are kept of one mechanism on one SM; the others are counted */
    MECH_NOTES_MAX = 1 << 16,
    /* the most rows in the buffer of a transfer */
    MECH_TRANSFER_BUFFER_MAX = 64,
    /* the text that check writes, with its end */
    MECH_REASON_BYTES = 256,
    /* words of a mask of SMs, at most */
    MECH_SM_WORDS = 16
};

/* States what the mechanism relies on. It is evaluated in every build, whatever NDEBUG says, so it is for
 * checks that cost next to nothing beside the code around them. A condition that does not hold is printed,
 * and ends the run as a crash of the mechanism does. */
#define mech_assert(condition) ((condition) ? (void)0 : mech_assert_failed(__FILE__, __LINE__, #condition))
_Noreturn static inline void mech_assert_failed(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}

static inline uint32_t mech_bank(int warp) { return (uint32_t)warp / MECH_BANK_WARPS; }
static inline uint64_t mech_bit(int warp) { return (uint64_t)1 << (uint32_t)warp % MECH_BANK_WARPS; }

/* ---- check ---- */

/* What the parameters of a mechanism have to fit. */
struct mech_machine {
    uint32_t sm_count, warps, schedulers, line_bytes;
    /* entries of the queue that the port `prefetch` fills */
    uint32_t prefetch_queue;
    /* loads of global memory look into the L1 */
    bool l1_caches_global;
    /* of the machine's own L1; rows of the register file; CTA slots */
    uint32_t l1_sets, l1_ways, register_rows, ctas;
    /* slices of the L2; entries of the SMs' ring, as in mech_ports */
    uint32_t l2_slices;
    uint32_t ring_queue, ring_request_buffer, ring_response_buffer;
    /* names of other mechanisms that are attached: the one that fills admit, the one that takes rows of the
     * register file (MECH_OWNS_REGISTERS); NULL: none */
    const char *admits, *takes_rows;
    /* of the machine: its file without .yaml */
    const char *name;
};

enum mech_fit {
    MECH_FITS,
    /* it runs, with a warning */
    MECH_FITS_POORLY,
    /* an error: nothing runs */
    MECH_MISFIT
};

/* ---- cost ---- */

/* What a row of storage is there once for. */
enum mech_scope { MECH_EACH_SM, MECH_EACH_SLICE, MECH_WHOLE_GPU };
/* Storage that the hardware of a mechanism has: `entries` of `bits` each. */
struct mech_storage {
    /* of letters, digits, '-' and '_' */
    const char *name;
    uint64_t entries, bits;
    enum mech_scope scope;
    /* one line: what it holds */
    const char *help;
};
enum { MECH_STORAGE_MAX = 16 };
/* In the order in which the paper has them. */
struct mech_cost {
    struct mech_storage rows[MECH_STORAGE_MAX];
    uint32_t count;
};

/* Appends a row. One beyond MECH_STORAGE_MAX is counted and not kept, which the host refuses. */
static inline void mech_cost_add(struct mech_cost *c, enum mech_scope scope, const char *name,
                                 uint64_t entries, uint64_t bits, const char *help)
{
    if (c->count < MECH_STORAGE_MAX)
        c->rows[c->count] = (struct mech_storage){name, entries, bits, scope, help};
    c->count++;
}

/* ---- views ---- */

/* One scheduler at one cycle. Masks and arrays are of its bank; bit i is warp slot 64 * bank + i. */
struct mech_sched_view {
    /* warps of this scheduler that can issue now, already masked by all votes */
    uint64_t ready;
    /* warps of this scheduler that have not ended */
    uint64_t resident;
    /* whose next instruction is a load, store or atomic to global or local memory; whose next is a load of
     * these */
    uint64_t memory_next, load_next;
    /* launch number of the warp: smaller = older; no two are equal */
    const uint64_t *age;
    /* CTA slot of the warp */
    const uint32_t *cta;
    /* bit of the warp that this scheduler issued from last, or MECH_NO_WARP */
    int last;
    uint32_t bank, scheduler, scheduler_count;
    uint64_t cycle;
    /* whose next instruction needs the result of a load or atomic that is under way */
    uint64_t memory_wait;
    /* that wait at a barrier, or sleep */
    uint64_t barrier_wait;
    /* that the votes let issue their next instruction; filled by the host */
    uint64_t allowed;
};

/* Counts of one SM since its kernel began. Loads are demand loads from global and local memory:
 * load_accesses = load_hits + load_pending + load_misses; the l1_ fields count stores and atomics too. */
struct mech_counters {
    uint64_t cycles, issued, loads;
    uint64_t l1_accesses, l1_hits, l1_intra_warp_hits, l1_misses, l1_stall_cycles;
    uint64_t load_accesses, load_hits, load_pending, load_misses;
    uint64_t miss_latency_sum, misses_done;
    /* cycles in which a request waited in the SM's queues to the crossbar; in which a reply was taken */
    uint64_t miss_queue_busy, reply_busy;
};

/* A set of the L1 from which a line has to leave. Ways that are empty are filled before anybody is asked. */
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
    /* its CTAs may wait for each other: all of them are resident */
    bool is_cooperative;
};

struct mech_issue {
    uint64_t cycle;
    /* ties the L1's answers to this instruction (mech_l1_access.id); not 0 where l1_lines is not 0 */
    uint64_t id;
    int warp;
    uint32_t pc;
    bool is_load, is_store, is_global, is_local;
    uint32_t scheduler;
    uint32_t lanes;
    /* accesses that it will make to the L1 */
    uint32_t l1_lines;
    /* launch number of the warp */
    uint64_t launch;
    /* registers that it reads and writes, as sets */
    const uint64_t *reads, *writes;
};

/* The next instruction of a warp is known; live: the registers that are live before it. */
struct mech_next {
    uint64_t cycle;
    int warp;
    uint32_t pc;
    const uint64_t *live;
};

enum mech_l1_outcome {
    MECH_L1_HIT,
    /* merged with a miss under way */
    MECH_L1_PENDING,
    MECH_L1_MISS,
    /* store, atomic, bypassing load: on its way to the L2 */
    MECH_L1_SENT
};
struct mech_l1_access {
    uint64_t cycle;
    /* of the mech_issue; 0: a prefetch */
    uint64_t id;
    int warp;
    uint32_t pc;
    uint64_t line;
    /* 32-byte sectors of the line */
    uint32_t sectors;
    /* first of its instruction's accesses; hit on a line that the same warp brought; first demand of a
     * prefetched line */
    bool is_first_line, intra_warp, is_first_use;
    /* a load, if neither is_store nor is_atomic */
    bool is_store, is_atomic, is_local, is_prefetch;
    /* a hit on a line beyond the machine's own ways (l1_lines): it lies in registers */
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
    /* the warp and PC that brought the line, and that touched it last */
    int owner_warp, last_warp;
    uint32_t owner_pc, last_pc;
    /* launch number of the owner: its slot may hold another warp by now */
    uint64_t owner_launch;
    /* was_used: false: a prefetch brought the line and no load has used it; was_prefetch: the opposite */
    bool was_prefetch, was_used, is_local;
};

struct mech_l1_fill {
    uint64_t cycle;
    uint64_t line;
    uint32_t latency_cycles;
    /* kept: the line stays in the L1; is_extra: in a way beyond the machine's own, in registers */
    bool is_prefetch, is_local, kept, is_extra;
};

enum mech_prefetch_outcome {
    MECH_PREFETCH_SENT,
    /* the line was there, on its way or in the prefetch queue */
    MECH_PREFETCH_REDUNDANT,
    /* by newer ones in a full queue, by the end of the kernel, or by the L1 */
    MECH_PREFETCH_DROPPED,
    /* its address is in no allocation */
    MECH_PREFETCH_REFUSED
};
struct mech_prefetch {
    uint64_t cycle, line;
    uint32_t pc;
    int warp;
    enum mech_prefetch_outcome outcome;
};

/* MSHRs and entries of the miss queue in use, of how many. */
struct mech_l1_level {
    uint64_t cycle;
    uint32_t mshrs_used, mshrs, queue_used, queue;
};

struct mech_warp_event {
    uint64_t cycle;
    int warp;
    uint32_t cta_slot;
    uint64_t cta;
    /* false: it has ended; its last stores may still be under way */
    bool is_start;
    /* it gets a slot again, or has lost it, with its CTA (cta_swap); it has neither started nor ended */
    bool is_swap;
    /* its scheduler; its index in the CTA, and how many warps that has */
    uint32_t scheduler, index, cta_warps;
    uint64_t launch;
};

struct mech_barrier {
    uint64_t cycle;
    uint32_t bank;
    uint64_t warps;
    /* false: released */
    bool is_wait;
};

/* Rows of the register file that a mechanism had taken and that registers need now, of a CTA or of a
 * mechanism that keeps them (registers_keep): the mechanism no longer owns them. */
struct mech_rows_lost {
    uint64_t cycle;
    uint32_t first, rows;
};

/* A CTA starts (before its warps do), has ended, or its registers have left for memory or come back. Rows of
 * the register file: those that it owns from now on, or owned until now; the lowest and the highest, and how
 * many. A CTA whose registers are out owns none: another, or a mechanism, may have them.
 *
 * STALLED, of an active CTA: every warp that has not ended waits for memory, or is held beside one that does,
 * and no other instruction is under way; RESUMED: no longer, and it is still active. READY, of an inactive
 * one: one of its warps could go on; a CTA that starts inactive is ready. Both are edges. OUT, IN: it has
 * lost its slots, it has got slots (cta_swap). PARKED, UNPARKED: its rows are free, it has rows again
 * (cta_park, cta_unpark); told before these return. */
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
    /* its number in the grid */
    uint64_t cta;
    uint32_t first_row, last_row, rows;
    uint32_t warps;
    /* results of its instructions that have come while it owned no rows, since it lost them last */
    uint32_t results;
};

/* ---- admit ---- */

/* What one more CTA would take of the SM. CTA slots, threads and warps in use are those of active CTAs. */
struct mech_share {
    uint64_t in_use, asked, limit;
};
struct mech_admit {
    uint64_t cycle;
    struct mech_share ctas, threads, warps;
    /* registers and bytes of shared memory, in whole units */
    struct mech_share registers, shared;
    /* warps of the CTA, registers of a thread */
    uint32_t cta_warps, thread_registers;
    /* in, out: registers that the CTA gets; not more than it asks for */
    uint64_t gets_registers;
};

/* ---- take_miss ---- */

enum mech_miss_answer {
    /* after `cycles` it goes on to the L2 */
    MECH_MISS_PASS,
    /* after `cycles` its data is there; the L1 takes no line for it */
    MECH_MISS_HIT,
    /* the mechanism calls miss_answer or miss_forward with the token later */
    MECH_MISS_CLAIM,
    /* after `cycles` its data is there, and is put into the L1 as a reply would be */
    MECH_MISS_FILL
};
struct mech_miss {
    enum mech_miss_answer answer;
    uint32_t cycles;
};

/* ---- the SMs' ring ---- */

/* Requests travel from each SM to the next one, responses the other way round. */
enum mech_ring_channel { MECH_RING_REQUEST, MECH_RING_RESPONSE };
/* For every SM on the way, and back to its sender. */
#define MECH_RING_ALL UINT32_MAX
/* As MECH_RING_ALL, for a message that the mechanism lets pass at every SM whose L1 lacks the whole line
 * words[0] of global memory (l1_probe): these SMs may pass it on without on_ring. Cheaper for the host. */
#define MECH_RING_HOLDERS (UINT32_MAX - 1)
enum { MECH_RING_WORDS = 4, MECH_RING_BYTES_MAX = 1 << 16 };
struct mech_ring_message {
    /* what the mechanism wants to say */
    uint64_t words[MECH_RING_WORDS];
    /* what it takes on the links of its channel (ring.request_bytes, ring.response_bytes) */
    uint32_t bytes;
    /* the SM that it is for, another one than the sender, MECH_RING_ALL or MECH_RING_HOLDERS */
    uint32_t to;
    /* filled by the host: links that it has travelled */
    uint32_t hops;
};

/* ---- cta_registers ---- */

/* A move of a CTA's registers between the register file and memory, by the SM's transfer engine. */
struct mech_transfer {
    uint32_t cta_slot;
    /* to memory; false: back */
    bool is_out;
    /* out: results of its instructions that are under way come first; false: they follow to memory */
    bool drains;
    /* out: how many of its rows have to travel (the others hold nothing); UINT32_MAX = all. As many come
     * back. */
    uint32_t rows;
    /* rows in the engine's buffer: from their bank to the queue to the crossbar; back, from the request to
     * their bank. 1 to MECH_TRANSFER_BUFFER_MAX */
    uint32_t buffer;
};

/* ---- ports ---- */

/* What a mechanism may do. Any port may be called in any hook of an SM, with two exceptions. The L1 is
 * made after init, with the size that init asks for: in init only memory, the votes (allow_...,
 * limit_ctas, l1_lines), set_timer, note, reexec_queue and l1_lines_max may be called. And some are for
 * init alone. */
struct mech_ports {
    void *host;
    uint32_t sm, sm_count, warps, banks, schedulers, line_bytes;
    /* CTA slots */
    uint32_t ctas;
    /* of the machine's own L1; cycles from its tags to the data of a hit */
    uint32_t l1_sets, l1_ways, l1_latency;
    /* rows of the register file, 32 lanes of 4 bytes each; banks of it */
    uint32_t register_rows, register_banks;
    /* another mechanism keeps registers in rows that no CTA owns (MECH_KEEPS_REGISTERS) */
    bool others_keep_rows;
    /* of the SMs' ring: slots of a queue, and of the buffers before it (ring.queue, ring.request_buffer,
     * ring.response_buffer) */
    uint32_t ring_queue, ring_request_buffer, ring_response_buffer;

    /* In init alone: zeroed memory that lives as long as the state. */
    void *(*memory)(void *host, size_t bytes);

    /* Which warps of a bank may issue at all; may issue instructions to global and local memory; may issue
     * loads of these. ANDed over all mechanisms, kept until set again. */
    void (*allow_issue)(void *host, uint32_t bank, uint64_t warps);
    void (*allow_memory)(void *host, uint32_t bank, uint64_t warps);
    void (*allow_load)(void *host, uint32_t bank, uint64_t warps);

    /* Asks for the line of an address in global memory to be brought into the L1, when that has a free port
     * and MSHR. It waits in a queue; one that comes when the queue is full takes the slot of the oldest.
     * False: the address is in no allocation. What became of it: on_prefetch, which may come before this
     * returns. */
    bool (*prefetch)(void *host, uint64_t address, uint32_t pc, int target_warp);

    const struct mech_counters *(*counters)(void *host);
    /* Instructions that the warp in a slot has issued since it started. */
    uint64_t (*warp_issued)(void *host, int warp);
    /* Which warps of a bank wait for memory now: mech_sched_view.memory_wait, for hooks that have no view. */
    uint64_t (*memory_wait)(void *host, uint32_t bank);
    /* Registers that are live before an instruction of the kernel that the warp runs, as a set. */
    const uint64_t *(*live_registers)(void *host, int warp, uint32_t pc);

    /* Calls on_timer at now + cycles, and then with this period, in place of timer_cycles; cycles 0 =
     * never. now: the cycle of the event that is being handled, 0 in init. */
    void (*set_timer)(void *host, uint64_t now, uint32_t cycles);
    /* Writes a note: kind is an index into the mechanism's note_names. Notes appear in the JSON summary
     * and as a track of the timeline; they are not part of the hash. */
    void (*note)(void *host, uint64_t cycle, uint32_t kind, uint64_t a, uint64_t b);

    /* A miss that take_miss has claimed: its data is here; or it goes on to the L2 (false: the miss queue
     * is full, or no line is free, and the claim stays; it has the next entry of the queue). */
    void (*miss_answer)(void *host, uint32_t token);
    bool (*miss_forward)(void *host, uint32_t token);
    /* In take_miss, or before miss_answer: the data of the miss is as old as the copy that it is made of
     * (copy_as_of). Without it: older than the newest store to its line. */
    void (*miss_as_of)(void *host, uint32_t token, uint64_t as_of);
    /* In init alone: a load that may_miss or the L1 refuses waits in a queue of this many instructions beside
     * the load-store unit, one of a warp at most, and those behind go on. The smallest number above 0
     * counts. */
    void (*reexec_queue)(void *host, uint32_t entries);
    /* In init alone: the most lines that this mechanism will ask for with l1_lines (the tags are made for
     * it). At most l1_sets * mech_l1_ways_max. */
    void (*l1_lines_max)(void *host, uint32_t lines);
    /* Capacity of the L1 in lines, rounded down to whole ways, one at least; the minimum over all
     * mechanisms that have set it. At most the machine's own lines or this mechanism's l1_lines_max. Lines
     * beyond the machine's own ways lie in registers. */
    void (*l1_lines)(void *host, uint32_t lines);
    /* The set of the L1 that a line belongs to. */
    uint32_t (*l1_set)(void *host, uint64_t line);
    /* l1_probe: is the line valid in the L1 (changes nothing, takes no port)? l1_read: takes a data port
     * of this cycle from the load-store unit; false: none is free. */
    bool (*l1_probe)(void *host, uint64_t line);
    bool (*l1_read)(void *host, uint64_t line);

    /* Rows of the register file that hold no registers, in one piece; the lowest that fit, at or above
     * `from`. False: there are none. Only with MECH_OWNS_REGISTERS. A CTA, or registers_keep, that needs them
     * takes them away (on_rows_lost). */
    bool (*registers_take)(void *host, uint32_t from, uint32_t rows, uint32_t *first);
    void (*registers_give)(void *host, uint32_t first, uint32_t rows);
    /* In init alone, with MECH_KEEPS_REGISTERS: CTAs that admit lets in own rows below this one. Those from
     * it on are for registers_keep; while they are not kept, another mechanism may take them. */
    void (*cta_rows)(void *host, uint32_t rows);
    /* With MECH_KEEPS_REGISTERS: registers of a CTA without rows are in this row from now on; another
     * mechanism that has taken it has lost it when this returns (on_rows_lost). False: a CTA that admit was
     * not asked for owns it. registers_release: they are no longer there. */
    bool (*registers_keep)(void *host, uint32_t row);
    void (*registers_release)(void *host, uint32_t row);
    /* Asks for the bank of a row in this cycle, behind the operands of instructions. False: conflict,
     * counted. A mechanism with MECH_OWNS_REGISTERS alone may ask for rows that it has taken. */
    bool (*bank_access)(void *host, uint32_t row, bool is_write);
    /* No CTA starts while n or more are resident; the minimum over all mechanisms. */
    void (*limit_ctas)(void *host, uint32_t n);

    /* The SMs' ring, with MECH_USES_RING. ring_push: false: no room: where the channel has a buffer, that is
     * full; where it has none, two slots of the queue are not free, or a message has entered it in this
     * cycle. ring_peek: the message that this SM sees on a channel; false: none. ring_pop takes it; ring_pass
     * lets one that is for all go on to the next SM. */
    bool (*ring_push)(void *host, enum mech_ring_channel channel, const struct mech_ring_message *m);
    bool (*ring_peek)(void *host, enum mech_ring_channel channel, struct mech_ring_message *m);
    void (*ring_pop)(void *host, enum mech_ring_channel channel);
    void (*ring_pass)(void *host, enum mech_ring_channel channel);
    /* With MECH_USES_SHARERS: which L1s held the whole line, of global memory, when the cycle before ended: a
     * mask of SMs, [(sm_count + 63) / 64] words, valid until the hook returns. */
    const uint64_t *(*sharers)(void *host, uint64_t line);
    /* With MECH_USES_AGES: how old the copy of a line of global memory in the L1 of an SM is: this SM's now,
     * another one's when the cycle before ended. 0: since the copy was read at the L2, that has performed a
     * store to the line, or the host has written to it. Otherwise a number for data that is made of the copy
     * (miss_as_of). */
    uint64_t (*copy_as_of)(void *host, uint32_t sm, uint64_t line);
    /* Thread instructions that this SM has issued since the machine was made. */
    uint64_t (*thread_insts)(void *host);
    /* Moves the registers of a CTA to memory or back, one row of 128 bytes a cycle, as real traffic; those
     * that come back go first. From the call on until they are back (on_cta REGISTERS_IN) no warp of the CTA
     * issues. False: a CTA moves in this direction already, or this one is not where it would have to be, has
     * ended, or finds too few rows. */
    bool (*cta_registers)(void *host, const struct mech_transfer *t);

    /* CTAs beyond the slots of the schedulers: for the mechanism that fills admit.
     *
     * cta_swap: `out` loses its slots, `in` has them (or free ones) after `cycles`, one at least; then comes
     * on_cta OUT and IN. Either may be MECH_NO_CTA. Slots of `out` that `in` does not get are free after
     * `cycles`. The age of a warp stays. False: `out` is not active and stalled (now), `in` is not inactive,
     * one of them lacks its registers, or `in` would not find slots; nothing has changed. */
    bool (*cta_swap)(void *host, uint32_t out, uint32_t in, uint32_t cycles);
    /* In init alone: STALLED is told of a CTA that has been stalled for this many cycles; the largest number
     * over all mechanisms. Waits for shared memory and hits of the L1 are shorter than waits for misses. */
    void (*stall_after)(void *host, uint32_t cycles);
    /* The PCs at which parts of a warp go on: of lanes that run together, of lanes that wait for others, of
     * their callers; distinct. How many there are; at most max are written. 0: the warp has ended. */
    uint32_t (*warp_pcs)(void *host, uint32_t cta_slot, uint32_t index, uint32_t *pcs, uint32_t max);
    /* Registers that are live before an instruction of the kernel of a CTA, as a set. */
    const uint64_t *(*cta_live)(void *host, uint32_t cta_slot, uint32_t pc);
    /* cta_park: the rows of an inactive CTA are free. The mechanism keeps a set of registers of each warp
     * (MECH_REGISTER_WORDS words each); what is not in it is lost. cta_unpark: an inactive CTA has rows
     * again; false: there are too few. */
    void (*cta_park)(void *host, uint32_t cta_slot, const uint64_t *kept);
    bool (*cta_unpark)(void *host, uint32_t cta_slot);
    /* Are there CTAs that have not started? As the SM was told after on_cta START of its newest CTA, or when
     * it last asked for one by making room. */
    bool (*ctas_left)(void *host);
    /* Reads 32 bytes of memory that belongs to the mechanism, on all SMs the same: past the L1, as real
     * traffic. on_memory_read tells when it is here. False: too many reads are under way. code_address: the
     * offset of an instruction in the code of all kernels, 8 bytes each, for tables by instruction in this
     * memory. */
    bool (*memory_read)(void *host, uint64_t offset, uint32_t token);
    uint64_t (*code_address)(void *host, uint32_t cta_slot, uint32_t pc);

    /* The mechanism cannot run this kernel: ends the run with this sentence. */
    void (*refuse)(void *host, const char *why);
};

/* ---- SMs in cache mode, and the slices of the L2 ---- */

/* A part of a helper kernel: warps that run one entry. */
struct mech_helper_part {
    /* the entry that runs; its only parameter is the address of a table with the addresses of the window
     * lines of each of its warps */
    const char *entry;
    /* warps on each SM in cache mode, at least one; dynamic shared memory of each */
    uint32_t warps, shared_bytes;
    /* local memory of a thread; it stays in the L1 of its SM, 4 bytes of each lane in a line */
    uint32_t local_bytes;
};

/* What a helper kernel needs beside its PTX. */
enum { MECH_HELPER_PARTS = 3 };
struct mech_helper {
    /* Threads of the first part may have the registers that the others leave. Warps are numbered part by
     * part, in each of them SM by SM; warp w belongs to slice w modulo slices. */
    struct mech_helper_part parts[MECH_HELPER_PARTS];
    uint32_t part_count;
    /* lines of the controller's window that each warp has; loads of them that it has parked while it waits
     * for work */
    uint32_t window_lines, window_loads;
};

enum mech_request_kind { MECH_READ, MECH_WRITE, MECH_ATOMIC };

/* A request at the tags of an L2 slice. */
struct mech_request {
    /* core cycle; names the request in ports */
    uint64_t cycle;
    uint32_t token;
    /* enum mech_request_kind */
    uint8_t kind;
    /* a write that does not cover all bytes of its sectors */
    bool is_partial;
    /* it comes from the helper kernel, and is for line `window` of the slice's window: MECH_WRITE, or
     * MECH_READ, whose value is what the line holds when it is applied */
    bool is_window;
    uint32_t window;
    /* 32-byte sectors of the line; SM that sent it */
    uint32_t sectors, sm;
    /* address of the line; its number within the slice: no two lines of a slice share one, and numbers are
     * dense. has_bytes: the line lies in device memory (line_bytes); registers and local memory do not. */
    uint64_t line, number;
    bool has_bytes;
};

enum mech_take {
    MECH_PASS,
    MECH_CLAIM,
    /* the mechanism has no room: the request waits at the tags, and those of the program behind it, while the
     * helper's go on */
    MECH_WAIT
};

/* What a mechanism may do at a slice. */
struct mech_slice_ports {
    void *host;
    /* this slice; lines that its cache holds; warps of the helper that belong to it, and SMs in cache mode */
    uint32_t index, slice_count, lines, line_bytes, warps, cache_sms;
    /* Zeroed memory that lives until the helper starts again (slice_init). */
    void *(*memory)(void *host, size_t bytes);
    /* A claimed atomic, or load of the window, takes effect when the step ends, once, and before its
     * reply. */
    void (*apply)(void *host, uint32_t token);
    /* The claimed request is answered: its reply waits for room in the response queue. */
    void (*reply)(void *host, uint32_t token);
    /* The claimed load of the window waits for work: a machine whose helper waits is idle. */
    void (*park)(void *host, uint32_t token);
    /* Reads sectors of a line from DRAM, past the L2's tags (on_dram tells when they have come), or writes
     * them; where the L2 has no sectors, the whole line. */
    void (*dram_read)(void *host, uint64_t line, uint32_t sectors, uint32_t tag);
    void (*dram_write)(void *host, uint64_t line, uint32_t sectors);
    /* The bytes of a line of the window, which the slice may write. */
    unsigned char *(*window)(void *host, uint32_t window);
    /* The bytes of a line with has_bytes, as the last step left them. */
    const unsigned char *(*line)(void *host, uint64_t line);
    /* A law of the mechanism is broken: ends the run with this sentence. */
    void (*refuse)(void *host, const char *why);
};

/* A grid that was alone on the machine, from its launch to its end (choose_sms). */
struct mech_grid_run {
    /* the same for all launches of a kernel with this grid and these blocks */
    uint64_t kernel;
    /* SMs in cache mode meanwhile */
    uint32_t cache_sms;
    /* core cycles; warp instructions of the program; command clocks of all DRAM channels, and those of them
     * with data on the bus */
    uint64_t cycles, warp_insts, dram_cycles, dram_busy;
};

enum { MECH_ROW_BYTES = 128 };
/* Ways that the L1 can ever have: the machine's own, and those whose lines fit into the register file. */
static inline uint32_t mech_l1_ways_max(const struct mech_ports *p)
{
    const uint64_t in_registers = (uint64_t)p->register_rows * MECH_ROW_BYTES / p->line_bytes;
    return p->l1_ways + (uint32_t)(in_registers / p->l1_sets);
}

/* What a mechanism claims for itself: two that own the same thing are an error that names both. */
enum mech_owns {
    /* the rows that hold no registers: registers_take */
    MECH_OWNS_REGISTERS = 1,
    /* rows for registers of CTAs that own no rows: cta_rows, registers_keep */
    MECH_KEEPS_REGISTERS = 2
};

/* Parts of the machine that are there only where a mechanism uses them. While one of these is there, SMs do
 * not run ahead of each other. */
enum mech_uses {
    /* ring_push, ring_peek, ring_pop, ring_pass, on_ring: one mechanism alone */
    MECH_USES_RING = 1,
    MECH_USES_SHARERS = 2,
    /* copy_as_of */
    MECH_USES_AGES = 4
};

/* What may_miss would say to a load that it has refused or let go before. */
enum mech_hold { MECH_HOLD_UNKNOWN, MECH_HOLD_NO, MECH_HOLD_YES };

struct mechanism {
    /* HEDDLE_MECHANISM_API */
    uint32_t api;
    const char *name, *summary, *paper;
    /* rows of a struct of param_bytes, "NAME.something" each; may be NULL */
    const struct param_row *params;
    size_t param_bytes;
    /* rows with offsets into the state, "NAME.something" each; may be NULL. Names are of letters, digits, '-'
     * and '_'. */
    const struct stat_row *stats;
    /* what its events cost, "NAME.something" each; may be NULL. Read when energy is printed. */
    const struct energy_row *energy;
    size_t state_bytes, gpu_state_bytes;
    /* period of on_timer in core cycles; 0 = never */
    uint32_t timer_cycles;
    /* period of on_gpu_timer in core cycles; 0 = never. gpu_timer_period, if filled, gives it instead. */
    uint32_t gpu_timer_cycles;
    uint32_t (*gpu_timer_period)(const void *params);
    /* enum mech_owns, a mask */
    uint32_t owns;
    /* on_cta is told of STALLED and RESUMED too, for which the SM has to look at its CTAs in every cycle; as
     * it is of all kinds where a mechanism fills admit */
    bool hears_stalls;
    /* A miss that take_miss claims or fills holds a line of the L1 from then on, as one that goes to the L2
     * does; take_miss is asked when a line can be replaced, and victim before it. Without it the line is
     * taken when the data comes. */
    bool claims_lines;
    /* names of the kinds of its notes, NULL-terminated; may be NULL */
    const char *const *note_names;
    /* a state for each slice of the L2; where there is one, the offsets of `stats` are into it */
    size_t slice_state_bytes;
    /* the state of choose_sms */
    size_t choice_bytes;

    /* Do the parameters fit the machine and each other? Once, before the SMs' init; their bounds are kept
     * already. Unless they fit, it writes why into reason: a sentence without a dot, of MECH_REASON_BYTES
     * at most. */
    enum mech_fit (*check)(const void *params, const struct mech_machine *machine, char *reason);
    /* Storage of its hardware, with these parameters on a machine that they fit. Asked when somebody wants to
     * know, not by a run. */
    void (*cost)(const void *params, const struct mech_machine *machine, struct mech_cost *cost);
    /* What it uses with these parameters: enum mech_uses, a mask. Once, before the SMs' init. NULL: 0. */
    uint32_t (*uses)(const void *params);
    /* params and ports live as long as the state: keep the pointers. */
    void (*init)(void *state, void *gpu_state, const void *params, const struct mech_ports *ports);
    /* Once, before the SMs' init. */
    void (*gpu_init)(void *gpu_state, const void *params, uint32_t sm_count);
    /* is_start: the SM had no kernel and gets its first CTA. Otherwise: its last kernel has ended. */
    void (*on_kernel)(void *state, bool is_start);
    /* A grid comes to the machine: once for each grid and SM, before its first CTA. */
    void (*on_launch)(void *state, const struct mech_launch *e);

    /* ---- policies ---- */

    /* How many SMs, the last ones, are in cache mode: they get no CTA of the program and run the helper
     * kernel from the first launch on. With choose_sms: how many may be. Asked once. */
    uint32_t (*cache_sms)(const void *params, uint32_t sm_count);
    /* How many of those are in cache mode from now on? Asked once before the SMs' init, with ran = NULL, and
     * then after each grid that was alone on the machine. Roles change when the next grid comes and finds the
     * machine empty: the helper retires (on_retire), and starts again (slice_init). NULL: always all. */
    uint32_t (*choose_sms)(void *choice, const void *params, const struct mech_grid_run *ran);
    /* The helper kernel: writes its PTX as snprintf does, and returns how long it is. Fill both or none. */
    size_t (*helper)(const void *params, struct mech_helper *helper, char *ptx, size_t room);
    /* A request of an SM is at the tags of a slice: does the mechanism take it? After MECH_WAIT it is asked
     * again, as often as the slice looks: that answer changes nothing, and turns into another one only in a
     * hook of the slice. Of the helper's, those for the window alone come here, and have to be claimed. */
    enum mech_take (*take_request)(void *slice_state, const struct mech_request *r);
    /* A bit of view->ready, or MECH_NO_WARP to leave the slot empty (sm.slots_held); it is asked again in the
     * next cycle. */
    int (*pick)(void *state, const struct mech_sched_view *view);
    /* A load missed in the tags: what becomes of it? Asked once for each miss, when an MSHR is free, before a
     * line is taken, something is evicted or the miss queue is looked at. With claims_lines, when a line of
     * the set can be replaced as well: a dirty one has then left already. *answer is PASS after 0 cycles at
     * first. */
    void (*take_miss)(void *state, const struct mech_l1_access *a, uint32_t token, struct mech_miss *answer);
    /* Replacement in the L1. victim: a way of view->candidates, when a line has to leave for one that comes
     * in. The line that it chose stays where it is dirty and its content finds no room in the miss queue, and
     * where take_miss, asked after it with claims_lines, keeps no line. The answer holds for its set until a
     * line of the L1 changes (a hit, a line that comes or leaves); then it is asked again, also for the same
     * access. line_touched: a hit; line_inserted: a line was put into a way, which tells what became of an
     * answer. */
    uint32_t (*victim)(void *state, const struct mech_victim_view *view);
    void (*line_touched)(void *state, uint32_t set, uint32_t way);
    void (*line_inserted)(void *state, uint32_t set, uint32_t way);

    /* May one more CTA become resident? Stands in for the occupancy rule; registers and shared memory must be
     * there all the same. A CTA that is admitted without free slots starts inactive. Asked as often as the
     * dispatcher looks: it changes nothing. A no turns into a yes only when a CTA ends or a port has made
     * room. CTAs of a cooperative grid are admitted by the occupancy rule. */
    bool (*admit)(void *state, struct mech_admit *a);

    /* ---- votes ---- */

    /* May this miss take a line of the L1? Asked once for each access, however often the L1 refuses it. */
    bool (*may_allocate)(void *state, const struct mech_l1_access *a);
    /* May this load miss? Asked after the tags, before line and MSHR. No: it is refused, or waits in the
     * re-execution queue, and is asked for again each time it is offered. Yes holds until the L1 has taken
     * it. */
    bool (*may_miss)(void *state, const struct mech_l1_access *a);
    /* Predicts may_miss for a load of this warp: YES = it refuses, NO = it allows, UNKNOWN = ask it. The
     * answer must hold until another hook is called or a port's answer changes, and a call of may_miss that
     * is left out must change nothing but what on_held counts. An SM that could only offer loads of the
     * re-execution queue in vain then sleeps; without this hook it offers one in each cycle. */
    enum mech_hold (*holds)(void *state, int warp);
    /* A load hits a line in this way; those from l1_ways on (l1_lines) lie in registers: how many cycles more
     * than l1_latency does it take? The largest answer counts; hits behind it do not overtake it. */
    uint32_t (*extra_hit)(void *state, uint32_t set, uint32_t way);

    /* ---- events ---- */

    /* An access is one that the L1 took; one that it refused and that comes again is not told. Warps start
     * in launch order. on_timer: the cycle at which it was due. */
    void (*on_issue)(void *state, const struct mech_issue *e);
    /* Tells how many calls of may_miss the host left out because `holds` said YES. */
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
    /* A message of the ring can be seen (ring_peek): at the beginning of the SM's cycle, in each cycle until
     * it is taken or let go on. */
    void (*on_ring)(void *state, uint64_t cycle);
    /* Hooks of a slice touch its own state alone. slice_init: when the helper is there, each time that it
     * starts; keeps_line: after a change of roles, may the slice keep a line that it has, by its number
     * (NULL: each of them); on_dram: what dram_read asked for is here; on_host_write: the host has written to
     * a line, while no kernel runs; on_retire: the helper is to end: each load of the window that is parked,
     * or comes later, is answered so that its warp exits. */
    void (*slice_init)(void *slice_state, const void *params, const struct mech_slice_ports *ports);
    bool (*keeps_line)(void *slice_state, uint64_t number);
    void (*on_dram)(void *slice_state, uint64_t cycle, uint32_t tag);
    void (*on_host_write)(void *slice_state, uint64_t line, uint64_t number);
    void (*on_retire)(void *slice_state);
    /* Before the SMs of its cycle run, with all of them at rest: the one hook that may read the entries of
     * all SMs in the GPU-wide state, and write what all of them read. */
    void (*on_gpu_timer)(void *gpu_state, uint64_t cycle);
};

/* A plug-in built as a shared object exports this symbol, marked with HEDDLE_MECHANISM_EXPORT. */
#define HEDDLE_MECHANISM_SYMBOL "heddle_mechanism"
#define HEDDLE_MECHANISM_EXPORT __attribute__((visibility("default")))
extern const struct mechanism heddle_mechanism;

#endif
