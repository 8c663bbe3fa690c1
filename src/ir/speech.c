/* SPDX-License-Identifier: Apache-2.0 */
/* speech.c: see speech.h. */
#include "ir/speech.h"

#include "ir/element.h"

Speech speech_of(const Kernel *k, const Op *print, Arena *arena) {
    const Type **types = ARENA_ARRAY(arena, const Type *, print->operand_count + 1);
    Speech s = {op_text(print, AT_MESSAGE), op_flag(print, AT_HEX), 0, types};
    for (int i = 0; i < print->operand_count; i++) {
        const Type *type = ir_type(k, print->operands[i]);
        if (type->kind == TY_TILE) types[s.count++] = type;
    }
    return s;
}

static double number_of(int elem, const void *at) { return elem_get_f64((Elem)elem, at); }

SpeechTile speech_tile(const Type *type) {
    bool is_float = elem_is_float(type->elem);
    char kind = type->pointer ? 'p' : is_float ? 'f' : elem_is_signed(type->elem) ? 'i' : 'u';
    return (SpeechTile){kind, (int)ty_elem_bytes(type), type->rank, type->extent, number_of, type->elem};
}

void speech_say(const Speech *s, const int64_t pid[3], const void *const *data, SpeechSink *sink, void *user) {
    if (s->count == 0) speech_say_message(s->message, pid, sink, user);
    for (int k = 0; k < s->count; k++) {
        SpeechTile tile = speech_tile(s->types[k]);
        speech_say_tile(s->message, s->hex, s->count > 1 ? k : -1, &tile, pid, data[k], sink, user);
    }
}
