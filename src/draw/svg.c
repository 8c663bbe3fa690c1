/* SPDX-License-Identifier: Apache-2.0 */
/* svg.c: the shapes of pictures; see draw.h. */
#include "draw/draw.h"

#include <stdarg.h>
#include <string.h>

void html_text(Text *t, const char *text) {
    for (; *text; text++)
        if (*text == '<')
            text_add(t, "&lt;");
        else if (*text == '>')
            text_add(t, "&gt;");
        else if (*text == '&')
            text_add(t, "&amp;");
        else if (*text == '"')
            text_add(t, "&quot;");
        else
            text_add_char(t, *text);
}

const char *svg_hue(int number) {
    static const char *const names[HUES] = {"one", "two", "three", "four", "five", "six", "seven", "eight"};
    return names[(unsigned)number % HUES];
}

void svg_begin(Text *t, double height, const char *title) {
    text_add(t, "<div class=\"wide\"><svg viewBox=\"0 0 %d %.6g\" role=\"img\"><title>", WIDTH, height);
    html_text(t, title);
    text_add(t, "</title>\n");
}

void svg_end(Text *t) { text_add(t, "</svg></div>\n"); }

void svg_box(Text *t, const char *classes, double x, double y, double width, double height, const char *tip) {
    text_add(t, "<rect class=\"%s\" x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\"", classes, x, y, width,
             height);
    if (!tip) {
        text_add(t, "/>\n");
        return;
    }
    text_add(t, "><title>");
    html_text(t, tip);
    text_add(t, "</title></rect>\n");
}

void svg_line(Text *t, const char *classes, double x1, double y1, double x2, double y2) {
    text_add(t, "<line class=\"%s\" x1=\"%.6g\" y1=\"%.6g\" x2=\"%.6g\" y2=\"%.6g\"/>\n", classes, x1, y1, x2, y2);
}

/* Letters are taken as wide as the widest of common fonts: what fits by this fits. */
static double letter_width(const char *classes) { return strstr(classes, "small") ? 7.0 : 8.4; }

void svg_text(Text *t, const char *classes, double x, double y, Anchor anchor, double room, const char *format, ...) {
    static const char *const anchors[] = {"start", "middle", "end"};
    va_list args;
    Text whole = text_new(t->arena);
    va_start(args, format);
    text_vadd(&whole, format, args);
    va_end(args);
    size_t letters = 0, bytes = 0, most = (size_t)(room / letter_width(classes));
    for (size_t i = 0; i < whole.length; i++) letters += ((unsigned char)whole.at[i] & 0xc0) != 0x80;
    bool cut = letters > most;
    if (cut)
        for (size_t seen = 0; whole.at[bytes] && seen + 1 < most; seen++)
            do bytes++;
            while (((unsigned char)whole.at[bytes] & 0xc0) == 0x80);
    text_add(t, "<text class=\"%s\" x=\"%.6g\" y=\"%.6g\" text-anchor=\"%s\">", classes, x, y, anchors[anchor]);
    if (cut) {
        text_add(t, "<title>");
        html_text(t, whole.at);
        text_add(t, "</title>");
        whole.at[bytes] = '\0';
    }
    html_text(t, whole.at);
    text_add(t, "%s</text>\n", cut ? "\xe2\x80\xa6" : "");
}
