/* SPDX-License-Identifier: Apache-2.0 */
/* draw_page.c: the page around the pictures: its head, its colours by day and by night, and the list of findings. */
#include "draw/draw.h"

#include <string.h>

static const char style[] =
    ":root{--paper:#fff;--ink:#1d2430;--soft:#5b6675;--rule:#c9d0da;--cell:#f1f4f8;"
    "--one:#8ecae6;--two:#ffb703;--three:#95d5a0;--four:#e5989b;--five:#b8a9e0;--six:#f4a261;--seven:#7fd1c7;"
    "--eight:#d0d68b;--mark:#c1121f;--on:#1d2430}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#14181f;--ink:#e6eaf0;--soft:#9aa6b6;--rule:#3a4452;"
    "--cell:#1f2630;--mark:#ff6b6b}}\n"
    "body{background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif;max-width:1000px;margin:2rem "
    "auto;padding:0 20px;overflow-wrap:anywhere}\n"
    "h1{font-size:1.6rem;margin:0}h2{font-size:1.15rem;margin:2.2rem 0 .2rem}p{color:var(--soft);margin:.2rem 0 "
    ".8rem}\n"
    "div.wide{overflow-x:auto}svg{display:block;width:100%;min-width:760px;height:auto;"
    "font-family:ui-monospace,monospace;font-size:13px}\n"
    "svg text{fill:var(--ink)}svg text.small{font-size:11px}svg text.soft{fill:var(--soft)}svg "
    "text.on{fill:var(--on)}\n"
    "rect{stroke:var(--rule);stroke-width:1}rect.quiet{fill:var(--cell)}rect.none{fill:none}rect.mark{stroke:var(--"
    "mark);stroke-width:2}\n"
    ".one{fill:var(--one)}.two{fill:var(--two)}.three{fill:var(--three)}.four{fill:var(--four)}.five{fill:var(--five)}"
    ".six{fill:var(--six)}.seven{fill:var(--seven)}.eight{fill:var(--eight)}.faint{opacity:.35}\n"
    "line{stroke:var(--soft);stroke-width:1}line.rule{stroke:var(--rule)}line.mark{stroke:var(--mark);stroke-width:2}"
    "line.roof{stroke:var(--ink);stroke-width:2}line.dash{stroke-dasharray:4 3}\n"
    "table{border-collapse:collapse;width:100%;font-size:13px}td{border-top:1px solid var(--rule);padding:.25rem "
    ".6rem .25rem "
    "0;vertical-align:top}td.place,td.subject{white-space:nowrap}"
    "td.place{font-family:ui-monospace,monospace}td.text{white-space:pre-wrap}"
    "td.lines{white-space:pre;font:11px/1.5 ui-monospace,monospace}\n";

void draw_begin(Text *t, const char *kernel, const char *target) {
    text_add(t, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                "<meta name=\"viewport\" content=\"width=device-width\"><title>");
    html_text(t, kernel);
    text_add(t, "</title>\n<style>%s</style></head>\n<body><h1>", style);
    html_text(t, kernel);
    text_add(t, "</h1>\n<p>compiled for ");
    html_text(t, target);
    text_add(t, "</p>\n");
}

void draw_section(Text *t, const char *heading, const char *about) {
    text_add(t, "<h2>");
    html_text(t, heading);
    text_add(t, "</h2>\n<p>");
    html_text(t, about);
    text_add(t, "</p>\n");
}

void draw_findings(Text *t, const Finding *findings, size_t count, const SourceMap *sources) {
    if (count) draw_section(t, "What was proved and chosen", "Each line with its place in the source.");
    text_add(t, "<div class=\"wide\"><table>\n");
    for (size_t i = 0; i < count; i++) {
        Place place;
        text_add(t, "<tr><td class=\"place\">");
        if (source_find(sources, findings[i].range.begin, &place)) {
            const char *slash = strrchr(place.file->name, '/');
            html_text(t, slash ? slash + 1 : place.file->name);
            text_add(t, ":%d", place.line);
        }
        text_add(t, "</td><td class=\"subject\">");
        html_text(t, findings[i].subject);
        text_add(t, "</td><td class=\"%s\">", strchr(findings[i].text, '\n') ? "lines" : "text");
        html_text(t, findings[i].text);
        text_add(t, "</td></tr>\n");
    }
    text_add(t, "</table></div>\n");
}

void draw_end(Text *t) { text_add(t, "</body></html>\n"); }
