/* SPDX-License-Identifier: Apache-2.0 */
/* element.c: see element.h. Each function is one switch over the type around one tight loop. */
#include "ir/element.h"

#define LOOP(body)                        \
    for (int64_t i = 0; i < n; i++) body; \
    return

#define FOR_INTEGERS(X) \
    X(I8, int8_t)       \
    X(I16, int16_t)     \
    X(I32, int32_t)     \
    X(I64, int64_t)     \
    X(U8, uint8_t) X(U16, uint16_t) X(U32, uint32_t) X(U64, uint64_t)

#define FOR_F8(X)     \
    X(F8E4M3, f8e4m3) \
    X(F8E5M2, f8e5m2) \
    X(F8E4B8, f8e4b8) \
    X(F8E5B16, f8e5b16) X(F8E4B15, f8e4b15)

void elem_read_i64(Elem elem, const void *from, int64_t n, int64_t *to) {
    switch (elem) {
    case EL_I1: LOOP(to[i] = ((const uint8_t *)from)[i] != 0);
#define CASE(id, type) \
    case EL_##id: LOOP(to[i] = (int64_t)((const type *)from)[i]);
        FOR_INTEGERS(CASE)
#undef CASE
    default: return; /* floats: not asked for */
    }
}

void elem_write_i64(Elem elem, void *to, int64_t n, const int64_t *from) {
    switch (elem) {
    case EL_I1: LOOP(((uint8_t *)to)[i] = from[i] & 1);
#define CASE(id, type) \
    case EL_##id: LOOP(((type *)to)[i] = (type)from[i]);
        FOR_INTEGERS(CASE)
#undef CASE
    default: return;
    }
}

int64_t elem_wrap(Elem elem, int64_t x) {
    switch (elem) {
    case EL_I1: return x & 1;
#define CASE(id, type) \
    case EL_##id: return (int64_t)(type)x;
        FOR_INTEGERS(CASE)
#undef CASE
    default: return x;
    }
}

const FloatFormat *elem_format(Elem elem) {
    switch (elem) {
    case EL_F16: return &format_f16;
    case EL_BF16: return &format_bf16;
    case EL_F32: return &format_f32;
#define CASE(id, name) \
    case EL_##id: return &format_##name;
        FOR_F8(CASE)
#undef CASE
    default: return NULL;
    }
}

void elem_read_f32(Elem elem, const void *from, int64_t n, float *to) {
    switch (elem) {
    case EL_F32: memcpy(to, from, (size_t)n * sizeof *to); return;
    case EL_F16: LOOP(to[i] = f16_to_f32(((const uint16_t *)from)[i]));
    case EL_BF16: LOOP(to[i] = bf16_to_f32(((const uint16_t *)from)[i]));
#define CASE(id, name) \
    case EL_##id: LOOP(to[i] = name##_to_f32(((const uint8_t *)from)[i]));
        FOR_F8(CASE)
#undef CASE
    default: return;
    }
}

void elem_write_f32(Elem elem, void *to, int64_t n, const float *from) {
    switch (elem) {
    case EL_F64: LOOP(((double *)to)[i] = from[i]);
    case EL_F32: memcpy(to, from, (size_t)n * sizeof *from); return;
    case EL_F16: LOOP(((uint16_t *)to)[i] = f16_from_f32(from[i]));
    case EL_BF16: LOOP(((uint16_t *)to)[i] = bf16_from_f32(from[i]));
#define CASE(id, name) \
    case EL_##id: LOOP(((uint8_t *)to)[i] = name##_from_f64(from[i]));
        FOR_F8(CASE)
#undef CASE
    default: return;
    }
}

void elem_read_f64(Elem elem, const void *from, int64_t n, double *to) {
    switch (elem) {
    case EL_F64: memcpy(to, from, (size_t)n * sizeof *to); return;
    case EL_F32: LOOP(to[i] = ((const float *)from)[i]);
    case EL_F16: LOOP(to[i] = f16_to_f32(((const uint16_t *)from)[i]));
    case EL_BF16: LOOP(to[i] = bf16_to_f32(((const uint16_t *)from)[i]));
#define CASE(id, name) \
    case EL_##id: LOOP(to[i] = name##_to_f32(((const uint8_t *)from)[i]));
        FOR_F8(CASE)
#undef CASE
    default: return;
    }
}

void elem_write_f64(Elem elem, void *to, int64_t n, const double *from) {
    switch (elem) {
    case EL_F64: memcpy(to, from, (size_t)n * sizeof *from); return;
    case EL_F32: LOOP(((float *)to)[i] = (float)from[i]);
    case EL_F16: LOOP(((uint16_t *)to)[i] = f16_from_f64(from[i]));
    case EL_BF16: LOOP(((uint16_t *)to)[i] = bf16_from_f64(from[i]));
#define CASE(id, name) \
    case EL_##id: LOOP(((uint8_t *)to)[i] = name##_from_f64(from[i]));
        FOR_F8(CASE)
#undef CASE
    default: return;
    }
}

double elem_get_f64(Elem elem, const void *from) {
    double x = 0;
    if (elem_is_float(elem))
        elem_read_f64(elem, from, 1, &x);
    else if (elem == EL_U64)
        x = (double)*(const uint64_t *)from;
    else
        x = (double)elem_get_i64(elem, from);
    return x;
}

void elem_put_f64(Elem elem, void *to, double x) { elem_write_f64(elem, to, 1, &x); }

float elem_round_f32(Elem elem, float x) {
    switch (elem) {
    case EL_F16: return f16_to_f32(f16_from_f32(x));
    case EL_BF16: return bf16_to_f32(bf16_from_f32(x));
#define CASE(id, name) \
    case EL_##id: return name##_to_f32(name##_from_f64(x));
        FOR_F8(CASE)
#undef CASE
    default: return x;
    }
}
