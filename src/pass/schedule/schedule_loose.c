/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_loose.c: loads of rows that lie side by side, but not on any multiple of 4 bytes (layout_loose): which are
 * issued together, and which are copied ahead.
 *
 * No vector load may touch them; threads take the aligned words around what they want and shift them together.
 * Neighbouring loads whose addresses are there issue their words before anything waits for one of them: they have the
 * same `batch`. A load role does not wait for each trip's words: they are copied into shared memory two trips ahead
 * (cp.async, which words can use), a line of the tile and one word more behind the other:
 *
 *     for<ahead=2, bytes=52224> { tload<batch=1, words=0> .. ; tload<batch=1, words=9216> .. }   3 slots of 17408 bytes
 *
 * `words` says where in a slot those of the load lie; `bytes` are those of all slots. Rings come first: where both do
 * not fit, nothing is copied ahead. */
#include "pass/schedule/schedule.h"
#include "pass/schedule/scratch.h"

static bool is_loose(Schedule *s, const Op *op) {
    if (op->code != OP_TLOAD || op_operand(op, 1)) return false;
    const Layout *layout = schedule_layout(s->k, op->results[0]);
    return layout && layout->home == HOME_REGISTERS &&
           layout_loose(s->cx->machine, &s->facts, op, ir_type(s->k, op->results[0]), layout);
}

/* --- together --- */
static bool comes_before(const Op *op, const Op *other) {
    while (op && op != other) op = op->next;
    return op != NULL;
}

/* Is all that the load's address takes there before the op? */
static bool is_ready(const Kernel *k, const Op *load, const Op *before) {
    RefList offsets = op_list(load, 0);
    const Op *tensor = ir_value(k, load->operands[0])->op;
    int parts = tensor ? tensor->operand_count : 0;
    for (int i = 0; i < offsets.count + parts; i++) {
        Ref ref = i < offsets.count ? offsets.at[i] : tensor->operands[i - offsets.count];
        const Op *maker = ref_is_value(ref) ? ir_value(k, ref)->op : NULL;
        if (maker && maker->parent == before->parent && !comes_before(maker, before)) return false;
    }
    return true;
}

static bool passes(const Kernel *k, const Op *op) {
    return op->code == OP_TLOAD || op->code == OP_PUT || op->code == OP_TENSOR ||
           (op_has(op->code, TRAIT_ELEMENTWISE) && ir_type(k, op->results[0])->rank == 0);
}

/* Is the load's only use a put of rows that lie as they are loaded? Then its words are what is put, where they are
 * words: by threads that shift what they copied. */
static bool is_straight(const Schedule *s, const Op *load) {
    if (!s->cx->machine->thread_copies) return false;
    Ref value = load->results[0];
    const Type *type = ir_type(s->k, value);
    const Op *op = load->next;
    while (op && !(op->code == OP_PUT && op_operand(op, 1) == value)) op = op->next;
    return op && s->uses[value] == 1 && access_of(load).along == type->rank - 1 &&
           type->extent[type->rank - 1] % (LOOSE_WORD / ty_elem_bytes(type)) == 0;
}

/* The load and those behind it that are like it. */
static void plan_batch(Schedule *s, Op *first, int *batches) {
    int held = 0, most = s->cx->machine->cost.loose_registers;
    if (!is_loose(s, first) || op_attr(first, AT_BATCH)) return;
    ++*batches;
    for (Op *op = first; op && passes(s->k, op); op = op->next) {
        if (!is_loose(s, op) || op_attr(op, AT_BATCH) || !is_ready(s->k, op, first)) continue;
        held += schedule_layout(s->k, op->results[0])->registers;
        if (op != first && held > most) break;
        op_drop(op, AT_SINGLY);
        op_set(s->k, op, (Attr){.id = AT_BATCH, .number = *batches});
        op_drop(op, AT_BOUNDED); /* its threads look for themselves what is inside */
        op_set(s->k, op,
               (Attr){.id = AT_VECTOR, .number = LOOSE_WORD / elem_info[ir_type(s->k, op->results[0])->elem].bytes});
        op_drop(op, AT_WHOLE);
        op_drop(op, AT_BOUNDED); /* of whole vectors */
        if (held > most) op_set(s->k, op, (Attr){.id = AT_ONCE, .number = most});
        if (is_straight(s, op)) op_set(s->k, op, (Attr){.id = AT_STRAIGHT, .number = 1});
    }
}

/* --- ahead --- */
bool loose_is_of_any_trip(const Kernel *k, Ref r, const Region *body) {
    if (!ref_is_value(r)) return true;
    const Value *value = ir_value(k, r);
    if (!value->op) return value->region != body || value->index == 0;
    const Op *op = value->op;
    if (op->parent != body) return true;
    bool scalar = op_has(op->code, TRAIT_ELEMENTWISE) && ir_type(k, r)->rank == 0;
    if (!scalar && op->code != OP_TENSOR) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (!loose_is_of_any_trip(k, op->operands[i], body)) return false;
    return true;
}

static bool can_come_ahead(Schedule *s, const Op *op, const Region *body) {
    if (!is_loose(s, op) || op_attr(op, AT_WRAP)) return false;
    const Type *type = ir_type(s->k, op->results[0]);
    TensorParts parts = fact_tensor(&s->facts, op->operands[0]);
    for (int d = 0; d < parts.rank; d++)
        if (parts.extent[d] == REF_NONE) return false;
    for (int d = 0; d < type->rank; d++)
        if (type->extent[d] & (type->extent[d] - 1)) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (!loose_is_of_any_trip(s->k, op->operands[i], body)) return false;
    return type->rank == 2;
}

/* Lines of the tile, each with one word more than it has. */
static int64_t words_of(Schedule *s, const Op *load) {
    const Type *type = ir_type(s->k, load->results[0]);
    TensorParts parts = fact_tensor(&s->facts, load->operands[0]);
    int inner = layout_vector_dim(&s->facts, load, &parts, type);
    return type->extent[1 - inner] * (type->extent[inner] * ty_elem_bytes(type) + LOOSE_WORD);
}

/* Two slots of what is loaded, one of what is stored. */
static int64_t least_ring_bytes(const Schedule *s) {
    int64_t bytes = 0;
    for (const Op *op = s->k->body->first; op; op = op->next) {
        if (op->code != OP_RING) continue;
        const Type *type = ir_type(s->k, op->results[0]);
        bool loads = ring_producer(op) == ROLE_LOAD;
        for (int i = 0; i < type->field_count; i++)
            bytes += (loads ? 2 : 1) * layout_field(s->k, op->results[0], i)->bytes;
    }
    return bytes;
}

static bool may_copy_ahead(const Schedule *s, const Op *loop) {
    const Op *role = role_around(loop);
    int64_t step = 0;
    return role && !role_is_guest(role) && role_name(role) == ROLE_LOAD &&
           ir_const_int(s->k, loop->operands[2], &step) && step == 1;
}

static void plan_ahead(Schedule *s, Op *loop) {
    const Region *body = loop->regions[0];
    int64_t bytes = 0;
    if (!may_copy_ahead(s, loop)) return;
    for (const Op *op = body->first; op; op = op->next)
        if (can_come_ahead(s, op, body)) bytes += words_of(s, op);
    /* Rings, their barriers, the words and scratch begin where tiles begin. */
    int64_t room = s->cx->machine->ring_bytes - machine_spare_bytes(s->cx->machine, 4);
    int trips = s->cx->machine->cost.loose_trips;
    if (!bytes || (trips + 1) * bytes + least_ring_bytes(s) > room) return;
    op_set(s->k, loop, (Attr){.id = AT_AHEAD, .number = trips});
    op_set(s->k, loop, (Attr){.id = AT_BYTES, .number = (trips + 1) * bytes});
    int64_t at = 0;
    for (Op *op = body->first; op; op = op->next) {
        if (!can_come_ahead(s, op, body)) continue;
        op_set(s->k, op, (Attr){.id = AT_WORDS, .number = at});
        at += words_of(s, op);
    }
}

typedef struct Batches {
    Schedule *s;
    int count;
} Batches;

static void plan_op(Op *op, void *user) {
    Batches *b = user;
    if (op->code == OP_FOR) plan_ahead(b->s, op);
    if (op->code == OP_TLOAD) plan_batch(b->s, op, &b->count);
}

void schedule_loose(Schedule *s) {
    Batches b = {s, 0};
    ir_walk(s->k->body, plan_op, &b);
}

/* --- what is written --- */
/* Does the load come with the first of its batch? */
static bool is_in_batch(Schedule *s, const Op *load) {
    int64_t batch = op_int(load, AT_BATCH, 0);
    const Op *first = load;
    int held = 0;
    for (const Op *op = load->previous; op; op = op->previous)
        if (op_int(op, AT_BATCH, 0) == batch) first = op;
    for (const Op *op = first; op != load->next; op = op->next) {
        if (!passes(s->k, op)) return false;
        if (op_int(op, AT_BATCH, 0) == batch) held += schedule_layout(s->k, op->results[0])->registers;
    }
    return is_ready(s->k, load, first) && (first == load || held <= s->cx->machine->cost.loose_registers);
}

static bool is_alone(const Op *load) {
    int64_t batch = op_int(load, AT_BATCH, 0);
    for (const Op *op = load->parent->first; op; op = op->next)
        if (op != load && op_int(op, AT_BATCH, 0) == batch) return false;
    return batch != 0;
}

/* Do the words lie in the slot of their loop, apart from those of the loads before? */
static bool have_room(Schedule *s, const Op *load) {
    const Op *loop = load->parent->owner;
    int64_t at = op_int(load, AT_WORDS, 0), end = at + words_of(s, load);
    int64_t slots = op_int(loop, AT_AHEAD, 0) + 1, bytes = op_int(loop, AT_BYTES, 0);
    if (at % LOOSE_WORD || bytes % (slots * LOOSE_WORD) || end > bytes / slots) return false;
    for (const Op *op = load->parent->first; op != load; op = op->next) {
        int64_t other = op_int(op, AT_WORDS, 0);
        if (op_attr(op, AT_WORDS) && other < end && at < other + words_of(s, op)) return false;
    }
    return true;
}

bool schedule_loose_holds(Schedule *s, const Op *op) {
    if (op->code == OP_FOR) {
        bool words = false;
        for (const Op *load = op->regions[0]->first; load; load = load->next) words |= op_attr(load, AT_WORDS) != NULL;
        if (words &&
            (!may_copy_ahead(s, op) || !op_attr(op, AT_AHEAD) || !op_attr(op, AT_BYTES) || op_attr(op, AT_TWIN)))
            return schedule_fail(
                s, op,
                "words are copied ahead in loops of a load role of its own, in steps of 1, with `ahead` and "
                "`bytes`");
        if (op_attr(op, AT_BYTES) && !words)
            return schedule_fail(s, op, "it has `bytes`, and no load with `words` in it");
        if (op_attr(op, AT_AHEAD) && !words && !op_attr(op, AT_TWIN))
            return schedule_fail(s, op, "it runs `ahead`, and has no `twin`, nor a load with `words` in it");
        return true;
    }
    if (op_attr(op, AT_BATCH) && (!is_loose(s, op) || !is_in_batch(s, op)))
        return schedule_fail(
            s, op,
            "a `batch` is of neighbouring loads of rows that are not aligned, whose addresses are there "
            "before the first");
    int64_t once = op_int(op, AT_ONCE, 0);
    int64_t word = LOOSE_WORD / elem_info[ir_type(s->k, op->results[0])->elem].bytes;
    if (once && (!is_alone(op) || once % word))
        return schedule_fail(s, op, "`once` is of a load that is alone in its `batch`, in whole words");
    if (op_flag(op, AT_STRAIGHT) && (!op_attr(op, AT_BATCH) || !is_straight(s, op)))
        return schedule_fail(
            s, op,
            "words are put as they come (`straight`) of a load of a `batch` whose only use is a put, in "
            "rows of whole words");
    const Op *loop = op->parent->owner;
    if (op_attr(op, AT_WORDS) && (!op_attr(op, AT_BATCH) || !loop || loop->code != OP_FOR ||
                                  !can_come_ahead(s, op, op->parent) || !have_room(s, op)))
        return schedule_fail(
            s, op,
            "`words` lie in the memory of the load's loop, each line with a word more, and are of rows whose "
            "address follows from the loop's variable");
    return true;
}
