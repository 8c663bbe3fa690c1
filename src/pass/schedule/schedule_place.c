/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_place.c: who lies where in shared memory.
 *
 * Buffers have the lifetime of the value they hold, or of the op that needs scratch, and lie over each other where
 * lifetimes do not meet. Rings come first and stay, but for those that a block which runs one task fills for itself
 * (skew): where memory is short, because blocks share a multiprocessor, they lie among the buffers, from the op that
 * they are first filled for to the one that takes their last item. Each op with memory gets `at` and `bytes`. */
#include "ir/threads.h"
#include "pass/schedule/schedule.h"
#include "pass/schedule/scratch.h"

typedef struct Buffer {
    Op *op;
    const void *role; /* or the region of a worker; NULL: of the block */
    int64_t bytes, offset, align;
    int first, last; /* of the ops between which it is alive */
} Buffer;
typedef struct Planner {
    Schedule *s;
    Map first, last; /* op -> its number, the number of the last op inside it */
    VEC(Buffer) buffers;
    int count, warps;
} Planner;

static int number_of(const Map *map, const Op *op) {
    return (int)(uintptr_t)map_find_number(map, (uintptr_t)op)->value;
}

static void number_ops(Planner *p, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        map_put_number(&p->first, p->s->arena, (uintptr_t)op, (void *)(uintptr_t)p->count++);
        for (int i = 0; i < op->region_count; i++) number_ops(p, op->regions[i]);
        map_put_number(&p->last, p->s->arena, (uintptr_t)op, (void *)(uintptr_t)p->count++);
    }
}

/* The last op, seen from the region of the definition, that uses the value (or a view of it). */
static int last_use(Planner *p, const Region *region, const Region *home, Ref value) {
    int last = 0;
    for (const Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->operand_count; i++) {
            if (op->operands[i] != value) continue;
            const Op *outer = op;
            while (outer->parent != home) outer = outer->parent->owner;
            int at = number_of(&p->last, outer);
            if (op->code == OP_PERMUTE || (op->code == OP_BLOAD && schedule_in_shared(p->s->k, op->results[0]))) {
                int later = last_use(p, op->parent, op->parent, op->results[0]);
                if (later > at) at = later;
            }
            if (at > last) last = at;
        }
        for (int i = 0; i < op->region_count; i++) {
            int at = last_use(p, op->regions[i], home, value);
            if (at > last) last = at;
        }
    }
    return last;
}

static int64_t buffer_bytes(const Kernel *k, Ref buffer) {
    const Layout *layout = ir_value(k, buffer)->layout;
    return layout ? layout->tile.bytes : stage_bytes(ir_type(k, buffer));
}

static void find_buffers(Planner *p, const Region *region, const void *role) {
    const Kernel *k = p->s->k;
    for (Op *op = region->first; op; op = op->next) {
        const void *inside = op->code == OP_ROLE ? op : role;
        Buffer b = {
            .op = op, .role = inside, .align = p->s->cx->machine->tile_align, .first = number_of(&p->first, op)};
        bool kept = true; /* for as long as the value is used */
        if (op->code == OP_CONVERT && schedule_in_shared(k, op->results[0]))
            b.bytes = schedule_layout(k, op->results[0])->tile.bytes;
        else if (op->code == OP_BUF && threads_are_around(op))
            continue; /* each thread has it for itself */
        else if (op->code == OP_BAR)
            b.bytes = p->s->cx->machine->barrier_bytes * op_int(op, AT_BARS, 1);
        else if (op->code == OP_BUF)
            b.bytes = buffer_bytes(k, op->results[0]);
        else {
            bool used = !op->result_count || p->s->uses[op->results[0]];
            bool one = !p->s->tasks || !op_attr(p->s->tasks, AT_GANG); /* a program runs on all warps of a role */
            b.bytes = scratch_bytes(k, op, one ? layout_group_of(p->s->cx, k, op).warps : p->warps, used);
            kept = false;
        }
        b.last = kept ? last_use(p, op->parent, op->parent, op->results[0]) : number_of(&p->last, op);
        if (b.bytes) *VEC_PUSH(&p->buffers, p->s->arena) = b;
        bool workers = op->code == OP_SPMD && op->region_count > 1;
        for (int i = 0; i < op->region_count; i++) find_buffers(p, op->regions[i], workers ? op->regions[i] : inside);
    }
}

/* A reduction's scratch that stays alive until the next one has used its own saves a barrier. */
static void part_scratch(Planner *p) {
    enum { SMALL = 4096 }; /* a barrier is worth that much of any machine's memory */
    for (size_t i = 0; i < p->buffers.count; i++) {
        Buffer *b = &p->buffers.at[i], *next = b + 1;
        if (b->op->code != OP_REDUCE || b->role || b->bytes > SMALL) continue;
        b->align = SCRATCH_ALIGN;
        if (i + 1 < p->buffers.count && next->op->code == OP_REDUCE && !next->role && next->bytes <= SMALL)
            b->last = next->last;
    }
}

static Planner planner_of(Schedule *s) {
    Planner p = {.s = s, .count = 1, .warps = layout_warps(s->cx, s->k)};
    number_ops(&p, s->k->body);
    find_buffers(&p, s->k->body, NULL);
    part_scratch(&p);
    return p;
}

/* --- rings that do not stay --- */
static bool is_temporary(const Schedule *s, const RingSchedule *r) {
    return r->ahead && !op_flag(s->tasks, AT_PERSIST);
}

/* The ops of the region that hand items of the ring over, or hold such: the first of them, and the last. */
static void find_hands(const Region *region, Ref ring, const Op **first, const Op **last) {
    for (const Op *op = region->first; op; op = op->next) {
        const Op *inside = NULL, *unused = NULL;
        if (op->operand_count && op->operands[0] == ring && hand_over(op) != HAND_NONE) inside = op;
        for (int i = 0; i < op->region_count; i++) find_hands(op->regions[i], ring, &inside, &unused);
        if (!inside) continue;
        if (!*first) *first = op;
        *last = op;
    }
}

/* Between which ops of its consumer the ring is alive. Its producer is written into the consumer's text as far as
 * each wait needs it, so a ring is filled for the first one that waits for it, or for anything behind it. */
static Buffer life_of(Planner *p, const RingSchedule *r) {
    const Schedule *s = p->s;
    const Op *filled = NULL, *first = NULL, *last = NULL;
    find_hands(r->from->regions[0], r->op->results[0], &filled, &last);
    find_hands(r->to->regions[0], r->op->results[0], &first, &last);
    Buffer b = {.op = r->op, .bytes = r->bytes * r->slots, .align = s->cx->machine->tile_align};
    if (!filled || !first) return b; /* it stays */
    b.role = r->to;
    b.first = number_of(&p->first, first);
    b.last = number_of(&p->last, last);
    for (size_t i = 0; i < s->rings.count; i++) {
        const RingSchedule *other = &s->rings.at[i];
        const Op *later = NULL, *waits = NULL, *end = NULL;
        if (other->from != r->from || other->to != r->to) continue;
        find_hands(other->from->regions[0], other->op->results[0], &later, &end);
        find_hands(other->to->regions[0], other->op->results[0], &waits, &end);
        if (later && waits && number_of(&p->first, later) >= number_of(&p->first, filled) &&
            number_of(&p->first, waits) < b.first)
            b.first = number_of(&p->first, waits);
    }
    return b;
}

static bool meet(const Buffer *a, const Buffer *b) {
    return a->role != b->role || (a->first <= b->last && b->first <= a->last);
}

static bool apart(const Buffer *a, const Buffer *b) {
    return a->offset + a->bytes <= b->offset || b->offset + b->bytes <= a->offset;
}

/* The first place from `base` on where it meets none of those before it. */
static void find_place(const Planner *p, size_t which, int64_t base) {
    Buffer *b = &p->buffers.at[which];
    b->offset = base;
    for (bool moved = true; moved;) {
        moved = false;
        for (size_t j = 0; j < which; j++) {
            const Buffer *other = &p->buffers.at[j];
            if (!meet(b, other) || apart(b, other)) continue;
            b->offset = (other->offset + other->bytes + b->align - 1) / b->align * b->align;
            moved = true;
        }
    }
    if (b->offset + b->bytes > p->s->bytes) p->s->bytes = b->offset + b->bytes;
}

static void write_place(const Schedule *s, const Buffer *b) {
    op_set(s->k, b->op, (Attr){.id = AT_AT, .number = b->offset});
    op_set(s->k, b->op, (Attr){.id = AT_BYTES, .number = b->bytes});
}

/* Where it may begin: barriers are words, and what is smaller than a swizzle's pattern has a smaller one. */
static int64_t least_align(const Planner *p, const Buffer *b) {
    enum { LEAST_TILE = 128 }; /* of bulk copies */
    if (b->op->code == OP_BAR || b->align == SCRATCH_ALIGN) return SCRATCH_ALIGN;
    int64_t align = LEAST_TILE;
    while (align < b->bytes && align < p->s->cx->machine->tile_align) align *= 2;
    return align;
}

/* All at round places, and where they do not fit so, closer together. */
void schedule_place(Schedule *s) {
    Planner p = planner_of(s);
    int64_t align = s->cx->machine->tile_align, before = s->bytes, base = (before + align - 1) / align * align;
    for (int close = 0; close < 2; close++) {
        s->bytes = before;
        for (size_t i = 0; i < p.buffers.count; i++) {
            if (close) p.buffers.at[i].align = least_align(&p, &p.buffers.at[i]);
            find_place(&p, i, base);
        }
        if (s->bytes <= s->cx->machine->ring_bytes) break;
    }
    for (size_t i = 0; i < p.buffers.count; i++) write_place(s, &p.buffers.at[i]);
}

bool schedule_place_among(Schedule *s) {
    for (size_t i = 0; i < s->rings.count; i++)
        if (!is_temporary(s, &s->rings.at[i])) return false;
    Planner all = planner_of(s), p = {.s = s, .first = all.first, .last = all.last};
    for (size_t i = 0; i < s->rings.count; i++) {
        *VEC_PUSH(&p.buffers, s->arena) = life_of(&p, &s->rings.at[i]);
        if (!VEC_LAST(&p.buffers).role) return false;
    }
    for (size_t i = 0; i < all.buffers.count; i++) *VEC_PUSH(&p.buffers, s->arena) = all.buffers.at[i];
    s->bytes = 0;
    for (size_t i = 0; i < p.buffers.count; i++) {
        find_place(&p, i, 0);
        if (i < s->rings.count)
            s->rings.at[i].at = p.buffers.at[i].offset;
        else
            write_place(s, &p.buffers.at[i]);
    }
    return true;
}

/* Is it a ring that stays? */
static bool stays(const Buffer *b) { return b->op->code == OP_RING && !b->role; }

/* Rings and their barriers, which are in use all the time, and rings that are not. */
static void add_rings(Planner *p) {
    for (size_t i = 0; i < p->s->rings.count; i++) {
        const RingSchedule *r = &p->s->rings.at[i];
        int64_t slots = op_int(r->op, AT_SLOTS, 1);
        int64_t items = r->fused && r->each ? p->s->gang.programs : slots;
        const Attr *barriers = op_attr(r->op, AT_BARRIERS);
        Buffer b = is_temporary(p->s, r) ? life_of(p, r) : (Buffer){.op = r->op};
        b.bytes = r->bytes * items;
        b.offset = op_int(r->op, AT_AT, 0);
        *VEC_PUSH(&p->buffers, p->s->arena) = b;
        for (int side = 0; !r->fused && side < 2; side++) {
            b = (Buffer){
                .op = r->op, .bytes = p->s->cx->machine->barrier_bytes * slots, .offset = barriers->list.at[side]};
            *VEC_PUSH(&p->buffers, p->s->arena) = b;
        }
    }
}

bool schedule_place_holds(Schedule *s) {
    Planner p = planner_of(s);
    int64_t room = kernel_int(s->k, AT_SHARED, -1);
    for (size_t i = 0; i < p.buffers.count; i++) {
        Buffer *b = &p.buffers.at[i];
        const Attr *at = op_attr(b->op, AT_AT);
        if (!at || op_int(b->op, AT_BYTES, 0) < b->bytes)
            return schedule_fail(s, b->op, "it needs shared memory: `at` and `bytes` say where, and how much");
        if (at->number % least_align(&p, b)) return schedule_fail(s, b->op, "its shared memory is not aligned");
        b->offset = at->number;
        b->bytes = op_int(b->op, AT_BYTES, 0);
    }
    add_rings(&p);
    for (size_t i = 0; i < p.buffers.count; i++) {
        const Buffer *b = &p.buffers.at[i];
        if (b->offset + b->bytes > room || room > s->cx->machine->ring_bytes)
            return schedule_fail(s, b->op, "its shared memory lies beyond what the block has (`shared`)");
        for (size_t j = 0; j < i; j++) {
            const Buffer *other = &p.buffers.at[j];
            if (!apart(b, other) && (meet(b, other) || stays(b) || stays(other)))
                return schedule_fail(s, b->op, "its shared memory is in use by another op");
        }
    }
    return true;
}

/* The buffer with the most bytes behind `last`, in the order of their bytes; NULL: none is left. */
static const Buffer *next_largest(const Planner *p, const Buffer *last) {
    const Buffer *found = NULL;
    for (size_t i = 0; i < p->buffers.count; i++) {
        const Buffer *b = &p->buffers.at[i];
        bool left = !last || b->bytes < last->bytes || (b->bytes == last->bytes && b > last);
        if (b->bytes && left && (!found || b->bytes > found->bytes)) found = b;
    }
    return found;
}

void schedule_refuse_size(Schedule *s) {
    enum { MOST_SAID = 8 };
    Planner p = planner_of(s);
    const Buffer *largest = next_largest(&p, NULL);
    Buffer most = largest ? *largest : (Buffer){.op = s->k->body->first};
    diag_emit(s->k->module->diag, DIAG_SIMT_SHARED, most.op->range, (long long)s->bytes, s->cx->machine->arch,
              (long long)s->cx->machine->ring_bytes, (long long)most.bytes, op_info[most.op->code].mnemonic);
    diag_amounts(s->k->module->diag, s->bytes, s->cx->machine->ring_bytes);
    const Buffer *b = p.buffers.count > 1 ? largest : NULL; /* who takes how much */
    for (int i = 0; b && i < MOST_SAID; i++, b = next_largest(&p, b)) {
        const char *name = b->op->result_count ? ir_value(s->k, b->op->results[0])->name : NULL;
        diag_emit(s->k->module->diag, DIAG_NOTE_HERE, b->op->range,
                  arena_printf(s->k->module->arena, "%lld bytes: %s", (long long)b->bytes,
                               name ? arena_printf(s->arena, "`%s`", name) : op_info[b->op->code].mnemonic));
    }
}
