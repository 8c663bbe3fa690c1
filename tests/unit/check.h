/* SPDX-License-Identifier: Apache-2.0 */
/* check.h: what a unit test needs. A test is a program: main runs checks, returns check_done(). */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H
#include "sanitized.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int check_failures, check_count; /* tests have threads */

#define CHECK(cond)                                                                                \
    do {                                                                                           \
        check_count++;                                                                             \
        if (!(cond)) {                                                                             \
            check_failures++;                                                                      \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #cond);                     \
        }                                                                                          \
    } while (0)

/* Two texts must be equal; on a difference both are shown. */
#define CHECK_TEXT(got, want)                                                                      \
    do {                                                                                           \
        const char *got_ = (got), *want_ = (want);                                                 \
        check_count++;                                                                             \
        if (strcmp(got_, want_) != 0) {                                                            \
            check_failures++;                                                                      \
            fprintf(stderr, "%s:%d: texts differ\n--- got\n%s\n--- want\n%s\n", __FILE__,          \
                    __LINE__, got_, want_);                                                        \
        }                                                                                          \
    } while (0)

/* Of cases that take long, TILEWRIGHT_EVERY=N runs every Nth: what the run under the sanitizers does;
 * the plain one runs all. */
static inline bool check_chosen(void) {
    static int number;
    const char *every = getenv("TILEWRIGHT_EVERY");
    return !every || atoi(every) < 1 || number++ % atoi(every) == 0;
}

static inline int check_done(void) {
    printf("%d checks, %d failed\n", check_count, check_failures);
    return check_failures != 0;
}
#endif
