/* SPDX-License-Identifier: Apache-2.0 */
/* tt_setup.c: which inits and data formats a compute kernel sets, and where.
 *
 * The units of a core share hidden state: a call needs its init to be the last one, and its registers to be set for
 * the formats of its CBs. Every call is built behind a STEP_SETUP that asks for all of it. Here each is reduced to what
 * is not so already, by walking the kernel with what is known at each place:
 *
 *     a loop whose body asks for one init (or one format of a register) only gets it in front;
 *     else its body begins with what may come from its own end, which is not known, and so does what follows it;
 *     behind a branch is known what all of its arms leave.
 *
 * In front of everything stands compute_kernel_hw_startup with the formats that are asked for first. */
#include "target/tenstorrent/tt_emit.h"

typedef struct State {
    TtInit init;           /* UNIT_NONE: not known */
    int format[REG_COUNT]; /* -1: not known */
} State;

/* What a stretch of steps asks for. */
typedef struct Asked {
    TtInit init; /* the first one */
    bool inits_differ;
    int cb[REG_COUNT]; /* the first one, -1: none */
    bool formats_differ[REG_COUNT];
    bool starts_with_matmul;
} Asked;

/* What the register is set to for a CB. An unpacker that writes DST is set up otherwise than one that fills a source
 * register, of the same format. */
int tt_register_format(const Tt *tt, TtRegister reg, int cb) {
    if (cb < 0) return -1;
    const TensixCb *desc = &tt->plan->cbs.at[cb].desc;
    return (int)desc->format * 2 + (reg != REG_PACK && desc->unpack_to_dest);
}

bool tt_same_init(const TtInit *a, const TtInit *b) {
    bool same = a->unit == b->unit && a->spread == b->spread && a->turned == b->turned && a->is_max == b->is_max &&
                a->along_rows == b->along_rows && a->across == b->across && a->down == b->down &&
                a->inner == b->inner && a->call == b->call;
    for (int i = 0; i < 3; i++) same &= a->cb[i] == b->cb[i];
    return same;
}

static void ask(const Tt *tt, const TtBlock *block, Asked *all) {
    for (size_t i = 0; i < block->count; i++) {
        const TtStep *step = &block->at[i];
        ask(tt, &step->body, all);
        if (step->kind == STEP_REDUCE_END) all->inits_differ = true;
        if (step->kind != STEP_SETUP) continue;
        bool is_matmul = step->as.unit == UNIT_MATMUL || step->as.unit == UNIT_MATMUL_BLOCK;
        if (all->cb[REG_SRCA] < 0 && all->cb[REG_SRCB] < 0) all->starts_with_matmul = is_matmul;
        if (all->init.unit == UNIT_NONE)
            all->init = step->as;
        else if (step->as.unit != UNIT_NONE && !tt_same_init(&all->init, &step->as))
            all->inits_differ = true;
        for (int reg = 0; reg < REG_COUNT; reg++) {
            if (all->cb[reg] < 0)
                all->cb[reg] = step->format[reg];
            else if (step->format[reg] >= 0)
                all->formats_differ[reg] |= tt_register_format(tt, (TtRegister)reg, all->cb[reg]) !=
                                            tt_register_format(tt, (TtRegister)reg, step->format[reg]);
        }
    }
}

static Asked asked_by(const Tt *tt, const TtBlock *block) {
    Asked all = {.cb = {-1, -1, -1}};
    ask(tt, block, &all);
    return all;
}

/* Leaves of a wish what is not so; false: nothing. */
static bool reduce_wish(const Tt *tt, TtStep *wish, State *now) {
    bool any = false;
    for (int reg = 0; reg < REG_COUNT; reg++) {
        int format = tt_register_format(tt, (TtRegister)reg, wish->format[reg]);
        if (format == now->format[reg]) wish->format[reg] = -1;
        if (wish->format[reg] >= 0) now->format[reg] = format, any = true;
    }
    if (wish->as.unit != UNIT_NONE && now->init.unit != UNIT_NONE && tt_same_init(&wish->as, &now->init))
        wish->as.unit = UNIT_NONE;
    if (wish->as.unit != UNIT_NONE) now->init = wish->as, any = true;
    return any;
}

static void forget_differing(const Asked *asked, State *now) {
    if (asked->inits_differ) now->init.unit = UNIT_NONE;
    for (int reg = 0; reg < REG_COUNT; reg++)
        if (asked->formats_differ[reg]) now->format[reg] = -1;
}

static void keep_common(State *now, const State *other) {
    if (now->init.unit == UNIT_NONE || !tt_same_init(&now->init, &other->init)) now->init.unit = UNIT_NONE;
    for (int reg = 0; reg < REG_COUNT; reg++)
        if (now->format[reg] != other->format[reg]) now->format[reg] = -1;
}

static TtBlock settle(Tt *tt, const TtBlock *block, State *now) {
    TtBlock out = {0};
    State before_if = *now, arms = *now; /* arms: what those so far leave */
    for (size_t i = 0; i < block->count; i++) {
        TtStep step = block->at[i];
        bool has_else = i + 1 < block->count && block->at[i + 1].kind == STEP_ELSE;
        switch (step.kind) {
        case STEP_SETUP:
            if (!reduce_wish(tt, &step, now)) continue;
            break;
        case STEP_REDUCE_END: now->init.unit = UNIT_NONE; break;
        case STEP_FOR: {
            Asked asked = asked_by(tt, &step.body);
            TtStep front = {.kind = STEP_SETUP, .op = step.op, .as = asked.init, .format = {-1, -1, -1}};
            if (asked.inits_differ) front.as.unit = UNIT_NONE;
            for (int reg = 0; reg < REG_COUNT; reg++)
                if (!asked.formats_differ[reg]) front.format[reg] = asked.cb[reg];
            if (reduce_wish(tt, &front, now)) *VEC_PUSH(&out, tt->arena) = front;
            forget_differing(&asked, now);
            step.body = settle(tt, &step.body, now);
            forget_differing(&asked, now);
            break;
        }
        case STEP_IF:
        case STEP_ELSE:
            if (step.kind == STEP_IF)
                before_if = *now;
            else
                arms = *now, *now = before_if;
            step.body = settle(tt, &step.body, now);
            if (step.kind == STEP_ELSE) keep_common(now, &arms);
            if (step.kind == STEP_IF && !has_else) keep_common(now, &before_if);
            break;
        default: step.body = settle(tt, &step.body, now); break;
        }
        *VEC_PUSH(&out, tt->arena) = step;
    }
    return out;
}

void tt_settle_setup(Tt *tt, TtCode *code) {
    Asked asked = asked_by(tt, &code->body);
    int known = asked.cb[REG_PACK]; /* a register that nothing asks about may be set up for anything */
    State now = {0};
    for (int reg = 0; reg < REG_COUNT; reg++)
        if (asked.cb[reg] >= 0) known = asked.cb[reg];
    for (int reg = 0; reg < REG_COUNT; reg++) {
        if (asked.cb[reg] < 0) asked.cb[reg] = reg == REG_SRCB && asked.cb[REG_SRCA] >= 0 ? asked.cb[REG_SRCA] : known;
        now.format[reg] = tt_register_format(tt, (TtRegister)reg, asked.cb[reg]);
    }
    if (known >= 0) {
        TtStep startup = {.kind = STEP_STARTUP, .reversed = asked.starts_with_matmul};
        for (int reg = 0; reg < REG_COUNT; reg++) startup.format[reg] = asked.cb[reg];
        *VEC_PUSH(&code->start, tt->arena) = startup;
    }
    code->body = settle(tt, &code->body, &now);
}
