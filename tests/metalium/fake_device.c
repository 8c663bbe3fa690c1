/* SPDX-License-Identifier: Apache-2.0 */
/* fake_device.c: runs programs of the fake host API on the model of the Tensix grid; see fake_metalium.hpp. */
#include "fake_device.h"
#include "tensix_harness.h"

int fake_arch(void) {
    const char *name = getenv("FAKE_ARCH");
    return name && strcmp(name, "blackhole") == 0 ? TENSIX_BLACKHOLE : TENSIX_WORMHOLE;
}

void fake_grid(int arch, unsigned *x, unsigned *y) {
    const TensixLimits *limits = tensix_limits((TensixArch)arch);
    *x = limits->grid_x, *y = limits->grid_y;
}

void fake_noc_point(int arch, unsigned *x, unsigned *y) {
    TensixPoint at = tensix_noc_point((TensixArch)arch, (TensixPoint){*x, *y});
    *x = at.x, *y = at.y;
}

unsigned fake_address(int arch, unsigned last, unsigned pages, unsigned page_bytes) {
    TensixBuffer after = {.address = last, .pages = pages, .page_bytes = page_bytes};
    return tensix_next_address((TensixArch)arch, last ? &after : NULL);
}

unsigned fake_l1_end(int arch) { return tensix_limits((TensixArch)arch)->l1_bytes; }
unsigned fake_l1_share(int arch, unsigned pages, unsigned page_bytes) { return tensix_l1_share((TensixArch)arch, pages, page_bytes); }

const char *fake_execute(const FakeProgram *p) {
    static TensixReport report;
    KernelSet set;
    TensixPoint cores[256];
    TensixCb cbs[MAX_KERNELS];
    TensixBuffer buffers[64];
    TensixKernel kernels[8];
    static TensixPlacement placements[8][256];
    if (!kernels_start(&set)) return "no folder for the kernels";
    int numbers[8];
    for (unsigned i = 0; i < p->kernel_count; i++) numbers[i] = kernels_add(&set, p->kernels[i].file, p->kernels[i].compile_args);
    bool good = kernels_build(&set, cxx_compiler());
    for (unsigned i = 0; i < p->core_count; i++) cores[i] = (TensixPoint){p->cores[i].x, p->cores[i].y};
    for (unsigned i = 0; i < p->cb_count; i++)
        cbs[i] = (TensixCb){p->cbs[i].id, (TtFormat)p->cbs[i].format, p->cbs[i].page_bytes, p->cbs[i].pages, p->cbs[i].unpack_to_dest};
    unsigned core_count = p->core_count; /* those that only hold shards come behind */
    for (unsigned i = 0; i < p->buffer_count; i++) {
        const FakeBuffer *b = &p->buffers[i];
        buffers[i] = (TensixBuffer){"buffer", b->address, b->page_bytes, b->pages, b->data, b->in_l1, NULL};
        TensixPlace *places = b->places ? calloc(b->pages, sizeof *places) : NULL;
        for (unsigned page = 0; places && page < b->pages; page++) {
            const unsigned *at = b->places + 3 * page;
            unsigned core = 0;
            while (core < core_count && (cores[core].x != at[0] || cores[core].y != at[1])) core++;
            if (core == core_count) cores[core_count++] = (TensixPoint){at[0], at[1]};
            places[page] = (TensixPlace){core, at[2]};
        }
        buffers[i].places = places;
    }
    for (unsigned i = 0; good && i < p->kernel_count; i++) {
        const FakeKernel *k = &p->kernels[i];
        for (unsigned c = 0; c < p->core_count; c++) placements[i][c] = (TensixPlacement){c, k->args[c], k->arg_count};
        kernels[i] = (TensixKernel){.name = k->file,
                                    .processor = (TensixProcessor)k->processor,
                                    .entry = kernels_entry(&set, numbers[i]),
                                    .placements = placements[i],
                                    .placement_count = p->core_count,
                                    .common_args = k->common,
                                    .common_arg_count = k->common_count};
    }
    TensixProgram program = {.arch = (TensixArch)p->arch,
                             .dst_fp32 = p->dst_fp32,
                             .dst_full_sync = p->full_sync,
                             .fidelity = p->fidelity,
                             .cores = cores,
                             .core_count = core_count,
                             .cbs = cbs,
                             .cb_count = p->cb_count,
                             .semaphores = p->semaphores,
                             .semaphore_count = p->semaphore_count,
                             .buffers = buffers,
                             .buffer_count = p->buffer_count,
                             .kernels = kernels,
                             .kernel_count = p->kernel_count,
                             .seed = p->seed};
    bool ran = good && tensix_run(&program, allocator_malloc, &report);
    kernels_end(&set);
    for (unsigned i = 0; i < p->buffer_count; i++) free((void *)(uintptr_t)buffers[i].places);
    return ran ? NULL : good ? report.text : "the kernels did not compile";
}
