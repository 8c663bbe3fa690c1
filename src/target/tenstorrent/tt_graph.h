/* SPDX-License-Identifier: Apache-2.0 */
/* tt_graph.h: one expression over tiles as a graph of calls, each with its slot of DST; between
 * tt_graph.c, which builds it, and tt_section.c, which makes steps of it. */
#ifndef TARGET_TENSTORRENT_TT_GRAPH_H
#define TARGET_TENSTORRENT_TT_GRAPH_H
#include "target/tenstorrent/tt_compute.h"

typedef enum NodeKind { NODE_DST, NODE_COPY, NODE_FILL, NODE_CALL, NODE_FPU, NODE_DOT, NODE_REDUCE } NodeKind;
typedef struct Node {
    NodeKind kind;
    const CallRow *row;
    const Op *op;
    int in[3], in_count;
    int cb, cb2;        /* COPY, FPU, DOT, REDUCE */
    TtSpread spread;      /* COPY */
    bool single;        /* COPY: of one page, for all */
    int64_t from, columns; /* COPY: of a slice: the first page, and how many columns of pages there are; 0: all of them */
    bool turned;        /* COPY: transposed; DOT: the second operand */
    const char *number; /* text: FILL a float, CALL float bits */
    int weight;         /* slots that computing it takes */
    int uses, left;     /* by other nodes; not yet computed ones */
    int slot;           /* local */
    bool duplicates;    /* its operand lives on: it works on a copy */
    bool scheduled;
} Node;

typedef struct Section {
    Compute *c;
    const Root *root;
    const Type *type;
    int64_t grid_rows, grid_columns; /* pages of the result */
    VEC(Node) nodes;
    Map memo;
    VEC(int) order;
    bool used[8], dirty[8]; /* local slots: now, ever */
    int need;
    bool is_grid, reduces; /* pages have rows and columns */
    int down, across;      /* pages of a section */
    const char *r, *c_var; /* loop variables, NULL: one section along it */
} Section;

static inline Tt *section_tt(const Section *s) { return s->c->role.tt; }
static inline const TtCb *section_cb(const Section *s, int cb) { return &section_tt(s)->plan->cbs.at[cb]; }

/* Packs what the expression needs in CBs into inner ones; with `dry` only says whether there is anything. */
bool graph_prepare(Compute *c, const Root *root, Ref value, bool dry);
/* Builds the graph, orders it, gives slots: s->need is how many a page takes (9: more than there
 * are). The result is the root's node. */
int graph_build(Section *s, Compute *c, const Root *root);
#endif
