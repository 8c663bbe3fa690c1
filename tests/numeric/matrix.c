/* SPDX-License-Identifier: Apache-2.0 */
/* matrix.c: every kernel of the table on every target, through the command line, against a float64 reference.
 *
 *     matrix [--demo] [--bin DIR] [--targets a,b] [--only SUBSTRING] [--random N] [--seed S] [--shard I/N]
 *
 * For each row (a kernel file, an argument template, a reference), each element type and each shape it writes random
 * normal inputs as .npy files, runs `tilewright run ... --save`, reads the result back and compares each element with
 * the reference under the bound of the tolerance table. It prints one line a run that fails, with the very command to
 * repeat it, and a summary; --demo prints the table with the largest error (in units of the bound) and times.
 *
 * Tolerances. Every bound is absolute: bound = in * S + out * |ref| + tiny, where S is the sum of the magnitudes that
 * went into the element (|x| + |y| for a sum, sum |a||b| for a matmul). `in` covers what happens inside, `out` the last
 * rounding to the element type (half a unit in the last place: 2^-24, 2^-11, 2^-8 for f32, f16, bf16). `in` is derived in
 * the table below. */
#include "base/numeric.h"
#include "shard.h"
#include "target_list.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --- the rows --- */

typedef enum Dtype { F32, F16, BF16 } Dtype;
static const char *const dtype_names[] = {"f32", "f16", "bf16"};
enum { D_F32 = 1, D_F16 = 2, D_BF16 = 4, D_ALL = 7 };

typedef enum Reference { ADD, FMA, SOFTMAX, MATMUL, MATMUL_RELU, MATMUL_NT, ROW_SUM, DOUBLE, ATTENTION, ATTENTION_CAUSAL } Reference;

/* A tensor argument: its name and its dimensions as digits into the row's shape ("02" = shape[0] x shape[2]). The last
 * one is the output; `elem` is a letter: t the row's type, f always f32. */
typedef struct Tensor {
    const char *name, *dims;
} Tensor;

typedef struct Row {
    const char *title, *file;
    const char *options; /* {0} {1} {2} stand for the shape, {12} for a product, {p0} .. for the next power of two, {t} for the type */
    Reference reference;
    int dtypes;
    Tensor tensors[4];
    const char *shapes; /* "a,b,c;..." : full, ragged, tiny, empty */
    int square;         /* random shapes must have equal first two extents */
    const char *not_on; /* targets that come later */
} Row;

#define MATMUL_SHAPES "128,256,128;77,50,93;1,1,1;40,33,0;0,16,16"
#define ATTENTION_SHAPES "2,192,64;2,148,113;1,1,16"
#define ATTENTION_OPTIONS \
    "--arg scale=0.125 --arg N={1} --arg stride_h={12} --arg stride_n={2} --arg D={2} --grid cdiv(N,BM),{0}"
static const Row rows[] = {
    {"triton add", "kernels/triton/add.py:add_kernel",
     "--arg n_elements={0} --arg BLOCK_SIZE=1024 --grid cdiv(n_elements,BLOCK_SIZE)", ADD, D_ALL,
     {{"x_ptr", "0"}, {"y_ptr", "0"}, {"output_ptr", "0"}}, "8192;1000;1;0", 0, ""},
    {"triton x*y+z", "kernels/triton/fma.py", "--arg n={0} --arg BLOCK=1024 --grid cdiv(n,BLOCK)",
     FMA, D_ALL, {{"x_ptr", "0"}, {"y_ptr", "0"}, {"z_ptr", "0"}, {"out_ptr", "0"}}, "8192;1000;1;0", 0, ""},
    {"triton softmax", "kernels/triton/softmax.py",
     "--arg n_cols={1} --arg in_stride={1} --arg out_stride={1} --arg BLOCK={p1} --grid {0}",
     SOFTMAX, D_ALL, {{"in_ptr", "01"}, {"out_ptr", "01"}}, "64,1024;17,777;1,1;0,8", 0, "tenstorrent"},
    {"triton softmax, rows of 32 and more", "kernels/triton/softmax.py",
     "--arg n_cols={1} --arg in_stride={1} --arg out_stride={1} --arg BLOCK={p1} --grid {0}",
     SOFTMAX, D_ALL, {{"in_ptr", "01"}, {"out_ptr", "01"}}, "64,1024;17,777;1,33;0,64", 0, "interp,cpu,emulated,cuda"},
    {"triton matmul", "kernels/triton/matmul.py",
     "--arg M={0} --arg N={1} --arg K={2} --arg stride_am={2} --arg stride_ak=1 --arg stride_bk={1} --arg stride_bn=1 "
     "--arg stride_cm={1} --arg stride_cn=1 --arg BM=64 --arg BN=64 --arg BK=64 --grid cdiv(M,BM)*cdiv(N,BN)",
     MATMUL, D_ALL, {{"a_ptr", "02"}, {"b_ptr", "21"}, {"c_ptr", "01"}}, MATMUL_SHAPES, 0, ""},
    {"triton matmul, persistent", "kernels/triton/matmul_persistent.py",
     "--arg M={0} --arg N={1} --arg K={2} --arg BM=64 --arg BN=32 --arg BK=32 --grid 3",
     MATMUL, D_ALL, {{"a_ptr", "02"}, {"b_ptr", "21"}, {"c_ptr", "01"}}, MATMUL_SHAPES, 0, "tenstorrent"},
    {"triton attention", "kernels/triton/attention.py", ATTENTION_OPTIONS " --arg BM=64 --arg BN=32 --arg CAUSAL=false", ATTENTION,
     D_ALL, {{"q_ptr", "012"}, {"k_ptr", "012"}, {"v_ptr", "012"}, {"o_ptr", "012"}}, ATTENTION_SHAPES, 0, ""},
    {"triton attention, causal", "kernels/triton/attention.py", ATTENTION_OPTIONS " --arg BM=128 --arg BN=64 --arg CAUSAL=true",
     ATTENTION_CAUSAL, D_ALL, {{"q_ptr", "012"}, {"k_ptr", "012"}, {"v_ptr", "012"}, {"o_ptr", "012"}}, ATTENTION_SHAPES, 0, "hip,rdna"},
    {"triton attention, causal, small tiles", "kernels/triton/attention.py", ATTENTION_OPTIONS " --arg BM=64 --arg BN=32 --arg CAUSAL=true",
     ATTENTION_CAUSAL, D_ALL, {{"q_ptr", "012"}, {"k_ptr", "012"}, {"v_ptr", "012"}, {"o_ptr", "012"}}, ATTENTION_SHAPES, 0, "interp,cpu,emulated,cuda,tenstorrent"},
    {"triton matmul, b by rows of n", "kernels/triton/matmul_nt.py",
     "--arg M={0} --arg N={1} --arg K={2} --arg stride_am={2} --arg stride_bn={2} --arg stride_cm={1} --arg BM=64 --arg BN=64 "
     "--arg BK=32 --grid cdiv(M,BM),cdiv(N,BN)",
     MATMUL_NT, D_ALL, {{"a_ptr", "02"}, {"b_ptr", "12"}, {"c_ptr", "01"}}, "128,192,96;77,50,93;1,1,1;0,16,16", 0, ""},
    {"tilelang gemm, as printed", "kernels/tilelang/seed_gemm.py", "-D M={0} -D N={1} -D K={2}", MATMUL, D_F16,
     {{"A", "02"}, {"B", "21"}, {"C", "01"}}, "64,64,96;50,50,33;1,1,1;0,0,8", 1, ""},
    {"tilelang add, as printed", "kernels/tilelang/seed_add.py", "-D M={0} -D N={1}", ADD, D_F16,
     {{"A", "01"}, {"B", "01"}, {"C", "01"}}, "64,64;50,50;1,1;0,0", 1, ""},
    {"tilelang row sum, as printed", "kernels/tilelang/seed_row_sum.py", "-D M={0} -D N={1}", ROW_SUM, D_F16,
     {{"A", "01"}, {"B", "0"}}, "64,128;50,37;1,1;4,0", 0, ""},
    {"tilelang gemm, grid put right", "kernels/tilelang/gemm_elements.py", "-D M={0} -D N={1} -D K={2} -D dtype={t}", MATMUL,
     D_ALL, {{"A", "02"}, {"B", "21"}, {"C", "01"}}, "64,96,96;50,70,33;1,1,1;7,5,0", 0, ""},
    {"tilelang add, grid put right", "kernels/tilelang/add.py", "-D M={0} -D N={1} -D dtype={t}", ADD, D_ALL,
     {{"A", "01"}, {"B", "01"}, {"C", "01"}}, "64,96;50,70;1,1;0,5;5,0", 0, ""},
    {"tilelang gemm, 0 stages", "kernels/tilelang/gemm.py", "-D M={0} -D N={1} -D K={2} -D dtype={t} -D num_stages=0",
     MATMUL_RELU, D_ALL, {{"A", "02"}, {"B", "21"}, {"C", "01"}}, MATMUL_SHAPES, 0, ""},
    {"tilelang gemm, 3 stages", "kernels/tilelang/gemm.py", "-D M={0} -D N={1} -D K={2} -D dtype={t} -D num_stages=3",
     MATMUL_RELU, D_ALL, {{"A", "02"}, {"B", "21"}, {"C", "01"}}, MATMUL_SHAPES, 0, ""},
    {"tile c add", "kernels/tilec/micro_add.tile.c:micro_tk", "", DOUBLE, D_F32, {{"g.x", "01"}, {"g.o", "01"}},
     "16,32;9,20;1,1;0,32;5,0", 0, ""},
    {"tile c add, batch x depth", "kernels/tilec/micro_add_grid.tile.c", "", DOUBLE, D_F32,
     {{"g.x", "0123"}, {"g.o", "0123"}}, "3,2,16,32;2,3,7,13;1,1,1,1;0,2,16,32", 0, ""},
    {"tile c matmul (lcf)", "kernels/tilec/matmul.tile.c", "", MATMUL, D_BF16,
     {{"g.A", "02"}, {"g.B", "21"}, {"g.C", "01"}}, "128,256,128;77,50,93;1,1,1;24,40,0;0,8,8", 0, ""},
};

typedef struct Target {
    const char *name, *options;
} Target;
static const Target targets[] = {{"interp", "--target interp"},
                                 {"cpu", "--target cpu"},
                                 {"emulated", "--target cuda --emulate"},
                                 {"cuda", "--target cuda"},
                                 {"hip", "--target hip --emulate"},
                                 {"rdna", "--target hip:gfx1100 --emulate"},
                                 {"tenstorrent", "--target tenstorrent"}};

/* --- tolerances: (reference, target) -> `in`; see the top of the file --- */

static double unit(Dtype t) { return t == F32 ? 0x1p-24 : t == F16 ? 0x1p-11 : 0x1p-8; }

/* tenstorrent: f16 travels as bf16, so both are judged as bf16. */
static Dtype judged(Dtype t, const Target *target) { return strcmp(target->name, "tenstorrent") == 0 && t == F16 ? BF16 : t; }

/* Triton's products of f32 are tf32 unless the source asks for more: on tensor cores each factor is cut to 11 bits, so by
 * 2^-10, and their product is off by 2^-9. */
static double product_error(const char *file, Dtype t, const Target *target) {
    bool cuda = strcmp(target->name, "emulated") == 0 || strcmp(target->name, "cuda") == 0;
    return cuda && t == F32 && strstr(file, "kernels/triton/") ? 0x1p-9 : 0;
}

/* These keep their sum in the type. The interpreter runs what is written and rounds each partial sum; other targets carry
 * it in f32. */
static double step_error(const char *file, Dtype t, const Target *target) {
    bool narrow = strstr(file, "seed_gemm") || strstr(file, "gemm_elements");
    return narrow && t != F32 && strcmp(target->name, "interp") == 0 ? unit(t) : 0;
}

static double inner_error(const char *file, Reference r, Dtype t, const Target *target, const int64_t *shape) {
    double products = product_error(file, t, target), step = step_error(file, t, target);
    bool tensix = strcmp(target->name, "tenstorrent") == 0;
    /* Tensix sources keep 11 bits of each factor or addend (numerics of the chip: SrcA, SrcB): 2^-11 each, cut, so 2^-10
     * each; bf16 fits exactly. An add first rounds the smaller operand to the larger one's 11 bits: 2^-11 of the sum.
     * f16 inputs were rounded to bf16 on the way: 2^-9 each. */
    double sources = !tensix ? 0 : (t == F32 ? 2 * 0x1p-10 : t == F16 ? 2 * 0x1p-9 : 0) + 0x1p-11;
    double f32 = 0x1p-24;
    switch (r) {
    case ADD: case DOUBLE: return f32 + sources;
    case FMA: return 2 * f32 + (t == F32 ? 0 : unit(t)) + (tensix ? 2 * sources + 0x1p-8 : 0); /* 16-bit products are rounded to the type; a page may round them too */
    /* n roundings of a sum of n terms, the classical bound; 2 for the products' own rounding of f32 inputs. Tensix adds
     * the group alignment of each step of 16: 2^-11 relative to the step's largest term. */
    case MATMUL: case MATMUL_RELU: case MATMUL_NT: return ((double)shape[2] + 2) * (f32 + step) + 2 * sources + products;
    case ROW_SUM: return ((double)shape[1] + 2) * f32 + 2 * sources;
    /* exp within 2 ulp, its argument (x - max, |x - max| < 12 for normal inputs) exact to 2^-24 * 12, the sum over n terms,
     * one division (approximate: 2 ulp); Tensix sources cut the terms of the sum,
     * and f16 inputs were rounded to bf16: 2^-9 of the argument */
    case SOFTMAX: return ((double)shape[1] * 0.05 + 24) * f32 + 2 * sources + (tensix && t == F16 ? 12 * 0x1p-9 : 0);
    /* As softmax, with scores that are dots of D products (|q k| scaled stays under D / 4), in numerator and denominator;
     * probabilities are rounded to the type, then a sum of N products; Tensix sources as above, in both products */
    case ATTENTION: case ATTENTION_CAUSAL:
        return ((double)shape[1] + 26 + ((double)shape[2] + 2) * (double)shape[2] / 2) * f32 + (t == F32 ? 0 : 2 * unit(t)) +
               ((double)shape[2] / 2 + 1) * (products + 2 * sources) + 2 * sources;
    }
    return 0;
}

/* --- random numbers, files --- */

static uint64_t state; /* set for each case (run_mine) */
static double uniform(void) { /* xorshift64*, in (0, 1) */
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return ((double)((state * 2685821657736338717u) >> 11) + 0.5) * 0x1p-53;
}
static double normal(void) { return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()); }

typedef struct Array {
    int64_t count;
    double *at;
    int rank;
    int64_t extent[4];
} Array;

static double rounded(Dtype t, double x) {
    if (t == F32) return (float)x;
    if (t == F16) return f16_to_f32(f16_from_f64(x));
    return bf16_to_f32(bf16_from_f64(x));
}

/* Version 1.0 of the format; bf16 as raw two-byte items ('|V2'). */
static bool write_npy(const char *path, const Array *a, Dtype t) {
    FILE *out = fopen(path, "wb");
    if (!out) return false;
    char header[256], shape[128] = "";
    for (int d = 0; d < a->rank; d++)
        snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%lld,", (long long)a->extent[d]);
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
             t == F32 ? "<f4" : t == F16 ? "<f2" : "|V2", shape);
    size_t length = strlen(header), total = (10 + length + 1 + 63) / 64 * 64;
    fwrite("\x93NUMPY\x01\x00", 1, 8, out);
    fputc((int)((total - 10) & 255), out), fputc((int)((total - 10) >> 8), out);
    fprintf(out, "%-*s\n", (int)(total - 11), header);
    for (int64_t i = 0; i < a->count; i++) {
        float f = (float)a->at[i];
        uint16_t h = t == F16 ? f16_from_f64(a->at[i]) : bf16_from_f64(a->at[i]);
        if (t == F32) fwrite(&f, 4, 1, out);
        else fwrite(&h, 2, 1, out);
    }
    return fclose(out) == 0;
}

static bool read_npy(const char *path, Array *a, Dtype t) {
    FILE *in = fopen(path, "rb");
    unsigned char head[10];
    if (!in) return false;
    bool good = fread(head, 1, 10, in) == 10 && fseek(in, 10 + head[8] + head[9] * 256, SEEK_SET) == 0;
    for (int64_t i = 0; good && i < a->count; i++) {
        float f = 0;
        uint16_t h = 0;
        good = t == F32 ? fread(&f, 4, 1, in) == 1 : fread(&h, 2, 1, in) == 1;
        a->at[i] = t == F32 ? f : t == F16 ? f16_to_f32(h) : bf16_to_f32(h);
    }
    good = good && fgetc(in) == EOF;
    fclose(in);
    return good;
}

static Array new_array(const char *dims, const int64_t *shape) {
    Array a = {.count = 1, .rank = (int)strlen(dims)};
    for (int d = 0; d < a.rank; d++) a.count *= a.extent[d] = shape[dims[d] - '0'];
    a.at = calloc((size_t)a.count + 1, sizeof *a.at);
    return a;
}

/* --- references in float64: value and S of each element --- */

static void reference(Reference r, const Array *in, const int64_t *shape, double *value, double *sum) {
    const double *x = in[0].at, *y = in[1].at, *z = in[2].at;
    int64_t M = shape[0], N = shape[1], K = shape[2];
    switch (r) {
    case ADD:
        for (int64_t i = 0; i < in[0].count; i++) value[i] = x[i] + y[i], sum[i] = fabs(x[i]) + fabs(y[i]);
        break;
    case DOUBLE:
        for (int64_t i = 0; i < in[0].count; i++) value[i] = x[i] + x[i], sum[i] = 2 * fabs(x[i]);
        break;
    case FMA:
        for (int64_t i = 0; i < in[0].count; i++) value[i] = x[i] * y[i] + z[i], sum[i] = fabs(x[i] * y[i]) + fabs(z[i]);
        break;
    case SOFTMAX:
        for (int64_t i = 0; i < M; i++) {
            double top = -INFINITY, total = 0;
            for (int64_t j = 0; j < N; j++) top = fmax(top, x[i * N + j]);
            for (int64_t j = 0; j < N; j++) total += exp(x[i * N + j] - top);
            for (int64_t j = 0; j < N; j++) value[i * N + j] = sum[i * N + j] = exp(x[i * N + j] - top) / total;
        }
        break;
    case ATTENTION:
    case ATTENTION_CAUSAL:
        for (int64_t row = 0; row < M * N; row++) { /* heads x queries; K is the width of a head */
            const double *q = x + row * K, *keys = y + row / N * N * K, *values = z + row / N * N * K;
            int64_t seen = r == ATTENTION ? N : row % N + 1;
            double top = -INFINITY, total = 0, *p = calloc((size_t)seen, sizeof *p);
            for (int64_t j = 0; j < seen; j++) {
                for (int64_t d = 0; d < K; d++) p[j] += 0.125 * q[d] * keys[j * K + d];
                top = fmax(top, p[j]);
            }
            for (int64_t j = 0; j < seen; j++) total += p[j] = exp(p[j] - top);
            for (int64_t j = 0; j < seen; j++)
                for (int64_t d = 0; d < K; d++) {
                    double term = p[j] / total * values[j * K + d];
                    value[row * K + d] += term, sum[row * K + d] += fabs(term);
                }
            free(p);
        }
        break;
    case ROW_SUM:
        for (int64_t i = 0; i < M; i++)
            for (int64_t j = 0; j < N; j++) value[i] += x[i * N + j], sum[i] += fabs(x[i * N + j]);
        break;
    case MATMUL_NT:
        for (int64_t i = 0; i < M; i++)
            for (int64_t j = 0; j < N; j++)
                for (int64_t k = 0; k < K; k++) {
                    double p = x[i * K + k] * y[j * K + k];
                    value[i * N + j] += p, sum[i * N + j] += fabs(p);
                }
        break;
    case MATMUL:
    case MATMUL_RELU:
        for (int64_t i = 0; i < M; i++)
            for (int64_t k = 0; k < K; k++)
                for (int64_t j = 0; j < N; j++) {
                    double p = x[i * K + k] * y[k * N + j];
                    value[i * N + j] += p, sum[i * N + j] += fabs(p);
                }
        for (int64_t i = 0; r == MATMUL_RELU && i < M * N; i++) value[i] = fmax(value[i], 0);
        break;
    }
}

/* --- one run --- */

typedef struct Options {
    bool demo;
    const char *bin, *targets, *only, *folder;
    int random;
    uint64_t seed;
    Shard shard;
} Options;

typedef enum Outcome { PASSED, FAILED, ABSENT } Outcome;
typedef struct Result {
    Outcome outcome;
    double error;   /* largest |got - ref| / bound */
    double seconds; /* of the launch, as the command line measured it */
} Result;

static int64_t next_power(int64_t n) {
    int64_t p = 1;
    while (p < n) p *= 2;
    return p;
}

/* Puts the shape and the type into a template. */
static void expand(const char *text, const int64_t *shape, Dtype t, char *out, size_t size) {
    static const char *const long_names[] = {"float32", "float16", "bfloat16"};
    size_t n = 0;
    for (const char *s = text; *s && n + 32 < size;) {
        if (*s == '{' && s[1] == 't') n += (size_t)snprintf(out + n, size - n, "%s", long_names[t]), s += 3;
        else if (*s == '{' && s[1] == 'p') n += (size_t)snprintf(out + n, size - n, "%lld", (long long)next_power(shape[s[2] - '0'])), s += 4;
        else if (*s == '{') {
            int64_t product = 1;
            for (s++; *s != '}'; s++) product *= shape[*s - '0'];
            n += (size_t)snprintf(out + n, size - n, "%lld", (long long)product), s++;
        }
        else out[n++] = *s++;
    }
    out[n] = 0;
}

/* Runs the command without a shell; its output goes to `log`. The words are separated by single blanks. */
static int run(char *command, const char *log) {
    char *words[128];
    int count = 0;
    for (char *word = strtok(command, " "); word && count < 127; word = strtok(NULL, " ")) words[count++] = word;
    words[count] = NULL;
    pid_t child = fork();
    if (child == 0) {
        int out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (out < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) _exit(127);
        execv(words[0], words);
        _exit(127);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static double read_time(const char *log) {
    char line[512];
    double seconds = NAN;
    FILE *in = fopen(log, "r");
    while (in && fgets(line, sizeof line, in)) {
        double value;
        if (sscanf(line, "time: %lf us", &value) == 1) seconds = value * 1e-6;
    }
    if (in) fclose(in);
    return seconds;
}

static void show_log(const char *log) {
    char line[512];
    FILE *in = fopen(log, "r");
    for (int n = 0; in && n < 12 && fgets(line, sizeof line, in); n++) printf("    %s", line);
    if (in) fclose(in);
}

static Result run_case(const Options *o, const Row *row, const Target *target, Dtype t, const int64_t *shape) {
    Result result = {FAILED, NAN, NAN};
    int count = 0;
    while (count < 4 && row->tensors[count].name) count++;
    Array arrays[4] = {{0}};
    char command[4096], options[2048], log[512], path[512];
    expand(row->options, shape, t, options, sizeof options);
    snprintf(command, sizeof command, "%s/tilewright run %s %s%s%s --time", o->bin, row->file, target->options,
             *options ? " " : "", options);
    for (int i = 0; i < count; i++) {
        arrays[i] = new_array(row->tensors[i].dims, shape);
        bool output = i == count - 1;
        for (int64_t e = 0; e < arrays[i].count; e++) arrays[i].at[e] = output ? 777 : rounded(t, normal());
        snprintf(path, sizeof path, "%s/%s.npy", o->folder, row->tensors[i].name);
        if (!write_npy(path, &arrays[i], t)) return result;
        size_t n = strlen(command);
        snprintf(command + n, sizeof command - n, " --arg %s=file:%s:%s", row->tensors[i].name, path, dtype_names[t]);
        n = strlen(command);
        if (output) snprintf(command + n, sizeof command - n, " --save %s=%s/out.npy", row->tensors[i].name, o->folder);
    }
    Array *out = &arrays[count - 1];
    double *value = calloc((size_t)out->count + 1, sizeof *value), *sum = calloc((size_t)out->count + 1, sizeof *sum);
    reference(row->reference, arrays, shape, value, sum);
    snprintf(log, sizeof log, "%s/log", o->folder);
    snprintf(path, sizeof path, "%s/out.npy", o->folder);
    remove(path);
    char *shown = strdup(command);
    int status = run(command, log);
    if (status == 0 && read_npy(path, out, t)) {
        Dtype j = judged(t, target);
        double inner = inner_error(row->file, row->reference, t, target, shape);
        result.error = 0;
        for (int64_t i = 0; i < out->count; i++) {
            double bound = inner * sum[i] + unit(j) * fabs(value[i]) * 1.001 + (t == F16 ? 0x1p-24 : 1e-38);
            double error = fabs(out->at[i] - value[i]) / bound;
            if (!(error <= result.error)) result.error = error; /* also NaN */
        }
        result.outcome = result.error <= 1 ? PASSED : FAILED;
        result.seconds = read_time(log);
    }
    if (result.outcome == FAILED) {
        printf("FAILED %s, %s on %s, shape", row->title, dtype_names[t], target->name);
        for (int d = 0; d < 4; d++) printf(" %lld", (long long)shape[d]);
        printf(": %s\n  %s\n", status ? "exit status" : "error above its bound", shown);
        if (status) show_log(log);
        else printf("    largest error: %.3g times its bound\n", result.error);
    }
    free(shown), free(value), free(sum);
    for (int i = 0; i < count; i++) free(arrays[i].at);
    return result;
}

/* --- the whole --- */

static void random_shape(const Row *row, int64_t *shape) {
    static const int64_t most[4] = {150, 150, 150, 40};
    int rank = 0;
    for (int i = 0; i < 4 && row->tensors[i].name; i++)
        for (const char *d = row->tensors[i].dims; *d; d++)
            if (*d - '0' + 1 > rank) rank = *d - '0' + 1;
    for (int d = 0; d < 4; d++) shape[d] = d < rank ? 1 + (int64_t)(uniform() * (double)(rank == 4 && d < 2 ? 3 : most[d])) : 0;
    if (row->reference == DOUBLE) { /* one tile of 16 x 32 */
        int d = rank - 2;
        shape[d] = 1 + (shape[d] - 1) % 16, shape[d + 1] = 1 + (shape[d + 1] - 1) % 32;
    }
    if (row->square) shape[1] = shape[0];
}

/* What one type on one target has come to. */
typedef struct Tally {
    int runs, failures;
    double worst; /* error */
} Tally;

static Result run_mine(Options *o, const Row *row, const Target *target, Dtype t, const int64_t *shape, Tally *tally) {
    int64_t drawn[4];
    Result r = {PASSED, 0, NAN};
    if (!shard_takes(&o->shard)) return r;
    state = shard_state(&o->shard, o->seed);
    if (!shape) random_shape(row, drawn);
    r = run_case(o, row, target, t, shape ? shape : drawn);
    tally->runs++;
    tally->failures += r.outcome == FAILED;
    if (!(r.error <= tally->worst)) tally->worst = r.error;
    return r;
}

static void run_row(Options *o, const Row *row, Tally *all) {
    for (size_t g = 0; g < sizeof targets / sizeof *targets; g++) {
        const Target *target = &targets[g];
        if (!targets_have(o->targets, target->name) || targets_have(row->not_on, target->name)) continue;
        for (Dtype t = F32; t <= BF16; t++) {
            if (!(row->dtypes >> t & 1)) continue;
            Tally tally = {0};
            double first_time = NAN;
            const char *s = row->shapes;
            for (int n = 0; *s; n++) {
                int64_t shape[4] = {0};
                for (int d = 0; d < 4 && *s && *s != ';'; d++) {
                    shape[d] = strtoll(s, (char **)&s, 10);
                    if (*s == ',') s++;
                }
                if (*s == ';') s++;
                Result r = run_mine(o, row, target, t, shape, &tally);
                if (n == 0) first_time = r.seconds;
            }
            for (int n = 0; n < o->random; n++) run_mine(o, row, target, t, NULL, &tally);
            if (o->demo)
                printf("| %-30s | %-11s | %-4s | %8.3f | %10.1f |\n", row->title, target->name, dtype_names[t], tally.worst,
                       first_time * 1e6);
            fflush(stdout);
            all->runs += tally.runs, all->failures += tally.failures;
        }
    }
}

/* --- fusion: x*y+z as one kernel against the pair mul, add --- */

static double timed(const Options *o, const char *options) {
    char command[2048], log[512];
    snprintf(command, sizeof command, "%s/tilewright run %s --time", o->bin, options);
    snprintf(log, sizeof log, "%s/log", o->folder);
    return run(command, log) == 0 ? read_time(log) : NAN;
}

static void demo_fusion(const Options *o, const Target *target) {
    enum { N = 1 << 22 };
    static const char *const arrays[3] = {"--arg x_ptr=randn:f32[%d] --arg y_ptr=randn:f32[%d] --arg z_ptr=randn:f32[%d] --arg out_ptr=zeros:f32[%d] --arg n=%d --arg BLOCK=1024",
                                          "--arg x_ptr=randn:f32[%d] --arg y_ptr=randn:f32[%d] --arg out_ptr=zeros:f32[%d] --arg n=%d --arg BLOCK=1024",
                                          "--arg x_ptr=randn:f32[%d] --arg y_ptr=randn:f32[%d] --arg output_ptr=zeros:f32[%d] --arg n_elements=%d --arg BLOCK_SIZE=1024"};
    static const char *const files[3] = {"fma.py", "mul.py", "add.py:add_kernel"};
    double seconds[3];
    for (int i = 0; i < 3; i++) {
        char words[1024], options[1600];
        snprintf(words, sizeof words, arrays[i], N, N, N, N, N);
        snprintf(options, sizeof options, "kernels/triton/%s %s %s --grid %d", files[i], target->options, words, N / 1024);
        seconds[i] = timed(o, options);
    }
    double mib = (double)N * 4 / (1 << 20);
    printf("x*y+z on %s, f32, 2^22 elements: fused %.0f us moving %.0f MiB; mul then add %.0f us moving %.0f MiB; speed-up %.2fx\n", target->name,
           seconds[0] * 1e6, 4 * mib, (seconds[1] + seconds[2]) * 1e6, 6 * mib, (seconds[1] + seconds[2]) / seconds[0]);
}

int main(int argc, char **argv) {
    Options o = {.bin = "build", .targets = "interp,cpu", .only = "", .seed = (uint64_t)time(NULL), .shard = SHARD_ALL};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--demo") == 0) {
            o.demo = true;
            continue;
        }
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!value) return fprintf(stderr, "matrix: %s needs a value\n", argv[i]), 1;
        if (strcmp(argv[i], "--bin") == 0) o.bin = value;
        else if (strcmp(argv[i], "--targets") == 0 && targets_known(value)) o.targets = value;
        else if (strcmp(argv[i], "--only") == 0) o.only = value;
        else if (strcmp(argv[i], "--random") == 0) o.random = atoi(value);
        else if (strcmp(argv[i], "--seed") == 0) o.seed = strtoull(value, NULL, 10);
        else if (strcmp(argv[i], "--shard") == 0 && shard_read(&o.shard, value)) {}
        else return fprintf(stderr, "matrix: %s %s is not understood\n", argv[i], value), 1;
        i++;
    }
    char folder[] = "/tmp/tilewright-matrix-XXXXXX", cleanup[256];
    if (!mkdtemp(folder)) return perror(folder), 1;
    o.folder = folder;
    printf("seed %llu, targets %s\n", (unsigned long long)o.seed, o.targets);
    if (o.demo)
        printf("\n| kernel                         | target      | type | error    | launch, us |\n"
               "|--------------------------------|-------------|------|----------|------------|\n");
    Tally all = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(rows[i].title, o.only)) run_row(&o, &rows[i], &all);
    if (o.demo) printf("\nerror: largest |result - float64 reference| in units of its bound (1.000 is the limit) over all shapes\n");
    for (size_t g = 0; g < sizeof targets / sizeof *targets; g++) /* only where times mean something */
        if (o.demo && !*o.only && targets_have(o.targets, targets[g].name) && (strcmp(targets[g].name, "cpu") == 0 || strcmp(targets[g].name, "cuda") == 0))
            demo_fusion(&o, &targets[g]);
    printf("%d runs, %d failed\n", all.runs, all.failures);
    snprintf(cleanup, sizeof cleanup, "rm -rf %s", folder);
    return system(cleanup) != 0 || all.failures != 0;
}
