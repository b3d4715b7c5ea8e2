/* sweep_list.c: the runs of plans without making them: which the store has, and how long the others will
 * take. */
#include "lab/sweep_impl.h"
#include "stats/json.h"

static const char *const state_names[] = {[STORE_ABSENT] = "to make",
                                          [STORE_RUNNING] = "running",
                                          [STORE_DONE] = "done",
                                          [STORE_FAILED] = "failed"};

/* Runs of another version of the simulator cannot be made. */
static const char *state_name(const struct sweep_task *t, enum store_state state)
{
    return state == STORE_ABSENT && t->job->simulator ? "missing" : state_names[state];
}

static void json_row(const struct sweep_run *r, const struct sweep_task *t, enum store_state state,
                     bool first, struct strbuf *out)
{
    struct strbuf command = {0};
    job_command(t->job, &command);
    strbuf_printf(out, "%s\n  {\"key\": \"%s\", \"workload\": ", first ? "" : ",", t->job->key);
    json_string(out, t->job->workload->name);
    strbuf_puts(out, ", \"size\": ");
    json_string(out, t->job->size);
    strbuf_puts(out, ", \"machine\": ");
    json_string(out, t->job->run.machine);
    strbuf_puts(out, ", \"column\": ");
    json_string(out, t->column);
    strbuf_printf(out, ", \"state\": \"%s\", \"seconds\": %.1f, \"memory\": %llu, \"command\": ",
                  state_name(t, state), sweep_task_seconds(r, t), (unsigned long long)t->memory);
    json_string(out, strbuf_text(&command));
    strbuf_putc(out, '}');
    strbuf_free(&command);
}

/* The width of the column with the machines, which have long names. */
static int machine_width(const struct sweep_run *r)
{
    enum { WIDTH_MIN = 11 };
    size_t width = WIDTH_MIN;
    for (uint32_t i = 0; i < r->tasks.len; i++) width = MAX(width, strlen(r->tasks.data[i].job->run.machine));
    return (int)width;
}

static void table_row(const struct sweep_run *r, const struct sweep_task *t, enum store_state state,
                      int width, struct strbuf *out)
{
    char time[24] = "";
    if (state != STORE_DONE && !t->job->simulator) bar_time(sweep_task_seconds(r, t), time);
    strbuf_printf(out, "%-8s %.8s %-15s %-6s %-*s %-18s %7s\n", state_name(t, state), t->job->key,
                  t->job->workload->name, t->job->size, width, t->job->run.machine, t->column, time);
}

/* `later`: cells whose runs follow from results; `v`: whose runs they are. */
static void sum_line(const struct sweep_run *r, const uint32_t *count, double left, uint32_t later,
                     const struct simulator *v, bool json, struct strbuf *out)
{
    char time[24];
    bar_time(left, time);
    if (v && !json)
        strbuf_printf(out, "\n%u runs of simulator %s:\n%u in the store, %u failed, %u missing\n",
                      r->tasks.len, v->name, count[STORE_DONE], count[STORE_FAILED],
                      count[STORE_ABSENT] + count[STORE_RUNNING]);
    else if (json)
        strbuf_printf(out,
                      "],\n \"all\": %u, \"done\": %u, \"failed\": %u, \"running\": %u, \"to_make\": %u, "
                      "\"later\": %u, \"workers\": %u, \"seconds\": %.1f}\n",
                      r->tasks.len, count[STORE_DONE], count[STORE_FAILED], count[STORE_RUNNING],
                      count[STORE_ABSENT], later, r->workers, left);
    else
        strbuf_printf(out,
                      "\n%u runs: %u in the store, %u failed, %u running elsewhere, %u to make:\n"
                      "about %s on %u cores\n",
                      r->tasks.len, count[STORE_DONE], count[STORE_FAILED], count[STORE_RUNNING],
                      count[STORE_ABSENT], time, r->workers);
    if (later && !json) strbuf_printf(out, "and up to %u more that their results decide\n", later);
}

void sweep_look(struct store *s, const struct plan *plans, uint32_t plan_count, struct sweep_result *out)
{
    struct sweep_run r = {.store = s, .workers = 1};
    *out = (struct sweep_result){.missing = plan_count_later(plans, plan_count)};
    sweep_tasks_make(&r, plans, plan_count);
    for (uint32_t i = 0; i < r.tasks.len; i++) {
        const enum store_state state = store_state(s, r.tasks.data[i].job->key);
        if (state == STORE_DONE)
            out->had++;
        else if (state == STORE_FAILED)
            out->failed++;
        else
            out->missing++;
    }
    sweep_tasks_free(&r);
}

void sweep_list(struct store *s, const struct plan *plans, uint32_t plan_count, uint32_t workers, bool json,
                struct strbuf *out)
{
    struct sweep_run r = {.store = s, .workers = workers ? workers : host_cores()};
    uint32_t count[STORE_FAILED + 1] = {0};
    sweep_tasks_make(&r, plans, plan_count);
    const int width = machine_width(&r);
    if (json)
        strbuf_puts(out, "{\"runs\": [");
    else
        strbuf_printf(out, "%-8s %-8s %-15s %-6s %-*s %-18s %7s\n", "state", "key", "workload", "size", width,
                      "machine", "column", "about");
    for (uint32_t i = 0; i < r.tasks.len; i++) {
        struct sweep_task *t = &r.tasks.data[i];
        enum store_state state = s ? store_state(s, t->job->key) : STORE_ABSENT;
        count[state]++;
        if (state == STORE_DONE || state == STORE_FAILED) t->state = TASK_DONE;
        if (json)
            json_row(&r, t, state, !i, out);
        else
            table_row(&r, t, state, width, out);
    }
    sum_line(&r, count, sweep_seconds_left(&r, 0), plan_count_later(plans, plan_count),
             plan_count ? plans[0].simulator : NULL, json, out);
    sweep_tasks_free(&r);
}
