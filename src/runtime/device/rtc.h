/* SPDX-License-Identifier: Apache-2.0 */
/* rtc.h: a vendor's run-time compiler (NVRTC, hipRTC), opened at run time: text in, cubin or code object out.
 *
 * Where it is looked for is its RtcKind: a variable of its own (a file or a folder), the loader's path, the vendor's
 * folders, and packages of PyPI, in VIRTUAL_ENV or beside our own package. NVRTC's builtins library lies beside it and
 * is opened by its path first, since the loader would not find it there.
 *
 *     Rtc n;
 *     if (rtc_open(&n, &kind, why, sizeof why)) {
 *         code = rtc_compile(&n, &(RtcJob){text, "add.cu", headers, 4, options, 3}, &size, &log);
 *     }                                                                                 both are malloc'ed */
#ifndef RUNTIME_DEVICE_RTC_H
#define RUNTIME_DEVICE_RTC_H
#include <stdbool.h>
#include <stddef.h>

enum { RTC_HEADERS = 32 };

typedef struct RtcKind {
    const char *title;                   /* "NVRTC" */
    bool hip;                            /* the column of the functions */
    const char *variable;                /* "TILEWRIGHT_NVRTC" */
    const char *library, *names[4];      /* "libnvrtc.so", and what else the loader may know it by */
    const char *roots[3], *folders[4];   /* variables that name a folder with it below; folders where it lies */
    const char *packages[3];             /* folders below those of Python's packages */
    const char *absent, *least;          /* how to get it; what it has to be */
} RtcKind;

typedef struct Rtc {
    const RtcKind *kind;
    void *library, *builtins;
    int major, minor;
    int compiles; /* so far */
    char path[512];
    struct RtcTable *table;
} Rtc;

typedef struct RtcHeader {
    const char *name, *text;
} RtcHeader;

bool rtc_open(Rtc *rtc, const RtcKind *kind, char *why, size_t capacity);
void rtc_close(Rtc *rtc);
typedef struct RtcJob {
    const char *text, *name;
    const RtcHeader *headers;
    int header_count;
    const char *const *options;
    int option_count;
    bool ptx;   /* PTX, closed by a NUL, instead of a cubin: NVRTC's alone */
    bool alone; /* no other compile of the process runs beside it */
} RtcJob;

/* The code, or NULL with the compiler's log; both are the caller's to free. From the second
 * compile on, NVRTC keeps the headers precompiled (a file of its own in $TMPDIR, until the process
 * ends): that is half of the time of a small kernel. Compiles that run side by side go without: the
 * file is the process's. */
void *rtc_compile(Rtc *rtc, const RtcJob *job, size_t *size, char **log);
#endif
