/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_emitter.c: TensorCoreIntrinEmitter, whose methods write the product of a block instruction by instruction.
 *
 *     e = TensorCoreIntrinEmitter(a_dtype="float16", .., block_row_warps=2, warp_row_tiles=64, chunk=32, ..)
 *     a = T.alloc_local((warp_rows * local_size_a,), "float16")       registers of a thread ..
 *     e.ldmatrix_a(a, A_shared, ki); e.ldmatrix_b(b, B_shared, ki); e.mma(a, b, c)
 *     e.stmatrix(c, C_shared)                                         .. which one element of the block's tile fills
 *
 * All threads' registers together hold a tile of the block, and only the emitter knows which element is where. So a
 * tile of T.alloc_local that is handed to a method *is* that tile here: [rows, k], [columns, k] or [rows, columns],
 * ldmatrix is a copy, mma a product, stmatrix a copy. The kernel's text is looked through for these names before it is
 * lowered. The registers one by one have no meaning then; an index of theirs is refused as one of a tile. */
#include "front/python/python_flow.h"
#include "front/tilelang/tilelang.h"

#include <string.h>

enum { WARP_LANES = 32, LINE_BITS = 256, TILE = 16 };
enum { A_DTYPE, B_DTYPE, ACCUM_DTYPE, A_TRANSPOSED, B_TRANSPOSED, NUMBERS }; /* arguments */
enum { ROW_WARPS, COL_WARPS, ROW_TILES, COL_TILES, CHUNK, REDUCE_K, PER_BYTE, FIRST, THREAD, KIND_A, KIND_B, COUNT };

typedef struct Emitter {
    int64_t number[CHUNK + 1];
    bool transposed[2];
    int64_t rows, columns, chunk, depth; /* of the block; of one step of the sum */
    int64_t micro_x, micro_y;            /* of one instruction */
} Emitter;

Val lang_lower_emitter(Lower *l, const Call *c) {
    Emitter e = {0};
    Elem elem;
    if (!lang_want_elem(l, c, A_DTYPE, &elem) || !lang_flag(l, c, A_TRANSPOSED, false, &e.transposed[0]) ||
        !lang_flag(l, c, B_TRANSPOSED, false, &e.transposed[1]))
        return val_error;
    for (int i = 0; i <= CHUNK; i++) {
        Val v = lang_plain(c->args[NUMBERS + i]);
        if (v.kind != VAL_INT || v.i < 1 || v.i > 4096)
            return py_error(l, DIAG_TL_ARGUMENTS, c->ranges[NUMBERS + i],
                            "warps, tiles and chunk are known integers from 1 on");
        e.number[i] = (int64_t)v.i;
    }
    for (int i = REDUCE_K; i < COUNT; i++) {
        Val v = lang_plain(c->args[NUMBERS + i]);
        if (i == FIRST || i == THREAD || (v.kind == VAL_INT && v.i == (i <= PER_BYTE))) continue;
        return py_error(l, DIAG_TL_PLANNED, c->range,
                        "an emitter with reduce_k, num_elems_per_byte or a transform of its operands",
                        "write T.gemm: the instruction is chosen here");
    }
    e.chunk = e.number[CHUNK], e.depth = LINE_BITS / elem_info[elem].bits;
    if (e.depth > e.chunk) e.depth = e.chunk;
    bool wide = elem_info[elem].bits == 64;
    e.micro_x = wide ? TILE / 2 : TILE, e.micro_y = wide || e.number[COL_TILES] % TILE ? TILE / 2 : TILE;
    if (e.number[ROW_TILES] % e.micro_x || e.number[COL_TILES] % e.micro_y || e.chunk % e.depth)
        return py_error(l, DIAG_TL_ARGUMENTS, c->range,
                        "warp_row_tiles is a multiple of 16, warp_col_tiles of 8, chunk of the instruction's depth");
    e.rows = e.number[ROW_WARPS] * e.number[ROW_TILES], e.columns = e.number[COL_WARPS] * e.number[COL_TILES];
    return lang_own(l, &lang_emitter_own, &e, sizeof e);
}

Val lang_emitter_attribute(Lower *l, const void *emitter, const char *attr, Range range) {
    const Emitter *e = emitter;
    const struct {
        const char *name;
        int64_t value;
    } rows[] = {{"block_row_warps", e->number[ROW_WARPS]},
                {"block_col_warps", e->number[COL_WARPS]},
                {"warp_row_tiles", e->number[ROW_TILES]},
                {"warp_col_tiles", e->number[COL_TILES]},
                {"chunk", e->chunk},
                {"warp_rows", e->number[ROW_TILES] / e->micro_x},
                {"warp_cols", e->number[COL_TILES] / e->micro_y},
                {"micro_size_x", e->micro_x},
                {"micro_size_y", e->micro_y},
                {"micro_size_k", e->depth},
                {"local_size_a", e->micro_x * e->depth / WARP_LANES},
                {"local_size_b", e->micro_y * e->depth / WARP_LANES},
                {"local_size_out", e->micro_x * e->micro_y / WARP_LANES},
                {"threads", WARP_LANES * e->number[ROW_WARPS] * e->number[COL_WARPS]}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(attr, rows[i].name) == 0) return val_int(rows[i].value);
    return py_error(l, DIAG_TL_UNSUPPORTED, range, arena_printf(l->arena, "`%s` of an emitter of instructions", attr),
                    "there are ldmatrix_a, ldmatrix_b, mma and stmatrix, and its sizes; T.gemm needs none of them");
}

/* --- the tiles that its methods fill --- */


static const Emitter *emitter_of(Lower *l, const PyNode *node) {
    if (node->kind != PY_Name) return NULL;
    const Local *local = NULL;
    for (Frame *f = l->frame; f && !local; f = f->function ? f->function->around : NULL)
        local = py_local(f, node->Name.id);
    Val v = local ? local->val : names_lookup(l, node->Name.id, node->range), live;
    if (v.kind == VAL_HOST && lang_live(l, v.host, node->range, &live)) v = live;
    return lang_thing(v, &lang_emitter_own);
}

/* What the arguments of a method are tiles of, in order. */
static const char *tiles_of(const char *method) {
    static const struct {
        const char *name, *tiles;
    } rows[] = {{"ldmatrix_a", "a"}, {"ldmatrix_b", "b"}, {"mma", "abc"}, {"stmatrix", "c"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(method, rows[i].name) == 0) return rows[i].tiles;
    return "";
}

static void scan_node(void *user, PyNode *node) {
    Lower *l = user;
    const PyNode *f = node->kind == PY_Call ? node->Call.func : NULL;
    const char *tiles = f && f->kind == PY_Attribute ? tiles_of(f->Attribute.attr) : "";
    const Emitter *e = *tiles ? emitter_of(l, f->Attribute.value) : NULL;
    for (uint32_t i = 0; e && i < node->Call.args->count && tiles[i]; i++) {
        const PyNode *arg = node->Call.args->at[i];
        if (arg->kind == PY_Name)
            *VEC_PUSH(&lang_state(l)->emitted, l->arena) =
                (Emitted){.name = arg->Name.id, .emitter = e, .tile = tiles[i]};
    }
    py_each_child(node, scan_node, l);
}

void lang_emitters_begin(Lower *l, const PyNode *with) {
    lang_state(l)->emitted.count = 0;
    for (uint32_t i = 0; i < with->With.body->count; i++) scan_node(l, with->With.body->at[i]);
}

/* [rows, k] or, transposed, [k, rows] */
static void tile_shape(const Emitter *e, char tile, int64_t shape[2]) {
    bool turned = tile == 'a' ? e->transposed[0] : tile == 'b' && !e->transposed[1];
    int64_t side = tile == 'b' ? e->columns : e->rows, other = tile == 'c' ? e->columns : e->depth;
    shape[0] = turned ? other : side, shape[1] = turned ? side : other;
}

void lang_bind_emitted(Lower *l, const char *id, const Storage *made) {
    const LangState *s = lang_state(l);
    const Emitted *found = NULL;
    for (size_t i = 0; i < s->emitted.count; i++)
        if (strcmp(s->emitted.at[i].name, id) == 0) found = &s->emitted.at[i];
    if (!found || made->kind != STORE_TILE || made->base || made->packed || made->rank != 1) return;
    Storage *out = (Storage *)made; /* it was made for this name */
    out->own = false, out->emitted = true, out->rank = 2;
    tile_shape(found->emitter, found->tile, out->shape);
    out->tf32 = found->tile != 'c' && made->elem == EL_F32;
    out->ref = ir_buffer(&l->b, lang_own_type(l, out, SCOPE_FRAGMENT), NULL);
}

/* --- methods --- */

enum { MOST_ARGS = 4 };

/* Arguments by place and by name; what is not given is None. */
static bool bind_args(Lower *l, const PyNode *call, const char *const names[MOST_ARGS], int needed, Val *out) {
    const PyList *args = call->Call.args, *keywords = call->Call.keywords;
    bool good = args->count <= MOST_ARGS && (!args->count || names[args->count - 1]);
    for (int i = 0; i < MOST_ARGS; i++) out[i] = val_none;
    for (uint32_t i = 0; good && i < args->count; i++) out[i] = lang_plain(py_eval(l, args->at[i]));
    for (uint32_t k = 0; good && k < keywords->count; k++) {
        const char *name = keywords->at[k]->keyword.arg;
        int at = 0;
        while (at < MOST_ARGS && names[at] && name && strcmp(names[at], name) != 0) at++;
        good = name && at < MOST_ARGS && names[at] && out[at].kind == VAL_NONE;
        if (good) out[at] = lang_plain(py_eval(l, keywords->at[k]->keyword.value));
    }
    for (int i = 0; i < needed; i++) good = good && out[i].kind != VAL_NONE;
    for (int i = 0; i < MOST_ARGS; i++)
        if (val_failed(out[i])) return false;
    if (!good)
        py_error(l, DIAG_TL_ARGUMENTS, call->range,
                 "it is ldmatrix_a(a, A_shared, ki), ldmatrix_b(b, B_shared, ki), mma(a, b, c) and stmatrix(c, C, "
                 "pid_m=None, pid_n=None)");
    return good;
}

static bool is_tile(Lower *l, const Emitter *e, Val v, char tile, Range range) {
    const Storage *of = lang_storage(v);
    int64_t shape[2];
    tile_shape(e, tile, shape);
    if (of && of->kind == STORE_TILE && of->rank == 2 && of->shape[0] == shape[0] && of->shape[1] == shape[1])
        return true;
    lang_types(l, range,
               "the registers of an emitter are a name that T.alloc_local was given in this kernel, of one dimension, "
               "and of one emitter" FIX "write T.gemm for tiles");
    return false;
}

static Val sum_of(Lower *l, Val x, Val y, Range range) { return lang_binary(l, PY_OP_ADD, x, y, range); }
static Val times(Lower *l, Val x, int64_t n, Range range) { return lang_binary(l, PY_OP_MUL, x, val_int(n), range); }

/* A box of the last two dimensions of `whole`, `at` from where that begins. */
static bool box_of(Lower *l, Val whole, const Val at[2], const int64_t shape[2], Range range, Val *out) {
    const Storage *storage = lang_storage(whole);
    const Box *given = lang_box(whole);
    Box box = {.of = given ? given->of : storage, .slice = true};
    if (!box.of || box.of->rank < 2) {
        lang_types(l, range, "an emitter copies from and to tiles of two dimensions");
        return false;
    }
    int rank = box.of->rank;
    for (int d = 0; d < rank; d++) {
        int last = d - (rank - 2);
        box.shape[d] = last >= 0 ? shape[last] : 1;
        box.offset[d] = given ? given->offset[d] : ir_int(&l->b, EL_I32, 0);
        if (last < 0) continue;
        Val start = sum_of(l, val_tensor(box.offset[d]), at[last], range);
        Ref moved;
        if (val_failed(start) || !lang_convert(l, start, EL_I32, range, &moved)) return false;
        box.offset[d] = moved;
        int64_t extent = given && given->slice ? given->shape[d] : box.of->shape[d];
        bool known = at[last].kind == VAL_INT;
        if (box.of->kind != STORE_TENSOR && (extent < shape[last] || (known && at[last].i + shape[last] > extent))) {
            lang_types(l, range,
                       arena_printf(l->arena, "the emitter takes [%lld, %lld] of it, which %s does not have",
                                    (long long)shape[0], (long long)shape[1],
                                    lang_shape_text(l, box.of, box.of->shape)));
            return false;
        }
    }
    *out = lang_own(l, &lang_box_own, &box, sizeof box);
    return true;
}

static Val load_matrix(Lower *l, const Emitter *e, char tile, const Val *arg, Range range) {
    int64_t shape[2];
    Val from, at[2] = {val_int(0), val_int(0)};
    if (!is_tile(l, e, arg[0], tile, range)) return val_error;
    Val step = times(l, arg[2], e->depth, range);
    Val turn = arg[3].kind == VAL_NONE ? val_int(0) : times(l, arg[3], e->chunk, range);
    if (val_failed(step) || val_failed(turn)) return val_error;
    bool turned = tile == 'a' ? e->transposed[0] : !e->transposed[1];
    at[!turned] = sum_of(l, step, turn, range);
    tile_shape(e, tile, shape);
    if (val_failed(at[!turned]) || !box_of(l, arg[1], at, shape, range, &from)) return val_error;
    return lang_move(l, from, arg[0], range) ? val_none : val_error;
}

static Val multiply(Lower *l, const Emitter *e, const Val *arg, Range range) {
    for (int i = 0; i < 3; i++)
        if (!is_tile(l, e, arg[i], "abc"[i], range)) return val_error;
    if (arg[3].kind != VAL_NONE && !(arg[3].kind == VAL_INT && arg[3].i == 0))
        return py_error(l, DIAG_TL_PLANNED, range, "k_inner of an emitter's mma", "write T.gemm");
    Val gemm = {.kind = VAL_BUILTIN, .builtin = py_builtin(l, "gemm", 'T')};
    Val all[] = {arg[0], arg[1], arg[2], val_bool(e->transposed[0]), val_bool(e->transposed[1])};
    return py_apply(l, gemm, all, 5, range);
}

/* To [rows, columns] of memory, or to that cut into the tiles of instructions. */
static Val store_matrix(Lower *l, const Emitter *e, const Val *arg, Range range) {
    const Storage *to = lang_storage(arg[1]);
    int64_t shape[2] = {e->rows, e->columns};
    int64_t cut[4] = {e->rows / e->micro_x, e->columns / e->micro_y, e->micro_x, e->micro_y};
    Val at[2] = {val_int(0), val_int(0)}, box;
    if (!is_tile(l, e, arg[0], 'c', range)) return val_error;
    if (to && to->rank == 4 && memcmp(to->shape, cut, sizeof cut) == 0) {
        Box whole = {.of = to, .slice = true}, from = {.of = lang_storage(arg[0]), .slice = true};
        l->b.range = range;
        memcpy(whole.shape, cut, sizeof cut);
        memcpy(from.shape, shape, sizeof shape);
        for (int d = 0; d < 4; d++) whole.offset[d] = from.offset[d] = ir_int(&l->b, EL_I32, 0);
        Ref value = lang_load_box(l, &from, 2);
        int64_t apart[4] = {cut[0], cut[2], cut[1], cut[3]};
        value = ir_reshape(&l->b, value, ty_tile(l->module, from.of->elem, 4, apart));
        lang_store_box(l, &whole, ir_permute(&l->b, value, (int64_t[]){0, 2, 1, 3}, 4));
        return val_none;
    }
    for (int i = 0; i < 2 && arg[2].kind != VAL_NONE && arg[3].kind != VAL_NONE; i++)
        at[i] = times(l, arg[2 + i], shape[i], range);
    if (val_failed(at[0]) || val_failed(at[1]) || !box_of(l, arg[1], at, shape, range, &box)) return val_error;
    return lang_move(l, arg[0], box, range) ? val_none : val_error;
}

Val lang_emitter_method(Lower *l, const void *emitter, const char *name, const PyNode *call) {
    static const char *const loads[] = {"A_local_buf", "A_shared_buf", "ki", "rk"},
                             *const loads_b[] = {"B_local_buf", "B_shared_buf", "ki", "rk"},
                             *const products[] = {"A_local_buf", "B_local_buf", "C_local_buf", "k_inner"},
                             *const stores[] = {"C_local_buf", "C_buf", "pid_m", "pid_n"};
    const Emitter *e = emitter;
    Val arg[MOST_ARGS];
    bool a = strcmp(name, "ldmatrix_a") == 0, b = strcmp(name, "ldmatrix_b") == 0;
    if (strcmp(name, "make_mma_load_layout") == 0 || strcmp(name, "make_mma_store_layout") == 0)
        return lang_own(l, &lang_layout_own, "", 1); /* where elements lie is chosen here */
    if (!*tiles_of(name)) return lang_emitter_attribute(l, emitter, name, call->range);
    bool product = strcmp(name, "mma") == 0;
    const char *const *names = a ? loads : b ? loads_b : product ? products : stores;
    if (!bind_args(l, call, names, a || b || product ? 3 : 2, arg)) return val_error;
    l->b.range = call->range;
    if (a || b) return load_matrix(l, e, *tiles_of(name), arg, call->range);
    return product ? multiply(l, e, arg, call->range) : store_matrix(l, e, arg, call->range);
}
