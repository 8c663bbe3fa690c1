/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_flow.c: jumps and choices of Tile C that only the run decides.
 *
 *     while (n > 0) { if (a[n] == x) break; n--; s++; }
 *
 * A jump under a run-time condition sets a flag, a number like any other that loops carry and branches join; what
 * follows it stands under `if` of that flag, and a loop goes on while it is not set. There is one flag for the
 * return of the function being inlined, one for the break and one for the continue of the innermost loop or
 * switch. A jump that is sure is no flag: what follows it is not lowered at all (Tc.jump). */
#include "front/tilec/tilec.h"

#include <string.h>

static const char flag_name[] = "jump.flag"; /* no name of C; loops carry what has it (tilec_loop.c) */

static Scalar truth(Tc *tc, bool value) {
    return tc_scalar(tc_scalar_type(EL_I1), ir_int(&tc->b, EL_I1, value), NULL);
}

Object *tc_new_flag(Tc *tc, bool value, Range range) {
    Object *flag = tc_place(tc, tc_scalar_type(EL_I1), flag_name, range);
    flag->value = truth(tc, value);
    return flag;
}

void tc_reset_flag(Tc *tc, enum TcJump jump) {
    if (tc->flags[jump]) tc->flags[jump]->value = truth(tc, false);
}

TcLoopFlags tc_enter_loop(Tc *tc, bool is_switch) {
    TcLoopFlags outer = {tc->flags[JUMP_BREAK], tc->flags[JUMP_CONTINUE]};
    tc->flags[JUMP_BREAK] = tc_new_flag(tc, false, tc->b.range);
    if (!is_switch) tc->flags[JUMP_CONTINUE] = tc_new_flag(tc, false, tc->b.range);
    return outer;
}

void tc_leave_loop(Tc *tc, TcLoopFlags outer) {
    tc->flags[JUMP_BREAK] = outer.stop;
    tc->flags[JUMP_CONTINUE] = outer.skip;
}

void tc_note_jump(Tc *tc) {
    if (tc->jump != JUMP_NONE && tc->flags[tc->jump]) tc->flags[tc->jump]->value = truth(tc, true);
}

bool tc_may_have_jumped(Tc *tc, Scalar *out) {
    Ref dead = REF_NONE;
    for (int j = JUMP_RETURN; j < JUMP_KINDS; j++) {
        int64_t known;
        if (!tc->flags[j]) continue;
        Ref flag = tc->flags[j]->value.ref;
        if (!ir_const_int(tc->kernel, flag, &known))
            dead = dead ? ir_binary(&tc->b, OP_OR, dead, flag) : flag;
        else if (known) {
            tc->jump = (enum TcJump)j;
            return false;
        }
    }
    *out = tc_scalar(tc_scalar_type(EL_I1), dead, NULL);
    return dead != REF_NONE;
}

/* What the flags are on the way where one of those that only the run knows is set, and where none is. */
void tc_settle_flags(Tc *tc, bool jumped) {
    int open[JUMP_KINDS], count = 0;
    for (int j = JUMP_RETURN; j < JUMP_KINDS; j++) {
        int64_t known;
        if (tc->flags[j] && !ir_const_int(tc->kernel, tc->flags[j]->value.ref, &known)) open[count++] = j;
    }
    for (int i = 0; i < count; i++)
        if (!jumped || count == 1) tc->flags[open[i]]->value = truth(tc, jumped);
    if (jumped && count == 1) tc->jump = (enum TcJump)open[0]; /* this way ends in it */
}

void tc_close_ways(Tc *tc, bool jumped) {
    for (size_t i = 0; i < tc->cells.count; i++) {
        Scalar *value = &tc->cells.at[i]->value;
        value->open = (value->open && !jumped) || value->lost;
        value->lost = false;
    }
}

/* ---- two ways ---- */

static bool same_scalar(Scalar a, Scalar b) { return a.ref == b.ref && a.lanes == b.lanes; }

/* Pointers are known here, so both ways must leave them alike. One that was not set before, or is
 * set on one way only, is not set behind. */
static void join_pointers(Tc *tc, Object *cell, const Saved *a, const Saved *b, Range range) {
    if (!a->target.place || !b->target.place)
        cell->target = (Lvalue){0};
    else if (tc_same_target(&a->target, &b->target))
        cell->target = a->target;
    else
        TC_ERROR(tc, TC_POINTER_CHANGES, range, cell->name, "`if`");
}

bool tc_joins_by_itself(Tc *tc, Object *cell, const Saved *a, const Saved *b, Range range) {
    bool pointer = cell->type->kind == TC_POINTER, same = !pointer && same_scalar(a->value, b->value);
    if (pointer) join_pointers(tc, cell, a, b, range);
    if (same) {
        cell->value = a->value;
        cell->value.open = a->value.open || b->value.open;
        cell->value.lost = a->value.lost || b->value.lost;
    }
    return pointer || same;
}

/* At the end of a way: it was not written there, or not before the jump that ends it. */
static bool nobody_reads(Scalar s, enum TcJump jump) { return !s.ref || s.open || (s.lost && jump); }

void tc_choose(Tc *tc, Ref condition, TcSide *way, void *user, Range range) {
    Op *op = ir_begin(&tc->b, OP_IF);
    ir_operand(&tc->b, op, condition);
    Builder outer = tc->b, inner[2];
    size_t count = tc->cells.count;
    Saved *before = tc_save(tc), *after[2];
    enum TcJump jumps[2];
    for (int side = 0; side < 2; side++) {
        tc->b = ir_builder_inside(&outer, ir_region(&outer, op));
        tc_restore(tc, before, count);
        way(tc, side, user);
        tc_note_jump(tc);
        jumps[side] = tc->jump;
        tc->jump = JUMP_NONE;
        tc->cells.count = count;
        after[side] = tc_save(tc);
        inner[side] = tc->b;
    }
    tc->b = outer;
    tc_restore(tc, before, count);
    int results = 0;
    bool *open = ARENA_ARRAY(tc->arena, bool, count), *lost = ARENA_ARRAY(tc->arena, bool, count);
    Ref *values[2] = {ARENA_ARRAY(tc->arena, Ref, count), ARENA_ARRAY(tc->arena, Ref, count)};
    const Type **types = ARENA_ARRAY(tc->arena, const Type *, count);
    Object **places = ARENA_ARRAY(tc->arena, Object *, count);
    for (size_t i = 0; i < count; i++) {
        if (tc_joins_by_itself(tc, tc->cells.at[i], &after[0][i], &after[1][i], range)) continue;
        Scalar a = after[0][i].value, b = after[1][i].value;
        bool none[2] = {nobody_reads(a, jumps[0]), nobody_reads(b, jumps[1])};
        bool alike = a.lanes == b.lanes || none[0] || none[1];
        places[results] = tc->cells.at[i];
        types[results] = ty_scalar(tc->module, a.type->elem);
        for (int side = 0; side < 2; side++) {
            Scalar value = after[side][i].value;
            tc->b = inner[side];
            Ref ref = alike ? REF_NONE : tc_uniform(tc, value, range);
            values[side][results] = ref ? ref : tc_ref_or_zero(tc, value);
            inner[side] = tc->b;
        }
        tc->b = outer;
        /* Unlike ones have become numbers of the workers. */
        tc->cells.at[i]->value.lanes = !alike ? NULL : none[0] ? b.lanes : a.lanes;
        /* On a way that jumped nobody reads it, until the ways meet again (tc_close_ways). */
        bool unset[2] = {!a.ref || a.open, !b.ref || b.open};
        lost[results] = a.lost || b.lost || (unset[0] && jumps[0]) || (unset[1] && jumps[1]);
        open[results++] = (unset[0] && !jumps[0]) || (unset[1] && !jumps[1]);
    }
    for (int side = 0; side < 2; side++) ir_yield(&inner[side], values[side], results);
    ir_end_results(&tc->b, op, results, types);
    for (int i = 0; i < results; i++) {
        places[i]->value.ref = op->results[i];
        places[i]->value.open = open[i];
        places[i]->value.lost = lost[i];
        ir_name(tc->kernel, op->results[i], places[i]->name);
    }
    if (jumps[0] == jumps[1]) tc->jump = jumps[0];
}

/* ---- switch ---- */

typedef struct Label {
    uint32_t place; /* of the statement that it stands before */
    bool is_default;
    int64_t value;
} Label;

typedef struct Switch {
    VEC(CNode *) statements;
    VEC(Label) labels;
    Object *inside; /* falls into the next statement */
    uint32_t first, end;
} Switch;

/* The statements of the body and the labels before them; false after an error. */
static bool read_switch(Tc *tc, const CNode *body, Switch *out) {
    if (body->kind != C_BLOCK) {
        TC_ERROR(tc, TC_UNSUPPORTED, body->range, "a `switch` without a block", "write switch (x) { case 0: .. }");
        return false;
    }
    for (uint32_t i = 0; i < body->count; i++) {
        CNode *node = body->kids[i];
        while (node && (node->kind == C_CASE || node->kind == C_DEFAULT)) {
            Label label = {.place = (uint32_t)out->statements.count, .is_default = node->kind == C_DEFAULT};
            if (!label.is_default && !tc_constant(tc, node->kids[0], &label.value, "a case")) return false;
            for (size_t l = 0; l < out->labels.count; l++)
                if (out->labels.at[l].is_default == label.is_default && out->labels.at[l].value == label.value) {
                    TC_ERROR(tc, TC_UNSUPPORTED, node->range, "the same `case` twice", "remove one");
                    return false;
                }
            *VEC_PUSH(&out->labels, tc->arena) = label;
            node = node->kids[node->count - 1];
        }
        if (node) *VEC_PUSH(&out->statements, tc->arena) = node;
    }
    return true;
}

static Scalar matches(Tc *tc, const Switch *s, Scalar value, uint32_t place, Range range) {
    Scalar any = truth(tc, false), listed = any;
    bool is_default = false;
    for (size_t l = 0; l < s->labels.count; l++) {
        const Label *label = &s->labels.at[l];
        bool here = label->place == place;
        is_default = is_default || (here && label->is_default);
        if (label->is_default) continue;
        Scalar equal = tc_binary(tc, CT_EQ, value, tc_int(tc, label->value), range);
        listed = tc_binary(tc, CT_PIPE, listed, equal, range);
        if (here) any = tc_binary(tc, CT_PIPE, any, equal, range);
    }
    if (is_default)
        any = tc_binary(tc, CT_PIPE, any, tc_binary(tc, CT_EQ, listed, tc_int(tc, 0), range), range);
    return tc_truth(tc, any, range);
}

static void run_case(Tc *tc, int side, void *user) {
    Switch *s = user;
    if (side) return;
    tc_list(tc, s->statements.at + s->first, s->end - s->first, false);
    if (tc->jump == JUMP_NONE) s->inside->value = truth(tc, true);
}

void tc_switch(Tc *tc, const CNode *node) {
    Switch s = {0};
    Scalar value;
    int64_t constant;
    if (!tc_number(tc, node->kids[0], &value) || !read_switch(tc, node->kids[1], &s)) return;
    if (elem_is_float(value.type->elem)) {
        TC_ERROR(tc, TC_INTEGERS_ONLY, node->kids[0]->range, "switch");
        return;
    }
    size_t scope = tc_open_scope(tc), cells = tc->cells.count;
    TcLoopFlags outer = tc_enter_loop(tc, true);
    if (tc_is_constant(tc, value, &constant)) {
        const Label *found = NULL;
        for (size_t l = 0; l < s.labels.count; l++)
            if (!s.labels.at[l].is_default && s.labels.at[l].value == constant) found = &s.labels.at[l];
        for (size_t l = 0; !found && l < s.labels.count; l++)
            if (s.labels.at[l].is_default) found = &s.labels.at[l];
        if (found)
            tc_list(tc, s.statements.at + found->place, (uint32_t)s.statements.count - found->place, false);
    } else {
        value.ref = tc_uniform(tc, value, node->kids[0]->range);
        value.lanes = NULL;
        s.inside = tc_new_flag(tc, false, node->range);
        for (size_t l = 0; l < s.labels.count && value.ref && tc->jump == JUMP_NONE && !tc->failed; l++) {
            s.first = s.labels.at[l].place;
            if (l && s.labels.at[l - 1].place == s.first) continue;
            s.end = (uint32_t)s.statements.count;
            for (size_t n = l + 1; n < s.labels.count; n++)
                if (s.labels.at[n].place > s.first && s.labels.at[n].place < s.end) s.end = s.labels.at[n].place;
            Scalar enters = matches(tc, &s, value, s.first, node->range), dead;
            enters = tc_truth(tc, tc_binary(tc, CT_PIPE, enters, s.inside->value, node->range), node->range);
            if (tc_may_have_jumped(tc, &dead)) {
                Scalar alive = tc_binary(tc, CT_EQ, dead, tc_int(tc, 0), node->range);
                enters = tc_truth(tc, tc_binary(tc, CT_AMP, enters, alive, node->range), node->range);
            }
            if (tc->jump == JUMP_NONE) tc_choose(tc, enters.ref, run_case, &s, node->range);
        }
    }
    if (tc->jump == JUMP_BREAK) tc->jump = JUMP_NONE;
    tc_close_ways(tc, false);
    tc_leave_loop(tc, outer);
    tc->cells.count = cells;
    tc_close_scope(tc, scope);
}
