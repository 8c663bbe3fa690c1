/* vector_add.cu: z = x + y in 16-byte vectors, with a masked tail. */
extern "C" __global__ void __launch_bounds__(128) vector_add(const f32 *x, const f32 *y, f32 *z, i32 n, i32 mutant) {
    i32 i = 4 * (tw_block_x() * 128 + tw_thread());
    f32 a[4], b[4];
    if (mutant == 2) i += 1; /* vectors no longer aligned */
    if (i + 4 <= n || mutant == 1) {
        tw_ldg_nc(4, a, x + i);
        tw_ldg(4, b, y + i);
        for (int j = 0; j < 4; j++) a[j] = a[j] + b[j];
        tw_stg_cs(4, z + i, a);
    } else {
        for (int j = 0; j < 4; j++) {
            tw_ldg_if(1, i + j < n, &a[j], x + i + j);
            tw_ldg_if(1, i + j < n, &b[j], y + i + j);
            f32 sum = a[j] + b[j];
            tw_stg_if(1, i + j < n, z + i + j, &sum);
        }
    }
    tw_assert(mutant != 3 || i < 100, "i is too large");
    if (mutant == 4 && i == 0) tw_printf("n = %d\n", n);
}
TW_KERNEL(vector_add)
