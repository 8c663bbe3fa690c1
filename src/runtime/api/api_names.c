/* SPDX-License-Identifier: Apache-2.0 */
/* api_names.c: version, status codes and dtypes by their names. */
#include "runtime/runtime.h"

#include <string.h>

#define STRINGIFY(x)          #x
#define VERSION_TEXT(a, b, c) STRINGIFY(a) "." STRINGIFY(b) "." STRINGIFY(c)

const char *tw_version(void) { return VERSION_TEXT(TW_VERSION_MAJOR, TW_VERSION_MINOR, TW_VERSION_PATCH); }

const char *tw_status_name(tw_status status) {
    switch (status) {
#define X(name, number, text) \
    case name: return #name;
        TW_STATUS_LIST(X)
#undef X
    default: return "unknown";
    }
}

const char *tw_status_text(tw_status status) {
    switch (status) {
#define X(name, number, text) \
    case name: return text;
        TW_STATUS_LIST(X)
#undef X
    default: return "unknown";
    }
}

const char *tw_dtype_name(int32_t dtype) {
    switch (dtype) {
#define X(name, number, text, bytes) \
    case name: return text;
        TW_DTYPE_LIST(X)
#undef X
    default: return "any";
    }
}

size_t tw_dtype_size(int32_t dtype) {
    switch (dtype) {
#define X(name, number, text, bytes) \
    case name: return bytes;
        TW_DTYPE_LIST(X)
#undef X
    default: return 0;
    }
}

int32_t tw_dtype_find(const char *name) {
    static const struct {
        const char *name;
        int32_t dtype;
    } rows[] = {
#define X(id, number, text, bytes) {text, id},
        TW_DTYPE_LIST(X)
#undef X
            {"bool", TW_I1},
        {"int8", TW_I8},
        {"int16", TW_I16},
        {"int32", TW_I32},
        {"int64", TW_I64},
        {"uint8", TW_U8},
        {"uint16", TW_U16},
        {"uint32", TW_U32},
        {"uint64", TW_U64},
        {"float16", TW_F16},
        {"fp16", TW_F16},
        {"half", TW_F16},
        {"bfloat16", TW_BF16},
        {"float32", TW_F32},
        {"fp32", TW_F32},
        {"float", TW_F32},
        {"float64", TW_F64},
        {"fp64", TW_F64},
        {"double", TW_F64},
        {"float8_e4m3fn", TW_F8E4M3},
        {"fp8e4nv", TW_F8E4M3},
        {"float8_e5m2", TW_F8E5M2},
        {"fp8e5", TW_F8E5M2},
        {"float8_e4m3fnuz", TW_F8E4B8},
        {"fp8e4b8", TW_F8E4B8},
        {"float8_e5m2fnuz", TW_F8E5B16},
        {"fp8e5b16", TW_F8E5B16},
        {"fp8e4b15", TW_F8E4B15},
    };
    for (size_t i = 0; name && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0) return rows[i].dtype;
    return TW_DTYPE_ANY;
}
