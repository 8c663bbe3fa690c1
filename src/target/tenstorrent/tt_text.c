/* SPDX-License-Identifier: Apache-2.0 */
/* tt_text.c: a kernel of typed calls (tt_program.h) as C++: one call a line. */
#include "target/tenstorrent/tt_emit.h"

static void put_block(Role *role, const TtBlock *block);

static const char *cb_of(Role *role, int cb) { return role_cb(role, cb); }
static uint32_t page_bytes(const Role *role, int buffer) {
    return tt_page_bytes(&role->tt->plan->buffers.at[buffer]);
}
static bool is_sharded(const Role *role, int buffer) {
    return role->tt->plan->buffers.at[buffer].shards.cut != TW_WHOLE;
}
static const char *word_of(uint32_t bytes) { return bytes == PAGE_ELEMENTS * 4 ? "u32" : "u16"; }

/* ------------------------------------------------------------------------------------------- what is set up */

static const char *const spreads[] = {"NONE", "COL", "ROW", "SCALAR"};

static const char *reduce_kind(Role *role, const TtInit *as) {
    return arena_printf(role->tt->arena, "<PoolType::%s, ReduceDim::%s>", as->is_max ? "MAX" : "SUM",
                        as->along_rows ? "REDUCE_ROW" : "REDUCE_COL");
}

/* $a $b are CBs, $i $j the page, $0 $1 $2 and $d slots, $n the number: tt_ops.def. */
static const char *fill_in(Role *role, const char *pattern, const TtStep *step, int a, int b) {
    Text t = text_new(role->tt->arena);
    for (const char *p = pattern; *p; p++) {
        if (*p != '$') {
            text_add_char(&t, *p);
            continue;
        }
        switch (*++p) {
        case 'a': text_add(&t, "%s", cb_of(role, a)); break;
        case 'b': text_add(&t, "%s", cb_of(role, b)); break;
        case 'd': text_add(&t, "%d", step->slot); break;
        case 'n': text_add(&t, "%s", step->number); break;
        case 'i':
        case 'j': text_add(&t, "%s", step->page); break;
        default: text_add(&t, "%d", step->in[*p - '0']);
        }
    }
    return t.at;
}

static void put_init(Role *role, const TtStep *step) {
    CPrinter *p = &role->p;
    const TtInit *as = &step->as;
    switch (as->unit) {
    case UNIT_NONE: return;
    case UNIT_COPY: cs_line(p, "copy_tile_init(%s);", cb_of(role, as->cb[0])); return;
    case UNIT_TURN: cs_line(p, "transpose_init(%s);", cb_of(role, as->cb[0])); return;
    case UNIT_SPREAD:
        cs_line(p, "unary_bcast_init<BroadcastType::%s>(%s);", spreads[as->spread], cb_of(role, as->cb[0]));
        return;
    case UNIT_MATMUL:
        cs_line(p, "matmul_init(%s, %s%s);", cb_of(role, as->cb[0]), cb_of(role, as->cb[1]), as->turned ? ", 1" : "");
        return;
    case UNIT_MATMUL_BLOCK:
        cs_line(p, "matmul_block_init(%s, %s, 0, %d, %d, %d);", cb_of(role, as->cb[0]), cb_of(role, as->cb[1]),
                as->across, as->down, as->inner);
        return;
    case UNIT_REDUCE:
        cs_line(p, "reduce_init%s(%s, %s, %s);", reduce_kind(role, as), cb_of(role, as->cb[0]), cb_of(role, as->cb[1]),
                cb_of(role, as->cb[2]));
        return;
    case UNIT_FILL: cs_line(p, "fill_tile_init();"); return;
    case UNIT_CALL:
        cs_line(p, "%s;", fill_in(role, call_row_at(as->call)->init, step, as->cb[0], as->cb[1]));
        return;
    }
}

static void put_setup(Role *role, const TtStep *step) {
    static const char *const calls[] = {"reconfig_data_format_srca", "reconfig_data_format_srcb",
                                        "pack_reconfig_data_format"};
    for (int i = 0; i < REG_COUNT; i++) {
        int reg = i < REG_PACK && step->reversed ? REG_SRCB - i : i;
        if (step->format[reg] >= 0) cs_line(&role->p, "%s(%s);", calls[reg], cb_of(role, step->format[reg]));
    }
    put_init(role, step);
}

static void put_startup(Role *role, const TtStep *step) {
    int first = step->reversed ? REG_SRCB : REG_SRCA;
    cs_line(&role->p, "compute_kernel_hw_startup%s(%s, %s, %s);", step->reversed ? "<SrcOrder::Reverse>" : "",
            cb_of(role, step->format[first]), cb_of(role, step->format[REG_SRCB - first]),
            cb_of(role, step->format[REG_PACK]));
}

/* --------------------------------------------------------------------------------------------------- compute */

static void put_move(Role *role, const TtStep *step) {
    const char *cb = cb_of(role, step->cb);
    if (step->as.unit == UNIT_SPREAD)
        cs_line(&role->p, "unary_bcast<BroadcastType::%s>(%s, %s, %d);", spreads[step->as.spread], cb, step->page,
                step->slot);
    else
        cs_line(&role->p, "%s(%s, %s, %d);", step->as.unit == UNIT_TURN ? "transpose_tile" : "copy_tile", cb,
                step->page, step->slot);
}

static void put_matmul(Role *role, const TtStep *step) {
    const char *a = cb_of(role, step->cb), *b = cb_of(role, step->cb2);
    const TtInit *as = &step->as;
    if (as->unit == UNIT_MATMUL_BLOCK)
        cs_line(&role->p, "matmul_block(%s, %s, %s, %s, %d, 0, %d, %d, %d);", a, b, step->page, step->page2, step->slot,
                as->across, as->down, as->inner);
    else
        cs_line(&role->p, "matmul_tiles(%s, %s, %s, %s, %d);", a, b, step->page, step->page2, step->slot);
}

static void put_pack(Role *role, const TtStep *step) {
    if (step->page)
        cs_line(&role->p, "pack_tile<true>(%d, %s, %s);", step->slot, cb_of(role, step->cb), step->page);
    else
        cs_line(&role->p, "pack_tile(%d, %s);", step->slot, cb_of(role, step->cb));
}

/* -------------------------------------------------------------------------------------------- pages and control */

static void put_rows(Role *role, const TtStep *step) {
    CPrinter *p = &role->p;
    cs_open(p, "tw_read_rows<%s>(%s, %s, %s, [&](i32 %s) -> i64", word_of(page_bytes(role, step->buffer)), step->text,
            role_accessor(role, step->buffer), role_fill(role, step->buffer), step->number);
    put_block(role, &step->body);
    cs_close_with(p, "}, [&](u32 row) {");
    cs_line(p, "    return %s;", step->page);
    cs_line(p, "});");
}

static void put_step(Role *role, const TtStep *step) {
    static const char *const hands[] = {"cb_reserve_back", "cb_push_back", "cb_wait_front", "cb_pop_front"};
    static const char *const dst[] = {"tile_regs_acquire", "tile_regs_commit", "tile_regs_wait", "tile_regs_release"};
    CPrinter *p = &role->p;
    switch (step->kind) {
    case STEP_LINE: cs_line(p, "%s", step->text); return;
    case STEP_PLACE: cs_place(p, step->range); return;
    case STEP_BLOCK:
        cs_block(p);
        put_block(role, &step->body);
        cs_close(p);
        return;
    case STEP_FOR:
    case STEP_IF:
        cs_open(p, "%s (%s)", step->kind == STEP_FOR ? "for" : "if", step->text);
        put_block(role, &step->body); /* who comes behind closes it: put_block */
        return;
    case STEP_ELSE:
        cs_reopen(p, "else");
        put_block(role, &step->body);
        return;
    case STEP_CB:
        if (step->part && step->text)
            cs_line(p, "%s(%s, %s);", hands[step->hand], cb_of(role, step->cb), step->text);
        else
            cs_line(p, "%s(%s, %u);", hands[step->hand], cb_of(role, step->cb),
                    step->part ? step->part : role->tt->plan->cbs.at[step->cb].item_pages);
        return;
    case STEP_POINTER:
        cs_line(p, "%s = %s(%s);", step->text, step->hand == CB_RESERVE ? "get_write_ptr" : "get_read_ptr",
                cb_of(role, step->cb));
        return;
    case STEP_READ:
        cs_line(p, "tw_read_page(%s, %s, %s, %s, %u);", step->page, role_accessor(role, step->buffer),
                role_fill(role, step->buffer), step->text, page_bytes(role, step->buffer));
        return;
    case STEP_READ_ROWS: put_rows(role, step); return;
    case STEP_WRITE:
        cs_line(p, "const u32 page = %s;", step->page);
        cs_line(p, "if (page != TW_OUTSIDE) %s(page, %s, %s);",
                is_sharded(role, step->buffer) ? "tw_write_page" : "noc_async_write_page",
                role_accessor(role, step->buffer), step->text);
        return;
    case STEP_BARRIER: cs_line(p, "noc_async_%s_barrier();", step->hand == CB_RESERVE ? "read" : "write"); return;
    case STEP_MAKE_PAGE:
        cs_open(p, "tw_make_page<%s>(%s, [&](i32 r, i32 c) -> f32",
                word_of(role->tt->plan->cbs.at[step->cb].desc.page_bytes), step->text);
        put_block(role, &step->body);
        cs_close_with(p, "});");
        return;
    case STEP_PUT_PAGE:
        cs_open(p, "tw_%s_page<%s, %s%s%s>(%s, %s, [&](i32 r, i32 c) -> i64", step->page2 ? "update" : "put",
                word_of(role->tt->plan->cbs.at[step->cb].desc.page_bytes),
                cs_memory_type(role->tt->plan->buffers.at[step->buffer].elem), step->page2 ? ", " : "",
                step->page2 ? step->page2 : "", step->number, step->text);
        put_block(role, &step->body);
        cs_close_with(p, "});");
        return;
    case STEP_COPY: {
        const TtCb *cb = &role->tt->plan->cbs.at[step->cb];
        cs_line(p, "noc_async_read(get_noc_addr(get_write_ptr(%s)), get_write_ptr(%s), %u);", cb_of(role, step->cb),
                cb_of(role, step->cb2), cb->item_pages * cb->desc.page_bytes);
        return;
    }
    case STEP_ASK:
    case STEP_SHOW:
    case STEP_TAKE:
        cs_line(p, "tw_share_%s(%s);", step->kind == STEP_ASK ? "ask" : step->kind == STEP_SHOW ? "show" : "take",
                role_share(role, role->tt->plan->cbs.at[step->cb].share));
        return;
    case STEP_SHARE: {
        const TtCb *cb = &role->tt->plan->cbs.at[step->cb];
        cs_line(p, "tw_share_send(%s, get_write_ptr(%s), %u);", role_share(role, cb->share), cb_of(role, step->cb),
                cb->item_pages * cb->desc.page_bytes);
        return;
    }
    case STEP_SCALER: cs_line(p, "tw_write_scaler(%s);", cb_of(role, step->cb)); return;
    case STEP_STARTUP: put_startup(role, step); return;
    case STEP_SETUP: put_setup(role, step); return;
    case STEP_DST: cs_line(p, "%s();", dst[step->dst]); return;
    case STEP_MOVE: put_move(role, step); return;
    case STEP_MATMUL: put_matmul(role, step); return;
    case STEP_REDUCE:
        cs_line(p, "reduce_tile%s(%s, %s, %s, 0, %d);", reduce_kind(role, &step->as), cb_of(role, step->cb),
                cb_of(role, step->cb2), step->page, step->slot);
        return;
    case STEP_FILL: cs_line(p, "fill_tile(%d, %s);", step->slot, step->number); return;
    case STEP_CALL: cs_line(p, "%s;", fill_in(role, step->row->call, step, step->cb, step->cb2)); return;
    case STEP_PACK: put_pack(role, step); return;
    case STEP_ADD_TO_L1: cs_line(p, "pack_reconfig_l1_acc(%s);", step->text); return;
    case STEP_REDUCE_END: cs_line(p, "reduce_uninit();"); return;
    }
}

static void put_block(Role *role, const TtBlock *block) {
    for (size_t i = 0; i < block->count; i++) {
        TtStepKind kind = block->at[i].kind;
        put_step(role, &block->at[i]);
        bool has_else = i + 1 < block->count && block->at[i + 1].kind == STEP_ELSE;
        if ((kind == STEP_FOR || kind == STEP_IF || kind == STEP_ELSE) && !has_else) cs_close(&role->p);
    }
}

/* The lines of a block, in front of which nothing stands. */
static const char *block_text(Role *role, const TtBlock *block) {
    role->p.lines.count = 0;
    put_block(role, block);
    return cs_text(role->tt->arena, &role->p.lines);
}

char *tt_kernel_text(Role *role) {
    static const char *const roles[] = {
        [TENSIX_READER] = "load", [TENSIX_WRITER] = "store", [TENSIX_COMPUTE] = "compute"};
    Tt *tt = role->tt;
    const TtCode *code = &tt->code[role->kernel];
    const char *start = block_text(role, &code->start), *body = block_text(role, &code->body);
    Text out = text_new(tt->arena);
    text_add(&out,
             "// %s: what role `%s` of kernel `%s` does, for one core's share of the tasks.\n// "
             "Made by Tilewright; plan.json has the arguments and circular buffers.\n",
             tt->plan->file[role->kernel], roles[role->kernel], tt->plan->name);
    text_add(&out, "#include \"%s\"\n\nvoid kernel_main() {\n", tt_prelude_name(role->kernel));
    if (tt->role[role->kernel])
        text_add(&out, "    const u32 first_task = get_arg_val<u32>(0), task_count = get_arg_val<u32>(1);\n");
    text_add(&out, "%s%s\n%s}\n", role->head.at, start, body);
    return out.at;
}
