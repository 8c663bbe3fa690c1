/* SPDX-License-Identifier: Apache-2.0 */
/* ends.h: between which numbers does an index lie, and are both taken? For doors, whose tiles have no outside.
 *
 *     i in 0 .. 15:  i ^ 16 is 16 .. 31; min(i + 1, 16) is 1 .. 16; of i + n nobody knows it */
#ifndef IR_ENDS_H
#define IR_ENDS_H
#include "ir/build.h"

typedef struct EndsVariable { /* of a loop: lo, lo + step .. hi, whatever others are; at least one */
    Ref ref;
    int64_t lo, hi, step;
} EndsVariable;

/* Is it such a variable? *known: false if it is a variable whose values are not known. */
typedef bool (*EndsFind)(const void *user, Ref ref, EndsVariable *out, bool *known);

/* constant + the sum of factors * parts: computed at each value of the variables that these are made of. False: they
 * are made of something else, or there is too much to compute. */
bool ends_by_places(const Kernel *k, const Ref *parts, const int64_t *factors, int count, int64_t constant,
                    EndsFind find, const void *user, int64_t *lo, int64_t *hi);
#endif
