/* gpu_image.h: inside gpu*.c: the PTX texts that an image holds. */
#ifndef HEDDLE_GPU_IMAGE_H
#define HEDDLE_GPU_IMAGE_H

#include "base/diag.h"
#include "cuda/fatbin.h"

struct image_text {
    const char *data;
    size_t len;
};

struct image_texts {
    /* as errors call the image */
    const char *name;
    /* 75: of several texts for one piece of code the best for this capability */
    uint32_t cc;
    /* where errors go */
    struct diag_list *diags;
    /* own the texts */
    VEC(struct fatbin) fatbins;
    VEC(struct image_text) items;
    /* the lowest --maxrregcount that the texts were built with; 0 = none */
    uint32_t regs_max;
    /* of a real GPU */
    bool has_machine_code;
};

/* Takes an image apart until PTX texts remain: PTX, a fatbin, the wrapper that points to one, an ELF file
 * with fatbins, a bundle of these. len 0 = unknown. False: it cannot be read (diagnosed). */
bool image_open(struct image_texts *t, const void *image, size_t len);
void image_close(struct image_texts *t);
/* Lowers *limit to n, where n is a limit at all. */
void image_note_regs_max(uint32_t *limit, uint32_t n);

#endif
