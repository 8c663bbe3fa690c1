/* roots.h: through which parameters a kernel reaches memory.
 *
 * A pointer is made from another one by adding, reshaping, carrying it through a loop; at the
 * beginning stands a parameter, or something that is none (an address loaded from memory).
 *
 *     for (Ref at = pointer; at != REF_NONE; at = roots_origin(k, at)) ..      the usual way back
 *     roots_written(k, scratch, written);      written[i]: a store or an atomic goes through it */
#ifndef IR_ROOTS_H
#define IR_ROOTS_H
#include "ir/ir.h"

/* The value that a pointer or a tensor is made from, one step back (of a loop: what it begins with);
 * REF_NONE: it is a parameter, or made from no pointer. */
Ref roots_origin(const Kernel *k, Ref ref);
/* Of every parameter: may the kernel write through it? Whichever way a select, an if or a loop
 * goes. `written` has a place for each. */
void roots_written(const Kernel *k, Arena *scratch, bool *written);
#endif
