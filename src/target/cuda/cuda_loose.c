/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_loose.c: loads of rows that lie side by side, but not on any multiple of 4 bytes.
 *
 * No vector load may touch them. A thread takes the two aligned words (16 bytes each) around its 16
 * bytes and shifts them together; words that reach beyond a row are read as long as they lie in the
 * tensor, and what is outside of the row is replaced, so that no load stands behind a branch:
 *
 *     for (int r = 0; r < 32; r += 8) tw_load_any(8, a_raw + r, A + i0 * sa, i1, K, i0 < M, a_first, a_end);
 *     for (int r = 0; r < 32; r += 8) tw_shift_any(8, a_words + r / 2, a_raw + r, ..);
 *     if (a_rest) ..                        the first and the last bytes of the tensor, one by one
 *
 * A load role does not wait for each trip's words. They are copied into shared memory some trips
 * ahead (cp.async, which words can use), a line of the tile and one word more behind the other:
 *
 *     for (d trips) { tw_stage_any(..); tw_cp_async_commit(); }
 *     for (..) { tw_cp_async_wait(d - 1); barrier; tw_stage_any(.. of trip + d); shift; put } */
#include "pass/schedule/scratch.h"
#include "target/cuda/cuda_emit.h"
#include "target/simt/simt_box.h"

static const Expr *stride_of(Emit *e, const TensorText *t, int d) {
    return t->stride[d] ? t->stride[d] : ex_int(e->arena, 1);
}

/* From where to where the tensor lies in memory, as two variables; false if that is not known: then
 * a row is all that may be read. */
static bool write_span(Emit *e, const Box *b, const char *name) {
    const Expr *test = NULL, *last = b->tensor.base, *n = b->tensor.extent[b->inner_dim];
    for (int d = 0; d < b->tensor.rank; d++) {
        if (d == b->inner_dim) continue;
        const Expr *stride = stride_of(e, &b->tensor, d);
        if (!b->tensor.extent[d]) return false;
        test = ex_and(e->arena, test, ex(e->arena, "%p >= 0", stride));
        last = ex(e->arena, "%p + ((i64)%p - 1) * %p", last, b->tensor.extent[d], stride);
    }
    cs_line(&e->p, "const u64 %s_first = (u64)%p;", name, b->tensor.base);
    if (test)
        cs_line(&e->p, "const u64 %s_end = %p ? (u64)(%p + %p) : 0;", name, test, last, n);
    else
        cs_line(&e->p, "const u64 %s_end = (u64)(%p + %p);", name, last, n);
    return true;
}

/* What tw_load_any and its kin take: row, index, end of the row, whether at all; and the span. */
static const Expr *row_of(Emit *e, const Box *b) {
    const Expr *args[] = {b->row, b->index[b->inner_dim], b->tensor.extent[b->inner_dim],
                          b->condition ? b->condition : &expr_true};
    return ex_list(e->arena, args, 4);
}

static const Expr *span_of(Emit *e, const Box *b, const char *name, bool known) {
    const Expr *n = b->tensor.extent[b->inner_dim];
    const Expr *first = known ? ex(e->arena, "%s_first", name) : ex(e->arena, "(u64)(%p)", b->row);
    const Expr *end = known ? ex(e->arena, "%s_end", name) : ex(e->arena, "(u64)(%p + %p)", b->row, n);
    return ex_list(e->arena, (const Expr *const[]){first, end}, 2);
}

static Box box_now(Emit *e, const Op *load) {
    return box_of(e, load, ir_type(e->k, load->results[0]), emit_layout(e, load->results[0]));
}

/* --- words ahead --- */
/* Lines of the tile, each with one word more than it has. */
static int64_t line_bytes(Emit *e, const Op *load) {
    const Type *type = ir_type(e->k, load->results[0]);
    return type->extent[access_of(load).along] * ty_elem_bytes(type) + LOOSE_WORD;
}

static int ahead_of(const Op *loop) { return (int)op_int(loop, AT_AHEAD, 1); }
static int64_t slot_size(const Op *loop) { return op_int(loop, AT_BYTES, 0) / (ahead_of(loop) + 1); }

/* Where the words of register r of the load lie, from the slot's place on. */
static const Expr *word_at(Emit *e, const Op *load, const Expr *slot) {
    const Layout *layout = emit_layout(e, load->results[0]);
    const Type *type = ir_type(e->k, load->results[0]);
    int inner = access_of(load).along;
    return ex(e->arena, "%p + %lld + %p * %lld + %p * %d", slot, (long long)op_int(load, AT_WORDS, 0),
              place_coord(e, layout, 1 - inner, &place_r), (long long)line_bytes(e, load),
              place_coord(e, layout, inner, &place_r), ty_elem_bytes(type));
}

/* The lines of the load's box, as a variable; line and column of register r. */
static void write_lines(Emit *e, const Op *load, const char *name) {
    const Type *type = ir_type(e->k, load->results[0]);
    TensorText t = memory_tensor(e, load->operands[0]);
    RefList offsets = op_list(load, 0);
    int inner = access_of(load).along, bytes = ty_elem_bytes(type);
    int along = box_dim(load, t.rank, 2, inner), across = box_dim(load, t.rank, 2, 1 - inner);
    const Expr *row = t.base, *last = t.base, *on = NULL;
    for (int d = 0; d < t.rank; d++) {
        const Expr *stride = stride_of(e, &t, d), *at = emit_scalar(e, offsets.at[d]);
        if (d != along) last = ex(e->arena, "%p + ((i64)%p - 1) * %p", last, t.extent[d], stride);
        if (d == along || d == across) continue;
        row = ex(e->arena, "%p + (i64)%p * %p", row, at, stride);
        on = ex_and(e->arena, on, ex(e->arena, "(u64)(i64)%p < (u64)%p && %p >= 0", at, t.extent[d], stride));
    }
    cs_line(&e->p,
            "const TwLines %s = tw_lines_of(%d, %p, (u64)(%p + %p), %p, (i64)%p * %d, %p, %p, %p, %p, %lld, %lld, %p);",
            name, bytes, t.base, last, t.extent[along], row, stride_of(e, &t, across), bytes,
            emit_scalar(e, offsets.at[across]), t.extent[across], emit_scalar(e, offsets.at[along]), t.extent[along],
            (long long)type->extent[1 - inner], (long long)type->extent[inner], on ? on : &expr_true);
}

static const Expr *place_of(Emit *e, const Op *load) {
    const Layout *layout = emit_layout(e, load->results[0]);
    int inner = access_of(load).along;
    const Expr *line = place_coord(e, layout, 1 - inner, &place_r), *column = place_coord(e, layout, inner, &place_r);
    return ex_list(e->arena, (const Expr *const[]){line, column}, 2);
}

static void stage_load_words(Emit *e, const Op *load, const Expr *slot) {
    const Layout *layout = emit_layout(e, load->results[0]);
    const Type *type = ir_type(e->k, load->results[0]);
    const char *name = cs_fresh(&e->p, "lines");
    int vector = access_of(load).vector, inner = access_of(load).along;
    emit_block(e);
    write_lines(e, load, name);
    for (int check = 0; check < 2; check++) {
        cs_open(&e->p, check ? "if (!%s.inside)" : "if (%s.inside)", name);
        const Expr *owner = place_owner(e, &layout->map);
        (owner ? emit_unroll_real : emit_unroll)(e, "r", layout->registers, vector);
        if (owner) cs_line(&e->p, "if (!(%p)) continue;", owner);
        cs_line(&e->p, "tw_stage_line(%d, %p, %s, %p, %p == %lld, %s);", vector, word_at(e, load, slot), name,
                place_of(e, load), place_coord(e, layout, inner, &place_r), (long long)(type->extent[inner] - vector),
                check ? "true" : "false");
        cs_close(&e->p);
        cs_close(&e->p);
    }
    cs_close(&e->p);
    emit_find(e, load, FIND_LOAD_WORDS_AHEAD, ahead_of(load->parent->owner));
}

/* The copies of the trip of value `trip`, if there is one; what its scalars are held in is forgotten again. */
static void stage_trip(Emit *e, const Op *loop, const Expr *trip, const Expr *slot) {
    Region *body = loop->regions[0];
    const char *type = cs_value_type(&e->p, ir_type(e->k, body->args[0]));
    const char *at = cs_fresh(&e->p, "ahead");
    Hold kept = *emit_hold(e, body->args[0]);
    VEC(Ref) made = {0};
    cs_open(&e->p, "if (%p < %p)", trip, emit_scalar(e, loop->operands[1]));
    cs_note(&e->p, "the trip whose words are copied now");
    cs_line(&e->p, "const %s %s = (%s)(%p);", type, at, type, trip);
    emit_set_name(e, body->args[0], HOLD_SCALAR, at);
    for (const Op *op = body->first; op; op = op->next) {
        if (op_attr(op, AT_WORDS)) {
            stage_load_words(e, op, slot);
        } else if (op->result_count == 1 && op->code != OP_TENSOR && loose_is_of_any_trip(e->k, op->results[0], body)) {
            elementwise_scalar(e, op);
            *VEC_PUSH(&made, e->arena) = op->results[0];
        }
    }
    for (size_t i = 0; i < made.count; i++) emit_set(e, made.at[i], HOLD_NONE, NULL);
    *emit_hold(e, body->args[0]) = kept;
    cs_close(&e->p);
    cs_line(&e->p, "tw_cp_async_commit();");
}

bool loose_begin(Emit *e, const Op *loop) {
    if (!op_attr(loop, AT_BYTES)) return false;
    int64_t bytes = slot_size(loop);
    const char *turn = cs_fresh(&e->p, "trip");
    long long base = (long long)shared_offset(e, loop);
    sync_before(e, loop); /* words of the last task, or of another run of the loop, may still be read */
    cs_loop(&e->p, NULL, turn, 0, ahead_of(loop), 1);
    stage_trip(e, loop, ex(e->arena, "(i64)%p + %s", emit_scalar(e, loop->operands[0]), turn),
               ex(e->arena, "%lld + %s * %lld", base, turn, (long long)bytes));
    cs_close(&e->p);
    cuda_of(e)->staged = loop;
    cuda_of(e)->staged_at = cs_fresh(&e->p, "words_at");
    cs_line(&e->p, "u32 %s = %lld;", cuda_of(e)->staged_at, base);
    return true;
}

void loose_step(Emit *e, const Op *loop, const char *at) {
    int64_t bytes = slot_size(loop), base = shared_offset(e, loop);
    int ahead = ahead_of(loop);
    const char *next = cs_fresh(&e->p, "words_next");
    cs_line(&e->p, "tw_cp_async_wait(%d);", ahead - 1);
    sync_step(e);
    cs_line(&e->p, "const u32 %s = %s == %lld ? %lld : %s - %lld;", next, cuda_of(e)->staged_at, (long long)base,
            (long long)(base + ahead * bytes), cuda_of(e)->staged_at, (long long)bytes);
    stage_trip(e, loop, ex(e->arena, "(i64)%s + %d", at, ahead), ex_name(e->arena, next));
}

void loose_next(Emit *e) {
    int64_t bytes = slot_size(cuda_of(e)->staged), base = shared_offset(e, cuda_of(e)->staged);
    cs_line(&e->p, "%s = %s == %lld ? %lld : %s + %lld;", cuda_of(e)->staged_at, cuda_of(e)->staged_at,
            (long long)(base + ahead_of(cuda_of(e)->staged) * bytes), (long long)base, cuda_of(e)->staged_at,
            (long long)bytes);
    cuda_of(e)->staged = NULL;
}

/* --- loads --- */
typedef struct Loose {
    const Op *op;
    const char *array;
    bool spans, staged, put; /* put: nobody wants its elements one by one */
} Loose;

static Loose open_load(Emit *e, const Op *op) {
    const Type *type = ir_type(e->k, op->results[0]);
    Box b = box_now(e, op);
    Loose l = {.op = op, .put = op_flag(op, AT_STRAIGHT)};
    l.array = l.put ? cs_name(&e->p, op->results[0]) : emit_declare(e, op->results[0]);
    if (l.put) emit_set(e, op->results[0], HOLD_WORDS, ex(e->arena, "%s_words", l.array));
    int words = b.layout->registers * elem_info[type->elem].bytes / 4;
    l.staged = op_attr(op, AT_WORDS);
    cs_line(&e->p, "u32 %s_words[%d];", l.array, words);
    cs_line(&e->p, "const %s %s_fill = %p;", cs_memory_type(type->elem), l.array, box_fill(e, op, type->elem));
    if (l.staged) {
        write_lines(e, op, arena_printf(e->arena, "%s_lines", l.array));
    } else {
        cs_line(&e->p, "u32 %s_raw[%d];", l.array, 2 * words);
        cs_line(&e->p, "bool %s_rest = false;", l.array);
        l.spans = write_span(e, &b, l.array);
    }
    return l;
}

/* The loops of one load: all words at once; elements out of words, and whether any are missing;
 * those, which is rare. */
enum { LOOP_LOAD, LOOP_SHIFT, LOOP_REST, LOOPS };
static void write_loop(Emit *e, const Loose *l, int from, int to, int loop) {
    Box b = box_now(e, l->op);
    const char *array = l->array;
    int each = 4 / elem_info[b.tile->elem].bytes;
    if (loop == LOOP_REST) cs_open(&e->p, "if (%s_rest)", array);
    emit_unroll_from(e, "r", from, to, b.vector);
    box_indices(e, &b, REF_NONE);
    const Expr *row = row_of(e, &b), *span = span_of(e, &b, array, l->spans);
    const Expr *raw = ex(e->arena, "%s_raw + r / %d * 2", array, each);
    if (loop == LOOP_LOAD) cs_line(&e->p, "tw_load_any(%d, %p, %p, %p);", b.vector, raw, row, span);
    if (loop == LOOP_SHIFT) {
        cs_line(&e->p, "tw_shift_any(%d, %s_words + r / %d, %p, %p, %s_fill);", b.vector, array, each, raw, row, array);
        cs_line(&e->p, "%s_rest |= tw_load_left(%d, %p, %p);", array, b.vector, row, span);
    }
    if (loop == LOOP_REST)
        cs_line(&e->p, "tw_load_rest(%d, %s_words + r / %d, %p, %p, %s_fill);", b.vector, array, each, row, span,
                array);
    cs_close(&e->p);
    if (loop == LOOP_REST) cs_close(&e->p);
}

/* The same for words that lie in shared memory. */
static void write_staged_loop(Emit *e, const Loose *l, int from, int to, int loop) {
    int bytes = ty_elem_bytes(ir_type(e->k, l->op->results[0])), vector = access_of(l->op).vector;
    const char *array = l->array;
    const Expr *place = place_of(e, l->op), *slot = ex_name(e->arena, cuda_of(e)->staged_at);
    const Expr *word = ex(e->arena, "%s_words + r / %d", array, 4 / bytes);
    if (loop == LOOP_LOAD) return;
    if (loop == LOOP_REST) cs_open(&e->p, "if (!%s_lines.inside)", array);
    emit_unroll_from(e, "r", from, to, vector);
    if (loop == LOOP_SHIFT)
        cs_line(&e->p, "tw_shift_line(%d, %p, %p, %s_lines, %p, %s_fill);", vector, word, word_at(e, l->op, slot),
                array, place, array);
    else
        cs_line(&e->p, "tw_load_line(%d, %p, %s_lines, %p, %s_fill);", vector, word, array, place, array);
    cs_close(&e->p);
    if (loop == LOOP_REST) cs_close(&e->p);
}

/* The loads of the batch, where its first one stands. */
void loose_load(Emit *e, const Op *first) {
    VEC(Loose) group = {0};
    int64_t batch = op_int(first, AT_BATCH, 0);
    for (const Op *op = first->previous; op; op = op->previous)
        if (op_int(op, AT_BATCH, 0) == batch) return;
    int count = 0;
    for (const Op *op = first; op; op = op->next) {
        if (op_int(op, AT_BATCH, 0) != batch) continue;
        count += emit_layout(e, op->results[0])->registers;
        *VEC_PUSH(&group, e->arena) = open_load(e, op);
    }
    int once = (int)op_int(first, AT_ONCE, count);
    for (int from = 0; from < count; from += once)
        for (int loop = 0; loop < LOOPS; loop++)
            for (size_t i = 0; i < group.count; i++) {
                int own = emit_layout(e, group.at[i].op->results[0])->registers;
                (group.at[i].staged ? write_staged_loop : write_loop)(e, &group.at[i], from,
                                                                      own < from + once ? own : from + once, loop);
            }
    for (size_t i = 0; i < group.count; i++) {
        Ref result = group.at[i].op->results[0];
        int bytes = elem_info[ir_type(e->k, result)->elem].bytes, vector = access_of(group.at[i].op).vector;
        if (!group.at[i].put) {
            emit_unroll(e, "r", emit_layout(e, result)->registers, vector);
            cs_line(&e->p, "tw_unpack(%d, %s + r, %s_words + r / %d);", vector, group.at[i].array, group.at[i].array,
                    4 / bytes);
            cs_close(&e->p);
        }
        emit_find(e, group.at[i].op, FIND_LOAD_SHIFTED);
    }
}
