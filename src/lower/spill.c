/* spill.c: spill everywhere: a load before each use, a store behind each definition.
 *
 * A value that depends on constants alone (a special register, an address) is computed again instead. A
 * guarded definition first loads the old value, because the lanes that it leaves out keep theirs. */
#include "lower/spill.h"

#include "lower/opnd.h"

struct spiller {
    struct routine *u;
    const bool *which;
    struct spill_temps *temps;
    /* before spilling */
    uint32_t vreg_count;
    /* vreg -> slot (general) or vreg (predicate) that holds it; MIR_NO_VREG = none yet */
    uint32_t *memory;
    /* vreg -> instruction that computes it again, CFG_NONE = none */
    uint32_t *remake;
    VEC(struct mir_inst) out;
};

static uint32_t new_temp(struct spiller *s, uint8_t cls)
{
    uint32_t v = mir_new_vreg(&s->u->mir, cls);
    assert(s->temps->flags.len <= v); /* the flag below is that of v */
    while (s->temps->flags.len < v) vec_push(&s->temps->flags, false);
    vec_push(&s->temps->flags, true);
    return v;
}

static bool can_remake(const struct mir_inst *in)
{
    if (opnd_is_guarded(in) || !opnd_is_pure(in) || opnd_has_effect(in)) return false;
    for (uint32_t k = 1; k < ISA_DST_MAX; k++)
        if (in->dst[k].kind != MIR_NONE) return false;
    for (uint32_t k = 0; k < ISA_SRC_MAX; k++)
        if (in->src[k].kind == MIR_VREG) return false;
    return true;
}

static void find_remakes(struct spiller *s)
{
    uint32_t *defs_seen = mem_zalloc(sizeof *defs_seen * (s->vreg_count + 1));
    for (uint32_t i = 0; i < s->u->mir.insts.len; i++) {
        const struct mir_inst *in = &s->u->mir.insts.data[i];
        uint32_t defs[ISA_DST_MAX], n = opnd_defs(in, defs);
        for (uint32_t k = 0; k < n; k++) {
            defs_seen[defs[k]]++;
            s->remake[defs[k]] = defs_seen[defs[k]] == 1 && can_remake(in) ? i : CFG_NONE;
        }
    }
    free(defs_seen);
}

static uint32_t memory_of(struct spiller *s, uint32_t v)
{
    if (s->memory[v] != MIR_NO_VREG) return s->memory[v];
    uint8_t cls = s->u->mir.vregs.data[v].cls;
    uint32_t bytes = cls == MIR_D ? 8 : 4;
    s->memory[v] = cls == MIR_P ? mir_new_vreg(&s->u->mir, MIR_R)
                                : mir_new_slot(&s->u->mir, MIR_SLOT_SPILL, bytes, bytes, NULL);
    return s->memory[v];
}

static void push_load(struct spiller *s, uint32_t v, uint32_t temp, uint32_t loc)
{
    uint8_t cls = s->u->mir.vregs.data[v].cls;
    if (s->remake[v] != CFG_NONE) {
        struct mir_inst again = s->u->mir.insts.data[s->remake[v]];
        again.dst[0] = mir_vreg(temp);
        again.loc = loc;
        vec_push(&s->out, again);
        return;
    }
    uint32_t memory = memory_of(s, v);
    struct mir_inst in = opnd_inst(cls == MIR_P   ? ISA_OP_R2P
                                   : cls == MIR_D ? ISA_OP_LD_64
                                                  : ISA_OP_LD_32,
                                   loc);
    in.dst[0] = mir_vreg(temp);
    in.src[0] = mir_vreg(memory);
    if (cls != MIR_P) {
        in.src[0] = (struct mir_opnd){.kind = MIR_SLOT, .v = memory};
        in.mod = ISA_LOCAL;
        in.flags = ISA_A32;
        in.vec = 1;
    }
    vec_push(&s->out, in);
}

static void push_store(struct spiller *s, uint32_t v, uint32_t temp, uint32_t loc)
{
    uint8_t cls = s->u->mir.vregs.data[v].cls;
    uint32_t memory = memory_of(s, v);
    struct mir_inst in = opnd_inst(cls == MIR_P   ? ISA_OP_P2R
                                   : cls == MIR_D ? ISA_OP_ST_64
                                                  : ISA_OP_ST_32,
                                   loc);
    if (cls == MIR_P) {
        in.dst[0] = mir_vreg(memory);
        in.src[0] = mir_vreg(temp);
    } else {
        in.src[0] = (struct mir_opnd){.kind = MIR_SLOT, .v = memory};
        in.src[1] = mir_vreg(temp);
        in.mod = ISA_LOCAL;
        in.flags = ISA_A32;
        in.vec = 1;
    }
    vec_push(&s->out, in);
}

/* The spilled vregs of one instruction, each with its temporary. */
struct stand_in {
    uint32_t v, temp;
    bool reads, writes;
};
struct stand_ins {
    /* arrays are never spilled */
    struct stand_in list[1 + ISA_SRC_MAX + ISA_DST_MAX];
    uint32_t count;
};

static struct stand_in *stand_in_for(struct spiller *s, struct stand_ins *t, uint32_t v)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->list[i].v == v) return &t->list[i];
    assert(t->count < ARRAY_LEN(t->list));
    t->list[t->count] = (struct stand_in){v, new_temp(s, s->u->mir.vregs.data[v].cls), false, false};
    return &t->list[t->count++];
}

static void rewrite_inst(struct spiller *s, struct mir_inst in)
{
    struct stand_ins t = {.count = 0};
    bool guarded = opnd_is_guarded(&in);
    if (guarded && s->which[in.guard]) {
        struct stand_in *i = stand_in_for(s, &t, in.guard);
        i->reads = true;
        in.guard = i->temp;
    }
    for (uint32_t k = 0; k < ISA_SRC_MAX; k++) {
        if (in.src[k].kind != MIR_VREG || !s->which[in.src[k].v]) continue;
        struct stand_in *i = stand_in_for(s, &t, in.src[k].v);
        i->reads = true;
        in.src[k].v = i->temp;
    }
    for (uint32_t k = 0; k < ISA_DST_MAX; k++) {
        if (in.dst[k].kind != MIR_VREG || !s->which[in.dst[k].v]) continue;
        if (s->remake[in.dst[k].v] != CFG_NONE) return; /* made where it is used */
        struct stand_in *i = stand_in_for(s, &t, in.dst[k].v);
        i->writes = true;
        i->reads |= guarded;
        in.dst[k].v = i->temp;
    }
    for (uint32_t i = 0; i < t.count; i++)
        if (t.list[i].reads) push_load(s, t.list[i].v, t.list[i].temp, in.loc);
    vec_push(&s->out, in);
    for (uint32_t i = 0; i < t.count; i++)
        if (t.list[i].writes) push_store(s, t.list[i].v, t.list[i].temp, in.loc);
}

void routine_spill(struct routine *u, const bool *which, struct spill_temps *temps)
{
    uint32_t n = u->mir.vregs.len;
    struct spiller s = {.u = u, .temps = temps, .vreg_count = n};
    bool *chosen = mem_zalloc(n + 1);
    memcpy(chosen, which, n);
    s.which = chosen;
    s.memory = mem_alloc(sizeof *s.memory * (n + 1) * 2);
    s.remake = s.memory + n + 1;
    for (uint32_t v = 0; v < n; v++) s.memory[v] = MIR_NO_VREG, s.remake[v] = CFG_NONE;
    find_remakes(&s);
    for (uint32_t i = 0; i < u->mir.insts.len; i++) rewrite_inst(&s, u->mir.insts.data[i]);
    vec_free(&u->mir.insts);
    u->mir.insts.data = s.out.data;
    u->mir.insts.len = s.out.len;
    u->mir.insts.cap = s.out.cap;
    free(s.memory);
    free(chosen);
}
