/* SPDX-License-Identifier: Apache-2.0 */
/* assembly.h: constraints of inline assembly, as LLVM writes them: "=r,=f,r,l,0,~{memory}".
 *
 * Outputs come first, then inputs, then what is overwritten. A letter is a kind of register:
 * h 16, r 32, l 64 bits of an integer, f float32, d float64. The digit of an input ties it to that output. An input `n`
 * is a number that the code has in its place: doors write it there, the op has none. */
#ifndef IR_ASSEMBLY_H
#define IR_ASSEMBLY_H
#include "ir/ir.h"

enum { MAX_ASM_REGISTERS = 64 };

typedef struct AsmRegister {
    char letter; /* of h r l f d; n */
    bool early;  /* an output that is written before all inputs are read (`=&r`) */
    int tied;    /* an input: the output whose register it is; -1: none */
} AsmRegister;

typedef struct AsmRegisters {
    int outputs, inputs;
    AsmRegister at[MAX_ASM_REGISTERS]; /* outputs, then inputs: as `$0`, `$1`, .. count them */
    bool memory;                       /* memory is read or written */
} AsmRegisters;

/* NULL, or what is wrong with the text. */
const char *asm_registers(const char *constraints, AsmRegisters *out);
Elem asm_elem(char letter); /* u16, u32, u64, f32, f64 */

/* One piece of a text: characters as they stand, or the register that is named behind them. */
typedef struct AsmPiece {
    const char *text;
    size_t length;
    int number; /* of the register; -1: none */
} AsmPiece;
/* The next piece from *at on; false at the end. A register beyond `count`, or a form of `$` that is none, has
 * number -2. */
bool asm_piece(const char **at, int count, AsmPiece *piece);
#endif
