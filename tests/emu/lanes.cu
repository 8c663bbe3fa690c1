/* lanes.cu: what the lanes of a warp tell each other, 12 numbers a thread. */
extern "C" __global__ void __launch_bounds__(128) lanes(u32 *out, i32 mutant) {
    const i32 lane = tw_lane(), t = tw_thread();
    if (mutant == 1 && lane >= 20) return; /* not all lanes take part */
    if (mutant == 2) {
        f32 d[4] = {};
        const u32 a[4] = {}, b[2] = {};
        tw_mma_f16(d, a, b);
    }
    const u64 votes = tw_ballot(lane % 3 == 0);
    u32 r[12];
    r[0] = (u32)lane;
    r[1] = (u32)tw_warp();
    r[2] = tw_shfl_xor((u32)t, 16);
    r[3] = tw_shfl_idx((u32)t, lane * 7 + 1);
    r[4] = tw_shfl_up((u32)t, 3);
    r[5] = tw_shfl_down((u32)t, 5);
    r[6] = (u32)votes;
    r[7] = (u32)(votes >> 32);
    r[8] = (u32)tw_all(lane >= 0) << 3 | (u32)tw_all(lane != 31) << 2 | (u32)tw_any(lane == 31) << 1 | (u32)tw_any(lane < 0);
    r[9] = tw_as_u32(tw_lanes_add_up((f32)t));
    r[10] = tw_as_u32(tw_lanes_max_down((f32)t));
    r[11] = (u32)tw_uniform(t);
    for (int i = 0; i < 3; i++) tw_stg(4, out + t * 12 + i * 4, r + i * 4);
}
TW_KERNEL(lanes)
