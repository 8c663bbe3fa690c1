/* SPDX-License-Identifier: Apache-2.0 */
/* simt_json.c: plan.json, what a host program needs to know to launch an emitted kernel, and how it runs; docs/plan.md
 * has the schema.
 *
 * Numbers that follow from the arguments (tensor maps, numbers of tasks, what must hold) are expressions of the
 * operations of the IR: "mul(stride_am, 2)". Rings, roles and tasks come with the attributes that the passes wrote. */
#include "ir/ringform.h"
#include "target/simt/simt_json.h"

enum { EXPRESSION_DEPTH = 32 };

/* Of a scalar that follows from the parameters. */
static void add_expression(Text *t, const Kernel *k, Ref ref, int depth) {
    int64_t number;
    const Value *v = ref_is_value(ref) ? ir_value(k, ref) : NULL;
    if (ir_const_int(k, ref, &number))
        text_add(t, "%lld", (long long)number);
    else if (!v || depth == EXPRESSION_DEPTH)
        text_add(t, "...");
    else if (!v->op)
        text_add(t, "%s", v->name ? v->name : "...");
    else {
        text_add(t, "%s", op_info[v->op->code].mnemonic);
        for (int i = 0; i < v->op->attr_count; i++)
            if (attr_info[v->op->attrs[i].id].kind == ATTR_INT)
                text_add(t, "<%lld>", (long long)v->op->attrs[i].number);
        for (int i = 0; i < v->op->operand_count; i++) {
            text_add(t, i ? ", " : "(");
            add_expression(t, k, v->op->operands[i], depth + 1);
        }
        text_add(t, v->op->operand_count ? ")" : "");
    }
}

void simt_json_number(Text *t, const Kernel *k, Ref ref) {
    Text text = text_new(t->arena);
    add_expression(&text, k, ref, 0);
    text_add_json(t, text.at);
}

static const char *param_name(const Kernel *k, int arg) {
    const char *name = ir_value(k, k->body->args[arg])->name;
    return name ? name : "";
}

static void add_params(Text *t, const Kernel *k, const SimtPlan *plan) {
    static const char *const kinds[] = {
        [SIMT_SCALAR] = "scalar", [SIMT_POINTER] = "pointer", [SIMT_EXTENT] = "extent", [SIMT_STRIDE] = "stride",
        [SIMT_GRID] = "grid",     [SIMT_OWN] = "map",         [SIMT_ROOM] = "room",
        [SIMT_SWEPT] = "swept"};
    text_add(t, "  \"parameters\": [");
    for (size_t i = 0; i < plan->params.count; i++) {
        const SimtParam *p = &plan->params.at[i];
        text_add(t, "%s\n    {\"kind\": \"%s\"", i ? "," : "", kinds[p->kind]);
        if (p->kind == SIMT_OWN)
            text_add(t, ", \"map\": %d}", p->dim);
        else if (p->kind == SIMT_GRID || p->kind == SIMT_SWEPT || p->kind == SIMT_ROOM)
            text_add(t, ", \"dim\": %d}", p->dim);
        else {
            text_add(t, ", \"of\": ");
            text_add_json(t, param_name(k, p->arg));
            if (p->kind == SIMT_EXTENT || p->kind == SIMT_STRIDE) text_add(t, ", \"dim\": %d", p->dim);
            text_add(t, ", \"element\": \"%s\"}", elem_info[p->elem].text);
        }
    }
    text_add(t, "\n  ],\n");
}

static void add_attributes(Text *t, const Kernel *k, const Op *op) {
    for (int i = 0; i < op->attr_count; i++) {
        const Attr *attr = &op->attrs[i];
        const AttrInfo *info = &attr_info[attr->id];
        if (attr->id == AT_ROLE) continue; /* the name of a role */
        text_add(t, ", \"%s\": ", info->text);
        switch (info->kind) {
        case ATTR_INT: text_add(t, "%lld", (long long)attr->number); break;
        case ATTR_FLAG: text_add(t, "true"); break;
        case ATTR_ENUM: text_add_json(t, word_info[attr->word].text); break;
        case ATTR_TEXT: text_add_json(t, attr->text); break;
        case ATTR_REF: simt_json_number(t, k, attr->ref); break;
        case ATTR_INTS:
            text_add(t, "[");
            for (int n = 0; n < attr->list.count; n++)
                text_add(t, "%s%lld", n ? ", " : "", (long long)attr->list.at[n]);
            text_add(t, "]");
            break;
        }
    }
}

/* Those of one kind among the ops of a region, as objects. */
static void add_ops(Text *t, const Kernel *k, const Region *region, Opcode code, const char *member) {
    bool any = false;
    text_add(t, "  \"%s\": [", member);
    for (const Op *op = region ? region->first : NULL; op; op = op->next) {
        if (op->code != code) continue;
        const char *name = op->result_count ? ir_value(k, op->results[0])->name : role_text(op);
        text_add(t, "%s\n    {\"name\": ", any ? "," : "");
        text_add_json(t, name ? name : "");
        add_attributes(t, k, op);
        text_add(t, "}");
        any = true;
    }
    text_add(t, "%s],\n", any ? "\n  " : "");
}

static void add_requires(Text *t, const Kernel *k) {
    bool any = false;
    text_add(t, "  \"requires\": [");
    for (const Op *op = k->body->first; op; op = op->next) {
        if (op->code != OP_REQUIRE) continue;
        text_add(t, "%s\n    {\"of\": [", any ? "," : "");
        for (int i = 0; i < op->operand_count; i++) {
            text_add(t, i ? ", " : "");
            simt_json_number(t, k, op->operands[i]);
        }
        text_add(t, "]");
        add_attributes(t, k, op);
        text_add(t, "}");
        any = true;
    }
    text_add(t, "%s]\n", any ? "\n  " : "");
}

char *simt_json(const PassContext *cx, const Kernel *k, const SimtPlan *plan, const SimtJsonOwn *own) {
    Text t = text_new(k->module->arena);
    const Op *tasks = tasks_of(k);
    text_add(&t, "{\n  \"schema\": \"tilewright-%s-plan-1\",\n  \"kernel\": ", cx->machine->target);
    text_add_json(&t, k->name);
    text_add(&t, ",\n  \"entry\": \"%s\",\n  \"arch\": \"%s\",\n", plan->name, cx->machine->arch);
    text_add(&t, "  \"execution\": \"%s\",\n  \"threads\": %d,\n  \"shared_bytes\": %lld,\n  \"persistent\": %s,\n",
             plan->execution, plan->threads, (long long)plan->shared_bytes, plan->persist ? "true" : "false");
    if (own) own->launch(&t, k, plan);
    add_params(&t, k, plan);
    if (own) own->params(&t, k, plan);
    add_ops(&t, k, k->body, OP_RING, "rings");
    add_ops(&t, k, tasks ? tasks_body(tasks) : NULL, OP_ROLE, "roles");
    add_requires(&t, k);
    text_add(&t, "}\n");
    return t.at;
}
