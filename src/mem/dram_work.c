/* dram_work.c: the banks of a channel: which request a free bank takes, which bank's command goes to the
 * chips in a clock, how a request ends, and the refresh of the ranks. Column commands go before row commands,
 * and the older request's before the younger one's. Invariants: see dram.c. */
#include "mem/dram_channel.h"

static void channel_take_for(struct dram_channel *d, uint64_t clock, uint32_t bank)
{
    int64_t open = d->chips.banks[bank].row;
    uint32_t id = dram_queue_take(&d->queue, clock, bank, open);
    assert(id != DRAM_ENTRY_NONE);
    d->current[bank] = id;
    d->busy_banks |= 1ull << bank;
    d->bank_at[bank] = d->command_next = 0;
    d->stats.requests++;
    d->stats.row_hits += open == (int64_t)d->queue.entries[id].row;
}

void dram_channel_take(struct dram_channel *d, uint64_t clock)
{
    if (d->queue.write_drain) dram_queue_turn(&d->queue);
    for (uint64_t m = dram_queue_takers(&d->queue, dram_channel_free_banks(d)); m; m &= m - 1)
        channel_take_for(d, clock, (uint32_t)__builtin_ctzll(m));
    /* decided at once, independent of when the next tick comes (invariant 2) */
    if (d->queue.write_drain) dram_queue_turn(&d->queue);
}

/* The last data of a request is on its way: a read waits for it in the return queue, a write ends. */
static void channel_complete(struct dram_channel *d, uint32_t bank, uint64_t data_end)
{
    uint32_t id = d->current[bank];
    const struct dram_entry *e = &d->queue.entries[id];
    if (e->is_write) {
        req_del(d->pool, e->req);
        d->inside--;
        d->stats.writes++;
    } else {
        struct dram_way r = {e->came, MAX(data_end * d->period, e->came + d->latency_min), e->req, e->slice,
                             0};
        dram_channel_add_return(d, &r);
        wake_at(&d->wake, r.ready);
        d->stats.reads++;
    }
    d->busy_banks &= ~(1ull << bank);
    dram_queue_release(&d->queue, id);
    if (!d->busy_banks && !dram_queue_waiting(&d->queue) && data_end > d->pending_since)
        d->stats.pending += data_end - d->pending_since;
}

static void channel_column(struct dram_channel *d, uint64_t clock, uint32_t bank)
{
    struct dram_entry *e = &d->queue.entries[d->current[bank]];
    uint64_t end = dram_chips_give(&d->chips, clock, bank, e->is_write ? DRAM_WRITE : DRAM_READ, e->row);
    if (!e->begun) {
        e->begun = true;
        d->stats.queue_cycles += clock - e->queued;
        if (!e->is_write) d->returns_taken++; /* invariant 1 */
    }
    *(e->is_write ? &d->stats.write_bursts : &d->stats.read_bursts) += 1;
    d->stats.busy += d->chips.burst_clocks;
    if (--e->bursts == 0) channel_complete(d, bank, end);
}

static inline bool is_column_command(enum dram_command c) { return c == DRAM_READ || c == DRAM_WRITE; }

static void channel_give_command(struct dram_channel *d, uint64_t clock, uint32_t bank)
{
    const struct dram_entry *e = &d->queue.entries[d->current[bank]];
    enum dram_command c = dram_chips_next(&d->chips, bank, e->row, e->is_write);
    if (is_column_command(c)) {
        channel_column(d, clock, bank);
        return;
    }
    dram_chips_give(&d->chips, clock, bank, c, e->row);
    *(c == DRAM_ACTIVATE ? &d->stats.activates : &d->stats.precharges) += 1;
}

/* The command of a clock: that of the oldest request. */
struct choice {
    uint32_t bank;
    enum dram_command command;
    /* age of the request; UINT64_MAX: nothing was chosen */
    uint64_t order;
};

/* Results of a clock's search among the banks so far. */
struct choices {
    struct choice column, row;
    /* mask of enum dram_command: commands that could go now, but an older request's command goes */
    uint32_t lost;
    /* the first clock at which a bank that may have no command now may have one */
    uint64_t next;
    /* [command]: the earliest clock that the rank's timing allows, for the commands in `known` */
    uint64_t floors[DRAM_BANK_COMMANDS];
    uint32_t known;
};

/* Keeps the older one of two choices. */
static inline void choices_add(struct choices *ch, struct choice offered)
{
    struct choice *best = is_column_command(offered.command) ? &ch->column : &ch->row;
    if (offered.order > best->order) {
        ch->lost |= 1u << offered.command;
        return;
    }
    if (best->order != UINT64_MAX) ch->lost |= 1u << best->command;
    *best = offered;
}

/* Computes dram_chips_earliest. With one rank and without refresh, the part of the rule that is common to all
 * banks is computed once a clock for each command. */
static uint64_t channel_earliest(const struct dram_channel *d, uint64_t clock, uint32_t bank,
                                 enum dram_command c, struct choices *ch)
{
    if (!d->is_simple) return dram_chips_earliest(&d->chips, clock, bank, c);
    if (!(ch->known >> c & 1)) {
        ch->known |= 1u << c;
        ch->floors[c] = MAX(clock, dram_chips_floor(&d->chips, 0, c));
    }
    return MAX(ch->floors[c], dram_chips_bank_floor(&d->chips, bank, c));
}

/* Returns the working banks that may have a command in this clock; *next: the first clock at which one of the
 * others may. Written without a branch, which the host would mispredict. */
static uint64_t channel_due(const struct dram_channel *d, uint64_t clock, uint64_t *next)
{
    uint64_t due = 0, least = UINT64_MAX;
    for (uint64_t m = d->busy_banks; m; m &= m - 1) {
        uint64_t at = d->bank_at[__builtin_ctzll(m)];
        uint64_t due_mask = (uint64_t)(at > clock) - 1; /* all ones: the bank is due */
        due |= (m & -m) & due_mask;
        least = MIN(least, at | due_mask);
    }
    *next = least;
    return due;
}

/* Finds the commands of this clock. A bank's time (bank_at) is a lower bound: commands of other banks only
 * make it later, so a bank is looked at when its time has come. */
static void channel_choose(struct dram_channel *d, uint64_t clock, struct choices *ch)
{
    d->is_held = false;
    for (uint64_t m = channel_due(d, clock, &ch->next); m; m &= m - 1) {
        uint32_t bank = (uint32_t)__builtin_ctzll(m);
        const struct dram_entry *e = &d->queue.entries[d->current[bank]];
        enum dram_command c = dram_chips_next(&d->chips, bank, e->row, e->is_write);
        if (dram_channel_is_held(d, e, c)) { /* until a read has left */
            d->is_held = true;
            continue;
        }
        uint64_t at = d->bank_at[bank] = channel_earliest(d, clock, bank, c, ch);
        if (at > clock)
            ch->next = MIN(ch->next, at);
        else
            choices_add(ch, (struct choice){bank, c, e->order});
    }
}

/* Returns the first clock at which a command that was not chosen may go. */
static uint64_t channel_lost_next(const struct dram_channel *d, uint64_t clock, uint32_t lost)
{
    uint64_t next = UINT64_MAX;
    for (; lost; lost &= lost - 1) {
        enum dram_command c = (enum dram_command)__builtin_ctz(lost);
        uint64_t at = d->params.ranks == 1 ? dram_chips_floor(&d->chips, 0, c) : 0;
        next = MIN(next, MAX(at, clock + 1));
    }
    return next;
}

/* Returns when the bank may have its next command, from the clock on. */
static uint64_t channel_bank_next(struct dram_channel *d, uint64_t clock, uint32_t bank)
{
    if (!(d->busy_banks >> bank & 1)) return UINT64_MAX;
    const struct dram_entry *e = &d->queue.entries[d->current[bank]];
    enum dram_command c = dram_chips_next(&d->chips, bank, e->row, e->is_write);
    return d->bank_at[bank] = dram_chips_earliest(&d->chips, clock, bank, c);
}

/* Looks at the banks when one of them may have a command, or when something has changed (command_next =
 * 0). */
void dram_channel_command(struct dram_channel *d, uint64_t clock)
{
    if (clock < d->command_next) {
        dram_channel_wake(d, d->command_next);
        return;
    }
    struct choices ch;
    ch.column.order = ch.row.order = UINT64_MAX;
    ch.lost = ch.known = 0; /* floors are set as they become known */
    channel_choose(d, clock, &ch);
    uint64_t next = ch.next;
    if (ch.column.order != UINT64_MAX) {
        channel_give_command(d, clock, ch.column.bank);
        next = MIN(next, channel_bank_next(d, clock, ch.column.bank));
    }
    if (ch.row.order != UINT64_MAX) {
        /* The column command may have taken the command bus, or delayed the precharges of its group. */
        if (channel_bank_next(d, clock, ch.row.bank) <= clock) channel_give_command(d, clock, ch.row.bank);
        next = MIN(next, channel_bank_next(d, clock, ch.row.bank));
    }
    d->command_next = MIN(next, channel_lost_next(d, clock, ch.lost));
    dram_channel_wake(d, d->command_next);
}

COLD static uint32_t channel_refresh_first(const struct dram_channel *d)
{
    uint32_t first = 0;
    for (uint32_t r = 1; r < d->params.ranks; r++)
        if (d->refresh_due[r] < d->refresh_due[first]) first = r;
    return first;
}

COLD static void channel_refresh_rank(struct dram_channel *d, uint32_t rank)
{
    d->stats.precharges += dram_chips_refresh(&d->chips, rank, d->refresh_due[rank]);
    d->stats.refreshes++;
    memset(d->bank_at, 0, sizeof d->bank_at); /* rows were closed: other commands come next */
    d->command_next = 0;
    d->refresh_due[rank] += d->params.trefi;
    d->refresh_next = d->refresh_due[channel_refresh_first(d)];
}

/* Skips rounds of refreshes in which nothing else happened: the rows are closed, and only the newest
 * refreshes may still be under way. */
COLD static void channel_refresh_skip(struct dram_channel *d, uint64_t clock)
{
    uint64_t rounds = (clock - d->refresh_next) / d->params.trefi;
    if (rounds <= 2) return;
    for (uint32_t r = 0; r < d->params.ranks; r++) d->refresh_due[r] += (rounds - 2) * d->params.trefi;
    d->refresh_next += (rounds - 2) * d->params.trefi;
    d->stats.refreshes += (rounds - 2) * d->params.ranks;
}

/* Performs due refreshes, in the order and at the clocks at which they were due: the result is the same
 * whether or not the channel was ticked at those clocks. */
COLD void dram_channel_refresh(struct dram_channel *d, uint64_t clock)
{
    for (uint32_t n = 0; clock >= d->refresh_next; n++) {
        channel_refresh_rank(d, channel_refresh_first(d));
        if (n + 1 == d->params.ranks && clock >= d->refresh_next) channel_refresh_skip(d, clock);
    }
}
