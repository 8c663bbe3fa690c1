/* SPDX-License-Identifier: Apache-2.0 */
/* tt_calls.h: the rows of tt_ops.def: which calls of the compute API do an elementwise op. */
#ifndef TARGET_TENSTORRENT_TT_CALLS_H
#define TARGET_TENSTORRENT_TT_CALLS_H
#include "ir/ir.h"

typedef enum CallForm {
    TAKES_SLOT,
    TAKES_SLOTS,
    TAKES_NUMBER,
    TAKES_LEFT,
    TAKES_ZERO,
    TAKES_TRIPLE,
    TAKES_FPU
} CallForm;
typedef struct CallRow {
    Opcode code;
    Word word;
    CallForm form;
    const char *init, *call;
} CallRow;

const CallRow *call_row(Opcode code, Word word, CallForm form); /* NULL: there is none */
/* Rows share inits: the number of the first row with this one's, and that row. */
int call_init(const CallRow *row);
const CallRow *call_row_at(int number);
#endif
