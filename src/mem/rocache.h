/* rocache.h: the small read-only caches of an SM: instructions, constants, textures. Tags, misses under way
 * and their waiters. Each is a client of the SM's port: it sends its misses to the L2 and takes the
 * replies itself. A line is allocated when it comes back. */
#ifndef HEDDLE_ROCACHE_H
#define HEDDLE_ROCACHE_H

#include "mem/cache.h"
#include "mem/sm_port.h"

struct rocache_setup {
    uint64_t bytes;
    uint32_t ways, line_bytes;
    /* lines under way, waiters for each */
    uint32_t misses, merges;
    /* a line that has come is handed to its waiters and forgotten */
    bool keeps_none;
    enum req_class cls;
    enum sm_port_client client;
    uint32_t sm;
    struct req_pool *pool;
    struct sm_port *port;
    /* Tells these waiters that their line has come. */
    void (*on_fill)(void *ctx, const uint32_t *waiters, uint32_t count);
    void *ctx;
};

struct rocache_miss {
    uint64_t line;
    /* waiters */
    uint32_t waiting;
    bool used, sent;
    /* warp and PC of the first miss, for the request */
    uint16_t warp;
    uint32_t pc;
};

struct rocache {
    struct cache tags;
    struct rocache_setup setup;
    /* misses */
    uint32_t live, unsent;
    struct rocache_miss *misses;
    /* [miss * merges + n] */
    uint32_t *waiters;
    uint64_t accesses, missed;
    /* the line that was hit last, if it is still the newest of its set */
    uint64_t newest;
};

enum rocache_answer {
    ROCACHE_HIT,
    /* the waiter is notified when the line comes */
    ROCACHE_MISS,
    ROCACHE_STALL
};

void rocache_init(struct rocache *c, const struct rocache_setup *setup);
void rocache_free(struct rocache *c);
void rocache_clear(struct rocache *c);
/* STALL changes nothing: try again. */
enum rocache_answer rocache_access(struct rocache *c, uint64_t addr, uint32_t waiter, uint16_t warp,
                                   uint32_t pc);
/* Once a cycle: a miss that is still to be sent goes into the port. True: one did. */
bool rocache_send(struct rocache *c, tick now);

#endif
