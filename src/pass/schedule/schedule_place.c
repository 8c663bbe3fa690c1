/* schedule_place.c: who lies where in shared memory beside the rings.
 *
 * Buffers have the lifetime of the value they hold, or of the op that needs scratch, and lie over each other where
 * lifetimes do not meet; rings come first and stay. Each op with memory gets `at` and `bytes`. */
#include "pass/schedule/schedule.h"
#include "pass/schedule/scratch.h"

typedef struct Buffer {
    Op *op;
    const Op *role;
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

/* The last op, seen from the region of the definition, that uses the value (or a transpose of it). */
static int last_use(Planner *p, const Region *region, const Region *home, Ref value) {
    int last = 0;
    for (const Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->operand_count; i++) {
            if (op->operands[i] != value) continue;
            const Op *outer = op;
            while (outer->parent != home) outer = outer->parent->owner;
            int at = number_of(&p->last, outer);
            if (op->code == OP_PERMUTE) {
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

static void find_buffers(Planner *p, const Region *region, const Op *role) {
    const Kernel *k = p->s->k;
    for (Op *op = region->first; op; op = op->next) {
        const Op *inside = op->code == OP_ROLE ? op : role;
        Buffer b = {.op = op, .role = inside, .align = 1024, .first = number_of(&p->first, op)};
        bool kept = true; /* for as long as the value is used */
        if (op->code == OP_CONVERT && schedule_in_shared(k, op->results[0]))
            b.bytes = schedule_layout(k, op->results[0])->tile.bytes;
        else if (op->code == OP_BUF)
            b.bytes = stage_bytes(ir_type(k, op->results[0]));
        else {
            bool used = !op->result_count || p->s->uses[op->results[0]];
            b.bytes = scratch_bytes(k, op, p->warps, used);
            kept = false;
        }
        b.last = kept ? last_use(p, op->parent, op->parent, op->results[0]) : number_of(&p->last, op);
        if (b.bytes) *VEC_PUSH(&p->buffers, p->s->arena) = b;
        for (int i = 0; i < op->region_count; i++) find_buffers(p, op->regions[i], inside);
    }
}

/* A reduction's scratch that stays alive until the next one has used its own saves a barrier. */
static void part_scratch(Planner *p) {
    enum { SMALL = 4096 };
    for (size_t i = 0; i < p->buffers.count; i++) {
        Buffer *b = &p->buffers.at[i], *next = b + 1;
        if (b->op->code != OP_REDUCE || b->role || b->bytes > SMALL) continue;
        b->align = 16;
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

static bool meet(const Buffer *a, const Buffer *b) {
    return a->role != b->role || (a->first <= b->last && b->first <= a->last);
}

void schedule_place(Schedule *s) {
    Planner p = planner_of(s);
    int64_t base = (s->bytes + 1023) / 1024 * 1024;
    for (size_t i = 0; i < p.buffers.count; i++) {
        Buffer *b = &p.buffers.at[i];
        b->offset = base;
        for (bool moved = true; moved;) {
            moved = false;
            for (size_t j = 0; j < i; j++) {
                const Buffer *other = &p.buffers.at[j];
                bool apart = b->offset + b->bytes <= other->offset || other->offset + other->bytes <= b->offset;
                if (!meet(b, other) || apart) continue;
                b->offset = (other->offset + other->bytes + b->align - 1) / b->align * b->align;
                moved = true;
            }
        }
        op_set(s->k, b->op, (Attr){.id = AT_AT, .number = b->offset});
        op_set(s->k, b->op, (Attr){.id = AT_BYTES, .number = b->bytes});
        if (b->offset + b->bytes > s->bytes) s->bytes = b->offset + b->bytes;
    }
}

void schedule_refuse_size(Schedule *s) {
    Planner p = planner_of(s);
    Buffer most = {.op = s->k->body->first};
    for (size_t i = 0; i < p.buffers.count; i++)
        if (p.buffers.at[i].bytes > most.bytes) most = p.buffers.at[i];
    diag_emit(s->k->module->diag, DIAG_SIMT_SHARED, most.op->range, (long long)s->bytes, s->cx->machine->arch,
              (long long)s->cx->machine->ring_bytes, (long long)most.bytes, op_info[most.op->code].mnemonic);
}

/* --- what is written --- */
static bool overlap(int64_t at, int64_t bytes, int64_t other, int64_t other_bytes) {
    return at < other + other_bytes && other < at + bytes;
}

static bool is_free(const Schedule *s, int64_t at, int64_t bytes, const RingSchedule *but) {
    for (size_t i = 0; i < s->rings.count; i++) {
        const RingSchedule *r = &s->rings.at[i];
        const Attr *barriers = op_attr(r->op, AT_BARRIERS);
        if (r != but && overlap(at, bytes, op_int(r->op, AT_AT, 0), schedule_ring_bytes(s, r))) return false;
        for (int j = 0; r != but && barriers && j < 2; j++)
            if (overlap(at, bytes, barriers->list.at[j], 8 * r->slots)) return false;
    }
    return true;
}

/* Rings, barriers and buffers that are alive at the same time lie apart, in the block's shared memory. */
bool schedule_place_holds(Schedule *s) {
    int64_t room = kernel_int(s->k, AT_SHARED, 0);
    if (room > s->cx->machine->ring_bytes ||
        kernel_int(s->k, AT_THREADS, 0) != s->cx->machine->lanes * layout_warps(s->cx, s->k))
        return schedule_fail(s, s->k->body->last,
                             "`shared` is more than the machine has, or `threads` are not those of the roles");
    for (size_t i = 0; i < s->rings.count; i++) {
        const RingSchedule *r = &s->rings.at[i];
        const Attr *barriers = op_attr(r->op, AT_BARRIERS);
        int64_t at = op_int(r->op, AT_AT, -1), bytes = schedule_ring_bytes(s, r);
        bool good = at >= 0 && at % 1024 == 0 && at + bytes <= room && is_free(s, at, bytes, r);
        for (int j = 0; barriers && j < 2; j++) {
            int64_t place = barriers->list.at[j];
            good &= place % 8 == 0 && place + 8 * r->slots <= room && is_free(s, place, 8 * r->slots, r) &&
                    !overlap(at, bytes, place, 8 * r->slots);
        }
        if (barriers) good &= !overlap(barriers->list.at[0], 8 * r->slots, barriers->list.at[1], 8 * r->slots);
        if (!good)
            return schedule_fail(s, r->op, "its slots and barriers lie on something else, or outside of `shared`");
    }
    Planner p = planner_of(s);
    for (size_t i = 0; i < p.buffers.count; i++) {
        const Buffer *b = &p.buffers.at[i];
        int64_t at = op_int(b->op, AT_AT, -1);
        bool good = at >= 0 && at % b->align == 0 && op_int(b->op, AT_BYTES, 0) == b->bytes && at + b->bytes <= room &&
                    is_free(s, at, b->bytes, NULL);
        for (size_t j = 0; j < i && good; j++) {
            const Buffer *other = &p.buffers.at[j];
            good = !meet(b, other) || !overlap(at, b->bytes, op_int(other->op, AT_AT, 0), other->bytes);
        }
        if (!good)
            return schedule_fail(s, b->op, "its shared memory (`at`, `bytes`) is too small, or lies on something else");
    }
    return true;
}
