/* SPDX-License-Identifier: Apache-2.0 */
/* draw_roofline.c: what bounds the kernel: operations for each byte that its programs load and store, under the roof of
 * the machine's data sheet. Bytes are those that cross the edge of a multiprocessor; less reaches memory where programs
 * share tiles in the L2. */
#include "draw/draw.h"
#include "pass/work.h"

#include <math.h>

enum { HEIGHT = 330, LEFT = 96, RIGHT = 930, TOP = 24, BOTTOM = 280, MEMORY_WORDS = 130 };

/* Both axes are powers of ten. */
static double across(double intensity) { return LEFT + (log10(intensity) + 1) / 5 * (RIGHT - LEFT); } /* 0.1 .. 10^4 */
static double up(double gflops, double top) { return BOTTOM - (log10(gflops) - 1) / (log10(top) - 1) * (BOTTOM - TOP); }

void draw_roofline(Text *t, const Work *program, const Machine *machine) {
    Work w = *program;
    double work = w.products + w.others;
    if (!machine->sheet_gbytes || w.bytes <= 0 || work <= 0) return;
    double roof = w.matrix ? machine->sheet_matrix * 16.0 / (w.bits > 16 ? 32 : w.bits ? w.bits : 16)
                           : machine->sheet_gflops;
    double slope = machine->sheet_gbytes, intensity = work / w.bytes;
    double reach = intensity * slope < roof ? intensity * slope : roof, top = roof * 4, ridge = roof / slope;
    double x = across(intensity < 0.1 ? 0.1 : intensity > 1e4 ? 1e4 : intensity);
    const char *trips = "";
    if (w.guessed)
        trips = arena_printf(t->arena, "; loops whose ends only a launch knows are taken as %d trips", UNKNOWN_TRIPS);
    draw_section(t, "Roofline",
                 arena_printf(t->arena,
                              "%.1f operations for each byte that a program loads or stores%s. Programs that share "
                              "tiles find them in the L2, so memory sees fewer bytes: the point then moves to the "
                              "right.",
                              intensity, trips));
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
    double beside = x > LEFT && x < LEFT + MEMORY_WORDS ? x : LEFT;
    svg_text(t, "small", beside + 8, BOTTOM - 8, FROM_LEFT, 400, "memory: %g TB/s", slope / 1000);
    svg_line(t, "mark dash", x, up(reach, top), x, BOTTOM);
    text_add(t, "<circle cx=\"%.6g\" cy=\"%.6g\" r=\"6\" fill=\"var(--mark)\"/>\n", x, up(reach, top));
    bool left = x > WIDTH - 320;
    svg_text(t, "", left ? x - 12 : x + 12, up(reach, top) + 22, left ? FROM_RIGHT : FROM_LEFT, 300,
             "at most %.4g TFLOP/s", reach / 1000);
    svg_end(t);
}
