/* SPDX-License-Identifier: Apache-2.0 */
/* tensix_harness.h: compiles kernel files for the Tensix model, in a temporary folder.
 *
 * The API-model headers are written there from the library, as the runtime does it. Kernels are
 * added first (kernels_add returns a number), then built all at once by two compilers side by side,
 * then looked up. */
#ifndef TESTS_TENSIX_HARNESS_H
#define TESTS_TENSIX_HARNESS_H
#include "base/embedded.h"
#include "sanitized.h"
#include "target/tenstorrent/model/tensix.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_KERNELS = 400, BATCHES = 2 };

typedef struct KernelSet {
    char folder[64];
    struct {
        char file[200], args[120];
        const char *prelude; /* of an emitted kernel: calls say their lines; NULL: none */
    } at[MAX_KERNELS];
    int count;
    void *library[BATCHES];
} KernelSet;

static void make_folders(const char *path) {
    char part[400];
    for (const char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(p - path), path);
        mkdir(part, 0700);
    }
}

static bool write_text(const char *path, const char *text, size_t size) {
    make_folders(path);
    FILE *f = fopen(path, "wb");
    if (!f) return false;
    bool good = fwrite(text, 1, size, f) == size;
    return fclose(f) == 0 && good;
}

static bool kernels_start(KernelSet *set) {
    memset(set, 0, sizeof *set);
    strcpy(set->folder, "/tmp/tensix-XXXXXX");
    if (!mkdtemp(set->folder)) return false;
    static const char *const below[] = {"tenstorrent/model/include/", "tenstorrent/prelude/"};
    for (const EmbeddedFile *f = embedded_files; f->path; f++)
        for (int i = 0; i < 2; i++) {
            char path[400];
            size_t length = strlen(below[i]);
            if (strncmp(f->path, below[i], length) != 0) continue;
            snprintf(path, sizeof path, "%s/include/%s", set->folder, f->path + length);
            if (!write_text(path, f->text, f->size)) return false;
        }
    return true;
}

/* `args` are the compile-time arguments, separated by commas. */
static int kernels_add(KernelSet *set, const char *file, const char *args) {
    for (int i = 0; i < set->count; i++)
        if (!strcmp(set->at[i].file, file) && !strcmp(set->at[i].args, args)) return i;
    if (set->count == MAX_KERNELS) abort();
    snprintf(set->at[set->count].file, sizeof set->at[0].file, "%s", file);
    snprintf(set->at[set->count].args, sizeof set->at[0].args, "%s", args);
    return set->count++;
}

static const char *cxx_compiler(void) {
    static const char *const names[] = {"c++", "g++", "clang++", "clang++-14"};
    if (getenv("CXX") && !strchr(getenv("CXX"), ' ')) return getenv("CXX");
    for (int i = 0; i < 4; i++) {
        char command[64];
        snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", names[i]);
        if (system(command) == 0) return names[i];
    }
    return NULL;
}

static bool kernels_build(KernelSet *set, const char *compiler) {
    char include[100], cwd[300];
    snprintf(include, sizeof include, "-I%s/include", set->folder);
    if (!getcwd(cwd, sizeof cwd)) return false;
    pid_t children[BATCHES];
    for (int batch = 0; batch < BATCHES; batch++) {
        static char sources[MAX_KERNELS][100];
        char out[100];
        const char *argv[MAX_KERNELS + 16] = {
            compiler,  "-std=c++17", CHECK_SANITIZED ? "-O0" : "-O1", "-fPIC", /* warnings are the plain build's */
            "-shared", "-Wall",      "-Werror", "-Wno-int-to-pointer-cast",
            include,   "-o",         out};
        int argc = 11;
        snprintf(out, sizeof out, "%s/batch%d.so", set->folder, batch);
        for (int i = batch; i < set->count; i += BATCHES) {
            char text[900];
            int size = snprintf(text, sizeof text,
                                "#define KERNEL_COMPILE_TIME_ARGS %s\n#include \"tt_kernel.h\"\n%s%s%s"
                                "#include \"%s%s%s\"\nTT_KERNEL_ENTRY(tw_kernel_%d)\n",
                                set->at[i].args, set->at[i].prelude ? "#include \"" : "",
                                set->at[i].prelude ? set->at[i].prelude : "",
                                set->at[i].prelude ? "\"\n#include \"tt_lines.h\"\n" : "", set->at[i].file[0] == '/' ? "" : cwd,
                                set->at[i].file[0] == '/' ? "" : "/", set->at[i].file, i);
            snprintf(sources[i], sizeof sources[i], "%s/kernel%d.cc", set->folder, i);
            if (!write_text(sources[i], text, (size_t)size)) return false;
            argv[argc++] = sources[i];
        }
        children[batch] = argc == 11 ? 0 : fork();
        if (children[batch] < 0) return false;
        if (argc > 11 && children[batch] == 0) {
            execvp(compiler, (char *const *)argv);
            _exit(127);
        }
    }
    bool good = true;
    for (int batch = 0; batch < BATCHES; batch++) {
        int status = 0;
        if (!children[batch]) continue;
        while (waitpid(children[batch], &status, 0) < 0 && errno == EINTR) {}
        good &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    for (int batch = 0; good && batch < BATCHES && batch < set->count; batch++) {
        char path[100];
        snprintf(path, sizeof path, "%s/batch%d.so", set->folder, batch);
        set->library[batch] = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!set->library[batch]) fprintf(stderr, "%s\n", dlerror());
        good &= set->library[batch] != NULL;
    }
    return good;
}

static TensixEntry *kernels_entry(const KernelSet *set, int number) {
    char symbol[40];
    TensixEntry *entry;
    snprintf(symbol, sizeof symbol, "tw_kernel_%d", number);
    void *address = dlsym(set->library[number % BATCHES], symbol);
    memcpy(&entry, &address, sizeof entry);
    return entry;
}

static void kernels_end(KernelSet *set) {
    char command[100];
    for (int i = 0; i < BATCHES; i++)
        if (set->library[i]) dlclose(set->library[i]);
    snprintf(command, sizeof command, "rm -rf '%s'", set->folder);
    if (system(command) != 0) fprintf(stderr, "could not remove %s\n", set->folder);
}
#endif
