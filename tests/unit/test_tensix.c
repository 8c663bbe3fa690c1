/* SPDX-License-Identifier: Apache-2.0 */
/* test_tensix.c: the Tensix model against recorded results of a bit-exact simulator.
 *
 * tests/golden/tenstorrent/cases.txt lists the programs (a line per core, CB, buffer, kernel and
 * placement); kernels and pages lie beside it. Each case runs on the architecture it was recorded
 * on, and on Blackhole too where that gave the same bits or its bits were recorded too. An output
 * is compared as its line says: equal; equal-but-nan (elements with a NaN input and the sign of
 * zero do not count); close REL ABS (elements with a NaN input or a recorded infinity do not count;
 * Blackhole's own versions of some functions get four times REL); rms REL MAX. */
#include "check.h"
#include "tensix_harness.h"

#include <math.h>

enum { MAX_ITEMS = 64, MAX_WORDS = 64 };

typedef struct Buffer {
    char name[16], format[16], how[16];
    bool output;
    double limit, floor;
    uint32_t page_bytes, pages;
    uint8_t *data, *want, *want_blackhole;
} Buffer;

typedef struct Case {
    char name[64];
    bool blackhole, both;
    TensixProgram program;
    TensixPoint cores[MAX_ITEMS];
    TensixCb cbs[MAX_ITEMS];
    uint32_t semaphores[MAX_ITEMS];
    Buffer buffers[MAX_ITEMS];
    uint32_t buffer_count;
    struct {
        TensixProcessor processor;
        int number;
        char file[100];
        struct {
            uint32_t core;
            char words[400];
        } at[MAX_ITEMS];
        uint32_t count;
    } kernels[16];
    uint32_t kernel_count;
} Case;

static TtFormat format_named(const char *name) {
#define X(format, number, bytes) \
    if (!strcmp(name, #format)) return TT_##format;
    TT_FORMATS(X)
#undef X
    return (TtFormat)99;
}

/* The array of a .npy file; NULL when there is none of that size. */
static uint8_t *load_npy(const char *folder, const char *name, const char *buffer,
                         const char *variant, size_t bytes) {
    char path[300];
    unsigned char head[10];
    snprintf(path, sizeof path, "%s/%s.%s%s.npy", folder, name, buffer, variant);
    FILE *f = fopen(path, "rb");
    uint8_t *data = malloc(bytes);
    bool good = f && fread(head, 1, 10, f) == 10 &&
                !fseek(f, 10 + head[8] + head[9] * 256, SEEK_SET) &&
                fread(data, 1, bytes, f) == bytes && fgetc(f) == EOF;
    if (f) fclose(f);
    if (good) return data;
    free(data);
    return NULL;
}

static uint32_t core_number(const Case *c, uint32_t x, uint32_t y) {
    for (uint32_t i = 0; i < c->program.core_count; i++)
        if (c->cores[i].x == x && c->cores[i].y == y) return i;
    return UINT32_MAX;
}

static void read_line(Case *c, char *line, const char *folder, KernelSet *set) {
    char kind[16] = "", word[100] = "";
    int used = 0;
    TensixProgram *p = &c->program;
    sscanf(line, "%15s", kind);
    if (!strcmp(kind, "core")) {
        TensixPoint *at = &c->cores[p->core_count++];
        sscanf(line, "core %u %u", &at->x, &at->y);
    } else if (!strcmp(kind, "semaphore")) {
        sscanf(line, "semaphore %u", &c->semaphores[p->semaphore_count++]);
    } else if (!strcmp(kind, "cb")) {
        TensixCb *cb = &c->cbs[p->cb_count++];
        sscanf(line, "cb %u %99s %u %u", &cb->id, word, &cb->page_bytes, &cb->pages);
        cb->format = format_named(word);
        cb->unpack_to_dest = strstr(line, "to_dest") != NULL;
    } else if (!strcmp(kind, "input") || !strcmp(kind, "output")) {
        Buffer *b = &c->buffers[c->buffer_count++];
        b->output = kind[0] == 'o';
        sscanf(line, "%*s %15s %15s %u %u %15s %lf %lf", b->name, b->format, &b->page_bytes,
               &b->pages, b->how, &b->limit, &b->floor);
        size_t bytes = (size_t)b->page_bytes * b->pages;
        uint8_t *recorded = load_npy(folder, c->name, b->name, "", bytes);
        CHECK(recorded != NULL);
        b->data = b->output ? malloc(bytes) : recorded;
        b->want = b->output ? recorded : NULL;
        b->want_blackhole = load_npy(folder, c->name, b->name, ".blackhole", bytes);
    } else if (!strcmp(kind, "kernel")) {
        char file[200], args[120] = "";
        sscanf(line, "kernel %15s %99s%n", word, c->kernels[c->kernel_count].file, &used);
        snprintf(file, sizeof file, "%s/%s", folder, c->kernels[c->kernel_count].file);
        for (char *t = strtok(line + used, " \n"); t; t = strtok(NULL, " \n"))
            snprintf(args + strlen(args), sizeof args - strlen(args), "%s%s", args[0] ? ", " : "",
                     t);
        c->kernels[c->kernel_count].processor = word[0] == 'r'   ? TENSIX_READER
                                                : word[0] == 'w' ? TENSIX_WRITER
                                                                 : TENSIX_COMPUTE;
        c->kernels[c->kernel_count++].number = kernels_add(set, file, args);
    } else if (!strcmp(kind, "at")) {
        uint32_t x, y, k = c->kernel_count - 1, n = c->kernels[k].count++;
        sscanf(line, "at %u %u%n", &x, &y, &used);
        c->kernels[k].at[n].core = core_number(c, x, y);
        snprintf(c->kernels[k].at[n].words, sizeof c->kernels[k].at[n].words, "%s", line + used);
    }
}

static Case *read_cases(const char *folder, KernelSet *set, size_t *count) {
    char path[300], line[600];
    Case *cases = NULL;
    bool chosen = false;
    *count = 0;
    snprintf(path, sizeof path, "%s/cases.txt", folder);
    FILE *f = fopen(path, "r");
    CHECK(f != NULL);
    while (f && fgets(line, sizeof line, f)) {
        char arch[16], other[16];
        int bits;
        bool begins = strncmp(line, "case ", 5) == 0;
        if (begins) chosen = check_chosen();
        if (!chosen) continue;
        if (!begins) {
            read_line(&cases[*count - 1], line, folder, set);
            continue;
        }
        cases = realloc(cases, (*count + 1) * sizeof *cases);
        Case *c = &cases[(*count)++];
        memset(c, 0, sizeof *c);
        sscanf(line, "case %63s %15s dst %d fidelity %u blackhole %15s", c->name, arch, &bits,
               &c->program.fidelity, other);
        c->blackhole = arch[0] == 'b';
        c->both = other[0] != 'o';
        c->program.dst_fp32 = bits == 32;
    }
    if (f) fclose(f);
    return cases;
}

/* ---- comparing ---- */

static double number(const Buffer *b, const uint8_t *data, size_t i) {
    if (!strcmp(b->format, "Float16_b")) {
        uint32_t bits = (uint32_t)(data[2 * i] | data[2 * i + 1] << 8) << 16;
        float x;
        memcpy(&x, &bits, 4);
        return x;
    }
    float x;
    memcpy(&x, data + 4 * i, 4);
    return x;
}

static bool input_is_nan(const Case *c, size_t i, size_t elements) {
    for (uint32_t k = 0; k < c->buffer_count; k++) {
        const Buffer *b = &c->buffers[k];
        size_t width = strcmp(b->format, "Float16_b") ? 4 : 2;
        if (!b->output && (size_t)b->pages * b->page_bytes / width == elements &&
            isnan(number(b, b->data, i)))
            return true;
    }
    return false;
}

/* NULL when the output agrees, else what does not. */
static const char *compare(const Case *c, const Buffer *b, const uint8_t *want) {
    static char text[160];
    double limit = want == b->want_blackhole ? 4 * b->limit : b->limit;
    size_t bytes = (size_t)b->pages * b->page_bytes;
    size_t width = strcmp(b->format, "Float16_b") ? 4 : 2, elements = bytes / width, wrong = 0;
    if (!strcmp(b->how, "equal")) {
        for (size_t i = 0; i < bytes; i++)
            if (b->data[i] != want[i] && !wrong++)
                snprintf(text, sizeof text, "byte %zu is %02x, recorded %02x", i, b->data[i],
                         want[i]);
    } else if (!strcmp(b->how, "rms")) {
        double error = 0, norm = 0, worst = 0;
        for (size_t i = 0; i < elements; i++) {
            double x = number(b, b->data, i), y = number(b, want, i);
            error += (x - y) * (x - y), norm += y * y, worst = fmax(worst, fabs(x - y));
        }
        wrong = !(sqrt(error / norm) <= b->limit && worst <= b->floor);
        snprintf(text, sizeof text, "rms %g (%g), worst %g (%g)", sqrt(error / norm), b->limit,
                 worst, b->floor);
    } else {
        bool bits = !strcmp(b->how, "equal-but-nan");
        for (size_t i = 0; i < elements; i++) {
            double x = number(b, b->data, i), y = number(b, want, i);
            bool good = bits ? memcmp(b->data + i * width, want + i * width, width) == 0 ||
                                   (x == 0 && y == 0) || input_is_nan(c, i, elements)
                             : !isfinite(y) || input_is_nan(c, i, elements) ||
                                   fabs(x - y) <= b->floor + limit * fabs(y);
            if (!good && !wrong++)
                snprintf(text, sizeof text, "element %zu is %.9g, recorded %.9g", i, x, y);
        }
    }
    if (wrong) snprintf(text + strlen(text), sizeof text - strlen(text), " (%zu in all)", wrong);
    return wrong ? text : NULL;
}

/* ---- running ---- */

static uint32_t argument(const Case *c, const TensixBuffer *buffers, const char *word) {
    unsigned x, y;
    if (!strncmp(word, "addr:", 5)) {
        for (uint32_t i = 0; i < c->buffer_count; i++)
            if (!strcmp(buffers[i].name, word + 5)) return buffers[i].address;
        CHECK(!"known buffer");
    }
    if (sscanf(word, "noc_x:%u,%u", &x, &y) == 2)
        return tensix_noc_point(c->program.arch, (TensixPoint){x, y}).x;
    if (sscanf(word, "noc_y:%u,%u", &x, &y) == 2)
        return tensix_noc_point(c->program.arch, (TensixPoint){x, y}).y;
    return (uint32_t)strtoul(word, NULL, 0);
}

static void run_case(Case *c, const KernelSet *set, TensixArch arch, uint64_t seed) {
    TensixBuffer buffers[MAX_ITEMS];
    TensixKernel kernels[16];
    static TensixPlacement placements[16][MAX_ITEMS];
    static uint32_t args[16][MAX_ITEMS][MAX_WORDS];
    TensixProgram *p = &c->program;
    p->arch = arch;
    p->seed = seed;
    for (uint32_t i = 0; i < c->buffer_count; i++) {
        Buffer *b = &c->buffers[i];
        buffers[i] = (TensixBuffer){b->name, tensix_next_address(arch, i ? &buffers[i - 1] : NULL),
                                    b->page_bytes, b->pages, b->data, false, NULL};
        if (b->output) memset(b->data, 0xab, (size_t)b->pages * b->page_bytes);
    }
    for (uint32_t k = 0; k < c->kernel_count; k++) {
        for (uint32_t i = 0; i < c->kernels[k].count; i++) {
            char words[400], *rest = NULL;
            uint32_t n = 0;
            snprintf(words, sizeof words, "%s", c->kernels[k].at[i].words);
            for (char *w = strtok_r(words, " \n", &rest); w; w = strtok_r(NULL, " \n", &rest))
                args[k][i][n++] = argument(c, buffers, w);
            placements[k][i] = (TensixPlacement){c->kernels[k].at[i].core, args[k][i], n};
        }
        kernels[k] = (TensixKernel){.name = c->kernels[k].file,
                                    .processor = c->kernels[k].processor,
                                    .entry = kernels_entry(set, c->kernels[k].number),
                                    .placements = placements[k],
                                    .placement_count = c->kernels[k].count};
    }
    p->cores = c->cores, p->cbs = c->cbs, p->semaphores = c->semaphores;
    p->buffers = buffers, p->buffer_count = c->buffer_count;
    p->kernels = kernels, p->kernel_count = c->kernel_count;
    static TensixReport report;
    bool good = tensix_run(p, allocator_malloc, &report);
    if (!good) fprintf(stderr, "%s on %s:\n%s", c->name, tensix_limits(arch)->name, report.text);
    CHECK(good);
    for (uint32_t i = 0; good && i < c->buffer_count; i++) {
        const Buffer *b = &c->buffers[i];
        if (!b->output) continue;
        const uint8_t *want =
            arch == TENSIX_BLACKHOLE && b->want_blackhole ? b->want_blackhole : b->want;
        const char *difference = compare(c, b, want);
        if (difference)
            fprintf(stderr, "%s on %s: %s: %s\n", c->name, tensix_limits(arch)->name, b->name,
                    difference);
        CHECK(!difference);
    }
}

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : "tests/golden/tenstorrent";
    const char *compiler = cxx_compiler();
    if (!compiler) {
        printf("skipped: no C++ compiler\n");
        return 0;
    }
    static KernelSet set;
    size_t count;
    CHECK(kernels_start(&set));
    Case *cases = read_cases(folder, &set, &count);
    CHECK(count > 0);
    bool built = kernels_build(&set, compiler);
    CHECK(built);
    for (size_t i = 0; built && i < count; i++) {
        /* Cores that talk to each other: under other orders of landing, too. */
        uint64_t seeds = cases[i].program.core_count > 1 ? 6 : 1;
        for (uint64_t seed = 0; seed < seeds; seed++) {
            if (!cases[i].blackhole) run_case(&cases[i], &set, TENSIX_WORMHOLE, seed);
            if (cases[i].blackhole || cases[i].both) run_case(&cases[i], &set, TENSIX_BLACKHOLE, seed);
        }
    }
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < cases[i].buffer_count; k++) {
            free(cases[i].buffers[k].data);
            free(cases[i].buffers[k].want);
            free(cases[i].buffers[k].want_blackhole);
        }
    free(cases);
    kernels_end(&set);
    printf("%zu golden cases\n", count);
    return check_done();
}
