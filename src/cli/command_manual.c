/* SPDX-License-Identifier: Apache-2.0 */
/* command_manual.c: `man` prints the man page, `completion` what a shell needs to complete commands and options; all of
 * it made from the tables of table.h. */
#include "cli/table.h"

#include <string.h>

/* --- the man page --- */

/* Text of roff: a `-` is a hyphen there, a `\` and a leading `.` or `'` are commands. Runs of blanks become one. */
static void put_roff(const char *text) {
    bool start = true;
    for (; *text; text++) {
        if (strchr(" \n", *text) && strchr(" \n", text[1])) continue;
        if (start && strchr(".'", *text)) fputs("\\&", stdout);
        start = false;
        if (*text == '-')
            fputs("\\-", stdout);
        else if (*text == '\\')
            fputs("\\e", stdout);
        else
            putchar(*text == '\n' ? ' ' : *text);
    }
}

static void put_item(const char *name, const char *between, const char *value, const char *about) {
    fputs(".TP\n\\fB", stdout);
    put_roff(name);
    printf("\\fR%s\\fI", between);
    put_roff(value);
    fputs("\\fR\n", stdout);
    put_roff(about);
    putchar('\n');
}

int command_man(const Options *o) {
    (void)o;
    printf(".TH TILEWRIGHT 1 \"\" \"tilewright %s\"\n.SH NAME\ntilewright \\- compile and run tile kernels\n"
           ".SH SYNOPSIS\n.B tilewright\n.I COMMAND\n[\\fIFILE\\fR[:\\fIKERNEL\\fR]] [\\fIOPTIONS\\fR]\n"
           ".SH DESCRIPTION\nCompiles tile kernels written in Triton's language, TileLang's, or "
           "Tile C for CUDA, HIP, the "
           "CPU and Tenstorrent, runs, checks and explains them.\n.SH COMMANDS\n",
           tw_version());
    for (int i = 0; i < cli_command_count; i++)
        put_item(cli_commands[i].name, " ", cli_commands[i].usage, cli_commands[i].about);
    for (int c = 0; c < cli_command_count; c++) {
        bool first = true;
        for (int i = 0; i < cli_option_count; i++) {
            const OptionRow *row = &cli_options[i];
            if (!strchr(row->letters, cli_commands[c].letter) || strcmp(row->name, "--help") == 0) continue;
            if (first) printf(".SH OPTIONS OF %s\n", cli_commands[c].name);
            first = false;
            put_item(row->name, row->takes == VALUE ? " " : row->takes == MAYBE ? "=" : "", row->value, row->about);
        }
    }
    printf(".SH ENVIRONMENT\n");
    put_item("TILEWRIGHT_CACHE_DIR", "", "", "where compiled kernels are kept; else $XDG_CACHE_HOME/tilewright, else "
                                             "~/.cache/tilewright");
    put_item("TILEWRIGHT_CACHE_LIMIT", "", "", "how large that may become; 4G unless it says otherwise");
    put_item("TILEWRIGHT_THREADS", "", "", "how many threads kernels of the CPU run on");
    put_item("NO_COLOR", "", "", "if it is set and not empty, messages have no colours");
    printf(".SH EXIT STATUS\n0: it ran and matched; 1: a mismatch or a mistake; 2: a fault of Tilewright.\n");
    return 0;
}

/* --- completions --- */

static void put_options(char letter) {
    for (int i = 0; i < cli_option_count; i++)
        if (strchr(cli_options[i].letters, letter)) printf(" %s", cli_options[i].name);
}

static void put_bash(void) {
    printf("# completion of tilewright for bash: tilewright completion bash > "
           "~/.local/share/bash-completion/completions/"
           "tilewright\n_tilewright() {\n    local word=${COMP_WORDS[COMP_CWORD]} words\n"
           "    if [ \"$COMP_CWORD\" = 1 ]; then words='");
    for (int i = 0; i < cli_command_count; i++) printf("%s%s", i ? " " : "", cli_commands[i].name);
    printf("'; else\n        case ${COMP_WORDS[1]} in\n");
    for (int i = 0; i < cli_command_count; i++) {
        printf("        %s) words='", cli_commands[i].name);
        put_options(cli_commands[i].letter);
        printf("' ;;\n");
    }
    printf("        esac\n    fi\n    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
           "    case $word in -*) ;; *) [ \"$COMP_CWORD\" = 1 ] || COMPREPLY+=($(compgen -f -- \"$word\")) ;; esac\n}\n"
           "complete -o filenames -F _tilewright tilewright\n");
}

/* Between single quotes, the first line of it; a colon separates there. */
static void put_zsh(const char *text) {
    for (; *text && *text != '\n'; text++)
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (strchr(":[]", *text))
            printf("\\%c", *text);
        else
            putchar(*text);
}

static void put_completion_zsh(void) {
    printf("#compdef tilewright\n# completion of tilewright for zsh: tilewright completion zsh > "
           "_tilewright, in a folder of "
           "$fpath\nlocal -a commands\ncommands=(\n");
    for (int i = 0; i < cli_command_count; i++) {
        printf("  '%s:", cli_commands[i].name);
        put_zsh(cli_commands[i].about);
        printf("'\n");
    }
    printf(")\nif (( CURRENT == 2 )); then _describe command commands; return; fi\ncase $words[2] in\n");
    for (int c = 0; c < cli_command_count; c++) {
        printf("%s) _arguments", cli_commands[c].name);
        for (int i = 0; i < cli_option_count; i++) {
            const OptionRow *row = &cli_options[i];
            if (!strchr(row->letters, cli_commands[c].letter)) continue;
            printf(" \\\n  '*%s[", row->name);
            put_zsh(row->about);
            printf("]");
            if (row->takes == VALUE) {
                printf(":");
                put_zsh(row->value);
                printf(":_files");
            }
            printf("'");
        }
        printf(" \\\n  '*:file:_files' ;;\n");
    }
    printf("esac\n");
}

int command_completion(const Options *o) {
    if (o->topic && strcmp(o->topic, "bash") == 0)
        put_bash();
    else if (o->topic && strcmp(o->topic, "zsh") == 0)
        put_completion_zsh();
    else
        return fail("for which shell? tilewright completion bash|zsh");
    return 0;
}
