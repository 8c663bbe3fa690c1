/* SPDX-License-Identifier: Apache-2.0 */
/* raise_buffers.c: buffers become values.
 *
 *     bstore %C, [0, 0], %z                              %r = for %k = 0, %n, 1 (%c = %z) {
 *     for %k = 0, %n, 1 {                                  %d = dot %a, %b, %c
 *       %c = bload %C, [0, 0] : f32[32,32]       ->        yield %d }
 *       %d = dot %a, %b, %c
 *       bstore %C, [0, 0], %d }
 *
 * A buffer is raised when it is made in the region that uses it, or in one around it with only for, while and if in
 * between, and all its uses are bload and bstore. A write of the whole renames, a box write is `insert`, a box read
 * `slice`; loops carry what they write and need, ifs hand it out. A read that no write can reach is an error of the
 * user, but gives 0 where it is only printed. A `sync` that has no buffer left to order, and no global memory, is
 * dropped. */
#include "ir/threads.h"
#include "pass/raise/raise.h"

#include <string.h>

typedef struct Buffer {
    Ref ref;
    Op *op;     /* its `buf` */
    Ref now;    /* its content here; REF_NONE: nobody wrote it yet */
    bool stays; /* cannot be raised */
} Buffer;

typedef struct Raise {
    PassContext *cx;
    Kernel *k;
    VEC(Buffer) buffers;
    Map by_ref;  /* buffer Ref -> index + 1 */
    const Map *patches;
    RefMap read; /* what each read became: put into the ops behind it as they are met */
} Raise;

static Buffer *find_buffer(Raise *r, Ref ref) {
    MapEntry *entry = ref_is_value(ref) ? map_find_number(&r->by_ref, ref) : NULL;
    Buffer *buffer = entry ? &r->buffers.at[(uintptr_t)entry->value - 1] : NULL;
    return buffer && !buffer->stays ? buffer : NULL;
}

static bool is_access(const Op *op) { return op->code == OP_BLOAD || op->code == OP_BSTORE; }

/* --- which buffers --- */

static void collect(Op *op, void *user) {
    Raise *r = user;
    if (op->code != OP_BUF || threads_are_around(op)) return; /* a thread's own is no tile */
    *VEC_PUSH(&r->buffers, r->cx->scratch) = (Buffer){.ref = op->results[0], .op = op};
    map_put_number(&r->by_ref, r->cx->scratch, op->results[0], (void *)(uintptr_t)r->buffers.count);
}

/* Only for, while and if may stand between a use and the buffer's own region. */
static bool reaches(const Op *use, const Region *home) {
    const Region *region = use->parent;
    while (region != home) {
        const Op *owner = region->owner;
        if (!owner || (owner->code != OP_FOR && owner->code != OP_WHILE && owner->code != OP_IF)) return false;
        region = owner->parent;
    }
    return true;
}

static void exclude(Op *op, void *user) {
    Raise *r = user;
    for (int i = 0; i < op->operand_count; i++) {
        Buffer *buffer = find_buffer(r, op->operands[i]);
        if (buffer && (i > 0 || !is_access(op) || !reaches(op, buffer->op->parent))) buffer->stays = true;
    }
}

/* --- what a loop must carry --- */

typedef enum Effect { UNTOUCHED, READ_FIRST, WRITTEN_FIRST, MAYBE_WRITTEN } Effect;

static bool is_whole(const Kernel *k, const Op *op) {
    const Type *buffer = ir_type(k, op->operands[0]);
    const Type *box = ir_type(k, op->code == OP_BLOAD ? op->results[0] : op->operands[op->operand_count - 1]);
    return box->rank == buffer->rank && ty_elements(box) == ty_elements(buffer);
}

/* What the ops of the region do to the buffer first. */
static Effect first_effect(const Raise *r, const Region *region, Ref buffer) {
    Effect effect = UNTOUCHED;
    for (const Op *op = region->first; op; op = op->next) {
        if (is_access(op) && op->operands[0] == buffer) {
            if (op->code == OP_BSTORE && is_whole(r->k, op))
                return effect == MAYBE_WRITTEN ? MAYBE_WRITTEN : WRITTEN_FIRST;
            return READ_FIRST; /* a box write reads the rest */
        }
        bool both_write = op->code == OP_IF;
        for (int i = 0; i < op->region_count; i++) {
            Effect inner = first_effect(r, op->regions[i], buffer);
            if (inner == READ_FIRST) return READ_FIRST;
            if (inner != UNTOUCHED) effect = MAYBE_WRITTEN; /* the loop may not run */
            both_write = both_write && inner == WRITTEN_FIRST;
        }
        if (both_write) return WRITTEN_FIRST;
    }
    return effect;
}

static bool writes(const Region *region, Ref buffer) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_BSTORE && op->operands[0] == buffer) return true;
        for (int i = 0; i < op->region_count; i++)
            if (writes(op->regions[i], buffer)) return true;
    }
    return false;
}

static bool reads(const Region *region, Ref buffer, const Op *except) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op == except) continue;
        if (op->code == OP_BLOAD && op->operands[0] == buffer) return true;
        for (int i = 0; i < op->region_count; i++)
            if (reads(op->regions[i], buffer, except)) return true;
    }
    return false;
}

static bool op_writes(const Op *op, Ref buffer) {
    for (int i = 0; i < op->region_count; i++)
        if (writes(op->regions[i], buffer)) return true;
    return false;
}

/* Must the loop hand the content from one round to the next, or out? */
static bool must_carry(const Raise *r, const Op *loop, const Buffer *buffer) {
    if (!op_writes(loop, buffer->ref)) return false;
    if (reads(buffer->op->parent, buffer->ref, loop)) return true;
    for (int i = 0; i < loop->region_count; i++) {
        Effect effect = first_effect(r, loop->regions[i], buffer->ref);
        if (effect == READ_FIRST || effect == MAYBE_WRITTEN) return true;
        if (effect == WRITTEN_FIRST) return false;
    }
    return false;
}

/* --- rewriting --- */

static Ref content(Raise *r, Buffer *buffer, Op *use) {
    if (buffer->now) return buffer->now;
    Builder b = ir_builder_before(r->k, use);
    const Type *type = ir_type(r->k, buffer->ref);
    Op *undef = ir_begin(&b, OP_UNDEF);
    return ir_end(&b, undef, ty_tile(r->k->module, type->elem, type->rank, type->extent));
}

/* A box has the buffer's rank inside; outside it may have lost leading extents of 1. */
static const Type *full_rank(Raise *r, const Type *box, const Type *buffer) {
    int64_t extent[MAX_RANK];
    int missing = buffer->rank - box->rank;
    for (int d = 0; d < buffer->rank; d++) extent[d] = d < missing ? 1 : box->extent[d - missing];
    return ty_tile(r->k->module, buffer->elem, buffer->rank, extent);
}

/* Do only prints use the read? */
static bool is_only_printed(const Op *read) {
    for (const Op *op = read->next; op; op = op->next)
        if (op->code != OP_PRINT && ir_op_uses(op, read->results[0])) return false;
    return true;
}

static void raise_read(Raise *r, Buffer *buffer, Op *op) {
    const Type *type = ir_type(r->k, op->results[0]), *whole = ir_type(r->k, buffer->ref);
    if (!buffer->now && !map_find_number(r->patches, op->results[0])) {
        if (is_only_printed(op)) { /* a look at it, which no result depends on */
            Builder b = ir_builder_before(r->k, op);
            Ref zero = elem_is_float(type->elem) ? ir_float(&b, type->elem, 0) : ir_int(&b, type->elem, 0);
            refmap_set(&r->read, op->results[0], type->rank ? ir_splat(&b, zero, type) : zero);
            ir_remove(op);
            return;
        }
        diag_emit(r->cx->module->diag, DIAG_READ_BEFORE_WRITE, op->range);
    }
    Ref value = content(r, buffer, op);
    Builder b = ir_builder_before(r->k, op);
    if (!is_whole(r->k, op)) {
        value = ir_slice(&b, value, op_list(op, 0).at, full_rank(r, type, whole));
        value = ir_reshape(&b, value, type);
    }
    refmap_set(&r->read, op->results[0], value);
    ir_remove(op);
}

static void raise_write(Raise *r, Buffer *buffer, Op *op) {
    Ref value = op->operands[op->operand_count - 1];
    const Type *whole = ir_type(r->k, buffer->ref);
    if (!is_whole(r->k, op)) {
        Ref before = content(r, buffer, op);
        Builder b = ir_builder_before(r->k, op);
        Ref part = ir_reshape(&b, value, full_rank(r, ir_type(r->k, value), whole));
        value = ir_insert(&b, before, op_list(op, 0).at, part);
    }
    if (ref_is_value(value) && !ir_value(r->k, value)->name) ir_name(r->k, value, ir_value(r->k, buffer->ref)->name);
    buffer->now = value;
    ir_remove(op);
}

static void append_ref(Raise *r, Ref **refs, int *count, Ref ref) {
    Ref *grown = ARENA_ARRAY(r->k->module->arena, Ref, *count + 1);
    if (*count) memcpy(grown, *refs, (size_t)*count * sizeof(Ref));
    grown[(*count)++] = ref;
    *refs = grown;
}

static Ref append_result(Raise *r, Op *op, const Type *type, const char *name) {
    Kernel *k = r->k;
    Value value = {.type = type, .op = op, .index = op->result_count, .name = name};
    *VEC_PUSH(&k->values, k->module->arena) = value;
    append_ref(r, &op->results, &op->result_count, (Ref)(k->values.count - 1));
    return (Ref)(k->values.count - 1);
}

static void raise_region(Raise *r, Region *region);

/* for and while: the buffers that must be carried get an initial operand, an argument in each region, a value handed
 * on by each terminator, and a result. */
static void raise_loop(Raise *r, Op *op) {
    size_t count = r->buffers.count;
    bool *carried = ARENA_ARRAY(r->cx->scratch, bool, count), *written = ARENA_ARRAY(r->cx->scratch, bool, count);
    const Type **types = ARENA_ARRAY(r->cx->scratch, const Type *, count);
    for (size_t i = 0; i < count; i++) {
        Buffer *buffer = &r->buffers.at[i];
        written[i] = !buffer->stays && op_writes(op, buffer->ref);
        carried[i] = written[i] && reaches(op, buffer->op->parent) && must_carry(r, op, buffer);
        if (!carried[i]) continue;
        const Type *type = ir_type(r->k, buffer->ref);
        types[i] = ty_tile(r->k->module, type->elem, type->rank, type->extent);
        append_ref(r, &op->operands, &op->operand_count, content(r, buffer, op));
    }
    for (int n = 0; n < op->region_count; n++) {
        Region *region = op->regions[n];
        for (size_t i = 0; i < count; i++)
            if (carried[i])
                r->buffers.at[i].now = ir_argument(r->k, region, types[i], ir_value(r->k, r->buffers.at[i].ref)->name);
        raise_region(r, region);
        for (size_t i = 0; i < count; i++)
            if (carried[i]) {
                Ref now = content(r, &r->buffers.at[i], region->last);
                append_ref(r, &region->last->operands, &region->last->operand_count, now);
            }
    }
    for (size_t i = 0; i < count; i++) {
        Buffer *buffer = &r->buffers.at[i];
        if (carried[i])
            buffer->now = append_result(r, op, types[i], ir_value(r->k, buffer->ref)->name);
        else if (written[i])
            buffer->now = REF_NONE; /* nobody reads what the loop left */
    }
}

static void raise_if(Raise *r, Op *op) {
    size_t count = r->buffers.count;
    Ref *before = ARENA_ARRAY(r->cx->scratch, Ref, count), *after = ARENA_ARRAY(r->cx->scratch, Ref, 2 * count);
    for (size_t i = 0; i < count; i++) before[i] = r->buffers.at[i].now;
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < count; i++) r->buffers.at[i].now = before[i];
        raise_region(r, op->regions[side]);
        for (size_t i = 0; i < count; i++) after[side * count + i] = r->buffers.at[i].now;
    }
    for (size_t i = 0; i < count; i++) {
        Buffer *buffer = &r->buffers.at[i];
        buffer->now = before[i];
        if (after[i] == after[count + i]) buffer->now = after[i];
        if (after[i] == after[count + i] || !reaches(op, buffer->op->parent)) continue;
        const Type *type = ir_type(r->k, buffer->ref);
        for (int side = 0; side < 2; side++) {
            buffer->now = after[side * count + i];
            Op *yield = op->regions[side]->last;
            append_ref(r, &yield->operands, &yield->operand_count, content(r, buffer, yield));
        }
        buffer->now = append_result(r, op, ty_tile(r->k->module, type->elem, type->rank, type->extent), NULL);
    }
}

static void raise_region(Raise *r, Region *region) {
    for (Op *op = region->first, *next; op; op = next) {
        next = op->next;
        ir_replace_in_op(op, &r->read);
        Buffer *buffer = is_access(op) ? find_buffer(r, op->operands[0]) : NULL;
        if (buffer && op->code == OP_BLOAD)
            raise_read(r, buffer, op);
        else if (buffer)
            raise_write(r, buffer, op);
        else if (op->code == OP_FOR || op->code == OP_WHILE)
            raise_loop(r, op);
        else if (op->code == OP_IF)
            raise_if(r, op);
        else
            for (int i = 0; i < op->region_count; i++) raise_region(r, op->regions[i]);
    }
}

/* --- what is left over --- */

typedef struct Leftovers {
    Raise *r;
    bool buffers, global_writes;
    VEC(Op *) syncs;
} Leftovers;

static void look_for_memory(Op *op, void *user) {
    Leftovers *left = user;
    Buffer *buffer = op->code == OP_BUF ? find_buffer(left->r, op->results[0]) : NULL;
    left->buffers |= op->code == OP_BUF && !buffer && ir_type(left->r->k, op->results[0])->scope == SCOPE_SHARED;
    left->global_writes |= op->code == OP_ATOMIC || op->code == OP_ATOMIC_CAS || op->code == OP_STORE;
    if (op->code == OP_SYNC) *VEC_PUSH(&left->syncs, left->r->cx->scratch) = op;
}

bool raise_buffers(PassContext *cx, Kernel *k, const Map *patches) {
    Raise r = {.cx = cx, .k = k, .patches = patches, .read = {.arena = cx->scratch}};
    ir_walk(k->body, collect, &r);
    if (!r.buffers.count) return false;
    ir_walk(k->body, exclude, &r);
    raise_region(&r, k->body);
    Leftovers left = {.r = &r};
    ir_walk(k->body, look_for_memory, &left);
    for (size_t i = 0; i < left.syncs.count && !left.buffers && !left.global_writes; i++) ir_remove(left.syncs.at[i]);
    bool changed = false;
    for (size_t i = 0; i < r.buffers.count; i++) {
        if (r.buffers.at[i].stays) continue;
        ir_remove(r.buffers.at[i].op);
        changed = true;
    }
    return changed;
}
