/* schedule_loose.c: rows that lie side by side, but not on any multiple of 4 bytes, in the loop of a load role.
 *
 * No vector load may touch them; threads take the aligned words around what they want and shift them together. The role
 * does not wait for each trip's words: they are copied into shared memory two trips ahead (cp.async, which words can
 * use), a line of the tile and one word more behind the other:
 *
 *     for<bytes=52224> { tload<words=0> .. ; tload<words=9216> .. }      three slots of 17408 bytes
 *
 * `words` says where in a slot those of the load lie; `bytes` are those of all slots. */
#include "pass/schedule/schedule.h"
#include "pass/schedule/scratch.h"

#include <string.h>

/* Can the value be computed for another trip of the loop, from its variable and from outside? */
static bool is_of_any_trip(const Kernel *k, Ref r, const Region *body) {
    if (!ref_is_value(r)) return true;
    const Value *value = ir_value(k, r);
    if (!value->op) return value->region != body || value->index == 0;
    if (value->op->parent != body) return true;
    const Op *op = value->op;
    bool scalar = op_has(op->code, TRAIT_ELEMENTWISE) && op->result_count == 1 && ir_type(k, r)->rank == 0;
    if (!scalar && op->code != OP_TENSOR) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (!is_of_any_trip(k, op->operands[i], body)) return false;
    return true;
}

static bool can_stage(Schedule *s, const Op *op, const Region *body) {
    const Layout *layout = op->code == OP_TLOAD ? schedule_layout(s->k, op->results[0]) : NULL;
    if (!layout || layout->home != HOME_REGISTERS || op_operand(op, 1) || op_attr(op, AT_WRAP)) return false;
    const Type *type = ir_type(s->k, op->results[0]);
    TensorParts parts = fact_tensor(&s->facts, op->operands[0]);
    if (type->rank != 2 || !layout_loose(&s->facts, op, type, layout)) return false;
    for (int d = 0; d < parts.rank; d++)
        if (parts.extent[d] == REF_NONE) return false;
    for (int d = 0; d < type->rank; d++)
        if (type->extent[d] & (type->extent[d] - 1)) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (!is_of_any_trip(s->k, op->operands[i], body)) return false;
    return true;
}

/* Lines of the tile, each with one word more than it has. */
static int64_t words_of(Schedule *s, const Op *load) {
    const Type *type = ir_type(s->k, load->results[0]);
    TensorParts parts = fact_tensor(&s->facts, load->operands[0]);
    int inner = layout_vector_dim(&s->facts, load, &parts, type);
    return type->extent[1 - inner] * (type->extent[inner] * ty_elem_bytes(type) + LOOSE_WORD);
}

/* Rings come first: two slots of what is loaded, one of what is stored. */
static int64_t bytes_of_rings(const Schedule *s) {
    enum { BARRIERS = 4096 }; /* and what alignment takes */
    int64_t bytes = BARRIERS;
    for (const Op *op = s->k->body->first; op; op = op->next) {
        if (op->code != OP_RING) continue;
        const Type *type = ir_type(s->k, op->results[0]);
        bool loads = strcmp(op_text(op, AT_FROM), "load") == 0;
        for (int i = 0; i < type->field_count; i++)
            bytes += (loads ? 2 : 1) * layout_field(s->cx, s->k, op->results[0], type->fields[i].name).bytes;
    }
    return bytes;
}

static void plan_loop(Op *loop, void *user) {
    Schedule *s = user;
    int64_t step = 0, bytes = 0;
    const Op *role = loop->code == OP_FOR ? schedule_role(loop) : NULL;
    if (!role || op_attr(role, AT_ON) || strcmp(op_text(role, AT_FIELD), "load") != 0 ||
        !ir_const_int(s->k, loop->operands[2], &step) || step != 1)
        return;
    const Region *body = loop->regions[0];
    for (const Op *op = body->first; op; op = op->next)
        if (can_stage(s, op, body)) bytes += words_of(s, op);
    if (!bytes || LOOSE_SLOTS * bytes + bytes_of_rings(s) > s->cx->machine->ring_bytes) return;
    op_set(s->k, loop, (Attr){.id = AT_BYTES, .number = LOOSE_SLOTS * bytes});
    int64_t at = 0;
    for (Op *op = body->first; op; op = op->next) {
        if (!can_stage(s, op, body)) continue;
        op_set(s->k, op, (Attr){.id = AT_WORDS, .number = at});
        at += words_of(s, op);
    }
}

void schedule_loose(Schedule *s) {
    if (s->tasks) ir_walk(s->k->body, plan_loop, s);
}
