/* SPDX-License-Identifier: Apache-2.0 */
/* rivals.c: libraries that are opened if they are there, and torch behind a pipe.
 *
 * torch runs in a process of its own (torch_side.py), which does one piece of work a request and
 * answers with the seconds it took, measured on its side; its threads sleep in between. The
 * interpreter is $TILEWRIGHT_PYTHON, else .venv/bin/python, else python3. */
#include "bench.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- OpenBLAS, oneDNN --- */

typedef void Sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                   int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef int DnnlSgemm(char ta, char tb, int64_t m, int64_t n, int64_t k, float alpha,
                      const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                      float *c, int64_t ldc);
typedef int DnnlBf16gemm(char ta, char tb, int64_t m, int64_t n, int64_t k, float alpha,
                         const void *a, int64_t lda, const void *b, int64_t ldb, float beta,
                         float *c, int64_t ldc);
typedef void SetThreads(int threads);

static Sgemm *blas_gemm;
static SetThreads *blas_threads, *omp_threads;
static DnnlSgemm *dnnl_gemm;
static DnnlBf16gemm *dnnl_bf16;

static void *open_first(const char *const *names) {
    for (; *names; names++) {
        void *library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        if (library) return library;
    }
    return NULL;
}

static void find(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
}

const char *openblas_open(void) {
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", NULL};
    void *library = open_first(names);
    if (!library) return "libopenblas is not installed (Debian: libopenblas0-pthread)";
    find(library, "cblas_sgemm", &blas_gemm);
    find(library, "openblas_set_num_threads", &blas_threads);
    return blas_gemm && blas_threads ? NULL : "libopenblas has no cblas_sgemm";
}

void openblas_gemm(const Matrices *x, int threads) {
    enum { ROW_MAJOR = 101, PLAIN = 111 };
    blas_threads(threads);
    blas_gemm(ROW_MAJOR, PLAIN, PLAIN, (int)x->m, (int)x->n, (int)x->k, 1.0f, x->a, (int)x->k, x->b,
              (int)x->n, 0.0f, x->c, (int)x->n);
}

const char *onednn_open(void) {
    static const char *const names[] = {"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so", NULL};
    void *library = open_first(names);
    if (!library) return "libdnnl is not installed (Debian: libdnnl2)";
    find(library, "dnnl_sgemm", &dnnl_gemm);
    find(library, "dnnl_gemm_bf16bf16f32", &dnnl_bf16);
    find(library, "omp_set_num_threads", &omp_threads); /* of the OpenMP it is linked with */
    return dnnl_gemm ? NULL : "libdnnl has no dnnl_sgemm";
}

void onednn_gemm(const Matrices *x, int threads) {
    if (omp_threads) omp_threads(threads);
    dnnl_gemm('N', 'N', x->m, x->n, x->k, 1.0f, x->a, x->k, x->b, x->n, 0.0f, x->c, x->n);
}

const char *onednn_no_bf16(void) {
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx512bf16")) return "this processor has no AVX-512 BF16";
#endif
    return dnnl_bf16 ? NULL : "libdnnl has no dnnl_gemm_bf16bf16f32";
}

void onednn_gemm_bf16(const Matrices *x, int threads) {
    if (omp_threads) omp_threads(threads);
    dnnl_bf16('N', 'N', x->m, x->n, x->k, 1.0f, x->a, x->k, x->b, x->n, 0.0f, x->c, x->n);
}

/* --- torch --- */

static pid_t torch_process;
static FILE *torch_in, *torch_out;

static const char *python_path(void) {
    const char *wish = getenv("TILEWRIGHT_PYTHON");
    if (wish && *wish) return wish;
    return access(".venv/bin/python", X_OK) == 0 ? ".venv/bin/python" : "python3";
}

const char *torch_open(void) {
    static const char none[] =
        "no Python with torch (set TILEWRIGHT_PYTHON, or make a .venv with torch)";
    int to[2], from[2];
    if (pipe(to) != 0 || pipe(from) != 0) return "no pipe";
    signal(SIGPIPE, SIG_IGN);
    torch_process = fork();
    if (torch_process == 0) {
        dup2(to[0], 0), dup2(from[1], 1);
        close(to[1]), close(from[0]);
        setenv("OMP_WAIT_POLICY", "passive", 1); /* threads that spin would slow the others down */
        setenv("KMP_BLOCKTIME", "0", 1);
        const char *python = python_path();
        execlp(python, python, "bench/torch_side.py", (char *)NULL);
        _exit(127);
    }
    close(to[0]), close(from[1]);
    torch_in = fdopen(to[1], "w"), torch_out = fdopen(from[0], "r");
    char line[256];
    if (!torch_in || !torch_out || !fgets(line, sizeof line, torch_out)) return none;
    return strncmp(line, "ready", 5) == 0 ? NULL : none;
}

double torch_run(const char *request, int threads) {
    char line[256];
    fprintf(torch_in, "%d %s\n", threads, request);
    fflush(torch_in);
    double wall = -1, own = -1;
    if (!fgets(line, sizeof line, torch_out) || sscanf(line, "%lf %lf", &wall, &own) != 2)
        return -1;
    return bench_own_time(threads) ? own : wall;
}

void rivals_close(void) {
    if (torch_in) fclose(torch_in);
    if (torch_out) fclose(torch_out);
    if (torch_process > 0) waitpid(torch_process, NULL, 0);
}
