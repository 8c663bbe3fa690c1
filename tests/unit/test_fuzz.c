/* test_fuzz.c: broken texts through every door, all passes and all emitters. Nothing may crash,
 * hang, or end in an internal fault.
 *
 *     test_fuzz                             replays the corpus, then mutates each text a few
 * hundred times (fixed seed) test_fuzz --seconds 600 [--seed S]    goes on: `make fuzz`
 *
 * The corpus is what the repository has: kernels/, tests/pass/ and tests/fuzz/ (texts that once
 * failed). A failing text is written to build/fuzz-failure and its seed printed. */
#include "check.h"
#include "front/front.h"
#include "pass/pass.h"
#include "target/cpu/cpu_target.h"
#include "target/cuda/cuda.h"
#include "target/tenstorrent/tt.h"

#include <dirent.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static uint64_t state;
static uint32_t next_random(uint32_t below) {
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return below ? (uint32_t)((state * 2685821657736338717u) >> 33) % below : 0;
}

static FrontValue random_argument(const FrontParam *param) {
    static const int64_t numbers[] = {64, 32, 16, 1, 0, -1, 3, 1 << 20};
    FrontValue v = {.kind = FRONT_INT, .i = numbers[next_random(8)]};
    bool array = param->kind == FRONT_POINTER || param->kind == FRONT_TENSOR ||
                 (param->kind == FRONT_OPEN && next_random(3));
    if (array) {
        v = (FrontValue){.kind = FRONT_ARRAY,
                         .elem = param->elem >= 0 ? (Elem)param->elem
                                 : next_random(2) ? EL_F32
                                                  : EL_F16};
        v.rank = param->rank > 0 ? param->rank : 1 + (int)next_random(2);
        for (int d = 0; d < v.rank; d++) v.extent[d] = 64, v.stride[d] = d == v.rank - 1 ? 1 : 64;
    } else if (next_random(12) == 0) {
        v = (FrontValue){.kind = FRONT_TEXT, .text = "float16"};
    }
    if (param->optional && next_random(2)) v.kind = FRONT_ABSENT;
    return v;
}

static void emit(PassContext *cx, Kernel *k, Arena *arena, const char *machine) {
    CpuCode code;
    if (strcmp(machine, "cpu") == 0) cpu_emit(k, arena, &code);
    if (strncmp(machine, "cuda", 4) == 0) cuda_emit(cx, k);
    if (strcmp(machine, "tenstorrent") == 0) tt_emit(cx, k, &tt_options_default);
}

/* True unless there was an internal fault. */
static bool survives(const char *name, const char *text, size_t size) {
    static const FrontDefine defines[] = {{"M", {.kind = FRONT_INT, .i = 64}},
                                          {"N", {.kind = FRONT_INT, .i = 64}},
                                          {"K", {.kind = FRONT_INT, .i = 96}},
                                          {"dtype", {.kind = FRONT_TEXT, .text = "float16"}}};
    static const char *const machines[] = {"interp", "cpu", "cuda:sm_90a", "tenstorrent"};
    Trap trap;
    Arena arena, scratch;
    volatile bool good = true;
    arena_init(&arena, allocator_malloc, &trap);
    arena_init(&scratch, allocator_malloc, &trap);
    if (TRAP_ARM(&trap)) {
        SourceMap sources;
        Diag diag;
        source_init(&sources, &arena);
        diag_init(&diag, &arena, &sources);
        FrontUnit unit = {.arena = &arena,
                          .diag = &diag,
                          .sources = &sources,
                          .defines = defines,
                          .define_count = 4};
        unit.file = source_add(&sources, name, text, size);
        unit.door = front_choose(name, unit.file->text);
        if (unit.door && unit.door->open(&unit))
            for (size_t i = 0; i < unit.kernels.count && i < 4; i++) {
                const FrontKernel *kernel = &unit.kernels.at[i];
                FrontValue *args = ARENA_ARRAY(&arena, FrontValue, kernel->param_count);
                for (int a = 0; a < kernel->param_count; a++)
                    args[a] = random_argument(&kernel->params[a]);
                Module *m = ir_module_new(&arena, &diag, &sources);
                FrontRequest request = {.kernel = kernel, .args = args, .module = m};
                Kernel *k = unit.door->lower(&unit, &request);
                uint32_t machine = next_random(4);
                PassContext cx = {
                    .module = m, .machine = machine_find(machines[machine]), .options = pass_options_default, .scratch = &scratch};
                cx.options.num_stages = (int)next_random(6) - 1;
                cx.options.roles = (int)next_random(3) - 1;
                cx.options.persist = (int)next_random(3) - 1;
                PipelineRequest run = {.verify_each = true};
                if (k && diag.errors == 0 && pipeline_run(&cx, k, &run))
                    emit(&cx, k, &arena, machines[machine]);
                for (size_t d = 0; d < diag.messages.count; d++)
                    if (diag.messages.at[d].id == DIAG_IR_INVALID &&
                        strcmp(unit.door->name, "irtext") != 0)
                        good = false;
            }
        char *rendered = diag_render(&diag, &arena);
        if (!good) fprintf(stderr, "a pass made invalid IR:\n%s", rendered);
    } else if (trap.code == TRAP_INTERNAL) {
        fprintf(stderr, "internal fault: %s\n", trap.message);
        good = false;
    }
    arena_free(&arena);
    arena_free(&scratch);
    return good;
}

/* --- corpus --- */

typedef struct Sample {
    char name[512];
    char *text;
    size_t size;
} Sample;
static Sample samples[256];
static int sample_count;

static void add_folder(const char *folder) {
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir)) && sample_count < 256;) {
        Sample *s = &samples[sample_count];
        if (entry->d_name[0] == '.') continue;
        snprintf(s->name, sizeof s->name, "%s/%s", folder, entry->d_name);
        FILE *in = fopen(s->name, "rb");
        s->text = in ? malloc(1 << 16) : NULL;
        if (s->text) s->size = fread(s->text, 1, (1 << 16) - 1, in), sample_count++;
        if (in) fclose(in);
    }
    if (dir) closedir(dir);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const Sample *)a)->name, ((const Sample *)b)->name);
}

/* --- mutations --- */

static size_t word_length(const char *text, size_t size, size_t at) {
    size_t n = 0;
    while (at + n < size && n < 24 && text[at + n] != ' ' && text[at + n] != '\n' &&
           text[at + n] != ',')
        n++;
    return n ? n : 1;
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* The name or number at or behind a random place; 0: none. */
static size_t find_token(const char *text, size_t size, size_t *at) {
    size_t from = next_random((uint32_t)size), n = 0;
    while (from < size && !is_letter(text[from]) && !is_digit(text[from])) from++;
    while (from > 0 && (is_letter(text[from - 1]) || is_digit(text[from - 1]))) from--;
    while (from + n < size && n < 40 && (is_letter(text[from + n]) || is_digit(text[from + n])))
        n++;
    *at = from;
    return n;
}

static size_t replace(char *text, size_t size, size_t room, size_t at, size_t n, const char *by,
                      size_t m) {
    if (size - n + m >= room) return size;
    memmove(text + at + m, text + at + n, size - at - n);
    memcpy(text + at, by, m);
    return size - n + m;
}

/* Changes that keep most texts well-formed, so that they come further than the parser: a name
 * becomes another one of the text, a number another number, an operator another operator, a line is
 * repeated. */
static size_t mutate_gently(char *text, size_t size, size_t room) {
    static const char *const numbers[] = {"0",  "1",  "2",  "3",   "5",   "7",    "16", "17", "31",
                                          "32", "33", "64", "100", "128", "1024", "-1", "0.5"};
    static const char operators[] = "+-*/%<>&|";
    size_t at, from, n = find_token(text, size, &at), m;
    char word[40];
    switch (next_random(4)) {
    case 0:
        m = find_token(text, size, &from);
        if (!n || !m) break;
        memcpy(word, text + from, m);
        return replace(text, size, room, at, n, word, m);
    case 1:
        for (int tries = 0; tries < 20 && !(n && is_digit(text[at])); tries++)
            n = find_token(text, size, &at);
        if (!n || !is_digit(text[at])) break;
        const char *number = numbers[next_random(sizeof numbers / sizeof *numbers)];
        return replace(text, size, room, at, n, number, strlen(number));
    case 2:
        for (at = next_random((uint32_t)size); at < size && !strchr(operators, text[at]); at++) {}
        if (at < size) text[at] = operators[next_random(sizeof operators - 1)];
        break;
    default: {
        size_t to = from = next_random((uint32_t)size);
        while (from && text[from - 1] != '\n') from--;
        while (to < size && text[to] != '\n') to++;
        if (to == size || size + to - from + 1 >= room) break;
        m = to - from + 1;
        memmove(text + to + 1 + m, text + to + 1, size - to - 1);
        memcpy(text + to + 1, text + from, m);
        return size + m;
    }
    }
    return size;
}

static size_t mutate(char *text, size_t size, size_t room) {
    if (next_random(2)) {
        for (int rounds = 1 + (int)next_random(4); rounds > 0 && size > 0; rounds--)
            size = mutate_gently(text, size, room);
        return size;
    }
    static const char *const pieces[] = {
        "(",      ")",       "[",         "]",      "{",     "}",
        ":",      ",",       "=",         "-1",     "0",     "99999999999999999999",
        "None",   "\n",      "    ",      "\t",     "\"",    "'''",
        "#",      "//",      "/*",        "0.5",    "%x",    "[:, None]",
        "**",     "@",       "\x80",      "f32[0]", "while", "for",
        "return", "tl.load", "T.copy",    "<",      ">",     "1e999",
        "\\",     "lambda",  ": f32[4,4]"};
    int rounds = 1 + (int)next_random(4);
    while (rounds-- && size > 0) {
        size_t at = next_random((uint32_t)size), n = word_length(text, size, at);
        switch (next_random(5)) {
        case 0: /* drop a word */
            memmove(text + at, text + at + n, size - at - n);
            size -= n;
            break;
        case 1: { /* repeat a word elsewhere */
            char word[24];
            memcpy(word, text + at, n);
            size_t to = next_random((uint32_t)size);
            if (size + n >= room) break;
            memmove(text + to + n, text + to, size - to);
            memcpy(text + to, word, n);
            size += n;
            break;
        }
        case 2: { /* put a piece in */
            const char *piece = pieces[next_random(sizeof pieces / sizeof *pieces)];
            size_t m = strlen(piece);
            if (size + m >= room) break;
            memmove(text + at + m, text + at, size - at);
            memcpy(text + at, piece, m);
            size += m;
            break;
        }
        case 3: text[at] = (char)(text[at] ^ (1 << next_random(8))); break;
        default: { /* drop a line */
            size_t from = at, to = at;
            while (from && text[from - 1] != '\n') from--;
            while (to < size && text[to] != '\n') to++;
            memmove(text + from, text + to, size - to);
            size -= to - from;
        }
        }
    }
    return size;
}

/* Random bytes, or pieces of two texts. */
static size_t make_noise(char *text, const Sample *s, size_t room) {
    if (next_random(2)) {
        const Sample *other = &samples[next_random((uint32_t)sample_count)];
        size_t n = next_random((uint32_t)s->size + 1), from = next_random((uint32_t)other->size + 1);
        size_t m = other->size - from;
        if (n + m > room) m = room - n;
        memcpy(text, s->text, n);
        memcpy(text + n, other->text + from, m);
        return n + m;
    }
    static const char *const sets[] = {"()[]{}:,\n \t=+-*/%@#'\"\\", "abxyz0123456789 \n    :=().,\"'", NULL};
    const char *set = sets[next_random(3)];
    size_t n = next_random(2000);
    for (size_t i = 0; i < n; i++)
        text[i] = set ? set[next_random((uint32_t)strlen(set))] : (char)next_random(256);
    return n;
}

static bool
    keeps; /* each text, before it is tried: one that crashes us is still there afterwards */

static void keep_text(const char *text, size_t size) {
    FILE *out = fopen("build/fuzz-failure", "wb");
    if (out) fwrite(text, 1, size, out), fclose(out);
}

static bool try_text(const Sample *s, const char *text, size_t size, uint64_t seed) {
    if (keeps) keep_text(text, size);
    alarm(30); /* a hang ends in SIGALRM */
    bool good = survives(s->name, text, size);
    alarm(0);
    if (good) return true;
    fprintf(stderr, "%s, seed %llu; the text is in build/fuzz-failure\n", s->name,
            (unsigned long long)seed);
    keep_text(text, size);
    return false;
}

int main(int argc, char **argv) {
    static const char *const folders[] = {"kernels/triton", "kernels/tilelang", "kernels/tilec",
                                          "tests/pass", "tests/fuzz",
                                          "tests/random"};
    double seconds = 0;
    uint64_t seed = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seconds") == 0) seconds = atof(argv[i + 1]);
        if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) add_folder(folders[i]);
    qsort(samples, (size_t)sample_count, sizeof *samples, by_name);
    CHECK(sample_count >= 10);
    static char text[1 << 17];
    time_t end = time(NULL) + (time_t)seconds;
    int rounds = seconds > 0 ? 1 << 30 : 60;
    keeps = seconds > 0;
    for (int i = 0; i < sample_count; i++) {
        state = seed * 0x9E3779B97F4A7C15u + 1;
        CHECK(try_text(&samples[i], samples[i].text, samples[i].size, 0));
    }
    for (int round = 0; round < rounds && (seconds == 0 || time(NULL) < end) && !check_failures;
         round++)
        for (int i = 0; i < sample_count && !check_failures; i++, seed++) {
            state = seed * 0x9E3779B97F4A7C15u + 1;
            memcpy(text, samples[i].text, samples[i].size);
            size_t size = next_random(16) == 0 ? make_noise(text, &samples[i], sizeof text - 64)
                                               : mutate(text, samples[i].size, sizeof text - 64);
            CHECK(try_text(&samples[i], text, size, seed));
        }
    for (int i = 0; i < sample_count; i++) free(samples[i].text);
    return check_done();
}
