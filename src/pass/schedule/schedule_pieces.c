/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_pieces.c: conversions that take the shared memory of a part of their tile.
 *
 *     convert<via=shared, pieces=4, at=131072, bytes=32768>     128 KiB in four pieces, one behind the other
 *
 * A piece is written, all threads meet, it is read, they meet again; where that can be, a piece is made of some of the
 * registers of every thread (ll_choose_pieces). */
#include "pass/schedule/schedule.h"
#include "pass/schedule/scratch.h"

typedef struct Pieces {
    const Schedule *s;
    int64_t at_once, divisible; /* bytes: that a conversion may take; of the largest that could take less */
} Pieces;

static void cut_convert(Op *op, void *user) {
    Pieces *p = user;
    Kernel *k = p->s->k;
    if (op->code != OP_CONVERT) return;
    op_drop(op, AT_PIECES);
    int64_t whole = scratch_bytes(k, op, 0, true), most = convert_most_pieces(k, op), pieces = 1;
    while (whole / pieces > p->at_once && pieces < most) pieces *= 2;
    if (pieces > 1) op_set(k, op, (Attr){.id = AT_PIECES, .number = pieces});
    if (pieces < most && whole / pieces > p->divisible) p->divisible = whole / pieces;
}

int64_t schedule_pieces(Schedule *s, int64_t at_once) {
    Pieces p = {.s = s, .at_once = at_once};
    ir_walk(s->k->body, cut_convert, &p);
    return p.divisible;
}

bool schedule_pieces_hold(Schedule *s, const Op *convert) {
    int64_t pieces = op_int(convert, AT_PIECES, 1);
    return (pieces <= convert_most_pieces(s->k, convert) && !(pieces & (pieces - 1))) ||
           schedule_fail(s, convert,
                         "`pieces` are 2, 4 .. of at least 1024 bytes, of a conversion through shared memory");
}
