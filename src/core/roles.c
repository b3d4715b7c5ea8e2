/* roles.c: see roles.h. */
#include "core/roles.h"

void roles_init(struct roles *r, const struct roles_setup *setup) { *r = (struct roles){.setup = *setup}; }

static uint32_t chosen(const struct roles *r) { return mech_gpu_chosen_sms(r->setup.wiring->mech_gpu); }

static bool is_chosen(const struct roles *r)
{
    const struct wiring *w = r->setup.wiring;
    return w->sm_count - w->compute_count == chosen(r);
}

static void enter(struct roles *r, enum roles_state state)
{
    r->state = state;
    r->is_empty = false;
}

static void begin(struct roles *r)
{
    r->since = gpu_time_cycle(r->setup.time);
    enter(r, ROLES_RETIRING);
    if (helper_is_running(r->setup.helper)) helper_retire(r->setup.helper);
}

/* What SMs have counted stays with the roles in which they did. */
static void set_roles(struct roles *r)
{
    struct wiring *w = r->setup.wiring;
    units_settle(w->units);
    void **before = snapshot_take(r->setup.snapshots);
    wiring_set_roles(w, r->setup.time->now, chosen(r));
    snapshot_move_roles(r->setup.snapshots, before);
    dispatch_set_sms(r->setup.dispatch, w->compute_count);
}

static void start(struct roles *r, struct emu_device *device, struct emu_fault *fault)
{
    struct wiring *w = r->setup.wiring;
    if (helper_is_running(r->setup.helper)) helper_pause(r->setup.helper);
    set_roles(r);
    enter(r, ROLES_STARTING);
    if (!helper_start(r->setup.helper, device, fault)) return;
    mech_slices_drop_lines(w->mech_slices);
    units_wake_slices(w->units);
}

static void end(struct roles *r)
{
    enter(r, ROLES_SET);
    wiring_count_change(r->setup.wiring, gpu_time_cycle(r->setup.time) - r->since);
}

bool roles_are_set(struct roles *r, struct emu_device *device, struct emu_fault *fault)
{
    fault->kind = EMU_OK;
    if (r->state == ROLES_STARTING && r->is_empty) end(r);
    if (r->state == ROLES_SET && is_chosen(r)) return true;
    if (r->state == ROLES_SET)
        begin(r);
    else if (r->state == ROLES_RETIRING && r->is_empty)
        start(r, device, fault);
    return false;
}

void roles_look(struct roles *r)
{
    if (r->is_empty || !wiring_is_idle(r->setup.wiring)) return;
    if (r->state == ROLES_RETIRING && helper_has_ctas(r->setup.helper)) return;
    r->is_empty = true;
    dispatch_look(r->setup.dispatch);
}
