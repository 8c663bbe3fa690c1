/* speech.c: see speech.h. Lines are put together in a buffer of fixed size, since they are made
 * in the middle of a launch: a message that does not fit is cut. */
#include "ir/speech.h"

#include "ir/element.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 2048, TAIL_BYTES = 400 };

Speech speech_of(const Kernel *k, const Op *print, Arena *arena) {
    const Type **types = ARENA_ARRAY(arena, const Type *, print->operand_count + 1);
    Speech s = {op_text(print, AT_MESSAGE), op_flag(print, AT_HEX), 0, types};
    for (int i = 0; i < print->operand_count; i++) {
        const Type *type = ir_type(k, print->operands[i]);
        if (type->kind == TY_TILE) types[s.count++] = type;
    }
    return s;
}

typedef struct Line {
    char text[LINE_BYTES];
    size_t length;
} Line;

static void add(Line *line, size_t room, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void add(Line *line, size_t room, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line->text + line->length, room - line->length, format, args);
    va_end(args);
    if (n > 0) line->length += (size_t)n < room - line->length ? (size_t)n : room - line->length - 1;
}

static int digits_of(int64_t number) {
    int digits = 1;
    while (number >= 10) number /= 10, digits++;
    return digits;
}

/* "idx ( 3, 17)" */
static void add_index(Line *line, const Type *type, int64_t element) {
    int64_t stride = ty_elements(type);
    add(line, LINE_BYTES, " idx (");
    for (int d = 0; d < type->rank; d++) {
        stride /= type->extent[d];
        add(line, LINE_BYTES, "%s%*lld", d ? ", " : "", digits_of(type->extent[d] - 1),
            (long long)(element / stride % type->extent[d]));
    }
    add(line, LINE_BYTES, ")");
}

/* The message, with a space in front and, before values, ": " behind. */
static void add_message(Line *line, const char *message, bool values) {
    size_t n = message ? strlen(message) : 0;
    if (values && n && message[n - 1] == ' ') n--;
    if (values && n && message[n - 1] == ':') n--;
    if (n) add(line, LINE_BYTES - TAIL_BYTES, "%s%.*s", *message == ' ' ? "" : " ", (int)n, message);
    if (values) add(line, LINE_BYTES, ": ");
}

static void add_value(Line *line, const Type *type, bool hex, const char *at) {
    Elem elem = type->elem;
    int64_t number = 0;
    if (type->pointer) {
        memcpy(&number, at, sizeof number);
        add(line, LINE_BYTES, "0x%" PRIx64, (uint64_t)number);
        return;
    }
    if (elem_is_float(elem)) {
        add(line, LINE_BYTES, "%f", elem_get_f64(elem, at));
        return;
    }
    number = elem_get_i64(elem, at);
    int bytes = elem_info[elem].bytes;
    if (hex) {
        uint64_t mask = bytes == 8 ? ~UINT64_C(0) : (UINT64_C(1) << 8 * bytes) - 1;
        add(line, LINE_BYTES, "0x%0*" PRIx64, 2 * bytes, (uint64_t)number & mask);
    } else if (elem == EL_U64)
        add(line, LINE_BYTES, "%" PRIu64, (uint64_t)number);
    else
        add(line, LINE_BYTES, "%" PRId64, number);
}

void speech_say(const Speech *s, const int64_t pid[3], const void *const *data, SpeechSink *sink, void *user) {
    Line line = {.length = 0};
    add(&line, LINE_BYTES, "pid (%lld, %lld, %lld)", (long long)pid[0], (long long)pid[1], (long long)pid[2]);
    size_t head = line.length;
    if (s->count == 0) {
        add_message(&line, s->message, false);
        add(&line, LINE_BYTES, "\n");
        sink(user, line.text, line.length);
    }
    for (int k = 0; k < s->count; k++) {
        const Type *type = s->types[k];
        int64_t n = ty_elements(type);
        for (int64_t i = 0; i < n; i++) {
            line.length = head;
            add_index(&line, type, i);
            add_message(&line, s->message, true);
            if (s->count > 1) add(&line, LINE_BYTES, "(operand %d) ", k);
            add_value(&line, type, s->hex, (const char *)data[k] + i * ty_elem_bytes(type));
            add(&line, LINE_BYTES, "\n");
            sink(user, line.text, line.length);
        }
    }
}
