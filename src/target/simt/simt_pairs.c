/* simt_pairs.c: tiles of 16-bit floats as words, two elements each.
 *
 * A vector of bf16 comes from memory as four words. If its elements are only read one by one (by
 * arithmetic, by a reduction) or stored as they are, the words stay; and what is only stored stays
 * f32 until one instruction rounds two numbers into a word:
 *
 *     u32 x[4];                                           f32 y[8];
 *     tw_ldg_pairs(4, on, x, p, 0xff80ff80u);             y[r] = tw_bf16_at(x, r) * scale;
 *                                                         word[0] = tw_pack_bf16(y[r], y[r + 1]);
 *
 * Sums of two such tiles are taken two at a time, by tw_add_bf16x2: an f32 has more than twice the
 * digits of a 16-bit float, so rounding to it in between changes nothing. (Products of bf16 may be
 * smaller than what f32 has all its digits for.) The numbers are the same. Half words cost
 * instructions, and NVRTC much time to see through: arrays of them took a third of the time that it
 * needs for a softmax. */
#include "target/simt/simt_box.h"

typedef enum PairForm { FORM_NONE, FORM_WORDS, FORM_WIDE } PairForm;

static bool is_half(const Type *type) { return !type->pointer && (type->elem == EL_BF16 || type->elem == EL_F16); }

/* Moves of whole vectors with an even number of elements. */
static bool moves_pairs(Emit *e, const Op *op, Ref value, Ref mask) {
    const Type *type = ir_type(e->k, value);
    const Layout *layout = emit_layout(e, value);
    if (!is_half(type) || !layout || layout->home != HOME_REGISTERS) return false;
    Box b = box_shape(e, op, type, layout, mask);
    return b.whole && !b.loose && b.vector % 2 == 0;
}

static PairForm planned(const Emit *e, Ref value) {
    const MapEntry *entry = map_find_number(&e->pairs, value);
    return entry ? (PairForm)(uintptr_t)entry->value : FORM_NONE;
}

static void plan(Emit *e, Ref value, PairForm form) {
    map_put_number(&e->pairs, e->arena, value, (void *)(uintptr_t)form);
}

/* The function of two words that does the op on tiles of words; NULL: there is none. */
static const char *word_function(Emit *e, const Op *op) {
    const char *name = op->code == OP_ADD ? "add" : op->code == OP_SUB ? "sub" : NULL;
    if (op->code == OP_MUL && ir_type(e->k, op->results[0])->elem == EL_F16) name = "mul";
    const Layout *layout = name ? emit_layout(e, op->results[0]) : NULL;
    if (!layout || layout->registers % 2) return NULL;
    for (int i = 0; i < 2; i++) {
        const Layout *own = emit_layout(e, op->operands[i]);
        if (planned(e, op->operands[i]) != FORM_WORDS || own->registers != layout->registers ||
            !ll_equal(&own->map, &layout->map))
            return NULL;
    }
    return name;
}

static PairForm form_of(Emit *e, const Op *op) {
    if (op->result_count != 1 || !is_half(ir_type(e->k, op->results[0]))) return FORM_NONE;
    const Layout *layout = emit_layout(e, op->results[0]);
    if (op->code == OP_TLOAD && moves_pairs(e, op, op->results[0], op_operand(op, 1))) return FORM_WORDS;
    bool array = layout && layout->home == HOME_REGISTERS && layout->registers % 2 == 0;
    if (!array || e->lean || !elementwise_is(op)) return FORM_NONE;
    return word_function(e, op) ? FORM_WORDS : FORM_WIDE;
}

/* Whether the user reads the value in a way that the form allows. */
static bool allows(Emit *e, const Op *user, Ref value, PairForm form) {
    if (user->code == OP_TSTORE)
        return value == op_operand(user, 1) && moves_pairs(e, user, value, op_operand(user, 2));
    if (form == FORM_WIDE) return false;
    if (user->code == OP_REDUCE) return !user->region_count;
    return elementwise_is(user) && user->code != OP_BITCAST && user->code != OP_SPLAT &&
           emit_is_tile(e, user->results[0]);
}

static void find_forms(Emit *e, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        PairForm form = form_of(e, op);
        if (form != FORM_NONE) plan(e, op->results[0], form);
        for (int i = 0; i < op->region_count; i++) find_forms(e, op->regions[i]);
    }
}

/* Whether a form was taken back: what is made of that value has another one then. */
static bool drop_forms(Emit *e, const Region *region) {
    bool dropped = false;
    for (const Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->operand_count; i++) {
            PairForm form = planned(e, op->operands[i]);
            if (form == FORM_NONE || allows(e, op, op->operands[i], form)) continue;
            plan(e, op->operands[i], FORM_NONE);
            dropped = true;
        }
        Ref result = op->result_count ? op->results[0] : REF_NONE;
        if (op->code != OP_TLOAD && planned(e, result) == FORM_WORDS && !word_function(e, op)) {
            plan(e, result, FORM_WIDE);
            dropped = true;
        }
        for (int i = 0; i < op->region_count; i++) dropped |= drop_forms(e, op->regions[i]);
    }
    return dropped;
}

void pairs_plan(Emit *e) {
    find_forms(e, e->k->body);
    while (drop_forms(e, e->k->body)) continue;
}

bool pairs_are(Emit *e, const Op *op) { return planned(e, op->results[0]) == FORM_WORDS; }

void pairs_emit(Emit *e, const Op *op) {
    const char *name = word_function(e, op), *type = cs_memory_type(ir_type(e->k, op->results[0])->elem);
    const Expr *x = emit_hold(e, op->operands[0])->by, *y = emit_hold(e, op->operands[1])->by;
    const char *array = pairs_declare(e, op->results[0]);
    emit_unroll(e, "r", emit_layout(e, op->results[0])->registers / 2, 1);
    cs_line(&e->p, "%s[r] = tw_%s_%sx2(%p[r], %p[r]);", array, name, type, x, y);
    cs_close(&e->p);
}

const char *pairs_declare(Emit *e, Ref value) {
    PairForm form = planned(e, value);
    if (form == FORM_NONE) return NULL;
    const char *name = cs_name(&e->p, value);
    int count = emit_layout(e, value)->registers;
    cs_line(&e->p, "%s %s[%d];", form == FORM_WORDS ? "u32" : "f32", name, form == FORM_WORDS ? count / 2 : count);
    emit_set_name(e, value, form == FORM_WORDS ? HOLD_PAIRS : HOLD_WIDE, name);
    return name;
}

const Expr *pairs_element(Emit *e, Ref value, const Expr *at) {
    const char *type = cs_memory_type(ir_type(e->k, value)->elem);
    return ex(e->arena, "tw_%s_at(%p, %p)", type, emit_hold(e, value)->by, at);
}

const Expr *pairs_fill(Emit *e, const Op *load) {
    Elem elem = ir_type(e->k, load->results[0])->elem;
    int half = box_fill_half(e, load, elem);
    if (half >= 0) return ex(e->arena, "0x%04x%04xu", half, half);
    const Expr *fill = box_fill(e, load, elem);
    return ex(e->arena, "tw_pack(%p, %p)", fill, fill);
}

const Expr *pairs_stored(Emit *e, Ref value, int vector) {
    const Hold *hold = emit_hold(e, value);
    if (hold->kind == HOLD_PAIRS) return ex(e->arena, "%p + r / 2", hold->by);
    const char *type = cs_memory_type(ir_type(e->k, value)->elem);
    const Expr *array = hold->by;
    cs_line(&e->p, "u32 word[%d];", vector / 2);
    for (int j = 0; j < vector / 2; j++)
        if (j)
            cs_line(&e->p, "word[%d] = tw_pack_%s(%p[r + %d], %p[r + %d]);", j, type, array, 2 * j, array, 2 * j + 1);
        else
            cs_line(&e->p, "word[0] = tw_pack_%s(%p[r], %p[r + 1]);", type, array, array);
    return ex_name(e->arena, "word");
}
