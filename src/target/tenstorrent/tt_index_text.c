/* SPDX-License-Identifier: Apache-2.0 */
/* tt_index_text.c: elements of tiles of indices, as C of the reader: masks and ramps of compute (tt_index.c), whose
 * pages it writes, and index vectors of its own loads (tt_rows.c), of which it asks one element after the other.
 *
 * An element is one expression of its place, made anew from what the tile is made of; a load of an index vector is read
 * where it lies in L1. */
#include "target/tenstorrent/tt_emit.h"

enum { MOST_INDEX_STEPS = 100000 };

typedef struct Indices {
    Role *role;
    const TtIndexTile *tile; /* of compute; NULL: an index vector of this very role */
    const Op *user;
    int left; /* steps that may still be taken */
} Indices;

/* Is the number there, under its name? What compute has of its own is computed anew from what both roles know. */
static bool is_there(const TtIndexTile *tile, const Value *v) {
    return ty_is_scalar(v->type) && (!tile || !role_around(v->op ? v->op : v->region->owner));
}

/* The element at the given place; of a scalar its value. */
static const char *index_text(Indices *at, Ref ref, const char *const *place) {
    Role *role = at->role;
    const TtIndexTile *tile = at->tile;
    Tt *tt = role->tt;
    if (--at->left == 0)
        tt_refuse(tt, at->user, "indices that take more than %d steps to compute", MOST_INDEX_STEPS);
    if (at->left <= 0) return "0";
    if (!ref_is_value(ref)) return role_literal(role, ref);
    const Value *v = ir_value(tt->k, ref);
    const Op *op = v->op;
    if (is_there(tile, v)) return role_ref(role, ref);
    if (!op) {
        const Op *loop =
            tile && v->index == 0 && v->region->owner->code == OP_FOR ? tt_matching_loop(tile, v->region->owner) : NULL;
        if (loop) return cs_name(&role->p, loop->regions[0]->args[0]);
        tt_refuse(tt, at->user,
                  "indices that depend on a carried value, or on a loop that loads "
                  "nothing; compute them from the loop's variable, beside the load");
        return "0";
    }
    const char *texts[3] = {0}, *inner[MAX_RANK];
    switch (op->code) {
    case OP_IOTA: return arena_printf(tt->arena, "(%s + %lld)", place[0], (long long)op_int(op, AT_BEGIN, 0));
    case OP_TLOAD:
        if (tile) break;
        return arena_printf(tt->arena, v->type->elem == EL_I32 ? "%.0stw_index(%s, %s)" : "(%s)tw_index(%s, %s)",
                            elem_info[v->type->elem].text, tt_fetched(role, op), place[0]);
    case OP_SPLAT: return index_text(at, op->operands[0], place);
    case OP_EXPAND:
    case OP_RESHAPE: { /* new or dropped extents of 1 */
        const Type *from = ir_type(tt->k, op->operands[0]);
        for (int i = 0, j = 0; i < from->rank; i++) {
            while (from->extent[i] != 1 && j < v->type->rank && v->type->extent[j] == 1) j++;
            bool fits = j < v->type->rank && from->extent[i] == v->type->extent[j];
            if (!fits && from->extent[i] != 1) tt_refuse(tt, op, "a mask in another order of elements");
            inner[i] = from->extent[i] == 1 ? "0" : fits ? place[j] : "0";
            j += fits;
        }
        return index_text(at, op->operands[0], inner);
    }
    default: break;
    }
    if (op->code != OP_BROADCAST && !cs_is_elementwise(op->code)) {
        tt_refuse(tt, at->user,
                  "indices that depend on the result of `%s`; the reader must be able "
                  "to compute them from arguments and loop variables",
                  op_info[op->code].mnemonic);
        return "0";
    }
    for (int i = 0; i < op->operand_count && i < 3; i++) { /* broadcast and elementwise */
        const Type *type = ir_type(tt->k, op->operands[i]);
        for (int d = 0; d < type->rank; d++) inner[d] = type->extent[d] == 1 ? "0" : place[d];
        texts[i] = index_text(at, op->operands[i], inner);
    }
    return op->code == OP_BROADCAST ? texts[0] : role_elementwise(role, op, texts);
}

const char *tt_vector_element(Role *role, const Op *user, Ref vector, const char *i) {
    Indices at = {role, NULL, user, MOST_INDEX_STEPS};
    return index_text(&at, vector, &i);
}

static void need(Role *role, const TtIndexTile *tile, Ref ref, Map *seen) {
    if (!ref_is_value(ref) || !map_meets(seen, role->tt->arena, ref)) return;
    const Value *v = ir_value(role->tt->k, ref);
    if (is_there(tile, v))
        role_need(role, ref);
    else if (v->op)
        for (int i = 0; i < v->op->operand_count; i++) need(role, tile, v->op->operands[i], seen);
}

void tt_need_indices(Role *role, const TtIndexTile *tile, Map *seen) { need(role, tile, tile->value, seen); }
void tt_need_vector(Role *role, Ref vector, Map *seen) { need(role, NULL, vector, seen); }

void tt_make_index_tile(Role *role, const TtIndexTile *tile) {
    Tt *tt = role->tt;
    const TtCb *cb = &tt->plan->cbs.at[tile->cb];
    const Type *type = ir_type(tt->k, tile->value);
    TtPaging paging = tt_paging(tt, tile->value);
    if (type->rank > 2) {
        tt_refuse(tt, tile->user, "a mask of rank %d", type->rank);
        return;
    }
    bool is_column = paging == PAGE_COLUMN;
    int64_t rows = type->rank == 2 ? type->extent[0] : is_column ? type->extent[0] : 1;
    int64_t columns = type->rank == 2 ? type->extent[1] : is_column ? 1 : type->extent[0];
    const char *place[2] = {"i", "j"};
    if (type->rank == 1) place[0] = is_column ? "i" : "j";
    Indices at = {role, tile, tile->user, MOST_INDEX_STEPS};
    role_hand(role, CB_RESERVE, tile->cb);
    role_open(role, (TtStep){.kind = STEP_BLOCK});
    role_step(role, (TtStep){.kind = STEP_POINTER, .hand = CB_RESERVE, .cb = tile->cb, .text = "u32 to"});
    role_open_text(role, STEP_FOR, "u32 p = 0; p < %u; ++p", cb->item_pages);
    role_open(role, (TtStep){.kind = STEP_MAKE_PAGE, .cb = tile->cb, .text = "to"});
    if (paging == PAGE_VECTOR) {
        role_line(role, "const i32 j = (i32)p * 1024 + r * 32 + c;");
        role_line(role, "return j < %lld ? (f32)%s : 0.0f;", (long long)columns, index_text(&at, tile->value, place));
    } else {
        int64_t across = (columns + PAGE_SIDE - 1) / PAGE_SIDE;
        role_line(role, "const i32 i = (i32)(p / %lld) * 32 + r, j = (i32)(p %% %lld) * 32 + c;", (long long)across,
                  (long long)across);
        role_line(role, "return i < %lld && j < %lld ? (f32)%s : 0.0f;", (long long)rows, (long long)columns,
                  index_text(&at, tile->value, place));
    }
    role_close(role);
    role_line(role, "to += %u;", cb->desc.page_bytes);
    role_close(role);
    role_close(role);
    role_hand(role, CB_PUSH, tile->cb);
}
