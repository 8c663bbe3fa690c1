/* SPDX-License-Identifier: Apache-2.0 */
/* property.c: what is a plan never changes a bit. Stages, roles, persistence, warps, threads and the interpreter's order of
 * open choices are drawn at random or all tried; each result must equal the one of the plain options in every byte.
 *
 *     property [--targets a,b] [--only SUBSTRING] [--draws N | --all] [--seed S] [--shard I/N]
 *
 * For each kernel, element type, shape (full, ragged, K = 0, one element, one at random) and target the kernel runs
 * with the options of the source, then with N draws (--all: the whole product). A difference is printed with its place,
 * both values and the two commands that show it; the seed makes every run repeatable:
 *
 *     DIFFERS triton matmul f16 77x50x93 on cpu: c_ptr[12] is 1.25, plain 1.5
 *       tilewright run kernels/triton/matmul.py --target cpu --seed 9 ... --set roles=on
 *
 * The first draws walk through num_stages 0..4 with roles on and off, so that even N = 5 meets each of them. */
#include "guarded.h"
#include "shard.h"
#include "target_list.h"
#include "tilewright.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------ kernels */

/* What is given for a parameter: "@02" a tensor of shape[0] x shape[2], "$1" shape[1], "^1" the next power of two of
 * it, else a number. */
typedef struct Given {
    const char *name, *value;
} Given;
typedef enum Grid { OWN, TILES, BLOCKS, ROWS } Grid;

enum { F32 = 1, F16 = 2, BF16 = 4 };
static const struct {
    int bit, dtype;
    const char *name, *long_name;
} types[] = {{F32, TW_F32, "f32", "float32"}, {F16, TW_F16, "f16", "float16"}, {BF16, TW_BF16, "bf16", "bfloat16"}};

typedef struct Row {
    const char *title, *file;
    int types, extents;
    Grid grid;
    Given given[16];
    const char *defines; /* "M=$0,dtype=$t" */
    const char *shapes;
    const char *not_on;
} Row;

#define MATMUL_SHAPES "128,128,128;77,50,93;40,33,0;1,1,1"
static const Row rows[] = {
    {"triton matmul", "kernels/triton/matmul.py", F32 | F16 | BF16, 3, TILES,
     {{"a_ptr", "@02"}, {"b_ptr", "@21"}, {"c_ptr", "@01"}, {"M", "$0"}, {"N", "$1"}, {"K", "$2"}, {"stride_am", "$2"},
      {"stride_ak", "1"}, {"stride_bk", "$1"}, {"stride_bn", "1"}, {"stride_cm", "$1"}, {"stride_cn", "1"}, {"BM", "64"},
      {"BN", "64"}, {"BK", "32"}},
     "", MATMUL_SHAPES, ""},
    {"tilelang gemm", "kernels/tilelang/gemm.py", F16 | BF16, 3, OWN, {{"A", "@02"}, {"B", "@21"}, {"C", "@01"}},
     "M=$0,N=$1,K=$2,block_K=32,dtype=$t", MATMUL_SHAPES, ""},
    {"tile c matmul", "kernels/tilec/matmul.tile.c", BF16, 3, OWN, {{"g.A", "@02"}, {"g.B", "@21"}, {"g.C", "@01"}},
     "NB=2", MATMUL_SHAPES, ""},
    {"triton x*y+z", "kernels/triton/fma.py", F32 | F16, 1, BLOCKS,
     {{"x_ptr", "@0"}, {"y_ptr", "@0"}, {"z_ptr", "@0"}, {"out_ptr", "@0"}, {"n", "$0"}, {"BLOCK", "256"}}, "",
     "1024;1000;0;1", ""},
    {"triton softmax", "kernels/triton/softmax.py", F32 | F16, 2, ROWS,
     {{"out_ptr", "@01"}, {"in_ptr", "@01"}, {"in_stride", "$1"}, {"out_stride", "$1"}, {"n_cols", "$1"}, {"BLOCK", "^1"}},
     "", "8,256;5,77;0,8;1,1", "tenstorrent"},
};

/* ------------------------------------------------------------------------------------------------------ options */

typedef struct Axis {
    const char *option;
    const char *values[6];
    const char *targets; /* on which it says something */
} Axis;
static const Axis axes[] = {
    {"num_stages", {"0", "1", "2", "3", "4"}, "interp,cpu,emulated,hip,rdna,tenstorrent"},
    {"roles", {"on", "off", "auto"}, "interp,cpu,emulated,hip,rdna,tenstorrent"},
    {"persist", {"on", "off"}, "interp,cpu,emulated,hip,rdna,tenstorrent"},
    {"num_warps", {"4", "8"}, "emulated,hip,rdna"},
    {"slots", {"0", "0", "2", "3", "4"}, "emulated,hip,rdna"},
    {"cluster", {"0", "1", "2"}, "emulated"},
    {"threads", {"1", "2"}, "interp,cpu"},
    {"seed", {"0", "7"}, "interp"},
    {"passes", {"on"}, "interp"}, /* in ring form; as the door made it there is no plan */
};
enum { AXES = sizeof axes / sizeof *axes };

typedef struct Target {
    const char *name, *compile;
} Target;
static const Target targets[] = {
    {"interp", "interp"}, {"cpu", "cpu"}, {"emulated", "cuda-emulated"}, {"cuda", "cuda"},
    {"hip", "hip-emulated"}, {"rdna", "hip-emulated:gfx1100"}, {"tenstorrent", "tenstorrent"}};

static int count_values(const Axis *axis) {
    int n = 0;
    while (n < 6 && axis->values[n]) n++;
    return n;
}

/* ------------------------------------------------------------------------------------------------------- a case */

enum { MOST_PARAMS = 24, MOST_DEFINES = 8 };

typedef struct Case {
    const Row *row;
    const Target *target;
    int type;
    int64_t shape[3];
    uint64_t seed;
    tw_context *context;
    tw_module *module;
    tw_kernel *kernel; /* the last one, until what it wrote has been read: racecheck dies of one that goes while it runs */
    size_t params;
    tw_param_info info[MOST_PARAMS];
    tw_arg args[MOST_PARAMS];
    tw_buffer *host[MOST_PARAMS], *target_buffer[MOST_PARAMS];
    void *plain[MOST_PARAMS]; /* the bytes after the plain run */
    int64_t grid[3];
    int runs, failures;
} Case;

static int64_t next_power(int64_t n) {
    int64_t p = 1;
    while (p < n) p *= 2;
    return p;
}

static int64_t number_of(const Case *c, const char *value) {
    if (*value == '$') return c->shape[value[1] - '0'];
    if (*value == '^') return next_power(c->shape[value[1] - '0']);
    return strtoll(value, NULL, 10);
}

static const char *given_for(const Row *row, const char *name) {
    for (int i = 0; i < 16 && row->given[i].name; i++)
        if (strcmp(row->given[i].name, name) == 0) return row->given[i].value;
    return NULL;
}

static size_t bytes_of(const tw_buffer *b) { return (size_t)tw_buffer_elements(b) * tw_dtype_size(tw_buffer_dtype(b)); }

static void print_command(const Case *c, const tw_pair *options, size_t count) {
    printf("  tilewright run %s --target %s --seed %llu", c->row->file, c->target->compile, (unsigned long long)c->seed);
    for (const char *s = c->row->defines; *s;) {
        size_t length = strcspn(s, ",");
        const char *equals = memchr(s, '=', length);
        printf(" -D %.*s=", (int)(equals - s), s);
        if (equals[1] == '$' && equals[2] == 't') printf("%s", types[c->type].long_name);
        else printf("%lld", (long long)number_of(c, equals + 1));
        s += length + (s[length] == ',');
    }
    for (size_t p = 0; p < c->params; p++) {
        const char *value = given_for(c->row, c->info[p].name);
        if (!value) continue;
        if (*value != '@') printf(" --arg %s=%lld", c->info[p].name, (long long)number_of(c, value));
        else {
            printf(" --arg %s=randn:%s[", c->info[p].name, types[c->type].name);
            for (int d = 1; value[d]; d++) printf("%s%lld", d > 1 ? "," : "", (long long)c->shape[value[d] - '0']);
            printf("]");
        }
    }
    if (c->row->grid != OWN) printf(" --grid %lld", (long long)c->grid[0]);
    for (size_t i = 0; i < count; i++) printf(" --set %s=%s", options[i].name, options[i].value);
    printf("\n");
}

static void print_title(const Case *c, const char *verdict) {
    printf("%s %s, %s, ", verdict, c->row->title, types[c->type].name);
    for (int d = 0; d < c->row->extents; d++) printf("%s%lld", d ? "x" : "", (long long)c->shape[d]);
    printf(" on %s: ", c->target->name);
}

static bool open_module(Case *c) {
    tw_module_options options;
    tw_pair defines[MOST_DEFINES];
    char texts[MOST_DEFINES][32], names[MOST_DEFINES][32];
    tw_module_options_init(&options);
    for (const char *s = c->row->defines; *s; options.define_count++) {
        size_t n = options.define_count, length = strcspn(s, ","), equals = strcspn(s, "=");
        snprintf(names[n], sizeof names[n], "%.*s", (int)equals, s);
        if (s[equals + 1] == '$' && s[equals + 2] == 't') snprintf(texts[n], sizeof texts[n], "%s", types[c->type].long_name);
        else snprintf(texts[n], sizeof texts[n], "%lld", (long long)number_of(c, s + equals + 1));
        defines[n] = (tw_pair){names[n], texts[n]};
        s += length + (s[length] == ',');
    }
    options.defines = defines;
    return tw_module_load_file(c->context, c->row->file, &options, &c->module) == TW_OK;
}

/* Arrays on the host, filled as the command line would fill them with the same --seed; in the target's memory, empty. */
static bool open_arguments(Case *c) {
    c->params = tw_module_param_count(c->module, 0);
    for (size_t p = 0; p < c->params && p < MOST_PARAMS; p++) {
        c->info[p].struct_size = sizeof c->info[p];
        tw_module_param_at(c->module, 0, p, &c->info[p]);
        const char *value = given_for(c->row, c->info[p].name);
        if (!value) continue;
        if (*value != '@') {
            c->args[p].kind = TW_ARG_INT;
            c->args[p].value.i = number_of(c, value);
            continue;
        }
        int64_t extents[TW_MAX_RANK];
        int rank = (int)strlen(value + 1);
        for (int d = 0; d < rank; d++) extents[d] = c->shape[value[d + 1] - '0'];
        int dtype = types[c->type].dtype;
        if (tw_buffer_create(c->context, dtype, rank, extents, NULL, &c->host[p]) != TW_OK ||
            tw_buffer_fill(c->host[p], "randn", 0, c->seed + p) != TW_OK ||
            guarded_create(c->context, dtype, rank, extents, c->target->compile, &c->target_buffer[p]) != TW_OK)
            return false;
        c->args[p].kind = TW_ARG_BUFFER;
        c->args[p].value.buffer = c->target_buffer[p];
        c->plain[p] = malloc(bytes_of(c->host[p]) + 1);
    }
    int64_t *s = c->shape, tiles = ((s[0] + 63) / 64) * ((s[1] + 63) / 64);
    c->grid[0] = c->row->grid == TILES ? tiles : c->row->grid == BLOCKS ? (s[0] + 255) / 256 : s[0];
    c->grid[1] = c->grid[2] = 1;
    return true;
}

static void close_case(Case *c) {
    for (size_t p = 0; p < MOST_PARAMS; p++) {
        tw_buffer_destroy(c->host[p]);
        guarded_destroy(c->target_buffer[p]);
        free(c->plain[p]);
    }
    tw_kernel_destroy(c->kernel);
    tw_module_destroy(c->module);
}

static bool run_kernel(Case *c, const tw_pair *sets, size_t count) {
    tw_compile_options options;
    tw_kernel_destroy(c->kernel);
    c->kernel = NULL;
    tw_compile_options_init(&options);
    options.target = c->target->compile;
    options.args = c->args;
    options.arg_count = c->params;
    options.options = sets;
    options.option_count = count;
    options.verify_each = 1;
    tw_status status = TW_OK;
    for (size_t p = 0; p < c->params && status == TW_OK; p++)
        if (c->host[p]) status = tw_buffer_write(c->target_buffer[p], tw_buffer_data(c->host[p]), bytes_of(c->host[p]));
    if (status == TW_OK) status = tw_kernel_compile(c->module, NULL, &options, &c->kernel);
    if (status == TW_OK)
        status = tw_kernel_launch(c->kernel, NULL, c->row->grid == OWN ? NULL : c->grid, c->args, c->params);
    c->runs++;
    if (status != TW_OK) {
        c->failures++;
        print_title(c, "FAILED");
        printf("%s\n%s\n", tw_status_name(status), tw_context_message(c->context));
        print_command(c, sets, count);
    }
    return status == TW_OK;
}

static double element(int dtype, const void *bytes, size_t i) {
    uint16_t h;
    float f;
    if (dtype == TW_F32) return ((const float *)bytes)[i];
    memcpy(&h, (const char *)bytes + 2 * i, 2);
    if (dtype == TW_BF16) {
        uint32_t bits = (uint32_t)h << 16;
        memcpy(&f, &bits, 4);
        return f;
    }
    return h; /* f16: the bits; they are what is compared */
}

static void compare(Case *c, const tw_pair *sets, size_t count) {
    for (size_t p = 0; p < c->params; p++) {
        if (!c->host[p]) continue;
        size_t size = bytes_of(c->host[p]), item = tw_dtype_size(types[c->type].dtype);
        char *got = malloc(size + 1);
        const char *plain = c->plain[p];
        bool read = tw_buffer_read(c->target_buffer[p], got, size) == TW_OK;
        if (!read || memcmp(got, plain, size) != 0) {
            size_t i = 0, different = 0;
            for (size_t e = size / item; e-- > 0;)
                if (memcmp(got + e * item, plain + e * item, item) != 0) i = e, different++;
            c->failures++;
            print_title(c, "DIFFERS");
            printf("%s[%zu] is %.9g, plain %.9g (%zu of %zu elements differ)\n", c->info[p].name, i,
                   element(types[c->type].dtype, got, i), element(types[c->type].dtype, plain, i), different, size / item);
            print_command(c, sets, count);
        }
        free(got);
    }
}

/* ------------------------------------------------------------------------------------------------------ the run */

typedef struct Options {
    const char *targets, *only;
    int draws;
    bool all;
    uint64_t seed;
    Shard shard;
} Options;

static uint64_t state;
static uint64_t draw(uint64_t below) { /* xorshift64* */
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return (state * 2685821657736338717u >> 33) % below;
}

/* The n-th choice: --all counts through the product; a draw takes num_stages and roles in turn, the rest at random. */
static size_t choose(const Options *o, const Target *target, uint64_t n, tw_pair *sets, bool *past) {
    size_t count = 0;
    uint64_t rest = n;
    for (int a = 0; a < AXES; a++) {
        if (!targets_have(axes[a].targets, strcmp(target->name, "cuda") == 0 ? "emulated" : target->name)) continue;
        uint64_t values = (uint64_t)count_values(&axes[a]);
        uint64_t pick = o->all ? rest % values : a == 0 ? n % values : a == 1 && n < 10 ? (n + n / 5) % 2 : draw(values);
        if (strcmp(target->name, "tenstorrent") == 0 && a == 1 && pick == 1) pick = 0; /* it needs roles */
        rest /= values;
        sets[count++] = (tw_pair){axes[a].option, axes[a].values[pick]};
    }
    *past = o->all ? rest > 0 : n >= (uint64_t)o->draws;
    return count;
}

static void run_case(Case *c, const Options *o) {
    tw_pair passes = {"passes", "on"};
    if (!open_module(c) || !open_arguments(c)) {
        c->failures++;
        print_title(c, "FAILED");
        printf("%s\n", tw_context_message(c->context));
    } else if (run_kernel(c, &passes, strcmp(c->target->name, "interp") == 0)) {
        for (size_t p = 0; p < c->params; p++)
            if (c->host[p]) tw_buffer_read(c->target_buffer[p], c->plain[p], bytes_of(c->host[p]));
        for (uint64_t n = 0;; n++) {
            tw_pair sets[AXES];
            bool past;
            size_t count = choose(o, c->target, n, sets, &past);
            if (past) break;
            if (run_kernel(c, sets, count)) compare(c, sets, count);
        }
    }
    close_case(c);
    fflush(stdout);
}

/* The row's shapes, then one of -1, to be drawn. False behind the last. */
static bool next_shape(const char **at, int64_t *shape, bool *random) {
    shape[0] = shape[1] = shape[2] = 0;
    if (!**at) {
        if (*random) return false;
        *random = true;
        shape[0] = -1;
        return true;
    }
    for (int d = 0; **at && **at != ';'; d++) {
        shape[d] = strtoll(*at, (char **)at, 10);
        if (**at == ',') ++*at;
    }
    if (**at == ';') ++*at;
    return true;
}

int main(int argc, char **argv) {
    Options o = {.targets = "interp,cpu", .only = "", .draws = 5, .seed = 1, .shard = SHARD_ALL};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--all") == 0) {
            o.all = true;
            continue;
        }
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!value) return fprintf(stderr, "property: %s needs a value\n", argv[i]), 1;
        if (strcmp(argv[i], "--targets") == 0 && targets_known(value)) o.targets = value;
        else if (strcmp(argv[i], "--only") == 0) o.only = value;
        else if (strcmp(argv[i], "--draws") == 0) o.draws = atoi(value);
        else if (strcmp(argv[i], "--seed") == 0) o.seed = strtoull(value, NULL, 10);
        else if (strcmp(argv[i], "--shard") == 0 && shard_read(&o.shard, value)) {}
        else return fprintf(stderr, "property: %s %s is not understood\n", argv[i], value), 1;
        i++;
    }
    tw_context *context = NULL;
    if (tw_context_create(NULL, &context) != TW_OK) return fprintf(stderr, "property: out of memory\n"), 1;
    printf("seed %llu, targets %s\n", (unsigned long long)o.seed, o.targets);
    int runs = 0, failures = 0;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        if (!strstr(rows[r].title, o.only)) continue;
        for (size_t g = 0; g < sizeof targets / sizeof *targets; g++) {
            if (!targets_have(o.targets, targets[g].name) || targets_have(rows[r].not_on, targets[g].name)) continue;
            for (int t = 0; t < 3; t++) {
                if (!(rows[r].types & types[t].bit)) continue;
                const char *at = rows[r].shapes;
                Case c = {.row = &rows[r], .target = &targets[g], .type = t, .context = context};
                for (bool random = false; next_shape(&at, c.shape, &random);) {
                    Case one = c;
                    if (!shard_takes(&o.shard)) continue;
                    state = shard_state(&o.shard, o.seed);
                    for (int d = 0; random && d < rows[r].extents; d++)
                        one.shape[d] = 1 + (int64_t)draw(rows[r].extents == 1 ? 3000 : 150);
                    one.seed = draw(1000);
                    run_case(&one, &o);
                    runs += one.runs, failures += one.failures;
                }
            }
        }
    }
    tw_context_destroy(context);
    printf("%d runs, %d failed\n", runs, failures);
    return failures != 0;
}
