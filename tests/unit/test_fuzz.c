/* SPDX-License-Identifier: Apache-2.0 */
/* test_fuzz.c: broken texts through every door, all passes and emitters, and sanitized launches; broken arguments and
 * .npy files through the command line's readers. Nothing may crash, end in an internal fault or a sanitizer's report, or
 * take more than 5 s of processor time or 1 GB.
 *
 *     test_fuzz                                    replays tests/fuzz, then some hundred texts a door (fixed seed)
 *     test_fuzz --texts N [--door D] [--seed S]    N texts a door (of D: triton, tilelang, tilec, ir, arguments)
 *     test_fuzz --seconds T [--seed S]             goes on for so long: `make fuzz`
 *     test_fuzz ... --shard I/N                    every Nth of them (tests/shards.sh)
 *     test_fuzz --replay FILE...                   these texts, on every target, with many arguments
 *
 * Texts are mutations of what the repository has: kernels/, tests/pass/, tests/random/ and tests/fuzz/ (texts that once
 * failed). Text number i of a door depends on the seed alone. They run in a child process: one that dies is a failure,
 * its text is kept as build/fuzz/DOOR-SEED-I.*, and a new child goes on behind it. */
#include "check.h"
#include "cli/cli.h"
#include "fuzz_mutate.h"

#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 5, MOST_BYTES = 1 << 30, MOST_PARAMS = 32, MOST_FAILURES = 20, ROOM = 1 << 17 };

/* Allocations beyond the limit fail, as they would without memory. */
const char *__asan_default_options(void) __attribute__((visibility("default")));
const char *__asan_default_options(void) { return "allocator_may_return_null=1:max_allocation_size_mb=1024"; }

/* --- one text --- */

typedef struct Meter {
    size_t live;
    bool over;
} Meter;

static void *meter_resize(void *user, void *block, size_t old_size, size_t new_size) {
    Meter *m = user;
    if (m->live - old_size + new_size > MOST_BYTES) {
        m->over = true;
        return NULL;
    }
    void *made = new_size ? realloc(block, new_size) : NULL;
    if (!new_size) free(block);
    if (made || !new_size) m->live += new_size - old_size;
    return made;
}

static const int64_t numbers[] = {64, 32, 16, 128, 1, 0, -1, 3, 100, 1 << 20, INT32_MAX, INT32_MIN, (int64_t)1 << 31,
                                  (int64_t)1 << 32, INT64_MAX, INT64_MIN};

/* Most texts get arguments that a user could mean, so that they come far; the others are wild. */
static bool wild;

static tw_arg random_number(void) {
    static const double reals[] = {0.5, 0, -0.0, 1e308, -1e-320, 3e38, 1e-7};
    uint32_t kind = wild ? next_random(24) : 24;
    if (kind == 0) return (tw_arg){TW_ARG_TEXT, 0, {.text = "float16"}};
    if (kind == 1) return (tw_arg){TW_ARG_NONE, 0, {0}};
    if (kind == 2) return (tw_arg){TW_ARG_BOOL, 0, {.i = next_random(2)}};
    if (kind < 6) return (tw_arg){TW_ARG_FLOAT, 0, {.f = reals[next_random(7)]}};
    size_t most = wild ? sizeof numbers / sizeof *numbers : 4;
    return (tw_arg){TW_ARG_INT, 0, {.i = numbers[next_random((uint32_t)most)]}};
}

static tw_arg random_array(tw_context *cx, const tw_param_info *info) {
    static const int64_t extents[] = {64, 16, 1, 7, 0};
    int64_t shape[TW_MAX_RANK];
    int32_t rank = info->rank > 0 && info->rank <= TW_MAX_RANK ? info->rank : next_random(8) ? 2 : 1;
    int32_t usual = info->kind == TW_PARAM_TENSOR || next_random(4) == 0 ? TW_F16 : TW_F32;
    int32_t dtype = info->dtype ? info->dtype : next_random(8) ? usual : 1 + (int32_t)next_random(18);
    for (int d = 0; d < rank; d++) shape[d] = wild ? extents[next_random(5)] : d + 2 < rank ? 1 : 64;
    tw_arg arg = {.kind = TW_ARG_BUFFER};
    if (tw_buffer_create(cx, dtype, rank, shape, NULL, &arg.value.buffer) != TW_OK) arg.kind = TW_ARG_NONE;
    return arg;
}

/* An open parameter that a user would give a number, by its name: M, n0, stride_am, scale. */
static bool sounds_like_number(const char *name) {
    static const char *const words[] = {"stride", "scale", "eps", "flag", "steps", "groups", "n_"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i])) return true;
    return (name[0] >= 'A' && name[0] <= 'Z') || ((name[0] == 'n' || name[0] == 'm') && (!name[1] || (name[1] >= '0' && name[1] <= '9')));
}

static tw_arg random_argument(tw_context *cx, const tw_param_info *info) {
    bool array = info->kind == TW_PARAM_POINTER || info->kind == TW_PARAM_TENSOR;
    if (info->kind == TW_PARAM_OPEN) array = wild ? next_random(3) > 0 : !sounds_like_number(info->name);
    if (info->optional && next_random(wild ? 2 : 8)) return (tw_arg){0};
    if (info->kind == TW_PARAM_TENSOR && next_random(2)) return (tw_arg){0}; /* the text says what it is */
    return array && !(wild && next_random(20) == 0) ? random_array(cx, info) : random_number();
}

static bool is_fault(tw_context *cx, tw_status status, bool ir) {
    const char *message = tw_context_message(cx);
    bool invalid = !ir && strstr(message, "[ir-invalid]");
    bool silent = status != TW_OK && !*message;
    if (status == TW_ERROR_INTERNAL || invalid || silent) fprintf(stderr, "%s: %s\n", tw_status_name(status), message);
    return status == TW_ERROR_INTERNAL || invalid || silent;
}

/* How the kernel at fault was compiled. */
static void say_options(const char *target, const tw_compile_options *compile) {
    fprintf(stderr, "compiled for %s", target);
    for (size_t i = 0; i < compile->option_count; i++) fprintf(stderr, " --set %s=%s", compile->options[i].name, compile->options[i].value);
    fprintf(stderr, "%s%s\n", compile->passes ? " --passes " : "", compile->passes ? compile->passes : "");
}

static void choose_passes(char *list) {
    static const char *const passes[] = {
#define PASS(name, ...) #name,
#include "pass/passes.def"
#undef PASS
    };
    for (size_t p = 0; p < sizeof passes / sizeof *passes; p++)
        if (next_random(4)) strcat(strcat(list, *list ? "," : ""), passes[p]);
}

/* Any option with a value that its row names, or one that it may refuse. */
static tw_pair random_option(tw_context *cx, char *value, size_t size) {
    static const char *const values[] = {"0", "1", "2", "3", "4", "5", "8", "16", "255", "-1", "9223372036854775807", "", "on", "off", "auto",
                                         "3x2", "0x1", "99999999999x1", "q:3,out:2", ":,", "x=", "x_ptr=interleaved", "=,=", "rect", "z_order"};
    tw_option_info info = {.struct_size = sizeof info};
    size_t count = 0;
    while (tw_option_info_at(cx, count, &info) == TW_OK) count++;
    tw_option_info_at(cx, next_random((uint32_t)count), &info);
    const char *from = values[next_random(sizeof values / sizeof *values)];
    size_t length = strlen(from);
    if (next_random(4)) { /* a word of "auto, on or off" */
        from = info.values;
        for (uint32_t skip = next_random(6); skip > 0 && strchr(from, ' '); skip--) from = strchr(from, ' ') + 1;
        length = strcspn(from, ", ");
    }
    snprintf(value, size, "%.*s", (int)length, from);
    return (tw_pair){info.name, value};
}

/* Compiles a kernel for one target, in some way; some are launched, sanitized. */
static bool try_kernel(tw_context *cx, Meter *meter, tw_module *m, size_t index, const char *target, bool ir) {
    tw_arg args[MOST_PARAMS] = {{0}};
    wild = next_random(4) == 0;
    size_t count = tw_module_param_count(m, index);
    if (count > MOST_PARAMS) count = MOST_PARAMS;
    for (size_t i = 0; i < count; i++) {
        tw_param_info info = {.struct_size = sizeof info};
        tw_module_param_at(m, index, i, &info);
        args[i] = random_argument(cx, &info);
    }
    enum { MOST_OPTIONS = 4 };
    char values[MOST_OPTIONS][40];
    tw_pair options[MOST_OPTIONS] = {{"max_steps", "100000"}}; /* of a launch */
    size_t option_count = 1;
    for (uint32_t left = next_random(MOST_OPTIONS); left > 0; left--) {
        tw_pair drawn = random_option(cx, values[option_count], sizeof values[0]);
        if (strcmp(drawn.name, "max_steps") != 0 && strcmp(drawn.name, "threads") != 0) options[option_count++] = drawn;
    }
    char passes[128] = "";
    tw_compile_options compile;
    tw_compile_options_init(&compile);
    compile.target = target;
    compile.args = args;
    compile.arg_count = next_random(16) ? count : 0; /* without arguments its names are looked up */
    compile.options = options;
    compile.option_count = option_count;
    compile.verify_each = 1;
    compile.stage = TW_STAGE_EMIT;
    compile.keep_ir = next_random(4) == 0;
    compile.sanitize = strcmp(target, "interp") == 0 && next_random(4);
    if (strcmp(target, "interp") == 0) compile.stage = TW_STAGE_RUN;
    else if (next_random(4) == 0) choose_passes(passes), compile.passes = passes;
    tw_kernel *k = NULL;
    tw_status status = tw_kernel_compile(m, tw_module_kernel_name(m, index), &compile, &k);
    if (status == TW_ERROR_ARGUMENT || status == TW_ERROR_NOT_FOUND) { /* an option's value; try without */
        compile.option_count = 1;
        status = tw_kernel_compile(m, tw_module_kernel_name(m, index), &compile, &k);
    }
    bool good = !is_fault(cx, status, ir);
    if (!good) say_options(target, &compile);
    if (good && status == TW_OK && next_random(8) == 0) {
        const char *page;
        good = !is_fault(cx, tw_kernel_explain_html(k, &page), ir);
    }
    if (good && status == TW_OK && compile.sanitize) {
        int64_t grid[] = {1 + next_random(3), 1, next_random(9) ? 1 : numbers[next_random(16)]};
        status = tw_kernel_launch(k, NULL, tw_kernel_has_grid(k) && next_random(2) ? NULL : grid, args, count);
        good = !is_fault(cx, status, ir);
        if (status == TW_ERROR_MEMORY && strstr(tw_context_message(cx), "for itself")) meter->over = false; /* the text's own wish, refused */
    }
    tw_kernel_destroy(k);
    for (size_t i = 0; i < count; i++)
        if (args[i].kind == TW_ARG_BUFFER) tw_buffer_destroy(args[i].value.buffer);
    return good;
}

static const char *const targets[] = {"interp", "cpu", "cuda:sm_90a", "cuda:sm_80", "hip:gfx942", "hip:gfx1100", "tenstorrent"};
enum { TARGETS = sizeof targets / sizeof *targets };

/* target < 0: some. */
static bool survives(const char *name, const char *text, size_t size, int target) {
    static const tw_pair defines[] = {{"M", "64"}, {"N", "64"}, {"K", "64"}, {"dtype", "float16"}};
    Meter meter = {0};
    tw_allocator allocator = {meter_resize, &meter};
    tw_context_options options;
    tw_context_options_init(&options);
    options.allocator = &allocator;
    options.threads = 1;
    options.cache_dir = "";
    tw_context *cx = NULL;
    tw_module *m = NULL;
    tw_module_options load;
    tw_module_options_init(&load);
    load.defines = defines;
    load.define_count = 4;
    if (tw_context_create(&options, &cx) != TW_OK) return false;
    bool ir = strstr(name, ".ir") != NULL;
    tw_status status = tw_module_load_text(cx, name, text, size, &load, &m);
    bool good = !is_fault(cx, status, ir);
    for (size_t k = 0; good && k < tw_module_kernel_count(m) && k < 3; k++)
        good = try_kernel(cx, &meter, m, k, targets[target < 0 ? next_random(TARGETS) : (uint32_t)target], ir);
    tw_module_destroy(m);
    tw_context_destroy(cx);
    if (meter.over) fprintf(stderr, "it wants more than 1 GB\n");
    return good && !meter.over;
}

/* --- arguments of the command line --- */

static const char *const specs[] = {
    "randn:f32[64]", "zeros:f16[n, 2*n]", "full(1.5):f32[cdiv(n, 3), 4]", "randint(10):i32[8]", "arange:i64[7]", "ones:bf16[min(n, 4)]",
    "cdiv(n, 64)", "next_power_of_2(n) * 2 - 1", "(n + 3) // 4 % 7", "max(n, 1), 2, 3", "-9223372036854775808 % 3", "cdiv(-9223372036854775807 - 1, 1)",
    "1e-5", "true", "none", "0x10", "file:build/fuzz/case.npy", "file:build/fuzz/case.npy:bf16"};
static const char npy[] = "\x93NUMPY\x01\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }                                                           \n"
                          "012345678901234567890123";

static void write_file(const char *path, const char *text, size_t size) {
    FILE *out = fopen(path, "wb");
    if (out) fwrite(text, 1, size, out), fclose(out);
}

/* The text is a --arg, or (with bytes behind a NUL) an .npy file. */
static bool survives_arguments(const char *text, size_t size, const char *place) {
    char kernel[100], *spec = malloc(size + 1);
    memcpy(spec, text, size);
    spec[size] = 0;
    if (size && text[0] == '\x93') {
        snprintf(kernel, sizeof kernel, "file:%s.npy", place);
        write_file(kernel + 5, text, size);
        free(spec);
        spec = strdup(kernel);
    }
    tw_pair pairs[] = {{"n", "100"}, {"p", spec}};
    snprintf(kernel, sizeof kernel, "%s.ir", place);
    Options o = {.file = kernel, .target = "interp", .grid = spec, .args = {pairs, 2}, .tolerance = -1};
    Session s = {0};
    int64_t grid[3], value;
    bool own;
    const char *rest;
    Names names = {(Name[]){{"n", 100}}, 1};
    FILE *loud = stderr;
    stderr = fopen("/dev/null", "w"); /* the command line's own messages; a sanitizer writes to the descriptor */
    evaluate("--grid", spec, &names, &value, &rest);
    bool large = strchr(spec, '*'); /* an array whose data would take its time */
    for (const char *at = spec; *(at += strcspn(at, "0123456789")); at += strspn(at, "0123456789"))
        large |= strspn(at, "0123456789") > 4;
    int status = session_open(&s, &o, !large);
    if (!status) status = session_grid(&s, &o, grid, &own);
    session_close(&s);
    fclose(stderr);
    stderr = loud;
    free(spec);
    return status != 2;
}

/* --- samples --- */

static const char *const doors[] = {"triton", "tilelang", "tilec", "ir", "arguments"};
enum { DOORS = 5, ARGUMENTS = 4, MOST_SAMPLES = 512 };
static Sample samples[DOORS][MOST_SAMPLES];
static int sample_count[DOORS];

static int door_of(const char *name, const char *text) {
    size_t n = strlen(name);
    if (n > 3 && strcmp(name + n - 3, ".ir") == 0) return 3;
    if (n > 2 && strcmp(name + n - 2, ".c") == 0) return 2;
    return strstr(text, "tilelang") ? 1 : 0;
}

static bool read_sample(const char *path, Sample *s) {
    FILE *in = fopen(path, "rb");
    if (!in) return false;
    snprintf(s->name, sizeof s->name, "%s", path);
    s->text = calloc(1, ROOM);
    s->size = fread(s->text, 1, ROOM / 2, in);
    fclose(in);
    return true;
}

static void add_sample(Sample s) {
    int door = door_of(s.name, s.text);
    if (sample_count[door] < MOST_SAMPLES) samples[door][sample_count[door]++] = s;
    else free(s.text);
}

/* Of a golden file of passes the kernels, each by itself: the input, and what was made of it, in its form. */
static void add_sections(const Sample *file) {
    int number = 0;
    for (const char *at = file->text; (at = strstr(at, "\nkernel @"));) {
        const char *end = strstr(++at, "\n---- ");
        Sample s = {.size = end ? (size_t)(end - at) + 1 : strlen(at), .text = calloc(1, ROOM)};
        snprintf(s.name, sizeof s.name, "%.400s.%d.ir", file->name, number++);
        memcpy(s.text, at, s.size);
        add_sample(s);
        at += s.size - 1;
    }
}

static void add_folder(const char *folder) {
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[400];
        Sample s = {0};
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.' || !strchr(entry->d_name, '.') || !read_sample(path, &s)) continue;
        bool golden = strncmp(s.text, "---- ", 5) == 0;
        if (golden) add_sections(&s), free(s.text);
        if (!golden) add_sample(s);
    }
    if (dir) closedir(dir);
}

static int by_name(const void *a, const void *b) { return strcmp(((const Sample *)a)->name, ((const Sample *)b)->name); }

static void add_samples(void) {
    static const char *const folders[] = {"kernels/triton", "kernels/tilelang", "kernels/tilec", "tests/pass",
                                          "tests/fuzz",     "tests/random",     "tests/wild", "tests/random/tilelang", "tests/random/tenstorrent"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) add_folder(folders[i]);
    for (size_t i = 0; i <= sizeof specs / sizeof *specs; i++) {
        Sample *s = &samples[ARGUMENTS][sample_count[ARGUMENTS]++];
        bool file = i == sizeof specs / sizeof *specs;
        s->size = file ? sizeof npy - 1 : strlen(specs[i]);
        s->text = calloc(1, ROOM);
        memcpy(s->text, file ? npy : specs[i], s->size);
        snprintf(s->name, sizeof s->name, file ? "case.npy" : "spec.%zu", i);
    }
    for (int d = 0; d < DOORS; d++) qsort(samples[d], (size_t)sample_count[d], sizeof(Sample), by_name);
}

/* --- the run --- */

static uint64_t seed = 1;
static char place[40]; /* of files that a case needs: build/fuzz/PID */

/* Text `index` of the door: its name, its bytes; the random state goes on from there. */
static const Sample *make_text(int door, long index, char *text, size_t *size) {
    state = (seed * 0x9E3779B97F4A7C15u + (uint64_t)door * 0xD1B54A32D192ED03u + (uint64_t)index * 0x8CB92BA72F3D8DD7u) | 1;
    for (int i = 0; i < 4; i++) next_random(2);
    const Sample *s = &samples[door][next_random((uint32_t)sample_count[door])];
    memcpy(text, s->text, s->size);
    bool noise = next_random(16) == 0;
    *size = noise ? make_noise(text, samples[door], sample_count[door], s, ROOM - 64) : mutate(text, s->size, ROOM - 64);
    return s;
}

static void limit_time(int seconds) {
    struct itimerval timer = {.it_value = {.tv_sec = seconds}};
    setitimer(ITIMER_PROF, &timer, NULL);
    alarm(seconds ? 120 : 0);
}

static bool try_text(int door, const Sample *s, const char *text, size_t size, int target) {
    limit_time(SECONDS);
    bool good = door == ARGUMENTS ? survives_arguments(text, size, place) : survives(s->name, text, size, target);
    limit_time(0);
    return good;
}

/* What runs in the child, from *at on; exits. */
typedef bool Work(void *job, long at);
static void run_child(Work *work, void *job, volatile long *at, long end, long step) {
    if (freopen("/dev/null", "w", stdout) == NULL) _exit(4);
    if (!CHECK_SANITIZED) setrlimit(RLIMIT_AS, &(struct rlimit){2ul * MOST_BYTES, 2ul * MOST_BYTES});
    for (; *at < end; *at += step)
        if (!work(job, *at)) _exit(3);
    _exit(0);
}

/* Runs work at begin, begin + step .. below end (or until the time is over); a child that dies is a failure. Returns how
 * many were tried. */
static long run_all(Work *work, void *job, long begin, long end, long step, time_t until, void (*report)(void *job, long at)) {
    volatile long *at = mmap(NULL, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *at = begin;
    while (*at < end && check_failures < MOST_FAILURES && (!until || time(NULL) < until)) {
        long stop = until && end - *at > 200 * step ? *at + 200 * step : end;
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0) run_child(work, job, at, stop, step);
        int status = 0;
        waitpid(pid, &status, 0);
        if (status == 0) continue;
        fprintf(stderr, "%s %d: ", WIFSIGNALED(status) ? "ended by signal" : "ended with status",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF) fprintf(stderr, "(more than %d s) ", SECONDS);
        report(job, *at);
        check_failures++;
        *at += step;
    }
    long tried = (*at - begin + step - 1) / step;
    munmap((void *)at, sizeof(long));
    check_count += (int)tried;
    return tried;
}

static char text_room[ROOM];
static bool work_text(void *job, long at) {
    int door = *(int *)job;
    size_t size;
    const Sample *s = make_text(door, at, text_room, &size);
    return try_text(door, s, text_room, size, -1);
}
static void report_text(void *job, long at) {
    int door = *(int *)job;
    size_t size;
    char path[700];
    const Sample *s = make_text(door, at, text_room, &size);
    const char *base = strrchr(s->name, '/') ? strrchr(s->name, '/') + 1 : s->name;
    snprintf(path, sizeof path, "build/fuzz/%s-%llu-%ld-%s", doors[door], (unsigned long long)seed, at, base);
    write_file(path, text_room, size);
    fprintf(stderr, "%s, text %ld of seed %llu (from %s), kept as %s\n", doors[door], at, (unsigned long long)seed, s->name, path);
}

/* The corpus as it stands: every target, several draws of arguments and passes. */
typedef struct Replay {
    const Sample *list;
    int count, draws;
} Replay;
static bool work_replay(void *job, long at) {
    const Replay *r = job;
    const Sample *s = &r->list[at / (TARGETS * r->draws)];
    state = seed * 0x9E3779B97F4A7C15u + (uint64_t)at * 2 + 1;
    return try_text(door_of(s->name, s->text), s, s->text, s->size, (int)(at % TARGETS));
}
static void report_replay(void *job, long at) {
    const Replay *r = job;
    fprintf(stderr, "replay of %s, target %s\n", r->list[at / (TARGETS * r->draws)].name, targets[at % TARGETS]);
}

int main(int argc, char **argv) {
    const char *wanted = NULL, *cases = getenv("TILEWRIGHT_CASES");
    double seconds = 0;
    long texts = cases ? 2 * atol(cases) : 500, shard = 0, shards = 1;
    Sample *named = calloc((size_t)argc, sizeof *named);
    int named_count = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seconds") == 0) seconds = atof(argv[i + 1]), texts = 1L << 40;
        if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--texts") == 0) texts = atol(argv[i + 1]);
        if (strcmp(argv[i], "--door") == 0) wanted = argv[i + 1];
        if (strcmp(argv[i], "--shard") == 0 && sscanf(argv[i + 1], "%ld/%ld", &shard, &shards) != 2) return 2;
        if (strcmp(argv[i], "--replay") == 0)
            for (texts = 0; ++i < argc;) named_count += read_sample(argv[i], &named[named_count]);
    }
    mkdir("build", 0777);
    mkdir("build/fuzz", 0777);
    snprintf(place, sizeof place, "build/fuzz/%ld", (long)getpid());
    char path[80];
    snprintf(path, sizeof path, "%s.ir", place);
    static const char kernel[] = "kernel @k(%p: *f32, %n: i32) {\n}\n";
    write_file(path, kernel, sizeof kernel - 1);
    add_samples();
    if (named_count) {
        Replay r = {named, named_count, 40};
        run_all(work_replay, &r, 0, (long)named_count * TARGETS * r.draws, 1, 0, report_replay);
    }
    for (int d = 0; d < ARGUMENTS && texts && shard == 0; d++) {
        Replay r = {samples[d], sample_count[d], 1};
        CHECK(sample_count[d] >= 4);
        run_all(work_replay, &r, 0, (long)r.count * TARGETS, 1, 0, report_replay);
    }
    for (int d = 0; d < DOORS && texts; d++) {
        time_t until = seconds > 0 ? time(NULL) + (time_t)(seconds / (wanted ? 1 : DOORS)) : 0;
        if (wanted && strcmp(wanted, doors[d]) != 0) continue;
        long tried = run_all(work_text, &d, shard, texts, shards, until, report_text);
        printf("%s: %ld texts\n", doors[d], tried);
    }
    unlink(path);
    snprintf(path, sizeof path, "%s.npy", place);
    unlink(path);
    for (int d = 0; d < DOORS; d++)
        for (int i = 0; i < sample_count[d]; i++) free(samples[d][i].text);
    for (int i = 0; i < named_count; i++) free(named[i].text);
    free(named);
    return check_done();
}
