/* SPDX-License-Identifier: Apache-2.0 */
/* tables.c: the .def tables as data, and questions to them. */
#include "ir/ir.h"

#include <string.h>

const ElemInfo elem_info[EL_COUNT] = {
#define ELEM(id, text, bits, cls, doc) {text, bits, CLASS_##cls, (bits + 7) / 8},
#include "ir/types.def"
#undef ELEM
};

const WordInfo word_info[WORD_COUNT] = {
    {WS_NONE, ""},
#define WORD(set, id, text) {WS_##set, text},
#include "ir/attrs.def"
};

const AttrInfo attr_info[AT_COUNT] = {
    {"", "", ATTR_FLAG, WS_NONE, 0, 0, SAYS_VALUE, ""},
#define ATTR(id, text, kind, set, least, most, says, doc) \
    {#id, text, ATTR_##kind, WS_##set, least, most, SAYS_##says, doc},
#include "ir/attrs.def"
};

bool attr_decides_value(AttrId id) { return attr_info[id].says <= SAYS_STAMP; }

const OpInfo op_info[OP_COUNT] = {
    {"", "", "", RES_NONE, "",
     "(| STAGES WARPS WRITTEN PDL_WAIT PDL_LAUNCH OWN_GRID FORM THREADS SHARED BLOCKS MOST_REGS LEAN UNIFORM SWEEP "
     "TT_POLICY TT_ORDER TT_CHUNK TT_BLOCK TT_RECT TT_STRIDE TT_CORES TT_DEPTHS TT_MULTICAST TT_SHARDING IMPORTS)",
     ""}, /* a kernel's own attributes: what its source asks for */
#define OP(id, mnemonic, operands, result, traits, attrs, eval, doc) \
    {#id, mnemonic, operands, RES_##result, #traits, #attrs, doc},
#include "ir/ops.def"
#undef OP
};

bool word_compares(Word predicate, int64_t x, int64_t y) {
    switch (predicate) {
    case CMP_LT: return x < y;
    case CMP_LE: return x <= y;
    case CMP_GT: return x > y;
    case CMP_GE: return x >= y;
    case CMP_EQ: return x == y;
    default: return x != y;
    }
}

bool op_has(Opcode code, Trait trait) {
    static const char letters[] = "PERWSXNL"; /* in the order of enum Trait */
    const char *traits = op_info[code].traits;
    char wanted = letters[__builtin_ctz(trait)], too = trait == TRAIT_PURE ? 'E' : wanted;
    while (*traits && *traits != wanted && *traits != too) traits++;
    return *traits;
}

/* Where the attribute stands in the op's list; NULL when it does not. */
static const char *find_listed(Opcode code, AttrId id) {
    const char *name = attr_info[id].id, *at = op_info[code].attrs;
    size_t length = strlen(name);
    while ((at = strstr(at, name))) {
        bool starts = at[-1] == '(' || at[-1] == ' ';
        if (starts && (at[length] == ')' || at[length] == ' ')) return at;
        at += length;
    }
    return NULL;
}

/* What orders an op with others: any that reaches memory may have it. */
static bool is_of_order(AttrId id) { return id == AT_SYNC || id == AT_PROXY || id == AT_SETTLES || id == AT_LANDS; }

static bool reaches_memory(Opcode code) {
    return op_has(code, TRAIT_READS) || op_has(code, TRAIT_WRITES) || find_listed(code, AT_AT);
}

bool op_allows_attr(Opcode code, AttrId id) {
    bool spread = op_has(code, TRAIT_ELEMENTWISE) || code == OP_IOTA || code == OP_SPLAT || code == OP_BROADCAST;
    return find_listed(code, id) != NULL || (id == AT_HELD && spread) || (is_of_order(id) && reaches_memory(code));
}

bool op_attr_is_positional(Opcode code, AttrId id) {
    const char *at = find_listed(code, id), *bar = strchr(op_info[code].attrs, '|');
    return at && (!bar || at < bar);
}

AttrId op_missing_attr(Opcode code, const Op *op) {
    const char *at = op_info[code].attrs + 1; /* "(POSITIONAL... | NAMED...)" */
    int wanted = 0, here = 0;
    for (; *at && *at != '|' && *at != ')'; at++) wanted += *at != ' ' && (at[-1] == '(' || at[-1] == ' ');
    for (int i = 0; wanted && i < op->attr_count; i++) here += op_attr_is_positional(code, op->attrs[i].id);
    if (here == wanted) return AT_NONE; /* attributes of an op differ */
    for (int id = 1; id < AT_COUNT; id++)
        if (op_attr_is_positional(code, (AttrId)id) && !op_attr(op, (AttrId)id)) return (AttrId)id;
    return AT_NONE;
}

/* --- attributes of an op or a kernel --- */

static const Attr *find(const Attr *attrs, int count, AttrId id) {
    for (int i = 0; i < count; i++)
        if (attrs[i].id == id) return &attrs[i];
    return NULL;
}

static void set(Kernel *k, Attr **attrs, int *count, Attr attr) {
    Attr *old = (Attr *)find(*attrs, *count, attr.id);
    if (old) {
        *old = attr;
        return;
    }
    /* Lists are short and rarely grow: a new array each time keeps Op small. Kept in the order of attrs.def. */
    Attr *grown = ARENA_ARRAY(k->module->arena, Attr, *count + 1);
    int at = 0;
    while (at < *count && (*attrs)[at].id < attr.id) at++;
    if (at) memcpy(grown, *attrs, (size_t)at * sizeof *grown);
    if (at < *count) memcpy(grown + at + 1, *attrs + at, (size_t)(*count - at) * sizeof *grown);
    grown[at] = attr;
    *attrs = grown;
    ++*count;
}

const Attr *op_attr(const Op *op, AttrId id) { return find(op->attrs, op->attr_count, id); }
int64_t op_int(const Op *op, AttrId id, int64_t otherwise) {
    const Attr *attr = op_attr(op, id);
    return attr ? attr->number : otherwise;
}
Word op_word(const Op *op, AttrId id, Word otherwise) {
    const Attr *attr = op_attr(op, id);
    return attr ? attr->word : otherwise;
}
const char *op_text(const Op *op, AttrId id) {
    const Attr *attr = op_attr(op, id);
    return attr ? attr->text : NULL;
}
bool op_flag(const Op *op, AttrId id) { return op_attr(op, id) != NULL; }

bool op_is_transpose(const Op *op) {
    if (op->code != OP_PERMUTE) return false;
    IntList dims = op_attr(op, AT_DIMS)->list;
    return dims.count == 2 && dims.at[0] == 1;
}
void op_set(Kernel *k, Op *op, Attr attr) { set(k, &op->attrs, &op->attr_count, attr); }
void op_drop(Op *op, AttrId id) {
    int kept = 0;
    for (int i = 0; i < op->attr_count; i++)
        if (op->attrs[i].id != id) op->attrs[kept++] = op->attrs[i];
    op->attr_count = kept;
}
const Attr *kernel_attr(const Kernel *k, AttrId id) { return find(k->attrs, k->attr_count, id); }
int64_t kernel_int(const Kernel *k, AttrId id, int64_t otherwise) {
    const Attr *attr = kernel_attr(k, id);
    return attr ? attr->number : otherwise;
}
const char *kernel_text(const Kernel *k, AttrId id) {
    const Attr *attr = kernel_attr(k, id);
    return attr ? attr->text : NULL;
}
void kernel_set(Kernel *k, Attr attr) { set(k, &k->attrs, &k->attr_count, attr); }

/* --- operands by group --- */

/* Where group `wanted` (lists counted apart from single operands) starts in the flat operand array. */
static int find_group(const Op *op, bool want_list, int wanted) {
    int at = 0, list = 0, single = 0;
    for (const char *s = op_info[op->code].operands; *s; s++) {
        if (*s == '[') {
            if (want_list && list == wanted) return at;
            at += op->list_count[list++];
            while (*s != ']') s++;
        } else if (*s != ' ' && *s != '?' && *s != '*') {
            if (!want_list && single == wanted) return at;
            single++;
            at++;
        }
    }
    return -1;
}

Ref op_operand(const Op *op, int group) {
    int at = find_group(op, false, group);
    return at >= 0 && at < op->operand_count ? op->operands[at] : REF_NONE;
}

RefList op_list(const Op *op, int list) {
    int at = find_group(op, true, list);
    return at < 0 ? (RefList){0, NULL} : (RefList){op->list_count[list], op->operands + at};
}

/* --- boxes of tensors --- */

int box_dim(const Op *op, int tensor_rank, int box_rank, int axis) {
    const Attr *dims = op_attr(op, AT_DIMS);
    return dims ? (int)dims->list.at[axis] : tensor_rank - box_rank + axis;
}

int box_axis(const Op *op, int tensor_rank, int box_rank, int dim) {
    for (int axis = 0; axis < box_rank; axis++)
        if (box_dim(op, tensor_rank, box_rank, axis) == dim) return axis;
    return -1;
}

bool box_wraps(const Op *op, int dim) {
    const Attr *wrap = op_attr(op, AT_WRAP);
    for (int i = 0; wrap && i < wrap->list.count; i++)
        if (wrap->list.at[i] == dim) return true;
    return false;
}

bool box_is_indexed(const Kernel *k, const Op *op) {
    RefList offsets = op_list(op, 0);
    for (int d = 0; d < offsets.count; d++)
        if (ir_type(k, offsets.at[d])->rank) return true;
    return false;
}
