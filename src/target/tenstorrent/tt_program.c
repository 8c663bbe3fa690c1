/* SPDX-License-Identifier: Apache-2.0 */
/* tt_program.c: how a role adds steps to its kernel; see tt_program.h. */
#include "target/tenstorrent/tt_emit.h"

static TtBlock *block_now(Role *role) {
    return role->open.count ? &VEC_LAST(&role->open).body : &role->tt->code[role->kernel].body;
}

/* What it names is declared where it is named first. */
static void declare_names(Role *role, const TtStep *step) {
    switch (step->kind) {
    case STEP_MATMUL:
    case STEP_REDUCE:
        role_cb(role, step->cb);
        role_cb(role, step->cb2);
        break;
    case STEP_CALL:
        if (step->row->form != TAKES_FPU) break;
        role_cb(role, step->cb);
        role_cb(role, step->cb2);
        break;
    case STEP_CB:
    case STEP_POINTER:
    case STEP_MAKE_PAGE:
    case STEP_SCALER:
    case STEP_MOVE:
    case STEP_PACK: role_cb(role, step->cb); break;
    case STEP_READ:
    case STEP_READ_ROWS:
        role_accessor(role, step->buffer);
        role_fill(role, step->buffer);
        break;
    case STEP_COPY:
        role_cb(role, step->cb);
        role_cb(role, step->cb2);
        break;
    case STEP_SHARE: role_cb(role, step->cb); /* fallthrough */
    case STEP_ASK:
    case STEP_SHOW:
    case STEP_TAKE: role_share(role, role->tt->plan->cbs.at[step->cb].share); break;
    case STEP_WRITE: role_accessor(role, step->buffer); break;
    default: break;
    }
}

void role_step(Role *role, TtStep step) {
    step.op = role->op;
    declare_names(role, &step);
    *VEC_PUSH(block_now(role), role->tt->arena) = step;
}

void role_open(Role *role, TtStep step) {
    step.op = role->op;
    declare_names(role, &step);
    *VEC_PUSH(&role->open, role->tt->arena) = step;
}

void role_close(Role *role) {
    TtStep step = VEC_LAST(&role->open);
    role->open.count--;
    *VEC_PUSH(block_now(role), role->tt->arena) = step;
}

static const char *format_text(Role *role, const char *format, va_list args) {
    return arena_vprintf(role->tt->arena, format, args);
}

void role_line(Role *role, const char *format, ...) {
    va_list args;
    va_start(args, format);
    role_step(role, (TtStep){.kind = STEP_LINE, .text = format_text(role, format, args)});
    va_end(args);
}

void role_open_text(Role *role, TtStepKind kind, const char *format, ...) {
    va_list args;
    va_start(args, format);
    role_open(role, (TtStep){.kind = kind, .text = format_text(role, format, args)});
    va_end(args);
}

void role_place(Role *role, Range range) { role_step(role, (TtStep){.kind = STEP_PLACE, .range = range}); }
void role_hand(Role *role, TtHand hand, int cb) { role_step(role, (TtStep){.kind = STEP_CB, .hand = hand, .cb = cb}); }

void role_open_count(Role *role, const char *name, int64_t end, int step) {
    Arena *arena = role->tt->arena;
    const char *next = step == 1 ? arena_printf(arena, "++%s", name) : arena_printf(arena, "%s += %d", name, step);
    role_open(role, (TtStep){.kind = STEP_FOR,
                             .text = arena_printf(arena, "u32 %s = 0; %s < %lld; %s", name, name, (long long)end, next),
                             .trips = (uint32_t)((end + step - 1) / step)});
}
