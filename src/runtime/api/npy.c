/* SPDX-License-Identifier: Apache-2.0 */
/* npy.c: NumPy's .npy files.
 *
 * A file is "\x93NUMPY", a version, the length of a header, and the header: a Python dict with
 * exactly the keys descr, fortran_order and shape, then the elements. The header is read by a
 * small parser of just that; the size of the file must be what the header says, so a file that
 * lies is refused before anything is allocated.
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } */
#include "runtime/runtime.h"

#include "runtime/compile/cache.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HEADER = 65536 };

typedef struct Header {
    char descr[16];
    bool fortran;
    int rank;
    int64_t shape[TW_MAX_RANK];
} Header;

/* --- reading --- */

typedef struct Cursor {
    const char *at, *end;
    const char *why; /* the first rule that is broken; NULL: none */
} Cursor;

/* False, with the rule. */
static bool broken(Cursor *c, const char *why) {
    if (!c->why) c->why = why;
    return false;
}

static void skip_blanks(Cursor *c) {
    while (c->at < c->end && isspace((unsigned char)*c->at)) c->at++;
}
static bool take(Cursor *c, char what) {
    skip_blanks(c);
    if (c->at >= c->end || *c->at != what) return false;
    c->at++;
    return true;
}
static bool take_word(Cursor *c, const char *word) {
    skip_blanks(c);
    size_t n = strlen(word);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0) return false;
    c->at += n;
    return true;
}
static bool take_string(Cursor *c, char *to, size_t capacity) {
    skip_blanks(c);
    if (c->at >= c->end || (*c->at != '\'' && *c->at != '"')) return false;
    char quote = *c->at++;
    size_t n = 0;
    for (; c->at < c->end && *c->at != quote; c->at++) {
        if (n + 1 >= capacity) return false;
        to[n++] = *c->at;
    }
    to[n] = 0;
    return take(c, quote);
}

static bool take_shape(Cursor *c, Header *h) {
    if (!take(c, '(')) return broken(c, "its shape is no tuple");
    while (!take(c, ')')) {
        skip_blanks(c);
        int64_t extent = 0;
        const char *start = c->at;
        for (; c->at < c->end && isdigit((unsigned char)*c->at); c->at++)
            if (__builtin_mul_overflow(extent, 10, &extent) || __builtin_add_overflow(extent, *c->at - '0', &extent))
                return broken(c, "an extent of its shape does not fit 64 bits");
        if (c->at == start) return broken(c, "an extent of its shape is no number from 0");
        if (h->rank == TW_MAX_RANK) return broken(c, "it has more than 8 extents; reshape it");
        take(c, 'L'); /* old writers */
        h->shape[h->rank++] = extent;
        if (!take(c, ',')) return take(c, ')') || broken(c, "its shape is not closed");
    }
    return true;
}

static bool take_entry(Cursor *c, const char *key, Header *h, unsigned *seen) {
    if (strcmp(key, "descr") == 0) {
        skip_blanks(c);
        if (c->at < c->end && *c->at == '[')
            return broken(c, "its items are records (a structured dtype)" FIX "save one field");
        *seen |= 1;
        return take_string(c, h->descr, sizeof h->descr) || broken(c, "its descr is no short string");
    }
    if (strcmp(key, "fortran_order") == 0) {
        *seen |= 2;
        h->fortran = take_word(c, "True");
        return h->fortran || take_word(c, "False") || broken(c, "its fortran_order is neither True nor False");
    }
    if (strcmp(key, "shape") != 0) return broken(c, "its header has a key other than descr, fortran_order and shape");
    if (*seen & 4) return broken(c, "its header states two shapes");
    *seen |= 4;
    return take_shape(c, h);
}

static bool parse_header(Cursor *c, Header *h) {
    unsigned seen = 0;
    if (!take(c, '{')) return broken(c, "its header is no dict");
    while (!take(c, '}')) {
        char key[24];
        if (!take_string(c, key, sizeof key) || !take(c, ':')) return broken(c, "its header is no dict of short names");
        if (!take_entry(c, key, h, &seen)) return false;
        if (!take(c, ',')) {
            if (!take(c, '}')) return broken(c, "its header is not closed");
            break;
        }
    }
    return seen == 7 || broken(c, "its header lacks one of descr, fortran_order and shape");
}

/* Letter and size of every element type in a file; bf16 and fp8 have none of NumPy's own and travel as raw items. */
static const struct {
    int32_t dtype;
    const char *descr;
} descrs[] = {{TW_I1, "|b1"},     {TW_I8, "|i1"},      {TW_I16, "<i2"},    {TW_I32, "<i4"},    {TW_I64, "<i8"},
              {TW_U8, "|u1"},     {TW_U16, "<u2"},     {TW_U32, "<u4"},    {TW_U64, "<u8"},    {TW_F16, "<f2"},
              {TW_BF16, "<V2"},   {TW_F32, "<f4"},     {TW_F64, "<f8"},    {TW_F8E4M3, "|V1"}, {TW_F8E5M2, "|V1"},
              {TW_F8E4B8, "|V1"}, {TW_F8E5B16, "|V1"}, {TW_F8E4B15, "|V1"}};

/* The dtype that the file's letters mean, when it has to be read as `wish`; TW_DTYPE_ANY: they do not fit. */
static int32_t find_dtype(const char *descr, int32_t wish) {
    if (!descr[0] || !strchr("<|=", descr[0])) return TW_DTYPE_ANY;
    char kind = descr[1];
    char *end = NULL;
    long size = strtol(descr + 2, &end, 10);
    if (*end || size < 1) return TW_DTYPE_ANY;
    int32_t own = TW_DTYPE_ANY;
    for (size_t i = 0; i < sizeof descrs / sizeof *descrs; i++)
        if (descrs[i].descr[1] == kind && kind != 'V' && descrs[i].descr[2] - '0' == size) own = descrs[i].dtype;
    if (wish == TW_DTYPE_ANY) return own == TW_DTYPE_ANY && kind == 'V' && size == 2 ? TW_BF16 : own;
    bool raw = kind == 'V' || kind == 'u';
    return own == wish || (raw && (size_t)size == tw_dtype_size(wish)) ? wish : TW_DTYPE_ANY;
}

/* What a file is that does not begin as ours. */
static const char *foreign_kind(const unsigned char *start, size_t size) {
    if (size == 0) return "it is empty";
    if (size > 2 && memcmp(start, "PK", 2) == 0)
        return "it is an archive (.npz, or of torch.save)" FIX "save one array with numpy.save";
    if (start[0] == 0x80) return "it is a pickle" FIX "save the array with numpy.save";
    return "it does not begin with \\x93NUMPY, as numpy.save writes it";
}

/* The header's text; false: *why says the rule that is broken. */
static bool find_header(const unsigned char *start, size_t size, size_t *at, size_t *length, const char **why) {
    *why = "it ends inside of its header";
    if (size < 6 || memcmp(start, "\x93NUMPY", 6) != 0) {
        *why = foreign_kind(start, size);
        return false;
    }
    if (size < 10) return false;
    if (start[6] < 1 || start[6] > 3) {
        *why = "its format is of a version other than 1.0, 2.0 and 3.0";
        return false;
    }
    if (start[6] == 1) {
        *at = 10;
        *length = start[8] | (size_t)start[9] << 8;
    } else {
        if (size < 12) return false;
        *at = 12;
        *length = start[8] | (size_t)start[9] << 8 | (size_t)start[10] << 16 | (size_t)start[11] << 24;
    }
    if (*length > MAX_HEADER) {
        *why = "its header is longer than 65536 bytes";
        return false;
    }
    return *at + *length <= size;
}

/* Why items of this type cannot be read at all. */
static const char *foreign_items(const char *descr) {
    if (descr[0] == '>') return "are big endian" FIX "save x.astype(x.dtype.newbyteorder('<'))";
    switch (descr[0] ? descr[1] : '\0') {
    case 'O': return "are Python objects" FIX "make an array of numbers of them";
    case 'U':
    case 'S': return "are strings" FIX "make an array of numbers of them";
    case 'c': return "are complex numbers" FIX "save real and imaginary parts by themselves";
    case 'M':
    case 'm': return "are times" FIX "convert them to int64";
    case 'V': return "are raw bytes" FIX "say what they are";
    default: return "are none of ours" FIX "convert them to numbers of at most 8 bytes";
    }
}

static tw_status read_elements(tw_context *cx, const char *path, const unsigned char *file, size_t size, int32_t dtype,
                               tw_buffer **out) {
    size_t at = 0, length = 0;
    Header h = {.rank = 0};
    Cursor c = {.why = NULL};
    bool good = find_header(file, size, &at, &length, &c.why);
    if (good) {
        c = (Cursor){(const char *)file + at, (const char *)file + at + length, NULL};
        good = parse_header(&c, &h);
    }
    if (!good) return context_fail(cx, TW_ERROR_IO, "%s is no .npy file that can be read: %s", path, c.why);
    int32_t found = find_dtype(h.descr, dtype), own = find_dtype(h.descr, TW_DTYPE_ANY);
    if (found == TW_DTYPE_ANY && own == TW_DTYPE_ANY)
        return context_fail(cx, TW_ERROR_IO, "%s: its items ('%s') %s", path, h.descr, foreign_items(h.descr));
    if (found == TW_DTYPE_ANY)
        return context_fail(cx, TW_ERROR_IO,
                            "%s: its items are %s ('%s'), and %s is asked for" FIX "convert them, or ask for %s", path,
                            tw_dtype_name(own), h.descr, tw_dtype_name(dtype), tw_dtype_name(own));
    int64_t elements = 1, bytes = 0;
    bool fits = true;
    for (int d = 0; d < h.rank && fits; d++) fits = !__builtin_mul_overflow(elements, h.shape[d], &elements);
    fits = fits && !__builtin_mul_overflow(elements, (int64_t)tw_dtype_size(found), &bytes);
    if (!fits) return context_fail(cx, TW_ERROR_IO, "%s says that it holds more elements than any memory does", path);
    if ((uint64_t)bytes != size - at - length)
        return context_fail(cx, TW_ERROR_IO, "%s %s: %lld elements of %s are %lld bytes, and it has %zu", path,
                            (uint64_t)bytes > size - at - length ? "ends early" : "goes on behind its last element",
                            (long long)elements, tw_dtype_name(found), (long long)bytes, size - at - length);
    tw_status status = buffer_make(cx, found, h.rank, h.shape, NULL, out);
    if (status != TW_OK) return status;
    tw_buffer *b = *out;
    const char *from = (const char *)file + at + length;
    if (!h.fortran || h.rank < 2) {
        if (bytes) memcpy(b->data, from, (size_t)bytes);
        return TW_OK;
    }
    /* Fortran order: the first index runs fastest. */
    size_t item = tw_dtype_size(found);
    for (int64_t i = 0; i < elements; i++) {
        int64_t rest = i, to = 0;
        for (int d = 0; d < h.rank; d++) {
            to += rest % h.shape[d] * b->strides[d];
            rest /= h.shape[d];
        }
        memcpy((char *)b->data + (size_t)to * item, from + (size_t)i * item, item);
    }
    return TW_OK;
}

tw_status npy_load(tw_context *cx, const char *path, int32_t dtype, tw_buffer **out) {
    int64_t size = file_size(path);
    if (size < 0) return context_fail(cx, TW_ERROR_IO, "%s cannot be read: %s", path, strerror(errno));
    unsigned char *file = arena_alloc(context_texts(cx), (size_t)size + 1);
    size = file_read(path, file, (size_t)size);
    if (size < 0) return context_fail(cx, TW_ERROR_IO, "%s cannot be read: %s", path, strerror(errno));
    return read_elements(cx, path, file, (size_t)size, dtype, out);
}

/* --- writing --- */

tw_status npy_save(const tw_buffer *b, const char *path) {
    tw_context *cx = b->context;
    int32_t dtype = dtype_of_elem(b->elem);
    const char *descr = "";
    for (size_t i = 0; i < sizeof descrs / sizeof *descrs; i++)
        if (descrs[i].dtype == dtype) descr = descrs[i].descr;
    Text header = text_new(context_texts(cx));
    text_add(&header, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int d = 0; d < b->rank; d++)
        text_add(&header, "%lld%s", (long long)b->shape[d], b->rank == 1 || d + 1 < b->rank ? ", " : "");
    text_add(&header, "), }");
    while ((10 + header.length + 1) % 64) text_add_char(&header, ' ');
    text_add_char(&header, '\n');
    size_t bytes = (size_t)tw_buffer_elements(b) * tw_dtype_size(dtype), all = 10 + header.length + bytes;
    unsigned char *file = arena_alloc(context_texts(cx), all);
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = (unsigned char)header.length;
    file[9] = (unsigned char)(header.length >> 8);
    memcpy(file + 10, header.at, header.length);
    tw_status status = buffer_copy((tw_buffer *)(uintptr_t)b, file + 10 + header.length, bytes, true);
    if (status != TW_OK) return status;
    if (!file_replace(path, file, all, 0666))
        return context_fail(cx, TW_ERROR_IO, "%s cannot be written: %s", path, strerror(errno));
    return TW_OK;
}
