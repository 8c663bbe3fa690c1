/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: the commands and options of `tilewright`, one table each, and the help made from them. */
#include "cli/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static Command command_version, command_help;

static const CommandRow commands[] = {
    {"run", 'r', "FILE[:KERNEL] [options]", "compile a kernel and run it", command_run},
    {"check", 'c', "FILE[:KERNEL] [options]",
     "run a kernel and compare with the interpreter, or with given arrays; without --arg only "
     "compile",
     command_check},
    {"emit", 'e', "FILE[:KERNEL] [options]", "print or write the generated source, plan and report", command_emit},
    {"ir", 'i', "FILE[:KERNEL] [options]", "print the IR", command_ir},
    {"explain", 'x', "FILE[:KERNEL] [options]", "say what the compiler proved and chose", command_explain},
    {"bench", 'n', "FILE[:KERNEL] [options]", "time a kernel over shapes and targets, beside what the machine can do",
     command_bench},
    {"tune", 'u', "FILE[:KERNEL] [options]", "find the fastest constants and options of a kernel", command_tune},
    {"build", 'b', "FILE[:KERNEL] [options]",
     "compile kernels into an object or archive and a C header, to be linked into programs", command_build},
    {"cache", 'k', "", "say what the cache of compiled kernels holds, or make it hold less", command_cache},
    {"list", 'l', "FILE", "list the kernels of a file, their parameters and configurations", command_list},
    {"targets", 't', "", "list the targets, and what runs them here", command_targets},
    {"docs", 'd', "[TOPIC]", "print a page of the manual: ops, options, triton, tilelang, tile-c", command_docs},
    {"man", 'm', "", "print the man page: `tilewright man > tilewright.1`", command_man},
    {"completion", 'p', "bash|zsh", "print what a shell needs to complete commands and options", command_completion},
    {"version", 'v', "", "print the version", command_version},
    {"help", 'h', "[COMMAND]", "print this, or the options of a command", command_help},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

typedef enum OptionId {
    O_TARGET,
    O_EMULATE,
    O_DEFINE,
    O_INCLUDE,
    O_ANYWHERE,
    O_ARG,
    O_CONFIG,
    O_SET,
    O_GRID,
    O_SAVE,
    O_EXPECT,
    O_TOLERANCE,
    O_SEED,
    O_SANITIZE,
    O_MAX_STEPS,
    O_TIME,
    O_TIME_PASSES,
    O_OUTPUT,
    O_NAME,
    O_ISA,
    O_ASSEMBLY,
    O_PASSES,
    O_PRINT_AFTER,
    O_STOP_AFTER,
    O_VERIFY,
    O_JSON,
    O_HTML,
    O_LIST,
    O_CLEAR,
    O_LIMIT,
    O_COLOR,
    O_OVER,
    O_BYTES,
    O_FLOPS,
    O_TRY,
    O_SECONDS,
    O_TUNED,
    O_AND,
    O_HELP
} OptionId;
static const OptionRow rows[] = {
    {O_TARGET, "--target", "T", VALUE, "rceixbu", "what to compile for (see `tilewright targets`); default cpu"},
    {O_TARGET, "--target", "T,T", VALUE, "n", "what to compile for, one or several; default cpu"},
    {O_EMULATE, "--emulate", "", NOTHING, "rceixnu", "run a GPU target's emitted text on the host"},
    {O_DEFINE, "-D", "NAME=VALUE", VALUE, "rceixblnu",
     "a definition: a constant of the source, or of the kernel's parameters"},
    {O_INCLUDE, "-I", "FOLDER", VALUE, "rceixblnu", "a folder for headers and imported files, beside the source's own"},
    {O_ANYWHERE, "--include-anywhere", "", NOTHING, "rceixblnu", "the source may include files of any folder"},
    {O_ARG, "--arg", "NAME=SPEC", VALUE, "rceixbnu",
     "an argument: a number, true, false, none, a string, Python in brackets ((64, 32), (relu)), or an array:\n"
     "                          randn|rand|randint(N)|zeros|ones|empty|arange|full(V):DTYPE[EXTENTS], "
     "file:X.npy[:DTYPE];\n"
     "                          where nothing is run also a type: '*f32' an array of them, i32 a number"},
    {O_CONFIG, "--config", "N", VALUE, "rceixbn",
     "constants and options of the kernel's Nth configuration (see `tilewright list`)"},
    {O_SET, "--set", "OPTION=VALUE", VALUE, "rceixbnu", "a compile option (see `tilewright docs options`)"},
    {O_GRID, "--grid", "X[,Y[,Z]]", VALUE, "rcnu", "the grid: numbers or expressions, as in 'cdiv(n, BLOCK)'"},
    {O_SAVE, "--save", "NAME=FILE.npy", VALUE, "rc", "write an array after the run"},
    {O_EXPECT, "--expect", "NAME=FILE.npy", VALUE, "c", "compare with this array, not with the interpreter"},
    {O_TOLERANCE, "--tolerance", "T", VALUE, "c", "largest error, relative to the array's largest magnitude (or 1)"},
    {O_SEED, "--seed", "N", VALUE, "rcnu", "seed of random arrays; default 0"},
    {O_SANITIZE, "--sanitize", "", NOTHING, "rc", "run on the interpreter and report wrong accesses and races"},
    {O_MAX_STEPS, "--max-steps", "N", VALUE, "rc",
     "with --sanitize: stop after so many element operations; default 10^10"},
    {O_TIME, "--time", "", NOTHING, "rc", "print the median time of a launch"},
    {O_TIME_PASSES, "--time-passes", "", NOTHING, "rceix", "print the time of every step of the compiler"},
    {O_TUNED, "--tuned", "FILE", VALUE, "rceixbn",
     "constants and options that `tilewright tune` chose; default: $TILEWRIGHT_TUNED"},
    {O_OVER, "--over", "NAME=A,B,..", VALUE, "n", "an argument, and the values to run with; several: all combinations"},
    {O_BYTES, "--bytes", "EXPR", VALUE, "n", "bytes that a launch has to move; default: all arrays, each once"},
    {O_FLOPS, "--flops", "EXPR", VALUE, "n", "operations of a launch, as in '2*M*N*K'"},
    {O_TRY, "--try", "NAME=A,B,..", VALUE, "u",
     "a constant or compile option, and the values to try; without: the kernel's configurations"},
    {O_SECONDS, "--seconds", "N", VALUE, "u", "how long it may take; default 60"},
    {O_OUTPUT, "-o", "FILE", VALUE, "u", "keep the choice there, for --tuned and Python's TILEWRIGHT_TUNED"},
    {O_OUTPUT, "-o", "DIR", VALUE, "e", "write the files there"},
    {O_OUTPUT, "-o", "OUT", VALUE, "b",
     "write OUT.o and OUT.h; of several kernels OUT.a and OUT.h; of target tenstorrent a folder OUT"},
    {O_AND, "--and", "", NOTHING, "b",
     "what follows is another kernel, with options of its own; --target, --isa, -I and -o hold for those behind too"},
    {O_NAME, "--name", "NAME", VALUE, "b", "what the C function is called; default: as the kernel"},
    {O_ISA, "--isa", "A,B", VALUE, "b",
     "instruction sets, the best of which is chosen when it runs: baseline, and on x86-64\n"
     "                          v3 (AVX2, FMA) and v4 (AVX-512); default: all. Target cuda: architectures,\n"
     "                          sm_90a and sm_80 by default; target hip: all of `tilewright targets`"},
    {O_ASSEMBLY, "--assembly", "", NOTHING, "e",
     "the assembler text too: PTX for target cuda (needs NVRTC, no device)"},
    {O_PASSES, "--passes", "A,B", VALUE, "iex", "run just these passes"},
    {O_PRINT_AFTER, "--print-after", "PASS", MAYBE, "i",
     "print the IR after this pass; without =PASS after each that changed it"},
    {O_STOP_AFTER, "--stop-after", "PASS", VALUE, "iex", "the last pass to run"},
    {O_JSON, "--json", "", NOTHING, "x", "print the findings as a JSON array, and what goes wrong as JSON"},
    {O_JSON, "--json", "", NOTHING, "rcltknu", "print it as JSON, and what goes wrong too, an object a line"},
    {O_HTML, "--html", "", NOTHING, "x", "print a page with pictures, for a browser: `... --html > page.html`"},
    {O_LIST, "--list", "", NOTHING, "k", "list the entries: size, hours since they were used, name"},
    {O_CLEAR, "--clear", "", NOTHING, "k", "remove all entries"},
    {O_LIMIT, "--limit", "SIZE", VALUE, "k", "remove what was used longest ago until SIZE is left: 500M, 2G"},
    {O_VERIFY, "--verify-each", "", NOTHING, "rceixbnu", "check the IR after every pass"},
    {O_COLOR, "--color", "WHEN", VALUE, "rceixbnukltd",
     "colours of messages: always, never, or auto (on terminals, unless NO_COLOR is set)"},
    {O_HELP, "--help", "", NOTHING, "rceixbnukltdvhmp", "print this"},
};
enum { ROWS = sizeof rows / sizeof *rows };
const CommandRow *const cli_commands = commands;
const OptionRow *const cli_options = rows;
const int cli_command_count = COMMANDS, cli_option_count = ROWS;

/* --- help --- */

static void print_option(const OptionRow *row) {
    char left[64];
    const char *form = row->takes == MAYBE ? "%s[=%s]" : row->takes == VALUE ? "%s %s" : "%s%s";
    snprintf(left, sizeof left, form, row->name, row->value);
    printf("  %-22s  %s\n", left, row->about);
}

static int print_help(const CommandRow *command) {
    printf("tilewright %s%s%s: %s\n", command->name, *command->usage ? " " : "", command->usage, command->about);
    printf("\n");
    for (int i = 0; i < ROWS; i++)
        if (strchr(rows[i].letters, command->letter)) print_option(&rows[i]);
    return 0;
}

static const CommandRow *find_command(const char *name) {
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

static int unknown_command(const char *name) {
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++) names[i] = commands[i].name;
    const char *near = nearest(name, names, COMMANDS);
    return near ? fail("unknown command `%s`" FIX "did you mean `%s`?", name, near)
                : fail("unknown command `%s`" FIX "see `tilewright help`", name);
}

static int command_help(const Options *o) {
    const CommandRow *command = o->topic ? find_command(o->topic) : NULL;
    if (command) return print_help(command);
    if (o->topic) return unknown_command(o->topic);
    printf("tilewright: compiles tile kernels written in Triton's language, TileLang's, or Tile "
           "C\n\n");
    for (int i = 0; i < COMMANDS; i++)
        printf("  tilewright %-10s %-26s %s\n", commands[i].name, commands[i].usage, commands[i].about);
    printf("\n`tilewright COMMAND --help` lists the options of a command.\n");
    printf("Exit status: 0 it ran and matched, 1 a mismatch or a mistake, 2 a fault of Tilewright.\n");
    return 0;
}

static int command_version(const Options *o) {
    (void)o;
    printf("tilewright %s\n", tw_version());
    return 0;
}

/* --- parsing --- */

static void push_pair(Pairs *pairs, char *name, const char *value) {
    tw_pair *more = get_memory((pairs->count + 1) * sizeof *more);
    if (pairs->count) memcpy(more, pairs->at, pairs->count * sizeof *more);
    free(pairs->at);
    pairs->at = more;
    more[pairs->count++] = (tw_pair){name, value};
}

static int add_pair(Pairs *pairs, const OptionRow *row, const char *text) {
    const char *equals = strchr(text, '=');
    if ((!equals && row->id != O_DEFINE) || equals == text)
        return fail("%s takes %s, not `%s`", row->name, row->value, text);
    /* `-D NAME` alone is true. */
    size_t length = equals ? (size_t)(equals - text) : strlen(text);
    push_pair(pairs, copy_bytes(text, length), equals ? equals + 1 : "true");
    return 0;
}
/* NAME=A,B,..: none of the values is empty. */
static int add_values(Pairs *pairs, const OptionRow *row, const char *text) {
    const char *equals = strchr(text, '=');
    size_t length = strlen(text);
    if (equals && (!equals[1] || equals[1] == ',' || text[length - 1] == ',' || strstr(equals, ",,")))
        return fail("`%s %s` lacks a value" FIX "write them as in `%s %.*s=64,128`", row->name, text, row->name,
                    (int)(equals - text), text);
    return add_pair(pairs, row, text);
}

static int set_option(Options *o, const OptionRow *row, const char *value) {
    char *end = NULL;
    switch (row->id) {
    case O_TARGET: o->target = value; return 0;
    case O_EMULATE: o->emulate = true; return 0;
    case O_DEFINE: return add_pair(&o->defines, row, value);
    case O_INCLUDE: push_pair(&o->includes, copy_bytes(value, strlen(value)), ""); return 0;
    case O_ANYWHERE: o->include_anywhere = true; return 0;
    case O_ARG: return add_pair(&o->args, row, value);
    case O_CONFIG:
        o->config = strtol(value, &end, 10);
        return *value && !*end && o->config > 0 ? 0 : fail("--config takes a number from 1, not `%s`", value);
    case O_SET: return add_pair(&o->sets, row, value);
    case O_GRID: o->grid = value; return 0;
    case O_SAVE: return add_pair(&o->saves, row, value);
    case O_EXPECT: return add_pair(&o->expects, row, value);
    case O_TOLERANCE:
        o->tolerance = strtod(value, &end);
        return *value && !*end && o->tolerance >= 0 ? 0 : fail("--tolerance takes a number, not `%s`", value);
    case O_SEED:
        errno = 0;
        o->seed = strtoull(value, &end, 0);
        return *value && !*end && !errno ? 0 : fail("--seed takes an integer, not `%s`", value);
    case O_SANITIZE: o->sanitize = true; return 0;
    case O_MAX_STEPS: push_pair(&o->sets, copy_bytes("max_steps", 9), value); return 0;
    case O_TIME: o->time = true; return 0;
    case O_TIME_PASSES: o->time_passes = true; return 0;
    case O_ASSEMBLY: o->assembly = true; return 0;
    case O_OUTPUT: o->output = value; return 0;
    case O_NAME: o->name = value; return 0;
    case O_ISA: o->isa = value; return 0;
    case O_PASSES: o->passes = value; return 0;
    case O_PRINT_AFTER:
        if (value)
            o->print_after = value;
        else
            o->print_after_all = true;
        return 0;
    case O_STOP_AFTER: o->stop_after = value; return 0;
    case O_VERIFY: o->verify_each = true; return 0;
    case O_JSON: o->json = true; return 0;
    case O_HTML: o->html = true; return 0;
    case O_LIST: o->list = true; return 0;
    case O_CLEAR: o->clear = true; return 0;
    case O_LIMIT: o->limit = value; return 0;
    case O_COLOR: return say_color(value) ? 0 : fail("--color takes always, never or auto, not `%s`", value);
    case O_OVER: return add_values(&o->overs, row, value);
    case O_BYTES: o->bytes = value; return 0;
    case O_FLOPS: o->flops = value; return 0;
    case O_TRY: return add_values(&o->tries, row, value);
    case O_SECONDS:
        o->seconds = strtod(value, &end);
        return *value && !*end && o->seconds > 0 ? 0 : fail("--seconds takes a number above 0, not `%s`", value);
    case O_TUNED: o->tuned = value; return 0;
    case O_AND: /* by run_command */
    case O_HELP: return 0;
    }
    return 0;
}

/* An option of other commands. */
static int foreign_option(const OptionRow *row, const CommandRow *command) {
    char takers[200] = "";
    for (int i = 0; i < COMMANDS; i++)
        if (strchr(row->letters, commands[i].letter))
            snprintf(takers + strlen(takers), sizeof takers - strlen(takers), "%s`%s`", *takers ? ", " : "",
                     commands[i].name);
    return fail("`%s` does not go with `tilewright %s`; it is an option of %s", row->name, command->name, takers);
}

static int unknown_option(const CommandRow *command, const char *text) {
    const char *names[ROWS];
    size_t count = 0, length = strcspn(text, "=");
    for (int i = 0; i < ROWS; i++) {
        bool same = strncmp(rows[i].name, text, length) == 0 && strlen(rows[i].name) == length;
        bool fits = strchr(rows[i].letters, command->letter) != NULL;
        if (same && fits) return fail("`%s` takes no value", rows[i].name);
        if (same) return foreign_option(&rows[i], command);
        if (fits && rows[i].name[1] == '-') names[count++] = rows[i].name + 2;
    }
    char *word = copy_bytes(text, length);
    const char *near = nearest(word + strspn(word, "-"), names, count);
    if (near)
        fail("unknown option `%s`" FIX "did you mean `--%s`?", word, near);
    else
        fail("unknown option `%s`; `tilewright %s --help` lists them", word, command->name);
    free(word);
    return 1;
}

/* The option at argv[*i], and its value, which may be the next word; moves *i to the last word used. */
static int take_option(Options *o, const CommandRow *command, int argc, char **argv, int *i) {
    const char *text = argv[*i];
    for (int r = 0; r < ROWS; r++) {
        const OptionRow *row = &rows[r];
        size_t length = strlen(row->name);
        if (!strchr(row->letters, command->letter) || strncmp(text, row->name, length) != 0) continue;
        bool is_short = row->name[1] != '-';
        if (text[length] == '=' && row->takes != NOTHING && !is_short) return set_option(o, row, text + length + 1);
        if (text[length] && is_short) return set_option(o, row, text + length); /* -DNAME=VALUE */
        if (text[length]) continue;
        if (row->takes != VALUE) return set_option(o, row, NULL);
        if (*i + 1 >= argc) return fail("%s needs a value: %s %s", row->name, row->name, row->value);
        return set_option(o, row, argv[++*i]);
    }
    return unknown_option(command, text);
}

/* FILE[:KERNEL]: the part behind the last colon is a kernel if it looks like a name. */
static void split_file(Options *o, const char *text) {
    const char *colon = strrchr(text, ':');
    const char *end = colon ? strrchr(colon, '.') : NULL; /* add.py is a file, flash.split a kernel */
    bool file = end && (strcmp(end, ".py") == 0 || strcmp(end, ".c") == 0 || strcmp(end, ".ir") == 0);
    bool name = colon && colon[1] && !file && !strchr(colon + 1, '/');
    o->file = copy_bytes(text, name ? (size_t)(colon - text) : strlen(text));
    o->kernel = name ? copy_bytes(colon + 1, strlen(colon + 1)) : NULL;
}

static void free_pairs(Pairs *pairs) {
    for (size_t i = 0; i < pairs->count; i++) free((char *)(uintptr_t)pairs->at[i].name);
    free(pairs->at);
}

static void free_options(Options *o) {
    free(o->file);
    free(o->kernel);
    Pairs *all[] = {&o->defines, &o->args, &o->sets, &o->saves, &o->expects, &o->includes, &o->overs, &o->tries};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free_pairs(all[i]);
    if (o->next) free_options(o->next);
    free(o->next);
}

/* The options of another kernel of the command, with what holds for all. */
static Options *next_options(Options *o) {
    Options *next = o->next = get_memory(sizeof *next);
    *next = (Options){.command = o->command,
                      .words = o->words,
                      .word_count = o->word_count,
                      .target = o->target,
                      .include_anywhere = o->include_anywhere,
                      .tolerance = -1};
    for (size_t i = 0; i < o->includes.count; i++)
        push_pair(&next->includes, copy_bytes(o->includes.at[i].name, strlen(o->includes.at[i].name)), "");
    return next;
}

static int run_command(const CommandRow *command, Options *o, int argc, char **argv) {
    Options *const first = o;
    int words = 0;
    bool options = true; /* until `--` */
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return print_help(command);
        if (strcmp(argv[i], "--json") == 0) say_json(true); /* also of mistakes in the words before it */
    }
    for (int i = 2; i < argc; i++) {
        int status = 0;
        if (options && strcmp(argv[i], "--") == 0)
            options = false;
        else if (options && command->letter == 'b' && o->file && strcmp(argv[i], "--and") == 0)
            o = next_options(o), words = 0;
        else if (options && argv[i][0] == '-' && argv[i][1])
            status = take_option(o, command, argc, argv, &i);
        else if (words++ || !*command->usage)
            status = fail("`%s` is one word too many", argv[i]);
        else if (strchr("dhp", command->letter))
            o->topic = argv[i];
        else
            split_file(o, argv[i]);
        if (status) return status;
    }
    if (*command->usage == 'F' && !o->file) return fail("which file? tilewright %s %s", command->name, command->usage);
    for (Options *one = first; one; one = one->next) {
        if (one->output) first->output = one->output;
        if (one->next && !one->next->isa && strcmp(one->next->target, one->target) == 0) one->next->isa = one->isa;
    }
    return command->run(first);
}

int main(int argc, char **argv) {
    signals_prepare();
    say_color("auto");
    Options o = {.target = "cpu", .tolerance = -1, .seconds = 60, .words = argv, .word_count = argc};
    if (argc < 2) return command_help(&o), 1;
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
    if (strcmp(name, "--version") == 0) name = "version";
    const CommandRow *command = find_command(name);
    if (!command) return unknown_command(name);
    o.command = command->name;
    int status = run_command(command, &o, argc, argv);
    die_if_asked();
    free_options(&o);
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    if (!written && !status) status = fail("the output could not be written");
    return status;
}
