/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_descriptor.c: what lcf_kernel(..) and lcsf_kernel(..) say: types, numbers, callbacks, and the arguments that a
 * callback gets. */
#include "front/tilec/tilec_template.h"

#include <string.h>

static const char *const option_names[] = {
#define LCF(name, kind) #name,
    LCF_OPTIONS(LCF)
#undef LCF
};

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

void tc_read_descriptor(Tc *tc, Lcf *lcf) {
    check_names(tc, lcf->node);
    for (int o = 0; o < OPTION_COUNT; o++) lcf->options[o] = tc_descriptor(lcf->node, option_names[o]);
    for (int o = OPTION_globals; o <= OPTION_consumer_state; o++) lcf->types[o] = type_option(tc, lcf, o);
    lcf->consumer_warps = number_option(tc, lcf, OPTION_consumer_warps, 8, 4, 16);
    lcf->producer_warps = number_option(tc, lcf, OPTION_producer_warps, 4, 1, 4);
    lcf->stages = number_option(tc, lcf, OPTION_input_stages, 1, 1, 16);
    lcf->output_stages = number_option(tc, lcf, OPTION_output_stages, 1, 1, 16);
    lcf->producer_arrivals = number_option(tc, lcf, OPTION_producer_arrivals, lcf->producer_warps, 1, 128);
    lcf->consumer_arrivals = number_option(tc, lcf, OPTION_consumer_arrivals, lcf->consumer_warps, 1, 512);
    lcf->blocks = number_option(tc, lcf, OPTION_blocks_per_sm, 1, 1, 8);
    if (lcf->consumer_warps % 4)
        TC_ERROR(tc, TC_DESCRIPTOR_RANGE, lcf->options[OPTION_consumer_warps]->range,
                 "consumer_warps (in fours: whole warpgroups)", (long long)lcf->consumer_warps, 4LL, 16LL);
    if (lcf->options[OPTION_common_setup])
        lcf->callbacks[CB_SETUP] = function_named(tc, lcf->options[OPTION_common_setup]);
    list_option(tc, lcf, OPTION_producer, (const char *const[]){"setup", "load", "store"},
                (const int[]){CB_PRODUCER_SETUP, CB_LOAD, CB_STORE}, lcf->stores ? 3 : 2);
    list_option(tc, lcf, OPTION_consumer, (const char *const[]){"setup", "compute", "finish"},
                (const int[]){CB_CONSUMER_SETUP, CB_COMPUTE, CB_FINISH}, 3);
    static const struct {
        int callback;
        const char *name;
    } needed[] = {{CB_SETUP, "common_setup"},
                  {CB_LOAD, "producer.load"},
                  {CB_COMPUTE, "consumer.compute"},
                  {CB_STORE, "producer.store"}};
    for (int i = 0; i < (lcf->stores ? 4 : 3) && !tc->failed; i++)
        if (!lcf->callbacks[needed[i].callback]) TC_ERROR(tc, TC_DESCRIPTOR_MISSING, lcf->node->range, needed[i].name);
    if (!tc->failed && !lcf->options[OPTION_globals]) TC_ERROR(tc, TC_DESCRIPTOR_MISSING, lcf->node->range, "globals");
    if (!tc->failed && !lcf->options[OPTION_input]) TC_ERROR(tc, TC_DESCRIPTOR_MISSING, lcf->node->range, "input");
    if (!tc->failed && lcf->stores && !lcf->options[OPTION_output])
        TC_ERROR(tc, TC_DESCRIPTOR_MISSING, lcf->node->range, "output");
    const CNode *output = lcf->options[OPTION_output];
    if (!tc->failed && !lcf->stores && output)
        TC_ERROR(tc, TC_DESCRIPTOR, output->range, "output", "; an output ring needs lcsf_kernel");
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
    HAS_FINISH = 64,
    HAS_OUTPUT = 128,
    HAS_OUTPUTS_ARRIVED = 256,
    HAS_OUTPUTS_FINISHED = 512
};

static const TcType *args_type(Tc *tc, const Lcf *lcf, const char *name, int has) {
    TcField *fields = ARENA_ARRAY(tc->arena, TcField, 16);
    const TcType *i32 = tc_scalar_type(EL_I32);
    int count = 0;
#define ADD(member, member_type) fields[count++] = (TcField){member, member_type, lcf->node->range}
    ADD("common", tc_pointer_to(tc, lcf->types[OPTION_common]));
    ADD("globals", tc_pointer_to(tc, lcf->types[OPTION_globals]));
    if (lcf->types[OPTION_scratch]->field_count) ADD("scratch", tc_pointer_to(tc, lcf->types[OPTION_scratch]));
    ADD("task_iter", i32);
    ADD("num_iters", i32);
    if (has & HAS_PRODUCER) ADD("state", tc_pointer_to(tc, lcf->types[OPTION_producer_state]));
    if (has & HAS_CONSUMER) ADD("state", tc_pointer_to(tc, lcf->types[OPTION_consumer_state]));
    if (has & HAS_INPUT) ADD("input", tc_pointer_to(tc, lcf->types[OPTION_input]));
    if (has & HAS_ARRIVED) ADD("inputs_arrived", &semaphore);
    if (has & HAS_FINISHED) ADD("inputs_finished", &semaphore);
    if (has & HAS_OUTPUT) ADD("output", tc_pointer_to(tc, lcf->types[OPTION_output]));
    if (has & HAS_OUTPUTS_ARRIVED) ADD("outputs_arrived", &semaphore);
    if (has & HAS_OUTPUTS_FINISHED) ADD("outputs_finished", &semaphore);
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
    {"setup_args", 0},
    {"producer_setup_args", HAS_PRODUCER},
    {"load_args", HAS_PRODUCER | HAS_INPUT | HAS_ARRIVED | HAS_ITER},
    {"consumer_setup_args", HAS_CONSUMER},
    {"compute_args", HAS_CONSUMER | HAS_INPUT | HAS_FINISHED | HAS_ITER},
    {"finish_args", HAS_CONSUMER | HAS_FINISH},
    {"store_args", HAS_PRODUCER | HAS_OUTPUT | HAS_OUTPUTS_FINISHED | HAS_ITER},
};

void tc_make_args_types(Tc *tc, const Lcf *lcf) {
    for (int i = 0; i < (lcf->stores ? CB_COUNT : CB_STORE); i++) {
        const char *name = arena_printf(tc->arena, "%s_%s", lcf->stores ? "lcsf" : "lcf", args_kinds[i].name);
        int outputs = lcf->stores && i == CB_COMPUTE ? HAS_OUTPUT | HAS_OUTPUTS_ARRIVED : 0;
        tc->args_types[i] = args_type(tc, lcf, name, args_kinds[i].has | outputs);
    }
}

static void point(Object *args, const char *name, Object *to) {
    Object *part = tc_part(args, name);
    if (part && to) part->target = (Lvalue){.place = to, .type = to->type};
}

/* Fills the arguments of a callback; scalars are set by the caller. */
Object *tc_make_args(Tc *tc, Lcf *lcf, int callback) {
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
    point(args, "output", lcf->output);
    point(args, "scratch", lcf->scratch);
    point(args, "finish", lcf->finish);
    bool producer = callback == CB_PRODUCER_SETUP || callback == CB_LOAD || callback == CB_STORE;
    point(args, "state", producer ? lcf->producer_state : lcf->consumer_state);
    static const char *const semaphores[] = {"inputs_arrived", "inputs_finished", "outputs_arrived",
                                             "outputs_finished", "finish_finished"};
    for (int i = 0; i < SEM_COUNT; i++) {
        Object *part = tc_part(args, semaphores[i]);
        if (part) part->semaphore = i;
    }
    return args;
}
