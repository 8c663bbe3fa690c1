/* SPDX-License-Identifier: Apache-2.0 */
/* interp_value.c: the cells that hold values.
 *
 * Cells come from the interpreter's arena in sizes of powers of two and go back to free lists, so a
 * loop allocates nothing after its first rounds. A shadow (sanitize) is a cell of its own. */
#include "ir/interp/interp_core.h"

static int class_of(size_t bytes) {
    int c = 4;
    while (c < CELL_CLASSES && ((size_t)1 << c) < bytes) c++;
    return c;
}

void interp_limit(Interp *in, size_t more) {
    if (!in->memory_limit || in->arena.total + more <= in->memory_limit) return;
    const Process *p = in->current;
    diag_emit(in->diag, DIAG_INTERP_MEMORY, in->kernel->range, (long long)(in->memory_limit >> 20),
              p && p->role ? "a role of it" : "one program");
    process_stop(in);
}

Cell *cell_new(Interp *in, size_t bytes) {
    int c = class_of(bytes);
    if (c >= CELL_CLASSES) trap_throw(in->arena.trap, TRAP_OUT_OF_MEMORY);
    Cell *cell = in->free[c];
    if (cell)
        in->free[c] = cell->next;
    else {
        size_t header = (sizeof(Cell) + 15) & ~(size_t)15;
        interp_limit(in, header + ((size_t)1 << c));
        cell = arena_alloc(&in->arena, header + ((size_t)1 << c));
        cell->data = (char *)cell + header;
    }
    *cell = (Cell){.refs = 1, .size_class = (uint8_t)c, .data = cell->data};
    return cell;
}

void cell_drop_shadow(Interp *in, Cell *cell) {
    if (!cell->shadow) return;
    cell_release(in, cell->shadow_cell);
    cell->shadow = NULL;
    cell->shadow_cell = NULL;
}

void cell_release(Interp *in, Cell *cell) {
    if (!cell || --cell->refs > 0) return;
    cell_drop_shadow(in, cell);
    cell->next = in->free[cell->size_class];
    in->free[cell->size_class] = cell;
}

uint8_t *cell_shadow(Interp *in, Cell *cell, int64_t elements) {
    if (!cell->shadow) {
        cell->shadow_cell = cell_new(in, (size_t)elements);
        cell->shadow = cell->shadow_cell->data;
        memset(cell->shadow, 0, (size_t)elements);
    }
    return cell->shadow;
}

size_t value_bytes(const Type *type) {
    switch (type->kind) {
    case TY_TILE:
    case TY_BUFFER: return (size_t)ty_elements(type) * (size_t)ty_elem_bytes(type);
    case TY_TENSOR: return sizeof(TensorValue);
    case TY_RING: return sizeof(RingState *);
    case TY_SLOT: return sizeof(SlotValue);
    case TY_BAR: return sizeof(BarValue);
    }
    return 0;
}

void value_poison(void *data, const Type *type) {
    memset(data, type->elem == EL_I1 && !type->pointer ? 1 : 0xFF, value_bytes(type));
}

void ev_bad_use(Process *p, Step *s, Ref ref) {
    const Cell *cell = p->cells[ref];
    if (!cell) ice(p->in->arena.trap, "interpreter: value %u is used before it is defined", ref);
    EV_REPORT(p, s, DIAG_RING_VIEW, (long long)cell->item, cell->of->name, report_process(p));
}

int64_t ev_scalar(Process *p, Step *s, Ref ref) {
    Operand x = ev_operand_of(p, s, ref);
    if (x.cell->shadow) sanitize_use(p, s, &x);
    return elem_get_i64(x.elem, x.data);
}

Cell *ev_define_ref(Process *p, Ref ref) {
    Cell *old = p->cells[ref];
    if (old && old->refs == 1 && !old->pinned) {
        cell_drop_shadow(p->in, old);
        return old;
    }
    cell_release(p->in, old);
    return p->cells[ref] = cell_new(p->in, value_bytes(ir_value(p->in->kernel, ref)->type));
}

void ev_assign(Process *p, Ref ref, Cell *cell) {
    cell_release(p->in, p->cells[ref]);
    p->cells[ref] = cell;
}

void ev_bind(Process *p, Ref ref, int64_t x) {
    Cell *cell = ev_define_ref(p, ref);
    elem_put_i64(ir_value(p->in->kernel, ref)->type->elem, cell->data, x);
}
