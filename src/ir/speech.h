/* SPDX-License-Identifier: Apache-2.0 */
/* speech.h: what `print` says, the same on every target that runs on this machine.
 *
 * A line an element, with the place in the grid and in the tile, as Triton prints it; the message
 * ends in a colon before values:
 *
 *     print<message=x> %t           pid (0, 0, 0) idx ( 0) x: 1.500000
 *     print<message=x> %a, %b       pid (0, 0, 0) idx () x: (operand 0) 7
 *     print<message=here>           pid (0, 0, 0) here */
#ifndef IR_SPEECH_H
#define IR_SPEECH_H
#include "base/speech_line.h"
#include "ir/ir.h"

typedef struct Speech {
    const char *message; /* may be NULL */
    bool hex;            /* integers as 0x.. in all their digits */
    int count;
    const Type *const *types; /* of the operands */
} Speech;

/* What a print op says; of its operands those that have elements. */
Speech speech_of(const Kernel *k, const Op *print, Arena *arena);

SpeechTile speech_tile(const Type *type);
/* data: each operand's elements in memory form, row-major. A line is handed over at a time. */
void speech_say(const Speech *s, const int64_t pid[3], const void *const *data, SpeechSink *sink, void *user);
#endif
