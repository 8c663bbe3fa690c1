/* SPDX-License-Identifier: Apache-2.0 */
/* draw.h: what the compiler decided, as pictures: one HTML page of inline SVG, without scripts, styles from elsewhere
 * or fonts to fetch. A picture reads the IR behind the passes (or a plan of a target) and decides nothing.
 *
 *     Text page = text_new(arena);
 *     draw_begin(&page, "matmul_kernel", "cuda:sm_90a");
 *     draw_boxes(&page, kernel); ..                    each adds a section, or nothing if the kernel has no such thing
 *     draw_end(&page);
 *
 * draw_page.c has the page and its colours, svg.c the shapes; each picture is a file. Widths are those of WIDTH; a
 * picture says how high it is. Colours are classes: `one` .. `eight`, `quiet`, `line`; the page says what they look
 * like by day and by night. */
#ifndef DRAW_DRAW_H
#define DRAW_DRAW_H
#include "base/text.h"
#include "pass/finding.h"
#include "pass/machine.h"
#include "pass/work.h"
#include "target/tenstorrent/tt.h"

enum { WIDTH = 960, HUES = 8 };

/* --- svg.c: x and y from the upper left corner --- */
void svg_begin(Text *t, double height, const char *title); /* what is told to those who cannot see it */
void svg_end(Text *t);
const char *svg_hue(int number); /* the class of the number, modulo HUES */
/* A rectangle; `tip` is shown when a pointer rests on it, NULL: nothing. */
void svg_box(Text *t, const char *classes, double x, double y, double width, double height, const char *tip);
void svg_line(Text *t, const char *classes, double x1, double y1, double x2, double y2);
typedef enum Anchor { FROM_LEFT, CENTRED, FROM_RIGHT } Anchor;
/* A text on its base line. It is cut where it would be wider than `room`, with its whole as a tip. */
void svg_text(Text *t, const char *classes, double x, double y, Anchor anchor, double room, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
void html_text(Text *t, const char *text); /* with its <, > and & escaped */

/* --- draw_page.c --- */
void draw_begin(Text *t, const char *kernel, const char *target);
/* A heading and what the picture below it shows. */
void draw_section(Text *t, const char *heading, const char *about);
void draw_findings(Text *t, const Finding *findings, size_t count, const SourceMap *sources);
void draw_end(Text *t);

/* --- the pictures --- */
void draw_boxes(Text *t, const Kernel *k);                            /* tiles on their arrays and on the grid */
void draw_lanes(Text *t, const Kernel *k, const Machine *machine);    /* a register tile over lanes */
void draw_banks(Text *t, const Kernel *k, const Machine *machine);    /* a shared tile over banks */
void draw_rings(Text *t, const Kernel *k, const Machine *machine);    /* rings over time */
void draw_roofline(Text *t, const Work *program, const Machine *machine); /* what bounds it */
/* tenstorrent: cores, their tasks, what they send each other. `known`: extents of tasks, 0: only a launch knows. */
void draw_tensix(Text *t, const TtPlan *plan, const int64_t *known);
#endif
