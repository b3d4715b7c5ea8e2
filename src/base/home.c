/* home.c: see home.h. Blocks lie one after the other in chunks of whole huge pages.
 *
 * Invariants. (1) A chunk begins at a multiple of HOME_CHUNK_BYTES with its header. (2) A block begins in the first HOME_CHUNK_BYTES of
 * its chunk, so that the header is found from the address. (3) A chunk has live blocks: with the last of them it is unmapped. */
#define _GNU_SOURCE
#include "base/home.h"

#if HOME_IS_HEAP

void *mem_zalloc_home(size_t bytes) { return mem_zalloc_lines(bytes); }
void mem_free_home(void *block) { free(block); }
size_t mem_home_bytes(void) { return 0; }

#else

#include <pthread.h>
#include <sys/mman.h>

struct home_chunk {
    _Alignas(HOST_LINE) size_t bytes; /* with this header */
    size_t used;
    size_t live; /* blocks */
};

static struct {
    pthread_mutex_t lock;
    struct home_chunk *open; /* where the next block goes if it fits, or NULL */
    size_t bytes;
} home = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Maps a chunk's worth more than is asked for and gives the ends back. */
static void *map_at_boundary(size_t bytes)
{
    char *all =
        mmap(NULL, bytes + HOME_CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return NULL;
    size_t before = (0 - (uintptr_t)all) % HOME_CHUNK_BYTES;
    if (before) munmap(all, before);
    munmap(all + before + bytes, HOME_CHUNK_BYTES - before);
    (void)madvise(all + before, bytes,
                  MADV_HUGEPAGE); /* refused: small pages, the memory is there all the same */
    return all + before;
}

static struct home_chunk *chunk_new(size_t block_bytes)
{
    size_t bytes = round_up_u64(sizeof(struct home_chunk) + block_bytes, HOME_CHUNK_BYTES);
    struct home_chunk *c = mem_check(map_at_boundary(bytes), bytes);
    c->bytes = bytes;
    c->used = sizeof *c;
    home.bytes += bytes;
    return c;
}

static size_t blocks_left(const struct home_chunk *c)
{
    return c && c->used < HOME_CHUNK_BYTES ? c->bytes - c->used : 0; /* invariant 2 */
}

/* The chunk for a block: the open one, or a new one. Of two the one with more left stays open. */
static struct home_chunk *chunk_for(size_t block_bytes)
{
    if (block_bytes <= blocks_left(home.open)) return home.open;
    struct home_chunk *c = chunk_new(block_bytes);
    size_t after = c->used + block_bytes < HOME_CHUNK_BYTES ? c->bytes - c->used - block_bytes : 0;
    if (after > blocks_left(home.open)) home.open = c;
    return c;
}

void *mem_zalloc_home(size_t bytes)
{
    if (bytes > SIZE_MAX / 2) mem_check(NULL, bytes); /* the sums below hold */
    size_t whole = round_up_u64(MAX(bytes, 1u), HOST_LINE);
    pthread_mutex_lock(&home.lock);
    struct home_chunk *c = chunk_for(whole);
    void *block = (char *)c + c->used;
    c->used += whole;
    c->live++;
    pthread_mutex_unlock(&home.lock);
    return block; /* of a fresh mapping: it is clear */
}

void mem_free_home(void *block)
{
    if (!block) return;
    struct home_chunk *c = (void *)((char *)block - (uintptr_t)block % HOME_CHUNK_BYTES);
    pthread_mutex_lock(&home.lock);
    assert(c->live);
    if (!--c->live) {
        if (home.open == c) home.open = NULL;
        home.bytes -= c->bytes;
        munmap(c, c->bytes);
    }
    pthread_mutex_unlock(&home.lock);
}

size_t mem_home_bytes(void)
{
    pthread_mutex_lock(&home.lock);
    size_t bytes = home.bytes;
    pthread_mutex_unlock(&home.lock);
    return bytes;
}

#endif
