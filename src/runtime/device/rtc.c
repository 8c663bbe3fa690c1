/* SPDX-License-Identifier: Apache-2.0 */
/* rtc.c: see rtc.h. */
#include "runtime/device/rtc.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct RtcProgramTag *RtcProgram;

/* RTC(name, NVRTC's symbol, hipRTC's, parameters): all return 0 for success. "": it has none. */
#define RTC_FUNCTIONS(RTC)                                                                                   \
    RTC(version, "nvrtcVersion", "hiprtcVersion", (int *major, int *minor))                                  \
    RTC(create, "nvrtcCreateProgram", "hiprtcCreateProgram",                                                 \
        (RtcProgram * program, const char *text, const char *name, int count, const char *const *headers,    \
         const char *const *names))                                                                          \
    RTC(compile, "nvrtcCompileProgram", "hiprtcCompileProgram",                                              \
        (RtcProgram program, int count, const char *const *options))                                         \
    RTC(code_size, "nvrtcGetCUBINSize", "hiprtcGetCodeSize", (RtcProgram program, size_t * size))            \
    RTC(code, "nvrtcGetCUBIN", "hiprtcGetCode", (RtcProgram program, char *code))                            \
    RTC(ptx_size, "nvrtcGetPTXSize", "", (RtcProgram program, size_t * size))                                \
    RTC(ptx, "nvrtcGetPTX", "", (RtcProgram program, char *ptx))                                             \
    RTC(log_size, "nvrtcGetProgramLogSize", "hiprtcGetProgramLogSize", (RtcProgram program, size_t * size))  \
    RTC(log, "nvrtcGetProgramLog", "hiprtcGetProgramLog", (RtcProgram program, char *log))                   \
    RTC(destroy, "nvrtcDestroyProgram", "hiprtcDestroyProgram", (RtcProgram * program))

struct RtcTable {
#define RTC(name, cuda, hip, parameters) int(*name) parameters;
    RTC_FUNCTIONS(RTC)
#undef RTC
};

static bool load_table(Rtc *n) {
    const struct {
        void **to;
        const char *symbol;
    } functions[] = {
#define RTC(name, cuda, hip_name, parameters) {(void **)&n->table->name, n->kind->hip ? hip_name : cuda},
        RTC_FUNCTIONS(RTC)
#undef RTC
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (*functions[i].symbol && !(*functions[i].to = dlsym(n->library, functions[i].symbol))) return false;
    return true;
}

/* The builtins of the same folder, then the library itself. */
static bool open_file(Rtc *n, const char *path) {
    char pattern[600];
    const char *slash = strrchr(path, '/');
    if (slash && !n->kind->hip) {
        glob_t found;
        snprintf(pattern, sizeof pattern, "%.*s/libnvrtc-builtins.so*", (int)(slash - path), path);
        if (glob(pattern, 0, NULL, &found) == 0) {
            if (found.gl_pathc) n->builtins = dlopen(found.gl_pathv[0], RTLD_NOW | RTLD_GLOBAL);
            globfree(&found);
        }
    }
    n->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!n->library && n->builtins) {
        dlclose(n->builtins);
        n->builtins = NULL;
    }
    if (n->library) snprintf(n->path, sizeof n->path, "%s", path);
    return n->library != NULL;
}

static bool open_matching(Rtc *n, const char *pattern) {
    glob_t found;
    bool good = false;
    if (glob(pattern, 0, NULL, &found) != 0) return false;
    /* The last in order has the highest version. */
    for (size_t i = found.gl_pathc; i-- > 0 && !good;)
        good = !strstr(found.gl_pathv[i], "builtins") && open_file(n, found.gl_pathv[i]);
    globfree(&found);
    return good;
}

static bool open_in(Rtc *n, const char *folder) {
    char pattern[600];
    snprintf(pattern, sizeof pattern, "%s/%s*", folder, n->kind->library);
    return open_matching(n, pattern);
}

/* In the folders of a toolkit, or of one package of PyPI. */
static bool open_below(Rtc *n, const char *root) {
    static const char *const folders[] = {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"};
    char folder[600];
    for (size_t i = 0; root && *root && i < sizeof folders / sizeof *folders; i++) {
        snprintf(folder, sizeof folder, "%s/%s", root, folders[i]);
        if (open_in(n, folder)) return true;
    }
    return false;
}

/* The package of PyPI below a folder of Python packages. */
static bool open_package(Rtc *n, const char *packages) {
    char folder[900];
    for (int i = 0; n->kind->packages[i]; i++) {
        snprintf(folder, sizeof folder, "%s/%s", packages, n->kind->packages[i]);
        if (open_in(n, folder)) return true;
    }
    return false;
}

/* Installed with pip, this code lies in site-packages/tilewright: the package is its neighbour. */
static bool open_neighbour(Rtc *n) {
    Dl_info where;
    char packages[600];
    if (!dladdr((void *)(uintptr_t)rtc_open, &where) || !where.dli_fname) return false;
    int length = snprintf(packages, sizeof packages, "%s", where.dli_fname);
    for (int up = 0; up < 2; up++) {
        char *slash = length < (int)sizeof packages ? strrchr(packages, '/') : NULL;
        if (!slash) return false;
        *slash = '\0';
    }
    return open_package(n, packages);
}

static bool open_in_environment(Rtc *n) {
    const char *root = getenv("VIRTUAL_ENV");
    char packages[600];
    snprintf(packages, sizeof packages, "%s/lib/python3*/site-packages", root ? root : "");
    return root && *root && open_package(n, packages);
}

static bool find_library(Rtc *n) {
    const RtcKind *kind = n->kind;
    const char *given = getenv(kind->variable);
    struct stat status;
    if (given && *given) {
        bool folder = stat(given, &status) == 0 && S_ISDIR(status.st_mode);
        return folder ? open_in(n, given) || open_below(n, given) || open_package(n, given) : open_file(n, given);
    }
    if (open_file(n, kind->library)) return true;
    for (int i = 0; kind->names[i]; i++)
        if (open_file(n, kind->names[i])) return true;
    for (int i = 0; kind->roots[i]; i++)
        if (open_below(n, getenv(kind->roots[i]))) return true;
    for (int i = 0; kind->folders[i]; i++)
        if (open_in(n, kind->folders[i])) return true;
    return open_in_environment(n) || open_neighbour(n);
}

bool rtc_open(Rtc *rtc, const RtcKind *kind, char *why, size_t capacity) {
    memset(rtc, 0, sizeof *rtc);
    rtc->kind = kind;
    if (!find_library(rtc)) {
        const char *given = getenv(kind->variable);
        if (given && *given)
            snprintf(why, capacity, "%s is not here: %s names %s, where no %s can be opened", kind->title,
                     kind->variable, given, kind->library);
        else
            snprintf(why, capacity, "%s is not here (%s); %s", kind->title, kind->library, kind->absent);
        return false;
    }
    rtc->table = calloc(1, sizeof *rtc->table);
    if (!rtc->table || !load_table(rtc) || rtc->table->version(&rtc->major, &rtc->minor) != 0) {
        snprintf(why, capacity, "%s is no %s", rtc->path, kind->least);
        rtc_close(rtc);
        return false;
    }
    Dl_info where; /* the loader knows where a plain name led to */
    if (dladdr(*(void **)&rtc->table->version, &where) && where.dli_fname)
        snprintf(rtc->path, sizeof rtc->path, "%s", where.dli_fname);
    return true;
}

void rtc_close(Rtc *rtc) {
    if (rtc->library) dlclose(rtc->library);
    if (rtc->builtins) dlclose(rtc->builtins);
    free(rtc->table);
    memset(rtc, 0, sizeof *rtc);
}

enum { MAX_OPTIONS = 12, UNKNOWN_OPTION = 5 };

/* The caller's options, and what makes NVRTC faster: without the parts of CUDA that kernels do not
 * use (textures, the runtime API), headers parsed once, and no cache of its own beside ours. */
static int add_options(const Rtc *n, const RtcJob *job, const char *options[MAX_OPTIONS]) {
    int version = n->kind->hip ? 0 : 100 * n->major + n->minor;
    bool knows = version >= 1208, caches = version >= 1209;
    int total = 0;
    while (total < job->option_count && total < MAX_OPTIONS - 3) {
        options[total] = job->options[total];
        total++;
    }
    if (knows) options[total++] = "--minimal";
    if (caches) options[total++] = "--no-cache";
    if (knows && job->alone && n->compiles > 0) options[total++] = "--pch";
    return total;
}

void *rtc_compile(Rtc *rtc, const RtcJob *job, size_t *size, char **log) {
    const struct RtcTable *t = rtc->table;
    const char *names[RTC_HEADERS], *texts[RTC_HEADERS], *all_options[MAX_OPTIONS];
    int header_count = job->header_count < RTC_HEADERS ? job->header_count : RTC_HEADERS;
    for (int i = 0; i < header_count; i++) {
        names[i] = job->headers[i].name;
        texts[i] = job->headers[i].text;
    }
    RtcProgram program = NULL;
    *log = NULL;
    *size = 0;
    if (t->create(&program, job->text, job->name, header_count, texts, names) != 0) return NULL;
    int count = add_options(rtc, job, all_options);
    int result = t->compile(program, count, all_options);
    if (result == UNKNOWN_OPTION) /* one that a version between ours does not know */
        result = t->compile(program, job->option_count, job->options);
    rtc->compiles++;
    size_t length = 0;
    if (t->log_size(program, &length) == 0 && length > 1 && (*log = calloc(1, length + 1))) t->log(program, *log);
    void *made = NULL;
    if (result == 0) result = job->ptx ? t->ptx_size(program, size) : t->code_size(program, size);
    if (result == 0 && (made = malloc(*size)) && (job->ptx ? t->ptx(program, made) : t->code(program, made)) != 0) {
        free(made);
        made = NULL;
    }
    t->destroy(&program);
    return made;
}
