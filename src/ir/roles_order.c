/* SPDX-License-Identifier: Apache-2.0 */
/* roles_order.c: a tile that one worker writes once, and another reads, with no barrier between the two.
 *
 *     { .. ; bstore s }  { .. ; bload s }     ->     { .. ; bstore s ; bar_arrive b }  { .. ; bar_wait b, 0 ; bload s }
 *
 * Before the write nobody has anything to read there, so the read can only mean what is written: the barrier that the
 * source lacks is put between. Where the write or the read stands in a loop or under a condition, where anything else
 * writes the tile, and where somebody would then wait for ever, it may be another mistake, and is left as it is. */
#include "ir/roles_check.h"

enum { MOST_ORDERED = 8 };

typedef struct Ordered {
    Op *added[3];
    const Op *reads, *writes;
    Ref buffer;
    int reader, writer;
} Ordered;

/* What stands in the worker's own region, with the access in it, if the block does it once; else NULL. */
static Op *once(const Check *c, Op *op) {
    Op *top = NULL;
    for (Op *around = op; around; around = around->parent->owner) {
        if (around->code == OP_FOR || around->code == OP_WHILE || (around->code == OP_IF && !top)) return NULL;
        if (around->parent->owner == c->spmd) top = around;
    }
    return top;
}

typedef struct Uses {
    Ref buffer;
    const Op *write; /* with what is inside */
    bool others;
} Uses;
static void look_at_use(Op *op, void *user) {
    Uses *u = user;
    for (int i = 0; i < op->operand_count; i++) {
        if (op->operands[i] != u->buffer || (op->code == OP_BLOAD && i == 0)) continue;
        const Op *around = op;
        while (around && around != u->write) around = around->parent->owner;
        u->others |= !around || op->code != OP_BSTORE || i;
    }
}

static void use_bar(Builder *b, Opcode code, Ref bar, int64_t threads) {
    Op *op = ir_begin(b, code);
    ir_operand(b, op, bar);
    if (code == OP_BAR_WAIT) ir_operand(b, op, ir_int(b, EL_I32, 0));
    ir_operand(b, op, REF_NONE);
    if (code == OP_BAR_ARRIVE) op_set(b->kernel, op, (Attr){.id = AT_ARRIVALS, .number = threads});
    ir_end(b, op, NULL);
}

static bool put_between(Check *c, Op *spmd, Ordered *o) {
    bool first = c->where->code == OP_BSTORE;
    *o = (Ordered){.writes = first ? c->where : c->other, .reads = first ? c->other : c->where, .buffer = c->raced,
                   .writer = first ? c->here : c->there, .reader = first ? c->there : c->here};
    if (o->writes->code != OP_BSTORE || o->reads->code != OP_BLOAD) return false;
    Op *write = once(c, (Op *)o->writes), *read = once(c, (Op *)o->reads);
    Uses uses = {.buffer = c->raced, .write = write};
    ir_walk(c->k->body, look_at_use, &uses);
    if (!write || !read || uses.others) return false;
    Builder outside = ir_builder_before(c->k, spmd), behind = ir_builder_behind(c->k, write),
            before = ir_builder_before(c->k, read);
    Op *bar = ir_begin(&outside, OP_BAR);
    op_set(c->k, bar, (Attr){.id = AT_ARRIVALS, .number = check_threads(c)});
    op_set(c->k, bar, (Attr){.id = AT_BARS, .number = 1});
    Ref ref = ir_end(&outside, bar, NULL);
    use_bar(&behind, OP_BAR_ARRIVE, ref, check_threads(c));
    use_bar(&before, OP_BAR_WAIT, ref, 0);
    o->added[0] = bar, o->added[1] = write->next, o->added[2] = read->previous;
    return true;
}

void roles_order(Kernel *k, Arena *scratch, Op *spmd) {
    Ordered all[MOST_ORDERED];
    int count = 0;
    Check *c = check_all(k, scratch, spmd, NULL);
    while (c->why && c->raced && count < MOST_ORDERED && put_between(c, spmd, &all[count])) {
        count++;
        c = check_all(k, scratch, spmd, NULL);
    }
    bool good = !c->why || c->unproved;
    for (int i = count; i--;) {
        const Ordered *o = &all[i];
        const char *name = ir_value(k, o->buffer)->name;
        for (int n = 3; n-- && !good;) ir_remove(o->added[n]);
        if (!good) continue;
        diag_emit(k->module->diag, DIAG_ROLES_ORDERED, o->reads->range, o->reader, name ? name : "a shared tile",
                  o->writer);
        diag_emit(k->module->diag, DIAG_NOTE_HERE, o->writes->range, say(c, "warpgroup %d writes it here", o->writer));
    }
}
