/* SPDX-License-Identifier: Apache-2.0 */
/* json.c: answers for programs: JSON on standard output, and with --json what goes wrong as JSON on standard error, an
 * object a line. Commas come by themselves. */
#include "cli/cli.h"

#include <math.h>

void json_start(Json *j, FILE *out) { *j = (Json){.out = out}; }

static void separate(Json *j) {
    if (j->keyed)
        j->keyed = false;
    else if (j->more)
        fputs(", ", j->out);
    j->more = true;
}

void json_open(Json *j, char bracket) {
    separate(j);
    fputc(bracket, j->out);
    j->more = false;
}

void json_close(Json *j, char bracket) {
    fputc(bracket, j->out);
    j->more = true;
}

void json_key(Json *j, const char *key) {
    json_text(j, key);
    fputs(": ", j->out);
    j->keyed = true;
}

void json_text(Json *j, const char *text) {
    separate(j);
    fprint_json_text(j->out, text);
}

void json_integer(Json *j, int64_t number) {
    separate(j);
    fprintf(j->out, "%lld", (long long)number);
}

void json_number(Json *j, double number) {
    separate(j);
    if (isfinite(number))
        fprintf(j->out, "%.9g", number);
    else
        fputs("null", j->out);
}

void json_null(Json *j) {
    separate(j);
    fputs("null", j->out);
}

void json_bool(Json *j, bool value) {
    separate(j);
    fputs(value ? "true" : "false", j->out);
}

void json_raw(Json *j, const char *from, const char *to) {
    separate(j);
    fwrite(from, 1, (size_t)(to - from), j->out);
}

void json_shape(Json *j, const tw_buffer *b) {
    json_key(j, "dtype");
    json_text(j, tw_dtype_name(tw_buffer_dtype(b)));
    json_key(j, "shape");
    json_open(j, '[');
    for (int d = 0; d < tw_buffer_rank(b); d++) json_integer(j, tw_buffer_shape(b)[d]);
    json_close(j, ']');
}

/* --- what goes wrong --- */

static void print_parts(Json *j, const tw_diagnostic *d) {
    const char *const texts[] = {"severity", d->severity, "code", d->code, "text", d->text, "fix", d->fix};
    for (int i = 0; i < 8; i += 2) json_key(j, texts[i]), json_text(j, texts[i + 1]);
    json_key(j, "file");
    json_text(j, d->file);
    if (d->file) {
        json_key(j, "line"), json_integer(j, d->line);
        json_key(j, "column"), json_integer(j, d->column);
        json_key(j, "length"), json_integer(j, d->length);
    }
    if (d->needed) {
        json_key(j, "needed"), json_integer(j, d->needed);
        json_key(j, "available"), json_integer(j, d->available);
    }
}

void json_remark(FILE *out, const char *severity, const char *text, const char *fix) {
    Json j;
    tw_diagnostic d = {.severity = severity, .code = "", .text = text, .fix = fix};
    json_start(&j, out);
    json_open(&j, '{');
    print_parts(&j, &d);
    json_key(&j, "notes");
    json_open(&j, '[');
    fputs("]}\n", out);
}

size_t json_diagnostics(const tw_context *cx) {
    Json j;
    tw_diagnostic d = {.struct_size = sizeof d};
    size_t count = 0;
    for (; tw_context_diagnostic_at(cx, count, &d) == TW_OK; count++) {
        bool note = d.severity[0] == 'n';
        if (!note) {
            if (count) fputs("]}\n", stderr);
            json_start(&j, stderr);
        }
        json_open(&j, '{');
        print_parts(&j, &d);
        if (note)
            json_close(&j, '}');
        else {
            json_key(&j, "notes");
            json_open(&j, '[');
        }
    }
    if (count) fputs("]}\n", stderr);
    return count;
}
