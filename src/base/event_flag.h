/* event_flag.h: a flag by which one side tells another that something waits for it.
 *
 * The sides that leave something set it, and the side that looks at what was left clears it: no other code
 * touches it (the test map.writers). The two sides never run at the same time. */
#ifndef HEDDLE_EVENT_FLAG_H
#define HEDDLE_EVENT_FLAG_H

#include <stdbool.h>
#include <stdint.h>

struct event_flag {
    uint8_t is_set;
};

static inline bool event_flag_is_set(const struct event_flag *f) { return f->is_set; }
static inline void event_flag_set(struct event_flag *f) { f->is_set = 1; }
static inline void event_flag_clear(struct event_flag *f) { f->is_set = 0; }

#endif
