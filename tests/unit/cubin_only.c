/* cubin_only.c: a library that ships machine code without PTX, as cuFFT does; opened by test_gpu_origin. */
#include "fatbin_section.h"

IN_FATBIN_SECTION const struct section_fatbin cubin_only =
    SECTION_FATBIN(SECTION_ENTRY(SECTION_CUBIN, 75), SECTION_ENTRY(SECTION_CUBIN, 90));
