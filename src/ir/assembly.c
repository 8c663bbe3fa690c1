/* SPDX-License-Identifier: Apache-2.0 */
/* assembly.c: see assembly.h. */
#include "ir/assembly.h"

#include <ctype.h>
#include <string.h>

Elem asm_elem(char letter) {
    switch (letter) {
    case 'h': return EL_U16;
    case 'l': return EL_U64;
    case 'f': return EL_F32;
    case 'd': return EL_F64;
    default: return EL_U32;
    }
}

/* One word between commas. */
static const char *read_word(const char *word, size_t length, AsmRegisters *out) {
    bool output = length && *word == '=';
    if (output) word++, length--;
    AsmRegister reg = {.tied = -1};
    if (output && length && *word == '&') reg.early = true, word++, length--;
    if (length && *word == '~') {
        out->memory |= length == 9 && strncmp(word, "~{memory}", length) == 0;
        return NULL;
    }
    if (output && out->inputs) return "outputs (`=`) stand before inputs";
    if (out->outputs + out->inputs == MAX_ASM_REGISTERS) return "64 registers are the most";
    if (length == 1 && !output && isdigit((unsigned char)*word) && *word - '0' < out->outputs) {
        reg.tied = *word - '0';
        reg.letter = out->at[reg.tied].letter;
    } else if (length == 1 && strchr(output ? "hrlfd" : "hrlfdn", *word)) {
        reg.letter = *word;
    } else {
        return "a register is one of h, r, l, f, d; an input may be n (a constant) or the number of an output";
    }
    out->at[out->outputs + out->inputs] = reg;
    out->outputs += output;
    out->inputs += !output;
    return NULL;
}

const char *asm_registers(const char *constraints, AsmRegisters *out) {
    *out = (AsmRegisters){0};
    for (const char *at = constraints; *at;) {
        at += strspn(at, " \t\n,");
        size_t length = strcspn(at, " \t\n,");
        const char *wrong = length ? read_word(at, length, out) : NULL;
        if (wrong) return wrong;
        at += length;
    }
    return out->outputs ? NULL : "at least one output is needed";
}

/* `$7` or `${7}` at the text; its length, 0: neither. */
static size_t read_register(const char *at, int *number) {
    bool braces = at[1] == '{';
    const char *digit = at + 1 + braces;
    *number = -2;
    if (!isdigit((unsigned char)*digit)) return 0;
    int value = 0;
    for (; isdigit((unsigned char)*digit); digit++) value = value > 1000 ? value : 10 * value + (*digit - '0');
    if (braces && *digit != '}') return 0;
    *number = value;
    return (size_t)(digit - at) + braces;
}

bool asm_piece(const char **at, int count, AsmPiece *piece) {
    const char *text = *at;
    *piece = (AsmPiece){text, strcspn(text, "$"), -1};
    if (!*text) return false;
    *at = text + piece->length;
    if (**at != '$') return true;
    if ((*at)[1] == '$') { /* one of them as it stands */
        piece->length++;
        *at += 2;
        return true;
    }
    size_t used = read_register(*at, &piece->number);
    if (piece->number >= count) piece->number = -2;
    *at += used ? used : 1;
    return true;
}
