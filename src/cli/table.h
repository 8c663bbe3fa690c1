/* SPDX-License-Identifier: Apache-2.0 */
/* table.h: the commands and options of `tilewright` as tables (main.c), for all that is made from them: parsing and
 * help (main.c), the man page and the completions of shells (command_manual.c). */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H
#include "cli/cli.h"

typedef struct CommandRow {
    const char *name;
    char letter; /* by which options name it */
    const char *usage, *about;
    Command *run;
} CommandRow;

typedef enum Takes { NOTHING, VALUE, MAYBE } Takes;
typedef struct OptionRow {
    int id;
    const char *name, *value;
    Takes takes;
    const char *letters, *about; /* of the commands that take it; `about` may go on in lines of its own */
} OptionRow;

extern const CommandRow *const cli_commands;
extern const OptionRow *const cli_options;
extern const int cli_command_count, cli_option_count;
#endif
