/* SPDX-License-Identifier: Apache-2.0 */
/* eval_buffer.c: buffers, and the barriers of explicit mode.
 *
 * A buffer is a cell whose elements change; sanitized, its shadow says what was not written yet.
 * Workers of an spmd region share the buffers made around it, and `shared` ones made inside.
 *
 * sync waits for all workers of its group: the region's, or those of the same warp or warpgroup; a
 * named one for as many threads as it says. An mbarrier's phase ends when all arrivals are in and
 * no bytes are outstanding; a wait for a parity passes once the phase of that parity has ended. */
#include "ir/interp/interp_core.h"

static Cell *buffer_new(Interp *in, const Type *type) {
    Cell *cell = cell_new(in, value_bytes(type));
    cell->pinned = true;
    value_poison(cell->data, type);
    if (in->launch->sanitize) {
        int64_t n = ty_elements(type);
        memset(cell_shadow(in, cell, n), SHADOW_UNWRITTEN, (size_t)n);
    }
    return cell;
}

void eval_buf(Process *p, Step *s) {
    Ref ref = s->op->results[0];
    const Type *type = ir_value(p->in->kernel, ref)->type;
    if (op_word(s->op, AT_LIFE, LIFE_TASK) == LIFE_KERNEL && p->cells[ref]) return;
    if (!p->team || type->scope != SCOPE_SHARED) {
        ev_assign(p, ref, buffer_new(p->in, type));
        return;
    }
    MapEntry *entry = map_find_number(&p->team->shared, ref);
    if (!entry) entry = map_put_number(&p->team->shared, &p->in->arena, ref, buffer_new(p->in, type));
    ev_assign(p, ref, cell_retain(entry->value));
}

void eval_bload(Process *p, Step *s) {
    process_pause(p);
    Operand b = ev_operand(p, s, 0);
    const Type *type = ir_box_of(p->in->kernel, s->op);
    int64_t offset = box_offset(p, s, op_list(s->op, 0), b.type, type);
    if (!type->rank) race_access(p, s, b.cell, offset, RACE_READ, NULL);
    if (!ir_is_beside(p->in->kernel, s->op)) {
        box_move(p->in, b.cell, b.type, offset, ev_define(p, s, 0), type, false);
        return;
    }
    int64_t columns = type->extent[2];
    box_gather(p->in, b.cell, b.type, offset, ev_define(p, s, 0), type,
               (int64_t[]){columns, columns * type->extent[0], 1});
}

void eval_bstore(Process *p, Step *s) {
    process_pause(p);
    Operand b = ev_operand(p, s, 0), value = ev_operand_of(p, s, op_operand(s->op, 1));
    int64_t offset = box_offset(p, s, op_list(s->op, 0), b.type, value.type);
    if (!value.type->rank) race_access(p, s, b.cell, offset, RACE_WRITE, value.data);
    box_move(p->in, b.cell, b.type, offset, value.cell, value.type, true);
}

void eval_sync(Process *p, Step *s) {
    Team *team = p->team;
    if (!team) return; /* one worker: nobody to wait for */
    Word unit = op_word(s->op, AT_UNIT, UNIT_BLOCK);
    if (unit == UNIT_GRID || unit == UNIT_CLUSTER) ev_refuse(p, s, "a barrier between programs");
    int64_t threads = unit == UNIT_WARP ? 32 : unit == UNIT_WARPGROUP ? 128 : team->size * team->lane_threads;
    int64_t group_size = threads / team->lane_threads; /* workers of a group */
    if (group_size < 1) group_size = 1;
    int64_t group = p->lane / group_size, left = team->size - group * group_size;
    int64_t needed = (left < group_size ? left : group_size) * team->lane_threads;
    int64_t id = op_int(s->op, AT_ID, -1);
    if (id >= 0) { /* a named barrier belongs to the whole team */
        group = 0;
        needed = op_int(s->op, AT_ARRIVALS, team->size * team->lane_threads);
    }
    uint64_t key = (uint64_t)(id + 1) << 32 | (uint64_t)group << 8 | (id >= 0 ? 0 : (uint64_t)unit & 0xFF);
    MapEntry *entry = map_find_number(&team->barriers, key);
    if (!entry) entry = map_put_number(&team->barriers, &p->in->arena, key, ARENA_NEW(&p->in->arena, Barrier));
    Barrier *barrier = entry->value;
    barrier->needed = needed;
    barrier->arrived += team->lane_threads;
    if (barrier->arrived >= needed) {
        barrier->arrived = 0;
        barrier->generation++;
        p->clock = barrier->clock = ++team->clock;
        process_pause(p);
        return;
    }
    process_wait(p, (Wait){.kind = WAIT_SYNC, .step = s, .barrier = barrier, .number = barrier->generation});
    p->clock = barrier->clock;
}

void eval_bar(Process *p, Step *s) {
    int64_t count = op_int(s->op, AT_ARRIVALS, 1), bars = op_int(s->op, AT_BARS, 1);
    Cell *cell = cell_new(p->in, (size_t)bars * sizeof(BarValue));
    for (int64_t i = 0; i < bars; i++)
        ((BarValue *)cell->data)[i] = (BarValue){.count = count, .pending = count, .bars = bars};
    cell->pinned = true;
    ev_assign(p, s->op->results[0], cell);
}

void bar_count(BarValue *bar, int64_t arrivals, int64_t bytes) {
    bar->pending -= arrivals;
    bar->bytes += bytes;
    if (bar->pending > 0 || bar->bytes != 0) return;
    bar->pending = bar->count;
    bar->phase++;
}

/* The one of that number, if there are several. */
static BarValue *choose(Process *p, Step *s, Ref number) {
    BarValue *bars = ev_operand(p, s, 0).data;
    int64_t at = number ? ev_scalar(p, s, number) : 0;
    if (at < 0 || at >= bars->bars) ev_refuse(p, s, "a barrier of a number that there is none of");
    return bars + at;
}

void eval_bar_arrive(Process *p, Step *s) {
    bar_count(choose(p, s, op_operand(s->op, 1)), op_int(s->op, AT_ARRIVALS, 1), 0);
    process_pause(p);
}

void eval_bar_expect(Process *p, Step *s) {
    bar_count(choose(p, s, op_operand(s->op, 2)), 1, ev_scalar(p, s, s->op->operands[1]));
    process_pause(p);
}

void eval_bar_wait(Process *p, Step *s) {
    BarValue *bar = choose(p, s, op_operand(s->op, 2));
    int64_t parity = ev_scalar(p, s, s->op->operands[1]) & 1;
    process_wait(p, (Wait){.kind = WAIT_BAR, .step = s, .bar = bar, .number = parity});
    if (p->team && bar->phase > 0) p->clock = ++p->team->clock; /* whoever arrived had done what came before */
}

/* The data are read now and land later; without a barrier nobody could wait for them, so at once. */
void eval_async_copy(Process *p, Step *s) {
    Interp *in = p->in;
    Operand b = ev_operand_of(p, s, op_operand(s->op, 1));
    const Type *type = b.type;
    Ref bar = op_operand(s->op, 2);
    Cell *staged = cell_new(in, value_bytes(type));
    memory_load_box(p, s, type, REF_NONE, staged);
    if (!bar) {
        memcpy(b.data, staged->data, value_bytes(type));
        cell_drop_shadow(in, b.cell);
        cell_release(in, staged);
        return;
    }
    *VEC_PUSH(&in->landings, &in->arena) = (Landing){.staged = staged,
                                                     .buffer = cell_retain(b.cell),
                                                     .bar = cell_retain(ev_use(p, s, bar)),
                                                     .type = type,
                                                     .bytes = (int64_t)value_bytes(type)};
    process_pause(p);
}
