/* hugepage.c: see hugepage.h. Blocks lie one after the other in chunks of whole huge pages.
 *
 * Invariants. (1) A chunk starts with its header, at a multiple of HUGE_CHUNK_BYTES. (2) A block starts in
 * the first HUGE_CHUNK_BYTES of its chunk, so that the header is found from the address. (3) A chunk has live
 * blocks: it is unmapped when its last block is freed. */
#define _GNU_SOURCE
#include "base/hugepage.h"

#if HUGE_IS_HEAP

void *mem_zalloc_huge(size_t bytes) { return mem_zalloc_lines(bytes); }
void mem_free_huge(void *block) { free(block); }
size_t mem_huge_bytes(void) { return 0; }

#else

#include <pthread.h>
#include <sys/mman.h>

struct huge_chunk {
    _Alignas(HOST_LINE) size_t bytes; /* including this header */
    size_t used;
    size_t live; /* blocks not freed yet */
};

static struct {
    pthread_mutex_t lock;
    struct huge_chunk *open; /* where the next block goes if it fits, or NULL */
    size_t bytes;
} huge = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Maps one chunk more than is asked for and unmaps what lies outside of the aligned range. */
static void *map_at_boundary(size_t bytes)
{
    char *all =
        mmap(NULL, bytes + HUGE_CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return NULL;
    size_t before = (0 - (uintptr_t)all) % HUGE_CHUNK_BYTES;
    if (before) munmap(all, before);
    munmap(all + before + bytes, HUGE_CHUNK_BYTES - before);
    /* A host that refuses backs the range with small pages. */
    (void)madvise(all + before, bytes, MADV_HUGEPAGE);
    return all + before;
}

static struct huge_chunk *chunk_new(size_t block_bytes)
{
    size_t bytes = round_up_u64(sizeof(struct huge_chunk) + block_bytes, HUGE_CHUNK_BYTES);
    struct huge_chunk *c = mem_check(map_at_boundary(bytes), bytes);
    c->bytes = bytes;
    c->used = sizeof *c;
    huge.bytes += bytes;
    return c;
}

static size_t blocks_left(const struct huge_chunk *c)
{
    return c && c->used < HUGE_CHUNK_BYTES ? c->bytes - c->used : 0; /* invariant 2 */
}

/* Returns the chunk for a block: the open one, or a new one. The one of the two with more room stays open. */
static struct huge_chunk *chunk_for(size_t block_bytes)
{
    if (block_bytes <= blocks_left(huge.open)) return huge.open;
    struct huge_chunk *c = chunk_new(block_bytes);
    size_t after = c->used + block_bytes < HUGE_CHUNK_BYTES ? c->bytes - c->used - block_bytes : 0;
    if (after > blocks_left(huge.open)) huge.open = c;
    return c;
}

void *mem_zalloc_huge(size_t bytes)
{
    if (bytes > SIZE_MAX / 2) mem_check(NULL, bytes); /* the sums below must not overflow */
    size_t whole = round_up_u64(MAX(bytes, 1u), HOST_LINE);
    pthread_mutex_lock(&huge.lock);
    struct huge_chunk *c = chunk_for(whole);
    void *block = (char *)c + c->used;
    c->used += whole;
    c->live++;
    pthread_mutex_unlock(&huge.lock);
    return block; /* zero: the mapping is fresh */
}

void mem_free_huge(void *block)
{
    if (!block) return;
    struct huge_chunk *c = (void *)((char *)block - (uintptr_t)block % HUGE_CHUNK_BYTES);
    pthread_mutex_lock(&huge.lock);
    assert(c->live && c->live < c->used);
    if (!--c->live) {
        if (huge.open == c) huge.open = NULL;
        huge.bytes -= c->bytes;
        munmap(c, c->bytes);
    }
    pthread_mutex_unlock(&huge.lock);
}

size_t mem_huge_bytes(void)
{
    pthread_mutex_lock(&huge.lock);
    size_t bytes = huge.bytes;
    pthread_mutex_unlock(&huge.lock);
    return bytes;
}

#endif
