/* features.tile.c: what kernels/tilec has little of, for the fuzzer to change: macros of macros, nested types, arrays and
 * parts of tiles at run-time places, jumps, complex tiles, static extents. */
#include "tile.h"

#define GLUE(a, b) a##b
#define TYPE(kind) GLUE(st_, kind)(16, 32)
#define TWICE(x) ((x) + (x))
#define MORE(x) TWICE(TWICE(x))
#define EACH(i, n) for (int i = 0; i < (n); i++)
#if MORE(2) > 7 && defined TYPE
enum { N = MORE(1), LAST = N - 1, WIDE = 1 << 5 };
#endif
static_assert(sizeof(int) == 4, "int");

typedef struct {
    struct {
        gl(float, 1, 1, 64, 64) x;
        gl(float, -1, 1, 16, -1) y;
    } in;
    cgl(gl(float, 1, 1, -1, -1)) z;
    gl(float, 1, 1, -1, -1) o;
    int steps;
    float scale;
} G;
typedef struct { rt_fl(16, 32) t[2]; col_vec(rt_fl(16, 32)) v; } state;

static const int order[4] = {3, 1, 2, 0};

static int next(int i, const int *table) {
    switch (i % 4) {
    case 0: return table[1];
    case 1: i += 2; break;
    default: return i < 0 ? -1 : order[i % 4];
    }
    return i;
}

static void step(state *s, TYPE(fl) *tiles, int i) {
    load(&s->t[0], &tiles[i % N]);
    if (i & 1) mul(&s->t[0], &s->t[0], 2.f);
    else add(&s->t[1], &s->t[1], &s->t[0]);
    row_sum(&s->v, &s->t[1], &s->v);
}

tile_grid(cdiv(g.o.rows, 16), 2) __global__ __launch_bounds__(WARP_THREADS, 1)
void features(const __grid_constant__ G g) {
    TYPE(fl) tiles[N];
    state s;
    crt_fl(16, 16) z, w;
    int kept[3] = {0, 1, 2}, table[3] = {g.steps, 1, 2}, at_row = blockIdx.x;
    coord where = at(at_row, 0);
    EACH(i, N) load(&tiles[i], g.in.x, at(order[i] % 2, i % 2));
    zero(&s.t[1]);
    zero(&s.v);
    for (int i = 0, j = 0; i < g.steps; i++) {
        if (kept[j] > LAST) continue;
        kept[j] = next(i, table);
        step(&s, tiles, kept[j]);
        do j = (j + 1) % 3; while (j == i % 2 && j < 2);
        if (i > WIDE) break;
    }
    load(&z, g.z, at(0, 0));
    exp(&w, &z);
    mul(&z, &z, &w);
    load(&s.t[0], subtile(st_fl(16, 32), &tiles[0], 0, 0));
    add_row(&s.t[1], &s.t[1], &s.v);
    mul(&s.t[1], &s.t[1], g.scale ? g.scale : 1.0f);
    store(g.o, &s.t[1], where);
}
