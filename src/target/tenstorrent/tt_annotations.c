/* SPDX-License-Identifier: Apache-2.0 */
/* tt_annotations.c: what annotations of the source (the kernel's attributes tt_policy, tt_order, ..) and options ask of
 * the plan: how tasks are dealt out to which cores, how deep circular buffers are, where tensors lie.
 *
 * An option wins over an annotation. Each changes the plan as it says, or is refused by its name: none is dropped. */
#include "target/tenstorrent/tt_emit.h"

#include <stdlib.h>
#include <string.h>

static const char *const policies[] = {"auto", "contiguous", "strided", "rect", "block_linear"};
static const char *const orders[] = {"auto", "row_major", "column_major", "z_order", "match_shard"};

const char *tt_policy_name(const TtPlan *plan) {
    TwPolicy policy = plan->options.policy;
    return policies[policy != TW_AUTO ? policy : plan->shares ? TW_RECT : TW_CONTIGUOUS];
}
const char *tt_order_name(const TtPlan *plan) { return orders[plan->options.order]; }

/* One of so many numbers. */
static const Attr *asked_numbers(Tt *tt, AttrId id, int count) {
    const Attr *attr = kernel_attr(tt->k, id);
    if (attr && attr->list.count != count) tt_refuse(tt, NULL, "`%s` has %d numbers"
                                                               FIX "write so many", attr_info[id].text, count);
    return attr && attr->list.count == count ? attr : NULL;
}

/* The place of an attribute's word among names; 0: it says nothing. */
static int word_place(const Kernel *k, AttrId id, const char *const *names, int count) {
    const Attr *attr = kernel_attr(k, id);
    for (int i = 1; attr && i < count; i++)
        if (strcmp(word_info[attr->word].text, names[i]) == 0) return i;
    return 0;
}

static void take_rect(TtOptions *o, const Attr *rect) { /* y0, x0, rows, columns */
    o->first = (TwPoint){(uint32_t)rect->list.at[1], (uint32_t)rect->list.at[0]};
    o->size = (TwPoint){(uint32_t)rect->list.at[3], (uint32_t)rect->list.at[2]};
}

void tt_take_annotations(Tt *tt) {
    const Kernel *k = tt->k;
    TtOptions *o = &tt->plan->options;
    const Attr *rect = asked_numbers(tt, AT_TT_RECT, 4), *cores = asked_numbers(tt, AT_TT_CORES, 2);
    const Attr *stride = asked_numbers(tt, AT_TT_STRIDE, 2);
    bool annotated_policy = o->policy == TW_AUTO;
    if (annotated_policy) o->policy = (TwPolicy)word_place(k, AT_TT_POLICY, policies, 5);
    if (o->order == TW_ORDER_AUTO) o->order = (TwOrder)word_place(k, AT_TT_ORDER, orders, 5);
    if (!o->block) o->block = (uint32_t)kernel_int(k, AT_TT_BLOCK, 0);
    if (!o->chunk) o->chunk = (uint32_t)kernel_int(k, AT_TT_CHUNK, 0);
    if (!o->depths && kernel_attr(k, AT_TT_DEPTHS)) o->depths = kernel_attr(k, AT_TT_DEPTHS)->text;
    if (o->multicast == WISH_AUTO && kernel_attr(k, AT_TT_MULTICAST))
        o->multicast = kernel_attr(k, AT_TT_MULTICAST)->number ? WISH_ON : WISH_OFF;
    if (rect && cores) tt_refuse(tt, NULL, "both rect=.. and core_grid=.." FIX "leave out one of them");
    if (!o->size.x && cores) o->size = (TwPoint){(uint32_t)cores->list.at[0], (uint32_t)cores->list.at[1]};
    if (!o->size.x && rect) take_rect(o, rect);
    if (rect && annotated_policy && o->policy != TW_RECT)
        tt_refuse(tt, NULL, "rect=.. with policy=\"%s\"; it places the cores of policy=\"rect\""
                            FIX "leave rect out", policies[o->policy]);
    if (stride && annotated_policy && o->policy != TW_STRIDED)
        tt_refuse(tt, NULL, "stride=.. with policy=\"%s\"; it is for policy=\"strided\""
                            FIX "leave stride out", policies[o->policy]);
    if (stride && o->policy == TW_STRIDED) {
        if (stride->list.at[0] != 0 || stride->list.at[1] < 1)
            tt_refuse(tt, NULL, "stride=(%lld, %lld): tasks would be left out; core i begins with task i, and the "
                                "step is the number of "
                                "cores" FIX "write (0, cores)", (long long)stride->list.at[0],
                                    (long long)stride->list.at[1]);
        else if (!o->cores)
            o->cores = (uint32_t)stride->list.at[1];
    }
    if (o->block && o->policy != TW_BLOCK_LINEAR)
        tt_refuse(tt, NULL, "block=%u with policy=\"%s\"; it is for policy=\"block_linear\""
                            FIX "leave block out", o->block,
                  policies[o->policy]);
    if (!o->block) o->block = 1;
    const Attr *sharding = kernel_attr(k, AT_TT_SHARDING);
    if (o->sharding)
        tt_take_sharding(tt, o->sharding);
    else if (sharding)
        tt_take_sharding(tt, sharding->text);
}

/* ----------------------------------------------------------------------------------------- depths of CBs */

/* Tiles along K that an item of the field holds, where a product of a loop takes it; 0: none does. */
static int64_t k_tiles(Tt *tt, const TtField *field, const Region *region) {
    int64_t found = 0;
    for (const Op *op = region->first; op && !found; op = op->next) {
        for (int i = 0; i < op->region_count && !found; i++) found = k_tiles(tt, field, op->regions[i]);
        for (int i = 0; op->code == OP_DOT && i < 2 && !found; i++) {
            Ref value = ref_is_value(op->operands[i]) ? tt_same_pages(tt, op->operands[i]) : REF_NONE;
            const Op *source = value ? ir_value(tt->k, value)->op : NULL;
            if (source && source->code == OP_PERMUTE)
                source = ir_value(tt->k, tt_same_pages(tt, source->operands[0]))->op;
            if (!source || source->code != OP_GET || tt_field(tt, source) != field) continue;
            const Type *type = ir_type(tt->k, op->operands[i]);
            found = (type->extent[type->rank - (i ? 2 : 1)] + PAGE_SIDE - 1) / PAGE_SIDE;
        }
    }
    return found;
}

/* What "in:3,out:2" says of a name; 0: nothing. */
static int64_t depth_of(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *at = text; at && *at; at += strspn(at, ",")) {
        size_t n = strcspn(at, ",");
        if (n > length && strncmp(at, name, length) == 0 && at[length] == ':') return strtoll(at + length + 1, NULL,
                                                                                              10);
        at += n;
    }
    return 0;
}

/* Every word names a ring and a number. */
static void check_depths(Tt *tt, const char *text) {
    for (const char *at = text; at && *at; at += strspn(at, ",")) {
        size_t n = strcspn(at, ","), name = strcspn(at, ":,");
        bool known = false;
        char *end = NULL;
        long long slots = name < n ? strtoll(at + name + 1, &end, 10) : 0;
        for (size_t i = 0; i < tt->fields.count; i++) {
            const char *ring = ir_value(tt->k, tt->fields.at[i].ring)->name;
            known |= ring && strlen(ring) == name && strncmp(ring, at, name) == 0;
        }
        if (!known)
            tt_refuse(tt, NULL, "a depth of `%.*s`, which is no ring of the kernel" FIX "name one that `explain` shows",
                      (int)name, at);
        else if (slots < 1 || slots > 64 || end != at + n)
            tt_refuse(tt, NULL, "the depth `%.*s`" FIX "write a ring and its slots, from 1 to 64, as in:3", (int)n, at);
        at += n;
    }
}

int64_t tt_slots(Tt *tt, const TtField *field, const Op *ring, int64_t slots) {
    const TtOptions *o = &tt->plan->options;
    const char *name = ir_value(tt->k, field->ring)->name;
    const Op *compute = tt->role[TENSIX_COMPUTE];
    if (field == tt->fields.at) check_depths(tt, o->depths);
    int64_t depth = name ? depth_of(o->depths, name) : 0;
    if (depth > 0 && depth <= 64) return depth;
    if (!o->chunk || ring_consumer(ring) != ROLE_COMPUTE || !compute) return slots;
    int64_t tiles = k_tiles(tt, field, compute->regions[0]);
    if (!tiles) return slots;
    if (o->chunk % (uint64_t)tiles && (uint64_t)tiles % o->chunk)
        tt_refuse(tt, field->load ? field->load : ring,
                  "a chunk of %u tiles along K; a step of the loop takes %lld of them" FIX "give a multiple", o->chunk,
                  (long long)tiles);
    return o->chunk < tiles ? 1 : o->chunk / tiles;
}

void tt_settle_schedule(Tt *tt) {
    TtPlan *plan = tt->plan;
    TtOptions *o = &plan->options;
    const TensixLimits *limits = tensix_limits(o->arch);
    if (o->size.x && (o->first.x + o->size.x > limits->grid_x || o->first.y + o->size.y > limits->grid_y))
        tt_refuse(tt, NULL, "cores %u..%u x %u..%u, where a %s has %u x %u"
                            FIX "ask for fewer", o->first.x, o->first.x + o->size.x - 1,
                  o->first.y,
                  o->first.y + o->size.y - 1, limits->name, limits->grid_x, limits->grid_y);
    uint32_t all = o->size.x ? o->size.x * o->size.y : limits->grid_x * limits->grid_y;
    if (o->policy == TW_STRIDED && o->cores > all)
        tt_refuse(tt, NULL, "a step of %u tasks: there are %u cores to be dealt to" FIX "give a smaller step", o->cores,
                  all);
    bool order_is_free = o->order == TW_ORDER_AUTO;
    if (order_is_free) o->order = TW_ROW_MAJOR;
    tt_follow_shards(tt, order_is_free);
    if (o->order > TW_ROW_MAJOR && plan->follows < 0 && plan->task_rank < 2)
        tt_refuse(tt, NULL, "order %s of tasks that have one index" FIX "write row_major",
                  orders[o->order]);
    if (o->policy == TW_RECT && plan->follows < 0 && plan->task_rank < 2)
        tt_refuse(tt, NULL, "policy rect of tasks that have one index" FIX "write contiguous, strided or block_linear");
    if (o->multicast == WISH_ON && !plan->shares)
        tt_refuse(tt, NULL, "multicast=on: %s",
                  tt->updates ? "cores that take turns at atomic updates load for themselves" FIX "leave it out"
                  : o->policy != TW_AUTO && o->policy != TW_RECT
                      ? "cores share loads on a rectangle only" FIX "use policy rect"
                      : "no load of the kernel is the same for a whole row or column of cores" FIX "leave it out");
    bool has_product = !o->chunk;
    for (size_t i = 0; i < tt->fields.count && tt->role[TENSIX_COMPUTE]; i++)
        has_product |= o->chunk && k_tiles(tt, &tt->fields.at[i], tt->role[TENSIX_COMPUTE]->regions[0]) > 0;
    if (!has_product) tt_refuse(tt, NULL, "a chunk of %u tiles along K of a kernel without a product of loaded tiles"
                                          FIX "leave it out",
                                o->chunk);
    if (o->policy == TW_RECT && tt->updates)
        tt_refuse(tt, NULL, "policy rect with atomic updates, at which cores take turns"
                            FIX "write strided, or leave it out");
    if (o->policy == TW_AUTO && tt->updates) o->policy = TW_STRIDED; /* then turns come in the order of tasks */
    if (o->policy == TW_AUTO && !plan->shares) o->policy = TW_CONTIGUOUS;
    plan->turns = tt->updates;
    plan->ordered = plan->shares || o->policy > TW_CONTIGUOUS || o->order > TW_ROW_MAJOR;
    plan->word_count = plan->shares  ? TW_CORE_WORDS
                       : plan->turns ? TW_TASK_WORDS + TW_TURN_WORDS
                                     : plan->ordered ? TW_TASK_WORDS : 2;
}
