/* handoff.cu: two warps pass a value to and fro through shared memory with named barriers (sync on one side, arrive on
 * the other), then every kind of atomic, shuffle and vote once, and a poll of a flag. Two warps. */
extern "C" __global__ void __launch_bounds__(64)
handoff(i32 *out, f32 *floats, i64 *longs, f16 *halves, bf16 *brains, u32 *flag, i32 rounds, i32 mutant) {
    i32 lane = tw_lane(), warp = tw_warp(), x = lane;
    u32 at = 4 * (u32)lane;
    for (i32 i = 0; i < rounds; i++) { /* barrier 1: the value is there; barrier 2: it was taken */
        if (warp == 0) {
            if (i > 0 && mutant != 1) tw_bar_sync(2, 64);
            x = x + 1;
            tw_sts(1, at, &x);
            tw_bar_arrive(1, mutant == 2 ? 32 : 64);
        } else {
            if (mutant == 3 && i == 1 && lane < 16) return;
            tw_bar_sync(1, 64);
            tw_lds(1, &x, at);
            if (i + 1 < rounds) tw_bar_arrive(2, 64);
        }
    }
    if (warp == 1) {
        tw_stg(1, out + lane, &x);
        x = tw_shfl_up(lane, 3) + 100 * tw_shfl_down(lane, 5) + 10000 * tw_shfl_idx(lane, lane / 2) + tw_uniform(lane + 7);
        tw_stg(1, out + 32 + lane, &x);
        x = (i32)tw_ballot(lane % 3 == 0) + (tw_any(lane == 5) ? 1 : 0) + (tw_all(lane == 5) ? 2 : 0);
        tw_stg(1, out + 64 + lane, &x);
    }
    tw_atomic_add(out + 96, lane);
    tw_atomic_max(out + 97, lane - 100);
    tw_atomic_min((u32 *)out + 98, (u32)lane - 3);
    tw_atomic_or(out + 99, 1 << lane);
    tw_atomic_xor(out + 100, lane);
    tw_atomic_and(out + 101, ~(1 << lane));
    if (lane == warp) tw_atomic_cas(out + 102, warp, warp + 1); /* 0 -> 1 -> 2 at most */
    tw_atomic_add(floats, 0.5f);
    tw_atomic_add(floats + 3, 1e-40f); /* nothing: a subnormal is zero to the units that add in global memory */
    tw_atomic_max(floats + 1, (f32)lane - 40);
    tw_atomic_min(floats + 2, (f32)lane - 40);
    tw_atomic_add(longs, (i64)1 << 33);
    tw_atomic_min(longs + 1, (i64)-5 * lane);
    tw_atomic_add(halves, tw_f16(0.25f));
    tw_atomic_add(brains, tw_bf16(0.25f));
    tw_sync();
    if (warp == 0) {
        if (lane == 0 && mutant != 4) tw_st_release(flag, 1);
    } else {
        while (tw_ld_acquire(flag) == 0) {}
    }
}
TW_KERNEL(handoff)
