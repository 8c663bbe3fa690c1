/* SPDX-License-Identifier: Apache-2.0 */
/* test_schedule_text.c: schedules that come as text. The golden kernels of tests/pass/schedule_*.ir, edited: what would give
 * wrong results is refused with its rule, other plans are taken, and nothing traps. */
#include "check.h"
#include "pass/pass.h"
#include "target/cuda/cuda.h"

typedef struct Edit {
    const char *file, *from, *to; /* the first `from` behind `after` becomes `to` */
    const char *after;            /* NULL: the beginning */
    const char *says;             /* part of the message; NULL: it is a plan like others */
} Edit;

static const Edit edits[] = {
    {"late", "", "", NULL, NULL},
    {"turned", "", "", NULL, NULL},
    {"skew", "", "", NULL, NULL},
    {"loose", "", "", NULL, NULL},
    {"copies", "", "", NULL, NULL},
    {"pieces", "", "", NULL, NULL},
    {"crowd", "", "", NULL, NULL},
    {"forms", "", "", NULL, NULL},
    {"solo", "", "", NULL, NULL},
    /* maps that the kernel makes: of one load, with a promise to test, a number and shared memory of their own */
    {"made", "", "", NULL, NULL},
    {"made", "map=0", "map=1", NULL, "each by its own number"},
    {"made", ", map=0", "", NULL, "each by its own number"},
    {"made", " at=107520, bytes=128,", "", NULL, "it needs shared memory"},
    {"made", "at=107520", "at=0", NULL, "in use by another op"},
    {"made", "made, at=107520, bytes=128, map=0", "natural=[]", NULL, "TMA cannot bring this"},
    {"made", "tensor %starts", "tensor<map=0> %starts", NULL, "`map` numbers those"},
    {"made", "by=tma, align=16", "by=tma", NULL, "TMA cannot bring this"},
    /* warpgroups that store their own rows: what lies beside them in memory must never be another's */
    {"solo", ", solo=10", ", solo=9", NULL, "`solo`: warpgroups store rows"},
    {"solo", "require<least=0> %4", "require<least=-1> %4", NULL, "`solo`: warpgroups store rows"},
    {"solo", "sub %3, %1", "sub %1, %3", NULL, "`solo`: warpgroups store rows"},
    {"solo", "%r = mul %26, 128", "%r = mul %26, 64", "role compute", "`solo`: warpgroups store rows"},
    {"solo", "id=1, warps=8", "id=11, warps=8", NULL, "a barrier of its own"},
    {"solo", "%C, [%r, 64]", "%C, [%r, 56]", NULL, "may not have reached the memory"},
    {"skew", "put<apart> %s.a", "put<apart, late> %s.a", NULL, "`late`: what a load of a loop"},
    {"late", ", leaves>", ", leaves, solo=10>", NULL, "`solo`: warpgroups store rows"},
    {"join", "", "", NULL, NULL},
    /* views of buffers: what threads wrote is shown where they say so, and the memory is the buffer's until the product */
    {"view", "", "", NULL, NULL},
    {"view", "bar_arrive<proxy=shared> %full", "bar_arrive %full", NULL, "its first barrier shows it"},
    {"view", "bar_arrive %empty", "bar_arrive<proxy=shared> %empty", NULL, "stand where something is to be shown"},
    {"view", "at=18432", "at=2048", NULL, "in use by another op"},
    {"view", "bstore<vector=8, sync=before, proxy=shared>", "bstore<vector=8>", NULL, "a barrier stands before that"},
    {"view", "bload %a", "bload<sync=before> %a", NULL, "`sync` stands on ops"},
    /* a product runs on until the next one is issued: nobody reads its sum before, its slots are held */
    {"join", "joins, width=64, fresh> %k", "width=64, fresh> %k", NULL, NULL},
    {"join", "joins, width=64> %ph", "width=64> %ph", NULL, NULL},
    {"join", "sub %s_2, %lr", "sub %dp, %lr", NULL, "nobody reads its sum before"},
    {"join", "width=64> %dh", "joins, width=64> %dh", NULL, "nobody reads its sum before"},
    {"continue", "joins, width=64, fresh> %ah, %r", "width=64, fresh> %ah, %r", NULL, NULL},
    {"continue", "width=64> %bh", "joins, width=64> %bh", NULL, "a product `joins` the next one"},
    {"join", "%ds#r0 = mul %p, %dp", "%ds#r0 = mul %p, %b1", NULL, "nobody reads its sum before"},
    {"join", "release<behind=1> %in_1, %s_1\n        yield", "yield", NULL, "release"},
    /* the last of several products stays in flight with the release of its slot behind it; it may as well be waited for */
    {"cross", "", "", NULL, NULL},
    {"cross", "flight, width=64> %dh", "width=64> %dh", NULL, "a product stays in flight"},
    {"cross", "release<behind=1> %in_1", "release %in_1", NULL, "a product stays in flight"},
    {"cross", "hold=2, ", "", NULL, "a product stays in flight"},
    {"cross", "flight, width=64> %dh, %k, %a", "flight, settles, width=64> %dh, %k, %a", NULL, "settles"},
    {"cross", "width=64, fresh> %d, %vt", "flight, width=64, fresh> %d, %vt", NULL, "a product stays in flight"},
    /* a loop that trails: its heads side by side, its tails last, with the releases of slots that are held twice */
    {"trail", "", "", NULL, NULL},
    {"trail", "unroll=1, trails", "unroll=1", "role compute", "a product stays in flight"},
    {"trail", "behind=1, width=64> %ph", "width=64> %ph", NULL, "a loop `trails`"},
    {"trail", "width=32, fresh> %v", "behind=1, width=32, fresh> %v", NULL, "a loop `trails`"},
    {"trail", "width=32, fresh> %v", "flight, width=32, fresh> %v", NULL, "a loop `trails`"},
    {"trail", "width=32, fresh> %k", "joins, width=32, fresh> %k", NULL, "nobody reads its sum before"},
    {"trail", "release<behind=1> %in_2", "release %in_2", NULL, "a loop `trails`"},
    {"trail", "hold=2, ", "", NULL, "a loop `trails`"},
    {"trail", "dot<instr=wgmma, grid=[1,1], width=32, fresh> %v, %dt, %zs\n        %x#r1 = sub %s_3, %lr\n",
     "sub %s_3, %lr\n        %x#r1 = dot<instr=wgmma, grid=[1,1], width=32, fresh> %v, %dt, %zs\n", NULL, "a loop `trails`"},
    {"trail", "mul %p, %dp", "mul %p, %b1", NULL, ""},
    {"trail", "for %i", "for<trails> %i", "role load", "a loop `trails`"},
    /* a loop that leads: some or all of its heads a trip early with all of its waits, tails in flight, releases a trip late */
    {"lead", "", "", NULL, NULL},
    {"lead", "ahead=1, width=32, fresh> %v", "width=32, fresh> %v", NULL, NULL},
    {"lead", "ahead=1, width=32, fresh> %k", "width=32, fresh> %k", NULL, "a loop `leads`"},
    {"lead", "leads=8", "leads=7", NULL, NULL},
    {"lead", "leads=8", "leads=0", NULL, NULL},
    {"lead", "leads=8", "leads=9", NULL, NULL},
    {"lead", "leads=8", "leads=11", NULL, "a loop `leads`"},
    {"lead", "leads=8", "leads=1000000", NULL, "a loop `leads`"},
    {"lead", "leads=8", "leads=8, trails", NULL, "turned in one way"},
    {"lead", "leads=8", "rotate, leads=8", NULL, "no loop of two products in a row"},
    {"lead", "unroll=1, leads=8", "unroll=1", "role compute", "a product stays in flight"},
    {"lead", "%x#r1 = sub %s_3, %lr", "%x#r1 = sub %lr, %s_3", NULL, NULL},
    {"lead", "%x#r1 = sub %s_3, %lr", "%x#r1 = exp2 %s_3", NULL, "a loop `leads`"},
    {"lead", "wait<ahead=1> %in_1", "wait %in_1", NULL, "a loop `leads`"},
    {"lead", "slots=4, hold=3, at=32768", "slots=4, hold=2, at=32768", NULL, "a loop `leads`"},
    {"lead", "flight, width=64> %ph", "width=64> %ph", NULL, "a loop `leads`"},
    {"lead", "flight, width=64> %dh", "ahead=1, flight, width=64> %dh", NULL, "a loop `leads`"},
    {"lead", "ahead=1, width=32, fresh> %v", "ahead=1, flight, width=32, fresh> %v", NULL, "a loop `leads`"},
    {"lead", "ahead=1, width=32, fresh> %v", "ahead=1, width=32> %v", NULL, "a loop `leads`"},
    {"lead", "release<behind=1> %in_2", "release %in_2", NULL, "a loop `leads`"},
    {"lead", "mul %p, %dp", "mul %p, %b1", NULL, ""},
    {"lead", "for %i", "for<leads=0> %i", "role load", "a loop `leads`"},
    {"lead", "wait %in\n", "wait<ahead=1> %in\n", NULL, "in loops that lead"},
    /* a turned loop that leads: its first product a trip early, behind all that reads its sum */
    {"early", "", "", NULL, NULL},
    {"early", "rotate, leads=7", "rotate, leads=6", NULL, "a turned loop `leads`"},
    {"early", "rotate, leads=7", "rotate, leads=1000000", NULL, "a turned loop `leads`"},
    {"early", "rotate, leads=7", "rotate", NULL, "in the order head, scale, tail"},
    {"early", "rotate, leads=7", "leads=7", NULL, "a loop `leads`"},
    {"early", "rotate, leads=7", "rotate, leads=7, trails", NULL, "turned in one way"},
    {"early", "ahead=1, width", "width", NULL, "a turned loop `leads`"},
    {"early", "%d#r0 = sub %s_2, %mc", "%d#r0 = sub %sf, %mc", NULL, "a turned loop `leads`"},
    {"early", "        %n = mul %j, 64\n", "", NULL, ""},
    /* stores under a product: it is waited for behind them, and who writes what it reads comes later */
    {"span", "", "", NULL, NULL},
    {"span", "spans, width=64, fresh", "width=64, fresh", NULL, NULL},
    {"span", "spans, width=64, sync", "width=64, sync", NULL, NULL},
    {"span", "tstore<along=1, vector=8, whole> %H, [%t, %at], %h16_2\n", "", NULL, "a product `spans` the stores"},
    {"span", "put<vector=2, sync=before> %o.n16", "put<vector=2> %o.n16", NULL, "may still read"},
    {"join", "joins, width=64, fresh> %k", "spans, width=64, fresh> %k", NULL, "a product `spans` the stores"},
    /* a product in flight and the release of its slot belong together */
    {"crowd", "<order=row, grid=[1,0]>", "<order=row, persist>", NULL, "in use by another op"},
    /* tasks that are the blocks of the launch */
    {"crowd", ", grid=[1,0]", "", NULL, NULL},
    {"crowd", "grid=[1,0]", "grid=[0,1]", NULL, "`grid` names the axes"},
    {"crowd", "grid=[1,0]", "grid=[1,1]", NULL, "`grid` names the axes"},
    {"crowd", "grid=[1,0]", "grid=[1]", NULL, "`grid` names the axes"},
    {"crowd", "<order=row, grid=[1,0]>", "<order=row, persist, grid=[1,0]>", NULL, "`grid` names the axes"},
    {"late", ", persist", ", persist, grid=[0,1]", NULL, "`grid` names the axes"},
    /* axes of the grid that the launch changes: of kernels that read their program ids so */
    {"sweep", "", "", NULL, NULL},
    {"sweep", ", sweep=1", "", NULL, NULL},
    {"sweep", "sweep=1", "sweep=2", NULL, NULL},
    {"sweep", "sweep=1", "sweep=3", NULL, "sweep"},
    {"late", "form=schedule", "form=schedule, sweep=1", NULL, "`sweep` is of kernels whose blocks run one program each"},
    {"crowd", "form=schedule", "form=schedule, sweep=1", NULL, "`sweep` is of kernels whose blocks run one program each"},
    {"sweep", "%y#", "print<message=\"here\">\n  %y#", NULL, "it says which program it is by the block"},
    /* tasks that are dealt out in pairs of a long and a short one */
    {"solo", ", varies=0", "", NULL, NULL},
    {"solo", "varies=0", "varies=1", NULL, "`varies` names an index of tasks"},
    {"solo", "order=longest, varies=0", "order=row, varies=0", NULL, "`varies` names an index of tasks"},
    {"solo", "order=longest, varies=0", "order=grouped", NULL, "`order=grouped` is of tasks with two indices"},
    {"late", "order=code", "order=longest", NULL, "`order=longest` is of blocks that run by themselves"},
    /* which instructions do it */
    {"crowd", "width=64, fresh", "width=64", NULL, NULL},
    {"late", "dot<instr=wgmma, ", "dot<instr=wgmma, fresh, ", NULL, "begins with 0"},
    {"late", "dot<instr=wgmma, ", "dot<instr=wgmma, right=matrix, ", NULL, "whose operands lanes fetch"},
    {"crowd", "put<apart> %s.cs", "put %s.cs", NULL, NULL},
    {"late", "grid=[1,1]", "grid=[2,1]", NULL, "lie as `grid=[1,1]`"},
    {"late", ", grid=[1,1]", "", NULL, "lie as `grid=[1,1]`"},
    {"forms", "dot<instr=fma", "dot<instr=fma, grid=[1,1]", NULL, "`grid` is of instructions that warps run"},
    {"loose", "put<vector=8> %s.a", "put<vector=8, apart> %s.a", NULL, "must not meet"},
    {"loose", "commit<fence> %in", "commit %in", NULL, "threads have stored into the slot"},
    {"branches", "right=columns", "right=matrix", NULL, NULL},
    {"branches", "right=columns", "right=steps", NULL, "how lanes can fetch"},
    {"branches", "right=columns", "right=words", NULL, "how lanes can fetch"},
    {"branches", "left=matrix", "left=columns", NULL, "how lanes can fetch"},
    {"branches", "left=matrix", "left=traded", NULL, "how lanes can fetch"},
    {"branches", "right=columns", "right=columns, early=1", NULL, "operands come `early`"},
    {"branches", ", left=matrix, right=columns", "", NULL, "how lanes can fetch"},
    {"forms", "right=words", "right=matrix", NULL, "how lanes can fetch"},
    {"forms", "among=tree, ", "", NULL, NULL},
    {"forms", "among=tree", "among=whole", NULL, "`among` is of reductions"},
    {"forms", "among=whole", "among=tree", NULL, "`among` is of reductions"},
    {"forms", "own=tree, ", "", NULL, NULL},
    {"axis", "argmax, axis=0", "argmax, axis=0, own=tree", NULL, "combined before all others"},
    {"axis", "order=[0,1,8,7,6,5,4,3,2]", "order=[0,1,8,7,6,5,4,3,2], own=tree", NULL, "combined before all others"},
    {"forms", "by=ordered, ", "", NULL, NULL},
    {"forms", "by=ordered", "by=loop", NULL, NULL},
    {"forms", "tatomic<add", "tatomic<add, by=ordered", NULL, "`by` is an instruction"},
    {"forms", "by=loop", "by=plain", NULL, "`by` is an instruction"},
    /* where there is no end there is no edge */
    {"volatile", "along=0, whole", "along=0", NULL, "no end along its vectors"},
    {"hint", "vector=8, whole, hint=evict_last> %TB", "vector=8, hint=evict_last> %TB", NULL, "no end along its vectors"},
    /* what the caches are told */
    {"hint", "", "", NULL, NULL},
    {"hint", ", hint=evict_last", "", NULL, NULL},
    {"hint", "hint=evict_last> %TZ", "hint=cv> %TZ", NULL, NULL},
    {"hint", "hint=evict_last> %TZ", "hint=wb> %TZ", NULL, "`hint` is an eviction"},
    {"hint", "hint=wt> %TZ", "hint=ca> %TZ", NULL, "`hint` is an eviction"},
    {"hint", "hint=evict_last> %TB", "hint=cg> %TB", NULL, "`hint` is an eviction"},
    {"hint", "batch=2>", "hint=evict_first, batch=2>", NULL, "`hint` is an eviction"},
    {"hint", "volatile, ", "volatile, hint=cv, ", NULL, "`hint` is an eviction"},
    {"hint", "hint=evict_first> %TC", "tests, hint=evict_first> %TC", NULL, "`hint` is an eviction"},
    {"forms", "div<approx, over> ", "div<approx> ", NULL, NULL},
    {"forms", "div<approx, over> %x, %sum", "div<approx, over> %x, %x", NULL, "by one number"},
    {"forms", "div<approx, over> ", "div<over> ", NULL, "by one number"},
    {"forms", ", unroll=4", "", NULL, NULL},
    {"forms", "tensor<natural=[0]> ", "tensor ", NULL, NULL},
    {"forms", "require<least=0> %n", "require<least=-1> %n", NULL, "not to be below 0"},
    {"forms", "natural=[0]", "natural=[0,0]", NULL, "not to be below 0"},
    {"forms", "%TX = tensor %X", "%TX = tensor<natural=[1]> %X", NULL, "not to be below 0"},
    {"crowd", "ahead=1, sync=within", "ahead=1", NULL, "other threads may still read"},
    {"crowd", ", vectors=[2,2], sync=before", ", vectors=[2,2]", NULL, "other threads may still read"},
    {"crowd", "require<least=0> %per", "require<least=-1> %per", NULL, "known not to be below 0"},
    {"crowd", "blocks=5", "blocks=1", NULL, NULL},
    {"late", "release<behind=1> %in", "release %in", NULL, "stays in flight with the release"},
    {"late", "grid=[1,1], flight", "grid=[1,1]", NULL, "stays in flight with the release"},
    {"late", "release<behind=1>", "release<behind=2>", NULL, "`behind` must be in 1 .. 1"},
    {"late", "release<behind=1>", "release<behind=0>", NULL, "`behind` must be in 1 .. 1"},
    {"late", ", hold=2", "", NULL, "held twice"},
    {"late", "%a#s0 = get %s.a", "%a#s0 = get<behind=1> %s.a", NULL, "stays in flight with the release"},
    {"late", "%s = wait %in", "%s = wait<behind=1> %in", NULL, "stays in flight with the release"},
    {"late", "for<unroll=1> %k", "for<unroll=1, rotate> %k", "role compute", "two products in a row"},
    {"late", "for<unroll=1> %k", "for<unroll=1, turns=14> %k", "role compute", "turned"},
    {"late", "for<unroll=1> %k", "for<unroll=1, ahead=2> %k", "role compute", "it runs `ahead`"},
    {"late", "for %k", "for<ahead=2> %k", "role load", "it runs `ahead`"},
    {"late", "for<unroll=1> %k", "for<unroll=1, twin=1> %k", "role compute", "`twin` stands on a loop"},
    {"late", "for %k", "for<at=0, bytes=1024> %k", "role load", "no load with `words`"},
    {"late", "tload<", "tload<batch=1, ", "role load", "`batch`"},
    {"late", "tload<", "tload<words=0, ", "role load", "with `ahead` and `bytes`"},
    {"late", "by=tma", "by=async", NULL, "cp.async"},
    {"late", "cast %acc", "cast<packed> %acc", NULL, "left operand"},
    /* places: slots and barriers, roles, what a block has */
    {"late", "slots=6", "slots=5", NULL, NULL},
    {"late", "slots=6", "slots=7", NULL, "beyond what the block has"},
    {"late", "at=98304", "at=97280", NULL, "in use by another op"},
    {"late", "at=98304", "at=98305", NULL, "where its slots and their fields lie"},
    {"late", "at=98304", "at=2000000000", NULL, "beyond what the block has"},
    {"late", "bytes=16384", "bytes=8192", NULL, "where its slots and their fields lie"},
    {"late", "fields=[0,8192]", "fields=[0,4096]", NULL, "where its slots and their fields lie"},
    {"late", "fields=[0,8192]", "fields=[0]", NULL, "where its slots and their fields lie"},
    {"late", "barriers=[106496,106544]", "barriers=[106496,106496]", NULL, "in use by another op"},
    {"late", "barriers=[106496,106544]", "barriers=[106496]", NULL, "who waits for whom"},
    {"late", "barriers=[106496,106544]", "barriers=[0,106544]", NULL, "in use by another op"},
    {"late", ", barriers=[106496,106544]", "", NULL, "who waits for whom"},
    {"late", "arrivals=[1,4]", "arrivals=[1,8]", NULL, "who waits for whom"},
    {"late", "arrivals=[1,4]", "arrivals=[4,1]", NULL, "who waits for whom"},
    {"late", "arrivals=[1,4], paired", "arrivals=[1,4], lanes, paired", NULL, "who waits for whom"},
    {"late", ", paired>", ">", NULL, "`half` is not how"},
    {"late", "by=buffer", "by=stores", NULL, "`by` is not how it is filled"},
    {"late", ", leaves>", ">", NULL, "`each`, `leaves` or `parts`"},
    {"late", ", leaves>", ", leaves, parts=4>", NULL, "`each`, `leaves` or `parts`"},
    {"late", "acquire<bytes=16384> %in", "acquire<bytes=8192> %in", NULL, "announced bytes"},
    {"late", "acquire<bytes=16384> %in", "acquire %in", NULL, "announced bytes"},
    {"late", "put<bytes=8192", "put<bytes=4096", NULL, "TMA brings"},
    {"late", "threads=256", "threads=128", NULL, "`threads` are not those"},
    {"late", "shared=106592", "shared=106591", NULL, "beyond what the block has"},
    {"late", "shared=106592", "shared=300000", NULL, "beyond what the block has"},
    {"late", ", shared=106592", "", NULL, "`shared` bytes are not given"},
    {"late", "first=4", "first=8", NULL, "the warps that it has"},
    {"late", "first=4, elect", "first=4", NULL, "`elect`: one thread"},
    {"late", "id=1", "id=0", NULL, "`id` is a barrier"},
    {"turned", "id=1, warps=8", "id=14, warps=8", NULL, "two barriers that no role has"},
    {"turned", "regs=24, first", "first", NULL, "than others of the block give away"},
    {"turned", "regs=24, first", "regs=32, first", NULL, "than others of the block give away"},
    {"turned", "regs=240, first", "regs=232, first", NULL, NULL},
    {"turned", "regs=240, first", "first", NULL, NULL},
    {"turned", "regs=240, first", "regs=236, first", NULL, "`regs` are not so many"},
    {"turned", "regs=24, first", "regs=16, first", NULL, "`regs` are not so many"},
    {"turned", "regs=240, first", "regs=248, first", NULL, "`regs` are not so many"},
    {"loose", "id=2", "id=1", NULL, "`id` is a barrier"},
    {"loose", "at=41984, bytes=55296", "at=40960, bytes=55296", NULL, "in use by another op"},
    {"skew", "slots=3", "slots=4", NULL, "in use by another op"},
    /* the order and the marks of a turned loop */
    {"turned", "for<unroll=1, rotate, turns=14>", "for<unroll=1, rotate>", NULL, NULL},
    {"turned", "for<unroll=1, rotate, turns=14>", "for<unroll=1, rotate, turns=13>", NULL, "`turns` needs"},
    {"turned", "for<unroll=1, rotate, turns=14>", "for<unroll=1, rotate, turns=1>", NULL, "`turns` needs"},
    {"turned", "for<unroll=1, rotate, turns=14>", "for<unroll=1, rotate, turns=15>", NULL, "`turns` must be in 1 .. 14"},
    {"turned", "for<unroll=1, rotate, turns=14>", "for<unroll=1, turns=14>", NULL, "turned"},
    {"turned", "for<unroll=1, rotate, turns=14>", "for<unroll=1>", NULL, "stays in flight with the release"},
    {"turned", "wait<behind=1>", "wait", NULL, "the order head, scale, tail"},
    {"turned", "get<behind=1>", "get", NULL, "the order head, scale, tail"},
    {"turned", "release<behind=1>", "release", NULL, "the order head, scale, tail"},
    {"turned", "behind=1, flight, width=128", "flight, width=128", NULL, "the order head, scale, tail"},
    {"turned", "behind=1, flight, width=128", "behind=1, width=128", NULL, "the order head, scale, tail"},
    {"turned", "grid=[2,1], flight", "grid=[2,1]", NULL, "the order head, scale, tail"},
    {"turned", "cast<packed>", "cast", NULL, NULL},
    {"turned", "cast %on", "cast<packed> %on", NULL, "left operand"},
    /* copies of threads: who arrives, and who says that they have landed */
    {"copies", "commit<arrive=copies>", "commit", NULL, "`arrive` is not how"},
    {"copies", "commit<arrive=copies>", "commit<arrive=both>", NULL, "`arrive` is not how"},
    {"copies", "arrivals=[128,4]", "arrivals=[1,4]", NULL, "who waits for whom"},
    {"copies", "arrivals=[128,4]", "arrivals=[256,4]", NULL, "who waits for whom"},
    {"copies", "wait<fence>", "wait", NULL, "it needs `fence`"},
    {"copies", "by=mixed", "by=tma", NULL, "`by` is not how it is filled"},
    {"copies", "by=mixed", "by=copies", NULL, "`by` is not how it is filled"},
    {"copies", "tload<by=async, along=1, vector=4, whole, rows>", "tload<along=1, vector=4, whole>", NULL, "`arrive` is not how"},
    {"copies", "vector=4, whole, rows>", "vector=4>", NULL, NULL},
    {"copies", "vector=4, whole, rows>", "vector=1, whole>", NULL, "straight into a slot"},
    {"copies", "whole, rows>", "whole>", NULL, NULL},
    {"copies", "vector=4, whole, rows>", "vector=4, rows, ends>", NULL, NULL},
    {"copies", "whole, rows>", "whole, rows, ends>", NULL, "`ends` are of `rows`"},
    {"copies", "vector=4, whole, rows>", "vector=4, ends>", NULL, "`ends` are of `rows`"},
    {"copies", "rows> %A, [%r, %ka]", "rows> %A, [%ka, %ka]", NULL, "`rows` are of copies"},
    {"copies", "tload<by=tma> %B", "tload<by=tma, rows> %B", NULL, "`rows` are of copies"},
    {"copies", "bytes=8192> %in", "bytes=16384> %in", NULL, "announced bytes"},
    /* writes at which load and compute meet */
    {"meet", "        %1 = acquire %met\n        commit<fence> %met, %1\n", "", NULL, "met"},
    {"meet", "        %3 = wait %met\n        release<fence> %met, %3\n", "", NULL, "met"},
    {"meet", "        release<fence> %met, %2\n        %3 = wait %met\n", "        %3 = wait %met\n        release<fence> %met, %2\n", NULL, "met"},
    {"meet", "        %2 = wait %met\n        tstore<along=1, vector=8, whole, tests> %TD, [0, 0], %h_1\n", "        tstore<along=1, vector=8, whole, tests> %TD, [0, 0], %h_1\n        %2 = wait %met\n", NULL, "in"},
    {"meet", "release<fence> %met, %2", "release %met, %2", NULL, "it needs `fence`"},
    {"meet", "arrivals=[128,128], lanes", "arrivals=[128,4]", NULL, "who waits for whom"},
    {"meet", ", tests> %TD", "> %TD", NULL, "`tests` is missing"},
    {"meet", "align=16> %TA", "align=8> %TA", NULL, "at most 4"},
    /* loops that are one */
    {"skew", "ahead=2", "ahead=1", NULL, NULL},
    {"skew", ", ahead=2", "", NULL, NULL},
    {"skew", "ahead=2", "ahead=3", NULL, "`ahead` is more than"},
    {"skew", "ahead=2", "ahead=0", NULL, "`ahead` must be in"},
    {"skew", "for<twin=1> %t", "for %t", "role load", "`twin` counts"},
    {"skew", "for<twin=1> %t", "for %t", "role compute", "`twin` counts"},
    {"skew", "for<twin=2> %k", "for<twin=1> %k", "role load", "`twin` counts"},
    {"skew", "for<twin=2> %k", "for<twin=2, ahead=2> %k", "role load", "`ahead` is more than"},
    {"skew", "for<twin=1> %t", "for<twin=1, ahead=1> %t", "role compute", "`ahead` is more than"},
    {"skew", "slots=3", "slots=2", NULL, "`ahead` is more than"},
    {"skew", "by=async", "by=buffer", NULL, "`twin` stands on a loop"},
    {"skew", "by=async", "by=tma", NULL, "`twin` stands on a loop"},
    /* conversions in pieces */
    {"pieces", "at=132096, pieces=2, bytes=65536", "at=132096, pieces=4, bytes=32768", NULL, NULL},
    {"pieces", "at=132096, pieces=2, bytes=65536", "at=132096, pieces=128, bytes=1024", NULL, NULL},
    {"pieces", "at=132096, pieces=2, bytes=65536", "at=132096, pieces=256, bytes=1024", NULL, "at least 1024 bytes"},
    {"pieces", "at=132096, pieces=2, bytes=65536", "at=132096, pieces=2, bytes=32768", NULL, "`at` and `bytes` say where"},
    {"pieces", "pieces=2", "pieces=3", NULL, "`pieces` are 2, 4"},
    {"pieces", "pieces=2", "pieces=1", NULL, "`pieces` must be in 2"},
    {"pieces", "at=132096, pieces=2, bytes=65536", "at=132096, bytes=65536", NULL, "`at` and `bytes` say where"},
    /* words ahead */
    {"loose", "for<ahead=2, at=", "for<at=", NULL, "with `ahead` and `bytes`"},
    {"loose", "words=9216", "words=9200", NULL, "`words` lie"},
    {"loose", "words=9216", "words=9217", NULL, "`words` lie"},
    {"loose", "words=9216", "words=0", NULL, "`words` lie"},
    {"loose", "words=9216", "words=18432", NULL, "`words` lie"},
    {"loose", "words=9216", "words=2000000000", NULL, "`words` lie"},
    {"loose", "ahead=2", "ahead=3", NULL, "`words` lie"},
    {"loose", "bytes=55296", "bytes=55295", NULL, "`words` lie"},
    {"loose", "bytes=55296", "bytes=0", NULL, "`words` lie"},
    {"loose", "batch=1, straight, words=0", "words=0", NULL, "vectors of 8"},
    {"loose", "batch=1, straight, words=9216", "batch=2, straight, words=9216", NULL, NULL},
    {"loose", ", words=9216", "", NULL, NULL},
    /* how tiles lie in scratch, and how much of them moves at once */
    {"scratch", "vectors=[4,4]", "vectors=[2,4]", NULL, NULL},
    {"scratch", "vectors=[4,4]", "vectors=[4,1]", NULL, NULL},
    {"scratch", "vectors=[4,4]", "vectors=[4,8]", NULL, "`vectors` are powers of two"},
    {"scratch", "vectors=[4,4]", "vectors=[3,4]", NULL, "`vectors` are powers of two"},
    {"scratch", "vectors=[4,4]", "vectors=[4]", NULL, "`vectors` two"},
    {"scratch", ", vectors=[4,4]", "", NULL, "`vectors` two"},
    {"scratch", "swizzle=[1,512,2,", "swizzle=[1,512,", NULL, "a number for each bit"},
    {"scratch", "swizzle=[1,512,2,4,16,32,128,256,1024,2048,10,80], ", "", NULL, "a number for each bit"},
    {"scratch", "swizzle=[1,512,2,4,", "swizzle=[1,512,2,2,", NULL, "no place of their own"},
    {"scratch", "swizzle=[1,512,2,4,", "swizzle=[1,512,2,65536,", NULL, "no place of their own"},
    {"scratch", "swizzle=[1,512,2,4,", "swizzle=[1,512,4,2,", NULL, NULL},
    {"scratch", "swizzle=[1,512,2,4,", "swizzle=[2048,512,2,4,", NULL, "no place of their own"},
    {"scratch", "flip<axis=0, vector=4", "flip<axis=0", NULL, NULL},
    {"scratch", "flip<axis=0, vector=4", "flip<axis=0, vector=8", NULL, "elements of a thread that lie side by side"},
    {"scratch", "flip<axis=0, vector=4", "flip<axis=0, vector=3", NULL, "elements of a thread that lie side by side"},
    {"scratch", "reshape %bits", "reshape<at=0, bytes=16384> %bits", NULL, "needs no shared memory"},
    {"scratch", "reshape %bits", "reshape<vector=2> %bits", NULL, "elements of a thread that lie side by side"},
    {"axis", "", "", NULL, NULL},
    {"axis", "across=lanes, ", "", NULL, NULL},
    {"axis", "across=lanes, ", "across=each, vector=4, ", NULL, NULL},
    {"axis", "across=lanes, ", "vector=8, ", NULL, "`vector` is of values"},
    {"axis", "across=lanes, ", "across=lanes, vector=4, ", NULL, "`vector` is of values"},
    {"axis", "across=lanes", "across=tree", NULL, "`across`: a function"},
    {"axis", "across=lanes", "across=turn", NULL, "`across`: a function"},
    {"axis", "argmax, axis=0, vector=4", "argmax, axis=0, across=lanes", NULL, "`across`: a function"},
    {"axis", "argmax, axis=0, vector=4", "argmax, axis=0, vector=3", NULL, "`vector` is of values"},
    {"axis", "reduce<add, axis=1, ", "reduce<add, axis=1, vector=2, ", NULL, "`vector` is of values"},
    {"axis", "reduce<add, axis=1, ", "reduce<add, axis=1, across=lanes, ", NULL, "`across`: a function"},
    {"scratch", "axis=0, own=tree> %low", "axis=0, across=tree> %low", NULL, "in which warps meet"},
    {"late", "width=64", "width=32", NULL, NULL},
    {"late", "width=64", "width=48", NULL, NULL},
    {"late", "width=64", "width=12", NULL, "`width` is one"},
    {"late", ", width=64", "", NULL, "`width` is one"},
    {"skew", "instr=mma", "instr=mma, width=8", NULL, "`width` is one"},
    {"late", "for<unroll=1> %k", "for %k", NULL, NULL},
    {"loose", ", straight", "", NULL, NULL},
    {"late", "tload<", "tload<straight, ", "role load", "words are put as they come"},
    {"sync", "tload<along=1, whole, sync=before>", "tload<along=1, whole, sync=before, straight>", NULL, "words are put as they come"},
    /* who waits for whom: a barrier more is a plan like others, one less is none (see without_mark) */
    {"sync", "", "", NULL, NULL},
    {"scratch", "", "", NULL, NULL},
    {"scratch", "tload<along=1, whole>", "tload<along=1, whole, sync=before>", NULL, NULL},
    {"scratch", "convert<vector=8, at=0, bytes=8192>", "convert<vector=8, at=0, bytes=8192, sync=before>", NULL, NULL},
    {"scratch", "convert<vector=8, at=0", "convert<vector=8, sync=within, at=0", NULL, "`sync` stands on ops that touch memory"},
    {"scratch", "sync=before, proxy=shared", "sync=both, proxy=shared", NULL, "`sync` stands on ops that touch memory"},
    {"scratch", "axis=0, own=tree> %low", "axis=0, own=tree, sync=before> %low", NULL, "`sync` stands on ops that touch memory"},
    {"scratch", "histogram<64, at=0, bytes=256, ", "histogram<64, at=0, bytes=256, proxy=shared, ", NULL, "something is to be shown"},
    {"scratch", "histogram<64, at=0, bytes=256, ", "histogram<64, at=0, bytes=256, settles, ", NULL, "something is to be shown"},
    {"scratch", "tstore<along=0, whole>", "tstore<along=0, whole, lands, sync=before>", NULL, "something is to be shown"},
    {"scratch", "buf<at=0", "buf<sync=before, at=0", NULL, "`sync` stands on ops that touch memory"},
    {"scratch", "sub %s, %all", "sub<sync=before> %s, %all", NULL, "`sub` has no such attribute"},
    {"scratch", "for %i", "for<sync=before> %i", NULL, "`sync` stands on ops that touch memory"},
    {"late", "acquire<bytes=16384> %in", "acquire<bytes=16384, drains> %in", NULL, "something is to be shown"},
    {"late", "put<bytes=8192", "put<sync=before, bytes=8192", NULL, "`sync` stands on ops that touch memory"},
    {"late", "role load<", "role load<lands, ", NULL, "a role ends when the stores"},
    {"late", "put<vector=2, sync=before>", "put<vector=2, sync=before, settles>", NULL, "something is to be shown"},
    {"sync", ", proxy=shared> :", "> :", NULL, "shown to those who read it beside them"},
    {"skew", "by=async", "by=async, proxy=shared", NULL, "shown to those who read it beside them"},
};

/* The section `ir` of the golden file. */
static char *golden(const char *name, Arena *arena) {
    char path[200], line[4000];
    snprintf(path, sizeof path, "tests/pass/schedule_%s.ir", name);
    FILE *file = fopen(path, "rb");
    Text text = text_new(arena);
    bool inside = false;
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "---- ", 5) == 0)
            inside = strcmp(line, "---- ir\n") == 0;
        else if (inside)
            text_add(&text, "%s", line);
    }
    if (file) fclose(file);
    CHECK(text.length > 0);
    return text.at;
}

/* That its first line names. */
static const Machine *machine_of(const char *name) {
    char path[300], line[300] = "", machine[40] = "";
    snprintf(path, sizeof path, "tests/pass/schedule_%s.ir", name);
    FILE *file = fopen(path, "r");
    const char *at = file && fgets(line, sizeof line, file) ? strstr(line, "machine=") : NULL;
    if (at) sscanf(at, "machine=%39s", machine);
    if (file) fclose(file);
    const Machine *found = machine_find(machine);
    CHECK(found != NULL);
    return found;
}

static const char *edited(const Edit *edit, Arena *arena) {
    char *text = golden(edit->file, arena);
    char *from = edit->after ? strstr(text, edit->after) : text;
    char *at = from ? strstr(from, edit->from) : NULL;
    if (!at) fprintf(stderr, "schedule_%s.ir has no `%s`\n", edit->file, edit->from);
    CHECK(at != NULL);
    if (!at) return text;
    return arena_printf(arena, "%.*s%s%s", (int)(at - text), text, edit->to, at + strlen(edit->from));
}

/* Words that say who waits for whom. */
static const char *const marks[] = {"sync=before", "sync=within", "proxy=shared", "settles", "lands", "drains"};

/* Whether text[at] is such a word among attributes. */
static size_t mark_at(const char *text, size_t at) {
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t length = strlen(marks[i]);
        bool whole = at > 0 && strchr("< ", text[at - 1]) && strncmp(text + at, marks[i], length) == 0 && text[at + length] &&
                     strchr(",>", text[at + length]);
        if (whole) return length;
    }
    return 0;
}

/* The golden text without mark `number` of it; NULL: it has fewer. */
static const char *without_mark(const char *file, int number, Arena *arena) {
    char *text = golden(file, arena);
    for (size_t at = 0; text[at]; at++) {
        size_t length = mark_at(text, at);
        if (!length || number-- > 0) continue;
        bool more = text[at + length] == ',', first = text[at - 1] == '<';
        size_t from = more ? at : first ? at - 1 : at - 2, to = at + length + (more ? 2 : first ? 1 : 0);
        return arena_printf(arena, "%.*s%s", (int)from, text, text + to);
    }
    return NULL;
}

/* Is the text taken, and what is said? */
static bool taken(const char *file, const char *text, Arena *arena, Arena *scratch, const char **said) {
    SourceMap sources;
    Diag diag;
    source_init(&sources, arena);
    diag_init(&diag, arena, &sources);
    Module *m = ir_module_new(arena, &diag, &sources);
    PassContext cx = {.module = m, .machine = machine_of(file), .options = pass_options_default, .scratch = scratch};
    PipelineRequest request = {.verify_each = true};
    bool good = ir_parse(m, source_add(&sources, "k.ir", text, strlen(text))) && pipeline_run(&cx, m->kernels.at[0], &request) &&
                cuda_emit(&cx, m->kernels.at[0]);
    *said = diag_render(&diag, arena);
    return good;
}

static void run_edit(const Edit *edit, Arena *arena, Arena *scratch) {
    const char *said;
    bool good = taken(edit->file, edited(edit, arena), arena, scratch, &said);
    bool right = edit->says ? !good && strstr(said, edit->says) : good;
    if (!right)
        fprintf(stderr, "schedule_%s.ir, `%s` -> `%s`: %s\n", edit->file, edit->from, edit->to, good ? "taken" : said);
    CHECK(right);
}

/* Each of the marks is needed: false when the file has no such one. */
static bool run_without(const char *file, int number, Arena *arena, Arena *scratch) {
    const char *text = without_mark(file, number, arena), *said;
    if (!text) return false;
    bool good = taken(file, text, arena, scratch, &said);
    if (good) fprintf(stderr, "schedule_%s.ir without mark %d is taken:\n%s\n", file, number, text);
    CHECK(!good && strstr(said, "(`"));
    return true;
}

int main(void) {
    static const char *const files[] = {"late", "turned", "skew", "loose", "copies", "branches", "sync", "scratch", "pieces", "axis", "forms", "meet", "join", "trail", "lead"};
    static size_t file; /* outlive a longjmp */
    size_t count = sizeof edits / sizeof *edits;
    static int number, all;
    for (volatile size_t i = 0; i < count || file < sizeof files / sizeof *files; i++) {
        Trap trap;
        Arena arena, scratch;
        arena_init(&arena, allocator_malloc, &trap);
        arena_init(&scratch, allocator_malloc, &trap);
        if (TRAP_ARM(&trap)) {
            if (i < count)
                run_edit(&edits[i], &arena, &scratch);
            else if (run_without(files[file], number, &arena, &scratch))
                number++, all++;
            else
                file++, number = 0;
        } else {
            CHECK_TEXT(trap.message, "no trap");
        }
        arena_free(&scratch);
        arena_free(&arena);
    }
    CHECK(all > 20);
    return check_done();
}
