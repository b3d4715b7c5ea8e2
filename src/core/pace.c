/* pace.c: see pace.h. */
#include "core/pace.h"

enum {
    PACE_STEPS = 256, /* of a window: some milliseconds */
    PACE_TRIALS =
        6, /* windows, in turns: the best of three of each counts, for others may take a core for a while */
    PACE_WINDOWS = 130, /* trials and what is kept after them */
    PACE_GAIN =
        16 /* the other way has to be better by one part of this many: a change moves state between cores */
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
    *p = (struct pace){.kept = true, .cost = {UINT64_MAX, UINT64_MAX}};
    begin_window(p);
}

static void judge(struct pace *p)
{
    const uint64_t kept = p->cost[p->kept], other = p->cost[!p->kept];
    if (other < kept - kept / PACE_GAIN) p->kept = !p->kept;
    p->cost[0] = p->cost[1] = UINT64_MAX;
}

static void end_window(struct pace *p)
{
    if (p->window < PACE_TRIALS) {
        uint64_t *cost = &p->cost[p->is_together], ns = p->spent_ns * 1024 / MAX(p->work, 1u);
        *cost = MIN(*cost, ns);
    }
    p->window = (p->window + 1) % PACE_WINDOWS;
    if (p->window == PACE_TRIALS) judge(p);
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
