/* SPDX-License-Identifier: Apache-2.0 */
/* test_tensix_faults.c: programs broken on purpose, and what the Tensix model says of each.
 *
 * Every row replaces one or more kernels of a good program (reader, compute, writer on two cores:
 * copies two pages through CB 0, DST and CB 16) and gives a part of the report that it must cause;
 * a row without one must run clean. Rows run under several seeds of the order in which writes
 * land: a clean one is clean under all of them, a mistake of order (ONCE) is found under one. */
#include "check.h"
#include "tensix_harness.h"

#define READ                                                               \
    "cb_reserve_back(0, 1); noc_async_read_page(i, t, get_write_ptr(0)); " \
    "noc_async_read_barrier(); "
#define WRITE                                                              \
    "cb_wait_front(16, 1); noc_async_write_page(i, t, get_read_ptr(16)); " \
    "noc_async_write_barrier(); cb_pop_front(16, 1); "
#define GET "tile_regs_acquire(); cb_wait_front(0, 1); copy_tile(0, 0, 0); cb_pop_front(0, 1); "
#define PUT                                                                            \
    "tile_regs_commit(); tile_regs_wait(); cb_reserve_back(16, 1); pack_tile(0, 16); " \
    "cb_push_back(16, 1); tile_regs_release(); "
#define EACH    "for (uint32_t i = first; i < first + 2; ++i) { "
#define STARTUP "compute_kernel_hw_startup(0, 16); copy_tile_init(0); "
#define WORD    "reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_semaphore(0))"

static const char good_reader[] = EACH READ "cb_push_back(0, 1); }";
static const char good_compute[] = STARTUP EACH GET PUT "}";
static const char good_writer[] = EACH WRITE "}";

/* Core (0,0) sends its first page to core (1,0), and a flag behind it. */
#define SEND(between)                                                                                   \
    "uint32_t i = first; if (first == 0) { " READ "noc_semaphore_wait(" WORD ", 1); "                   \
    "noc_async_write_multicast(get_write_ptr(0), get_noc_multicast_addr(19, 18, 19, 18, "               \
    "get_write_ptr(0)), 2048, 1); " between "noc_semaphore_set(" WORD ", 2); "                          \
    "noc_semaphore_set_multicast(get_semaphore(0), get_noc_multicast_addr(19, 18, 19, 18, "             \
    "get_semaphore(0)), 1); noc_async_write_barrier(); } else { cb_reserve_back(0, 1); "                \
    "noc_semaphore_inc(get_noc_addr(18, 18, get_semaphore(0)), 1); noc_async_atomic_barrier(); "        \
    "noc_semaphore_wait(" WORD ", 2); } cb_push_back(0, 1); i++; " READ "cb_push_back(0, 1);"

typedef struct Row {
    const char *reader, *compute, *writer, *report;
} Row;
#define ONCE "once: "
/* In front of a compute kernel: DST has 16 bits. */
#define NARROW "/* 16 */ "
/* Both cores' writers wait for ever unless the first number of the first page is `bits`. */
#define EXPECT(bits)                                                                           \
    EACH "cb_wait_front(16, 1); if (*reinterpret_cast<volatile tt_l1_ptr uint16_t*>("          \
         "get_read_ptr(16)) != " bits ") noc_semaphore_wait(" WORD ", 9); cb_pop_front(16, 1); }"

static const Row rows[] = {
    {0, 0, 0, 0},
    /* Circular buffers */
    {EACH READ "}", 0, 0,
     "deadlock: no kernel can go on\n"
     "    core (0,0) compute kernel compute: cb_wait_front(0, 1): CB 0 holds 0 of 2 pages (pushed "
     "0, "
     "popped 0)\n"
     "    core (1,0) compute"},
    {EACH READ "cb_push_back(0, 1); }", STARTUP EACH GET PUT "} cb_wait_front(0, 1);", 0,
     "cb_wait_front(0, 1): CB 0 holds 0 of 2 pages (pushed 2, popped 2)"},
    {"cb_reserve_back(0, 3);", 0, 0, "cb_reserve_back(0, 3): overflow, the CB has 2 pages in all"},
    {EACH READ "cb_push_back(0, 2); }", 0, 0, "cb_push_back(0, 2): only 1 reserved"},
    {0,
     STARTUP EACH "tile_regs_acquire(); cb_wait_front(0, 1); copy_tile(0, 0, 0); "
                  "cb_pop_front(0, 2); " PUT "}",
     0, "cb_pop_front(0, 2): only 1 waited for"},
    {"uint32_t i = first; " READ "cb_push_back(0, 1); cb_reserve_back(0, 2); cb_push_back(0, 2);",
     STARTUP GET PUT "cb_wait_front(0, 2);", 0, "from page 1 this runs over the end of 2 pages"},
    {0, STARTUP "cb_wait_front(0, 1); tile_regs_acquire(); copy_tile(0, 1, 0);", 0,
     "copy_tile: tile 1 of CB 0 is outside the window (waited for: 1)"},
    {EACH "cb_reserve_back(0, 1); cb_push_back(0, 1); }", 0, 0,
     "copy_tile: tile 0 of CB 0 was pushed but not (wholly) written"},
    {0, STARTUP GET "tile_regs_commit(); tile_regs_wait(); pack_tile(0, 16);", 0,
     "pack_tile: page 0 of CB 16 is outside the window (reserved: 0)"},
    {0, STARTUP GET PUT, "uint32_t i = first; " WRITE,
     "core (0,0) kernel compute: CB 0 ends with pages that nobody popped: 1"},
    {EACH READ "cb_push_back(0, 1); } cb_reserve_back(0, 1);", 0, 0,
     "CB 0 ends with pages reserved and not pushed: 1"},
    {0, 0, "cb_reserve_back(0, 1);", "cb_reserve_back: CB 0 already has a producer, kernel reader"},
    {"cb_reserve_back(7, 1);", 0, 0, "cb_reserve_back: the program has no CB 7"},
    /* NoC */
    {EACH
     "cb_reserve_back(0, 1); noc_async_read_page(i, t, get_write_ptr(0)); cb_push_back(0, 1); }",
     0, 0, "a NoC read into these pages has not been waited for; call noc_async_read_barrier"},
    {0, 0,
     EACH "cb_wait_front(16, 1); noc_async_write_page(i, t, get_read_ptr(16)); "
          "cb_pop_front(16, 1); }",
     "cb_pop_front: a NoC write from these pages may not have left"},
    {"cb_reserve_back(0, 1); noc_async_read(t.get_noc_addr(0, 16), get_write_ptr(0), 64);", 0, 0,
     "must agree modulo 32"},
    {"cb_reserve_back(0, 1); noc_async_read(t.get_noc_addr(0, 64), get_write_ptr(0), 2048);", 0, 0,
     "2048 bytes at byte 64 of page 0 of buffer in run over the page's end"},
    {"cb_reserve_back(0, 1); noc_async_read_page(4, t, get_write_ptr(0));", 0, 0,
     "page 4 of buffer in, which has 4 pages"},
    {"noc_async_read_page(0, t, get_write_ptr(0));", 0, 0,
     "kernel reader has used pages of CB 0 without cb_reserve_back or cb_wait_front"},
    {"noc_async_read_page(0, t, 0x7f000000);", 0, 0, "are outside L1"},
    {EACH READ "cb_push_back(0, 1); } cb_reserve_back(0, 1); "
               "noc_async_read_page(0, t, get_write_ptr(0));",
     0, 0, "ends with NoC reads under way (1); end with a barrier"},
    {"cb_reserve_back(0, 1); noc_async_write(get_write_ptr(0), get_noc_addr(19, 18, "
     "get_write_ptr(0)), "
     "2048); noc_async_write_barrier();",
     0, 0, "sends memory that nobody wrote"},
    {"uint32_t i = 0; " READ
     "noc_async_write(get_write_ptr(0), get_noc_addr(25, 18, get_write_ptr(0)), "
     "2048);",
     0, 0, "no core of the program at NoC coordinate (25,18)"},
    {"uint32_t i = 0; " READ
     "noc_async_write_multicast(get_write_ptr(0), get_noc_multicast_addr(18, 18, "
     "19, 18, get_write_ptr(0)), 2048, 2); noc_async_write_barrier();",
     0, 0, "multicast says 2 receivers; its rectangle has 1"},
    {"uint32_t i = 0; " READ
     "noc_async_write_multicast(get_write_ptr(0), get_noc_multicast_addr(19, 18, "
     "18, 18, get_write_ptr(0)), 2048, 1); noc_async_write_barrier();",
     0, 0, "corners the wrong way round for NoC 0"},
    /* Semaphores */
    {EACH READ "cb_push_back(0, 1); } noc_semaphore_wait(" WORD ", 3);", 0, 0,
     "noc_semaphore_wait(semaphore 0, 3): its value is 0"},
    {EACH READ
     "cb_push_back(0, 1); } noc_semaphore_inc(get_noc_addr(18, 18, get_semaphore(0)), 1);",
     0, 0, "ends with semaphore increments under way"},
    {"get_semaphore(5);", 0, 0, "get_semaphore(5): the program has 1 semaphores"},
    {"get_arg_val<uint32_t>(9);", 0, 0, "get_arg_val(9): the kernel was given 2 arguments"},
    /* DST */
    {0, STARTUP EACH "cb_wait_front(0, 1); copy_tile(0, 0, 0); }", 0,
     "copy_tile: DST is not acquired (tile_regs_acquire)"},
    {0, STARTUP EACH GET "cb_reserve_back(16, 1); pack_tile(0, 16); }", 0,
     "pack_tile: the packer does not have DST (tile_regs_commit and tile_regs_wait come first)"},
    {0, STARTUP EACH GET "tile_regs_commit(); cb_reserve_back(16, 1); pack_tile(0, 16); }", 0,
     "(tile_regs_wait is missing)"},
    {0, STARTUP "tile_regs_wait();", 0, "tile_regs_wait: would wait for ever"},
    {0, STARTUP EACH GET "tile_regs_commit(); } tile_regs_acquire();", 0,
     "tile_regs_acquire: would wait for ever, all of DST is committed"},
    {0, STARTUP EACH GET "}", 0, "tile_regs_acquire: DST is already acquired"},
    {0, STARTUP "tile_regs_release();", 0, "tile_regs_release without tile_regs_wait"},
    {0, STARTUP "cb_wait_front(0, 1); tile_regs_acquire(); copy_tile(0, 0, 4);", 0,
     "copy_tile: DST slot 4; there are 4 (32-bit, half-sync)"},
    {0,
     STARTUP "tile_regs_acquire(); tile_regs_commit(); tile_regs_wait(); cb_reserve_back(16, 1); "
             "pack_tile(0, 16);",
     0, "pack_tile: nobody wrote DST slot 0"},
    {0, STARTUP "tile_regs_acquire(); exp_tile_init(); exp_tile(1);", 0,
     "exp_tile: nobody wrote DST slot 1 since tile_regs_acquire; the SFPU would read"},
    {0, STARTUP EACH GET PUT "} tile_regs_acquire();", 0, "ends without releasing DST"},
    /* Inits and formats */
    {0, STARTUP EACH GET "exp_tile_init(); exp_tile(0); " PUT "}", 0,
     "copy_tile: its init must be the last one before it; the last was exp_tile_init"},
    {0, "compute_kernel_hw_startup(0, 16); " EACH GET PUT "}", 0, "the last was none at all"},
    {0, "copy_tile_init(0); " EACH GET PUT "}", 0, "compute_kernel_hw_startup must come first"},
    {0, "compute_kernel_hw_startup(2, 16); copy_tile_init(0); " EACH GET PUT "}", 0,
     "CB 0 has another data format than CB 2, for which SrcA is set; call "
     "reconfig_data_format_srca"},
    {0, "compute_kernel_hw_startup(0, 2); copy_tile_init(0); " EACH GET PUT "}", 0,
     "for which the packer is set; call pack_reconfig_data_format"},
    {0, STARTUP EACH GET "exp_tile_init(); exp_tile(0); copy_tile_init(0); " PUT "}", 0, 0},
    {0,
     "compute_kernel_hw_startup(2, 2); reconfig_data_format(0, 0); pack_reconfig_data_format(16); "
     "copy_tile_init(0); " EACH GET PUT "}",
     0, 0},
    /* A flag behind its data, without a barrier: lands when everybody waits. */
    {EACH READ
     "cb_push_back(0, 1); } if (first == 0) { noc_semaphore_set(" WORD ", 7); "
     "noc_semaphore_set_multicast(get_semaphore(0), get_noc_multicast_addr(19, 18, 19, 18, "
     "get_semaphore(0)), 1); noc_semaphore_wait(" WORD ", 8); noc_async_write_barrier(); } "
     "else { noc_semaphore_wait(" WORD ", 7); "
     "noc_semaphore_inc(get_noc_addr(18, 18, get_semaphore(0)), 1); "
     "noc_async_atomic_barrier(); }",
     0, 0, 0},
    /* A page and its flag: in order by a flush only. */
    {SEND("noc_async_writes_flushed(); "), 0, 0, 0},
    {SEND(""), 0, 0, ONCE "tile 0 of CB 0 was pushed but not (wholly) written"},
    {0, 0,
     EACH "cb_wait_front(16, 1); noc_async_write_page(i, t, get_read_ptr(16)); "
          "noc_async_writes_flushed(); cb_pop_front(16, 1); }",
     "ends with NoC writes under way (2); end with a barrier"},
    /* Inits with arguments */
    {0, "compute_kernel_hw_startup(0, 16); copy_tile_init(16); " EACH GET PUT "}", 0,
     "copy_tile: CB 0; its init, copy_tile_init, was for CB 16"},
    {0,
     "compute_kernel_hw_startup<SrcOrder::Reverse>(0, 0, 16); matmul_block_init(0, 0, 0, 2, 1, 1); "
     "tile_regs_acquire(); cb_wait_front(0, 1); matmul_block(0, 0, 0, 0, 0, 0, 1, 1, 1);",
     0,
     "matmul_block: a block of 1 columns, 1 rows, 1 inner; its init, matmul_block_init, was for 2, "
     "1, 1"},
    {0,
     "compute_kernel_hw_startup<SrcOrder::Reverse>(0, 0, 16); matmul_block_init(0, 0, 0, 1, 1, 1); "
     "tile_regs_acquire(); cb_wait_front(0, 1); matmul_block(0, 0, 0, 0, 0, 1, 1, 1, 1);",
     0, "matmul_block: transpose is 1; its init, matmul_block_init, said 0"},
    /* What is unpacked to DST comes through SrcA, set up for that. */
    {0,
     "compute_kernel_hw_startup(0, 16); reconfig_data_format_srcb(4); "
     "unary_bcast_init<BroadcastType::COL>(4); cb_reserve_back(4, 1); cb_push_back(4, 1); "
     "cb_wait_front(4, 1); tile_regs_acquire(); unary_bcast<BroadcastType::COL>(4, 0, 0);",
     0,
     "unary_bcast: CB 4 has another data format than CB 0, for which SrcA is set; call "
     "reconfig_data_format_srca"},
    {0,
     "compute_kernel_hw_startup(2, 16); copy_tile_init(4); cb_reserve_back(4, 1); "
     "cb_push_back(4, 1); cb_wait_front(4, 1); tile_regs_acquire(); copy_tile(4, 0, 0);",
     0, "copy_tile: CB 4 is unpacked to DST, unlike CB 2, for which SrcA is set"},
    /* Numbers: a NaN is clamped to the upper bound; a 16-bit DST holds integers of 16 bits. */
    {0,
     STARTUP EACH GET "clamp_tile_init(); fill_tile_init(); fill_tile_bitcast(0, 0x7fc00000); "
                      "clamp_tile_init(); clamp_tile(0, 0xbf800000, 0x40000000); copy_tile_init(0); " PUT "}",
     EXPECT("0x4000"), 0},
    {0,
     NARROW STARTUP EACH GET
         "fill_tile_init(); fill_tile(0, 7.5f); typecast_tile_init<5, 9>(); typecast_tile<5, 9>(0); "
         "typecast_tile_init<9, 5>(); typecast_tile<9, 5>(0); copy_tile_init(0); " PUT "}",
     EXPECT("0x4100"), 0},
    {0,
     NARROW STARTUP EACH GET "typecast_tile_init<5, 8>(); typecast_tile<5, 8>(0); copy_tile_init(0); " PUT "}",
     0, "typecast_tile: integers of 32 bits need a 32-bit DST"},
    /* A CB that is nobody's ring is memory. */
    {"noc_async_read_page(first, t, get_write_ptr(6)); noc_async_read_barrier(); " EACH READ
     "cb_push_back(0, 1); }",
     0, 0, 0},
    {"noc_async_read_page(first, t, get_write_ptr(6)); noc_async_read_barrier(); "
     "cb_reserve_back(6, 1);",
     0, 0, "kernel reader has used pages of CB 6 without cb_reserve_back"},
    /* A page written through a raw pointer is written. */
    {"for (uint32_t i = 0; i < 2; ++i) { cb_reserve_back(0, 1); auto p = "
     "reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_write_ptr(0)); "
     "for (int k = 0; k < 512; ++k) p[k] = 0x3f803f80; cb_push_back(0, 1); }",
     0, 0, 0},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static int add_kernel(KernelSet *set, int row, const char *kind, const char *body) {
    char path[120], text[1600];
    bool compute = kind[0] == 'c';
    if (!body) row = 0;
    if (!body) body = compute ? good_compute : kind[0] == 'r' ? good_reader : good_writer;
    snprintf(path, sizeof path, "%s/%s%d.cc", set->folder, kind, row);
    int size = snprintf(text, sizeof text,
                        "%s\nvoid kernel_main() {\n    %s\n    (void)first;\n%s    %s\n}\n",
                        compute ? "#include \"api/compute/common.h\"\n"
                                  "#include \"api/compute/compute_kernel_hw_startup.h\"\n"
                                  "#include \"api/compute/eltwise_unary/exp.h\"\n"
                                  "#include \"api/compute/reconfig_data_format.h\"\n"
                                  "#include \"api/compute/matmul.h\"\n"
                                  "#include \"api/compute/bcast.h\"\n"
                                  "#include \"api/compute/eltwise_unary/clamp.h\"\n"
                                  "#include \"api/compute/eltwise_unary/fill.h\"\n"
                                  "#include \"api/compute/eltwise_unary/typecast.h\"\n"
                                  "#include \"api/compute/tile_move_copy.h\""
                                : "#include \"api/dataflow/dataflow_api.h\"",
                        "const uint32_t first = get_arg_val<uint32_t>(0);",
                        compute ? ""
                                : "    const auto t = TensorAccessor(TensorAccessorArgs<0>(), "
                                  "get_arg_val<uint32_t>(1));\n    (void)t;\n",
                        body);
    CHECK((size_t)size < sizeof text && write_text(path, text, (size_t)size));
    return kernels_add(set, path, compute ? "" : "2, 2048");
}

enum { PAGES = 4, PAGE = 2048 };
static uint8_t in_pages[PAGES * PAGE], out_pages[PAGES * PAGE];

static bool run_row(const KernelSet *set, const int numbers[3], bool narrow, Allocator allocator,
                    uint64_t seed, TensixReport *report) {
    static const TensixPoint cores[] = {{0, 0}, {1, 0}};
    static const TensixCb cbs[] = {{0, TT_Float16_b, PAGE, 2, false},
                                   {2, TT_Float32, 4096, 1, false},
                                   {4, TT_Float32, 4096, 1, true},
                                   {6, TT_Float16_b, PAGE, 1, false},
                                   {16, TT_Float16_b, PAGE, 2, false}};
    static const uint32_t semaphore = 0;
    const char *const names[] = {"reader", "compute", "writer"};
    const TensixProcessor processors[] = {TENSIX_READER, TENSIX_COMPUTE, TENSIX_WRITER};
    TensixBuffer buffers[2] = {{"in", 1 << 20, PAGE, PAGES, in_pages, false, NULL},
                               {"out", 2 << 20, PAGE, PAGES, out_pages, false, NULL}};
    uint32_t args[2][2][2] = {{{0, 1 << 20}, {2, 1 << 20}}, {{0, 2 << 20}, {2, 2 << 20}}};
    TensixPlacement placements[3][2];
    TensixKernel kernels[3];
    for (int k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < 2; i++)
            placements[k][i] = (TensixPlacement){i, args[k == 2][i], 2};
        kernels[k] = (TensixKernel){.name = names[k],
                                    .processor = processors[k],
                                    .entry = kernels_entry(set, numbers[k]),
                                    .placements = placements[k],
                                    .placement_count = 2};
    }
    TensixProgram program = {.arch = TENSIX_WORMHOLE,
                             .dst_fp32 = !narrow,
                             .fidelity = 4,
                             .cores = cores,
                             .core_count = 2,
                             .cbs = cbs,
                             .cb_count = 5,
                             .semaphores = &semaphore,
                             .semaphore_count = 1,
                             .buffers = buffers,
                             .buffer_count = 2,
                             .kernels = kernels,
                             .kernel_count = 3,
                             .seed = seed};
    return tensix_run(&program, allocator, report);
}

static void *limited(void *user, void *block, size_t old_size, size_t new_size) {
    int *left = user;
    if (new_size && (*left)-- <= 0) return NULL;
    return allocator_malloc.resize(NULL, block, old_size, new_size);
}

static void test_out_of_memory(const KernelSet *set, const int numbers[3], TensixReport *report) {
    for (int allowed = 0;; allowed++) {
        int left = allowed;
        bool good = run_row(set, numbers, false, (Allocator){limited, &left}, 0, report);
        CHECK(good == !report->out_of_memory);
        if (good) break;
        CHECK(strstr(report->text, "out of memory"));
    }
}

static void test_descriptions(TensixReport *report) {
    TensixPoint core = {0, 0};
    TensixCb big[] = {{0, TT_Float32, 4096, 300, false}, {1, TT_Float32, 4096, 100, false}};
    TensixProgram p = {.fidelity = 4, .cores = &core, .core_count = 1, .cbs = big, .cb_count = 2};
    CHECK(!tensix_run(&p, allocator_malloc, report));
    CHECK(strstr(report->text, "need 1638400 bytes of L1, 1392640 are free on a wormhole core:\n"
                               "    CB  0: 300 pages of 4096 bytes = 1228800\n"));
    TensixCb twice[] = {{3, TT_Float32, 4096, 1, false}, {3, TT_Float32, 4096, 1, false}};
    p.cbs = twice;
    CHECK(!tensix_run(&p, allocator_malloc, report) && strstr(report->text, "described twice"));
    TensixCb half[] = {{3, TT_Float32, 4096, 100, false}}; /* ends at 104 KiB + 409600 */
    TensixBuffer low = {"low", 512 << 10, 4096, 64, NULL, true, NULL}, high = {"high", 1463 << 10, 4096, 65, NULL, true, NULL};
    static const TensixPlace nowhere[] = {{0, 1000 << 10}, {7, 1000 << 10}}, behind[] = {{0, 1000 << 10}, {0, 1461 << 10}};
    TensixBuffer shards = {"shards", 1000 << 10, 4096, 2, NULL, true, nowhere};
    p.cbs = half, p.cb_count = 1, p.buffers = &shards, p.buffer_count = 1;
    CHECK(!tensix_run(&p, allocator_malloc, report) && strstr(report->text, "buffer shards: page 1 lies on core 7 of 1"));
    shards.places = behind;
    CHECK(!tensix_run(&p, allocator_malloc, report) && strstr(report->text, "page 1 lies on core 0 of 1 from byte 0x16d400"));
    p.buffers = &low;
    CHECK(tensix_run(&p, allocator_malloc, report));
    low.address = 500 << 10;
    CHECK(!tensix_run(&p, allocator_malloc, report));
    CHECK(strstr(report->text, "buffer low takes bytes 0x7d000 to 0x7e000 of L1, circular buffers end at 0x7e000"));
    p.buffers = &high;
    CHECK(!tensix_run(&p, allocator_malloc, report) && strstr(report->text, "buffer high takes bytes"));
    p.buffer_count = 0, p.cb_count = 2;
    TensixCb odd[] = {{33, TT_Float32, 4096, 1, false}, {3, TT_Float32, 4100, 1, false}};
    p.cbs = odd;
    CHECK(!tensix_run(&p, allocator_malloc, report) && strstr(report->text, "no such id") &&
          strstr(report->text, "page sizes are multiples of 16"));
    p.arch = TENSIX_BLACKHOLE;
    CHECK(!tensix_run(&p, allocator_malloc, report) && !strstr(report->text, "no such id"));
    p.cb_count = 0;
    CHECK(tensix_run(&p, allocator_malloc, report) && !report->text[0]);
    p.fidelity = 0;
    CHECK(!tensix_run(&p, allocator_malloc, report) && strstr(report->text, "fidelity 0"));
}

int main(void) {
    const char *compiler = cxx_compiler();
    static TensixReport report;
    test_descriptions(&report);
    if (!compiler) {
        printf("skipped: no C++ compiler\n");
        return check_done();
    }
    static KernelSet set;
    static int numbers[ROWS][3];
    CHECK(kernels_start(&set));
    for (int i = 0; i < ROWS; i++) {
        numbers[i][0] = add_kernel(&set, i, "reader", rows[i].reader);
        numbers[i][1] = add_kernel(&set, i, "compute", rows[i].compute);
        numbers[i][2] = add_kernel(&set, i, "writer", rows[i].writer);
    }
    bool built = kernels_build(&set, compiler);
    CHECK(built);
    for (int i = 0; i < PAGES * PAGE; i++) in_pages[i] = (uint8_t)(i / PAGE + (i % 2 ? 63 : 0));
    for (int i = 0; built && i < ROWS; i++) {
        const char *wanted = rows[i].report;
        bool once = wanted && strncmp(wanted, ONCE, sizeof ONCE - 1) == 0, expected = !once;
        if (once) wanted += sizeof ONCE - 1;
        bool narrow = rows[i].compute && strncmp(rows[i].compute, NARROW, sizeof NARROW - 1) == 0;
        for (uint64_t seed = 0; seed < 12 && expected != once; seed++) {
            bool good = run_row(&set, numbers[i], narrow, allocator_malloc, seed, &report);
            expected = wanted ? !good && strstr(report.text, wanted) : good && !report.text[0];
        }
        if (!expected)
            fprintf(stderr, "row %d:\n%s--- wanted\n%s\n", i, report.text,
                    rows[i].report ? rows[i].report : "(nothing)");
        CHECK(expected);
    }
    if (built) {
        test_out_of_memory(&set, numbers[0], &report);
        CHECK(memcmp(in_pages, out_pages, sizeof in_pages) == 0);
    }
    kernels_end(&set);
    return check_done();
}
