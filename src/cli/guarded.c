/* SPDX-License-Identifier: Apache-2.0 */
/* guarded.c: arrays of a launch on the host between pages that nobody may touch.
 *
 * An array ends at such a page, but for the few bytes that let it begin at a line of the cache. On
 * either side as many addresses belong to nobody as an index of 32 bits can reach. What is left over of
 * the array's own pages holds a pattern. So a kernel that strays from an array faults, or is seen by the
 * pattern it broke, and does not damage another one.
 *
 * The fault becomes a message and exit status 1: it is the kernel's mistake, where the kernel runs as
 * native code (target cpu). The other targets that run here test each access themselves, so there it is
 * a fault of ours; outside of launches it is left to the system. */
#include "cli/cli.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GUARD_BYTES ((size_t)1 << 34)
enum { LINE = 64, PATTERN = 0xA5, SIGNAL_STACK = 64 * 1024 };

struct Guarded {
    Guarded *next;
    const char *name; /* of the argument */
    unsigned char *map, *own, *data;
    size_t map_size, own_size, size; /* own: the pages that may be touched */
};

static Guarded *arrays;              /* all that are alive */
static const char *volatile running; /* the kernel under way */
static volatile sig_atomic_t is_native;

/* --- arrays --- */

static bool map_between_guards(Guarded *g, size_t guard) {
    g->map_size = g->own_size + 2 * guard;
    g->map = mmap(NULL, g->map_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (g->map == MAP_FAILED) return false;
    g->own = g->map + guard;
    if (!g->own_size || mprotect(g->own, g->own_size, PROT_READ | PROT_WRITE) == 0) return true;
    munmap(g->map, g->map_size);
    return false;
}

Guarded *guarded_new(size_t size, const char *name) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), lines = (size + LINE - 1) / LINE * LINE;
    if (size > SIZE_MAX / 4) return NULL;
    Guarded *g = get_memory(sizeof *g);
    g->name = name;
    g->size = size;
    g->own_size = (lines + page - 1) / page * page;
    /* Where addresses are short (ulimit -v), less will do. */
    size_t guard = GUARD_BYTES;
    while (!map_between_guards(g, guard)) {
        if (guard <= page) {
            free(g);
            return NULL;
        }
        guard = guard / 64 > page ? guard / 64 : page;
    }
    g->data = g->own + g->own_size - lines;
    memset(g->own, PATTERN, (size_t)(g->data - g->own));
    memset(g->data + size, PATTERN, lines - size);
    g->next = arrays;
    arrays = g;
    return g;
}

void *guarded_data(const Guarded *g) { return g->data; }

void guarded_free(Guarded *g) {
    if (!g) return;
    Guarded **at = &arrays;
    while (*at && *at != g) at = &(*at)->next;
    if (*at) *at = g->next;
    munmap(g->map, g->map_size);
    free(g);
}

static bool is_pattern(const unsigned char *from, const unsigned char *to) {
    while (from < to && *from == PATTERN) from++;
    return from == to;
}

int guarded_check(const char *kernel) {
    for (const Guarded *g = arrays; g; g = g->next) {
        bool before = !is_pattern(g->own, g->data), behind = !is_pattern(g->data + g->size, g->own + g->own_size);
        if (before || behind)
            return fail("kernel `%s` wrote outside of `%s`, %s" FIX "run with --sanitize to see where", kernel, g->name,
                        before ? "before its first element" : "behind its last element");
    }
    return 0;
}

/* --- faults --- */

/* What a signal handler may do: collect bytes, write them. */
typedef struct Line {
    char text[900];
    size_t length;
} Line;

static void add(Line *line, const char *text) {
    while (*text && line->length < sizeof line->text) line->text[line->length++] = *text++;
}

static void add_number(Line *line, unsigned long long number) {
    char digits[24];
    size_t at = sizeof digits - 1;
    digits[at] = 0;
    do digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    add(line, digits + at);
}

/* A name of the source, in backquotes; of a long one the beginning. */
static void add_name(Line *line, const char *name) {
    enum { MOST = 200 };
    size_t length = 0;
    while (length < MOST && name[length]) length++;
    while (length && ((unsigned char)name[length] & 0xC0) == 0x80) length--; /* not in the middle of a character */
    add(line, "`");
    for (size_t i = 0; i < length && line->length < sizeof line->text; i++) line->text[line->length++] = name[i];
    add(line, "`");
}

static void say_place(Line *line, const unsigned char *address) {
    for (const Guarded *g = arrays; g; g = g->next) {
        if (address < g->map || address >= g->map + g->map_size) continue;
        bool before = address < g->data;
        add(line, " outside of ");
        add_name(line, g->name);
        add(line, ", ");
        add_number(line, (unsigned long long)(before ? g->data - address : address - (g->data + g->size)));
        add(line, before ? " bytes before its first element" : " bytes behind its last element");
        return;
    }
    add(line, " outside of its arrays");
}

static void on_fault(int number, siginfo_t *info, void *context) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    const char *kernel = running;
    (void)context;
    if (!kernel) { /* ours, and not of a launch: as if there were no handler */
        signal(number, SIG_DFL);
        return;
    }
    while (atomic_flag_test_and_set(&said)) pause(); /* another thread is about to end the process */
    Line line = {.length = 0};
    bool json = says_json();
    add(&line, json ? "{\"severity\": \"" : "");
    add(&line, is_native ? "error" : "internal error");
    add(&line, json ? "\", \"code\": \"memory-fault\", \"text\": \"" : ": ");
    if (is_native) {
        add(&line, "kernel ");
        add_name(&line, kernel);
        add(&line, " touched memory");
        /* An address that no memory can have comes without its number; so does damage that the C library found. */
        bool known = number != SIGABRT && info->si_code != SI_KERNEL;
        say_place(&line, known ? info->si_addr : NULL);
        add(&line, "; run with --sanitize to see where");
    } else {
        add(&line, "the launch of kernel ");
        add_name(&line, kernel);
        add(&line, " met a memory fault");
        add(&line, json ? "; " : "\n");
        add(&line, "This is a fault of Tilewright; please report it with the source.");
    }
    add(&line, !json       ? "\n"
               : is_native ? "\", \"fix\": \"run with --sanitize to see where\", \"file\": null, \"notes\": []}\n"
                           : "\", \"fix\": \"\", \"file\": null, \"notes\": []}\n");
    if (write(2, line.text, line.length) < 0) _exit(2);
    _exit(is_native ? 1 : 2);
}

void guarded_watch(const char *kernel, bool native) {
    static char stack[SIGNAL_STACK];
    static bool installed;
    fflush(stdout); /* what was said so far is not lost */
    is_native = native;
    running = kernel;
    if (!kernel || installed) return;
    installed = true;
    /* For kernels on fibers, whose stacks are small; other threads use their own. */
    stack_t place = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&place, NULL);
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT};
    struct sigaction now = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&now.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaction(numbers[i], &now, NULL);
}
