/* SPDX-License-Identifier: Apache-2.0 */
/* matrix.h: matrix instructions as data. matrix.def has a row for each; `stamp` chooses one for every dot (attribute
 * `instr`), and whoever needs to know more of the instruction reads its row: layout, ring, schedule, the emitters. */
#ifndef PASS_MATRIX_H
#define PASS_MATRIX_H
#include "analysis/linear_layout.h"
#include "pass/machine.h"

#define EL_ANY EL_COUNT /* in a row: whatever the dot has */

/* Where an operand of an instruction may come from. */
enum {
    FROM_REGISTERS = 1, /* as it lies there: a fragment */
    FROM_ALONG_K = 2,   /* a tile in shared memory whose rows run along K .. */
    FROM_ACROSS_K = 4   /* .. or along M (of A), N (of B) */
};

/* Where a part of a matrix, the share of one instruction, lies among those who run it: the bases of a linear layout
 * (linear_layout.h), first those of the registers, then of the lanes, then of the warps. */
typedef struct Fragment {
    uint8_t registers, lanes, warps; /* bases of each */
    struct {
        uint8_t row, column;
    } at[12];
} Fragment;
typedef enum FragmentName {
    FRAGMENT_NONE,
#define FRAGMENT(name, registers, lanes, warps, ...) FRAGMENT_##name,
#include "pass/matrix.def"
#undef FRAGMENT
    FRAGMENTS
} FragmentName;
extern const Fragment fragments[FRAGMENTS];

typedef struct Matrix {
    Word instr;              /* the word of the attribute */
    const char *spelling;    /* of the factors' type, as the instruction calls it */
    unsigned set;            /* machines whose `matrix` has this bit have the instruction */
    Elem a, b, sum;          /* types of the factors and of the sum, which may be rounded to fewer bits afterwards */
    Word precision;          /* which the dot must allow (it rounds the factors); WORD_NONE: any dot */
    int m, n, k;             /* one instruction multiplies m x k by k x n .. */
    int n_most;              /* .. or by as many columns as this, in steps of n; 0: n alone .. */
    int n_fine, n_coarse;    /* .. and in steps of n_coarse beyond n_fine columns; 0: of n */
    int n_share;             /* columns that each of several who share them keeps, at least */
    int warps;               /* that run it together; 0: it is no instruction of warps */
    unsigned a_from, b_from; /* FROM_.. */
    bool reads_shared;       /* itself, whole parts of m rows; else lanes fetch its fragments .. */
    int row_bytes;           /* .. by an instruction that moves rows of so many bytes along K; 0: it has none .. */
    int turn_bytes;          /* .. and, of elements of so many bytes, rows across K */
    int trade_bytes;         /* elements of so many bytes come two a word from rows across K, and lanes trade halves */
    bool whole_rows;         /* a warp that is one of several has whole rows of a sum that the next product is made of,
                                where A comes from shared memory too: rows are reduced between them */
    bool is_async;           /* it runs beside its threads, which wait for it when they need the sum */
    bool promotes;           /* sums of few products can be made apart, and then be added in full */
    int sum_bits;            /* that are kept of a sum on some machine; 0: all */
    int clocks;              /* of one instruction of n columns, as timed; 0: not known */
    FragmentName a_in, b_in, sum_in;
    FragmentName a_held, b_beside; /* of A as the sum of a product before it lies, if that is another; of B beside it */
} Matrix;

const Matrix *matrix_at(int index); /* NULL past the last; the best come first */
/* The row of a dot: of its stamp, and of `fma` where it has none. */
const Matrix *matrix_of(const Kernel *k, const Op *dot);
/* Why the machine cannot do the dot with this instruction on so many warps; NULL: it can. */
const char *matrix_misfit(const Matrix *row, const Machine *machine, const Kernel *k, const Op *dot, int warps);
/* Does a matrix unit of the machine multiply these, where the dot allows the precision? */
bool matrix_multiplies(const Machine *machine, Elem a, Elem b, Word precision);
/* The machine's best row that runs beside its threads; NULL: it has none. */
const Matrix *matrix_async(const Machine *machine);
/* Elements of K that may be summed in fewer bits than f32 has before they are added in f32 (attribute `promote`);
 * INT64_MAX: all, over a loop too. */
int64_t matrix_promote(const Kernel *k, const Op *dot);
/* May the product run under other work of its threads? Sums that are added in parts are waited for at once. */
bool matrix_overlaps(const Kernel *k, const Op *dot);

/* The fragment, repeated over rows x columns: by a grid of `along_m` x `along_n` who run the instruction together, then
 * by registers, columns first. `whole`: each takes columns side by side, else every along_n-th part. Warps that are
 * left over of all hold the same once more. */
LinearLayout matrix_spread(FragmentName name, int64_t rows, int64_t columns, int along_m, int along_n, bool whole,
                           int warps);
/* Is the layout made of that fragment, lane by lane? */
bool matrix_is_spread(FragmentName name, const LinearLayout *map);
/* How neighbouring columns of a fragment are spread: over 2^registers of a thread, above these over 2^lanes of them. */
void matrix_columns(FragmentName name, int *registers, int *lanes);
/* The fragment of a matrix instruction's sum that the elements come out of; FRAGMENT_NONE: they do not. */
FragmentName matrix_before(const Kernel *k, Ref r);
#endif
