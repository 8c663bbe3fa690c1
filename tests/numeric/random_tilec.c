/* SPDX-License-Identifier: Apache-2.0 */
/* random_tilec.c: random Tile C kernels, run on the interpreter and on other targets (differential.h), and against what C
 * would compute.
 *
 * A program has variables of four integer types, structs with pointers, an array at constant and run-time places, tiles and
 * vectors of integers, arrays of tiles in registers and shared, parts of wider ones, structs of tiles, their elements,
 * functions with early returns and pointer parameters, branches, switches and loops of every form over constants and over
 * run-time numbers, breaks, continues and returns. It is a tree (tilec_tree.h, drawn by tilec_make.h); one walk prints it
 * (tilec_print.h), another computes it here with C's rules (tilec_compute.h). The kernel stores every variable, and the
 * interpreter must store what was computed. The door may refuse what it says it does not take (`unsupported`, `unroll`,
 * `pointer`); nothing else. */
#include "tilec_compute.h"
#include "tilec_print.h"

/* --- a program --- */

static void add_scalar(const char *name, int64_t value) {
    Scalar *s = &out->scalars[out->scalar_count++];
    snprintf(s->name, sizeof s->name, "%s", name);
    s->i = value;
    int v = add_variable(NUMBER, I32, "%d", 0);
    snprintf(variables[v].name, sizeof variables[v].name, "%s", name);
    variables[v].value = value;
    variables[v].fixed = true;
}

/* What differential.h fills array 0 with. */
static void fill_tiles(int first) {
    uint64_t seed = 1;
    for (int i = 0; i < 2 * CELLS; i++) variables[first + i / CELLS].tile[i % CELLS] = (int64_t)(mix(&seed) % 19) - 9;
}

static void make_program(Choices *c, Program *p) {
    memset(p, 0, sizeof *p);
    choices = c;
    out = p;
    variable_count = node_count = functions_made = loop_names = loop_depth = 0;
    break_allowed = in_function = false;
    array_first = -1;
    p->file = "random.tile.c";
    p->refusals = "[unsupported] [unroll] [pointer] [loop]";
    for (int i = 0; i < (int)draw(FUNCTIONS + 1); i++) make_function(i);
    first_visible = variable_count;
    int numbers = 6;
    for (int i = 0; i < numbers; i++) {
        int v = add_variable(NUMBER, i < 2 ? I32 : (Type)draw(4), "v%d", i);
        assign(v, (int64_t)draw(9) - 2);
    }
    array_first = variable_count;
    for (int i = 0; i < 3; i++) variables[add_variable(NUMBER, I32, "r[%d]", i)].value = i + 1;
    structs = variable_count;
    for (int i = 0; i < 2; i++) {
        variables[add_variable(NUMBER, I32, "s%d.a", i)].value = 5 + i;
        variables[add_variable(NUMBER, U32, "s%d.u", i)].value = (int64_t)draw(4);
        variables[add_variable(POINTER, I32, "s%d.p", i)].value = first_visible + i;
    }
    int tiles = tiles_first = variable_count, last_number = variable_count;
    for (int i = 0; i < TILES; i++) add_variable(TILE, I32, "t%d", i);
    vectors_first = variable_count;
    for (int i = 0; i < 2; i++) add_variable(VECTOR, I32, "y%d", i);
    add_scalar("g.n", (int64_t)draw(5));
    add_scalar("g.m", (int64_t)draw(200) - 100);

    add_text(p, "#include \"tile.h\"\ntypedef struct { gl(int, 1, 1, 1, -1) x, o; int n, m; } G;\nstruct S { int a; unsigned u; int *p; };\n");
    for (int i = 0; i < functions_made; i++) {
        const struct Function *f = &functions[i];
        add_text(p, "static %s f%d(int %s, %s %s", type_names[f->result_type], i, name_of(f->parameters[0]),
                 type_names[variables[f->parameters[1]].type], name_of(f->parameters[1]));
        if (f->pointer >= 0) add_text(p, ", int *%s", name_of(f->pointer));
        add_text(p, ") {\n");
        print_statements(f->body, 1);
        add_text(p, "}\n");
    }
    add_text(p, "tile_kernel(32, 1) void k(G g) {\n    rt(int, 16, 16) t0, t1, t2;\n    rv(int, 16) y0, y1, result;\n"
                "    st(int, 16, 16) shared, sa[2];\n    rt(int, 16, 16) ta[2];\n    rt(int, 16, 32) tw;\n    st(int, 32, 16) sw;\n"
                "    struct { rt(int, 16, 16) t; rv(int, 16) y; } pairs[2];\n"
                "    zero(&tw);\n    zero(&sw);\n    for (int i = 0; i < 2; i++) { zero(&ta[i]); zero(&sa[i]); zero(&pairs[i].t); }\n"
                "    int r[3] = {1, 2, 3};\n");
    for (int i = 0; i < numbers; i++) {
        const Variable *v = &variables[first_visible + i];
        add_text(p, "    %s %s = %lld;\n", type_names[v->type], v->name, (long long)v->value);
    }
    for (int i = 0; i < 2; i++)
        add_text(p, "    struct S s%d = {%d, %lld, &v%d};\n", i, 5 + i, (long long)variables[structs + 3 * i + 1].value, i);
    for (int i = 0; i < 2; i++)
        add_text(p, "    for (int i = 0; i < 16; i++) load(&shared[i], g.x, at(%d + i));\n    load(&t%d, &shared);\n", 16 * i, i);
    add_text(p, "    zero(&t2);\n    zero(&y0);\n    zero(&y1);\n");
    fill_tiles(tiles);
    Node *body = make_statements(3 + (int)draw(6), 3);
    print_statements(body, 1);
    budget = BUDGET;
    run_statements(body);

    /* every number, then every tile; the values of pointers show in what they point to */
    int place = 0;
    for (int i = first_visible; i < last_number; i++) {
        if (variables[i].shape != NUMBER) continue;
        add_text(p, "    fill(&result, (int)(%s));\n    store(g.o, &result, at(%d));\n", name_of(i), place++);
        for (int lane = 0; lane < LANES; lane++) p->want[p->want_count++] = wrap_to(I32, variables[i].value);
    }
    for (int i = 0; i < TILES; i++) {
        char which[2] = {(char)('0' + (i - PLAIN_TILES) % 2), 0};
        const char *pair = i < PLAIN_TILES ? "" : tile_pairs[(i - PLAIN_TILES) / 2], *hole = strstr(pair, "%s");
        if (i < PLAIN_TILES) add_text(p, "    copy(&shared, &t%d);\n", i);
        else add_text(p, "    copy(&shared, %.*s%s%s);\n", (int)(hole - pair), pair, which, hole + 2);
        add_text(p, "    for (int i = 0; i < 16; i++) store(g.o, &shared[i], at(%d + i));\n", place);
        for (int cell = 0; cell < CELLS; cell++) p->want[p->want_count++] = variables[tiles + i].tile[cell];
        place += LANES;
    }
    for (int i = 0; i < 2; i++) {
        add_text(p, "    store(g.o, &y%d, at(%d));\n", i, place++);
        for (int lane = 0; lane < LANES; lane++) p->want[p->want_count++] = variables[vectors_first + i].tile[lane];
    }
    add_text(p, "}\n");
    p->arrays[0] = (Array){.name = "g.x", .dtype = TW_I32, .count = 2 * CELLS, .flavour = WHOLE, .whole = 9};
    p->arrays[1] = (Array){.name = "g.o", .dtype = TW_I32, .count = (int64_t)place * LANES, .flavour = WHOLE};
    p->array_count = 2;
    p->grid[0] = p->grid[1] = p->grid[2] = 1;
}

/* One that takes too long to compute here would take too long everywhere. */
static void generate(Choices *c, Program *p) {
    int tries = 20;
    do make_program(c, p);
    while (budget <= 0 && tries-- > 0);
}

int main(int argc, char **argv) { return differential_main(argc, argv, "random_tilec", generate); }
