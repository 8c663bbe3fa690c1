/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_sync.c: semaphores, waits and barriers of Tile C, and the rules they keep.
 *
 * In a template the skeleton owns the rings; the text still says who arrives and how many bytes
 * come, and here both are counted: every thread that reaches `arrive` is one arrival, `tma_expect`
 * is one plus its bytes. Too few or too many is an error with both numbers, where a GPU would hang.
 * Also seen: a product's result read, or its operands given back, before warpgroup_mma_wait; a tile
 * stored before the threads that wrote it were synchronised; a finish block given back while a
 * store still reads it. */
#include "front/tilec/tilec.h"

Ref tc_hand_over(Tc *tc, Opcode code, Ref ring, Ref slot) {
    Op *op = ir_begin(&tc->b, code);
    ir_operand(&tc->b, op, ring);
    if (slot) ir_operand(&tc->b, op, slot);
    return ir_end(&tc->b, op, NULL);
}

/* Hand-overs happen on every path, so they may not stand under a run-time condition or loop of the callback. */
static bool on_every_path(Tc *tc, const Region *region, Range range) {
    if (tc->b.region == region) return true;
    TC_ERROR(tc, TC_UNSUPPORTED, range, "hand-overs under a run-time condition or loop",
             "move it to the callback's own block");
    return false;
}

/* ---- tiles ---- */

static void begin_finish(Tc *tc, Block *block) {
    block->region = tc->b.region;
    block->slot = tc_hand_over(tc, OP_ACQUIRE, block->ring, REF_NONE);
    block->can_put = true;
}

/* The finish block is full: from here on it is read. */
static void turn_finish(Tc *tc, Block *block, Range range) {
    if (!on_every_path(tc, block->region, range)) return;
    tc_hand_over(tc, OP_COMMIT, block->ring, block->slot);
    block->slot = tc_hand_over(tc, OP_WAIT, block->ring, REF_NONE);
    block->can_put = false;
    block->can_get = true;
}

void tc_check_read(Tc *tc, const Lvalue *tile, Range range) {
    const Object *place = tile->place;
    Block *block = place->block;
    if (!block) return;
    if (block == &tc->finish && block->can_put) turn_finish(tc, block, range);
    if (!block->can_get) TC_ERROR(tc, TC_BLOCK_CLOSED, range, block->what, "read");
}

void tc_check_write(Tc *tc, const Lvalue *tile, Range range) {
    const Object *place = tile->place;
    Block *block = place->block;
    if (!block) return;
    if (block == &tc->finish && !block->slot && !block->can_get) begin_finish(tc, block);
    if (!block->can_put)
        TC_ERROR(tc, TC_BLOCK_CLOSED, range, block->what, "written");
}

/* ---- asynchronous copies ---- */

static Semaphore *semaphore_of(Tc *tc, const Expr *e, Range range) {
    int index = e->lvalue.place->semaphore;
    Semaphore *semaphore = index >= 0 ? &tc->semaphores[index] : NULL;
    if (semaphore && semaphore->active) return semaphore;
    TC_ERROR(tc, TC_UNSUPPORTED, range, "semaphores of your own, or of another callback",
             "use the one in this callback's arguments");
    return NULL;
}

Expr bi_tma_load(Tc *tc, const Call *call) {
    const Lvalue *tile = &call->args[0].lvalue, *global = &call->args[1].lvalue;
    bool own = tc->by_workers && tc_is_own_semaphore(&call->args[3]);
    Semaphore *semaphore = own ? NULL : semaphore_of(tc, &call->args[3], call->range);
    Ref at[4];
    if (!semaphore && !own) return tc_nothing(call);
    if (!own && tile->place->block != &tc->input)
        return TC_FAIL(tc, TC_UNSUPPORTED, call->range, "tma_load_async outside the input block",
                       "load into a tile of the input block, or use load");
    if (tile->type->elem != global->type->elem)
        return TC_FAIL(tc, TC_TMA_TYPES, call->range, elem_info[global->type->elem].text,
                       elem_info[tile->type->elem].text);
    const Type *box = tc_value_type(tc, tile->type);
    if (!tc_offsets(tc, global->place, &call->args[2], box, at)) return tc_nothing(call);
    tc_write_tile(tc, tile, ir_tload(&tc->b, global->place->tensor, at, REF_NONE, box), call->range);
    if (own)
        tc_loaded_own(tc, call, &call->args[3], tc_bytes(tile->type));
    else if (on_every_path(tc, semaphore->region, call->range))
        semaphore->bytes_loaded += tc_bytes(tile->type);
    return tc_nothing(call);
}

Expr bi_tma_store(Tc *tc, const Call *call) {
    const Lvalue *global = &call->args[0].lvalue, *tile = &call->args[1].lvalue;
    Ref at[4];
    if (tile->type->elem != global->type->elem)
        return TC_FAIL(tc, TC_TMA_TYPES, call->range, elem_info[global->type->elem].text,
                       elem_info[tile->type->elem].text);
    bool combines = call->row->parameter != 0;
    if (combines && !tc_can_combine(tc, call, tile->type->elem)) return tc_nothing(call);
    Ref value = tc_read_tile(tc, tile, call->range);
    if (!value || !tc_offsets(tc, global->place, &call->args[2], tc_value_type(tc, tile->type), at))
        return tc_nothing(call);
    if (combines)
        tc_combine(tc, global->place, at, value, (Word)call->row->parameter);
    else
        ir_tstore(&tc->b, global->place->tensor, at, value, REF_NONE);
    tc_note_store(tc, call->range);
    return tc_nothing(call);
}

/* ---- semaphores ---- */

void tc_begin_semaphore(Tc *tc, int index, int64_t wanted, const Block *block,
                        void (*complete)(Tc *tc, Range range)) {
    static const char *const names[] = {"inputs_arrived", "inputs_finished", "outputs_arrived", "outputs_finished",
                                        "finish_finished"};
    tc->semaphores[index] = (Semaphore){
        .name = names[index], .active = true, .region = tc->b.region, .wanted = wanted, .complete = complete,
        .block = block};
}

void tc_end_semaphore(Tc *tc, int index, Range range) {
    Semaphore *semaphore = &tc->semaphores[index];
    semaphore->active = false;
    if (tc->failed) return;
    if (semaphore->arrivals != semaphore->wanted)
        TC_ERROR(tc, TC_ARRIVALS, range, semaphore->name, (long long)semaphore->arrivals, (long long)semaphore->wanted);
    if (semaphore->bytes_expected != semaphore->bytes_loaded)
        TC_ERROR(tc, TC_BYTES, range, semaphore->name, (long long)semaphore->bytes_expected,
                 (long long)semaphore->bytes_loaded);
}

static void count_arrivals(Tc *tc, Semaphore *semaphore, int64_t count, Range range) {
    if (!on_every_path(tc, semaphore->region, range)) return;
    semaphore->arrivals += count;
    if (semaphore->arrivals > semaphore->wanted)
        TC_ERROR(tc, TC_ARRIVALS, range, semaphore->name, (long long)semaphore->arrivals, (long long)semaphore->wanted);
    else if (semaphore->arrivals == semaphore->wanted && semaphore->complete)
        semaphore->complete(tc, range);
}

Expr bi_expect(Tc *tc, const Call *call) {
    bool own = tc->by_workers && tc_is_own_semaphore(&call->args[0]);
    Semaphore *semaphore = own ? NULL : semaphore_of(tc, &call->args[0], call->range);
    if (!semaphore && !own) return tc_nothing(call);
    int64_t bytes = 0;
    for (int i = 1; i < call->count && call->row->parameter == 0; i++) bytes += tc_bytes(call->args[i].lvalue.type);
    if (call->row->parameter == 1 && !tc_is_constant(tc, call->args[1].scalar, &bytes))
        return TC_FAIL(tc, TC_NOT_CONSTANT, call->range, "the number of bytes");
    if (own) return tc_expect_own(tc, call, bytes);
    semaphore->bytes_expected += bytes;
    count_arrivals(tc, semaphore, 1, call->range);
    return tc_nothing(call);
}

Expr bi_arrive(Tc *tc, const Call *call) {
    if (tc->by_workers && tc_is_own_semaphore(&call->args[0])) return tc_arrive_own(tc, call);
    Semaphore *semaphore = semaphore_of(tc, &call->args[0], call->range);
    if (!semaphore) return tc_nothing(call);
    int64_t each = 1, threads = 0;
    if (call->count > 1 && !tc_is_constant(tc, call->args[1].scalar, &each))
        return TC_FAIL(tc, TC_NOT_CONSTANT, call->range, "the number of arrivals");
    for (int t = 0; t < tc->threads; t++) threads += tc->active[t];
    if (semaphore->block) tc_note_arrivals(tc, semaphore->block, call->range);
    count_arrivals(tc, semaphore, each * threads, call->range);
    return tc_nothing(call);
}

/* ---- barriers ---- */

enum { BARRIER_OF_ALL = -1 };

static const char *group_words(Tc *tc, int group) {
    return group < 0 ? "a whole role" : arena_printf(tc->arena, "warpgroup %d", group - 1);
}

/* A number is one group's: two that use the same one at a time would meet each other. What is a consumer's may be that
 * of all consumers, too, if nobody is at the one while another is at the other (tilec_meet.c). */
static bool claim_barrier(Tc *tc, int number, int group, Range range) {
    static const char *const reserved[] = {"its producers", "its consumers", "all of its warps"};
    struct TcBarrier *barrier = &tc->barriers[number];
    if (number >= 13 && tc->input.what) {
        TC_ERROR(tc, TC_BARRIER_RESERVED, range, number, reserved[number - 13]);
        return false;
    }
    bool consumers = tc->input.what && tc->worker_count > 1;
    int other = 0;
    if (barrier->group && barrier->group != group && (group > 0 || !consumers)) other = barrier->group;
    if (barrier->of_all && group > 0 && !consumers) other = BARRIER_OF_ALL;
    if (other) {
        Range before = other > 0 ? barrier->range : barrier->range_of_all;
        TC_ERROR(tc, TC_BARRIER_SHARED, range, number, group_words(tc, group), group_words(tc, other));
        if (before.begin != range.begin) diag_emit(tc->diag, DIAG_NOTE_HERE, before, "the other one meets here");
        return false;
    }
    if (group > 0) barrier->group = group, barrier->range = range;
    if (group < 0) barrier->of_all = true, barrier->range_of_all = range;
    return true;
}

Expr bi_sync(Tc *tc, const Call *call) {
    bool all = call->scope == SCOPE_GROUP && call->warps * 32 == tc->threads && call->warps != 4;
    bool workers = call->scope == SCOPE_GROUP && tc->worker_count > 1 && call->warps == 4 * tc->worker_count;
    bool block = call->scope == SCOPE_BLOCK || call->row->parameter == 1 || all;
    /* Some of the block's warpgroups, wherever in the text each of them gets there (ir/roles_check.c). */
    bool some = tc->by_workers && call->scope == SCOPE_GROUP && call->warps > 4 && call->warps % 4 == 0 && !all &&
                call->warps * 32 < tc->threads;
    bool group = call->scope == SCOPE_GROUP && !all && !workers && !some;
    if (group && call->warps != 4)
        return TC_FAIL(tc, TC_UNSUPPORTED, call->range, "barriers of some warps that are no warpgroup",
                       "use warpgroup_sync(id), or block_sync()");
    if (block && tc->worker_count && tc->input.what)
        return TC_FAIL(tc, TC_UNSUPPORTED, call->range, "a barrier of the whole block inside a role",
                       "use warpgroup_sync(id): the other role never gets here");
    for (int t = 0; call->count && t < tc->threads; t++) {
        int64_t base = 0;
        Scalar id = call->args[0].scalar;
        if (!ir_const_int(tc->kernel, id.ref, &base))
            return TC_FAIL(tc, TC_NOT_CONSTANT, call->range, "the number of a barrier");
        int64_t number = base + (id.lanes ? id.lanes[t] : 0);
        if (tc->active[t] && (number < 0 || number > 15))
            return TC_FAIL(tc, TC_BARRIER_ID, call->range, (long long)number);
        bool warpgroup = call->scope == SCOPE_GROUP && call->warps == 4;
        int meets = warpgroup ? 1 + t / 128 : BARRIER_OF_ALL;
        if (tc->active[t] && call->scope != SCOPE_WARP && !claim_barrier(tc, (int)number, meets, call->range))
            return tc_nothing(call);
    }
    Op *op = ir_begin(&tc->b, OP_SYNC);
    Word unit = block || workers || some ? UNIT_BLOCK : group ? UNIT_WARPGROUP : UNIT_WARP;
    op_set(tc->kernel, op, (Attr){.id = AT_UNIT, .word = unit});
    int64_t id = 0;
    if (some) {
        if (!call->count || !tc_is_constant(tc, call->args[0].scalar, &id))
            return TC_FAIL(tc, TC_NOT_CONSTANT, call->range, "the number of a barrier");
        op_set(tc->kernel, op, (Attr){.id = AT_ID, .number = id});
        op_set(tc->kernel, op, (Attr){.id = AT_ARRIVALS, .number = call->warps * 32});
    }
    ir_end(&tc->b, op, NULL);
    if (block) tc->initialiser = NULL;
    const Scalar *number = call->count ? &call->args[0].scalar : NULL;
    if (block || workers || some || (group && tc->unit == 4)) tc_note_sync(tc, block || workers, number, call->range);
    return tc_nothing(call);
}
