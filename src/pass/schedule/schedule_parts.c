/* schedule_parts.c: an output tile that leaves panel by panel through a buffer of two panels.
 *
 * The plan gives a ring of outputs `parts` where the memory of a whole tile is better spent on one more slot of the
 * inputs, the schedule where the whole tile does not fit. A part is a panel: 128 bytes of every row. Here is seen
 * whether that can be done: one put, one get, one store by TMA of them, and a layout whose upper registers are the
 * upper columns. */
#include "pass/schedule/schedule.h"

/* The only op of this kind that has to do with the ring; NULL: none, or several. */
typedef struct RingUse {
    const Kernel *k;
    Ref ring;
    Opcode code;
    int count;
    const Op *op;
} RingUse;

static bool is_of(const RingUse *u, const Op *op) {
    if (op->code != u->code) return false;
    if (op->code != OP_TSTORE) return hand_ring(u->k, op) == u->ring;
    Ref value = op_operand(op, 1);
    const Op *get = ref_is_value(value) ? ir_value(u->k, value)->op : NULL;
    return get && get->code == OP_GET && hand_ring(u->k, get) == u->ring;
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

static const Op *only_use(const Schedule *s, const RingSchedule *r, Opcode code) {
    RingUse u = {.k = s->k, .ring = r->op->results[0], .code = code};
    look(&u, tasks_body(s->tasks));
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

void schedule_parts(Schedule *s, RingSchedule *r) {
    const Kernel *k = s->k;
    const SharedTile *tile = &r->field[0];
    int parts = s->panels && tile->panel ? (int)(tile->bytes / tile->panel) : (int)op_int(r->op, AT_PARTS, 0);
    if (parts <= 2 || s->gang.programs > 1 || !r->fused || r->ahead || !r->leaves ||
        ir_type(k, r->op->results[0])->field_count != 1)
        return;
    const Op *put = only_use(s, r, OP_PUT), *get = only_use(s, r, OP_GET), *store = only_use(s, r, OP_TSTORE);
    if (!put || !get || !store || put->parent != store->parent || s->uses[get->results[0]] != 1) return;
    Ref value = op_operand(put, 1);
    const Layout *layout = schedule_layout(k, value);
    if (!layout || layout->home == HOME_SHARED || ir_type(k, value)->rank != 2 ||
        tile->rows != ir_type(k, value)->extent[0] || tile->zero_rows > tile->rows ||
        tile->zero_columns > tile->columns || tile->panel * parts != tile->bytes ||
        !follows_columns(layout, ir_type(k, value), parts))
        return;
    r->parts = parts;
    r->bytes = 2 * tile->panel;
}
