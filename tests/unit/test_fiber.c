/* SPDX-License-Identifier: Apache-2.0 */
/* test_fiber.c: resume and yield, nesting, registers and floating state across switches, restart,
 * unfinished fibers. */
#include "base/fiber.h"
#include "check.h"

#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdint.h>

typedef struct Counter {
    Fiber *fiber;
    int step, limit;
    double sum;
} Counter;

static void count(void *arg) {
    Counter *c = arg;
    double local = 0.5; /* lives in a register or on the fiber's stack across the switch */
    for (int i = 0; i < c->limit; i++) {
        local += i;
        c->step = i + 1;
        fiber_yield(c->fiber);
    }
    c->sum = local;
}

static void test_order(void) {
    Counter a = {.limit = 3}, b = {.limit = 5};
    a.fiber = fiber_create(16 * 1024, count, &a);
    b.fiber = fiber_create(16 * 1024, count, &b);
    CHECK(a.fiber && b.fiber && !fiber_done(a.fiber) && a.step == 0);
    int rounds = 0;
    while (!fiber_done(a.fiber) || !fiber_done(b.fiber)) {
        if (!fiber_done(a.fiber)) fiber_resume(a.fiber);
        if (!fiber_done(b.fiber)) fiber_resume(b.fiber);
        rounds++;
        CHECK(b.step == (rounds < 5 ? rounds : 5));
    }
    CHECK(rounds == 6 && a.sum == 3.5 && b.sum == 10.5);
    a.limit = 2;
    fiber_restart(a.fiber, count, &a);
    for (rounds = 0; !fiber_done(a.fiber); rounds++) fiber_resume(a.fiber);
    CHECK(rounds == 3 && a.sum == 1.5);
    fiber_destroy(a.fiber);
    fiber_destroy(b.fiber);
    fiber_destroy(NULL);
}

/* A fiber that runs another one, and fills a good part of its stack. */
static void outer(void *arg) {
    Counter *c = arg, inner = {.limit = 100};
    volatile char block[40000];
    memset((char *)block, 7, sizeof block);
    inner.fiber = fiber_create(16 * 1024, count, &inner);
    while (!fiber_done(inner.fiber)) {
        fiber_resume(inner.fiber);
        fiber_yield(c->fiber);
    }
    fiber_destroy(inner.fiber);
    c->sum = inner.sum + block[39999];
}

static void test_nesting(void) {
    Counter c = {0};
    c.fiber = fiber_create(64 * 1024, outer, &c);
    int rounds = 0;
    for (; !fiber_done(c.fiber); rounds++) fiber_resume(c.fiber);
    CHECK(rounds == 102 && c.sum == 4950.5 + 7);
    fiber_destroy(c.fiber);
}

/* Rounding mode is the fiber's own, as the calling convention says of control registers. */
static volatile double quarter = 1.25; /* not folded by the compiler */

static void round_up(void *arg) {
    Counter *c = arg;
    fesetround(FE_UPWARD);
    fiber_yield(c->fiber);
    c->sum = rint(quarter);
}

static void test_control_registers(void) {
    Counter c = {0};
    c.fiber = fiber_create(16 * 1024, round_up, &c);
    fiber_resume(c.fiber);
    CHECK(rint(quarter) == 1.0);
    fiber_resume(c.fiber);
    CHECK(fiber_done(c.fiber) && c.sum == 2.0);
    fiber_destroy(c.fiber);
}

/* A jump within the fiber's own stack, as a trap does. */
static void jump(void *arg) {
    Counter *c = arg;
    jmp_buf frame;
    if (setjmp(frame) == 0) {
        fiber_yield(c->fiber);
        longjmp(frame, 1);
    }
    c->step = 1;
}

static void test_jump(void) {
    Counter c = {0};
    c.fiber = fiber_create(32 * 1024, jump, &c);
    fiber_resume(c.fiber);
    fiber_resume(c.fiber);
    CHECK(fiber_done(c.fiber) && c.step == 1);
    fiber_destroy(c.fiber);
}

static void test_many_unfinished(void) {
    enum { COUNT = 500 };
    static Counter counters[COUNT];
    for (int i = 0; i < COUNT; i++) {
        counters[i].limit = 1000;
        counters[i].fiber = fiber_create(32 * 1024, count, &counters[i]);
        CHECK(counters[i].fiber != NULL);
    }
    for (int round = 0; round < 20; round++)
        for (int i = 1; i < COUNT; i++) fiber_resume(counters[i].fiber);
    CHECK(counters[0].step == 0 && counters[COUNT - 1].step == 20);
    for (int i = 0; i < COUNT; i++) fiber_destroy(counters[i].fiber);
    CHECK(fiber_create(SIZE_MAX / 4, count, NULL) == NULL);
}

int main(void) {
    test_order();
    test_nesting();
    test_control_registers();
    test_jump();
    test_many_unfinished();
    return check_done();
}
