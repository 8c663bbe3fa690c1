// SPDX-License-Identifier: Apache-2.0
// app.cpp: a kernel that was built ahead of time, called from C++.
#include "add.h"

#include <cstdio>
#include <vector>

int main() {
    std::vector<float> x(1000), y(1000), z(1000);
    for (int i = 0; i < 1000; i++) x[i] = float(i), y[i] = float(i + 1);
    int32_t status =
        add_kernel(x.data(), x.size(), y.data(), y.size(), z.data(), z.size(), 1000, 1, 1, 1, nullptr);
    if (status) return std::printf("%s\n", add_kernel_error(status)), 1;
    std::printf("999 + 1000 = %g\n", z[999]);
}
