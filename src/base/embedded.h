/* SPDX-License-Identifier: Apache-2.0 */
/* embedded.h: the files that the library carries inside itself (made from src/target by tools/embed.c). */
#ifndef BASE_EMBEDDED_H
#define BASE_EMBEDDED_H
#include <stddef.h>

typedef struct EmbeddedFile {
    const char *path; /* below src/target, e.g. "cuda/prelude/device.cuh" */
    const char *text; /* NUL-terminated */
    size_t size;      /* without the NUL */
} EmbeddedFile;

/* Closed by a row whose path is NULL. */
extern const EmbeddedFile embedded_files[];
#endif
