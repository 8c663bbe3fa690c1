/* SPDX-License-Identifier: Apache-2.0 */
/* triton_dtype.c: the names of Triton's dtypes. */
#include "front/triton/triton.h"

#include <string.h>

/* DTYPE(name in triton.language, short form in signatures, element) */
#define DTYPES(DTYPE)                            \
    DTYPE("int1", "i1", EL_I1)                   \
    DTYPE("int8", "i8", EL_I8)                   \
    DTYPE("int16", "i16", EL_I16)                \
    DTYPE("int32", "i32", EL_I32)                \
    DTYPE("int64", "i64", EL_I64)                \
    DTYPE("uint8", "u8", EL_U8)                  \
    DTYPE("uint16", "u16", EL_U16)               \
    DTYPE("uint32", "u32", EL_U32)               \
    DTYPE("uint64", "u64", EL_U64)               \
    DTYPE("float16", "fp16", EL_F16)             \
    DTYPE("bfloat16", "bf16", EL_BF16)           \
    DTYPE("float32", "fp32", EL_F32)             \
    DTYPE("float64", "fp64", EL_F64)             \
    DTYPE("float8e4nv", "fp8e4nv", EL_F8E4M3)    \
    DTYPE("float8e5", "fp8e5", EL_F8E5M2)        \
    DTYPE("float8e4b8", "fp8e4b8", EL_F8E4B8)    \
    DTYPE("float8e5b16", "fp8e5b16", EL_F8E5B16) \
    DTYPE("float8e4b15", "fp8e4b15", EL_F8E4B15)

static const struct {
    const char *name, *brief;
    Elem elem;
} dtypes[] = {
#define DTYPE(name, brief, elem) {name, brief, elem},
    DTYPES(DTYPE)
#undef DTYPE
};

const char *tri_dtype_name(Elem elem) {
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (dtypes[i].elem == elem) return dtypes[i].name;
    return elem_info[elem].text;
}

const char *tri_dtype_brief(Elem elem) {
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (dtypes[i].elem == elem) return dtypes[i].brief;
    return elem_info[elem].text;
}

const Type *tri_dtype_named(Module *m, const char *name) {
    bool pointer = name[0] == '*';
    if (pointer) name += name[1] == 'k' ? 2 : 1; /* *k: a pointer that is only read */
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(dtypes[i].name, name) == 0 || strcmp(dtypes[i].brief, name) == 0)
            return pointer ? ty_pointer(m, dtypes[i].elem) : ty_scalar(m, dtypes[i].elem);
    return NULL;
}
