/* emit_ptx.c: writes the kernels of forms.tsv as PTX text, for a look or for ptxas.
 *   opcode_emit forms.tsv            lists the forms: number and name
 *   opcode_emit forms.tsv FROM TO    one module with the kernels of forms FROM..TO-1, named k<number> */
#include "opcode_forms.h"

int main(int argc, char **argv)
{
    struct forms forms = {0};
    struct strbuf text = {0};
    if (argc < 2 || !forms_read(&forms, argv[1], &text)) {
        fprintf(stderr, "%s", argc < 2 ? "usage: opcode_emit forms.tsv [FROM TO]\n" : strbuf_text(&text));
        return 2;
    }
    if (argc < 4) {
        for (uint32_t i = 0; i < forms.list.len; i++) printf("%u\t%s\n", i, forms.list.data[i].name);
    } else {
        form_emit_header(&text);
        uint32_t to = MIN((uint32_t)strtoul(argv[3], NULL, 10), forms.list.len);
        for (uint32_t i = (uint32_t)strtoul(argv[2], NULL, 10); i < to; i++) {
            char kernel[16];
            snprintf(kernel, sizeof kernel, "k%u", i);
            form_emit_kernel(&text, &forms.list.data[i], kernel);
        }
        fputs(strbuf_text(&text), stdout);
    }
    strbuf_free(&text);
    forms_free(&forms);
    return 0;
}
