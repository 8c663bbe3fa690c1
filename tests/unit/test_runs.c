/* SPDX-License-Identifier: Apache-2.0 */
/* test_runs.c: runs of index tiles, against the numbers themselves.
 *
 * Known cases first, by name. Then random kernels: tiles are made from iotas, program ids and arguments by all that
 * indices are made of; each is asked for its runs, and what is claimed is compared with the numbers of many launches,
 * hostile ones among them, as far as they keep what the proof wished for. */
#include "check.h"
#include "analysis/runs.h"
#include "pass/fold/fold.h"

enum { LENGTH = 64, MOST = 40, LAUNCHES = 60 };

static Arena arena;
static Module *module;

static Kernel *parse(SourceMap *sources, Diag *diag, const char *text) {
    module = ir_module_new(&arena, diag, sources);
    bool good = ir_parse(module, source_add(sources, "runs.ir", text, strlen(text)));
    CHECK(good);
    if (!good) fprintf(stderr, "%s\n%s", text, diag_render(diag, &arena));
    return good ? module->kernels.at[0] : NULL;
}

static Ref named(const Kernel *k, const char *name) {
    for (const Op *op = k->body->first; op; op = op->next)
        for (int i = 0; i < op->result_count; i++) {
            const char *own = ir_value(k, op->results[i])->name;
            if (own && strcmp(own, name) == 0) return op->results[i];
        }
    fprintf(stderr, "no value %s\n", name);
    exit(1);
}

/* --- by name --- */

static const char known[] =
    "kernel @k(%T: *i32, %N, %M, %q: i32) {\n"
    "  assume<mult=16> %M\n"
    "  %pid = program_id<0> ; %s = mul %pid, 64 ; %i = iota<0, 64> ; %o = add %s, %i\n"
    "  %page = div %o, 16 ; %slot = rem %o, 16 ; %far = div %o, 128 ; %near = rem %o, 4096 ; %scale = div %near, 128\n"
    "  %wrap = rem %o, %M ; %odd = rem %o, %N ; %third = div %o, 3 ; %odd8 = add %o, 8 ; %in = rem %odd8, 16\n"
    "  %d8 = div %i, 8 ; %r8 = rem %i, 8 ; %d8s = mul %d8, %q ; %cache = add %d8s, %r8\n"
    "  %p = ptr_add %T, %page ; %t = load %p ; %t16 = mul %t, 16 ; %row = add %t16, %slot\n"
    "  %low = sub %o, 640 ; %neg = div %low, 64 ; %floor = floordiv %low, 64 ; %mod = mod %low, 64 ; %rem = rem %low, 64\n"
    "  %bits = and %low, 15 ; %high = and %low, -16 ; %shift = shr %low, 4\n"
    "  %some = cmp<lt> %o, %M ; %few = cmp<lt> %o, %N ; %end = cmp<le> %o, %M ; %also = cmp<lt> %page, %N\n"
    "  %lie = rem %low, %N ; assume<contiguous=64> %lie ; assume<mult=64> %lie\n"
    "  return }\n";

typedef struct Known {
    const char *name;
    int64_t n, multiple, step; /* step -1: no run */
    bool wishes, promises;
} Known;

static void test_known(SourceMap *sources, Diag *diag) {
    static const Known cases[] = {
        {"o", 64, 64, 1, 0, 0},      {"page", 16, 1, 0, 0, 0},   {"page", 32, 1, -1, 0, 0}, {"slot", 16, 16, 1, 0, 0},
        {"slot", 32, 1, -1, 0, 0},   {"far", 64, 1, 0, 0, 0},    {"near", 64, 64, 1, 0, 0}, {"scale", 64, 1, 0, 0, 0},
        {"wrap", 16, 16, 1, 0, 0},   {"wrap", 32, 1, -1, 0, 0},  {"wrap", 32, 1, 1, 1, 0},  {"odd", 8, 8, -1, 0, 0},
        {"odd", 8, 8, 1, 1, 0},      {"third", 2, 1, -1, 1, 0},  {"in", 8, 8, 1, 0, 0},     {"in", 16, 1, -1, 0, 0},
        {"cache", 8, 8, -1, 0, 0},   {"cache", 8, 8, 1, 1, 0},   {"cache", 8, 1, 1, 0, 0},  {"cache", 16, 1, -1, 1, 0},
        {"row", 16, 16, 1, 0, 0},    {"t", 16, 1, 0, 0, 0},      {"t", 32, 1, -1, 1, 0},    {"neg", 64, 1, -1, 0, 0},
        {"floor", 64, 1, 0, 0, 0},   {"mod", 64, 64, 1, 0, 0},   {"rem", 64, 1, -1, 0, 0},  {"bits", 16, 16, 1, 0, 0},
        {"high", 16, 16, 0, 0, 0},   {"shift", 16, 1, 0, 0, 0},  {"some", 16, 1, 0, 0, 0},  {"few", 16, 1, -1, 0, 0},
        {"few", 16, 1, 0, 1, 0},     {"end", 16, 1, -1, 1, 0},   {"also", 16, 1, 0, 0, 0},  {"lie", 8, 8, -1, 0, 0},
        {"lie", 8, 8, 1, 0, 1},      {"lie", 64, 64, 1, 0, 1},   {"lie", 64, 128, -1, 0, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Known *c = &cases[i];
        Kernel *k = parse(sources, diag, known);
        Analysis a;
        affine_init(&a, k, &arena, false);
        a.separates = a.wholes = true;
        Runs runs = runs_new(&a, c->wishes, c->promises);
        int64_t step = -1;
        bool good = runs_of(&runs, named(k, c->name), c->n, c->multiple, &step);
        CHECK(good == (c->step >= 0) && (!good || step == c->step));
        if (good != (c->step >= 0) || (good && step != c->step)) fprintf(stderr, "%s in runs of %lld\n", c->name, (long long)c->n);
        CHECK(a.wishes.count == 0); /* so far it was a question */
    }
}

/* --- random kernels --- */

static uint64_t state;
static int below(int most) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)most);
}

static const char *pick(const char *const *words, int count) { return words[below(count)]; }

/* Values v0 .. are tiles of i32, but every fifth that is a mask. */
static void write_kernel(Text *out) {
    static const char *const divisors[] = {"8", "16", "64", "3", "48", "-16", "0", "1", "%a", "%b", "%c"};
    static const char *const numbers[] = {"%a", "%b", "%c", "%s", "16", "-64", "7", "%h"};
    static const char *const splits[] = {"div", "rem", "floordiv", "mod"};
    text_add(out, "kernel @k(%%a, %%b, %%c: i32) {\n  assume<mult=16> %%b\n  %%pid = program_id<0> ; %%s = mul %%pid, 64 ; "
                  "%%h = mul %%a, 32\n  %%v0 = iota<0, 64> ; %%v1 = add %%s, %%v0 ; %%v2 = iota<32, 96>\n");
    for (int i = 3; i < MOST; i++) {
        int x = i > 6 && below(2) ? i - 1 - below(4) : below(i), y = below(i);
        switch (below(12)) {
        case 0: text_add(out, "  %%v%d = add %%v%d, %%v%d\n", i, x, y); break;
        case 1: text_add(out, "  %%v%d = sub %%v%d, %%v%d\n", i, x, y); break;
        case 2: text_add(out, "  %%v%d = mul %%v%d, %d\n", i, x, 1 << below(6)); break;
        case 3: text_add(out, "  %%v%d = add %%v%d, %s\n", i, x, pick(numbers, 8)); break;
        case 4: text_add(out, "  %%v%d = and %%v%d, %d\n", i, x, below(2) ? (1 << below(8)) - 1 : -(1 << below(8))); break;
        case 5: text_add(out, "  %%v%d = shr %%v%d, %d\n", i, x, below(7)); break;
        case 6: text_add(out, "  %%m%d = cmp<%s> %%v%d, %s\n  %%v%d = select %%m%d, %%v%d, %%v%d\n", i, below(2) ? "lt" : "ge", x, pick(numbers, 8), i, i, x, y); break;
        case 7: text_add(out, "  %%v%d = %s %%v%d, %%v%d\n", i, below(2) ? "min" : "max", x, y); break;
        default: text_add(out, "  %%v%d = %s %%v%d, %s\n", i, pick(splits, 4), x, pick(divisors, 11)); break;
        }
    }
    text_add(out, "  return }\n");
}

typedef struct Launch {
    int64_t argument[3], pid;
} Launch;

static int64_t number_of(const Kernel *k, Ref r, int element, int64_t (*values)[LENGTH]) {
    return ref_is_literal(r) ? ir_literal(k, r)->i : values[r][ir_type(k, r)->rank ? element : 0];
}

static bool compare(Word predicate, int64_t x, int64_t y) { return predicate == CMP_LT ? x < y : x >= y; }

/* Every value of the kernel in this launch; only the ops that write_kernel knows, and those of wishes. */
static void run(const Kernel *k, const Launch *l, int64_t (*values)[LENGTH]) {
    for (int i = 0; i < 3; i++) values[k->body->args[i]][0] = l->argument[i];
    for (const Op *op = k->body->first; op; op = op->next) {
        if (op->result_count != 1) continue;
        const Type *type = ir_type(k, op->results[0]);
        for (int e = 0; e < (type->rank ? LENGTH : 1); e++) {
            int64_t *out = &values[op->results[0]][e], x[3];
            for (int i = 0; i < op->operand_count && i < 3; i++) x[i] = number_of(k, op->operands[i], e, values);
            switch (op->code) {
            case OP_PROGRAM_ID: *out = l->pid; break;
            case OP_IOTA: *out = op_int(op, AT_BEGIN, 0) + e; break;
            case OP_CMP: *out = compare(op_word(op, AT_PRED, CMP_LT), x[0], x[1]); break;
            case OP_SELECT: *out = x[0] ? x[1] : x[2]; break;
            default: CHECK(fold_int(op->code, type->elem, x[0], x[1], out)); break;
            }
        }
    }
}

static bool keeps(const Kernel *k, const Analysis *a, int64_t (*values)[LENGTH]) {
    for (size_t i = 0; i < a->wishes.count; i++)
        if (values[a->wishes.at[i].value][0] < a->wishes.at[i].number) return false;
    for (const Op *op = k->body->first_fact; op; op = op->next_fact)
        for (int i = 0; i < op->operand_count; i++)
            if (op_int(op, AT_MULT, 0) && values[op->operands[i]][0] % op_int(op, AT_MULT, 1)) return false;
    return true;
}

static bool holds(const int64_t *v, int64_t n, int64_t multiple, int64_t step) {
    for (int i = 0; i < LENGTH; i++)
        if (v[i] != v[i / n * n] + step * (i % n) || v[i / n * n] % multiple) return false;
    return true;
}

static int64_t hostile(void) {
    static const int64_t ends[] = {0, 1, -1, 15, 16, 64, -64, 4096, 2147483632, -2147483648, 2147483647, 48};
    return below(2) ? ends[below(12)] : (int64_t)(below(2) ? 16 : 1) * (below(2048) - 512);
}

static int claims, checked;

static void test_random(SourceMap *sources, Diag *diag) {
    Text text = text_new(&arena);
    write_kernel(&text);
    for (int v = 3; v < MOST; v++) {
        int64_t n = 2 << below(5), multiple = below(3) ? n : 1, step;
        Kernel *k = parse(sources, diag, text.at);
        if (!k) return;
        Analysis a;
        affine_init(&a, k, &arena, false);
        a.separates = a.wholes = true;
        Ref value = named(k, arena_printf(&arena, "v%d", v));
        Runs runs = runs_new(&a, below(2), false);
        if (!runs_of(&runs, value, n, multiple, &step)) continue;
        runs.trust = RUN_ASKED;
        CHECK(runs_of(&runs, value, n, multiple, &step));
        if (step && (step < 0 || multiple < n * step)) continue; /* on the edge of 32 bits sums are taken not to wrap around */
        claims++;
        int64_t(*values)[LENGTH] = arena_alloc(&arena, k->values.count * sizeof *values);
        for (int l = 0; l < LAUNCHES; l++) {
            Launch launch = {{hostile(), 16 * (hostile() / 16), hostile()}, below(100)};
            run(k, &launch, values);
            if (!keeps(k, &a, values)) continue;
            checked++;
            bool good = holds(values[value], n, multiple, step);
            CHECK(good);
            if (good) continue;
            fprintf(stderr, "%s%%v%d in runs of %lld, multiple %lld, step %lld, of a = %lld, b = %lld, c = %lld, pid %lld\n", text.at, v,
                    (long long)n, (long long)multiple, (long long)step, (long long)launch.argument[0], (long long)launch.argument[1],
                    (long long)launch.argument[2], (long long)launch.pid);
            return;
        }
    }
}

int main(void) {
    Trap trap;
    SourceMap sources;
    Diag diag;
    if (!TRAP_ARM(&trap)) return 1;
    arena_init(&arena, allocator_malloc, &trap);
    source_init(&sources, &arena);
    diag_init(&diag, &arena, &sources);
    test_known(&sources, &diag);
    for (int seed = 1; seed <= 60 && !check_failures; seed++) {
        state = (uint64_t)seed * 7919;
        if (check_chosen()) test_random(&sources, &diag);
    }
    CHECK(claims > 10 && checked > 100);
    fprintf(stderr, "%d claims, %d launches\n", claims, checked);
    arena_free(&arena);
    return check_done();
}
