/* transfer.c: the SM's transfer engine: it moves the registers of a CTA to memory and back.
 *
 * Linebacker (Oh et al., ISCA'19, section 4) and Zorua-like schemes keep registers of CTAs that do not run in
 * memory. A row of the register file, 128 bytes, goes from its bank into a buffer, from there into the L1's
 * queue to the crossbar, and on as a write; a row comes back as a read, whose data waits in the buffer for
 * its bank. Rows are requests of their own class (REQ_CONTEXT), with addresses beyond all others: they pass
 * the L1, and the L2 and DRAM count them apart.
 *
 * (1) In a cycle one row enters the queue, and one row each way uses a bank. Rows that come back go first.
 * Where the queue is full, engine and load-store unit take turns. (2) From the request on until its registers
 * are back no warp of the CTA issues. (3) A CTA owns its rows until the last of them is acknowledged, and
 * again from the request to bring them back on. (4) Rows that left come back before their CTA ends: at the
 * end of a kernel none is away (laws.h). (5) A result that comes after its row was read to leave is written
 * to the row's address in memory, as a late row. Late rows go before all rows that come back, so that a read
 * finds them; a CTA is back when its late rows are acknowledged. Left out: what the rows hold; the emulator
 * keeps it. */
#include "core/sm/sm_impl.h"

#include "base/bitset.h"

/* Rows of a CTA lie one after another, CTA slot by CTA slot, SM by SM. */
static uint64_t address_of(const struct sm *m, uint32_t cta, uint32_t index)
{
    const struct residency *r = &m->residency;
    const uint64_t slot = (uint64_t)m->setup.index * r->cta_slots + cta;
    return REQ_CONTEXT_BASE + (slot * r->file.rows + index) * MECH_ROW_BYTES;
}

/* ---- life ---- */

static void taken_back(void *sm, tick now, uint32_t id);
static void has_left(void *sm, tick now) { l1_queue_changed(((struct sm *)sm)->l1, now); }

void transfer_init(struct sm *m)
{
    struct transfer *t = &m->transfer;
    for (int way = 0; way < TRANSFER_WAYS; way++) t->moves[way].cta = SM_NONE;
    transfer_rows_init(&t->here, MECH_TRANSFER_BUFFER_MAX);
    t->ctas = mem_zalloc(m->residency.cta_slots * sizeof *t->ctas);
    t->sent = t->moved = TICK_NEVER;
    sm_port_connect(m->port, SM_PORT_CONTEXT,
                    &(struct sm_port_handler){.ctx = m,
                                              .reply = taken_back,
                                              .sent = m->mech->has_level ? has_left : NULL,
                                              .line_bytes = MECH_ROW_BYTES});
}

void transfer_free(struct sm *m)
{
    vec_free(&m->transfer.late);
    transfer_rows_free(&m->transfer.here);
    free(m->transfer.ctas);
}

/* ---- CTAs ---- */

enum transfer_where transfer_where(const struct sm *m, uint32_t cta)
{
    return (enum transfer_where)m->transfer.ctas[cta].where;
}

static void set_where(struct sm *m, uint32_t cta, enum transfer_where where)
{
    struct transfer_cta *at = &m->transfer.ctas[cta];
    m->transfer.absent += (where != REGISTERS_HERE) - (at->where != REGISTERS_HERE);
    at->where = (uint8_t)where;
}

void transfer_hold(struct sm *m)
{
    uint64_t held[SM_BANKS_MAX] = {0};
    const struct residency *r = &m->residency;
    for (uint32_t i = 0; i < r->cta_slots; i++)
        for (uint32_t b = 0; transfer_where(m, i) != REGISTERS_HERE && b < m->state.bank_count; b++)
            held[b] |= r->ctas[i].slots[b];
    for (uint32_t b = 0; b < m->state.bank_count; b++) mech_hold(m->mech, b, held[b]);
}

/* Has a warp of the CTA instructions left? Then the CTA cannot end while its warps are held back. A CTA
 * without slots does not end either. */
static bool has_more(const struct sm *m, const struct sm_cta *c)
{
    uint64_t slots = 0;
    for (uint32_t b = 0; b < m->state.bank_count; b++) {
        slots |= c->slots[b];
        if (c->slots[b] & m->banks[b].warp.resident & ~m->banks[b].warp.done) return true;
    }
    return !slots;
}

static bool is_under_way(const struct sm *m, const struct sm_cta *c)
{
    for (uint32_t b = 0; b < m->state.bank_count; b++) FOR_BITS(k, c->slots[b])
        {
            const struct context *x = slot_context(&m->state, b * SM_BANK_SLOTS + k);
            if (x->board_flights || x->board_memory) return true;
        }
    return false;
}

/* ---- the request ---- */

/* Tells the load-store unit, which calls the stages, whether registers move and whether they may move in the
 * next cycle. */
static void set_work(struct sm *m, bool is_busy)
{
    const struct transfer_move *v = m->transfer.moves;
    const bool has_work = v[TRANSFER_OUT].cta != SM_NONE || v[TRANSFER_IN].cta != SM_NONE ||
                          m->transfer.late_sent < m->transfer.late.len;
    lsu_set_transfer(&m->lsu, has_work, has_work && is_busy);
}

COLD bool transfer_ask(struct sm *m, const struct mech_transfer *t)
{
    struct transfer_move *v = &m->transfer.moves[t->is_out ? TRANSFER_OUT : TRANSFER_IN];
    struct transfer_cta *at = &m->transfer.ctas[t->cta_slot];
    const struct sm_cta *c = &m->residency.ctas[t->cta_slot];
    if (v->cta != SM_NONE || !c->emu || at->where != (t->is_out ? REGISTERS_HERE : REGISTERS_AWAY))
        return false;
    if (t->is_out ? !has_more(m, c) : !residency_take_rows(m, t->cta_slot)) return false;
    if (t->is_out) at->rows = MIN(t->rows, c->registers / ISA_LANES);
    set_where(m, t->cta_slot, t->is_out ? REGISTERS_LEAVE : REGISTERS_COME);
    *v = (struct transfer_move){
        .cta = t->cta_slot, .drains = t->is_out && t->drains, .rows = at->rows, .buffer = t->buffer};
    transfer_hold(m);
    set_work(m, true);
    sleep_disturb(m);
    /* the call may come between two cycles */
    sleep_wake_at(&m->sleep, clock_after(&m->clock, m->sleep.now, 1));
    return true;
}

/* ---- banks ---- */

/* The next row that the CTA owns. */
static uint32_t next_row(const struct sm *m, const struct transfer_move *v)
{
    const uint32_t row = bitset_next(m->residency.ctas[v->cta].rows, m->residency.file.rows, v->row);
    assert(row < m->residency.file.rows);
    return row;
}

/* Asks for the bank of a row in this cycle. False: another access has it. */
static bool has_bank(struct sm *m, uint32_t row)
{
    const bool is_free = collector_ask(&m->collector, row, m->sleep.cycle);
    m->stats.row_conflicts += !is_free;
    m->transfer.moved = m->sleep.now; /* a row that was refused asks again in the next cycle */
    return is_free;
}

static void read_row(struct sm *m, struct transfer_move *v)
{
    if (v->begun == v->rows || v->begun - v->passed == v->buffer) return;
    const uint32_t row = next_row(m, v);
    if (!has_bank(m, row)) return;
    v->row = row + 1;
    v->begun++;
}

static void write_row(struct sm *m, struct transfer_move *v)
{
    struct transfer_rows *here = &m->transfer.here;
    if (!here->ring.count || !has_bank(m, *transfer_rows_front(here))) return;
    transfer_rows_pop(here);
    v->ended++;
}

/* ---- late rows ---- */

/* Has the row with this index in its CTA been read to leave, and not been asked back? */
static bool has_left_file(const struct sm *m, uint32_t cta, uint32_t index)
{
    const struct transfer_cta *at = &m->transfer.ctas[cta];
    if (at->where == REGISTERS_LEAVE) return index < m->transfer.moves[TRANSFER_OUT].begun;
    return at->where == REGISTERS_AWAY && index < at->rows;
}

COLD void transfer_result(struct sm *m, const struct context *x, const struct uop *u)
{
    struct transfer *t = &m->transfer;
    const struct sm_cta *c = &m->residency.ctas[x->cta];
    const uint32_t first = x->index * (c->registers / ISA_LANES / c->warps);
    for (uint32_t i = 0; i < u->words; i++) FOR_BITS(k, u->registers[i].def)
        {
            const struct transfer_row row = {x->cta, first + 64 * i + k};
            if (!has_left_file(m, row.cta, row.index)) continue;
            vec_push(&t->late, row);
            t->ctas[row.cta].late++;
        }
    set_work(m, true);
}

/* ---- the queue to the crossbar ---- */

/* token: for a read, its row; for a write, 0 or, for a late row, 1 + its CTA slot. */
static void send(struct sm *m, uint32_t cta, enum req_kind kind, uint32_t index, uint32_t token)
{
    const struct req r = {.addr = address_of(m, cta, index),
                          .sectors = (1u << MECH_ROW_BYTES / COALESCE_SECTOR_BYTES) - 1,
                          .write_bytes = kind == REQ_WRITE ? MECH_ROW_BYTES : 0,
                          .kind = (uint8_t)kind,
                          .cls = REQ_CONTEXT,
                          .sm = (uint16_t)m->setup.index,
                          .owner = m->residency.ctas[cta].program->owner,
                          .token = token,
                          .born = m->sleep.now};
    sm_port_send_beside(m->port, SM_PORT_CONTEXT, req_new(m->setup.pool, &r));
    l1_queue_changed(m->l1, m->sleep.now);
    m->transfer.sent = m->transfer.moved = m->sleep.now;
    m->transfer.is_first = false;
}

static void send_read(struct sm *m, struct transfer_move *v)
{
    const uint32_t row = next_row(m, v);
    send(m, v->cta, REQ_READ, v->begun++, row);
    v->row = row + 1;
    m->stats.rows_in++;
}

static void send_write(struct sm *m, struct transfer_move *v)
{
    send(m, v->cta, REQ_WRITE, v->passed++, 0);
    m->stats.rows_out++;
}

static void send_late(struct sm *m)
{
    struct transfer *t = &m->transfer;
    const struct transfer_row row = t->late.data[t->late_sent++];
    send(m, row.cta, REQ_WRITE, row.index, row.cta + 1);
    m->stats.rows_late++;
    if (t->late_sent == t->late.len) t->late.len = t->late_sent = 0;
}

/* Puts a row into the queue, if a row is ready and there is room. */
static void use_queue(struct sm *m)
{
    struct transfer_move *out = &m->transfer.moves[TRANSFER_OUT], *in = &m->transfer.moves[TRANSFER_IN];
    const bool reads = in->cta != SM_NONE && in->begun < in->rows && in->begun - in->ended < in->buffer;
    const bool writes = out->cta != SM_NONE && out->passed < out->begun;
    const bool has_late = m->transfer.late_sent < m->transfer.late.len;
    if (!reads && !writes && !has_late) return;
    if (!sm_port_room(m->port)) {
        m->transfer.is_first = true;
        return;
    }
    if (has_late)
        send_late(m);
    else if (reads)
        send_read(m, in);
    else
        send_write(m, out);
}

/* ---- replies ---- */

static void taken_back(void *sm, tick now, uint32_t id)
{
    struct sm *m = sm;
    const struct req *r = req_at(m->setup.pool, id);
    struct transfer_move *v = &m->transfer.moves[r->kind == REQ_WRITE ? TRANSFER_OUT : TRANSFER_IN];
    const bool is_late = r->kind == REQ_WRITE && r->token;
    assert(is_late || v->cta != SM_NONE);
    if (is_late)
        m->transfer.ctas[r->token - 1].late--;
    else if (r->kind == REQ_WRITE)
        v->ended++;
    else {
        transfer_rows_push(&m->transfer.here, r->token);
        v->passed++;
    }
    req_del(m->setup.pool, id);
}

/* ---- the stages ---- */

static void end_move(struct sm *m, enum transfer_way way)
{
    struct transfer_move *v = &m->transfer.moves[way];
    const uint32_t cta = v->cta;
    if (cta == SM_NONE || v->drains || v->ended < v->rows) return;
    const bool is_out = way == TRANSFER_OUT;
    if (!is_out && m->transfer.ctas[cta].late) return;
    v->cta = SM_NONE;
    set_where(m, cta, is_out ? REGISTERS_AWAY : REGISTERS_HERE);
    m->transfer.moved = m->sleep.now;
    if (is_out) {
        residency_give_rows(m, cta);
        swap_lost_rows(m, cta);
    }
    transfer_hold(m);
    sleep_changed(&m->sleep);
    sm_mech_cta(m, cta, is_out ? MECH_CTA_REGISTERS_OUT : MECH_CTA_REGISTERS_IN);
}

COLD void transfer_before(struct sm *m)
{
    if (m->transfer.is_first) use_queue(m);
}

COLD void transfer_after(struct sm *m)
{
    struct transfer *t = &m->transfer;
    struct transfer_move *out = &t->moves[TRANSFER_OUT], *in = &t->moves[TRANSFER_IN];
    if (t->sent != m->sleep.now) use_queue(m);
    if (in->cta != SM_NONE) write_row(m, in);
    if (out->cta != SM_NONE && out->drains) out->drains = is_under_way(m, &m->residency.ctas[out->cta]);
    if (out->cta != SM_NONE && !out->drains) read_row(m, out);
    end_move(m, TRANSFER_OUT);
    end_move(m, TRANSFER_IN);
    /* instructions that drain may end after this stage; everything else that it waits for wakes the SM */
    set_work(m, t->moved == m->sleep.now || (out->cta != SM_NONE && out->drains));
}

/* ---- what others ask for ---- */

bool transfer_idle(const struct sm *m)
{
    for (uint32_t i = 0; i < m->residency.cta_slots; i++)
        if (transfer_where(m, i) != REGISTERS_HERE || m->transfer.ctas[i].late) return false;
    return true;
}

void transfer_explain(const struct sm *m, struct strbuf *out)
{
    static const char *const names[] = {"", "leave for memory", "are in memory", "come back from memory"};
    for (uint32_t i = 0; i < m->residency.cta_slots; i++) {
        const enum transfer_where where = transfer_where(m, i);
        if (where == REGISTERS_HERE) continue;
        const struct transfer_move *v =
            &m->transfer.moves[where == REGISTERS_LEAVE ? TRANSFER_OUT : TRANSFER_IN];
        strbuf_printf(out, "  the registers of CTA %llu (slot %u) %s",
                      (unsigned long long)m->residency.ctas[i].linear, i, names[where]);
        if (where != REGISTERS_AWAY) strbuf_printf(out, ": %u of %u rows have ended", v->ended, v->rows);
        strbuf_puts(out, "\n");
    }
}
