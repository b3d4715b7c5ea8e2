/* roles.c: see roles.h. */
#include "core/roles.h"

void roles_init(struct roles *r, const struct wiring *w) { *r = (struct roles){.wiring = w}; }

uint32_t roles_chosen(const struct roles *r) { return mech_gpu_chosen_sms(r->wiring->mech_gpu); }

static bool is_chosen(const struct roles *r)
{
    return r->wiring->sm_count - r->wiring->compute_count == roles_chosen(r);
}

static void enter(struct roles *r, enum roles_state state)
{
    r->state = state;
    r->is_empty = false;
}

bool roles_end(struct roles *r)
{
    if (r->state != ROLES_STARTING || !r->is_empty) return false;
    enter(r, ROLES_SET);
    return true;
}

enum roles_next roles_next(struct roles *r, uint64_t cycle)
{
    if (r->state == ROLES_SET && is_chosen(r)) return ROLES_NOTHING;
    if (r->state == ROLES_SET) {
        r->since = cycle;
        enter(r, ROLES_RETIRING);
        return ROLES_RETIRE;
    }
    if (r->state != ROLES_RETIRING || !r->is_empty) return ROLES_AWAIT;
    enter(r, ROLES_STARTING);
    return ROLES_ASSIGN;
}

void roles_found_empty(struct roles *r) { r->is_empty = true; }
