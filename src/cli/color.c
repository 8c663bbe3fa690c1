/* SPDX-License-Identifier: Apache-2.0 */
/* color.c: colours of messages on terminals: their first words (`error:`, `warning:`, `hint:` ..) and the carets below
 * a line of source. NO_COLOR is honoured, and --color. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool colored; /* of this process; nothing else of the command line lives longer than a command */

bool say_color(const char *when) {
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    bool is_auto = strcmp(when, "auto") == 0;
    colored = strcmp(when, "always") == 0;
    if (is_auto) colored = isatty(2) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
    return is_auto || colored || strcmp(when, "never") == 0;
}

/* The word that says how grave the line is, as it begins or behind its place; NULL: none. */
static const char *grave(const char *line, size_t length, const char **color, size_t *word) {
    static const struct {
        const char *word, *color;
    } rows[] = {{"internal error", "1;31"}, {"error", "1;31"}, {"warning", "1;33"}, {"performance", "1;35"},
                {"note", "1;36"},           {"hint", "1;36"}};
    const char *best = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *at = strstr(line, rows[i].word);
        char behind = at ? at[strlen(rows[i].word)] : 'x'; /* a severity may stand alone */
        bool begins = at && (!behind || behind == ':') &&
                      (at == line || (at >= line + 2 && at[-1] == ' ' && at[-2] == ':'));
        if (!begins || (size_t)(at - line) >= length || (best && at >= best)) continue;
        best = at, *color = rows[i].color, *word = strlen(rows[i].word);
    }
    return best;
}

static void print_line(const char *line, size_t length) {
    const char *color = NULL;
    size_t word = 0, blank = strspn(line, " ");
    const char *at = grave(line, length, &color, &word);
    if (at)
        fprintf(stderr, "%.*s\033[%sm%.*s\033[0m%.*s", (int)(at - line), line, color, (int)word, at,
                (int)(length - word - (size_t)(at - line)), at + word);
    else if (line[blank] == '|' && strcspn(line, "^~") < length &&
             blank + 1 + strspn(line + blank + 1, " ^~") >= length - 1)
        fprintf(stderr, "%.*s\033[1;32m%.*s\033[0m", (int)blank + 1, line, (int)(length - blank - 1), line + blank + 1);
    else
        fwrite(line, 1, length, stderr);
}

void print_message(const char *text) {
    while (colored && *text) {
        size_t length = strcspn(text, "\n");
        if (text[length]) length++;
        print_line(text, length);
        text += length;
    }
    if (!colored) fputs(text, stderr);
}
