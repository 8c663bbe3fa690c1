/* SPDX-License-Identifier: Apache-2.0 */
/* emu_wgmma.c: warpgroup matrix multiply, executed as late as it may be.
 *
 * The threads of a warpgroup issue the same sequence of wgmma instructions (fence, wgmma, commit,
 * wait), each at its own pace: the first one makes a GroupOp, the others are compared with it. When
 * all 128 have issued a wgmma, the shared memory it will read is checked and stamped. Nothing is
 * computed before the wait that asks for it. Until then, and until tw_wgmma_settle (a compiler may
 * move reads that stand behind the wait alone), the accumulators belong to the instruction, and the
 * threads' copies are poisoned with a NaN that also shows whether someone touched them.
 *
 * Descriptors are read as the device does (start, leading and stride offset, swizzle; see
 * `chunk_at`). */
#include "target/cuda/emu/cuda_emu_core.h"
#include "target/cuda/emu/emu_fragment.h"

#include "base/numeric.h"

#include <string.h>

enum { POISON = 0x7FC0DEAD, MAX_N = 256, MAX_K = 32, ROWS = 64 };

/* ---- operands in shared memory ---- */
typedef struct Operand {
    uint32_t start, leading, stride, width; /* bytes; width of the swizzle, 0: none */
    int lines, chunks;                      /* 16-byte chunks in a line */
    bool mn_major;                          /* lines are k, chunks run along m or n */
} Operand;

static Operand operand(uint64_t desc, int extent, int k_bytes, int elements, bool mn_major) {
    static const uint32_t widths[] = {0, 128, 64, 32};
    Operand o = {.start = (uint32_t)(desc & 0x3FFF) << 4,
                 .leading = (uint32_t)(desc >> 16 & 0x3FFF) << 4,
                 .stride = (uint32_t)(desc >> 32 & 0x3FFF) << 4,
                 .width = widths[desc >> 62],
                 .mn_major = mn_major};
    o.lines = mn_major ? elements : extent;
    o.chunks = mn_major ? extent / 8 : k_bytes / 16;
    return o;
}

/* Shared address of a chunk. Core matrices are 8 lines of 16 bytes; with a swizzle, 8 lines as wide as it. */
static uint32_t chunk_at(const Operand *o, int line, int chunk) {
    uint32_t group = (uint32_t)line / 8, in_group = (uint32_t)line % 8, c = (uint32_t)chunk;
    if (!o->width) {
        /* The roles of the two offsets are exchanged between the majors. */
        uint32_t by_group = o->mn_major ? o->leading : o->stride, by_chunk = o->mn_major ? o->stride : o->leading;
        return o->start + group * by_group + c * by_chunk + in_group * 16;
    }
    uint32_t per_panel = o->width / 16;
    uint32_t plain =
        o->start + c / per_panel * o->leading + group * o->stride + in_group * o->width + c % per_panel * 16;
    return plain ^ ((plain >> 3) & (o->width - 16));
}

static void check_operand(Emu *emu, const GroupOp *op, const Operand *o, uint64_t desc, const char *name) {
    uint32_t repeat = 8 * o->width;
    if (desc >> 49 & 7)
        emu_fail(emu, CUDA_FAULT_MATRIX,
                 "wgmma at %s: descriptor %s has a base offset; align its panel to %u bytes instead",
                 emu_at(emu, op->line), name, repeat);
    if (o->width && o->start % repeat >= o->width)
        emu_fail(emu, CUDA_FAULT_MATRIX,
                 "wgmma at %s: descriptor %s starts at shared address %u, not in the first line of "
                 "a %u-byte swizzle "
                 "pattern; align panels to %u bytes and slice them by 8 lines",
                 emu_at(emu, op->line), name, o->start, o->width, repeat);
}

static void touch_operand(Emu *emu, const GroupOp *op, const Operand *o, int group, const char *name) {
    EmuAccess access = {.view = op->meet,
                        .agent = agent_group(emu, group),
                        .line = op->line,
                        .clock = op->group,
                        .kind = CELL_ASYNC,
                        .what = "reads"};
    for (int line = 0; line < o->lines; line++)
        for (int c = 0; c < o->chunks; c++) {
            uint32_t s = chunk_at(o, line, c) - EMU_SHARED_BASE;
            emu_check_shared(emu, op->line, s, 16, 16, name);
            emu_touch_read(emu, &access, op->own + s, 16);
        }
}

/* into[k * extent + i] */
static void load_operand(const uint8_t *shared, const Operand *o, int type, int extent, double *into) {
    int size = (int)emu_type_bytes(type), per_chunk = 16 / size;
    for (int line = 0; line < o->lines; line++)
        for (int c = 0; c < o->chunks; c++) {
            const uint8_t *chunk = shared + (chunk_at(o, line, c) - EMU_SHARED_BASE);
            for (int e = 0; e < per_chunk; e++) {
                unsigned bits = 0;
                memcpy(&bits, chunk + e * size, (size_t)size);
                int across = per_chunk * c + e;
                int k = o->mn_major ? line : across, i = o->mn_major ? across : line;
                into[k * extent + i] = emu_widen(type, bits);
            }
        }
}

static int k_of(int type) { return 32 / (int)emu_type_bytes(type); }

static Operand operand_a(const EmuWgmma *w) { return operand(w->a_desc, ROWS, 32, k_of(w->type), w->a_mn_major != 0); }

static Operand operand_b(const EmuWgmma *w) { return operand(w->b_desc, w->n, 32, k_of(w->type), w->b_mn_major != 0); }

/* ---- the multiplication ---- */
static void execute(Emu *emu, const GroupOp *op) {
    const EmuWgmma *w = &op->wgmma;
    int k = k_of(w->type), n = w->n, registers = n / 2;
    ArenaMark mark = arena_mark(&emu->arena);
    double *a = ARENA_ARRAY(&emu->arena, double, k *ROWS), *b = ARENA_ARRAY(&emu->arena, double, k *n);
    double *sums = ARENA_ARRAY(&emu->arena, double, ROWS *n);
    Operand ob = operand_b(w);
    const uint8_t *shared = emu->shared + op->own;
    load_operand(shared, &ob, w->type, n, b);
    if (op->a) {
        for (int t = 0; t < EMU_GROUP; t++)
            for (int r = 0; r < 4; r++)
                for (int e = 0; e < emu_per_register(w->type); e++) {
                    int row, at;
                    emu_fragment_a(w->type, t % EMU_WARP, r, e, &row, &at);
                    a[at * ROWS + 16 * (t / EMU_WARP) + row] = emu_element(w->type, op->a[4 * t + r], e);
                }
    } else {
        Operand oa = operand_a(w);
        load_operand(shared, &oa, w->type, ROWS, a);
    }
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < k; i++) {
            double x = a[i * ROWS + row], *sum = sums + row * n;
            const double *line = b + i * n;
            for (int c = 0; c < n; c++) sum[c] += x * line[c];
        }
    for (int t = 0; t < EMU_GROUP; t++)
        for (int i = 0; i < registers; i++) {
            int row, column;
            emu_fragment_sum(t % EMU_WARP, i, &row, &column);
            emu_accumulate(w->type, &op->accumulator->value[t * registers + i], w->accumulate != 0,
                           sums[(16 * (t / EMU_WARP) + row) * n + column]);
        }
    arena_reset(&emu->arena, mark);
}

/* ---- accumulators ---- */
static Accumulator *find_accumulator(Emu *emu, Warpgroup *group, int index, const float *d) {
    for (size_t i = 0; i < group->accumulators.count; i++)
        if (group->accumulators.at[i]->home[index] == d) return group->accumulators.at[i];
    for (size_t i = 0; i < group->waited.count; i++) {
        Accumulator *acc = group->waited.at[i];
        if (acc->home[index] != d || acc->settled) continue;
        group->waited.at[i] = VEC_LAST(&group->waited); /* it goes on where it was */
        group->waited.count--;
        *VEC_PUSH(&group->accumulators, &emu->arena) = acc;
        return acc;
    }
    return NULL;
}

/* Loops that wait in every round would otherwise take new memory in every round. */
static Accumulator *new_accumulator(Emu *emu, Warpgroup *group, int registers) {
    for (size_t i = 0; i < group->spare.count; i++) {
        Accumulator *acc = group->spare.at[i];
        if (acc->registers != registers) continue;
        group->spare.at[i] = VEC_LAST(&group->spare);
        group->spare.count--;
        acc->settled = 0;
        return acc;
    }
    Accumulator *acc = ARENA_NEW(&emu->arena, Accumulator);
    acc->registers = registers;
    acc->value = ARENA_ARRAY(&emu->arena, float, EMU_GROUP *registers);
    return acc;
}

static void check_poison(Emu *emu, const Accumulator *acc, int index, int line) {
    for (int i = 0; i < acc->registers; i++)
        if (f32_bits(acc->home[index][i]) != POISON)
            emu_fail(emu, CUDA_FAULT_MATRIX,
                     "accumulator %d was written while the wgmma of %s was in flight (seen at %s); "
                     "wait for its group first",
                     i, emu_at(emu, acc->line), emu_at(emu, line));
}

/* The thread's registers go to the instruction. */
static void take_accumulator(Emu *emu, Accumulator *acc, int index, float *d, int line) {
    if (acc->home[index]) {
        check_poison(emu, acc, index, line);
        return;
    }
    acc->home[index] = d;
    memcpy(acc->value + (size_t)index * acc->registers, d, (size_t)acc->registers * sizeof *d);
    for (int i = 0; i < acc->registers; i++) d[i] = f32_from_bits(POISON);
}

/* What is complete waits to be settled. */
static void complete_accumulators(Emu *emu, Warpgroup *group) {
    size_t kept = 0;
    for (size_t i = 0; i < group->accumulators.count; i++) {
        Accumulator *acc = group->accumulators.at[i];
        if (acc->group > group->done)
            group->accumulators.at[kept++] = acc;
        else
            *VEC_PUSH(&group->waited, &emu->arena) = acc;
    }
    if (kept < group->accumulators.count) group->fence = false;
    group->accumulators.count = kept;
}

/* ---- the sequence of instructions ---- */
static Warpgroup *group_of(Emu *emu, int line) {
    int group = emu->running->id / EMU_GROUP;
    cuda_warp(emu, line, "wgmma");
    if (group >= cuda_emu(emu)->groups)
        emu_fail(emu, EMU_FAULT_DIVERGENT, "wgmma at %s: the block has no whole warpgroup here", emu_at(emu, line));
    return &cuda_emu(emu)->group[group];
}

static const char *const op_names[] = {"tw_wgmma_fence", "a wgmma", "tw_wgmma_commit", "tw_wgmma_wait"};

static bool same_op(const GroupOp *op, GroupOpKind kind, int line, int pending, const EmuWgmma *w) {
    if (op->kind != kind || op->line != line || op->pending != pending) return false;
    const EmuWgmma *v = &op->wgmma;
    return !w ||
           (v->n == w->n && v->type == w->type && v->a_mn_major == w->a_mn_major && v->b_mn_major == w->b_mn_major &&
            v->a_desc == w->a_desc && v->b_desc == w->b_desc && v->accumulate == w->accumulate && !v->a == !w->a);
}

/* This thread's next instruction: the one the others have issued there, or a new one. *fresh: it is new. */
static GroupOp *issue(Emu *emu, Warpgroup *group, GroupOpKind kind, int line, int pending, const EmuWgmma *w,
                      bool *fresh) {
    int index = emu->running->id % EMU_GROUP;
    uint64_t number = group->issued[index]++;
    *fresh = number - group->first == group->ops.count;
    if (*fresh)
        *VEC_PUSH(&group->ops, &emu->arena) = (GroupOp){.kind = kind,
                                                        .line = line,
                                                        .pending = pending,
                                                        .wgmma = w ? *w : (EmuWgmma){0},
                                                        .own = emu_own(emu),
                                                        .group = group->group};
    GroupOp *op = &group->ops.at[number - group->first];
    if (!same_op(op, kind, line, pending, w))
        emu_fail(emu, EMU_FAULT_DIVERGENT,
                 "issues %s at %s where another thread of its warpgroup issued %s at %s; all 128 "
                 "must issue the same, with "
                 "the same descriptors",
                 op_names[kind], emu_at(emu, line), op_names[op->kind], emu_at(emu, op->line));
    op->issued++;
    return op;
}

void emu_wgmma_fence(Emu *emu, int line) {
    bool fresh;
    Warpgroup *group = group_of(emu, line);
    issue(emu, group, OP_FENCE, line, 0, NULL, &fresh);
    if (fresh) group->fence = true;
}

void emu_wgmma_commit(Emu *emu, int line) {
    bool fresh;
    Warpgroup *group = group_of(emu, line);
    issue(emu, group, OP_COMMIT, line, 0, NULL, &fresh);
    if (fresh) group->group++;
}

/* What the first thread to issue it settles for all. */
static void open_wgmma(Emu *emu, Warpgroup *group, GroupOp *op, int index, float *d) {
    const EmuWgmma *w = &op->wgmma;
    Accumulator *acc = find_accumulator(emu, group, index, d);
    if (!group->fence && !acc)
        emu_fail(emu, CUDA_FAULT_MATRIX,
                 "wgmma at %s without tw_wgmma_fence() since its registers were last in the "
                 "threads' hands",
                 emu_at(emu, op->line));
    if (acc && acc->registers != w->n / 2)
        emu_fail(emu, CUDA_FAULT_MATRIX, "wgmma at %s uses accumulators of another shape that are still in flight",
                 emu_at(emu, op->line));
    if (!acc) {
        acc = new_accumulator(emu, group, w->n / 2);
        *VEC_PUSH(&group->accumulators, &emu->arena) = acc;
    }
    acc->group = op->group;
    acc->line = op->line;
    op->accumulator = acc;
    if (w->a) op->a = ARENA_ARRAY(&emu->arena, uint32_t, 4 * EMU_GROUP);
}

void emu_wgmma(Emu *emu, int line, const EmuWgmma *w) {
    bool fresh;
    Thread *thread = emu->running;
    Warpgroup *group = group_of(emu, line);
    int index = thread->id % EMU_GROUP;
    GroupOp *op = issue(emu, group, OP_WGMMA, line, 0, w, &fresh);
    if (fresh) open_wgmma(emu, group, op, index, w->d);
    take_accumulator(emu, op->accumulator, index, w->d, line);
    if (op->accumulator->home[index] != w->d)
        emu_fail(emu, EMU_FAULT_DIVERGENT, "wgmma at %s: other threads of the warpgroup use other accumulators",
                 emu_at(emu, line));
    if (op->a) memcpy(op->a + 4 * index, w->a, 4 * sizeof *w->a);
    emu_meet(emu, op, thread);
    if (op->issued < EMU_GROUP) return;
    Operand oa = operand_a(w), ob = operand_b(w);
    if (!op->a) {
        check_operand(emu, op, &oa, w->a_desc, "a");
        touch_operand(emu, op, &oa, thread->id / EMU_GROUP, "wgmma operand a");
    }
    check_operand(emu, op, &ob, w->b_desc, "b");
    touch_operand(emu, op, &ob, thread->id / EMU_GROUP, "wgmma operand b");
    emu_view_drop(emu, op->meet);
    emu_view_drop(emu, op->meet_last);
    *VEC_PUSH(&group->flying, &emu->arena) = *op;
}

/* All 128 are in the same wait, so every instruction before it was issued by all. */
static void finish_wait(Emu *emu, int number, int pending) {
    Warpgroup *group = &cuda_emu(emu)->group[number];
    int64_t upto = (int64_t)group->group - 1 - pending;
    size_t kept = 0;
    for (size_t i = 0; i < group->flying.count; i++) {
        GroupOp *op = &group->flying.at[i];
        if ((int64_t)op->group <= upto)
            execute(emu, op);
        else
            group->flying.at[kept++] = *op;
    }
    group->flying.count = kept;
    group->first += group->ops.count;
    group->ops.count = 0;
    if (upto > (int64_t)group->done) group->done = (uint32_t)upto;
    complete_accumulators(emu, group);
    emu_adopt_wgmma(emu, number, group->done);
}

void emu_wgmma_wait(Emu *emu, int line, int pending) {
    bool fresh;
    Warpgroup *group = group_of(emu, line);
    int number = emu->running->id / EMU_GROUP;
    if (issue(emu, group, OP_WAIT, line, pending, NULL, &fresh)->issued < EMU_GROUP) {
        emu_block(emu, WAIT_WGMMA, line);
        return;
    }
    finish_wait(emu, number, pending);
    for (int i = 0; i < EMU_GROUP; i++) {
        Thread *thread = &emu->thread[number * EMU_GROUP + i];
        if (thread != emu->running) emu_wake(emu, thread);
    }
}

/* The thread has the accumulators among d[0 .. count) back. */
void emu_wgmma_settle(Emu *emu, int line, float *d, int count) {
    Warpgroup *group = group_of(emu, line);
    int index = emu->running->id % EMU_GROUP;
    for (size_t i = 0; i < group->accumulators.count; i++) {
        const Accumulator *acc = group->accumulators.at[i];
        if (acc->home[index] >= d && acc->home[index] < d + count)
            emu_fail(emu, CUDA_FAULT_MATRIX,
                     "reads accumulators at %s while the wgmma of %s is in flight; wait for its "
                     "group first",
                     emu_at(emu, line), emu_at(emu, acc->line));
    }
    for (size_t i = 0; i < group->waited.count; i++) {
        Accumulator *acc = group->waited.at[i];
        float *home = acc->home[index];
        if (home < d || home >= d + count) continue;
        check_poison(emu, acc, index, line);
        memcpy(home, acc->value + (size_t)index * acc->registers, (size_t)acc->registers * sizeof *d);
        acc->home[index] = NULL;
        if (++acc->settled < EMU_GROUP) continue;
        group->waited.at[i--] = VEC_LAST(&group->waited);
        group->waited.count--;
        *VEC_PUSH(&group->spare, &emu->arena) = acc;
    }
}

void emu_wgmma_exit_check(Emu *emu, Thread *thread) {
    const Warpgroup *group = &cuda_emu(emu)->group[thread->id / EMU_GROUP];
    int index = thread->id % EMU_GROUP;
    for (size_t i = 0; i < group->accumulators.count; i++)
        if (group->accumulators.at[i]->home[index])
            emu_fail(emu, CUDA_FAULT_UNWAITED,
                     "the thread ends, but the wgmma of %s was not waited for; end with "
                     "tw_wgmma_commit() and "
                     "tw_wgmma_wait(0)",
                     emu_at(emu, group->accumulators.at[i]->line));
    for (size_t i = 0; i < group->waited.count; i++)
        if (group->waited.at[i]->home[index])
            emu_fail(emu, CUDA_FAULT_MATRIX,
                     "the thread ends, but the accumulators of the wgmma of %s were never settled; "
                     "put tw_wgmma_settle() behind the wait, before they are read",
                     emu_at(emu, group->waited.at[i]->line));
}
