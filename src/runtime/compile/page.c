/* SPDX-License-Identifier: Apache-2.0 */
/* page.c: the page of pictures of a compiled kernel, one section a launch that it is made of. */
#include "draw/draw.h"
#include "runtime/target/target.h"

static void add_launch(Text *page, tw_kernel *k) {
    draw_boxes(page, k->ir);
    if (k->pass.machine) {
        draw_rings(page, k->ir, k->pass.machine);
        draw_lanes(page, k->ir, k->pass.machine);
        draw_banks(page, k->ir, k->pass.machine);
        Work work = kernel_program_work(k);
        draw_roofline(page, &work, k->pass.machine);
    }
    if (k->target->draw && k->code) k->target->draw(k, page);
}

const char *kernel_page(tw_kernel *k) {
    if (k->explain_html) return k->explain_html;
    Text page = text_new(&k->arena);
    draw_begin(&page, k->name, tw_kernel_target(k));
    for (tw_kernel *launch = k; launch; launch = launch->next) {
        add_launch(&page, launch);
        draw_findings(&page, launch->pass.findings.at, launch->pass.findings.count, launch->sources);
    }
    draw_end(&page);
    return k->explain_html = page.at;
}
