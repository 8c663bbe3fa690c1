/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_template.c: lcf_kernel(name, .globals = .., ..): load, compute, finish as roles and rings; lcsf_kernel: with a
 * ring of outputs from compute to a role that stores them.
 *
 *     ring %in {fields of input}                          input_stages slots
 *     tasks %it while { common_setup; test num_iters >= 0, .. } do (..) {
 *       role load    { producer.setup; for iter { acquire; load; commit } }
 *       role compute { spmd warpgroups { consumer.setup; for iter { wait; compute; release };
 * finish } } }
 *
 * The callbacks' own arrivals and expected bytes are counted against the descriptor's
 * (tilec_sync.c) and become commit and release. The finish block is a ring of one slot from compute
 * to itself: written, then read by the stores. Merging the warpgroups and giving the stores a role
 * of their own is the work of pass/merge/merge_workers.c. */
#include "front/tilec/tilec_template.h"

#include <string.h>

const char *const tilec_templates[] = {"lcf_kernel", "lcsf_kernel", NULL};

static void set_number(Tc *tc, Object *args, const char *name, Ref value) {
    (void)tc;
    Object *part = tc_part(args, name);
    if (part) part->value = tc_scalar(tc_scalar_type(EL_I32), value, NULL);
}

/* ---- blocks ---- */

static const Type *block_field_type(Tc *tc, const TcType *type, Range range) {
    int64_t extent[MAX_RANK];
    int rank = 0;
    int64_t elements = 1;
    for (; type->kind == TC_ARRAY && rank < MAX_INDICES; type = type->of) extent[rank++] = type->count;
    if (type->kind != TC_TILE || type->level != TC_SHARED) {
        TC_ERROR(tc, TC_BLOCK_FIELD, range, type->name);
        return NULL;
    }
    if (type->rank == 2) extent[rank++] = type->rows;
    extent[rank++] = type->cols;
    for (int d = 0; d < rank; d++) elements *= extent[d];
    if (elements > MAX_TILE_ELEMENTS) {
        TC_ERROR(tc, TC_TILE_LARGE, range, (long long)elements / extent[rank - 1], (long long)extent[rank - 1]);
        return NULL;
    }
    return ty_tile(tc->module, type->elem, rank, extent);
}

typedef VEC(Field) Fields;

/* A place for a member of a block, and fields of the record for the tiles in it: structs inside are taken apart. */
static Object *block_place(Tc *tc, Block *block, const TcType *type, const char *name, Range range, Fields *fields) {
    const TcType *leaf = type;
    while (leaf->kind == TC_ARRAY) leaf = leaf->of;
    Object *place = ARENA_NEW(tc->arena, Object);
    *place = (Object){.type = type, .name = name, .range = range, .semaphore = -1, .block = block};
    place->field = (int)fields->count;
    if (leaf->kind != TC_STRUCT) {
        const Type *field = block_field_type(tc, type, range);
        if (field) *VEC_PUSH(fields, tc->arena) = (Field){name, field};
        return field ? place : NULL;
    }
    place->by_field = type->kind == TC_ARRAY;
    place->parts = ARENA_ARRAY(tc->arena, Object *, leaf->field_count);
    for (int i = 0; i < leaf->field_count; i++) {
        const TcField *field = &leaf->fields[i];
        const char *inner = name ? arena_printf(tc->arena, "%s_%s", name, field->name) : field->name;
        place->parts[i] = block_place(tc, block, tc_array_like(tc, type, field->type), inner, field->range, fields);
        if (!place->parts[i]) return NULL;
    }
    return place;
}

/* The ring of a block and the place that names its fields. */
static Object *make_block(Tc *tc, Block *block, const char *what, const TcType *type, Word from, Word to,
                          int64_t slots) {
    Fields fields = {0};
    Object *place = block_place(tc, block, type, NULL, tc->b.range, &fields);
    if (!place) return NULL;
    place->name = what;
    Op *op = ir_begin(&tc->b, OP_RING);
    op_set(tc->kernel, op, (Attr){.id = AT_PRODUCER, .word = from});
    op_set(tc->kernel, op, (Attr){.id = AT_CONSUMER, .word = to});
    op_set(tc->kernel, op, (Attr){.id = AT_SLOTS, .number = slots});
    *block = (Block){.what = what, .ring = ir_end(&tc->b, op, ty_ring(tc->module, (int)fields.count, fields.at))};
    block->place = place;
    ir_name(tc->kernel, block->ring, what);
    return place;
}

/* ---- callbacks ---- */

static void call(Tc *tc, Lcf *lcf, int callback, Ref iter) {
    Object *args = tc_make_args(tc, lcf, callback);
    set_number(tc, args, "num_iters", lcf->num_iters);
    set_number(tc, args, "iter", iter);
    if (!tc->failed) tc_call_with(tc, lcf->callbacks[callback], args, lcf->callbacks[callback]->range);
}

static void load_item(Tc *tc, Scalar iter, void *user) {
    Lcf *lcf = user;
    Range range = lcf->callbacks[CB_LOAD]->range;
    tc->input.slot = tc_hand_over(tc, OP_ACQUIRE, tc->input.ring, REF_NONE);
    tc->input.can_put = true;
    tc_begin_semaphore(tc, SEM_INPUTS_ARRIVED, lcf->producer_arrivals, NULL, NULL);
    call(tc, lcf, CB_LOAD, iter.ref);
    tc_end_semaphore(tc, SEM_INPUTS_ARRIVED, range);
    tc->input.can_put = false;
    tc_hand_over(tc, OP_COMMIT, tc->input.ring, tc->input.slot);
}

static void release_input(Tc *tc, Range range) {
    tc_note_given(tc, &tc->input, "inputs_finished", range);
    tc->input.can_get = false;
    tc_hand_over(tc, OP_RELEASE, tc->input.ring, tc->input.slot);
}

static void commit_output(Tc *tc, Range range) {
    tc_note_given(tc, &tc->output, "outputs_arrived", range);
    tc->output.can_put = false;
    tc_hand_over(tc, OP_COMMIT, tc->output.ring, tc->output.slot);
}

static void compute_item(Tc *tc, Scalar iter, void *user) {
    Lcf *lcf = user;
    Range range = lcf->callbacks[CB_COMPUTE]->range;
    tc->input.slot = tc_hand_over(tc, OP_WAIT, tc->input.ring, REF_NONE);
    tc->input.can_get = true;
    tc_note_taken(tc, &tc->input);
    tc_begin_semaphore(tc, SEM_INPUTS_FINISHED, lcf->consumer_arrivals, &tc->input, release_input);
    if (lcf->stores) {
        tc->output.slot = tc_hand_over(tc, OP_ACQUIRE, tc->output.ring, REF_NONE);
        tc->output.can_put = true;
        tc_note_taken(tc, &tc->output);
        tc_begin_semaphore(tc, SEM_OUTPUTS_ARRIVED, lcf->consumer_arrivals, &tc->output, commit_output);
    }
    call(tc, lcf, CB_COMPUTE, iter.ref);
    tc_end_semaphore(tc, SEM_INPUTS_FINISHED, range);
    if (lcf->stores) tc_end_semaphore(tc, SEM_OUTPUTS_ARRIVED, range);
    tc->input.can_get = tc->output.can_put = false;
}

static void release_output(Tc *tc, Range range) {
    Block *block = &tc->output;
    tc_note_given(tc, block, "outputs_finished", range);
    block->can_get = false;
    tc_hand_over(tc, OP_RELEASE, block->ring, block->slot);
}

static void store_item(Tc *tc, Scalar iter, void *user) {
    Lcf *lcf = user;
    tc->output.slot = tc_hand_over(tc, OP_WAIT, tc->output.ring, REF_NONE);
    tc->output.can_get = true;
    tc_note_taken(tc, &tc->output);
    tc_begin_semaphore(tc, SEM_OUTPUTS_FINISHED, lcf->producer_arrivals, &tc->output, release_output);
    call(tc, lcf, CB_STORE, iter.ref);
    tc_end_semaphore(tc, SEM_OUTPUTS_FINISHED, lcf->callbacks[CB_STORE]->range);
    tc->output.can_get = false;
}

static void release_finish(Tc *tc, Range range) {
    Block *block = &tc->finish;
    tc_note_given(tc, block, "finish_finished", range);
    if (!block->slot) return;
    if (block->can_put) {
        tc_hand_over(tc, OP_COMMIT, block->ring, block->slot);
        block->slot = tc_hand_over(tc, OP_WAIT, block->ring, REF_NONE);
    }
    tc_hand_over(tc, OP_RELEASE, block->ring, block->slot);
    block->can_put = block->can_get = false;
}

/* for iter = 0, num_iters: item */
static void item_loop(Tc *tc, Lcf *lcf, int callback, TcBody *item) {
    Map names = {0};
    tc_assigned_names(tc, lcf->callbacks[callback]->kids[2], &names);
    Range outer = tc->b.range;
    tc->b.range = lcf->callbacks[callback]->range;
    tc_loop(tc, ir_int(&tc->b, EL_I32, 0), lcf->num_iters, ir_int(&tc->b, EL_I32, 1), "iter", &names, item, lcf);
    tc->items[tc->item_count++] = tc->b.region->last;
    tc->b.range = outer;
}

static void set_threads(Tc *tc, int first, int count) {
    bool *mask = ARENA_ARRAY(tc->arena, bool, tc->threads);
    for (int t = 0; t < count; t++) mask[first + t] = true;
    tc->active = tc->role = mask;
}

static Region *begin_role(Tc *tc, Op **op, Word name) {
    *op = ir_begin(&tc->b, OP_ROLE);
    op_set(tc->kernel, *op, (Attr){.id = AT_ROLE, .word = name});
    return ir_region(&tc->b, *op);
}

static void end_role(Tc *tc, Op *op, Builder outer) {
    ir_yield(&tc->b, NULL, 0);
    tc->b = outer;
    ir_end_results(&tc->b, op, 0, NULL);
}

static void load_role(Tc *tc, Lcf *lcf) {
    Op *op;
    Builder outer = tc->b;
    tc->b = ir_builder_inside(&outer, begin_role(tc, &op, ROLE_LOAD));
    set_threads(tc, (int)lcf->consumer_warps * 32, (int)lcf->producer_warps * 32);
    tc->worker = REF_NONE;
    tc->worker_count = 1;
    lcf->producer_state = tc_place(tc, lcf->types[OPTION_producer_state], "producer_state", lcf->node->range);
    if (lcf->callbacks[CB_PRODUCER_SETUP]) call(tc, lcf, CB_PRODUCER_SETUP, REF_NONE);
    item_loop(tc, lcf, CB_LOAD, load_item);
    end_role(tc, op, outer);
}

/* The producer's warps store, too: its setup has run, its state is that of the load role when it began. */
static void store_role(Tc *tc, Lcf *lcf) {
    Op *op;
    Builder outer = tc->b;
    tc->b = ir_builder_inside(&outer, begin_role(tc, &op, ROLE_STORE));
    set_threads(tc, (int)lcf->consumer_warps * 32, (int)lcf->producer_warps * 32);
    tc->worker = REF_NONE;
    tc->worker_count = 1;
    lcf->producer_state = tc_place(tc, lcf->types[OPTION_producer_state], "producer_state", lcf->node->range);
    if (lcf->callbacks[CB_PRODUCER_SETUP]) call(tc, lcf, CB_PRODUCER_SETUP, REF_NONE);
    item_loop(tc, lcf, CB_STORE, store_item);
    end_role(tc, op, outer);
}

static void compute_body(Tc *tc, Lcf *lcf) {
    lcf->consumer_state = tc_place(tc, lcf->types[OPTION_consumer_state], "consumer_state", lcf->node->range);
    if (lcf->callbacks[CB_CONSUMER_SETUP]) call(tc, lcf, CB_CONSUMER_SETUP, REF_NONE);
    item_loop(tc, lcf, CB_COMPUTE, compute_item);
    tc_note_sync(tc, true, NULL, tc->b.range); /* the skeleton's: all consumers meet before finish, and behind it */
    if (!lcf->callbacks[CB_FINISH] || tc->failed) return;
    tc_begin_semaphore(tc, SEM_FINISH_FINISHED, lcf->consumer_arrivals, &tc->finish, release_finish);
    call(tc, lcf, CB_FINISH, REF_NONE);
    tc_end_semaphore(tc, SEM_FINISH_FINISHED, lcf->callbacks[CB_FINISH]->range);
}

static void compute_role(Tc *tc, Lcf *lcf) {
    Op *op, *spmd = NULL;
    Builder outer = tc->b;
    int64_t workers = lcf->consumer_warps / 4;
    tc->b = ir_builder_inside(&outer, begin_role(tc, &op, ROLE_COMPUTE));
    set_threads(tc, 0, (int)lcf->consumer_warps * 32);
    tc->worker_count = (int)workers;
    Builder role = tc->b;
    if (workers > 1) {
        spmd = ir_begin(&role, OP_SPMD);
        ir_operand(&role, spmd, ir_int(&role, EL_I32, workers));
        op_set(tc->kernel, spmd, (Attr){.id = AT_UNIT, .word = UNIT_WARPGROUP});
        Region *region = ir_region(&role, spmd);
        tc->worker = ir_argument(tc->kernel, region, ty_scalar(tc->module, EL_I32), "w");
        tc->b = ir_builder_inside(&role, region);
    }
    compute_body(tc, lcf);
    if (spmd) {
        ir_yield(&tc->b, NULL, 0);
        tc->b = role;
        ir_end(&tc->b, spmd, NULL);
    }
    tc->worker = REF_NONE;
    end_role(tc, op, outer);
}

/* ---- tasks ---- */

/* Scalars of common_state and num_iters that are run-time values travel from the test into the body. */
static void pass_cells(Tc *tc, Op *test, Region *body, size_t first, Object *num_iters) {
    for (size_t i = first; i <= tc->cells.count; i++) {
        Object *cell = i < tc->cells.count ? tc->cells.at[i] : num_iters;
        if (!ref_is_value(cell->value.ref)) continue;
        ir_operand(&tc->b, test, cell->value.ref);
        cell->value.open = false; /* tasks run only on the path that sets it */
        cell->value.ref = ir_argument(tc->kernel, body, ir_type(tc->kernel, cell->value.ref), cell->name);
    }
}

static void lower_tasks(Tc *tc, Lcf *lcf) {
    Builder outer = tc->b;
    Op *tasks = ir_begin(&outer, OP_TASKS);
    Region *region = ir_region(&outer, tasks), *body = ir_region(&outer, tasks);
    Ref task_iter = ir_argument(tc->kernel, region, ty_scalar(tc->module, EL_I32), "task_iter");
    tc->b = ir_builder_inside(&outer, region);
    set_threads(tc, 0, tc->threads);
    size_t cells = tc->cells.count;
    lcf->common = tc_place(tc, lcf->types[OPTION_common], "common", lcf->node->range);
    Object *args = tc_make_args(tc, lcf, CB_SETUP), *num_iters = tc_part(args, "num_iters");
    set_number(tc, args, "task_iter", task_iter);
    num_iters->locked = NULL;
    size_t common_cells = tc->cells.count;
    *VEC_PUSH(&tc->cells, tc->arena) = num_iters;
    tc_call_with(tc, lcf->callbacks[CB_SETUP], args, lcf->callbacks[CB_SETUP]->range);
    tc->cells.count = common_cells;
    if (tc->failed) return;
    if (!num_iters->value.ref || num_iters->value.lanes || num_iters->value.open) {
        TC_ERROR(tc, TC_NUM_ITERS, lcf->callbacks[CB_SETUP]->range, "");
        return;
    }
    Ref go = ir_compare(&tc->b, CMP_GE, num_iters->value.ref, ir_int(&tc->b, EL_I32, 0));
    Op *test = ir_begin(&tc->b, OP_TEST);
    ir_operand(&tc->b, test, go);
    pass_cells(tc, test, body, cells, num_iters);
    ir_end(&tc->b, test, NULL);
    lcf->num_iters = num_iters->value.ref;
    tc->b = ir_builder_inside(&outer, body);
    /* Every warp has its own copy of what common_setup wrote: a role does not see another's changes. */
    const Saved *common = tc_save(tc);
    size_t count = tc->cells.count;
    load_role(tc, lcf);
    tc_restore(tc, common, count);
    if (!tc->failed) compute_role(tc, lcf);
    tc_restore(tc, common, count);
    if (!tc->failed && lcf->stores) store_role(tc, lcf);
    ir_yield(&tc->b, NULL, 0);
    tc->b = outer;
    ir_end(&tc->b, tasks, NULL);
}

void tc_lower_template(Tc *tc, const CNode *node) {
    Lcf lcf = {.node = node, .stores = !strcmp(node->name, "lcsf_kernel")};
    tc_read_descriptor(tc, &lcf);
    if (tc->failed) return;
    tc_make_args_types(tc, &lcf);
    tc->threads = (int)(lcf.consumer_warps + lcf.producer_warps) * 32;
    tc->unit = 4;
    lcf.globals = tc_parameters(tc, lcf.types[OPTION_globals], "globals", "g");
    if (tc->failed) return;
    lcf.input = make_block(tc, &tc->input, "input", lcf.types[OPTION_input], ROLE_LOAD, ROLE_COMPUTE, lcf.stages);
    if (lcf.stores && !tc->failed)
        lcf.output = make_block(tc, &tc->output, "output", lcf.types[OPTION_output], ROLE_COMPUTE, ROLE_STORE,
                                lcf.output_stages);
    if (lcf.types[OPTION_scratch]->field_count && !tc->failed)
        lcf.scratch = tc_place(tc, lcf.types[OPTION_scratch], "scratch", node->range);
    if (lcf.types[OPTION_finish]->field_count && !tc->failed)
        lcf.finish = make_block(tc, &tc->finish, "finish", lcf.types[OPTION_finish], ROLE_COMPUTE, ROLE_COMPUTE, 1);
    if (tc->failed) return;
    tc_wish_warps(tc, (int)lcf.consumer_warps);
    kernel_set(tc->kernel, (Attr){.id = AT_STAGES, .number = lcf.stages});
    if (lcf.blocks > 1) kernel_set(tc->kernel, (Attr){.id = AT_BLOCKS, .number = lcf.blocks});
    lower_tasks(tc, &lcf);
}
