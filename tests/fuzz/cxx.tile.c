/* cxx.tile.c: ThunderKittens' C++, which is refused piece by piece, for the fuzzer to change. */
#include "kittens.h"
using namespace kittens;
constexpr int N = 4 * 2;
template<int D> struct layout { using tile = st_bf<64, D>; };
struct globals { gl<float, 1, 1, -1, -1> x, o; }
struct matmul_template {
    static constexpr int NUM_CONSUMER_WARPS = 8;
    using layout = matmul_layout<2, 4>;
    struct producer { __device__ static void setup(producer_setup_args<layout> args) { warpgroup::decrease_registers<40>(); } };
};
struct pair { int x; pair() : x(0) {} pair operator+(const pair &o) const { return {x + o.x}; } };
enum class mode : int { a, b };
typedef st_bf(64, 64) tile;
static int twice(int a = 3, rt_fl(16, 32) &t) { return a + tile::rows; }
template<bool causal> __global__ __launch_bounds__(128, 1) void k(const __grid_constant__ globals g) {
    extern __shared__ alignment_dummy __shm[];
    shared_allocator al((int *)&__shm[0]);
    st_fl<16, 32> (&s) = al.allocate<st_fl<16, 32>, 2>();
    rt_fl(16, 32)::col_vec v;
    auto f = [&](int i) { return i + 1; };
    for (auto [a, b] : pairs) apply(&t, &t, [=](int i, int j, float x) -> float { return x < 3 ? i : j; });
    if constexpr (causal && N > 2) warp::add(t, t, t);
    if (int i = static_cast<int>(3.5f); mode::a == mode(i)) kittens::group<8>::sync(1);
    int *q = new int[4] , z = q < N ? 1 : N > (2);
    try { tma::load_async<dim::ROW>(s, g.x, {0, g.x.rows() / 2}, sem[q < 3 ? 1 : 2]); } catch (...) { throw; }
    load(&t, s.subtile<16, 32>({1, 0}));
    delete[] q;
    t = t * 2.f + reinterpret_cast<rt_fl<16, 32> &>(u);
}
