/* tt_annotations.c: what the source's annotations ask of the target (the kernel's attributes tt_policy, tt_order, ..).
 * What is not acted on is refused by its name: an annotation is never dropped. */
#include "target/tenstorrent/tt_emit.h"

#include <string.h>

static const Attr *asked(const Kernel *k, AttrId id) {
    for (int i = 0; i < k->attr_count; i++)
        if (k->attrs[i].id == id) return &k->attrs[i];
    return NULL;
}

static void check_word(Tt *tt, AttrId id, Word taken, const char *name) {
    const Attr *attr = asked(tt->k, id);
    if (attr && attr->word != taken)
        tt_refuse(tt, NULL, "the annotation %s=\"%s\"; there is \"%s\"", name, word_info[attr->word].text,
                  word_info[taken].text);
}

/* The words of `tt_sharding`: a tensor's name, then key=value, until the `;`. */
static void check_sharding(Tt *tt, const char *text) {
    static const char *const taken[] = {"layout=row_major", "layout=interleaved", "memory=dram"};
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, " ;");
        bool word = memchr(at, '=', n) != NULL, found = !word;
        for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
            found |= strlen(taken[i]) == n && strncmp(taken[i], at, n) == 0;
        if (!found)
            tt_refuse(tt, NULL,
                      "the annotation \"%.*s\" of a tensor; tensors lie interleaved in DRAM, tile after tile by rows",
                      (int)n, at);
        at += n;
        at += strspn(at, " ;");
    }
}

void tt_check_annotations(Tt *tt) {
    static const struct {
        AttrId id;
        const char *name;
    } absent[] = {{AT_TT_BLOCK, "block"}, {AT_TT_RECT, "rect"}, {AT_TT_STRIDE, "stride"}, {AT_TT_CORES, "core_grid"}};
    check_word(tt, AT_TT_POLICY, POLICY_CONTIGUOUS, "policy");
    check_word(tt, AT_TT_ORDER, WALK_ROW_MAJOR, "order");
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        if (asked(tt->k, absent[i].id))
            tt_refuse(tt, NULL, "the annotation %s=..; tasks are dealt out in runs", absent[i].name);
    const Attr *sharding = asked(tt->k, AT_TT_SHARDING);
    if (sharding) check_sharding(tt, sharding->text);
}
