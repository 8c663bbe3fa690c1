# Tile C's tiles: products of every element type, tiles at run-time places, masks of a warp among several.
$ cat > mm.tile.c <<'EOF'
> #include "tile.h"
> #ifndef T
> #define T float
> #define R float
> #endif
> typedef struct { gl(T, 1, 1, -1, -1) a, b; gl(R, 1, 1, -1, -1) c; } G;
> tile_kernel(32, 1) tile_grid(1) void warp_product(G g) {
>     rt(T, 32, 32) a; rt(T, 32, 32) b; rt(R, 32, 32) c;
>     load(&a, g.a, at(0, 0)); load(&b, g.b, at(0, 0));
>     mm_AB(&c, &a, &b); mma_ABt(&c, &a, &b); mma_AtB(&c, &a, &b); mma_AtBt(&c, &a, &b);
>     store(g.c, &c, at(0, 0));
> }
> tile_kernel(128, 1) tile_grid(1) void group_product(G g) {
>     st(T, 64, 64) a, b; rt(R, 16, 64) c;
>     warpgroup_load(&a, g.a, at(0, 0)); warpgroup_load(&b, g.b, at(0, 0)); warpgroup_sync(1);
>     warpgroup_mm_AB(&c, &a, &b); warpgroup_mma_ABt(&c, &a, &b); warpgroup_mma_wait();
>     warpgroup_store(g.c, &c, at(0, 0));
> }
> EOF
$ for k in warp_product group_product; do for t in 'float float f32 f32' 'char int i8 i32' 'fp8e4m3 float f8e4m3 f32' 'half float f16 f32' 'bf16 bf16 bf16 bf16'; do set -- $t; tilewright check mm.tile.c:$k --target cpu -D T=$1 -D R=$2 --arg g.a=randn:$3[60,60] --arg g.b=randn:$3[60,60] --arg g.c=zeros:$4[60,60] | grep -c ok; done; done | sort | uniq -c | tr -s ' '
 10 3
#! two tiles in turns, rows and elements of a shared tile, a part at a run-time place
$ cat > turns.tile.c <<'EOF'
> #include "tile.h"
> typedef struct { gl(float, 1, 1, -1, -1) x, o; int n; } G;
> tile_kernel(32, 1) tile_grid(1) void dbl(G g) {
>     st_fl(16, 16) s[2]; rt_fl(16, 16) t, acc; sv_fl(16) v;
>     zero(&acc);
>     load_async(&s[0], g.x, at(0, 0));
>     for (int i = 0; i < g.n; i++) {
>         load_async_wait(); block_sync();
>         if (i + 1 < g.n) load_async(&s[(i + 1) % 2], g.x, at(0, i + 1));
>         load(&t, &s[i % 2]);
>         add(&acc, &acc, &t);
>     }
>     load_async_wait();
>     store(&s[1], &acc);
>     float c = s[1][g.n][2] + s[1][3][4];
>     s[1][0][0] = c;
>     copy(&v, &s[1][5]);
>     load(&acc, &s[1]);
>     rt_fl(16,16) w; broadcast_row(&w, &v);
>     add(&acc, &acc, &w);
>     zero(subtile(rt_fl(16,16), &acc, 0, 0));
>     load(&acc, &s[1]);
>     rt_fl(16,32) big; zero(&big); copy(subtile(rt_fl(16,16), &big, 0, g.n - 2), &acc);
>     store(g.o, &big, at(0, 0));
> }
> EOF
$ tilewright check turns.tile.c --target cpu --arg g.x=randn:f32[16,48] --arg g.o=zeros:f32[16,32] --arg g.n=3 | grep -c ok
2
$ tilewright run turns.tile.c --sanitize --arg g.x=randn:f32[16,48] --arg g.o=zeros:f32[16,32] --arg g.n=3
g.o: f32[16, 32], 256 of 512 elements changed
#! a warp among four counts its own rows, the group all of them
$ cat > masks.tile.c <<'EOF'
> #include "tile.h"
> typedef struct { gl(float, 1, 1, -1, -1) x, o, p; } G;
> tile_kernel(128, 1) tile_grid(1) void masks(G g) {
>     rt_fl(16, 64) t, u;
>     warp_one(&t);
>     warp_make_causal(&u, &t, 2);
>     warpgroup_store(g.o, &u, at(0, 0));
>     warpgroup_make_causal(&u, &t, 2);
>     warpgroup_store(g.p, &u, at(0, 0));
> }
> tile_kernel(32, 1) tile_grid(4) void one_warp(G g) {
>     rt_fl(16, 64) t, u;
>     one(&t);
>     make_causal(&u, &t, 2);
>     store(g.o, &u, at(blockIdx.x, 0));
>     tril(&u, &t, 16 * blockIdx.x, 2);
>     store(g.p, &u, at(blockIdx.x, 0));
> }
> EOF
$ for k in masks one_warp; do tilewright run masks.tile.c:$k --arg g.x=zeros:f32[64,64] --arg g.o=zeros:f32[64,64] --arg g.p=zeros:f32[64,64] --save g.o=$k.o.npy --save g.p=$k.p.npy > /dev/null; done; cmp masks.o.npy one_warp.o.npy && cmp masks.p.npy one_warp.p.npy && echo same
same
#! all tiles of an array of arrays as one, side by side and below each other
$ cat > nested.tile.c <<'END'
> #include "tile.h"
> struct globals { gl(float, 1, 1, -1, -1) x, o; };
> tile_kernel(WARP_THREADS, 1) tile_grid(1) void nested(struct globals g) {
>     st_fl(16, 16) s[2][2];
>     rt_fl(16, 64) wide;
>     rt_fl(64, 16) high;
>     for (int i = 0; i < 4; i++) load(&s[i / 2][i % 2], g.x, at(0, i));
>     load(&wide, tile_view(st_fl(16, 64), s));
>     load(&high, tile_view(st_fl(64, 16), s));
>     store(g.o, &wide, at(0, 0));
>     store(tile_view(st_fl(16, 64), s), &wide);
>     load(&high, tile_view(st_fl(64, 16), s));
>     store(g.o, &high, at(1, 0));
> }
> END
$ for t in interp cpu "cuda --emulate"; do tilewright run nested.tile.c --target $t --arg g.x=arange:f32[16,64] --arg g.o=zeros:f32[128,64] --save g.o=o.npy >/dev/null && cksum < o.npy; done | sort -u | wc -l
1
$ tilewright run nested.tile.c --arg g.x=arange:f32[16,64] --arg g.o=zeros:f32[128,64] --save g.o=o.npy; python3 -c "import struct; d = open('o.npy', 'rb').read()[-128 * 64 * 4:]; o = struct.unpack('<8192f', d); print(o[0:2], o[64 + 17], o[64 * 64], o[64 * 80], o[64 * 97 + 3])"
(0.0, 1.0) 81.0 0.0 16.0 99.0
