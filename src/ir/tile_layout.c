/* SPDX-License-Identifier: Apache-2.0 */
/* tile_layout.c: layouts as data: questions that need no algebra, what a type says of one, and their text.
 *
 *     regs<128x64, reg (0,1) (0,2) (0,4) (64,0), lane (0,8) (0,16) (0,32) (1,0) (2,0), warp (4,0) (8,0)>
 *          the padded extents; for each bit of a register's, lane's and warp's number its step, `0`: none
 *     shared<128x64, width=128, zero=128x80, turned>
 *          the rows and columns that have room; how far zeros are read, where that is beyond the tile */
#include "ir/tile_layout.h"

#include <ctype.h>
#include <string.h>

int ll_log2(int64_t extent) {
    int bits = 0;
    while (((int64_t)1 << bits) < extent) bits++;
    return bits;
}

LinearLayout ll_empty(int rank, const int64_t *extent) {
    LinearLayout layout = {.rank = rank};
    for (int d = 0; d < rank; d++) layout.log2[d] = (uint8_t)ll_log2(extent[d]);
    return layout;
}

void ll_push(LinearLayout *layout, LayoutInput input, uint32_t basis) {
    if (layout->count[input] < LL_MAX_BITS) layout->basis[input][layout->count[input]++] = basis;
}

int ll_shift(const LinearLayout *layout, int dim) {
    int shift = 0;
    for (int d = dim + 1; d < layout->rank; d++) shift += layout->log2[d];
    return shift;
}

uint32_t ll_mask(const LinearLayout *layout, int dim) {
    return (((uint32_t)1 << layout->log2[dim]) - 1) << ll_shift(layout, dim);
}

int ll_index_bits(const LinearLayout *layout) {
    int bits = 0;
    for (int d = 0; d < layout->rank; d++) bits += layout->log2[d];
    return bits;
}

uint32_t ll_apply(const LinearLayout *layout, LayoutPlace place) {
    uint32_t index = 0;
    for (int in = 0; in < LL_INPUTS; in++)
        for (int i = 0; i < layout->count[in]; i++)
            if (place.at[in] >> i & 1) index ^= layout->basis[in][i];
    return index;
}

uint32_t ll_coord(const LinearLayout *layout, uint32_t index, int dim) {
    return (index & ll_mask(layout, dim)) >> ll_shift(layout, dim);
}

bool ll_equal(const LinearLayout *a, const LinearLayout *b) {
    if (a->rank != b->rank || memcmp(a->log2, b->log2, (size_t)a->rank) != 0) return false;
    for (int in = 0; in < LL_INPUTS; in++)
        if (a->count[in] != b->count[in] || memcmp(a->basis[in], b->basis[in], a->count[in] * sizeof(uint32_t)) != 0)
            return false;
    return true;
}

static int high_bit(uint32_t x) { return 31 - __builtin_clz(x); }

static bool coord_live(const LinearLayout *layout, uint32_t fixed, int dim, int64_t extent) {
    /* Is there a place among lanes, warps and blocks that keeps the coordinate below the extent?
     * The smallest coordinate reachable from `fixed` decides; lower it greedily with a basis of the
     * others' span. */
    uint32_t row[32] = {0};
    int shift = ll_shift(layout, dim);
    uint32_t mask = ll_mask(layout, dim);
    for (int in = LL_LANE; in < LL_INPUTS; in++)
        for (int i = 0; i < layout->count[in]; i++) {
            uint32_t x = (layout->basis[in][i] & mask) >> shift;
            while (x && row[high_bit(x)]) x ^= row[high_bit(x)];
            if (x) row[high_bit(x)] = x;
        }
    uint32_t x = (fixed & mask) >> shift;
    for (int b = 31; b >= 0; b--)
        if (x >> b & 1 && row[b]) x ^= row[b];
    return (int64_t)x < extent;
}

int ll_registers(const LinearLayout *layout, const int64_t *extent) {
    uint32_t all = (uint32_t)1 << layout->count[LL_REGISTER];
    for (uint32_t r = all; r-- > 1;) {
        LayoutPlace place = {{r}};
        uint32_t index = ll_apply(layout, place);
        bool live = true;
        for (int d = 0; d < layout->rank && live; d++) live = coord_live(layout, index, d, extent[d]);
        /* Matrix instructions hold their accumulators in fours. */
        if (live) return all < 4 ? (int)all : (int)(r + 4) & ~3;
    }
    return 1;
}

/* --- tiles in shared memory --- */
SharedTile shared_tile_of(const Type *type, bool turned) {
    SharedTile t = {.rows = 1, .columns = 1, .elem_bytes = ty_elem_bytes(type), .turned = turned};
    for (int d = 0; d < type->rank - 1; d++) t.rows *= type->extent[d];
    if (type->rank) t.columns = type->extent[type->rank - 1];
    if (turned && type->rank == 2) t.rows = type->extent[1], t.columns = type->extent[0];
    return t;
}

void shared_tile_room(SharedTile *t, int64_t rows, int64_t columns) {
    t->rows_held = rows;
    t->columns_held = columns;
    t->panel = rows * t->width;
    int64_t bytes = t->panel * ((columns * t->elem_bytes + t->width - 1) / t->width);
    t->bytes = (bytes + 1023) / 1024 * 1024;
}

/* --- layouts and types --- */
static SharedTile tile_for(const SharedTile *read, const Type *type) {
    SharedTile t = shared_tile_of(type, read->turned);
    t.width = read->width;
    shared_tile_room(&t, read->rows_held, read->columns_held);
    t.zero_rows = read->zero_rows ? read->zero_rows : t.rows;
    t.zero_columns = read->zero_columns ? read->zero_columns : t.columns;
    return t;
}

/* Extents are padded to powers of two; a matrix, to the 64 rows or columns that an instruction may take at once. */
static const char *extent_fault(const LinearLayout *map, const Type *type, Arena *arena) {
    enum { INSTRUCTION = 6 };
    if (map->rank != type->rank)
        return arena_printf(arena, "the layout has %d dimensions, the tile has %d", map->rank, type->rank);
    for (int d = 0; d < map->rank; d++) {
        int least = ll_log2(type->extent[d]), most = map->rank == 2 && least < INSTRUCTION ? INSTRUCTION : least;
        if (map->log2[d] < least || map->log2[d] > most)
            return arena_printf(arena, "the layout has %d elements along dimension %d, the tile has %lld",
                                1 << map->log2[d], d, (long long)type->extent[d]);
    }
    return NULL;
}

const Layout *layout_for(const Layout *layout, const Type *type, Arena *arena) {
    Layout *own = ARENA_NEW(arena, Layout);
    *own = *layout;
    if (own->home == HOME_SHARED) own->tile = tile_for(&layout->tile, type);
    if (own->home == HOME_REGISTERS && !extent_fault(&own->map, type, arena))
        own->registers = ll_registers(&own->map, type->extent);
    return own;
}

static const char *map_fault(const Layout *layout, const Type *type, Arena *arena) {
    const LinearLayout *map = &layout->map;
    const char *fault = extent_fault(map, type, arena);
    if (fault) return fault;
    uint32_t seen = 0;
    for (int in = 0; in < LL_INPUTS; in++)
        for (int i = 0; i < map->count[in]; i++) {
            uint32_t basis = map->basis[in][i];
            if (!basis && in == LL_REGISTER) return "a register of the layout repeats another one";
            if (basis & (basis - 1)) return "a bit of a place moves an element along two bits of its index";
            if (basis & seen) return "two bits of a place move an element along the same bit of its index";
            seen |= basis;
        }
    if (seen != ((uint32_t)1 << ll_index_bits(map)) - 1) return "the layout does not hold every element of the tile";
    if (layout->registers != ll_registers(map, type->extent)) return "the layout has another number of registers";
    return NULL;
}

static const char width_fault[] = "`width` must be 16, 32, 64 or 128 bytes";
static bool is_panel(int64_t width) { return width == PLAIN_PANEL || width == 32 || width == 64 || width == 128; }

static const char *tile_fault(const SharedTile *t, const Type *type, Arena *arena) {
    enum { MOST = 1 << 21 }; /* twice the elements of the largest tile */
    SharedTile own = shared_tile_of(type, t->turned);
    if (t->turned && type->rank != 2) return "only a matrix is stored turned";
    if (!is_panel(t->width)) return width_fault;
    if (t->rows != own.rows || t->columns != own.columns || t->elem_bytes != own.elem_bytes)
        return arena_printf(arena, "the layout is of a matrix of %lldx%lld, the tile is one of %lldx%lld",
                            (long long)t->rows, (long long)t->columns, (long long)own.rows, (long long)own.columns);
    if (t->rows_held < t->rows || t->columns_held < t->columns || t->rows_held > MOST || t->columns_held > MOST ||
        t->rows_held * t->columns_held > MOST)
        return arena_printf(arena, "there must be room for %lldx%lld elements, and for at most 2^21",
                            (long long)t->rows, (long long)t->columns);
    int64_t panels = (t->columns_held * t->elem_bytes + t->width - 1) / t->width;
    if (t->zero_rows < t->rows || t->zero_columns < t->columns || t->zero_rows > t->rows_held ||
        t->zero_columns > panels * t->width / t->elem_bytes)
        return "`zero` must lie between the tile and the room that it has";
    return NULL;
}

const char *layout_fault(const Layout *layout, const Type *type, Arena *arena) {
    switch (layout->home) {
    case HOME_REGISTERS: return map_fault(layout, type, arena);
    case HOME_SHARED: return tile_fault(&layout->tile, type, arena);
    case HOME_SLOTS:
        for (int i = 0; i < type->field_count; i++) {
            const char *fault = tile_fault(&layout->fields[i], type->fields[i].type, arena);
            if (fault) return arena_printf(arena, "field `%s`: %s", type->fields[i].name, fault);
        }
    }
    return NULL;
}

/* --- text --- */
static const char *const input_names[LL_INPUTS] = {"reg", "lane", "warp", "block"};

static void add_basis(Text *t, const LinearLayout *map, uint32_t basis) {
    text_add(t, basis ? " (" : " 0");
    for (int d = 0; basis && d < map->rank; d++) text_add(t, "%s%u", d ? "," : "", ll_coord(map, basis, d));
    if (basis) text_add_char(t, ')');
}

char *layout_text(const Layout *layout, const Type *type, Arena *arena) {
    Text t = text_new(arena);
    if (layout->home == HOME_REGISTERS) {
        const LinearLayout *map = &layout->map;
        text_add(&t, "regs<");
        for (int d = 0; d < map->rank; d++) text_add(&t, "%s%d", d ? "x" : "", 1 << map->log2[d]);
        for (int in = 0; in < LL_INPUTS; in++) {
            if (map->count[in]) text_add(&t, ", %s", input_names[in]);
            for (int i = 0; i < map->count[in]; i++) add_basis(&t, map, map->basis[in][i]);
        }
    } else {
        const SharedTile *tile = &layout->tile, own = shared_tile_of(type, tile->turned);
        text_add(&t, "shared<%lldx%lld, width=%d", (long long)tile->rows_held, (long long)tile->columns_held,
                 tile->width);
        if (tile->zero_rows != own.rows || tile->zero_columns != own.columns)
            text_add(&t, ", zero=%lldx%lld", (long long)tile->zero_rows, (long long)tile->zero_columns);
        if (tile->turned) text_add(&t, ", turned");
    }
    text_add_char(&t, '>');
    return t.at;
}

typedef struct Reader {
    const char *at, *why;
} Reader;

static bool fails(Reader *r, const char *why) {
    if (!r->why) r->why = why;
    return false;
}

static void skip_blanks(Reader *r) {
    while (*r->at == ' ' || *r->at == '\t') r->at++;
}

static bool take(Reader *r, const char *word) {
    skip_blanks(r);
    size_t length = strlen(word);
    bool whole = length > 1 && isalpha((unsigned char)word[length - 1]);
    if (strncmp(r->at, word, length) != 0 || (whole && isalnum((unsigned char)r->at[length]))) return false;
    r->at += length;
    return true;
}

static bool take_number(Reader *r, int64_t *number) {
    skip_blanks(r);
    if (!isdigit((unsigned char)*r->at)) return fails(r, "a number is expected here");
    for (*number = 0; isdigit((unsigned char)*r->at); r->at++) {
        *number = *number * 10 + (*r->at - '0');
        if (*number > 1 << LL_MAX_BITS) return fails(r, "a number of a layout is at most 2^24");
    }
    return true;
}

static bool take_rows_columns(Reader *r, int64_t *rows, int64_t *columns) {
    return take_number(r, rows) && (take(r, "x") || fails(r, "`ROWSxCOLUMNS` is expected here")) &&
           take_number(r, columns);
}

/* "(" INT {"," INT} ")" | "0" */
static bool read_basis(Reader *r, const LinearLayout *map, uint32_t *basis) {
    *basis = 0;
    if (take(r, "0")) return true;
    if (!take(r, "(")) return fails(r, "a place, `(i,j)`, or 0 is expected here");
    for (int d = 0; d < map->rank; d++) {
        int64_t coord;
        if ((d && !take(r, ",") && !fails(r, "a coordinate for each dimension is expected here")) ||
            !take_number(r, &coord))
            return false;
        if (coord >> map->log2[d]) return fails(r, "the place lies outside of the layout's extents");
        *basis |= (uint32_t)coord << ll_shift(map, d);
    }
    return take(r, ")") || fails(r, "`)` is expected here");
}

static bool read_registers(Reader *r, LinearLayout *map) {
    int64_t extent[MAX_RANK];
    do {
        if (map->rank == MAX_RANK) return fails(r, "a tile has at most 12 dimensions");
        if (!take_number(r, &extent[map->rank])) return false;
        if (extent[map->rank] < 1 || extent[map->rank] & (extent[map->rank] - 1))
            return fails(r, "the extents of a layout are powers of two");
        map->rank++;
    } while (take(r, "x"));
    *map = ll_empty(map->rank, extent);
    if (ll_index_bits(map) > LL_MAX_BITS) return fails(r, "a layout has at most 2^24 elements");
    for (int in = 0; take(r, ",");) {
        while (in < LL_INPUTS && !take(r, input_names[in])) in++;
        if (in == LL_INPUTS) return fails(r, "`reg`, `lane` or `warp`, in this order, is expected here");
        for (skip_blanks(r); *r->at == '(' || *r->at == '0'; skip_blanks(r)) {
            uint32_t basis;
            if (!read_basis(r, map, &basis)) return false;
            if (map->count[in] == LL_MAX_BITS) return fails(r, "a layout has at most 24 bits of a kind");
            ll_push(map, (LayoutInput)in, basis);
        }
        in++;
    }
    return true;
}

static bool read_shared(Reader *r, SharedTile *tile) {
    if (!take_rows_columns(r, &tile->rows_held, &tile->columns_held)) return false;
    int64_t width = 0;
    while (take(r, ",")) {
        if (take(r, "turned"))
            tile->turned = true;
        else if (take(r, "width=")) {
            if (!take_number(r, &width)) return false;
            tile->width = (int)width;
        } else if (take(r, "zero=")) {
            if (!take_rows_columns(r, &tile->zero_rows, &tile->zero_columns)) return false;
        } else
            return fails(r, "`width=`, `zero=` or `turned` is expected here");
    }
    return is_panel(width) || fails(r, width_fault);
}

bool layout_read(const char **at, Layout *layout, const char **why) {
    Reader r = {.at = *at};
    *layout = (Layout){.home = HOME_REGISTERS};
    if (take(&r, "regs<"))
        read_registers(&r, &layout->map);
    else if (take(&r, "shared<")) {
        layout->home = HOME_SHARED;
        read_shared(&r, &layout->tile);
    } else
        fails(&r, "`regs<..>` or `shared<..>` is expected here");
    if (!r.why && !take(&r, ">")) fails(&r, "`>` is expected here");
    *at = r.at;
    *why = r.why;
    return !r.why;
}

int64_t layout_words(const Kernel *k, Ref value) {
    const Type *type = ref_is_value(value) ? ir_type(k, value) : NULL;
    const Layout *layout = type && type->kind == TY_TILE && type->rank ? ir_value(k, value)->layout : NULL;
    if (!layout || layout->home != HOME_REGISTERS) return 0;
    return (layout->registers * (int64_t)ty_elem_bytes(type) + 3) / 4;
}
