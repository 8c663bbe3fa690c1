/* SPDX-License-Identifier: Apache-2.0 */
/* test_cpu_plan.c: which form the CPU's plan gives to single ops. */
#include "interp_bench.h"
#include "target/cpu/cpu_plan.h"

#define PLACES "kernel @k(%x: *f32, %y: *i32) {\n  %i = iota<0, $N> ; %p = ptr_add %x, %i ; %a = load %p ; %q = ptr_add %y, %i ; %b = load %q\n"
#define ROWS   PLACES "  %t = reshape %a : f32[$R,$C] ; %u = reshape %b : i32[$R,$C]\n"

/* The place of the first op of that code. */
static OpPlace place_of(const char *text, int rows, int columns, Opcode code) {
    Bench b;
    CpuPlan plan;
    OpPlace place = {.first = -1};
    bench_open(&b, text, "N", rows * columns, "R", rows, "C", columns, NULL);
    cpu_plan(&plan, b.kernel, &b.arena);
    for (size_t i = plan.order.count; i-- > 0;)
        if (plan.order.at[i]->code == code) place = *cpu_place(&plan, plan.order.at[i]);
    bench_close(&b);
    CHECK(place.first >= 0);
    return place;
}

static ReduceForm reduce(const char *op, int rows, int columns) {
    char text[600];
    snprintf(text, sizeof text, "%s  %%r = reduce<%s\n  return }\n", ROWS, op);
    return place_of(text, rows, columns, OP_REDUCE).reduce.form;
}

static ScanPlan scan(const char *op, int rows, int columns) {
    char text[600];
    snprintf(text, sizeof text, "%s  %%r = scan<%s\n  return }\n", ROWS, op);
    return place_of(text, rows, columns, OP_SCAN).scan;
}

int main(void) {
    CHECK(reduce("add, axis=1, order=[3,2,1,0]> %t", 4, 16) == REDUCE_ROWS);
    CHECK(reduce("max, axis=1> %t", 4, 32) == REDUCE_ROWS);
    CHECK(reduce("max, axis=1> %t", 4, 8) == REDUCE_HALVES);  /* too short for whole steps */
    CHECK(reduce("max, axis=1> %t", 4, 24) == REDUCE_HALVES); /* no power of two */
    CHECK(reduce("max, axis=0> %t", 16, 4) == REDUCE_HALVES);
    CHECK(reduce("add, axis=1, order=[0,1,2,3]> %t", 4, 16) == REDUCE_NEIGHBOURS);
    CHECK(reduce("add, axis=1, order=[0,3,1,2]> %t", 4, 16) == REDUCE_STEPS);
    CHECK(reduce("add, axis=1> %t", 4, 16) == REDUCE_IN_TURN); /* the order of a sum matters, and none is stamped */
    CHECK(reduce("add, axis=1> %u", 4, 16) == REDUCE_ROWS);    /* but not of integers */
    CHECK(reduce("argmin, axis=1> %t", 4, 16) == REDUCE_CHAINS);
    CHECK(reduce("argmin, axis=0> %t", 16, 4) == REDUCE_COLUMNS);

    ScanPlan vectors = scan("max, axis=1> %t", 4, 16);
    CHECK(vectors.form == SCAN_VECTORS && vectors.lanes == 8);
    ScanPlan turn = scan("add, axis=1> %t", 20, 16); /* 16 of 20 lines side by side */
    CHECK(turn.form == SCAN_IN_TURN && turn.side_by_side == 8 && turn.grouped == 16);
    CHECK(scan("max, axis=1> %t", 4, 8).form == SCAN_IN_TURN);
    CHECK(scan("max, axis=1> %t", 4, 1).form == SCAN_NOTHING);
    CHECK(scan("max, axis=0> %t", 16, 4).grouped == 0);
    return check_done();
}
