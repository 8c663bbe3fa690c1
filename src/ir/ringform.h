/* SPDX-License-Identifier: Apache-2.0 */
/* ringform.h: what ring form is made of, for all who read it.
 *
 *     kernel { prologue ; ring.. ; tasks { header ; role load {..} ; role compute {..} ; role store {..} } }
 *
 * A ring hands items from one role (`from`, its producer) to another (`to`, its consumer):
 *
 *     producer   %s = acquire %ring ; put %s.field, %value .. ; commit %ring, %s
 *     consumer   %s = wait %ring ; %value = get %s.field .. ; release %ring, %s      (or: skip %ring, n)
 *
 * These questions look at ops and types only. They hold for every kernel that the verifier lets through, also one that
 * ring_check.c would refute: what is not there is NULL, REF_NONE or WORD_NONE. */
#ifndef IR_RINGFORM_H
#define IR_RINGFORM_H
#include "ir/ir.h"

/* --- tasks and roles --- */

Op *tasks_of(const Kernel *k);       /* the kernel's (first) tasks; NULL: it is flat */
Region *tasks_body(const Op *tasks); /* header and roles */
/* The first role of the tasks, and the next one behind a role; NULL: none is left. */
Op *role_first(const Op *tasks);
Op *role_next(const Op *role);
Op *role_find(const Op *tasks, Word name); /* NULL: there is none */
Word role_name(const Op *role);            /* ROLE_LOAD .. */
const char *role_text(const Op *role);
/* The role whose workers run this one too, or WORD_NONE; is there one? */
Word role_host(const Op *role);
bool role_is_guest(const Op *role);
Op *role_around(const Op *op);        /* the role that the op stands in, or is; NULL: none */
bool role_loops_around(const Op *op); /* does a loop of its role go round the op? */

/* --- rings: of the op `ring` --- */

/* The innermost loop of a role that takes the ring's items, the first if there are several; NULL: none. */
const Op *ring_taking_loop(const Region *role, Ref ring);
Word ring_producer(const Op *ring); /* role by name; WORD_NONE: the text does not say (ring_check.c adds it) */
Word ring_consumer(const Op *ring);
int ring_field_find(const Type *ring, const char *name); /* place among the fields; -1: none has that name */

int ring_acquires(const Region *region, Ref ring); /* in the region and below: ops, not trips */

/* Gives it fields of another type, and so its slots. */
void ring_set_type(Kernel *k, Ref ring, const Type *type);

/* --- hand-overs --- */

typedef enum HandOver {
    HAND_NONE,
    HAND_ACQUIRE,
    HAND_PUT,
    HAND_COMMIT,
    HAND_WAIT,
    HAND_GET,
    HAND_RELEASE,
    HAND_SKIP
} HandOver;
HandOver hand_over(const Op *op);
bool hand_is_producers(HandOver hand); /* acquire, put, commit */
/* The ring that a hand-over concerns (for put and get: that of their slot), and the op that made it. */
Ref hand_ring(const Kernel *k, const Op *op);
Op *hand_ring_op(const Kernel *k, const Op *op);
/* put, get: the acquire or wait that the slot comes from, the place of the field among those of its ring. */
Op *hand_begin(const Kernel *k, const Op *op);
int hand_field(const Op *op);
const char *hand_field_name(const Kernel *k, const Op *op);
Ref put_value(const Op *put);
/* Is the op, or one inside of it: a hand-over; one that takes an item (acquire, wait or skip); one of that kind, of
 * that ring (REF_NONE: of any; not for put and get, which name no ring)? */
bool hands_over(const Op *op);
bool hands_over_items(const Op *op);
bool hands_over_by(const Op *op, HandOver kind, Ref ring);
#endif
