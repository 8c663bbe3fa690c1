/* tma_shapes.cu: a box of rank 1..5 (0: plain bytes) from `from` to shared memory and on to `to`, stored or added; the
 * image of shared memory goes to raw. One warp. */
extern "C" __global__ void __launch_bounds__(32)
tma_shapes(const __grid_constant__ TensorMap from, const __grid_constant__ TensorMap to, const u8 *plain_from, u8 *plain_to,
           u32 *raw, i32 rank, i32 add, u32 bytes, i32 c0, i32 c1, i32 c2, i32 c3, i32 c4, i32 no_store, i32 mutant) {
    enum { BOX = 0, BAR = 16384 };
    if (tw_thread() == 0) {
        tw_mbar_init(BAR, 1);
        tw_fence_mbar_init();
        tw_tma_prefetch(&from);
    }
    tw_sync_warp();
    if (tw_elect()) {
        tw_mbar_expect(BAR, bytes); /* apart from the arrival, to try both */
        switch (rank) {
        case 0: tw_bulk_load(BOX, plain_from, bytes, BAR); break;
        case 1: tw_tma_load_1d(BOX, &from, c0, BAR); break;
        case 2: tw_tma_load_2d(BOX, &from, c0, c1, BAR); break;
        case 3: tw_tma_load_3d(BOX, &from, c0, c1, c2, BAR); break;
        case 4: tw_tma_load_4d(BOX, &from, c0, c1, c2, c3, BAR); break;
        case 5: tw_tma_load_5d(BOX, &from, c0, c1, c2, c3, c4, BAR); break;
        }
        tw_mbar_arrive(BAR);
    }
    if (mutant == 2) return; /* the load is still under way */
    if (mutant != 1) tw_mbar_wait(BAR, 0);
    for (u32 i = (u32)tw_lane() * 16; i < bytes; i += 512) {
        u32 v[4];
        tw_lds(4, v, BOX + i);
        tw_stg(4, raw + i / 4, v);
    }
    tw_sync_warp();
    if (tw_elect() && !no_store) {
        if (add) {
            switch (rank) {
            case 1: tw_tma_add_1d(&to, c0, BOX); break;
            case 2: tw_tma_add_2d(&to, c0, c1, BOX); break;
            case 3: tw_tma_add_3d(&to, c0, c1, c2, BOX); break;
            case 4: tw_tma_add_4d(&to, c0, c1, c2, c3, BOX); break;
            case 5: tw_tma_add_5d(&to, c0, c1, c2, c3, c4, BOX); break;
            }
        } else {
            switch (rank) {
            case 0: tw_bulk_store(plain_to, BOX, bytes); break;
            case 1: tw_tma_store_1d(&to, c0, BOX); break;
            case 2: tw_tma_store_2d(&to, c0, c1, BOX); break;
            case 3: tw_tma_store_3d(&to, c0, c1, c2, BOX); break;
            case 4: tw_tma_store_4d(&to, c0, c1, c2, c3, BOX); break;
            case 5: tw_tma_store_5d(&to, c0, c1, c2, c3, c4, BOX); break;
            }
        }
        tw_bulk_commit();
        if (mutant == 3) {
            u32 zero = 0;
            tw_sts(1, BOX, &zero); /* the store may not have read it yet */
        }
        tw_bulk_wait(0);
    }
}
TW_KERNEL(tma_shapes)
