/* SPDX-License-Identifier: Apache-2.0 */
/* interp_prepare.c: a kernel made ready to run.
 *
 * One walk turns regions into blocks of steps, materialises literals, numbers roles and rings,
 * finds who works on which ring, and notes after which step each large value is dead: at the level
 * of the region that defines it, the last step that uses it, itself or anywhere below. */
#include "ir/interp/interp_core.h"

enum { MAX_DEPTH = 120, LARGE_BYTES = 256 };

typedef struct Level {
    const Region *region;
    Step *step; /* being prepared */
} Level;
typedef struct Preparer {
    Interp *in;
    Level levels[MAX_DEPTH];
    int depth, role;
    int64_t width; /* workers of the spmd regions around; 0: not known */
    Step **last;   /* by Ref */
    VEC(RingUse) uses;
} Preparer;

static void (*const eval_table[OP_COUNT])(Process *, Step *) = {
    NULL,
#define OP(id, mnemonic, operands, result, traits, attrs, eval, doc) eval_##eval,
#include "ir/ops.def"
#undef OP
};

static _Noreturn void refuse(Preparer *q, const Op *op, const char *what) {
    diag_emit(q->in->diag, DIAG_INTERP_REFUSED, op->range, what);
    q->in->failed = true;
    trap_throw(&q->in->trap, TRAP_STOPPED);
}

static const Region *home_of(const Kernel *k, Ref ref) {
    const Value *value = ir_value(k, ref);
    return value->op ? value->op->parent : value->region;
}

static void note_use(Preparer *q, Ref ref) {
    if (!ref_is_value(ref)) return;
    const Region *home = home_of(q->in->kernel, ref);
    for (int i = q->depth - 1; i >= 0; i--)
        if (q->levels[i].region == home) {
            q->last[ref] = q->levels[i].step;
            return;
        }
}

static int64_t step_cost(const Kernel *k, const Op *op) {
    int64_t most = 1;
    for (int i = 0; i < op->operand_count + op->result_count; i++) {
        Ref ref = i < op->operand_count ? op->operands[i] : op->results[i - op->operand_count];
        if (ref == REF_NONE) continue;
        const Type *type = ir_type(k, ref);
        int64_t n = type->kind == TY_TILE ? ty_elements(type) : 1;
        if (n > most) most = n;
    }
    if (op->code == OP_DOT) {
        const Type *a = ir_type(k, op->operands[0]);
        most = ty_elements(ir_type(k, op->operands[2])) * a->extent[a->rank - 1];
    }
    return most;
}

static void note_ring(Preparer *q, const Op *op) {
    bool producer = op->code == OP_ACQUIRE || op->code == OP_COMMIT;
    if (!producer && op->code != OP_WAIT && op->code != OP_RELEASE && op->code != OP_SKIP) return;
    if (!q->width) refuse(q, op, "a ring inside an spmd region whose number of workers is not a literal");
    for (size_t i = 0; i < q->uses.count; i++) {
        RingUse *use = &q->uses.at[i];
        if (use->ring != op->operands[0]) continue;
        int *count = producer ? &use->produce[q->role] : &use->consume[q->role];
        if (*count && *count != q->width) refuse(q, op, "a ring used both inside and outside an spmd region");
        if (!*count) {
            *count = (int)q->width;
            *(producer ? &use->producers : &use->consumers) += *count;
        }
    }
}

/* Tiles read from memory, and what is made from them, are data: that they wrap is their business.
 * Carried values are what they start as, or what the first trip makes of them. */
static void note_data(Interp *in, const Op *op) {
    const Kernel *k = in->kernel;
    bool data = false;
    for (int i = 0; i < op->operand_count; i++) data |= ref_is_value(op->operands[i]) && in->data[op->operands[i]];
    for (int i = 0; i < op->result_count; i++) {
        bool read = op_has(op->code, TRAIT_READS) && ir_value(k, op->results[i])->type->rank > 0;
        bool carried = op->code == OP_FOR || op->code == OP_WHILE || op->code == OP_IF;
        const Op *last = carried ? op->regions[op->region_count - 1]->last : NULL;
        Ref from = last && i < last->operand_count ? last->operands[i] : REF_NONE;
        in->data[op->results[i]] = carried ? ref_is_value(from) && in->data[from] : data || read;
    }
}

static void note_arguments(Interp *in, const Op *op) {
    int skip = op->code == OP_FOR ? 3 : 0, first = op->code == OP_FOR;
    if (op->code != OP_FOR && op->code != OP_WHILE) return;
    for (int r = 0; r < op->region_count; r++)
        for (int i = first; i < op->regions[r]->arg_count; i++) {
            Ref from = op->operands[skip + i - first];
            in->data[op->regions[r]->args[i]] = ref_is_value(from) && in->data[from];
        }
}

static void prepare_region(Preparer *q, const Region *region, Block *block);

static void prepare_op(Preparer *q, const Op *op, Step *s) {
    Interp *in = q->in;
    s->op = op;
    s->eval = eval_table[op->code];
    s->cost = step_cost(in->kernel, op);
    q->levels[q->depth - 1].step = s;
    for (int i = 0; i < op->operand_count; i++) note_use(q, op->operands[i]);
    for (int i = 0; i < op->attr_count; i++)
        if (attr_info[op->attrs[i].id].kind == ATTR_REF) note_use(q, op->attrs[i].ref);
    note_ring(q, op);
    if (op->code == OP_RING) {
        s->index = (int)q->uses.count;
        *VEC_PUSH(&q->uses, &in->arena) = (RingUse){.ring = op->results[0]};
    }
    int64_t width = q->width;
    if (op->code == OP_ROLE) {
        q->role = s->index = ++in->role_count;
    } else if (op->code == OP_SPMD) {
        int64_t workers = 1, extent;
        for (int d = 0; d < op->operand_count; d++)
            workers *= ir_const_int(in->kernel, op->operands[d], &extent) && extent >= 1 && extent <= 1024 ? extent : 0;
        q->width = workers >= 1 && workers <= 1024 ? width * workers : 0;
        in->fibers = true;
    }
    note_arguments(in, op);
    if (op->region_count) s->blocks = ARENA_ARRAY(&in->arena, Block, op->region_count);
    for (int i = 0; i < op->region_count; i++) prepare_region(q, op->regions[i], &s->blocks[i]);
    note_data(in, op);
    q->width = width;
    if (op->code == OP_ROLE) q->role = 0;
}

static void prepare_region(Preparer *q, const Region *region, Block *block) {
    if (q->depth == MAX_DEPTH) refuse(q, region->owner, "regions nested more than 120 deep");
    q->levels[q->depth++] = (Level){region, NULL};
    int count = 0;
    for (const Op *op = region->first; op; op = op->next) count++;
    block->region = region;
    block->steps = ARENA_ARRAY(&q->in->arena, Step, count);
    for (const Op *op = region->first; op; op = op->next) {
        Step *s = &block->steps[block->count++];
        prepare_op(q, op, s);
        if (op_has(op->code, TRAIT_TERMINATOR)) {
            block->end = s;
            block->count--;
        }
    }
    q->depth--;
}

/* Large values go back to the pool after their last step. */
static void prepare_drops(Preparer *q) {
    const Kernel *k = q->in->kernel;
    for (int pass = 0; pass < 2; pass++) /* count, then fill */
        for (Ref ref = 1; ref < k->values.count; ref++) {
            Step *s = q->last[ref];
            const Type *type = ir_value(k, ref)->type;
            if (!s || type->kind != TY_TILE || value_bytes(type) < LARGE_BYTES) continue;
            if (pass && !s->drops) {
                s->drops = ARENA_ARRAY(&q->in->arena, Ref, s->drop_count);
                s->drop_count = 0;
            }
            if (pass) s->drops[s->drop_count] = ref;
            s->drop_count++;
        }
}

static void prepare_literals(Interp *in) {
    const Kernel *k = in->kernel;
    in->literals = ARENA_ARRAY(&in->arena, Cell *, k->literals.count + 1);
    for (size_t i = 0; i < k->literals.count; i++) {
        const Literal *literal = &k->literals.at[i];
        if (!literal->type) continue;
        Cell *cell = in->literals[i] = cell_new(in, 8);
        Elem elem = elem_stored(literal->type);
        if (elem_is_float(elem))
            elem_put_f64(elem, cell->data, literal->f);
        else
            elem_put_i64(elem, cell->data, literal->i);
    }
}

void interp_prepare(Interp *in, const Region *region) {
    Preparer *q = ARENA_NEW(&in->arena, Preparer);
    q->in = in;
    q->width = 1;
    q->last = ARENA_ARRAY(&in->arena, Step *, in->kernel->values.count);
    in->data = ARENA_ARRAY(&in->arena, uint8_t, in->kernel->values.count);
    prepare_literals(in);
    prepare_region(q, region, &in->body);
    prepare_drops(q);
    in->uses = q->uses.at;
    in->ring_count = (int)q->uses.count;
    in->fibers |= in->role_count > 0;
}
