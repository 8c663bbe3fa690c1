/* SPDX-License-Identifier: Apache-2.0 */
/* tt_json.c: plan.json, what a host program needs to know to launch the three kernels; docs/plan.md has the schema. */
#include "target/tenstorrent/tt_emit.h"

#include <math.h>

static void add_member(Text *t, const char *name, const char *text) {
    text_add(t, "\"%s\": ", name);
    text_add_json(t, text);
}

static const char *format_name(TtFormat format) {
    switch (format) {
#define X(name, number, bytes) \
    case TT_##name: return #name;
        TT_FORMATS(X)
#undef X
    }
    return "";
}

static void add_kernel(Text *t, const TtPlan *plan, int kernel, const char *member, const char *processor, int noc) {
    text_add(t, "    \"%s\": {\"file\": \"%s\", \"processor\": \"%s\", ", member, plan->file[kernel], processor);
    if (noc >= 0) text_add(t, "\"noc\": %d, ", noc);
    text_add(t, "\"compile_args\": [%s]}%s\n", plan->compile_args[kernel], kernel == TENSIX_WRITER ? "" : ",");
}

static void add_cbs(Text *t, const TtPlan *plan) {
    text_add(t, "  \"circular_buffers\": [");
    for (size_t i = 0; i < plan->cbs.count; i++) {
        const TtCb *cb = &plan->cbs.at[i];
        text_add(t, "%s\n    {\"id\": %u, ", i ? "," : "", cb->desc.id);
        add_member(t, "name", cb->name);
        text_add(t, ", ");
        add_member(t, "holds", cb->what);
        text_add(t,
                 ", \"from\": \"%s\", \"to\": \"%s\", \"format\": \"%s\", \"page_bytes\": %u, "
                 "\"item_pages\": %u, \"slots\": %u, "
                 "\"pages\": %u, \"unpack_to_dest\": %s, \"multicast\": \"%s\"}",
                 word_info[cb->from].text, word_info[cb->to].text, format_name(cb->desc.format), cb->desc.page_bytes,
                 cb->item_pages, cb->slots, cb->desc.pages, cb->desc.unpack_to_dest ? "true" : "false",
                 (const char *const[]){"none", "row", "column"}[cb->share]);
    }
    text_add(t, "\n  ],\n");
}

static void add_buffers(Text *t, const TtPlan *plan) {
    static const char *const pagings[] = {"any", "tile", "vector", "column", "row", "plain"};
    text_add(t, "  \"buffers\": [");
    for (size_t i = 0; i < plan->buffers.count; i++) {
        const TtBuffer *b = &plan->buffers.at[i];
        text_add(t, "%s\n    {", i ? "," : "");
        add_member(t, "name", b->name);
        text_add(t,
                 ", \"parameter\": %d, \"direction\": \"%s\", \"element\": \"%s\", \"format\": "
                 "\"%s\", \"page_bytes\": %u, \"memory\": \"%s\", \"paging\": \"%s\", ",
                 b->arg, b->output ? "output" : "input", elem_info[b->elem].text,
                 format_name(b->format), tt_page_bytes(b), b->in_l1 ? "l1" : "dram", pagings[b->layout.paging]);
        text_add(t, "\"row\": %d, \"column\": %d, \"dims\": [", b->layout.row, b->layout.column);
        for (int d = 0; d < b->layout.rank; d++)
            text_add(t, "%s{\"grain\": %lld, \"unit\": %lld}", d ? ", " : "", (long long)b->layout.grain[d],
                     (long long)b->layout.unit[d]);
        text_add(t, isfinite(b->fill) ? "], \"fill\": %g}" : "], \"fill\": \"%g\"}", b->fill);
    }
    text_add(t, "\n  ],\n");
}

static const char *const share_words[TW_SHARE_WORDS] = {"role",      "x0",     "y0",     "x1",   "y1",
                                                        "receivers", "from_x", "from_y", "place"};

static void add_args(Text *t, const TtPlan *plan) {
    static const char *const kinds[] = {"scalar", "extent", "stride", "grid", "address", "pages"};
    text_add(t, "  \"arguments\": {\n    \"per_core\": [\"first_task\", \"task_count\"");
    if (plan->ordered) {
        text_add(t, ", \"columns\", \"rows\", \"row_tasks\", \"plane_tasks\"");
        for (int i = 0; i < 2 && plan->shares; i++)
            for (int j = 0; j < TW_SHARE_WORDS; j++)
                text_add(t, ", \"%s_%s\"", i ? "column" : "row", share_words[j]);
    }
    if (plan->turns)
        text_add(t, ", \"turn_place\", \"next_x\", \"next_y\", \"next_turns\", \"first_x\", \"first_y\", \"first_turns\"");
    text_add(t, "],\n    \"common\": [");
    for (size_t i = 0; i < plan->args.count; i++) {
        const TtArg *arg = &plan->args.at[i];
        bool of_buffer = arg->kind >= ARG_ADDRESS;
        text_add(t, "%s\n      {", i ? "," : "");
        add_member(t, "name", arg->name);
        text_add(t, ", \"kind\": \"%s\", \"%s\": %d, \"dim\": %d", kinds[arg->kind],
                 of_buffer               ? "buffer"
                 : arg->kind == ARG_GRID ? "grid"
                                         : "parameter",
                 arg->index, arg->dim);
        if (arg->kind == ARG_SCALAR) text_add(t, ", \"element\": \"%s\"", elem_info[arg->elem].text);
        text_add(t, "}");
    }
    text_add(t, "\n    ]\n  },\n");
}

static void add_tasks(Text *t, const TtPlan *plan) {
    TwGrid grid = tt_grid(plan);
    text_add(t, "  \"tasks\": {\"rank\": %d, \"policy\": \"%s\", \"order\": \"%s\", ", plan->task_rank,
             tt_policy_name(plan), tt_order_name(plan));
    if (grid.policy == TW_BLOCK_LINEAR) text_add(t, "\"block\": %u, ", grid.block);
    text_add(t, "\"first_core\": [%u, %u], \"cores\": [%u, %u], \"most_cores\": %u},\n", grid.first.x, grid.first.y,
             grid.size.x, grid.size.y, grid.most);
}

char *tt_json(const Tt *tt) {
    const TtPlan *plan = tt->plan;
    const TensixLimits *limits = tensix_limits(plan->options.arch);
    Text t = text_new(tt->arena);
    int64_t bytes = 0;
    for (size_t i = 0; i < plan->cbs.count; i++)
        bytes += (int64_t)plan->cbs.at[i].desc.pages * plan->cbs.at[i].desc.page_bytes;
    text_add(&t, "{\n  \"schema\": \"tilewright-tensix-plan-2\",\n  ");
    add_member(&t, "kernel", plan->name);
    text_add(&t, ",\n  \"api\": \"v0.77\",\n  \"arch\": \"%s\",\n", limits->name);
    text_add(&t,
             "  \"compute\": {\"math_fidelity\": \"%s\", \"fp32_dest_acc_en\": true, "
             "\"dst_full_sync_en\": %s},\n",
             (const char *const[]){"LoFi", "HiFi2", "HiFi3", "HiFi4"}[plan->options.fidelity - 1],
             plan->full_sync ? "true" : "false");
    text_add(&t, "  \"kernels\": {\n");
    add_kernel(&t, plan, TENSIX_READER, "reader", "RISCV_1", 0);
    add_kernel(&t, plan, TENSIX_COMPUTE, "compute", "compute", -1);
    add_kernel(&t, plan, TENSIX_WRITER, "writer", "RISCV_0", 1);
    text_add(&t, "  },\n");
    add_cbs(&t, plan);
    add_buffers(&t, plan);
    add_args(&t, plan);
    add_tasks(&t, plan);
    text_add(&t, "  \"semaphores\": %d,\n", plan->shares || plan->turns ? TW_SEMAPHORES : 0);
    text_add(&t, "  \"l1\": {\"circular_buffer_bytes\": %lld, \"available_bytes\": %u},\n", (long long)bytes,
             limits->l1_bytes - limits->l1_reserved);
    text_add(&t, "  \"notes\": [");
    for (size_t i = 0; i < plan->notes.count; i++) {
        text_add(&t, i ? ", " : "");
        text_add_json(&t, plan->notes.at[i]);
    }
    text_add(&t, "]\n}\n");
    return t.at;
}
