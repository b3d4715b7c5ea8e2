/* b+tree: Rodinia's queries of a B+ tree of order 256, a block a query and a thread a key. Each level the
 * 256 threads compare all keys of the query's node (1 KB, read twice, once a key further on), one of them
 * finds the child, and thread 0 moves the query down. What a query stands at is kept in global memory, so
 * that every warp reads it again and again. The root and the level under it are shared by all queries;
 * leaves are scattered over the tree. */
#include "kit/device.h"

#define ORDER 256

/* Between two barriers each address is computed from the index again, as the compilers of the original's
 * day did: today's would keep ten addresses in registers over the loop. */
#define FORGET(index) asm volatile("" : "+r"(index))

struct record {
    int value;
};
struct knode {
    int location;
    int indices[ORDER + 1];
    int keys[ORDER + 1];
    bool is_leaf;
    int num_keys;
};

KERNEL findK(long height, const knode *knodes, long knodes_elem, const record *records, long *curr,
             long *offset, const int *keys, record *answers)
{
    int thid = threadIdx.x, bid = blockIdx.x;
#pragma unroll 1
    for (int i = 0; i < height; i++) {
        FORGET(bid);
        if (knodes[curr[bid]].keys[thid] <= keys[bid] && knodes[curr[bid]].keys[thid + 1] > keys[bid]) {
            /* A leaf's indices are of records, which may be no nodes. */
            if (knodes[offset[bid]].indices[thid] < knodes_elem)
                offset[bid] = knodes[offset[bid]].indices[thid];
        }
        __syncthreads();
        FORGET(bid);
        if (thid == 0) curr[bid] = offset[bid];
        __syncthreads();
        FORGET(bid);
    }
    if (knodes[curr[bid]].keys[thid] == keys[bid])
        answers[bid].value = records[knodes[curr[bid]].indices[thid]].value;
}

KERNEL findRangeK(long height, const knode *knodes, long knodes_elem, long *curr, long *offset, long *last,
                  long *offset_2, const int *start, const int *end, int *rec_start, int *rec_len)
{
    int thid = threadIdx.x, bid = blockIdx.x;
#pragma unroll 1
    for (int i = 0; i < height; i++) {
        FORGET(bid);
        if (knodes[curr[bid]].keys[thid] <= start[bid] && knodes[curr[bid]].keys[thid + 1] > start[bid]) {
            if (knodes[curr[bid]].indices[thid] < knodes_elem) offset[bid] = knodes[curr[bid]].indices[thid];
        }
        if (knodes[last[bid]].keys[thid] <= end[bid] && knodes[last[bid]].keys[thid + 1] > end[bid]) {
            if (knodes[last[bid]].indices[thid] < knodes_elem)
                offset_2[bid] = knodes[last[bid]].indices[thid];
        }
        __syncthreads();
        FORGET(bid);
        if (thid == 0) {
            curr[bid] = offset[bid];
            last[bid] = offset_2[bid];
        }
        __syncthreads();
        FORGET(bid);
    }
    if (knodes[curr[bid]].keys[thid] == start[bid]) rec_start[bid] = knodes[curr[bid]].indices[thid];
    __syncthreads();
    if (knodes[last[bid]].keys[thid] == end[bid])
        rec_len[bid] = knodes[last[bid]].indices[thid] - rec_start[bid] + 1;
}
