/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_template.h: between the files of a template: its descriptor (tilec_descriptor.c) and its roles and rings
 * (tilec_template.c). */
#ifndef FRONT_TILEC_TILEC_TEMPLATE_H
#define FRONT_TILEC_TILEC_TEMPLATE_H
#include "front/tilec/tilec.h"

/* LCF(name, what it takes) */
#define LCF_OPTIONS(LCF)           \
    LCF(globals, TYPE)             \
    LCF(input, TYPE)               \
    LCF(output, TYPE)              \
    LCF(scratch, TYPE)             \
    LCF(finish, TYPE)              \
    LCF(common, TYPE)              \
    LCF(producer_state, TYPE)      \
    LCF(consumer_state, TYPE)      \
    LCF(consumer_warps, NUMBER)    \
    LCF(producer_warps, NUMBER)    \
    LCF(input_stages, NUMBER)      \
    LCF(output_stages, NUMBER)     \
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

/* Callbacks, in the order of tilec_type.c's argument structs; store is lcsf's. */
enum { CB_SETUP, CB_PRODUCER_SETUP, CB_LOAD, CB_CONSUMER_SETUP, CB_COMPUTE, CB_FINISH, CB_STORE, CB_COUNT };

typedef struct Lcf {
    const CNode *node;
    const CNode *options[OPTION_COUNT];
    const CNode *callbacks[CB_COUNT];
    const TcType *types[OPTION_COUNT];
    bool stores; /* lcsf */
    int64_t consumer_warps, producer_warps, stages, output_stages, producer_arrivals, consumer_arrivals, blocks;
    Object *args[CB_COUNT];
    Object *globals, *common, *producer_state, *consumer_state, *input, *output, *scratch, *finish;
    Ref num_iters;
} Lcf;

/* tilec_descriptor.c */
void tc_read_descriptor(Tc *tc, Lcf *lcf);
void tc_make_args_types(Tc *tc, const Lcf *lcf);
Object *tc_make_args(Tc *tc, Lcf *lcf, int callback); /* of a callback; its numbers are set by the caller */
#endif
