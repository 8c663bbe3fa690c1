/* SPDX-License-Identifier: Apache-2.0 */
/* test_layout_text.c: the text form of a kernel is all of it, also in layout form.
 *
 * The kernels of tests/wild and tests/gpu/kernels.txt, as their door makes them (`tilewright ir`), go through the passes
 * of machines with threads. After each pass print(parse(print(k))) == print(k). What was read back from layout form or from
 * the last one goes through the rest of the pipeline and gives the same text for the chip, places in the source apart. */
#include "check.h"
#include "pass/pass.h"
#include "target/cuda/cuda.h"
#include "target/hip/hip.h"

#include <dirent.h>

static Trap trap;

typedef struct Read { /* a text and what it was read into */
    Arena arena, scratch;
    SourceMap sources;
    Diag diag;
    Module *module;
    Kernel *kernel;
} Read;

static bool read_text(Read *r, const char *text) {
    arena_init(&r->arena, allocator_malloc, &trap);
    arena_init(&r->scratch, allocator_malloc, &trap);
    source_init(&r->sources, &r->arena);
    diag_init(&r->diag, &r->arena, &r->sources);
    r->module = ir_module_new(&r->arena, &r->diag, &r->sources);
    bool good = ir_parse(r->module, source_add(&r->sources, "k.ir", text, strlen(text)));
    r->kernel = good ? r->module->kernels.at[0] : NULL;
    return good;
}

static void drop(Read *r) {
    arena_free(&r->scratch);
    arena_free(&r->arena);
}

static int emitted;       /* texts that were compared */
static const char *about; /* the case, for messages */

static void round_trip(void *user, const char *pass, const Kernel *k, double seconds) {
    (void)user, (void)seconds;
    Read again;
    const char *text = ir_print(k, k->module->arena);
    bool good = read_text(&again, text);
    if (!good) fprintf(stderr, "%s, behind %s: %s\n", about, pass, diag_render(&again.diag, &again.arena));
    CHECK(good);
    if (good && strcmp(ir_print(again.kernel, &again.arena), text) != 0) fprintf(stderr, "%s, behind %s:\n", about, pass);
    if (good) CHECK_TEXT(ir_print(again.kernel, &again.arena), text);
    drop(&again);
}

static void forget_place(Op *op, void *user) {
    (void)user;
    op->range = (Range){0, 0};
}

static CudaPlan *emit(Read *r, PassContext *cx) {
    ir_walk(r->kernel->body, forget_place, NULL);
    r->kernel->range = (Range){0, 0};
    if (strcmp(cx->machine->target, "hip") != 0) return cuda_emit(cx, r->kernel);
    SimtPlan *simt = hip_emit(cx, r->kernel);
    CudaPlan *plan = ARENA_NEW(r->module->arena, CudaPlan);
    if (simt) plan->simt = *simt;
    return simt ? plan : NULL;
}

static int count_of(const char *word, const char *text) {
    int count = 0;
    while ((text = strstr(text, word))) text++, count++;
    return count;
}

/* A kernel that was read from the text it has behind pass `stop` (NULL: all): goes on to the same text and the same .cu. */
static void run_from(const char *text, const char *stop, PassTrace *trace, const Machine *machine, PassOptions options) {
    Read first, second;
    bool good = read_text(&first, text);
    if (!good) fprintf(stderr, "%s: %s\n", about, diag_render(&first.diag, &first.arena));
    CHECK(good);
    if (!good) return;
    PassContext cx = {.module = first.module, .machine = machine, .options = options, .scratch = &first.scratch};
    PipelineRequest whole = {.verify_each = true}, part = {.verify_each = true, .stop_after = stop, .trace = trace};
    bool ran = pipeline_run(&cx, first.kernel, &part) && first.kernel->form >= FORM_LAYOUT;
    const char *middle = ran ? ir_print(first.kernel, &first.arena) : "";
    if (ran && read_text(&second, middle)) {
        PassContext other = {.module = second.module, .machine = machine, .options = options, .scratch = &second.scratch};
        bool can = pipeline_run(&cx, first.kernel, &whole);
        good = pipeline_run(&other, second.kernel, &whole);
        const char *message = diag_render(&second.diag, &second.arena), *last = ir_print(first.kernel, &first.arena);
        /* Rings that do not fit, or gain nothing: what came from the door is cut again with fewer or none, or less in them;
         * a text of rings has no way back to that: it keeps them all, perhaps with fewer slots, or is refused for room. */
        bool again = count_of(" = ring<", last) < count_of(" = ring<", middle) || count_of(" put", last) < count_of(" put", middle);
        bool no_room = again && strstr(message, "do not fit into shared memory");
        if (good != can && !no_room) fprintf(stderr, "%s: %s\n", about, message);
        CHECK(good == can || no_room);
        bool same = good && can && !again;
        if (same) CHECK_TEXT(ir_print(second.kernel, &second.arena), last);
        CudaPlan *a = same ? emit(&first, &cx) : NULL, *b = same ? emit(&second, &other) : NULL;
        CHECK(!a == !b);
        if (a && b && strcmp(a->text, b->text) != 0) fprintf(stderr, "%s on %s:\n", about, machine->name);
        if (a && b) CHECK_TEXT(b->text, a->text);
        emitted += a && b;
        CHECK(!a || !b || (a->threads == b->threads && a->shared_bytes == b->shared_bytes));
        drop(&second);
    }
    drop(&first);
}

static void run_case(const char *text, const Machine *machine, PassOptions options) {
    run_from(text, NULL, round_trip, machine, options);
    run_from(text, "layout", NULL, machine, options);
}

/* --- the kernels --- */
static const char *tilewright;

/* `--set num_warps=8 ..` */
static PassOptions options_of(const char *arguments) {
    PassOptions o = pass_options_default;
    for (const char *at = arguments; (at = strstr(at, "--set ")); at++) {
        char name[40], value[40];
        if (sscanf(at, "--set %39[a-z_]=%39s", name, value) != 2) continue;
        int number = strcmp(value, "off") == 0 ? 0 : strcmp(value, "on") == 0 ? 1 : atoi(value);
        if (strcmp(name, "num_warps") == 0) o.num_warps = number;
        if (strcmp(name, "num_stages") == 0) o.num_stages = number;
        if (strcmp(name, "roles") == 0) o.roles = number;
        if (strcmp(name, "persist") == 0) o.persist = number;
        if (strcmp(name, "cluster") == 0) o.cluster = number;
        if (strcmp(name, "workers") == 0) o.workers = number;
        if (strcmp(name, "slots") == 0) o.slots = number;
        if (strcmp(name, "gang") == 0) o.gang = number;
        if (strcmp(name, "unproved") == 0) o.unproved = number;
    }
    return o;
}

static bool of_launch(const char *word) { return strcmp(word, "--grid") == 0 || strcmp(word, "--tolerance") == 0; }

static void run_guarded(const char *text, const Machine *machine, PassOptions options) {
    if (TRAP_ARM(&trap)) run_case(text, machine, options);
    else CHECK_TEXT(trap.message, "no trap");
}

/* Each kernel is for the machine that has roles, every second one for one of the others too, which are much alike, in turns;
 * all are for all of them with TILEWRIGHT_WHOLE=1. By bits of machine_at. */
static uint32_t choose_machines(void) {
    static int turn;
    uint32_t chosen = 0;
    const Machine *machine;
    int others = 0, other = 0;
    for (int i = 0; (machine = machine_at(i)); i++) others += machine->has_threads && !machine->roles_allowed;
    turn++;
    for (int i = 0; (machine = machine_at(i)); i++) {
        if (!machine->has_threads) continue;
        bool is_next = !machine->roles_allowed && turn % 2 == 0 && other++ == turn / 2 % others;
        if ((machine->roles_allowed || is_next || getenv("TILEWRIGHT_WHOLE")) && check_chosen()) chosen |= 1u << i;
    }
    return chosen;
}

/* The kernel as its door makes it: `x=f32[4]` is an argument. */
static void run_kernel(const char *file, const char *kernel, const char *arguments) {
    static char command[8000]; /* a failed check shows it */
    char line[4000], *next = NULL;
    snprintf(line, sizeof line, "%s", arguments);
    int length = snprintf(command, sizeof command, "%s ir %s%s%s --target cuda --print-after=source", tilewright, file,
                          *kernel ? ":" : "", kernel);
    const char *before = "";
    for (char *word = strtok_r(line, " \n", &next); word; word = strtok_r(NULL, " \n", &next)) {
        bool launch = of_launch(word) || of_launch(before);
        bool argument = *word != '-' && strcmp(before, "--set") != 0;
        if (!launch)
            length += snprintf(command + length, sizeof command - (size_t)length, "%s '%s'", argument ? " --arg" : "", word);
        before = word;
    }
    uint32_t chosen = choose_machines();
    if (!chosen) return;
    FILE *pipe = popen(command, "r");
    static char text[1 << 20];
    size_t size = pipe ? fread(text, 1, sizeof text - 1, pipe) : 0;
    text[size] = 0;
    bool good = pipe && pclose(pipe) == 0 && size;
    if (!good) fprintf(stderr, "%s\n", command);
    CHECK(good);
    about = command;
    PassOptions options = options_of(arguments);
    const Machine *machine;
    for (int i = 0; good && (machine = machine_at(i)); i++)
        if (chosen >> i & 1) run_guarded(strstr(text, "kernel @"), machine, options);
}

/* A line of kernels.txt: FILE[:KERNEL] ARGUMENTS. */
static void run_listed(const char *path) {
    FILE *file = fopen(path, "r");
    char line[4000], name[400];
    int length;
    while (file && fgets(line, sizeof line, file))
        if (*line != '#' && sscanf(line, "%399s %n", name, &length) == 1) run_kernel(name, "", line + length);
    CHECK(file != NULL);
    if (file) fclose(file);
}

/* `# check: ARGUMENTS` stands above the kernel it is about. */
static void run_wild(const char *path) {
    enum { MOST = 16 };
    FILE *file = fopen(path, "r");
    static char checks[MOST][4000];
    char line[4000], name[200];
    int count = 0;
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "# check: ", 9) == 0 && count < MOST) snprintf(checks[count++], sizeof *checks, "%s", line + 9);
        if (sscanf(line, "def %199[A-Za-z0-9_](", name) != 1) continue;
        for (int i = 0; i < count; i++) run_kernel(path, name, checks[i]);
        count = 0;
    }
    if (file) fclose(file);
}

int main(int argc, char **argv) {
    char path[1000];
    snprintf(path, sizeof path, "%s", argv[0]);
    char *slash = strrchr(path, '/');
    if (slash) *slash = 0;
    static char binary[1100];
    snprintf(binary, sizeof binary, "%s/../tilewright", slash ? path : ".");
    tilewright = binary;
    const char *only = argc > 1 ? argv[1] : "";
    if (!*only) run_listed("tests/gpu/kernels.txt");
    DIR *folder = opendir("tests/wild");
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        snprintf(path, sizeof path, "tests/wild/%.200s", entry->d_name);
        if (strstr(entry->d_name, ".py") && strcmp(entry->d_name, "run.py") != 0 && strstr(path, only)) run_wild(path);
    }
    CHECK(folder != NULL);
    if (folder) closedir(folder);
    printf("%d texts of kernels read back from layout form\n", emitted);
    CHECK(emitted > 0);
    return check_done();
}
