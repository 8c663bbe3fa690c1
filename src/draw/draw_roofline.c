/* draw_roofline.c: what bounds the kernel: operations for each byte that its programs load and store, under the roof of
 * the machine's data sheet. Counted from the IR: a loop whose end only a launch knows is taken as UNKNOWN_TRIPS trips.
 * Bytes are those that cross the edge of a multiprocessor; less reaches memory where programs share tiles in the L2. */
#include "draw/draw.h"
#include "pass/matrix.h"

#include <math.h>

enum { UNKNOWN_TRIPS = 32, HEIGHT = 330, LEFT = 96, RIGHT = 930, TOP = 24, BOTTOM = 280 };

typedef struct Work {
    double products, others, bytes;
    bool matrix;  /* some products are by matrix instructions .. */
    int bits;     /* .. of factors this wide */
} Work;

static void count(const Kernel *k, const Region *region, double times, Work *w) {
    for (const Op *op = region->first; op; op = op->next) {
        const Type *result = op->result_count ? ir_type(k, op->results[0]) : NULL;
        bool tile = result && result->kind == TY_TILE && result->rank;
        Ref stored = op->code == OP_TSTORE || op->code == OP_TATOMIC ? op_operand(op, 1)
                     : op->code == OP_STORE                          ? op_operand(op, 1)
                                                                     : REF_NONE;
        const Type *moved = (op->code == OP_TLOAD || op->code == OP_LOAD) && tile ? result
                            : stored                                              ? ir_type(k, stored)
                                                                                  : NULL;
        if (moved) w->bytes += times * (double)ty_elements(moved) * ty_elem_bytes(moved);
        if (op->code == OP_DOT) {
            const Type *a = ir_type(k, op->operands[0]);
            const Matrix *m = matrix_of(k, op);
            w->products += 2 * times * (double)ty_elements(result) * (double)a->extent[a->rank - 1];
            w->matrix |= m && m->set != MATRIX_FMA;
            if (m && m->set != MATRIX_FMA) w->bits = elem_info[a->elem].bits;
        } else if (tile && op_has(op->code, TRAIT_ELEMENTWISE) && elem_is_float(result->elem))
            w->others += times * (double)ty_elements(result) * (op->code == OP_FMA ? 2 : 1);
        int64_t first = 0, last = 0, step = 1, trips = 1;
        if (op->code == OP_FOR) {
            bool known = ir_const_int(k, op->operands[0], &first) && ir_const_int(k, op->operands[1], &last) &&
                         ir_const_int(k, op->operands[2], &step) && step > 0;
            trips = known ? (last - first + step - 1) / step : UNKNOWN_TRIPS;
            if (trips < 0) trips = 0;
        }
        for (int i = 0; i < op->region_count; i++)
            count(k, op->regions[i], op->code == OP_IF && i ? 0 : times * (double)trips, w);
    }
}

/* Both axes are powers of ten. */
static double across(double intensity) { return LEFT + (log10(intensity) + 1) / 5 * (RIGHT - LEFT); } /* 0.1 .. 10^4 */
static double up(double gflops, double top) { return BOTTOM - (log10(gflops) - 1) / (log10(top) - 1) * (BOTTOM - TOP); }

void draw_roofline(Text *t, const Kernel *k, const Machine *machine) {
    Work w = {0};
    count(k, k->body, 1, &w);
    double work = w.products + w.others;
    if (!machine->sheet_gbytes || w.bytes <= 0 || work <= 0) return;
    double roof = w.matrix ? machine->sheet_matrix * 16.0 / (w.bits > 16 ? 32 : w.bits ? w.bits : 16)
                           : machine->sheet_gflops;
    double slope = machine->sheet_gbytes, intensity = work / w.bytes;
    double reach = intensity * slope < roof ? intensity * slope : roof, top = roof * 4, ridge = roof / slope;
    double x = across(intensity < 0.1 ? 0.1 : intensity > 1e4 ? 1e4 : intensity);
    draw_section(t, "Roofline",
                 arena_printf(t->arena,
                              "%.1f operations for each byte that a program loads or stores; loops whose ends "
                              "only a launch "
                              "knows are taken as %d trips. Programs that share tiles find them in the L2, so "
                              "memory sees "
                              "fewer bytes: the point then moves to the right.",
                              intensity, UNKNOWN_TRIPS));
    svg_begin(t, HEIGHT, "the kernel under the roof of the machine");
    for (int e = -1; e <= 4; e++) {
        svg_line(t, "rule", across(pow(10, e)), TOP, across(pow(10, e)), BOTTOM);
        svg_text(t, "soft small", across(pow(10, e)), BOTTOM + 18, e < 4 ? CENTRED : FROM_RIGHT, 80, "%g", pow(10, e));
    }
    for (int e = 1; pow(10, e) <= top; e++) {
        svg_line(t, "rule", LEFT, up(pow(10, e), top), RIGHT, up(pow(10, e), top));
        svg_text(t, "soft small", LEFT - 8, up(pow(10, e), top) + 4, FROM_RIGHT, LEFT, "%g", pow(10, e) / 1000);
    }
    svg_text(t, "soft small", 8, 14, FROM_LEFT, 200, "TFLOP/s");
    svg_text(t, "soft small", RIGHT, BOTTOM + 38, FROM_RIGHT, 400, "operations a byte");
    double low = slope * 0.1 < 10 ? 10 / slope : 0.1;
    svg_line(t, "roof", across(low), up(slope * low, top), across(ridge), up(roof, top));
    svg_line(t, "roof", across(ridge), up(roof, top), RIGHT, up(roof, top));
    svg_text(t, "small", RIGHT, up(roof, top) - 8, FROM_RIGHT, 400, "%g TFLOP/s, %s", roof / 1000,
             w.matrix ? "matrix units" : "float32");
    svg_text(t, "small", LEFT + 8, BOTTOM - 8, FROM_LEFT, 400, "memory: %g TB/s", slope / 1000);
    svg_line(t, "mark dash", x, up(reach, top), x, BOTTOM);
    text_add(t, "<circle cx=\"%.6g\" cy=\"%.6g\" r=\"6\" fill=\"var(--mark)\"/>\n", x, up(reach, top));
    bool left = x > WIDTH - 320;
    svg_text(t, "", left ? x - 12 : x + 12, up(reach, top) + 22, left ? FROM_RIGHT : FROM_LEFT, 300,
             "at most %.4g TFLOP/s", reach / 1000);
    svg_end(t);
}
