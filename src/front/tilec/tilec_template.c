/* tilec_template.c: lcf_kernel(name, .globals = .., ..): load, compute, finish as roles and rings.
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
#include "front/tilec/tilec.h"

#include <string.h>

const char *const tilec_templates[] = {"lcf_kernel", "lcsf_kernel", NULL};

/* LCF(name, what it takes) */
#define LCF_OPTIONS(LCF)           \
    LCF(globals, TYPE)             \
    LCF(input, TYPE)               \
    LCF(finish, TYPE)              \
    LCF(common, TYPE)              \
    LCF(producer_state, TYPE)      \
    LCF(consumer_state, TYPE)      \
    LCF(consumer_warps, NUMBER)    \
    LCF(producer_warps, NUMBER)    \
    LCF(input_stages, NUMBER)      \
    LCF(producer_arrivals, NUMBER) \
    LCF(consumer_arrivals, NUMBER) \
    LCF(blocks_per_sm, NUMBER)     \
    LCF(common_setup, FUNCTION)    \
    LCF(producer, LIST)            \
    LCF(consumer, LIST)

enum {
#define LCF(name, kind) OPTION_##name,
    LCF_OPTIONS(LCF)
#undef LCF
        OPTION_COUNT
};
static const char *const option_names[] = {
#define LCF(name, kind) #name,
    LCF_OPTIONS(LCF)
#undef LCF
};

/* Callbacks, in the order of tilec_type.c's argument structs. */
enum { CB_SETUP, CB_PRODUCER_SETUP, CB_LOAD, CB_CONSUMER_SETUP, CB_COMPUTE, CB_FINISH, CB_COUNT };

typedef struct Lcf {
    const CNode *node;
    const CNode *options[OPTION_COUNT];
    const CNode *callbacks[CB_COUNT];
    const TcType *types[OPTION_COUNT];
    int64_t consumer_warps, producer_warps, stages, producer_arrivals, consumer_arrivals;
    Object *args[CB_COUNT];
    Object *globals, *common, *producer_state, *consumer_state, *input, *finish;
    Ref num_iters;
} Lcf;

const CNode *tc_descriptor(const CNode *node, const char *name) {
    for (uint32_t i = 1; i < node->count; i++)
        if (node->kids[i]->kind == C_DESIGNATED && node->kids[i]->name && !strcmp(node->kids[i]->name, name))
            return node->kids[i]->kids[1];
    return NULL;
}

/* ---- the descriptor ---- */

static void check_names(Tc *tc, const CNode *node) {
    for (uint32_t i = 1; i < node->count; i++) {
        const CNode *kid = node->kids[i];
        bool known = false;
        for (int o = 0; kid->kind == C_DESIGNATED && kid->name && o < OPTION_COUNT; o++)
            known = known || !strcmp(option_names[o], kid->name);
        if (!known)
            TC_ERROR(tc, TC_DESCRIPTOR, kid->range, kid->name ? kid->name : "this",
                     kid->name ? tc_near(tc, kid->name, option_names, OPTION_COUNT) : "");
    }
}

static int64_t number_option(Tc *tc, const Lcf *lcf, int option, int64_t otherwise, int64_t least, int64_t most) {
    int64_t value = otherwise;
    const CNode *node = lcf->options[option];
    if (!node) return otherwise;
    if (!tc_constant(tc, node, &value, "a number of the descriptor")) return otherwise;
    if (value >= least && value <= most) return value;
    TC_ERROR(tc, TC_DESCRIPTOR_RANGE, node->range, option_names[option], (long long)value, (long long)least,
             (long long)most);
    return otherwise;
}

static const CNode *function_named(Tc *tc, const CNode *node) {
    const Symbol *symbol = node->kind == C_IDENT ? tc_find(tc, node->name) : NULL;
    if (symbol && symbol->kind == SYMBOL_FUNCTION) return symbol->node;
    TC_ERROR(tc, TC_DESCRIPTOR_FUNCTION, node->range, "");
    return NULL;
}

/* `{setup, load}` or `{.setup = .., .load = ..}` */
static void list_option(Tc *tc, Lcf *lcf, int option, const char *const *names, const int *callbacks, int count) {
    const CNode *list = lcf->options[option];
    if (!list) return;
    if (list->kind != C_INITIALIZER) {
        TC_ERROR(tc, TC_DESCRIPTOR_FUNCTION, list->range, "");
        return;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        const CNode *kid = list->kids[i];
        int at = (int)i;
        if (kid->kind == C_DESIGNATED)
            for (at = 0; at < count && (!kid->name || strcmp(names[at], kid->name) != 0);) at++;
        if (at >= count) {
            const char *wrong = kid->kind == C_DESIGNATED && kid->name ? kid->name : "this callback";
            TC_ERROR(tc, TC_DESCRIPTOR, kid->range, wrong, tc_near(tc, wrong, names, (size_t)count));
            continue;
        }
        lcf->callbacks[callbacks[at]] = function_named(tc, kid->kind == C_DESIGNATED ? kid->kids[1] : kid);
    }
}

static const TcType *type_option(Tc *tc, const Lcf *lcf, int option) {
    static const TcType empty = {.kind = TC_STRUCT, .name = "struct (none)"};
    const CNode *node = lcf->options[option];
    if (!node) return &empty;
    bool is_type = node->kind >= C_TYPE_NAME && node->kind <= C_TYPE_ARRAY;
    const TcType *type = is_type ? tc_type(tc, node) : NULL;
    if (type && type->kind == TC_STRUCT) return type;
    if (!is_type || type) TC_ERROR(tc, TC_DESCRIPTOR_TYPE, node->range, option_names[option]);
    return &empty;
}

static void read_descriptor(Tc *tc, Lcf *lcf) {
    check_names(tc, lcf->node);
    for (int o = 0; o < OPTION_COUNT; o++) lcf->options[o] = tc_descriptor(lcf->node, option_names[o]);
    for (int o = OPTION_globals; o <= OPTION_consumer_state; o++) lcf->types[o] = type_option(tc, lcf, o);
    lcf->consumer_warps = number_option(tc, lcf, OPTION_consumer_warps, 8, 4, 16);
    lcf->producer_warps = number_option(tc, lcf, OPTION_producer_warps, 4, 1, 4);
    lcf->stages = number_option(tc, lcf, OPTION_input_stages, 1, 1, 16);
    lcf->producer_arrivals = number_option(tc, lcf, OPTION_producer_arrivals, lcf->producer_warps, 1, 128);
    lcf->consumer_arrivals = number_option(tc, lcf, OPTION_consumer_arrivals, lcf->consumer_warps, 1, 512);
    number_option(tc, lcf, OPTION_blocks_per_sm, 1, 1, 8);
    if (lcf->consumer_warps % 4)
        TC_ERROR(tc, TC_DESCRIPTOR_RANGE, lcf->options[OPTION_consumer_warps]->range,
                 "consumer_warps (in fours: whole warpgroups)", (long long)lcf->consumer_warps, 4LL, 16LL);
    if (lcf->options[OPTION_common_setup])
        lcf->callbacks[CB_SETUP] = function_named(tc, lcf->options[OPTION_common_setup]);
    list_option(tc, lcf, OPTION_producer, (const char *const[]){"setup", "load"},
                (const int[]){CB_PRODUCER_SETUP, CB_LOAD}, 2);
    list_option(tc, lcf, OPTION_consumer, (const char *const[]){"setup", "compute", "finish"},
                (const int[]){CB_CONSUMER_SETUP, CB_COMPUTE, CB_FINISH}, 3);
    static const struct {
        int callback;
        const char *name;
    } needed[] = {{CB_SETUP, "common_setup"}, {CB_LOAD, "producer.load"}, {CB_COMPUTE, "consumer.compute"}};
    for (int i = 0; i < 3 && !tc->failed; i++)
        if (!lcf->callbacks[needed[i].callback]) TC_ERROR(tc, TC_DESCRIPTOR_MISSING, lcf->node->range, needed[i].name);
    if (!tc->failed && !lcf->options[OPTION_globals]) TC_ERROR(tc, TC_DESCRIPTOR_MISSING, lcf->node->range, "globals");
    if (!tc->failed && !lcf->options[OPTION_input]) TC_ERROR(tc, TC_DESCRIPTOR_MISSING, lcf->node->range, "input");
}

/* ---- argument structs ---- */

static const TcType semaphore = {.kind = TC_SEMAPHORE, .name = "semaphore"};

/* The struct of a callback's arguments: which members it has, as a mask. */
enum {
    HAS_PRODUCER = 1,
    HAS_CONSUMER = 2,
    HAS_INPUT = 4,
    HAS_ARRIVED = 8,
    HAS_FINISHED = 16,
    HAS_ITER = 32,
    HAS_FINISH = 64
};

static const TcType *args_type(Tc *tc, const Lcf *lcf, const char *name, int has) {
    TcField *fields = ARENA_ARRAY(tc->arena, TcField, 12);
    const TcType *i32 = tc_scalar_type(EL_I32);
    int count = 0;
#define ADD(member, member_type) fields[count++] = (TcField){member, member_type, lcf->node->range}
    ADD("common", tc_pointer_to(tc, lcf->types[OPTION_common]));
    ADD("globals", tc_pointer_to(tc, lcf->types[OPTION_globals]));
    ADD("task_iter", i32);
    ADD("num_iters", i32);
    if (has & HAS_PRODUCER) ADD("state", tc_pointer_to(tc, lcf->types[OPTION_producer_state]));
    if (has & HAS_CONSUMER) ADD("state", tc_pointer_to(tc, lcf->types[OPTION_consumer_state]));
    if (has & HAS_INPUT) ADD("input", tc_pointer_to(tc, lcf->types[OPTION_input]));
    if (has & HAS_ARRIVED) ADD("inputs_arrived", &semaphore);
    if (has & HAS_FINISHED) ADD("inputs_finished", &semaphore);
    if (has & HAS_ITER) ADD("iter", i32);
    if (has & HAS_FINISH) ADD("finish", tc_pointer_to(tc, lcf->types[OPTION_finish]));
    if (has & HAS_FINISH) ADD("finish_finished", &semaphore);
#undef ADD
    TcType *type = ARENA_NEW(tc->arena, TcType);
    *type = (TcType){.kind = TC_STRUCT, .name = name, .fields = fields, .field_count = count};
    return type;
}

static const struct {
    const char *name;
    int has;
} args_kinds[CB_COUNT] = {
    {"lcf_setup_args", 0},
    {"lcf_producer_setup_args", HAS_PRODUCER},
    {"lcf_load_args", HAS_PRODUCER | HAS_INPUT | HAS_ARRIVED | HAS_ITER},
    {"lcf_consumer_setup_args", HAS_CONSUMER},
    {"lcf_compute_args", HAS_CONSUMER | HAS_INPUT | HAS_FINISHED | HAS_ITER},
    {"lcf_finish_args", HAS_CONSUMER | HAS_FINISH},
};

static void point(Object *args, const char *name, Object *to) {
    Object *part = tc_part(args, name);
    if (part && to) part->target = (Lvalue){.place = to, .type = to->type};
}

/* Fills the arguments of a callback; scalars are set by the caller. */
static Object *make_args(Tc *tc, Lcf *lcf, int callback) {
    size_t cells = tc->cells.count;
    const TcType *type = tc->args_types[callback];
    Object *args = ARENA_NEW(tc->arena, Object);
    *args = (Object){.type = type, .name = "args", .semaphore = -1};
    args->parts = ARENA_ARRAY(tc->arena, Object *, type->field_count);
    for (int i = 0; i < type->field_count; i++) {
        Object *part = ARENA_NEW(tc->arena, Object);
        *part = (Object){.type = type->fields[i].type, .name = type->fields[i].name, .semaphore = -1};
        part->value.type = part->type;
        part->locked = "the template sets it";
        args->parts[i] = part;
    }
    tc->cells.count = cells;
    point(args, "common", lcf->common);
    point(args, "globals", lcf->globals);
    point(args, "input", lcf->input);
    point(args, "finish", lcf->finish);
    bool producer = callback == CB_PRODUCER_SETUP || callback == CB_LOAD;
    point(args, "state", producer ? lcf->producer_state : lcf->consumer_state);
    static const char *const semaphores[] = {"inputs_arrived", "inputs_finished", "finish_finished"};
    for (int i = 0; i < SEM_COUNT; i++) {
        Object *part = tc_part(args, semaphores[i]);
        if (part) part->semaphore = i;
    }
    return args;
}

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
    extent[rank++] = type->rows;
    extent[rank++] = type->cols;
    for (int d = 0; d < rank; d++) elements *= extent[d];
    if (elements > MAX_TILE_ELEMENTS) {
        TC_ERROR(tc, TC_TILE_LARGE, range, (long long)elements / extent[rank - 1], (long long)extent[rank - 1]);
        return NULL;
    }
    return ty_tile(tc->module, type->elem, rank, extent);
}

/* The ring of a block and the place that names its fields. */
static Object *make_block(Tc *tc, Block *block, const char *what, const TcType *type, Word from, Word to,
                          int64_t slots) {
    Field *fields = ARENA_ARRAY(tc->arena, Field, type->field_count);
    Object *place = ARENA_NEW(tc->arena, Object);
    *place = (Object){.type = type, .name = what, .semaphore = -1};
    place->parts = ARENA_ARRAY(tc->arena, Object *, type->field_count);
    for (int i = 0; i < type->field_count; i++) {
        const TcField *field = &type->fields[i];
        fields[i] = (Field){field->name, block_field_type(tc, field->type, field->range)};
        if (!fields[i].type) return NULL;
        Object *part = ARENA_NEW(tc->arena, Object);
        *part = (Object){.type = field->type, .name = field->name, .semaphore = -1, .block = block, .field = i};
        place->parts[i] = part;
    }
    Op *op = ir_begin(&tc->b, OP_RING);
    op_set(tc->kernel, op, (Attr){.id = AT_PRODUCER, .word = from});
    op_set(tc->kernel, op, (Attr){.id = AT_CONSUMER, .word = to});
    op_set(tc->kernel, op, (Attr){.id = AT_SLOTS, .number = slots});
    *block = (Block){.what = what, .ring = ir_end(&tc->b, op, ty_ring(tc->module, type->field_count, fields))};
    ir_name(tc->kernel, block->ring, what);
    return place;
}

/* ---- callbacks ---- */

static void call(Tc *tc, Lcf *lcf, int callback, Ref iter) {
    Object *args = make_args(tc, lcf, callback);
    set_number(tc, args, "num_iters", lcf->num_iters);
    set_number(tc, args, "iter", iter);
    if (!tc->failed) tc_call_with(tc, lcf->callbacks[callback], args, lcf->callbacks[callback]->range);
}

static void load_item(Tc *tc, Scalar iter, void *user) {
    Lcf *lcf = user;
    Range range = lcf->callbacks[CB_LOAD]->range;
    tc->input.slot = tc_hand_over(tc, OP_ACQUIRE, tc->input.ring, REF_NONE);
    tc->input.can_put = true;
    tc_begin_semaphore(tc, SEM_INPUTS_ARRIVED, lcf->producer_arrivals, NULL);
    call(tc, lcf, CB_LOAD, iter.ref);
    tc_end_semaphore(tc, SEM_INPUTS_ARRIVED, range);
    tc->input.can_put = false;
    tc_hand_over(tc, OP_COMMIT, tc->input.ring, tc->input.slot);
}

static void release_input(Tc *tc, Range range) {
    if (tc->input.reading > tc->mma_waited)
        TC_ERROR(tc, TC_RELEASE_EARLY, range, "inputs_finished",
                 "a product still reads the input block; add warpgroup_mma_wait(0) before it");
    tc->input.can_get = false;
    tc_hand_over(tc, OP_RELEASE, tc->input.ring, tc->input.slot);
}

static void compute_item(Tc *tc, Scalar iter, void *user) {
    Lcf *lcf = user;
    tc->input.slot = tc_hand_over(tc, OP_WAIT, tc->input.ring, REF_NONE);
    tc->input.can_get = true;
    tc_begin_semaphore(tc, SEM_INPUTS_FINISHED, lcf->consumer_arrivals, release_input);
    call(tc, lcf, CB_COMPUTE, iter.ref);
    tc_end_semaphore(tc, SEM_INPUTS_FINISHED, lcf->callbacks[CB_COMPUTE]->range);
    tc->input.can_get = false;
}

static void release_finish(Tc *tc, Range range) {
    Block *block = &tc->finish;
    if (block->stores_pending)
        TC_ERROR(tc, TC_RELEASE_EARLY, range, "finish_finished",
                 "a store still reads the finish block; add tma_store_async_read_wait() before it");
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

static void compute_body(Tc *tc, Lcf *lcf) {
    lcf->consumer_state = tc_place(tc, lcf->types[OPTION_consumer_state], "consumer_state", lcf->node->range);
    if (lcf->callbacks[CB_CONSUMER_SETUP]) call(tc, lcf, CB_CONSUMER_SETUP, REF_NONE);
    item_loop(tc, lcf, CB_COMPUTE, compute_item);
    if (!lcf->callbacks[CB_FINISH] || tc->failed) return;
    tc_begin_semaphore(tc, SEM_FINISH_FINISHED, lcf->consumer_warps, release_finish);
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
    Object *args = make_args(tc, lcf, CB_SETUP), *num_iters = tc_part(args, "num_iters");
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
    ir_yield(&tc->b, NULL, 0);
    tc->b = outer;
    ir_end(&tc->b, tasks, NULL);
}

void tc_lower_template(Tc *tc, const CNode *node) {
    Lcf lcf = {.node = node};
    if (strcmp(node->name, "lcf_kernel") != 0) {
        TC_ERROR(tc, TC_UNSUPPORTED, node->range, "the lcsf template", "use lcf_kernel and store in finish");
        return;
    }
    read_descriptor(tc, &lcf);
    if (tc->failed) return;
    for (int i = 0; i < CB_COUNT; i++) tc->args_types[i] = args_type(tc, &lcf, args_kinds[i].name, args_kinds[i].has);
    tc->threads = (int)(lcf.consumer_warps + lcf.producer_warps) * 32;
    tc->unit = 4;
    lcf.globals = tc_parameters(tc, lcf.types[OPTION_globals], "globals", "g");
    if (tc->failed) return;
    lcf.input = make_block(tc, &tc->input, "input", lcf.types[OPTION_input], ROLE_LOAD, ROLE_COMPUTE, lcf.stages);
    if (lcf.types[OPTION_finish]->field_count && !tc->failed)
        lcf.finish = make_block(tc, &tc->finish, "finish", lcf.types[OPTION_finish], ROLE_COMPUTE, ROLE_COMPUTE, 1);
    if (tc->failed) return;
    tc_wish_warps(tc, (int)lcf.consumer_warps);
    kernel_set(tc->kernel, (Attr){.id = AT_STAGES, .number = lcf.stages});
    lower_tasks(tc, &lcf);
}
