/* made_map.cu: tensor maps that one thread makes: the rows of a table name a matrix each (base, extents, stride in
 * bytes, and where the box begins), whose boxes of 16 by 8 f16 go to out one after the other, by two maps in turn. One
 * warp. */
extern "C" __global__ void __launch_bounds__(32)
made_map(const __grid_constant__ TensorMap like, TensorMap *room, const i64 *table, u16 *out, i32 count, i32 mutant) {
    enum { BOX = 0, MAP = 1024, BAR = 1280, BYTES = 16 * 8 * 2 };
    if (tw_thread() == 0) {
        tw_mbar_init(BAR, 1);
        tw_fence_mbar_init();
    }
    tw_sync_warp();
    if (tw_thread() == 0) {
        TensorMap *const own = tw_maps_take(room, 1, 2);
        for (i32 i = 0; i < count; i++) {
            i64 row[6];
            for (int n = 0; n < 6; n++) tw_ldg(1, row + n, table + i * 6 + n);
            const i32 is = tw_map_make_2d(own + i % 2, MAP, &like, (const void *)row[0], row[1], 2, row[2], row[3]);
            if (mutant == 1 && i == 0) tw_stg(1, own[0].opaque + 3, own[1].opaque + 3); /* behind the fence */
            tw_mbar_arrive_expect(BAR, BYTES);
            tw_tma_load_2d(BOX, own + i % 2, (i32)row[4], tw_map_at(is, (i32)row[5]), BAR);
            if (mutant == 2) tw_stg(1, own[i % 2].opaque, like.opaque); /* TMA may still read it */
            if (mutant != 3) tw_mbar_wait(BAR, i & 1);
            for (int n = 0; n < BYTES / 2; n += 8) {
                u16 part[8];
                tw_lds(8, part, BOX + n * 2);
                tw_stg(8, out + i * (BYTES / 2) + n, part);
            }
            tw_fence_async(); /* read, and filled again */
        }
        if (mutant != 4) tw_maps_give(own);
    }
    tw_sync_warp();
    if (tw_thread() == 0 && mutant == 5) tw_map_extent(BOX, 0, 1); /* no map is there */
}
TW_KERNEL(made_map)
