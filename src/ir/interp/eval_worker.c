/* SPDX-License-Identifier: Apache-2.0 */
/* eval_worker.c: what the workers of an spmd region do with each other: shuffles, and atomics on buffers.
 *
 * 32 workers in a row are a warp, the last of a region perhaps fewer. At a shuffle each shows its value, waits for the
 * others, and takes the value of one of them; what was shown stays until the next but one, so nobody is late. */
#include "ir/interp/interp_core.h"

enum { LANES = 32 };
typedef struct Exchange {
    Barrier barrier;
    Cell *shown[2][LANES];
} Exchange;

void eval_shfl(Process *p, Step *s) {
    Team *team = p->team;
    Operand x = ev_operand(p, s, 0);
    int64_t from = ev_scalar(p, s, s->op->operands[1]);
    Cell *taken = cell_retain(x.cell);
    if (team) {
        if (team->lane_threads != 1) ev_refuse(p, s, "shuffles of workers that are no threads");
        int64_t warp = p->lane / LANES, left = team->size - warp * LANES;
        MapEntry *entry = map_find_number(&team->exchanges, (uint64_t)warp);
        if (!entry)
            entry = map_put_number(&team->exchanges, &p->in->arena, (uint64_t)warp, ARENA_NEW(&p->in->arena, Exchange));
        Exchange *e = entry->value;
        int round = (int)(e->barrier.generation & 1);
        cell_release(p->in, e->shown[round][p->lane % LANES]);
        e->shown[round][p->lane % LANES] = taken;
        e->barrier.needed = left < LANES ? left : LANES;
        if (++e->barrier.arrived >= e->barrier.needed) {
            e->barrier.arrived = 0;
            e->barrier.generation++;
            e->barrier.clock = ++team->clock;
            process_pause(p);
        } else {
            process_wait(
                p, (Wait){.kind = WAIT_SYNC, .step = s, .barrier = &e->barrier, .number = e->barrier.generation});
        }
        p->clock = e->barrier.clock;
        bool inside = from / LANES == warp && from >= 0 && from % LANES < e->barrier.needed;
        taken = cell_retain(inside ? e->shown[round][from % LANES] : taken);
    }
    ev_assign(p, s->op->results[0], taken);
}

void eval_batomic(Process *p, Step *s) {
    process_pause(p);
    Operand b = ev_operand(p, s, 0), value = ev_operand_of(p, s, op_operand(s->op, 1));
    if (value.type->rank) ev_refuse(p, s, "an atomic of a whole tile on a buffer");
    if (value.cell->shadow) sanitize_use(p, s, &value);
    int64_t offset = box_offset(p, s, op_list(s->op, 0), b.type, value.type);
    race_access(p, s, b.cell, offset, RACE_ATOMIC, NULL);
    Cell *old = ev_define(p, s, 0), *made = cell_new(p->in, value_bytes(value.type));
    box_move(p->in, b.cell, b.type, offset, old, value.type, false);
    memcpy(made->data, old->data, value_bytes(value.type));
    memory_combine(op_word(s->op, AT_COMBINE, COMBINE_ADD), b.type->elem, made->data, value.data, NULL);
    if (old->shadow) sanitize_use(p, s, &(Operand){value.type, value.elem, old, old->data});
    box_move(p->in, b.cell, b.type, offset, made, value.type, true);
    cell_release(p->in, made);
}
