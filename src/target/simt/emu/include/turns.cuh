/* SPDX-License-Identifier: Apache-2.0 */
/* turns.cuh: behind this file, in the kernel's own text, every turn of a loop is counted, so that the emulator can end
 * one that does not end by itself and say where it stands. The prelude's loops are short, or wait inside of the emulator.
 *
 * A keyword as the name of a macro is fine as long as no header follows. */
#ifndef TILEWRIGHT_TURNS_CUH
#define TILEWRIGHT_TURNS_CUH
TW_FN void tw_turn(TW_LINE) {
    if (__builtin_expect(--tw_emu->turns == 0, 0)) TW_CALL(turn);
}
#define for(...) for (__VA_ARGS__) if (tw_turn(), 0) {} else
#define while(...) while (tw_turn(), (__VA_ARGS__))
#endif
