/* pace.c: see pace.h. */
#include "core/pace.h"

enum {
    /* steps of a window: some milliseconds */
    PACE_STEPS = 256,
    /* windows of a trial: the best of three of each way counts, since other processes may take a core for
     * a while */
    PACE_TRIALS = 6,
    /* windows in the way that is kept: at first, and at most */
    PACE_KEEP_MIN = 16,
    PACE_KEEP_MAX = 128,
    /* the other way must be better by 1/16: a change moves state between cores */
    PACE_GAIN = 16,
    /* windows in a row that take 1.5 times as long as in the trial, before a new trial begins */
    PACE_SLOW = 3
};

static void begin_window(struct pace *p)
{
    p->steps_left = PACE_STEPS;
    p->work = p->spent_ns = 0;
    const bool is_other = p->window < PACE_TRIALS && p->window % 2;
    p->is_together = p->kept != is_other;
}

void pace_init(struct pace *p)
{
    *p = (struct pace){.kept = true, .keep = PACE_KEEP_MIN, .cost = {UINT64_MAX, UINT64_MAX}};
    begin_window(p);
}

static void judge(struct pace *p)
{
    const uint64_t kept = p->cost[p->kept], other = p->cost[!p->kept];
    if (other < kept - kept / PACE_GAIN) {
        p->kept = !p->kept;
        p->keep = PACE_KEEP_MIN;
    } else if (other > kept + kept / PACE_GAIN) {
        p->keep = MIN(2 * p->keep, (uint32_t)PACE_KEEP_MAX);
    }
    p->expected = p->cost[p->kept];
    p->slow = 0;
    p->cost[0] = p->cost[1] = UINT64_MAX;
}

static void end_window(struct pace *p)
{
    const uint64_t ns = p->spent_ns * 1024 / MAX(p->work, 1u);
    if (p->window < PACE_TRIALS)
        p->cost[p->is_together] = MIN(p->cost[p->is_together], ns);
    else
        p->slow = ns > p->expected + p->expected / 2 ? p->slow + 1 : 0;
    p->window++;
    if (p->window == PACE_TRIALS) judge(p);
    if (p->window >= PACE_TRIALS + p->keep || p->slow >= PACE_SLOW) p->window = p->slow = 0;
    begin_window(p);
}

void pace_step(struct pace *p, uint32_t work, uint64_t (*clock_ns)(void))
{
    if (!p->steps_left) {
        pace_break(p, clock_ns);
        end_window(p);
    }
    if (!p->is_running) p->begun_ns = clock_ns();
    p->is_running = true;
    p->steps_left--;
    p->work += work;
}

void pace_break(struct pace *p, uint64_t (*clock_ns)(void))
{
    if (p->is_running) p->spent_ns += clock_ns() - p->begun_ns;
    p->is_running = false;
}
