/* cuda_parts.c: an output tile that leaves panel by panel through a buffer of two panels.
 *
 * The plan gives a ring of outputs `parts` where the memory of a whole tile is better spent on one
 * more slot of the inputs. A part is a panel: 128 bytes of every row.
 *
 *     for (int part = 0; part < 4; part++) {
 *         .. the part's registers to panel part % 2 ..
 *         if (warp == 0 && lane == 0) tw_bulk_wait_read(0);     the part before has been read
 *         tw_fence_async();  tw_bar_sync(..);
 *         if (warp == 0 && lane == 0) { tw_tma_store_2d(.., panel part % 2); tw_bulk_commit(); }
 *     }
 *
 * One barrier a part is enough: who has passed it knows that the store of the part before has read
 * its panel, which is the one to be written next; that also holds from tile to tile. */
#include "target/cuda/cuda_emit.h"

/* The only op of this kind that has to do with the ring; NULL: none, or several. */
typedef struct RingUse {
    Emit *e;
    Ref ring;
    Opcode code;
    int count;
    const Op *op;
} RingUse;

static bool is_of(const RingUse *u, const Op *op) {
    if (op->code != u->code) return false;
    Ref slot = op->operands[0];
    if (op->code == OP_TSTORE) {
        Ref value = op_operand(op, 1);
        const Op *get = ref_is_value(value) ? ir_value(u->e->k, value)->op : NULL;
        if (!get || get->code != OP_GET) return false;
        slot = get->operands[0];
    }
    return ir_value(u->e->k, slot)->op->operands[0] == u->ring;
}

static void look(RingUse *u, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        if (is_of(u, op)) {
            u->count++;
            u->op = op;
        }
        for (int i = 0; i < op->region_count; i++) look(u, op->regions[i]);
    }
}

static const Op *only_use(Emit *e, const RingPlan *r, const Op *tasks, Opcode code) {
    RingUse u = {.e = e, .ring = r->ring, .code = code};
    look(&u, roles_body(tasks));
    return u.count == 1 ? u.op : NULL;
}

/* Are the upper registers of a thread the upper columns, and nothing else is? */
static bool follows_columns(const Layout *layout, const Type *type, int parts) {
    const LinearLayout *map = &layout->map;
    int bits = ll_log2(parts), registers = map->count[LL_REGISTER];
    uint32_t columns = (uint32_t)type->extent[1], upper = columns - columns / (uint32_t)parts;
    if (layout->registers != 1 << registers || columns != 1u << map->log2[1] || bits > registers) return false;
    for (int input = 0; input < LL_INPUTS; input++)
        for (int i = 0; i < map->count[input]; i++) {
            int below = registers - i; /* from the top: 1, 2 .. */
            bool top = input == LL_REGISTER && below <= bits;
            uint32_t basis = map->basis[input][i];
            if (top ? basis != columns >> below : (basis & upper) != 0) return false;
        }
    return true;
}

void parts_plan(Emit *e, RingPlan *r, const Op *tasks) {
    const Type *type = ir_type(e->k, r->ring);
    const SharedTile *tile = &r->field[0];
    int parts = (int)op_int(ir_value(e->k, r->ring)->op, AT_PARTS, 0);
    if (!parts || gang_is(e) || !r->fused || r->skewed || !r->tma_store || type->field_count != 1) return;
    const Op *put = only_use(e, r, tasks, OP_PUT), *get = only_use(e, r, tasks, OP_GET),
             *store = only_use(e, r, tasks, OP_TSTORE);
    if (!put || !get || !store || put->parent != store->parent || e->uses[get->results[0]] != 1) return;
    Ref value = op_operand(put, 1);
    const Layout *layout = emit_layout(e, value);
    if (!layout || layout->home == HOME_SHARED || ir_type(e->k, value)->rank != 2 ||
        tile->rows != ir_type(e->k, value)->extent[0] || tile->zero_rows > tile->rows ||
        tile->zero_columns > tile->columns || tile->panel * parts != tile->bytes ||
        !follows_columns(layout, ir_type(e->k, value), parts))
        return;
    r->parts = parts;
    r->part_value = value;
    r->slot_bytes = 2 * tile->panel;
}

void parts_open(Emit *e, const RingPlan *r) {
    cs_loop(&e->p, "#pragma unroll", "part", 0, r->parts, 1);
    const SharedTile *tile = &r->field[0];
    /* Panel `part` of the tile is panel part % 2 of the buffer. */
    const Expr *at = ex(e->arena, "%s - part / 2 * %lld", r->field_name[0], (long long)(2 * tile->panel));
    shared_store_part(e, r->part_value, tile, at, r->parts);
    cs_line(&e->p, "if (warp == 0 && lane == 0) tw_bulk_wait_read(0); // of the part before");
    e->async_pending = true;
    shared_sync(e);
}
