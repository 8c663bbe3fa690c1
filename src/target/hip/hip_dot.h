/* SPDX-License-Identifier: Apache-2.0 */
/* hip_dot.h: products by matrix instructions (hip_dot.c). */
#ifndef TARGET_HIP_HIP_DOT_H
#define TARGET_HIP_HIP_DOT_H
#include "target/simt/simt_dot.h"

void hip_multiply(Dot *d);
#endif
