/* hip_matrix.h: matrix instructions. */
#ifndef TILEWRIGHT_HIP_MATRIX_H
#define TILEWRIGHT_HIP_MATRIX_H
#endif
