/* SPDX-License-Identifier: Apache-2.0 */
/* fiber.c: stacks and the switch between them.
 *
 * A switch stores the registers that a call must preserve on the running stack, exchanges stack
 * pointers and takes the others back: about a dozen instructions, where swapcontext also makes a
 * system call. x86-64 and aarch64 have their own; elsewhere (or with -DFIBER_UCONTEXT) ucontext
 * serves.
 *
 * The Fiber itself lies at the top of its mapping:   | guard page | stack, growing down | Fiber |
 *
 * AddressSanitizer keeps bounds and a side stack for every stack it knows, so each switch is
 * announced to it, and a fiber that is destroyed before its end is entered once more, only to hand
 * its side stack back. ThreadSanitizer is told too. */
#include "base/fiber.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define FIBER_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define FIBER_TSAN 1
#endif

#ifdef FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

#if !defined(FIBER_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define FIBER_UCONTEXT 1
#endif
#ifdef FIBER_UCONTEXT
#include <ucontext.h>
typedef ucontext_t FiberContext;
#else
typedef void *FiberContext; /* the saved stack pointer; the registers are on the stack */
#endif

struct Fiber {
    FiberContext own, caller;
    void (*body)(void *arg);
    void *arg;
    void *mapping; /* guard page first */
    size_t mapping_bytes;
    char *stack; /* lowest usable byte */
    size_t stack_bytes;
    bool done, dropped;
#ifdef FIBER_ASAN
    void *own_side, *caller_side; /* side stacks of the two ends while they do not run */
    const void *caller_stack;
    size_t caller_stack_bytes;
#endif
#ifdef FIBER_TSAN
    void *own_tsan, *caller_tsan;
#endif
};

#ifndef FIBER_UCONTEXT
#define SYMBOL_TEXT_(prefix, name) #prefix name
#define SYMBOL_TEXT(prefix, name)  SYMBOL_TEXT_(prefix, name)
#define SYMBOL(name)               SYMBOL_TEXT(__USER_LABEL_PREFIX__, name)
#if defined(FIBER_LOCAL)
#define FUNCTION(name) ".text\n" name ":\n" /* each object that includes this text has its own */
#elif defined(__ELF__)
#define FUNCTION(name) ".text\n.globl " name "\n.hidden " name "\n.type " name ", %function\n" name ":\n"
#else
#define FUNCTION(name) ".text\n.globl " name "\n.private_extern " name "\n" name ":\n"
#endif

/* Saves the running context in *from and continues `to`. */
void fiber_switch_stacks(FiberContext *from, FiberContext to);
/* Where a new fiber starts: calls a function, both it and its argument in saved registers. */
void fiber_first_frame(void);

/* clang-format off */
#ifdef __x86_64__
/* Saved, from the stack pointer up: mxcsr and x87 control word, r15, r14, r13, r12, rbx, rbp, and
 * the return address. */
enum { SAVED_WORDS = 8, SAVED_ARGUMENT = 3, SAVED_FUNCTION = 4, SAVED_RETURN = 7 };
__asm__(FUNCTION(SYMBOL("fiber_switch_stacks"))
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    subq $8, %rsp\n"
        "    stmxcsr (%rsp)\n"
        "    fnstcw 4(%rsp)\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    ldmxcsr (%rsp)\n"
        "    fldcw 4(%rsp)\n"
        "    addq $8, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n");
__asm__(FUNCTION(SYMBOL("fiber_first_frame"))
        "    .cfi_startproc\n"
        "    .cfi_undefined rip\n" /* a backtrace ends here */
        "    movq %r13, %rdi\n"
        "    callq *%r12\n"
        "    ud2\n"
        "    .cfi_endproc\n");
#else
/* Saved, from the stack pointer up: x19 .. x28, x29, x30 (the return address), d8 .. d15. */
enum { SAVED_WORDS = 20, SAVED_FUNCTION = 0, SAVED_ARGUMENT = 1, SAVED_RETURN = 11 };
__asm__(FUNCTION(SYMBOL("fiber_switch_stacks"))
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n");
__asm__(FUNCTION(SYMBOL("fiber_first_frame"))
        "    .cfi_startproc\n"
        "    .cfi_undefined x30\n" /* a backtrace ends here */
        "    mov x0, x20\n"
        "    blr x19\n"
        "    brk #1\n"
        "    .cfi_endproc\n");
#endif
/* clang-format on */
#endif

static void switch_context(FiberContext *from, FiberContext *to) {
#ifdef FIBER_UCONTEXT
    swapcontext(from, to);
#else
    fiber_switch_stacks(from, *to);
#endif
}

/* The fiber's half of a switch back to its caller; `last` when it will not come back. */
static void leave(Fiber *fiber, bool last) {
    (void)last;
#ifdef FIBER_ASAN
    __sanitizer_start_switch_fiber(last ? NULL : &fiber->own_side, fiber->caller_stack, fiber->caller_stack_bytes);
#endif
#ifdef FIBER_TSAN
    __tsan_switch_to_fiber(fiber->caller_tsan, 0);
#endif
    switch_context(&fiber->own, &fiber->caller);
}

/* The first thing the fiber does when it runs again, or for the first time. */
static void arrive(Fiber *fiber, bool first) {
    (void)fiber, (void)first;
#ifdef FIBER_ASAN
    __sanitizer_finish_switch_fiber(first ? NULL : fiber->own_side, &fiber->caller_stack, &fiber->caller_stack_bytes);
#endif
}

static void run_body(Fiber *fiber) {
    arrive(fiber, true);
    fiber->body(fiber->arg);
    fiber->done = true;
    leave(fiber, true);
}

#ifdef FIBER_UCONTEXT
static void run_body_from_halves(unsigned high, unsigned low) {
    run_body((Fiber *)(uintptr_t)((uint64_t)high << 32 | low));
}
#endif

/* Makes the next switch to the fiber start run_body on an empty stack. */
static void prepare(Fiber *fiber) {
#ifdef FIBER_UCONTEXT
    uint64_t address = (uintptr_t)fiber;
    getcontext(&fiber->own);
    fiber->own.uc_stack.ss_sp = fiber->stack;
    fiber->own.uc_stack.ss_size = fiber->stack_bytes;
    fiber->own.uc_link = NULL;
    makecontext(&fiber->own, (void (*)(void))run_body_from_halves, 2, (unsigned)(address >> 32), (unsigned)address);
#else
    /* Above the saved words, one 16-byte step stays free, as a caller's frame would be. */
    uintptr_t top = ((uintptr_t)fiber->stack + fiber->stack_bytes) & ~(uintptr_t)15;
    uintptr_t *words = (uintptr_t *)(top - 16 - SAVED_WORDS * sizeof(uintptr_t));
    memset(words, 0, SAVED_WORDS * sizeof(uintptr_t));
    words[SAVED_FUNCTION] = (uintptr_t)run_body;
    words[SAVED_ARGUMENT] = (uintptr_t)fiber;
    words[SAVED_RETURN] = (uintptr_t)fiber_first_frame;
#ifdef __x86_64__
    __asm__("stmxcsr %0" : "=m"(*(uint32_t *)words));
    __asm__("fnstcw %0" : "=m"(*((uint16_t *)words + 2)));
#endif
    fiber->own = words;
#endif
}

FIBER_API Fiber *fiber_create(size_t stack_bytes, void (*body)(void *arg), void *arg) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t object = (sizeof(Fiber) + 63) & ~(size_t)63;
    if (stack_bytes > SIZE_MAX / 2) return NULL;
    size_t bytes = page + ((stack_bytes + object + page - 1) & ~(page - 1));
    char *mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) return NULL;
    if (mprotect(mapping, page, PROT_NONE) != 0) {
        munmap(mapping, bytes);
        return NULL;
    }
    Fiber *fiber = (Fiber *)(mapping + bytes - object);
    *fiber = (Fiber){
        .mapping = mapping,
        .mapping_bytes = bytes,
        .stack = mapping + page,
        .stack_bytes = bytes - page - object,
        .done = true,
    };
#ifdef FIBER_TSAN
    fiber->own_tsan = __tsan_create_fiber(0);
#endif
    fiber_restart(fiber, body, arg);
    return fiber;
}

FIBER_API void fiber_restart(Fiber *fiber, void (*body)(void *arg), void *arg) {
    fiber->body = body;
    fiber->arg = arg;
    fiber->done = false;
#ifdef FIBER_ASAN
    fiber->own_side = NULL;
    __asan_unpoison_memory_region(fiber->stack, fiber->stack_bytes);
#endif
    prepare(fiber);
}

FIBER_API void fiber_resume(Fiber *fiber) {
#ifdef FIBER_ASAN
    __sanitizer_start_switch_fiber(&fiber->caller_side, fiber->stack, fiber->stack_bytes);
#endif
#ifdef FIBER_TSAN
    fiber->caller_tsan = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber->own_tsan, 0);
#endif
    switch_context(&fiber->caller, &fiber->own);
#ifdef FIBER_ASAN
    __sanitizer_finish_switch_fiber(fiber->caller_side, NULL, NULL);
#endif
}

FIBER_API void fiber_yield(Fiber *self) {
    leave(self, false);
    arrive(self, false);
    if (self->dropped) leave(self, true);
}

FIBER_API bool fiber_done(const Fiber *fiber) { return fiber->done; }

FIBER_API void fiber_destroy(Fiber *fiber) {
    if (!fiber) return;
#ifdef FIBER_ASAN
    if (!fiber->done && fiber->own_side) {
        fiber->dropped = true;
        fiber_resume(fiber);
    }
    __asan_unpoison_memory_region(fiber->stack, fiber->stack_bytes);
#endif
#ifdef FIBER_TSAN
    __tsan_destroy_fiber(fiber->own_tsan);
#endif
    munmap(fiber->mapping, fiber->mapping_bytes);
}
