/* SPDX-License-Identifier: Apache-2.0 */
/* tt_stream.c: outputs whose pages compute hands over as it makes them.
 *
 * An item of many pages that is pushed as a whole is written when its last page is there: then all cores write at once,
 * and nobody computes. In parts, the writer sends the first rows of pages while compute works on the later ones:
 *
 *     compute    cb_reserve_back(cb_out, 35); for (r..) { .. pack_tile(..); cb_push_back(cb_out, 5); }
 *     writer     for (i0..) { cb_wait_front(cb_out, (i0 + 1) * 5); noc_async_write_page(..) .. }
 *                noc_async_write_barrier(); cb_pop_front(cb_out, 35);
 *
 * That is so where one put fills the field and one store of its box takes it, both in the stretch of the role in which
 * the item is handed over: every part is pushed, and waited for, once. */
#include "target/tenstorrent/tt_emit.h"

typedef struct Ends { /* of one field */
    const Op *put, *get, *store;
    int puts, gets;
} Ends;

static void find_ends(Tt *tt, const TtField *field, const Region *region, Ends *ends) {
    for (const Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->region_count; i++) find_ends(tt, field, op->regions[i], ends);
        if (op->code == OP_PUT && tt_field(tt, op) == field) ends->put = op, ends->puts++;
        if (op->code == OP_GET && tt_field(tt, op) == field) ends->get = op, ends->gets++;
        if (op->code == OP_TSTORE && ends->get && op_operand(op, 1) == ends->get->results[0]) ends->store = op;
    }
}

static bool in_stretch(const Op *op, Opcode end, Ref ring) {
    for (const Op *next = op->next; next; next = next->next)
        if (next->code == end && next->operands[0] == ring) return true;
    return false;
}

void tt_plan_streams(Tt *tt) {
    if (!tt->role[TENSIX_COMPUTE] || !tt->role[TENSIX_WRITER]) return;
    const int *uses = ir_count_uses(tt->k, tt->arena);
    for (size_t i = 0; i < tt->fields.count; i++) {
        TtField *field = &tt->fields.at[i];
        const Op *ring = ir_value(tt->k, field->ring)->op;
        if (ring_producer(ring) != ROLE_COMPUTE || ring_consumer(ring) != ROLE_STORE || field->cb < 0) continue;
        Ends ends = {0};
        find_ends(tt, field, tt->role[TENSIX_COMPUTE]->regions[0], &ends);
        find_ends(tt, field, tt->role[TENSIX_WRITER]->regions[0], &ends);
        bool is_one = ends.puts == 1 && ends.gets == 1 && ends.store && uses[ends.get->results[0]] == 1;
        field->streams = is_one && tt->plan->cbs.at[field->cb].item_pages > 1 && !tt_is_plain_store(tt, ends.store) &&
                         in_stretch(ends.put, OP_COMMIT, field->ring) &&
                         in_stretch(ends.store, OP_RELEASE, field->ring);
    }
}
