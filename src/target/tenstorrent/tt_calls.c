/* SPDX-License-Identifier: Apache-2.0 */
/* tt_calls.c: the table of tt_ops.def; see tt_calls.h. */
#include "target/tenstorrent/tt_calls.h"

#include <string.h>

#define NONE WORD_NONE
static const CallRow rows[] = {
#define CALL(op, word, form, init, call) {OP_##op, word, TAKES_##form, init, call},
#include "target/tenstorrent/tt_ops.def"
#undef CALL
};
#undef NONE
enum { ROWS = sizeof rows / sizeof *rows };

const CallRow *call_row(Opcode code, Word word, CallForm form) {
    for (int i = 0; i < ROWS; i++)
        if (rows[i].code == code && rows[i].word == word && rows[i].form == form) return &rows[i];
    return NULL;
}

int call_init(const CallRow *row) {
    int i = 0;
    while (strcmp(rows[i].init, row->init)) i++;
    return i;
}

const CallRow *call_row_at(int number) { return &rows[number]; }
