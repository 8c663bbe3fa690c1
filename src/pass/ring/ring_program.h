/* SPDX-License-Identifier: Apache-2.0 */
/* ring_program.h: what the roles of a kernel do with their rings, as small programs of hand-overs (ring_program.c). */
#ifndef PASS_RING_RING_PROGRAM_H
#define PASS_RING_RING_PROGRAM_H
#include "pass/pass.h"
#include "pass/ring/ring_number.h"

typedef enum NodeKind { NODE_ACQUIRE, NODE_COMMIT, NODE_WAIT, NODE_RELEASE, NODE_LOOP, NODE_IF } NodeKind;

typedef struct Node Node;
typedef struct Sequence {
    VEC(Node *) nodes;
} Sequence;
struct Node {
    NodeKind kind;
    int ring;       /* of a hand-over */
    int id;         /* of a loop's trip count or an if's condition: equal values, equal ids */
    int64_t count;  /* of a loop with constant bounds; else -1 */
    unsigned rings; /* of a loop or if: those that are handed over inside, as bits */
    const Op *op;
    Sequence body[2]; /* LOOP: [0]; IF: taken, not taken */
    bool rotated;     /* LOOP whose first trip is body[1], whose others are body[0], and which ends with `drain` */
    Sequence drain;
};

typedef struct RingInfo {
    Ref ref;
    const Op *op;
    const char *name;
    int64_t slots;
    int producer;             /* role, -1: none yet */
    int consumers[MAX_ROLES]; /* roles that wait on it */
    int consumer_count;
    int64_t late; /* releases that a target may still owe, by `hold` */
} RingInfo;
typedef struct RoleInfo {
    Word word;
    const char *name;
    const Op *op;
    Sequence program;
} RoleInfo;

typedef struct RingProgram {
    PassContext *cx;
    Kernel *k;
    Arena *arena;
    const Op *tasks; /* NULL: there are none */
    RingInfo rings[MAX_RINGS];
    int ring_count;
    RoleInfo roles[MAX_ROLES];
    int role_count;
    RingNumbers *numbers;
    bool refuted;
} RingProgram;

/* Every role, each of whose items keeps the protocol; `refuted`, with the reason in the diag, where one does not. */
RingProgram *ring_program_read(PassContext *cx, Kernel *k);
/* An error, if it is the first. */
void ring_program_refute(RingProgram *p, DiagId id, Range range, ...);
#endif
