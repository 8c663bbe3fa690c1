/* SPDX-License-Identifier: Apache-2.0 */
/* test_cpu_elements.c: all bits of the 8- and 16-bit floats survive on the CPU target, and are what
 * bitcast shows. (Elementwise ops and conversions of every type: tests/numeric/ops.c.) */
#include "cpu_cases.h"

static const char bits[] =
    "kernel @k(%h: *f16, %b: *bf16, %e: *f8e4m3, %g: *f8e5m2, %f: *f32, %v: *u8, %w: *u32, %d: *f64, %q: *i64) {\n"
    "  %k = iota<0, 4096> ; %k16 = cast %k : u16[4096] ; %x16 = mul %k16, 17 ; %k8 = cast %k : u8[4096]\n"
    "  %hh = bitcast %x16 : f16[4096] ; %ph = ptr_add %h, %k ; store %ph, %hh\n"
    "  %bb = bitcast %x16 : bf16[4096] ; %pb = ptr_add %b, %k ; store %pb, %bb\n"
    "  %ee = bitcast %k8 : f8e4m3[4096] ; %pe = ptr_add %e, %k ; store %pe, %ee\n"
    "  %gg = bitcast %k8 : f8e5m2[4096] ; %pg = ptr_add %g, %k ; store %pg, %gg\n"
    "  %pf = ptr_add %f, %k ; %ff = load %pf ; %fb = bitcast %ff : u32[4096] ; %pw = ptr_add %w, %k ; store %pw, %fb\n"
    "  %pd = ptr_add %d, %k ; %dd = load %pd ; %db = bitcast %dd : i64[4096] ; %pq = ptr_add %q, %k ; store %pq, %db\n"
    "  %f1 = cast %hh : f32[4096] ; %f2 = cast %f1 : f8e4m3[4096] ; %f3 = bitcast %f2 : u8[4096]\n"
    "  %pv = ptr_add %v, %k ; store %pv, %f3\n"
    "  return }\n";

int main(void) {
    tw_context *cx = NULL;
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    case_check(cx, &(Case){.name = "bits", .text = bits});
    tw_context_destroy(cx);
    return check_done();
}
