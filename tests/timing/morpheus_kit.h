/* morpheus_kit.h: for the tests of Morpheus: a small machine with SMs in cache mode, kernels that touch
 * lines, and which lines of a buffer are the extended LLC's. The machine has one slice, and one warp in cache
 * mode unless a test says otherwise, so that all lines of the extended LLC are in one set. */
#ifndef HEDDLE_MORPHEUS_KIT_H
#define HEDDLE_MORPHEUS_KIT_H

#include "timing_kit.h"

#include "core/timed_impl.h"
#include "mech/morpheus_state.h"

enum { LINES = 128, OUT_LINES = 128, LINE_BYTES = 128, BLOCKS = 32 };

/* One lane: loads a word, or stores, or adds. */
#define TOUCH                                                                                                \
    ".visible .entry touch(.param .u64 at, .param .u32 op, .param .u64 out)\n{\n"                            \
    ".reg .u64 %a, %o; .reg .u32 %v, %k; .reg .pred %p;\n"                                                   \
    "ld.param.u64 %a, [at]; ld.param.u32 %k, [op]; ld.param.u64 %o, [out]; mov.u32 %v, 7;\n"                 \
    "setp.eq.u32 %p, %k, 1; @%p bra store; setp.eq.u32 %p, %k, 2; @%p bra atomic;\n"                         \
    "ld.global.cg.u32 %v, [%a]; bra end;\n"                                                                  \
    "store: st.global.u32 [%a], %v; bra end;\n"                                                              \
    "atomic: atom.global.add.u32 %v, [%a], 5;\n"                                                             \
    "end: setp.eq.u64 %p, %o, 0; @%p exit; st.global.u32 [%o], %v; ret;\n}\n"
/* Two lanes load a line each. */
#define PAIR                                                                                                 \
    ".visible .entry pair(.param .u64 one, .param .u64 two)\n{\n"                                            \
    ".reg .u64 %a, %b; .reg .u32 %v; .reg .pred %p;\n"                                                       \
    "ld.param.u64 %a, [one]; ld.param.u64 %b, [two]; mov.u32 %v, %tid.x; setp.ne.u32 %p, %v, 0;\n"           \
    "selp.b64 %a, %b, %a, %p; ld.global.cg.u32 %v, [%a]; setp.eq.u32 %p, %v, -1; @%p trap; ret;\n}\n"
/* Adds to a line and loads another one; when that is there it loads or stores a word of a third. */
#define LATER                                                                                                \
    ".visible .entry later(.param .u64 one, .param .u64 two, .param .u64 three, .param .u32 op)\n{\n"        \
    ".reg .u64 %a, %b, %c; .reg .u32 %v, %k; .reg .pred %p;\n"                                               \
    "ld.param.u64 %a, [one]; ld.param.u64 %b, [two]; ld.param.u64 %c, [three]; ld.param.u32 %k, [op];\n"     \
    "red.global.add.u32 [%a], 1; ld.global.cg.u32 %v, [%b]; setp.eq.u32 %p, %v, -1; @%p trap;\n"             \
    "setp.eq.u32 %p, %k, 1; @%p bra store; ld.global.cg.u32 %v, [%c]; setp.eq.u32 %p, %v, -1; @%p trap; "    \
    "ret;\n"                                                                                                 \
    "store: st.global.u32 [%c], %k; ret;\n}\n"
/* Each thread loads, stores to its own word and adds to a shared one, here and there in the buffer. */
#define MIX                                                                                                  \
    ".visible .entry mix(.param .u64 buf, .param .u64 sums, .param .u32 rounds)\n{\n"                        \
    ".reg .u64 %b, %s, %x; .reg .u32 %i, %t, %n, %r, %v, %w; .reg .pred %p;\n"                               \
    "ld.param.u64 %b, [buf]; ld.param.u64 %s, [sums]; ld.param.u32 %n, [rounds];\n"                          \
    "mov.u32 %i, %ctaid.x; mov.u32 %t, %ntid.x; mov.u32 %r, %tid.x; mad.lo.u32 %i, %i, %t, %r;\n"            \
    "mov.u32 %r, 0;\n"                                                                                       \
    "again: mad.lo.u32 %t, %r, 37, %i; and.b32 %t, %t, 1023; mul.wide.u32 %x, %t, 16; add.u64 %x, %b, %x;\n" \
    "ld.global.cg.u32 %v, [%x]; add.u32 %w, %i, %r; and.b32 %w, %w, 3; setp.ne.u32 %p, %w, 0;\n"             \
    "@%p bra skip; st.global.u32 [%x + 4], %i;\n"                                                            \
    "skip: and.b32 %t, %r, 7; mul.wide.u32 %x, %t, 512; add.u64 %x, %s, %x;\n"                               \
    "atom.global.add.u32 %v, [%x], 1; red.global.max.u32 [%x + 4], %i; red.global.add.f32 [%x + 8], "        \
    "0f3f800000;\n"                                                                                          \
    "add.u32 %r, %r, 1; setp.lt.u32 %p, %r, %n; @%p bra again; ret;\n}\n"
/* One warp loads every line of the buffer. */
#define SCAN                                                                                                 \
    ".visible .entry scan(.param .u64 buf, .param .u32 lines, .param .u64 out)\n{\n"                         \
    ".reg .u64 %b, %o, %x; .reg .u32 %i, %n, %v, %s, %l; .reg .pred %p;\n"                                   \
    "ld.param.u64 %b, [buf]; ld.param.u32 %n, [lines]; ld.param.u64 %o, [out]; mov.u32 %l, %laneid;\n"       \
    "mad.wide.u32 %x, %l, 4, %b; mov.u32 %i, 0; mov.u32 %s, 0;\n"                                            \
    "again: ld.global.cg.u32 %v, [%x]; add.u32 %s, %s, %v; add.u64 %x, %x, 128; add.u32 %i, %i, 1;\n"        \
    "setp.lt.u32 %p, %i, %n; @%p bra again;\n"                                                               \
    "mad.wide.u32 %o, %l, 4, %o; st.global.u32 [%o], %s; ret;\n}\n"
/* One lane loads a word of every line of a buffer, and stores nothing. */
#define LOOK                                                                                                 \
    ".visible .entry look(.param .u64 buf, .param .u32 lines)\n{\n"                                          \
    ".reg .u64 %x; .reg .u32 %i, %n, %v; .reg .pred %p;\n"                                                   \
    "ld.param.u64 %x, [buf]; ld.param.u32 %n, [lines]; mov.u32 %i, 0;\n"                                     \
    "again: ld.global.cg.u32 %v, [%x]; setp.eq.u32 %p, %v, -1; @%p exit; add.u64 %x, %x, 128;\n"             \
    "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra again; ret;\n}\n"
static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n" TOUCH PAIR LATER MIX SCAN LOOK;

enum { LOAD, STORE, ATOMIC };

/* ---- the run ---- */

static struct rig rig;
static uint64_t buf, out;
/* lines of the buffer that the extended LLC has, as find_lines found them */
static uint32_t extended[LINES], extended_count;

struct morpheus_run {
    const char *settings[10];
    const char *sets[6];
    /* NULL: fermi */
    const char *machine;
    bool is_plain;
    struct timed_options timed;
};

static const char *const one_set[] = {"morpheus.cache_sms=1", "morpheus.warps=1", "morpheus.blocks=32",
                                      "morpheus.l1_warps=0"};
/* One slice of 8 lines. */
static const char *const small[] = {"sm.count=4",       "addr.channels=1", "addr.slices=1",
                                    "l2.slice_size=1K", "l2.ways=2",       "sm.perfect_icache=true"};

static inline uint32_t join(const char *const *a, uint32_t n, const char *const *more, const char **all)
{
    memcpy(all, a, n * sizeof *all);
    while (*more) all[n++] = *more++;
    return n;
}

static inline void open_run(const struct morpheus_run *r)
{
    static const char *const morpheus = "morpheus";
    const char *sets[16], *settings[16];
    struct rig_options o = {.machine = r->machine, .sets = sets, .timed = r->timed};
    o.set_count = join(small, ARRAY_LEN(small), r->sets, sets);
    if (!r->is_plain) {
        o.timed.mechs = &morpheus;
        o.timed.mech_count = 1;
        o.timed.mech_settings = settings;
        o.timed.mech_setting_count = join(one_set, ARRAY_LEN(one_set), r->settings, settings);
        assert(o.timed.mech_setting_count <= ARRAY_LEN(settings));
    }
    rig_open(&rig, ptx, &o);
    buf = rig_alloc(&rig, LINES * LINE_BYTES);
    out = rig_alloc(&rig, OUT_LINES * LINE_BYTES);
    for (uint32_t i = 0; i < LINES * LINE_BYTES / 4; i++) ((uint32_t *)(uintptr_t)buf)[i] = i;
}

static inline uint64_t stat_at(uint32_t kernel, const char *name)
{
    return (uint64_t)rig_stat(&rig, kernel, name);
}
/* Of the newest kernel. */
static inline uint64_t stat_of(const char *name) { return stat_at(timed_kernel_count(rig.gpu) - 1, name); }

static inline uint64_t line_at(uint32_t i) { return buf + (uint64_t)extended[i] * LINE_BYTES; }

static inline void touch(uint64_t at, uint32_t op)
{
    rig_run(&rig, "touch", 1, 1, (const uint64_t[]){at, op, 0});
}
static inline void load(uint32_t i) { touch(line_at(i), LOAD); }

/* Loads the first line of the buffer that is the slice's own. The helper starts with the first kernel. */
static inline void load_own(void)
{
    uint32_t own = 0;
    while (own < extended_count && extended[own] == own) own++;
    touch(buf + own * LINE_BYTES, LOAD);
}

static inline bool hits(uint32_t i)
{
    load(i);
    return stat_of("morpheus.hits") == 1;
}

/* Which lines of the buffer are the extended LLC's: those whose load it is asked for. */
static inline void find_lines_of(const struct morpheus_run *r)
{
    extended_count = 0;
    open_run(r);
    for (uint32_t i = 0; i < LINES; i++) {
        touch(buf + i * LINE_BYTES, LOAD);
        if (stat_of("morpheus.requests")) extended[extended_count++] = i;
    }
    rig_close(&rig);
}

static inline int find_lines(void **state)
{
    find_lines_of(&(struct morpheus_run){0});
    return 0;
}

/* ---- all blocks ---- */

static inline uint32_t slice_count(void) { return rig.gpu->wiring.slice_count; }

static inline struct morpheus *controller(uint32_t slice)
{
    return mech_slices_state(rig.gpu->wiring.mech_slices, slice);
}

/* Blocks that the sets have, and those whose bytes are not what memory has. */
struct blocks {
    uint64_t there, stale;
};

static inline void use_params(const struct morpheus_params *params)
{
    for (uint32_t i = 0; i < slice_count(); i++) controller(i)->params = params;
}

/* Reads each line of the program at its set. No line is predicted to miss, and none is inserted: every block
 * is found, and none leaves. A read that hits compares the whole block with memory. */
static inline struct blocks look_at_blocks(void)
{
    const struct morpheus_params *params = controller(0)->params;
    struct morpheus_params look = *params;
    struct blocks blocks = {0};
    look.predictor = PREDICTOR_NONE;
    look.inserts = 0;
    use_params(&look);
    for (uint32_t i = 0; i < 2; i++) {
        rig_run(&rig, "look", 1, 1, (const uint64_t[]){i ? out : buf, i ? OUT_LINES : LINES});
        blocks.there += stat_of("morpheus.hits");
        blocks.stale += stat_of("morpheus.stale_reads");
        assert_int_equal(stat_of("morpheus.inserts") + stat_of("morpheus.dirty_evictions"), 0);
    }
    use_params(params);
    return blocks;
}

/* Blocks that all sets together can hold, those of a compressed set at the highest level; with perfect
 * prediction what they hold. */
static inline uint64_t blocks_of_sets(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < slice_count(); i++)
        for (uint32_t k = 0; k < controller(i)->set_count; k++) {
            const struct set *s = &controller(i)->sets[k];
            sum += controller(i)->params->predictor == PREDICTOR_PERFECT ? s->tag_count : s->blocks;
        }
    return sum;
}

/* ---- a mix of loads, stores and atomics ---- */

enum { CTAS = 12, THREADS = 64, ROUNDS = 24 };

static inline void run_mix(void)
{
    for (uint32_t i = 0; i < 2; i++)
        rig_run(&rig, "mix", CTAS, THREADS, (const uint64_t[]){buf, out, ROUNDS});
}

/* The sums that the adds leave; then all lines are read, and what the helper has of them is what memory
 * has. */
static inline void check_mix(void)
{
    const uint32_t *sums = (const uint32_t *)(uintptr_t)out;
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t adds = 2 * CTAS * THREADS * ROUNDS / 8;
        const float sum = (float)adds;
        assert_int_equal(sums[i * 128], adds);
        assert_int_equal(sums[i * 128 + 1], CTAS * THREADS - 1);
        assert_memory_equal(&sums[i * 128 + 2], &sum, sizeof sum);
    }
    rig_run(&rig, "scan", 1, 32, (const uint64_t[]){buf, LINES, out + 8192});
    rig_run(&rig, "scan", 1, 32, (const uint64_t[]){out, 8 * 4, out + 8192});
}

static inline uint64_t hash_of_mix(const struct morpheus_run *r, void (*prepare)(void))
{
    open_run(r);
    if (prepare) prepare();
    run_mix();
    check_mix();
    const uint64_t hash = timed_hash(rig.gpu);
    rig_close(&rig);
    return hash;
}

/* A run of the mix has the same statistics without skipping, and on 1, 2, 3, 8 and 64 threads, at most
 * `most`. `prepare` (NULL: nothing) fills the buffer before each. */
static inline void check_hashes(struct morpheus_run r, uint32_t most, void (*prepare)(void))
{
    static const uint32_t threads[] = {2, 3, 8, 64};
    const uint64_t hash = hash_of_mix(&r, prepare);
    r.timed.no_skip = true;
    assert_int_equal(hash_of_mix(&r, prepare), hash);
    for (uint32_t i = 0; i < ARRAY_LEN(threads) && threads[i] <= (IS_SANITIZED ? 3 : most); i++) {
        r.timed = (struct timed_options){.threads_always = true, .threads = threads[i]};
        assert_int_equal(hash_of_mix(&r, prepare), hash);
    }
}

#endif
