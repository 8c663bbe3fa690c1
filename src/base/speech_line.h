/* SPDX-License-Identifier: Apache-2.0 */
/* speech_line.h: the lines that `print` says (ir/speech.h shows them), in plain C: for targets that run on this machine
 * (speech.c), and for kernels that are built ahead of time, whose entry includes this very text.
 *
 * Lines are put together in a buffer of fixed size, since they are made in the middle of a launch: a message that does
 * not fit is cut. */
#ifndef BASE_SPEECH_LINE_H
#define BASE_SPEECH_LINE_H
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void SpeechSink(void *user, const char *text, size_t length);

enum { SPEECH_BYTES = 2048, SPEECH_TAIL = 400 };

/* A tile of values. */
typedef struct SpeechTile {
    char kind;                        /* 'f' floats, 'i' signed, 'u' unsigned integers, 'p' addresses */
    int bytes, rank;                  /* of an element; of the tile */
    const int64_t *extents;           /* rank of them */
    double (*number)(int elem, const void *at); /* of a float */
    int elem;                         /* which `number` is told */
} SpeechTile;

typedef struct SpeechLine {
    char text[SPEECH_BYTES];
    size_t length;
} SpeechLine;

#define SPEECH_FN static inline __attribute__((unused))
SPEECH_FN __attribute__((format(printf, 3, 4))) void speech_add(SpeechLine *line, size_t room, const char *format,
                                                                ...) {
    va_list args;
    int n;
    va_start(args, format);
    n = vsnprintf(line->text + line->length, room - line->length, format, args);
    va_end(args);
    if (n > 0) line->length += (size_t)n < room - line->length ? (size_t)n : room - line->length - 1;
}

SPEECH_FN int speech_digits(int64_t number) {
    int digits = 1;
    while (number >= 10) number /= 10, digits++;
    return digits;
}

/* "idx ( 3, 17)" */
SPEECH_FN void speech_add_index(SpeechLine *line, const SpeechTile *tile, int64_t stride, int64_t element) {
    speech_add(line, SPEECH_BYTES, " idx (");
    for (int d = 0; d < tile->rank; d++) {
        stride /= tile->extents[d];
        speech_add(line, SPEECH_BYTES, "%s%*lld", d ? ", " : "", speech_digits(tile->extents[d] - 1),
                   (long long)(element / stride % tile->extents[d]));
    }
    speech_add(line, SPEECH_BYTES, ")");
}

/* The message, with a space in front and, before values, ": " behind. */
SPEECH_FN void speech_add_message(SpeechLine *line, const char *message, int values) {
    size_t n = message ? strlen(message) : 0;
    if (values && n && message[n - 1] == ' ') n--;
    if (values && n && message[n - 1] == ':') n--;
    if (n) speech_add(line, SPEECH_BYTES - SPEECH_TAIL, "%s%.*s", *message == ' ' ? "" : " ", (int)n, message);
    if (values) speech_add(line, SPEECH_BYTES, ": ");
}

SPEECH_FN void speech_add_value(SpeechLine *line, const SpeechTile *tile, int hex, const void *at) {
    uint64_t bits = 0;
    if (tile->kind == 'f') {
        speech_add(line, SPEECH_BYTES, "%f", tile->number(tile->elem, at));
        return;
    }
    memcpy(&bits, at, (size_t)tile->bytes); /* little endian, as all that we run on */
    if (tile->kind == 'p')
        speech_add(line, SPEECH_BYTES, "0x%" PRIx64, bits);
    else if (hex)
        speech_add(line, SPEECH_BYTES, "0x%0*" PRIx64, 2 * tile->bytes, bits);
    else if (tile->kind == 'u')
        speech_add(line, SPEECH_BYTES, "%" PRIu64, bits);
    else
        speech_add(line, SPEECH_BYTES, "%" PRId64, (int64_t)(bits << (64 - 8 * tile->bytes)) >> (64 - 8 * tile->bytes));
}

SPEECH_FN void speech_begin(SpeechLine *line, const int64_t pid[3]) {
    line->length = 0;
    speech_add(line, SPEECH_BYTES, "pid (%lld, %lld, %lld)", (long long)pid[0], (long long)pid[1], (long long)pid[2]);
}

/* A print without values. */
SPEECH_FN void speech_say_message(const char *message, const int64_t pid[3], SpeechSink *sink, void *user) {
    SpeechLine line;
    speech_begin(&line, pid);
    speech_add_message(&line, message, 0);
    speech_add(&line, SPEECH_BYTES, "\n");
    sink(user, line.text, line.length);
}

/* All elements of a tile, row-major at `data`; operand < 0: the print has no other. A line is handed over at a time. */
SPEECH_FN void speech_say_tile(const char *message, int hex, int operand, const SpeechTile *tile, const int64_t pid[3],
                               const void *data, SpeechSink *sink, void *user) {
    SpeechLine line;
    int64_t n = 1;
    size_t head;
    for (int d = 0; d < tile->rank; d++) n *= tile->extents[d];
    speech_begin(&line, pid);
    head = line.length;
    for (int64_t i = 0; i < n; i++) {
        line.length = head;
        speech_add_index(&line, tile, n, i);
        speech_add_message(&line, message, 1);
        if (operand >= 0) speech_add(&line, SPEECH_BYTES, "(operand %d) ", operand);
        speech_add_value(&line, tile, hex, (const char *)data + i * tile->bytes);
        speech_add(&line, SPEECH_BYTES, "\n");
        sink(user, line.text, line.length);
    }
}
#endif
