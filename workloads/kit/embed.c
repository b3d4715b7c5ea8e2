/* embed.c: the workload's PTX as bytes of the program, so that it runs from any folder. KIT_PTX is the file's
 * path. */
__asm__(".section .rodata\n"
        ".globl kit_ptx\n"
        "kit_ptx:\n"
        ".incbin \"" KIT_PTX "\"\n"
        ".byte 0\n"
        ".previous\n");
