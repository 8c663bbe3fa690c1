/* nvrtc.c: see nvrtc.h. */
#include "runtime/device/nvrtc.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct NvrtcProgramTag *NvrtcProgram;

/* NVRTC(name, symbol, parameters): all return 0 for success. */
#define NVRTC_FUNCTIONS(NVRTC)                                                                                \
    NVRTC(version, "nvrtcVersion", (int *major, int *minor))                                                  \
    NVRTC(create, "nvrtcCreateProgram",                                                                       \
          (NvrtcProgram * program, const char *text, const char *name, int count, const char *const *headers, \
           const char *const *names))                                                                         \
    NVRTC(compile, "nvrtcCompileProgram", (NvrtcProgram program, int count, const char *const *options))      \
    NVRTC(cubin_size, "nvrtcGetCUBINSize", (NvrtcProgram program, size_t * size))                             \
    NVRTC(cubin, "nvrtcGetCUBIN", (NvrtcProgram program, char *cubin))                                        \
    NVRTC(ptx_size, "nvrtcGetPTXSize", (NvrtcProgram program, size_t * size))                                 \
    NVRTC(ptx, "nvrtcGetPTX", (NvrtcProgram program, char *ptx))                                              \
    NVRTC(log_size, "nvrtcGetProgramLogSize", (NvrtcProgram program, size_t * size))                          \
    NVRTC(log, "nvrtcGetProgramLog", (NvrtcProgram program, char *log))                                       \
    NVRTC(destroy, "nvrtcDestroyProgram", (NvrtcProgram * program))

struct NvrtcTable {
#define NVRTC(name, symbol, parameters) int(*name) parameters;
    NVRTC_FUNCTIONS(NVRTC)
#undef NVRTC
};

static bool load_table(Nvrtc *n) {
#define NVRTC(name, symbol, parameters) \
    if (!(*(void **)&n->table->name = dlsym(n->library, symbol))) return false;
    NVRTC_FUNCTIONS(NVRTC)
#undef NVRTC
    return true;
}

/* The builtins of the same folder, then the library itself. */
static bool open_file(Nvrtc *n, const char *path) {
    char pattern[600];
    const char *slash = strrchr(path, '/');
    if (slash) {
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

static bool open_matching(Nvrtc *n, const char *pattern) {
    glob_t found;
    bool good = false;
    if (glob(pattern, 0, NULL, &found) != 0) return false;
    /* The last in order has the highest version. */
    for (size_t i = found.gl_pathc; i-- > 0 && !good;)
        good = !strstr(found.gl_pathv[i], "builtins") && open_file(n, found.gl_pathv[i]);
    globfree(&found);
    return good;
}

static bool open_in(Nvrtc *n, const char *folder) {
    char pattern[600];
    snprintf(pattern, sizeof pattern, "%s/libnvrtc.so*", folder);
    return open_matching(n, pattern);
}

/* In the folders of a CUDA of its own, or of one package of PyPI. */
static bool open_below(Nvrtc *n, const char *root) {
    static const char *const folders[] = {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"};
    char folder[600];
    for (size_t i = 0; root && *root && i < sizeof folders / sizeof *folders; i++) {
        snprintf(folder, sizeof folder, "%s/%s", root, folders[i]);
        if (open_in(n, folder)) return true;
    }
    return false;
}

/* The package of PyPI below a folder of Python packages. */
static bool open_package(Nvrtc *n, const char *packages) {
    static const char *const names[] = {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"};
    char folder[900];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(folder, sizeof folder, "%s/%s", packages, names[i]);
        if (open_in(n, folder)) return true;
    }
    return false;
}

/* Installed with pip, this code lies in site-packages/tilewright: the package is its neighbour. */
static bool open_neighbour(Nvrtc *n) {
    Dl_info where;
    char packages[600];
    if (!dladdr((void *)(uintptr_t)nvrtc_open, &where) || !where.dli_fname) return false;
    int length = snprintf(packages, sizeof packages, "%s", where.dli_fname);
    for (int up = 0; up < 2; up++) {
        char *slash = length < (int)sizeof packages ? strrchr(packages, '/') : NULL;
        if (!slash) return false;
        *slash = '\0';
    }
    return open_package(n, packages);
}

static bool open_in_environment(Nvrtc *n) {
    const char *root = getenv("VIRTUAL_ENV");
    char packages[600];
    snprintf(packages, sizeof packages, "%s/lib/python3*/site-packages", root ? root : "");
    return root && *root && open_package(n, packages);
}

static bool find_library(Nvrtc *n) {
    const char *given = getenv("TILEWRIGHT_NVRTC");
    struct stat status;
    if (given && *given) {
        bool folder = stat(given, &status) == 0 && S_ISDIR(status.st_mode);
        return folder ? open_in(n, given) || open_below(n, given) || open_package(n, given) : open_file(n, given);
    }
    static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (open_file(n, names[i])) return true;
    return open_below(n, getenv("CUDA_HOME")) || open_below(n, getenv("CUDA_PATH")) ||
           open_in(n, "/usr/local/cuda/lib64") || open_in(n, "/usr/local/cuda-*/lib64") ||
           open_in(n, "/opt/cuda/lib64") || open_in_environment(n) || open_neighbour(n);
}

bool nvrtc_open(Nvrtc *nvrtc, char *why, size_t capacity) {
    memset(nvrtc, 0, sizeof *nvrtc);
    if (!find_library(nvrtc)) {
        const char *given = getenv("TILEWRIGHT_NVRTC");
        if (given && *given)
            snprintf(why, capacity,
                     "NVRTC is not here: TILEWRIGHT_NVRTC names %s, where no libnvrtc.so can be "
                     "opened",
                     given);
        else
            snprintf(why, capacity,
                     "NVRTC is not here (libnvrtc.so); install CUDA's, or `pip install "
                     "nvidia-cuda-nvrtc` and set "
                     "TILEWRIGHT_NVRTC to its folder");
        return false;
    }
    nvrtc->table = calloc(1, sizeof *nvrtc->table);
    if (!nvrtc->table || !load_table(nvrtc) || nvrtc->table->version(&nvrtc->major, &nvrtc->minor) != 0) {
        snprintf(why, capacity, "%s is no NVRTC of CUDA 12 or later", nvrtc->path);
        nvrtc_close(nvrtc);
        return false;
    }
    Dl_info where; /* the loader knows where a plain name led to */
    if (dladdr(*(void **)&nvrtc->table->version, &where) && where.dli_fname)
        snprintf(nvrtc->path, sizeof nvrtc->path, "%s", where.dli_fname);
    return true;
}

void nvrtc_close(Nvrtc *nvrtc) {
    if (nvrtc->library) dlclose(nvrtc->library);
    if (nvrtc->builtins) dlclose(nvrtc->builtins);
    free(nvrtc->table);
    memset(nvrtc, 0, sizeof *nvrtc);
}

enum { MAX_OPTIONS = 12, UNKNOWN_OPTION = 5 };

/* The caller's options, and what makes NVRTC faster: without the parts of CUDA that kernels do not
 * use (textures, the runtime API), headers parsed once, and no cache of its own beside ours. */
static int add_options(const Nvrtc *n, const NvrtcJob *job, const char *options[MAX_OPTIONS]) {
    bool knows = n->major > 12 || (n->major == 12 && n->minor >= 8);
    bool caches = n->major > 12 || (n->major == 12 && n->minor >= 9);
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

void *nvrtc_compile(Nvrtc *nvrtc, const NvrtcJob *job, size_t *size, char **log) {
    const struct NvrtcTable *t = nvrtc->table;
    const char *names[16], *texts[16], *all_options[MAX_OPTIONS];
    int header_count = job->header_count < 16 ? job->header_count : 16;
    for (int i = 0; i < header_count; i++) {
        names[i] = job->headers[i].name;
        texts[i] = job->headers[i].text;
    }
    NvrtcProgram program = NULL;
    *log = NULL;
    *size = 0;
    if (t->create(&program, job->text, job->name, header_count, texts, names) != 0) return NULL;
    int count = add_options(nvrtc, job, all_options);
    int result = t->compile(program, count, all_options);
    if (result == UNKNOWN_OPTION) /* one that a version between ours does not know */
        result = t->compile(program, job->option_count, job->options);
    nvrtc->compiles++;
    size_t length = 0;
    if (t->log_size(program, &length) == 0 && length > 1 && (*log = calloc(1, length + 1))) t->log(program, *log);
    void *made = NULL;
    if (result == 0) result = job->ptx ? t->ptx_size(program, size) : t->cubin_size(program, size);
    if (result == 0 && (made = malloc(*size)) && (job->ptx ? t->ptx(program, made) : t->cubin(program, made)) != 0) {
        free(made);
        made = NULL;
    }
    t->destroy(&program);
    return made;
}
