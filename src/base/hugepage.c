/* hugepage.c: see hugepage.h. Small blocks lie one after the other in chunks of one huge page. A block of
 * which two may not fit into one has a chunk of its own and starts at the second huge page; the first is left
 * to small pages, of which only the header's is ever backed. So a large queue that is hardly used costs
 * little.
 *
 * Invariants. (1) A chunk starts with its header, at a multiple of HUGE_CHUNK_BYTES. (2) A block starts in
 * the first HUGE_CHUNK_BYTES of its chunk or, alone in it, right after them, so that the header is found from
 * the address. (3) A chunk has live blocks: it is unmapped when its last block is freed. */
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
    /* including this header */
    _Alignas(HOST_LINE) size_t bytes;
    size_t used;
    /* blocks not freed yet */
    size_t live;
};

static struct {
    pthread_mutex_t lock;
    struct huge_chunk *open; /* where the next block goes if it fits, or NULL */
    size_t bytes;
    uint32_t shared_chunks; /* made so far */
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
    return all + before;
}

/* A chunk whose blocks start `from` bytes after its header. */
static struct huge_chunk *chunk_new(size_t bytes, size_t from)
{
    struct huge_chunk *c = mem_check(map_at_boundary(bytes), bytes);
    const size_t small = from / HUGE_CHUNK_BYTES * HUGE_CHUNK_BYTES;
    /* A host that refuses backs the range with pages of the other size. */
    if (small) (void)madvise(c, small, MADV_NOHUGEPAGE);
    (void)madvise((char *)c + small, bytes - small, MADV_HUGEPAGE);
    c->bytes = bytes;
    c->used = from;
    huge.bytes += bytes;
    return c;
}

static size_t bytes_left(const struct huge_chunk *c) { return c ? HUGE_CHUNK_BYTES - c->used : 0; }

/* Where the blocks of the next shared chunk begin. Equal blocks follow each other in the same way in all
 * chunks: if they began at the same offset, the lines of many of them would lie in the same sets of the
 * host's second-level cache. Multiples of the golden ratio spread any number of chunks over its sets. */
static size_t next_start(void)
{
    /* the golden ratio of 2^16 */
    enum { GOLDEN = 40503 };
    const uint32_t at = huge.shared_chunks++ * GOLDEN % HUGE_SPREAD_BYTES;
    return sizeof(struct huge_chunk) + at / HOST_LINE * HOST_LINE;
}

/* The chunk for a block. Of the open chunk and a new one, that with more room stays open. */
static struct huge_chunk *chunk_for(size_t block_bytes)
{
    if (2 * block_bytes > HUGE_CHUNK_BYTES - HUGE_SPREAD_BYTES)
        return chunk_new(HUGE_CHUNK_BYTES + round_up_u64(block_bytes, HUGE_CHUNK_BYTES), HUGE_CHUNK_BYTES);
    if (block_bytes <= bytes_left(huge.open)) return huge.open;
    struct huge_chunk *c = chunk_new(HUGE_CHUNK_BYTES, next_start());
    if (bytes_left(c) - block_bytes > bytes_left(huge.open)) huge.open = c;
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

static struct huge_chunk *chunk_of(void *block)
{
    const size_t from = (uintptr_t)block % HUGE_CHUNK_BYTES;
    return (void *)((char *)block - (from ? from : HUGE_CHUNK_BYTES)); /* invariant 2 */
}

void mem_free_huge(void *block)
{
    if (!block) return;
    struct huge_chunk *c = chunk_of(block);
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
