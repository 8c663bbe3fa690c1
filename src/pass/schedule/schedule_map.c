/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_map.c: maps for TMA that the kernel makes (`made`, pass/layout/layout_tma.c): their numbers in the block,
 * and 128 bytes of shared memory in which one is put together (`at`, schedule_place.c).
 *
 *     %A = tensor<made, map=0, at=147584, bytes=128> %a, [%M, %K], [%lda, 1]
 *
 * One thread makes it, when its copies into the ring of the load have landed: the map before it is no longer read. */
#include "pass/schedule/schedule.h"

static int count_made(const Region *region) {
    int count = 0;
    for (const Op *op = region->first; op; op = op->next) {
        count += op->code == OP_TENSOR && op_flag(op, AT_MADE);
        for (int i = 0; i < op->region_count; i++) count += count_made(op->regions[i]);
    }
    return count;
}

int schedule_maps_made(const Kernel *k) { return count_made(k->body); }

typedef struct Numbering {
    Kernel *k;
    int next;
} Numbering;

static void give_number(Op *op, void *user) {
    Numbering *n = user;
    if (op->code == OP_TENSOR && op_flag(op, AT_MADE)) op_set(n->k, op, (Attr){.id = AT_MAP, .number = n->next++});
}

void schedule_maps(Schedule *s) { ir_walk(s->k->body, give_number, &(Numbering){.k = s->k}); }

const Op *schedule_map_load(const Kernel *k, const Region *region, const Op *tensor) {
    const Op *found = NULL;
    for (const Op *op = region->first; op && !found; op = op->next) {
        if (op->code == OP_TLOAD && op->operands[0] == tensor->results[0] &&
            op_word(op, AT_MOVER, MOVER_LANES) == MOVER_TMA)
            return op;
        for (int i = 0; i < op->region_count && !found; i++) found = schedule_map_load(k, op->regions[i], tensor);
    }
    return found;
}

static bool is_number_alone(const Region *region, const Op *tensor) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op != tensor && op->code == OP_TENSOR && op_flag(op, AT_MADE) &&
            op_int(op, AT_MAP, -1) == op_int(tensor, AT_MAP, -1))
            return false;
        for (int i = 0; i < op->region_count; i++)
            if (!is_number_alone(op->regions[i], tensor)) return false;
    }
    return true;
}

bool schedule_map_holds(Schedule *s, const Op *tensor) {
    const Kernel *k = s->k;
    if (!op_flag(tensor, AT_MADE))
        return !op_attr(tensor, AT_MAP) ||
               schedule_fail(s, tensor, "`map` numbers those that the kernel makes (`made`)");
    const Op *role = role_around(tensor), *load = role ? schedule_map_load(k, role->regions[0], tensor) : NULL;
    if (!load || s->uses[tensor->results[0]] != 1)
        return schedule_fail(s, tensor, "a map is `made` for one load by TMA, in the role of the load");
    int64_t number = op_int(tensor, AT_MAP, -1);
    return (number >= 0 && number < schedule_maps_made(k) && is_number_alone(k->body, tensor)) ||
           schedule_fail(s, tensor, "`map` numbers the maps that are made, each by its own number");
}
