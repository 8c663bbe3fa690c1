/* SPDX-License-Identifier: Apache-2.0 */
/* fake.h: what the drivers that stand in for real ones share (fake_cuda.c, fake_hip.c): calls are counted, and fail if they were told to. */
#ifndef TESTS_GPU_FAKE_H
#define TESTS_GPU_FAKE_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API(name, parameters) \
    int name parameters;      \
    int name parameters

static const char *called[4096];
static int call_count;

int fake_calls(const char *name);
int fake_calls(const char *name) { /* NULL: all */
    int n = 0;
    for (int i = 0; i < call_count; i++) n += !name || strcmp(called[i], name) == 0;
    return n;
}
void fake_forget(void);
void fake_forget(void) { call_count = 0; }

/* Counts the call; the answer that the variable asks for, else 0. `device`: whose context it is made under; -1: none. */
static int fake_answer(const char *variable, const char *name, int device) {
    const char *told = getenv(variable), *where = getenv("FAKE_LOST");
    size_t length = strlen(name);
    if (call_count < 4096) called[call_count++] = name;
    if (where && device >= 0 && device != atoi(where)) return 0;
    for (const char *at = told; at && (at = strstr(at, name)); at += length) {
        if (at[length] != '=' || (at > told && at[-1] != ' ')) continue;
        char *end;
        int result = (int)strtol(at + length + 1, &end, 10);
        return *end == '@' && fake_calls(name) < atoi(end + 1) ? 0 : result;
    }
    return 0;
}
static int number(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}
#endif
