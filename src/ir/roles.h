/* SPDX-License-Identifier: Apache-2.0 */
/* roles.h: workers side by side (`spmd` with a region for each): does each make progress, and does nobody overwrite
 * what another still reads? */
#ifndef IR_ROLES_H
#define IR_ROLES_H
#include "ir/build.h"

typedef struct RolesRun { /* they will run as they are written: what is not proved is said too, */
    bool accepts;         /* as a warning */
} RolesRun;

typedef struct RolesBounds { /* of what was looked at */
    bool proved;
    int workers, orders;
    int64_t trips;
} RolesBounds;

/* roles_check.c: says what is wrong. run: NULL if they will run in one order that is right by itself; then only what is
 * wrong for sure counts. False: they are not to run. */
bool roles_check(Kernel *k, Arena *scratch, const Op *spmd, const RolesRun *run, RolesBounds *bounds);

/* roles_order.c: a tile that one worker writes once, and another reads once, with no barrier between, gets one, with a
 * warning: nothing else can be meant. Where that would let somebody wait for ever nothing is changed. */
void roles_order(Kernel *k, Arena *scratch, Op *spmd);

/* roles_same.c: the same number, the same trips of two `while`, of two workers? `still`: by Ref, whether it was read
 * from memory that nobody writes. */
bool roles_same_number(const Kernel *k, const bool *still, Ref a, Ref b);
bool roles_same_trips(const Kernel *k, const bool *still, const Op *a, const Op *b);
#endif
