/* script_kit.h: for the tests of mechanisms on a machine: a kernel written as a short text, and its run.
 *
 * Every warp does what the script says, in order: a to z load a line of global memory (line 0 to 25), all
 * lanes the same word, and wait for it; A to Z store that word's value to it; * adds 0 to the word of line 0
 * atomically; # loads 32 lines, one a lane, and waits; $ stores the sum so far to local memory and loads it
 * back; _ waits for the CTA's other warps; only the first warp of a CTA does what follows !. At the end each
 * thread stores the sum of the values that it loaded, and the test checks the sum. Unless a test says
 * otherwise there is one SM with an L1 of one set of four lines. */
#ifndef HEDDLE_SCRIPT_KIT_H
#define HEDDLE_SCRIPT_KIT_H

#include <dlfcn.h>

#include "../timing/timing_kit.h"
#include "heddle/mechanism.h"

#define SQUEEZE HEDDLE_SOURCE_DIR "/tests/timing/squeeze.yaml"

enum { SCRIPT_LIST = 8, SCRIPT_LINES = 26, SCRIPT_WIDE = 32, LINE_BYTES = 128 };

struct play {
    const char *script;
    /* NULL-terminated lists; sets come after those of the small machine, unless `machine` is given */
    const char *mechs[SCRIPT_LIST], *settings[SCRIPT_LIST], *sets[SCRIPT_LIST];
    const char *machine;
    /* 0: 1 CTA of 32 threads */
    uint32_t grid, block;
    uint32_t threads;
    bool no_skip;
};

static struct rig rig;
/* The address of line 0 in the current play. */
static uint64_t script_buf;
static inline uint64_t line_at(char letter) { return script_buf + (uint64_t)(letter - 'a') * LINE_BYTES; }

/* ---- the kernel ---- */

/* z is 0 and x is line 0, but neither is known before all loads so far are back. */
#define SCRIPT_LATER "shr.u32 %%z, %%s, 31; cvt.u64.u32 %%x, %%z; add.u64 %%x, %%b, %%x; "

static inline void script_step(struct strbuf *out, char c)
{
    if (c >= 'a' && c <= 'z')
        strbuf_printf(out, "ld.global.u32 %%v, [%%b+%d]; add.u32 %%s, %%s, %%v;\n", (c - 'a') * LINE_BYTES);
    else if (c >= 'A' && c <= 'Z')
        strbuf_printf(out, SCRIPT_LATER "add.u32 %%z, %%z, %d; st.global.u32 [%%x+%d], %%z;\n", c - 'A' + 1,
                      (c - 'A') * LINE_BYTES);
    else if (c == '*')
        strbuf_printf(out, SCRIPT_LATER "red.global.add.u32 [%%x], %%z;\n");
    else if (c == '#')
        strbuf_printf(out, "ld.global.u32 %%v, [%%w+%d]; add.u32 %%s, %%s, %%v;\n",
                      SCRIPT_LINES * LINE_BYTES);
    else if (c == '$')
        strbuf_puts(out, "shr.u32 %z, %s, 31; mul.wide.u32 %l, %z, 4; mov.u64 %x, frame;\n"
                         "add.u64 %l, %l, %x; st.local.u32 [%l], %s; ld.local.u32 %s, [%l];\n");
    else if (c == '_')
        strbuf_puts(out, "bar.sync 0;\n");
    else if (c == '!')
        strbuf_puts(out, "mov.u32 %c, %tid.x; setp.gt.u32 %p, %c, 31;\n@%p bra end;\n");
    else
        assert_int_equal(c, ' ');
}

static inline void script_write(struct strbuf *out, const char *script)
{
    strbuf_puts(out, ".version 7.0\n.target sm_70\n.address_size 64\n"
                     ".visible .entry play(.param .u64 buf, .param .u64 out)\n{\n"
                     ".reg .u64 %b, %o, %w, %x, %l; .reg .u32 %v, %s, %t, %c, %n, %z; .reg .pred %p;\n");
    if (strchr(script, '$')) strbuf_puts(out, ".local .align 4 .b8 frame[8];\n");
    strbuf_puts(out, "ld.param.u64 %b, [buf]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %s, 0;\n"
                     "and.b32 %c, %t, 31; mul.wide.u32 %w, %c, 128; add.u64 %w, %b, %w;\n"
                     "mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %t, %c, %n, %t;\n"
                     "mul.wide.u32 %x, %t, 4; add.u64 %o, %o, %x;\n");
    for (const char *c = script; *c; c++) script_step(out, *c);
    strbuf_puts(out, "end:\nst.global.u32 [%o], %s;\nret;\n}\n");
}

/* The sum of a thread of a CTA: line i holds i + 1 in its first word. */
static inline uint32_t script_sum(const char *script, uint32_t thread)
{
    uint32_t sum = 0;
    for (const char *c = script; *c; c++) {
        if (*c == '!' && thread > 31) break;
        if (*c >= 'a' && *c <= 'z') sum += (uint32_t)(*c - 'a') + 1;
        if (*c == '#') sum += SCRIPT_LINES + thread % 32 + 1;
    }
    return sum;
}

/* ---- the run ---- */

static inline uint32_t script_count(const char *const *list)
{
    uint32_t n = 0;
    while (n < SCRIPT_LIST && list[n]) n++;
    return n;
}

static inline void play_open(const struct play *p)
{
    const char *sets[2 * SCRIPT_LIST] = {"sm.count=1", "l1.size=512", "l1.ways=4", "sm.perfect_icache=true"};
    uint32_t n = p->machine ? 0 : 4;
    for (uint32_t i = 0; i < script_count(p->sets); i++) sets[n++] = p->sets[i];
    struct strbuf ptx = {0};
    script_write(&ptx, p->script);
    rig_open(&rig, strbuf_text(&ptx),
             &(struct rig_options){.machine = p->machine,
                                   .sets = sets,
                                   .set_count = n,
                                   .timed = {.mechs = p->mechs,
                                             .mech_count = script_count(p->mechs),
                                             .mech_settings = p->settings,
                                             .mech_setting_count = script_count(p->settings),
                                             .threads = p->threads,
                                             .threads_always = p->threads > 1,
                                             .no_skip = p->no_skip}});
    strbuf_free(&ptx);
    script_buf = rig_alloc(&rig, (SCRIPT_LINES + SCRIPT_WIDE) * LINE_BYTES);
    for (uint32_t i = 0; i < SCRIPT_LINES + SCRIPT_WIDE; i++)
        *(uint32_t *)(uintptr_t)(script_buf + i * LINE_BYTES) = i + 1;
}

/* Opens, runs and checks the results. The rig stays open, for statistics, until play_close. */
static inline void play(const struct play *p)
{
    const uint32_t grid = p->grid ? p->grid : 1, block = p->block ? p->block : 32;
    play_open(p);
    const uint64_t out = rig_alloc(&rig, 4ull * grid * block);
    rig_run(&rig, "play", grid, block, (const uint64_t[]){script_buf, out});
    for (uint32_t i = 0; i < grid * block; i++)
        assert_int_equal(((uint32_t *)(uintptr_t)out)[i], script_sum(p->script, i % block));
}

static inline void play_close(void) { rig_close(&rig); }

static inline uint64_t stat_of(const char *name) { return (uint64_t)rig_stat(&rig, 0, name); }

struct wanted {
    const char *name;
    uint64_t value;
};
/* Checks statistics of the current play; a name of NULL ends the list. */
static inline void expect_stats(const struct wanted *w)
{
    for (; w->name; w++)
        if (stat_of(w->name) != w->value)
            fail_msg("%s is %llu, not %llu", w->name, (unsigned long long)stat_of(w->name),
                     (unsigned long long)w->value);
}

static inline void play_and_expect(const struct play *p, const struct wanted *w)
{
    play(p);
    expect_stats(w);
    play_close();
}

static inline uint64_t play_cycles(const struct play *p)
{
    play(p);
    const uint64_t cycles = rig_cycles(&rig, 0);
    play_close();
    return cycles;
}

/* ---- the same result ---- */

static inline uint64_t play_hash(const struct play *base, const char *machine, uint32_t threads, bool no_skip)
{
    struct play p = *base;
    p.machine = machine;
    p.threads = threads;
    p.no_skip = no_skip;
    play(&p);
    const uint64_t hash = timed_hash(rig.gpu);
    play_close();
    return hash;
}

/* Checks that statistics depend neither on skipped cycles nor on threads, on a machine of three SMs and on
 * one whose queues are as short as possible (squeeze.yaml). sets are those of the first. */
static inline void expect_same_everywhere(const struct play *base)
{
    static const char *const machines[] = {NULL, SQUEEZE};
    struct play p = *base;
    uint32_t n = script_count(p.sets);
    assert_true(n < SCRIPT_LIST);
    p.sets[n] = "sm.count=3";
    if (!p.grid) p.grid = 6;
    if (!p.block) p.block = 64;
    for (size_t i = 0; i < ARRAY_LEN(machines); i++) {
        if (machines[i]) memset(p.sets, 0, sizeof p.sets);
        const uint64_t all = play_hash(&p, machines[i], 1, true);
        for (uint32_t threads = 1; threads <= 3; threads += IS_SANITIZED ? 2 : 1)
            assert_int_equal(play_hash(&p, machines[i], threads, false), all);
        if (!IS_SANITIZED) assert_int_equal(play_hash(&p, machines[i], 3, true), all);
    }
}

/* ---- a mechanism of the test ---- */

/* blank.c, whose hooks a test fills before a play that attaches it. */
static struct mechanism *blank;
static const char *blank_file;
static struct mechanism blank_as_built;

static inline void blank_open(const char *folder)
{
    static char file[1024];
    snprintf(file, sizeof file, "%s/blank.so", folder);
    blank_file = file;
    void *so = dlopen(file, RTLD_NOW);
    blank = so ? dlsym(so, HEDDLE_MECHANISM_SYMBOL) : NULL;
    assert_non_null(blank);
    blank_as_built = *blank;
}

/* Gives it these hooks and no others. */
static inline void blank_fill(struct mechanism hooks)
{
    hooks.api = blank_as_built.api;
    hooks.name = blank_as_built.name;
    hooks.summary = blank_as_built.summary;
    hooks.paper = blank_as_built.paper;
    *blank = hooks;
}

#endif
