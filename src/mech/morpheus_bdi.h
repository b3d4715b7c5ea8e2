/* morpheus_bdi.h: the compression of Morpheus (Darabi et al., MICRO'22, section 4.3.1), Base-Delta-Immediate
 * (Pekhimenko et al., PACT'12), as PTX functions for the extended LLC kernel. A warp works on a block of 128
 * bytes, a word of 4 bytes a lane; all 32 lanes call together.
 *
 * The base is the first word, a delta is a word less the base, modulo 2^32. A block is at level 2 (high) when
 * all deltas fit in a signed byte: 32 bytes; at level 1 (low) when they fit in 16 bits: 64 bytes; otherwise
 * at level 0, as it is. Zeros and repeated words are deltas of 0. A block at level 0 has base 0, so that one
 * rule packs and unpacks all levels.
 *
 * A register holds 2^level blocks (Figure 9): each lane has its delta of block `slot` in bits slot * (32 >>
 * level) and up. The base is the same in all lanes; the kernel decides where to keep it.
 *
 * Lowering inlines the functions. Their instructions: 12, 3 and 4. */
#ifndef HEDDLE_MECH_MORPHEUS_BDI_H
#define HEDDLE_MECH_MORPHEUS_BDI_H

enum morpheus_level { MORPHEUS_LEVEL_NONE, MORPHEUS_LEVEL_LOW, MORPHEUS_LEVEL_HIGH };

/* Module text: to be put behind the module's head.
 *   call (level, base, delta), morpheus_bdi_compress, (word);
 *   call (packed), morpheus_bdi_pack, (old, delta, level, slot);       old: what the register held
 *   call (word), morpheus_bdi_unpack, (packed, base, level, slot); */
#define MORPHEUS_BDI_PTX                                                                                     \
    ".func (.reg .b32 %level, .reg .b32 %base, .reg .b32 %delta) morpheus_bdi_compress (.reg .b32 %word)\n"  \
    "{\n"                                                                                                    \
    "    .reg .b32 %first, %t; .reg .pred %byte, %half;\n"                                                   \
    "    shfl.sync.idx.b32 %first, %word, 0, 31, 0xffffffff;\n"                                              \
    "    sub.u32 %delta, %word, %first;\n"                                                                   \
    "    add.u32 %t, %delta, 128;\n"                                                                         \
    "    setp.lt.u32 %byte, %t, 256;\n"                                                                      \
    "    vote.sync.all.pred %byte, %byte, 0xffffffff;\n"                                                     \
    "    add.u32 %t, %delta, 32768;\n"                                                                       \
    "    setp.lt.u32 %half, %t, 65536;\n"                                                                    \
    "    vote.sync.all.pred %half, %half, 0xffffffff;\n"                                                     \
    "    selp.u32 %level, 1, 0, %half;\n"                                                                    \
    "    selp.u32 %level, 2, %level, %byte;\n"                                                               \
    "    selp.b32 %base, %first, 0, %half;\n"                                                                \
    "    sub.u32 %delta, %word, %base;\n"                                                                    \
    "    ret;\n"                                                                                             \
    "}\n"                                                                                                    \
    ".func (.reg .b32 %packed) morpheus_bdi_pack (.reg .b32 %old, .reg .b32 %delta, .reg .b32 %level,\n"     \
    "                                             .reg .b32 %slot)\n"                                        \
    "{\n"                                                                                                    \
    "    .reg .b32 %bits, %at;\n"                                                                            \
    "    shr.u32 %bits, 32, %level;\n"                                                                       \
    "    mul.lo.u32 %at, %slot, %bits;\n"                                                                    \
    "    bfi.b32 %packed, %delta, %old, %at, %bits;\n"                                                       \
    "    ret;\n"                                                                                             \
    "}\n"                                                                                                    \
    ".func (.reg .b32 %word) morpheus_bdi_unpack (.reg .b32 %packed, .reg .b32 %base, .reg .b32 %level,\n"   \
    "                                             .reg .b32 %slot)\n"                                        \
    "{\n"                                                                                                    \
    "    .reg .b32 %bits, %at, %delta;\n"                                                                    \
    "    shr.u32 %bits, 32, %level;\n"                                                                       \
    "    mul.lo.u32 %at, %slot, %bits;\n"                                                                    \
    "    bfe.s32 %delta, %packed, %at, %bits;\n"                                                             \
    "    add.u32 %word, %delta, %base;\n"                                                                    \
    "    ret;\n"                                                                                             \
    "}\n"

#endif
