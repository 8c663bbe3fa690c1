/* SPDX-License-Identifier: Apache-2.0 */
/* simt_speech.c: assert and print, element by element, each by the thread that owns it.
 *
 *     pid (0, 0, 0) idx ( 12) x: 3.500000          a line an element, as Triton's device_print writes
 *     add.py:7: assertion failed: x is positive    then the launch ends
 *
 * A device's printf has at most 32 arguments; there are three for the program, one an axis, one
 * value. */
#include "target/simt/simt.h"

#include <string.h>

/* Opens what runs once an element of the value; how many blocks to close. */
static int open_elements(Emit *e, Ref value) {
    const Layout *layout = emit_layout(e, value);
    if (!layout && e->threads) return 0;
    if (!layout) {
        cs_open(&e->p, "if (lane == 0 && warp == 0)");
        return 1;
    }
    emit_unroll(e, "r", layout->registers, 1);
    const Expr *condition = stage_inside(e, layout, ir_type(e->k, value), place_owner(e, &layout->map));
    if (condition) cs_open(&e->p, "if (%p)", condition);
    return condition ? 2 : 1;
}

static const Expr *element(Emit *e, Ref value) {
    const Layout *layout = emit_layout(e, value);
    return layout ? elementwise_operand(e, value, layout, &place_r) : emit_scalar(e, value);
}

void speech_assert(Emit *e, const Op *op) {
    const char *said = op_text(op, AT_MESSAGE);
    Place place = {0};
    source_find(e->k->module->sources, op->range.begin, &place);
    const char *text = arena_printf(e->arena, "%s%sassertion failed%s%s",
                                    place.file ? arena_printf(e->arena, "%s:%d", place.file->name, place.line) : "",
                                    place.file ? ": " : "", said && *said ? ": " : "", said ? said : "");
    int blocks = open_elements(e, op->operands[0]);
    cs_line(&e->p, "tw_assert(%p, %p);", element(e, op->operands[0]), ex_atom(e->arena, cs_string(e->arena, text)));
    while (blocks--) cs_close(&e->p);
}

/* Digits of the largest index, as Triton pads it. */
static int digits(int64_t extent) {
    int count = 0;
    for (int64_t power = 1; power < extent; power *= 10) count++;
    return count;
}

static const char *format_of(Emit *e, const Type *type, bool hex, const char **cast) {
    *cast = NULL;
    if (type->pointer) return "%p";
    if (elem_is_float(type->elem)) return *cast = "f64", "%f";
    int bytes = elem_info[type->elem].bytes;
    bool sign = elem_is_signed(type->elem) || type->elem == EL_I1;
    if (hex) { /* all digits of the type */
        *cast = bytes == 8 ? "u64" : bytes == 4 ? "u32" : bytes == 2 ? "u16" : "u8";
        return arena_printf(e->arena, "0x%%0%d%s", 2 * bytes, bytes == 8 ? "llx" : "x");
    }
    if (bytes < 8) *cast = sign ? "i32" : "u32";
    return bytes == 8 ? sign ? "%lli" : "%llu" : sign ? "%i" : "%u";
}

/* " x: ", whatever the source wrote of it; without values " x". */
static const char *prefix_of(Emit *e, const char *said, bool values) {
    Text t = text_new(e->arena);
    size_t n = said ? strlen(said) : 0;
    if (values && n && said[n - 1] == ' ') n--;
    if (values && n && said[n - 1] == ':') n--;
    if (n && *said != ' ') text_add(&t, " ");
    for (size_t i = 0; i < n; i++) text_add(&t, said[i] == '%' ? "%%%%" : "%c", said[i]);
    if (values) text_add(&t, ": ");
    return t.length ? t.at : "";
}

static void print_value(Emit *e, const Op *op, int i) {
    Ref value = op->operands[i];
    const Type *type = ir_type(e->k, value);
    const Layout *layout = emit_layout(e, value);
    const char *cast, *format = format_of(e, type, op_flag(op, AT_HEX), &cast);
    Text text = text_new(e->arena);
    text_add(&text, "pid (%%d, %%d, %%d) idx (");
    for (int d = 0; d < type->rank && layout; d++) text_add(&text, "%s%%%dd", d ? ", " : "", digits(type->extent[d]));
    text_add(&text, ")%s", prefix_of(e, op_text(op, AT_MESSAGE), true));
    if (op->operand_count > 1) text_add(&text, "(operand %d) ", i);
    text_add(&text, "%s\n", format);
    int blocks = open_elements(e, value);
    const Expr *args[MAX_RANK + 5] = {ex_atom(e->arena, cs_string(e->arena, text.at)), ex(e->arena, "tw_block_x()"),
                                      ex(e->arena, "tw_block_y()"), ex(e->arena, "tw_block_z()")};
    int count = 4;
    for (int d = 0; d < type->rank && layout; d++) args[count++] = place_coord(e, layout, d, &place_r);
    args[count++] = cast ? ex(e->arena, "(%s)%p", cast, element(e, value)) : element(e, value);
    cs_line(&e->p, "%p;", ex_call(e->arena, "tw_printf", args, count));
    while (blocks--) cs_close(&e->p);
}

void speech_print(Emit *e, const Op *op) {
    for (int i = 0; i < op->operand_count; i++) print_value(e, op, i);
    if (op->operand_count) return;
    const char *text = arena_printf(e->arena, "pid (%%d, %%d, %%d)%s\n", prefix_of(e, op_text(op, AT_MESSAGE), false));
    cs_open(&e->p, e->threads ? "if (true)" : "if (lane == 0 && warp == 0)");
    cs_line(&e->p, "tw_printf(%p, tw_block_x(), tw_block_y(), tw_block_z());",
            ex_atom(e->arena, cs_string(e->arena, text)));
    cs_close(&e->p);
}
