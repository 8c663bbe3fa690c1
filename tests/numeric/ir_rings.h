/* SPDX-License-Identifier: Apache-2.0 */
/* ir_rings.h: random kernels in ring form, for random_ir.c.
 *
 * A tree of loops, branches and hand-overs is drawn once and printed by every role: load fills the input rings, compute adds what
 * arrives to one sum a ring and now and then hands a sum on, store writes what it is handed. So what is drawn is right: the
 * checker must prove it, and every target must give the interpreter's bits.
 *
 * Every third kernel is spoiled: a line goes, comes twice, changes places, takes another ring or bound. It is refused with a word of
 * the checker, or runs and gives what the interpreter gives; what the interpreter refuses, every target must refuse. */
#ifndef TESTS_IR_RINGS_H
#define TESTS_IR_RINGS_H

enum { MOST_RINGS = 2, MOST_NODES = 24, MOST_LINES = 600 };
typedef enum Kind_ { ITEM, PAIR, OUT, LOOP, BRANCH } NodeKind;
typedef struct Node {
    NodeKind kind;
    int ring, first, next; /* first: of the nodes inside */
    int bound;
} Node;
typedef struct Rings {
    Gen *g;
    Node nodes[MOST_NODES];
    int node_count, rings, fields[MOST_RINGS], type[MOST_RINGS], slots[MOST_RINGS], hold[MOST_RINGS], names;
    bool out[MOST_RINGS], copies;
    char lines[MOST_LINES][120];
    int line_count;
    const char *loop; /* the innermost loop's variable, or "0" */
} Rings;

typedef struct RingType {
    const char *elem, *extents;
    int rows, columns, dtype;
    const char *sum; /* element of the sum */
    int sum_dtype;
} RingType;
static const RingType ring_types[] = {{"f32", "[8,8]", 8, 8, TW_F32, "f32", TW_F32}, {"f16", "[16,32]", 16, 32, TW_F16, "f32", TW_F32},
                                      {"i32", "[4,16]", 4, 16, TW_I32, "i32", TW_I32}, {"f32", "[64,16]", 64, 16, TW_F32, "f32", TW_F32}};
static const char *const ring_bounds[] = {"%n", "2", "%half", "0", "1", "3"};

static void line(Rings *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void line(Rings *r, const char *format, ...) {
    if (r->line_count == MOST_LINES) return;
    va_list args;
    va_start(args, format);
    vsnprintf(r->lines[r->line_count++], sizeof r->lines[0], format, args);
    va_end(args);
}

static int draw_nodes(Rings *r, int depth) {
    int first = -1, last = -1;
    for (int i = 0; i < 3 && r->node_count < MOST_NODES && (i == 0 || draw(r->g, 2)); i++) {
        int at = r->node_count++;
        Node node = {.next = -1, .first = -1, .ring = (int)draw(r->g, (uint32_t)r->rings), .bound = (int)draw(r->g, 6)};
        static const NodeKind kinds[] = {ITEM, LOOP, ITEM, PAIR, OUT, BRANCH, LOOP};
        node.kind = kinds[draw(r->g, 7)];
        if (depth >= 2 && (node.kind == LOOP || node.kind == BRANCH)) node.kind = ITEM;
        if (node.kind == PAIR && r->slots[node.ring] < 2) node.kind = ITEM;
        if (node.kind == PAIR) r->hold[node.ring] = 2;
        if (node.kind == OUT) r->out[node.ring] = true;
        if (node.kind == LOOP || node.kind == BRANCH) node.first = draw_nodes(r, depth + 1);
        r->nodes[at] = node;
        if (last >= 0) r->nodes[last].next = at;
        else first = at;
        last = at;
    }
    return first;
}

/* Does a part of the tree hand anything over by the role's rings? */
static bool concerns(const Rings *r, int at, char role) {
    for (; at >= 0; at = r->nodes[at].next) {
        const Node *n = &r->nodes[at];
        bool inner = n->kind == LOOP || n->kind == BRANCH;
        if (inner ? concerns(r, n->first, role) : n->kind == OUT ? role != 'l' : role != 's') return true;
    }
    return false;
}

static void fill_item(Rings *r, int ring) {
    int id = r->names++;
    const RingType *t = &ring_types[r->type[ring]];
    line(r, "%%s%d = acquire %%in%d", id, ring);
    for (int f = 0; f < r->fields[ring]; f++) {
        line(r, "%%o%d_%d = add %%%s, %d", id, f, r->loop, f);
        line(r, "%%m%d_%d = mul %%o%d_%d, %d", id, f, id, f, t->rows);
        line(r, "%%x%d_%d = tload %%X%d, [%%m%d_%d, %d] : %s%s", id, f, ring, id, f, f ? 3 : 0, t->elem, t->extents);
    }
    for (int f = 0; f < r->fields[ring]; f++) line(r, "put %%s%d.f%d, %%x%d_%d", id, f, id, f);
    line(r, "commit %%in%d, %%s%d", ring, id);
}

static void add_item(Rings *r, int ring, int id, int *sum) {
    const RingType *t = &ring_types[r->type[ring]];
    for (int f = 0; f < r->fields[ring]; f++) {
        int was = *sum;
        *sum = r->names++;
        line(r, "%%g%d = get%s %%s%d.f%d", *sum, r->copies ? "<copy>" : "", id, f);
        line(r, "%%w%d = cast %%g%d : %s%s", *sum, *sum, t->sum, t->extents);
        line(r, "%%c%d = add %%c%d, %%w%d", *sum, was, *sum);
    }
}

static void print_nodes(Rings *r, int at, char role, int sums[MOST_RINGS]);

static void print_inner(Rings *r, const Node *n, char role, int sums[MOST_RINGS]) {
    int id = r->names++, inner[MOST_RINGS];
    bool loop = n->kind == LOOP;
    char head[120] = "", variable[16];
    size_t length = 0;
    if (!concerns(r, n->first, role)) return;
    snprintf(variable, sizeof variable, "k%d", id);
    if (role == 'c') {
        for (int i = 0; i < r->rings; i++) length += (size_t)snprintf(head + length, sizeof head - length, "%s%%c%d", i ? ", " : "", r->names + i);
        length += (size_t)snprintf(head + length, sizeof head - length, " = ");
    }
    if (loop) length += (size_t)snprintf(head + length, sizeof head - length, "for %%%s = 0, %s, 1", variable, ring_bounds[n->bound]);
    else length += (size_t)snprintf(head + length, sizeof head - length, "if %%yes%d", n->bound % 2);
    int after = r->names;
    r->names += r->rings;
    for (int i = 0; i < r->rings; i++) inner[i] = sums[i];
    if (role == 'c' && loop) {
        length += (size_t)snprintf(head + length, sizeof head - length, " (");
        for (int i = 0; i < r->rings; i++) {
            inner[i] = r->names++;
            length += (size_t)snprintf(head + length, sizeof head - length, "%s%%c%d = %%c%d", i ? ", " : "", inner[i], sums[i]);
        }
        snprintf(head + length, sizeof head - length, ")");
    }
    line(r, "%s {", head);
    const char *outer = r->loop;
    if (loop) r->loop = variable;
    print_nodes(r, n->first, role, inner);
    r->loop = outer;
    if (role != 'c') line(r, "}");
    else {
        char yield[80] = "yield ", other[80] = "";
        for (int i = 0; i < r->rings; i++) {
            snprintf(yield + strlen(yield), sizeof yield - strlen(yield), "%s%%c%d", i ? ", " : "", inner[i]);
            snprintf(other + strlen(other), sizeof other - strlen(other), "%s%%c%d", i ? ", " : "", sums[i]);
        }
        if (loop) line(r, "%s }", yield);
        else line(r, "%s } { yield %s }", yield, other);
    }
    for (int i = 0; i < r->rings && role == 'c'; i++) sums[i] = after + i;
}

static void print_nodes(Rings *r, int at, char role, int sums[MOST_RINGS]) {
    for (; at >= 0; at = r->nodes[at].next) {
        const Node *n = &r->nodes[at];
        int id = r->names++, other = r->names++, items = n->kind == PAIR ? 2 : 1;
        if (n->kind == LOOP || n->kind == BRANCH) print_inner(r, n, role, sums);
        else if (n->kind == OUT && role == 'c') {
            line(r, "%%s%d = acquire %%out%d", id, n->ring);
            line(r, "put %%s%d.o, %%c%d", id, sums[n->ring]);
            line(r, "commit %%out%d, %%s%d", n->ring, id);
        } else if (n->kind == OUT && role == 's') {
            line(r, "%%s%d = wait %%out%d", id, n->ring);
            line(r, "%%g%d = get %%s%d.o", id, id);
            line(r, "%%p%d = add %%t5, %%%s", id, r->loop);
            line(r, "%%m%d = mul %%p%d, %d", id, id, ring_types[r->type[n->ring]].rows);
            line(r, "tstore %%Y%d, [%%m%d, 0], %%g%d", n->ring, id, id);
            line(r, "release %%out%d, %%s%d", n->ring, id);
        } else if (n->kind != OUT && role == 'l') {
            for (int i = 0; i < items; i++) fill_item(r, n->ring);
        } else if (n->kind != OUT && role == 'c') {
            line(r, "%%s%d = wait %%in%d", id, n->ring);
            if (items == 2) line(r, "%%s%d = wait %%in%d", other, n->ring);
            add_item(r, n->ring, id, &sums[n->ring]);
            line(r, "release %%in%d, %%s%d", n->ring, id);
            if (items == 1) continue;
            add_item(r, n->ring, other, &sums[n->ring]);
            line(r, "release %%in%d, %%s%d", n->ring, other);
        }
    }
}

static void role_head(Rings *r, const char *name) {
    line(r, "role %s {", name);
    line(r, "%%zero = sub %%n, %%n");
    line(r, "%%t5 = mul %%t, 5");
    line(r, "%%half = cdiv %%n, 2");
    line(r, "%%yes0 = cmp<gt> %%n, 2");
    line(r, "%%yes1 = cmp<lt> %%n, 4");
}

/* A line that hands over, its number; -1: none was found. */
static int hand_line(Rings *r) {
    int from = (int)draw(r->g, (uint32_t)r->line_count);
    for (int i = 0; i < r->line_count; i++) {
        int at = (from + i) % r->line_count;
        if (strstr(r->lines[at], "acquire") || strstr(r->lines[at], "commit") || strstr(r->lines[at], "wait") ||
            strstr(r->lines[at], "release") || strncmp(r->lines[at], "put", 3) == 0)
            return at;
    }
    return -1;
}

static void spoil(Rings *r) {
    int at = hand_line(r);
    uint32_t how = draw(r->g, 6);
    if (at < 0) return;
    char kept[120], *found;
    memcpy(kept, r->lines[at], sizeof kept);
    switch (how) {
    case 0: r->lines[at][0] = 0; return;
    case 1:
        if (r->line_count < MOST_LINES) {
            memmove(r->lines[at + 1], r->lines[at], (size_t)(r->line_count++ - at) * sizeof r->lines[0]);
        }
        return;
    case 2:
        if (at + 1 == r->line_count) return;
        memcpy(r->lines[at], r->lines[at + 1], sizeof kept);
        memcpy(r->lines[at + 1], kept, sizeof kept);
        return;
    case 3:
        if ((found = strstr(r->lines[at], "%in")) || (found = strstr(r->lines[at], "%out"))) found[strcspn(found, "01")] ^= 1;
        return;
    default: /* another bound, for one role alone */
        for (int i = 0; i < r->line_count; i++)
            if ((found = strstr(r->lines[(at + i) % r->line_count], " = 0, %n, 1"))) {
                memcpy(found, how == 4 ? " = 0, 03, 1" : " = 1, %n, 1", 11);
                return;
            }
    }
}

static void rings_kernel(Gen *g) {
    static Rings room;
    Rings *r = &room;
    Program *p = g->p;
    memset(r, 0, sizeof *r);
    r->g = g, r->loop = "zero";
    r->rings = 1 + (int)draw(g, MOST_RINGS);
    r->copies = draw(g, 4) == 3;
    for (int i = 0; i < r->rings; i++) {
        r->type[i] = (int)draw(g, sizeof ring_types / sizeof *ring_types), r->fields[i] = 1 + (int)draw(g, 2);
        r->slots[i] = 1 + (int)draw(g, 4), r->hold[i] = 1;
    }
    int first = draw_nodes(r, 0), sums[MOST_RINGS] = {0};
    for (int i = 0; i < r->rings; i++) { /* each ring is used, and each sum seen */
        for (int kind = 0; kind < 2; kind++) {
            int at = r->node_count < MOST_NODES ? r->node_count++ : MOST_NODES - 1, last = first;
            r->nodes[at] = (Node){.kind = kind ? OUT : ITEM, .ring = i, .next = -1, .first = -1};
            if (at == MOST_NODES - 1) continue;
            while (r->nodes[last].next >= 0) last = r->nodes[last].next;
            r->nodes[last].next = at;
        }
        r->out[i] = true;
    }
    for (int i = 0; i < r->rings; i++) {
        const RingType *t = &ring_types[r->type[i]];
        Array *x = &p->arrays[p->array_count], *y = &p->arrays[p->array_count + 1];
        *x = (Array){.dtype = t->dtype, .count = (int64_t)t->rows * 7 * 40, .flavour = WHOLE, .whole = 3};
        *y = (Array){.dtype = t->sum_dtype, .count = (int64_t)t->rows * 24 * 40, .flavour = WHOLE, .whole = 3};
        snprintf(x->name, sizeof x->name, "x%d", i);
        snprintf(y->name, sizeof y->name, "y%d", i);
        p->array_count += 2;
        line(r, "%%X%d = tensor %%x%d, [%d, 37], [40, 1]", i, i, t->rows * 7);
        line(r, "%%Y%d = tensor %%y%d, [%d, 40], [40, 1]", i, i, t->rows * 24);
        line(r, "%%in%d = ring<from=load, to=compute, slots=%d, hold=%d> : {f0: %s%s%s%s%s}", i, r->slots[i], r->hold[i], t->elem, t->extents,
             r->fields[i] > 1 ? ", f1: " : "", r->fields[i] > 1 ? t->elem : "", r->fields[i] > 1 ? t->extents : "");
        line(r, "%%out%d = ring<from=compute, to=store, slots=%d> : {o: %s%s}", i, 1 + (int)draw(g, 2), t->sum, t->extents);
    }
    line(r, "%%np = num_programs<0>");
    line(r, "tasks %%t in %%np {");
    for (const char *role = "lcs"; *role; role++) {
        role_head(r, *role == 'l' ? "load" : *role == 'c' ? "compute" : "store");
        for (int i = 0; i < r->rings && *role == 'c'; i++) {
            sums[i] = r->names++;
            line(r, "%%c%d = splat %s : %s%s", sums[i], ring_types[r->type[i]].sum[0] == 'f' ? "0.0" : "0", ring_types[r->type[i]].sum, ring_types[r->type[i]].extents);
        }
        print_nodes(r, first, *role, sums);
        line(r, "}");
    }
    line(r, "}");
    if (draw(g, 3) == 2) {
        spoil(r);
        p->refusals = "[ir-invalid] [ir-unknown-value] [ir-syntax] [ring-producers] [ring-commit] [ring-release] [ring-field] [ring-put] [ring-get] "
                      "[ring-order] [ring-slots] [ring-not-flat] [ring-sides] [ring-deadlock] [ring-left-over] [ring-view] [deadlock]";
        p->spoiled = true;
    }
    for (int i = 0; i < r->line_count; i++) put(g, "%s\n", r->lines[i]);
}
#endif
