/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_tools.h: the C compiler of target cpu: which one, with which files and flags; for kernels of this process
 * (target_cpu.c) and for objects (built_object.c).
 *
 * The compiler is $CC if set, else the first of gcc, clang, cc that is in PATH and passes a
 * self-test; a $CC that does not pass is an error. */
#ifndef RUNTIME_TARGET_CPU_TOOLS_H
#define RUNTIME_TARGET_CPU_TOOLS_H
#include "base/embedded.h"
#include "runtime/host/toolchain.h"
#include "runtime/target/target.h"
#include "target/cpu/cpu_target.h"

enum { CPU_FILES = 15 };

extern const ToolKind cpu_compiler;
extern const char *const cpu_plain_flags[]; /* of a shared object without libm, for this machine; closed by NULL */

/* What a context knows of compilers. */
typedef struct CpuState {
    int first;               /* candidates before this one failed the self-test */
    char passed[DIGEST_HEX]; /* the test that passed last */
} CpuState;
CpuState *cpu_state(tw_context *cx);

/* What was emitted for a kernel. */
const CpuCode *cpu_code(const tw_kernel *k);
/* A text that the library carries: ("cpu/prelude/", "cpu.h"). NULL: there is none. */
const EmbeddedFile *cpu_embedded(const char *folder, const char *name);
/* The headers that a text includes, and those that they include; then the text itself. How many. */
int cpu_files(const char *name, const char *text, ToolFile files[CPU_FILES]);
/* The flags of a kernel, in a list of TOOL_FLAGS: for a shared object of this machine, which has products of its own or
 * is to be linked with those of cpu_products; or an object for any machine. */
typedef enum CpuForm { CPU_WHOLE, CPU_APART, CPU_OBJECT } CpuForm;
const char *const *cpu_flags(const tw_kernel *k, const CpuCode *code, CpuForm form, const char **list);
/* Where the object lies that a kernel in the form CPU_APART is linked with: the TW_APART functions of prelude/dot.h and
 * gemm.h, compiled once for many kernels. False: there is none, and a kernel must be whole. */
bool cpu_products(const tw_kernel *k, const Toolchain *cc, char path[CACHE_PATH]);
/* The digest of everything that can change the result; cc NULL: but the compiler. */
void cpu_key(const Toolchain *cc, const char *const *flags, const ToolFile *files, int count, char hex[DIGEST_HEX]);
/* The compiler that $CC names, or the first candidate that passes the test. */
tw_status cpu_choose_compiler(tw_context *cx, Arena *arena, Toolchain *cc);
#endif
