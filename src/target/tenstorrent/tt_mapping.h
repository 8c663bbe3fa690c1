/* tt_mapping.h: which core runs which tasks, and who sends pages to whom; numbers of one launch.
 *
 * Without shared loads, cores take the tasks in order, each a stretch of them. With them (tt_share.c), a rectangle of
 * cores: the last two task indices are cut into as many equal parts as it has rows and columns, and every core runs a
 * block of them, one plane of the other indices after the other. Where the extents have no divisors that use at least
 * half of the cores, cores take tasks in order here too, and each reads for itself. */
#ifndef TARGET_TENSTORRENT_TT_MAPPING_H
#define TARGET_TENSTORRENT_TT_MAPPING_H
#include "target/tenstorrent/tt.h"

/* Runtime arguments of a core: its first task and how many; with shared loads also the columns and rows of its block,
 * the tasks in a row and in a plane (tw_task), and for its row and its column the words of TwShare. */
enum { TT_SEMAPHORES = 4, TT_TASK_WORDS = 6, TT_SHARE_WORDS = 8, TT_CORE_WORDS = TT_TASK_WORDS + 2 * TT_SHARE_WORDS };

typedef struct TtMapping {
    uint32_t count, word_count;
    TensixPoint *cores;
    uint32_t (*words)[TT_CORE_WORDS];
    uint32_t columns, rows; /* of the rectangle; 0: in order */
} TtMapping;

/* extents: of the task indices, plan->task_rank of them, none 0. most: cores at most, 0 for all. */
TtMapping tt_map(const TtPlan *plan, const uint64_t *extents, uint32_t most, Arena *arena);
#endif
