/* SPDX-License-Identifier: Apache-2.0 */
/* tt_program.h: the three kernels of a core as typed calls.
 *
 * The planner (tt_emit_data.c, tt_emit_compute.c) builds them once; everything that is said about them afterwards is
 * read from here: which inits and formats stand where (tt_setup.c), whether they keep the rules of a core
 * (tt_lint.c), the texts (tt_text.c).
 *
 *     for (k..)                          STEP_FOR
 *       cb_wait_front(cb_a, 2);            STEP_CB       hand, cb
 *       tile_regs_acquire();               STEP_DST      dst
 *       copy_tile_init(cb_a);              STEP_SETUP    as, format
 *       copy_tile(cb_a, p, 0);             STEP_MOVE     as, cb, page, slot
 *       pack_tile(0, cb_out);              STEP_PACK     slot, cb
 *
 * Numbers of a role (places, bounds, conditions) are C expressions, made by tt_role.c; nothing looks into them here. */
#ifndef TARGET_TENSTORRENT_TT_PROGRAM_H
#define TARGET_TENSTORRENT_TT_PROGRAM_H
#include "ir/ir.h"
#include "target/tenstorrent/tt_calls.h"

typedef enum TtRegister { REG_SRCA, REG_SRCB, REG_PACK, REG_COUNT } TtRegister;
typedef enum TtHand { CB_RESERVE, CB_PUSH, CB_WAIT, CB_POP } TtHand;
typedef enum TtDstStep { DST_ACQUIRE, DST_COMMIT, DST_WAIT, DST_RELEASE } TtDstStep;
typedef enum TtSpread { SPREAD_NONE, SPREAD_COLUMN, SPREAD_ROW, SPREAD_SCALAR } TtSpread;

/* What compute is set up to do. Two calls with equal ones share an init. */
typedef enum TtUnit {
    UNIT_NONE, /* nothing, or not known */
    UNIT_COPY,
    UNIT_TURN,   /* transpose_tile */
    UNIT_SPREAD, /* unary_bcast */
    UNIT_MATMUL,
    UNIT_MATMUL_BLOCK, /* matmul_block */
    UNIT_REDUCE,
    UNIT_FILL,
    UNIT_CALL /* a row of tt_ops.def */
} TtUnit;
typedef struct TtInit {
    TtUnit unit;
    int cb[3]; /* that it names, -1: none */
    TtSpread spread;
    bool turned;             /* MATMUL: the second operand is transposed */
    bool is_max, along_rows; /* REDUCE */
    int across, down, inner; /* BLOCK, in pages */
    int call;                /* CALL: the first row with this init */
} TtInit;

typedef enum TtStepKind {
    /* of all kernels */
    STEP_LINE,    /* text: a line of C about numbers */
    STEP_PLACE,   /* range: the source of what follows */
    STEP_BLOCK,   /* { body } */
    STEP_FOR,     /* for (text) { body }; trips: how many it makes, 0: not known */
    STEP_IF,      /* if (text) { body } */
    STEP_ELSE,    /* behind a STEP_IF */
    STEP_CB,      /* hand, cb: one item; part: a push of so many of its pages, a wait for so many more: text */
    STEP_POINTER, /* text: the address of cb's window, to be written (CB_RESERVE) or read (CB_WAIT) */
    /* of reader and writer */
    STEP_READ,      /* page of buffer to text; outside of the tensor one of fill */
    STEP_READ_ROWS, /* rows of pages of buffer to text: body says which, page where each lies */
    STEP_WRITE,     /* page of buffer from text, unless it is outside */
    STEP_BARRIER,   /* hand: of reads (CB_RESERVE), of writes (CB_WAIT) */
    STEP_ASK,       /* the group of cb: who receives says that there is room */
    STEP_SHARE,     /* the item of cb: sent to the others of its group, by the core that has read it */
    STEP_SHOW,      /* the group of cb: who has sent says so */
    STEP_TAKE,      /* the group of cb: who receives waits for what is sent */
    STEP_COPY,      /* the item of cb into that of cb2, in L1 */
    STEP_MAKE_PAGE, /* of cb, at text; body computes an element */
    STEP_PUT_PAGE,   /* of cb, at text, element by element to buffer; body says where each goes, number: its page in
                        L1; page2: NULL, or what an atomic update makes of the old element */
    STEP_SCALER,    /* cb */
    /* of compute */
    STEP_STARTUP,    /* format */
    STEP_SETUP,      /* format, as; as it is built, a wish: tt_setup.c drops what is so already */
    STEP_DST,        /* dst */
    STEP_MOVE,       /* as: COPY, TURN, SPREAD; cb, page, slot */
    STEP_MATMUL,     /* as: MATMUL, BLOCK; cb, cb2, page, page2, slot */
    STEP_REDUCE,     /* as; cb, cb2, page, slot */
    STEP_FILL,       /* slot, number */
    STEP_CALL,       /* row, in, slot, number; cb, cb2, page */
    STEP_PACK,       /* slot, cb, page; without a page: the next one */
    STEP_ADD_TO_L1,  /* text: whether the packer adds to what is there */
    STEP_REDUCE_END, /* the packer's mask goes */
} TtStepKind;

typedef struct TtStep TtStep;
typedef VEC(TtStep) TtBlock;
struct TtStep {
    TtStepKind kind;
    const Op *op; /* for messages */
    TtBlock body;
    const char *text;
    Range range;
    TtHand hand;
    TtDstStep dst;
    int cb, cb2, buffer;
    uint32_t part, trips;
    const char *page, *page2; /* of tiles in a CB's window, of pages in DRAM: C */
    TtInit as;
    int format[REG_COUNT]; /* the CB whose format the register takes, -1: none */
    bool reversed;         /* SrcB comes first */
    int slot, in[3];       /* of DST: result, operands */
    const CallRow *row;
    const char *number; /* C: FILL a float, CALL the bits of one */
};

/* A kernel: its declarations and what stands first, and what it does. */
typedef struct TtCode {
    TtBlock start, body;
} TtCode;

bool tt_same_init(const TtInit *a, const TtInit *b);
#endif
