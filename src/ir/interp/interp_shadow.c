/* SPDX-License-Identifier: Apache-2.0 */
/* interp_shadow.c: what each program did to each byte.
 *
 * A region has a shadow page for every 4 KB that were touched. A page is cut into units as large as
 * the smallest access to it; a unit knows who wrote it last, whether by an atomic, who read it
 * since, and whether several did. Programs are not ordered among themselves, so two of them at one
 * unit, one of them writing, are a race, unless both do it by atomics, or the later one is ordered
 * behind the earlier: its acquiring atomic met what an atomic of the earlier had left, after its
 * access (the atomics of a program are counted: its epoch). That order is followed through other
 * programs. */
#include "ir/interp/interp_core.h"

enum { PAGE_BITS = 12, PAGE_BYTES = 1 << PAGE_BITS, MOST_SYNCS = 64 };

typedef struct Unit {
    uint32_t writer;                  /* the program, from 1; 0 nobody */
    uint32_t reader;                  /* since then; the latest */
    uint16_t write_epoch, read_epoch; /* atomics that they had done by then */
} Unit;
#define BY_ATOMIC 0x80000000u /* of a writer */
#define BY_MANY   0x80000000u /* of a reader: and others */
#define PROGRAM   0x7FFFFFFFu

typedef struct ShadowPage {
    int shift; /* a unit has 1 << shift bytes */
    Unit *units;
    uint8_t *written; /* a bit a byte; NULL: all were */
} ShadowPage;

/* What a program did by atomics, and whom it is ordered behind. */
typedef struct Sync {
    uint16_t epoch;
    bool all; /* too many to remember */
    int count;
    uint32_t after[MOST_SYNCS];
    uint16_t until[MOST_SYNCS]; /* what they did before this atomic of theirs */
} Sync;

/* --- pages --- */

static Unit *new_units(Interp *in, int shift) {
    interp_limit(in, sizeof(Unit) * PAGE_BYTES >> shift);
    return ARENA_ARRAY(&in->arena, Unit, PAGE_BYTES >> shift);
}

/* The page, with units no larger than the access. */
static ShadowPage *page_of(Interp *in, int region, uint64_t offset, int shift) {
    const InterpRegion *r = &in->launch->regions[region];
    MemoryShadow *shadow = &in->shadows[region];
    if (!shadow->pages) shadow->pages = ARENA_ARRAY(&in->arena, ShadowPage *, (r->size >> PAGE_BITS) + 1);
    ShadowPage **place = &shadow->pages[offset >> PAGE_BITS], *page = *place;
    if (!page) {
        page = *place = ARENA_NEW(&in->arena, ShadowPage);
        page->shift = shift;
        page->units = new_units(in, shift);
        if (!r->written) page->written = arena_alloc(&in->arena, PAGE_BYTES / 8);
    } else if (page->shift > shift) {
        Unit *finer = new_units(in, shift);
        for (int i = 0; i < PAGE_BYTES >> shift; i++) finer[i] = page->units[i >> (page->shift - shift)];
        page->shift = shift;
        page->units = finer;
    }
    return page;
}

/* --- order between programs --- */

static Sync *find_sync(const Interp *in, uint32_t program) {
    MapEntry *entry = in->syncs.count ? map_find_number(&in->syncs, program) : NULL;
    return entry ? entry->value : NULL;
}

static Sync *make_sync(Interp *in, uint32_t program) {
    Sync *sync = find_sync(in, program);
    if (sync) return sync;
    interp_limit(in, sizeof *sync);
    sync = ARENA_NEW(&in->arena, Sync);
    map_put_number(&in->syncs, &in->arena, program, sync);
    return sync;
}

static void order_behind(Sync *later, uint32_t earlier, uint16_t until) {
    for (int i = 0; i < later->count; i++)
        if (later->after[i] == earlier) {
            if (until > later->until[i]) later->until[i] = until;
            return;
        }
    if (later->count == MOST_SYNCS) {
        later->all = true;
        return;
    }
    later->after[later->count] = earlier;
    later->until[later->count++] = until;
}

/* Is what the earlier program did in that epoch ordered before the later program? */
static bool is_ordered(Interp *in, uint32_t later, uint32_t earlier, uint16_t epoch, int *left) {
    const Sync *sync = find_sync(in, later);
    if (!sync) return false;
    if (sync->all || --*left < 0) return true;
    for (int i = 0; i < sync->count; i++)
        if (sync->after[i] == earlier && sync->until[i] > epoch) return true;
    for (int i = sync->count - 1; i >= 0; i--)
        if (sync->after[i] != earlier && is_ordered(in, sync->after[i], earlier, epoch, left)) return true;
    return false;
}

/* --- one access --- */

typedef struct Meeting {
    Process *p;
    Step *s;
    int region;
    uint64_t offset;
    int bytes;
    MemoryUse use;
    const Type *type;
    int64_t element;
} Meeting;

static void race(const Meeting *m, DiagId id, const char *does, uint32_t other, uint16_t epoch, const char *did) {
    Interp *in = m->p->in;
    int left = 1000;
    if (is_ordered(in, m->p->writer & PROGRAM, other, epoch, &left)) return;
    EV_REPORT(m->p, m->s, id, report_process(m->p), does, report_program(in, other), did,
              (long long)(m->offset / (uint64_t)m->bytes), in->launch->regions[m->region].name,
              report_element(in, m->type, m->element));
}

static void visit_unit(const Meeting *m, Unit *unit) {
    uint32_t me = m->p->writer & PROGRAM;
    uint32_t writer = unit->writer & PROGRAM, reader = unit->reader & PROGRAM;
    bool others = writer && writer != me, atomic = (unit->writer & BY_ATOMIC) != 0;
    bool read_by_others = reader && (reader != me || (unit->reader & BY_MANY));
    if (read_by_others && reader == me) reader = 0; /* which others is not remembered */
    bool updates = m->use == MEMORY_UPDATE || m->use == MEMORY_EXCHANGE;
    Sync *sync = updates ? make_sync(m->p->in, me) : find_sync(m->p->in, me);
    uint16_t epoch = sync ? sync->epoch : 0;
    switch (m->use) {
    case MEMORY_POLL: return;
    case MEMORY_READ:
        if (others && atomic)
            race(m, DIAG_ATOMIC_RACE, "reads", writer, unit->write_epoch, "updated by an atomic");
        else if (others)
            race(m, DIAG_READ_RACE, "reads", writer, unit->write_epoch, "wrote");
        unit->reader = me | (unit->reader && reader != me ? BY_MANY : unit->reader & BY_MANY);
        unit->read_epoch = epoch;
        return;
    case MEMORY_WRITE:
        if (others && atomic)
            race(m, DIAG_ATOMIC_RACE, "writes", writer, unit->write_epoch, "updated by an atomic");
        else if (others)
            race(m, DIAG_WRITE_RACE, "writes", writer, unit->write_epoch, "wrote");
        else if (read_by_others && reader)
            race(m, DIAG_READ_RACE, "writes", reader, unit->read_epoch, "read");
        unit->writer = me;
        unit->write_epoch = epoch;
        break;
    case MEMORY_UPDATE:
    case MEMORY_EXCHANGE:
        if (others && atomic && op_word(m->s->op, AT_SEM, SEM_ACQ_REL) != SEM_RELAXED)
            order_behind(sync, writer, unit->write_epoch);
        if (others && !atomic)
            race(m, DIAG_ATOMIC_RACE, "updates by an atomic", writer, unit->write_epoch, "wrote");
        else if (read_by_others && reader)
            race(m, DIAG_ATOMIC_RACE, "updates by an atomic", reader, unit->read_epoch, "read");
        if (sync->epoch < UINT16_MAX) sync->epoch++;
        unit->writer = me | BY_ATOMIC;
        unit->write_epoch = sync->epoch;
        break;
    }
    unit->reader = 0;
}

static void note_bytes(const Meeting *m, ShadowPage *page, uint64_t from, uint64_t to) {
    bool reads = m->use != MEMORY_WRITE && m->use != MEMORY_EXCHANGE;
    bool writes = m->use != MEMORY_READ && m->use != MEMORY_POLL, missing = false;
    for (uint64_t i = from; i < to; i++) {
        uint8_t bit = (uint8_t)(1 << (i % 8));
        missing |= reads && !(page->written[i / 8] & bit);
        if (writes) page->written[i / 8] |= bit;
    }
    if (missing)
        EV_REPORT(m->p, m->s, DIAG_UNWRITTEN_MEMORY, (long long)(m->offset / (uint64_t)m->bytes),
                  m->p->in->launch->regions[m->region].name, report_process(m->p),
                  report_element(m->p->in, m->type, m->element));
}

void shadow_access(Process *p, Step *s, int region, uint64_t offset, int bytes, MemoryUse use, const Type *type,
                   int64_t element) {
    Meeting m = {p, s, region, offset, bytes, use, type, element};
    int shift = 0;
    while (shift < 3 && !((offset | (uint64_t)bytes) >> shift & 1)) shift++;
    for (uint64_t at = offset, end = offset + (uint64_t)bytes; at < end;) {
        ShadowPage *page = page_of(p->in, region, at, shift);
        uint64_t base = at & ~(uint64_t)(PAGE_BYTES - 1);
        uint64_t stop = end < base + PAGE_BYTES ? end : base + PAGE_BYTES;
        if (page->written) note_bytes(&m, page, at - base, stop - base);
        for (uint64_t i = (at - base) >> page->shift; i << page->shift < stop - base; i++)
            visit_unit(&m, &page->units[i]);
        at = stop;
    }
}
