/* SPDX-License-Identifier: Apache-2.0 */
/* tt_rows.c: rows that an index vector chooses, as the reader fetches them.
 *
 *     cb_reserve_back(cb_ids, 1);            what the vector is read from, into a CB of the reader's own
 *     noc_async_read_page(tw_page(0, ids_page0, ids_n0), ids_pages, get_write_ptr(cb_ids));
 *     noc_async_read_barrier();
 *     cb_push_back(cb_ids, 1);
 *     cb_wait_front(cb_ids, 1);
 *     tw_read_rows<u32>(to, x_pages, x_fill, [&](i32 r) -> i64 { return tw_index(ids, r); },
 *                       [&](u32 row) { return tw_page(0, row, x_n0, x_page1, x_n1); });
 *     cb_pop_front(cb_ids, 1);
 *
 * A row of a page is two rows of faces, each a read of its own. So the vector must be that of a page's rows, and a row
 * of a face no less than what the memory is read in. Pages of index vectors are Int32; the launcher refuses numbers
 * beyond. */
#include "target/tenstorrent/tt_emit.h"

int tt_indexed_dim(const Tt *tt, const Op *access) {
    RefList offsets = op_list(access, 0);
    for (int d = 0; d < offsets.count; d++)
        if (ref_is_value(offsets.at[d]) && ir_type(tt->k, offsets.at[d])->rank) return d;
    return -1;
}

typedef VEC(const Op *) Loads;

/* The CB of an index vector that the reader brings to L1; -1: it has none. */
static int fetch_cb(const Tt *tt, const Op *from) {
    for (size_t i = 0; i < tt->fetches.count; i++)
        if (tt->fetches.at[i].load == from) return tt->fetches.at[i].cb;
    return -1;
}

/* The loads that a vector is made of, in their order; false: one of them is no box of a vector. */
static bool find_loads(Tt *tt, Ref vector, Map *seen, Loads *loads) {
    if (!ref_is_value(vector) || !map_meets(seen, tt->arena, vector)) return true;
    const Value *v = ir_value(tt->k, vector);
    if (ty_is_scalar(v->type) || !v->op) return true;
    if (v->op->code == OP_TLOAD) {
        *VEC_PUSH(loads, tt->arena) = v->op;
        return v->type->rank == 1 && tt_indexed_dim(tt, v->op) < 0;
    }
    for (int i = 0; i < v->op->operand_count; i++)
        if (!find_loads(tt, v->op->operands[i], seen, loads)) return false;
    return true;
}

void tt_plan_fetches(Tt *tt) {
    for (size_t i = 0; i < tt->fields.count; i++) {
        const TtField *field = &tt->fields.at[i];
        Loads loads = {0};
        Map seen = {0};
        if (!field->load || field->load->code != OP_TLOAD || field->plain || field->cb < 0) continue;
        int indexed = tt_indexed_dim(tt, field->load);
        if (indexed >= 0) find_loads(tt, op_list(field->load, 0).at[indexed], &seen, &loads);
        for (size_t j = 0; j < loads.count; j++) {
            const Op *from = loads.at[j];
            const Value *v = ir_value(tt->k, from->results[0]);
            if (fetch_cb(tt, from) >= 0) continue;
            int cb = tt_add_cb(tt, v->name ? v->name : "indices", ROLE_LOAD, ROLE_LOAD, "an index vector", TT_Int32,
                               tt_pages(v->type, PAGE_VECTOR), 1, from->range);
            *VEC_PUSH(&tt->fetches, tt->arena) = (TtFetch){from, cb};
            tt_buffer(tt, from, PAGE_VECTOR);
        }
    }
}

static const char *key_of(Role *role, const Op *load) {
    return arena_printf(role->tt->arena, "fetched %u", load->results[0]);
}

const char *tt_odd_vector(Tt *tt, const Op *access) {
    Loads loads = {0};
    Map seen = {0};
    if (!find_loads(tt, op_list(access, 0).at[tt_indexed_dim(tt, access)], &seen, &loads))
        return "its index vector is found by another one";
    for (size_t i = 0; i < loads.count; i++)
        if (tt_plain_load(tt, loads.at[i], PAGE_VECTOR)) return "its index vector comes in no whole pages";
    return NULL;
}

const char *tt_fetched(Role *role, const Op *load) {
    const char *name = map_get(&role->declared, key_of(role, load));
    return name;
}

static void each_fetched(Role *role, const TtFetched *fetched, TtHand hand) {
    for (size_t i = 0; i < fetched->count; i++) role_hand(role, hand, fetched->at[i].cb);
}

TtFetched tt_fetch_indices(Role *role, const Op *load) {
    Tt *tt = role->tt;
    TtFetched fetched = {0};
    Loads loads = {0};
    Map seen = {0};
    find_loads(tt, op_list(load, 0).at[tt_indexed_dim(tt, load)], &seen, &loads);
    for (size_t i = 0; i < loads.count; i++) {
        const Op *from = loads.at[i];
        const Value *v = ir_value(tt->k, from->results[0]);
        TtField field = {.type = v->type, .paging = PAGE_VECTOR};
        int cb = fetch_cb(tt, from);
        *VEC_PUSH(&fetched, tt->arena) = (TtFetch){from, cb};
        role_hand(role, CB_RESERVE, cb);
        tt_read_box(role, from, &field, cb);
    }
    if (loads.count) role_step(role, (TtStep){.kind = STEP_BARRIER, .hand = CB_RESERVE});
    each_fetched(role, &fetched, CB_PUSH);
    each_fetched(role, &fetched, CB_WAIT);
    for (size_t i = 0; i < loads.count; i++) {
        const char *cb = tt->plan->cbs.at[fetched.at[i].cb].name + 3; /* without cb_ */
        const char *at = cs_fresh(&role->p, arena_printf(tt->arena, "%s_at", cb));
        role_step(role, (TtStep){.kind = STEP_POINTER,
                                 .hand = CB_WAIT,
                                 .cb = fetched.at[i].cb,
                                 .text = arena_printf(tt->arena, "const u32 %s", at)});
        map_set(&role->declared, tt->arena, key_of(role, loads.at[i]), (void *)at);
    }
    return fetched;
}

void tt_drop_indices(Role *role, const TtFetched *fetched) {
    each_fetched(role, fetched, CB_POP);
    for (size_t i = 0; i < fetched->count; i++)
        map_set(&role->declared, role->tt->arena, key_of(role, fetched->at[i].load), NULL);
}
