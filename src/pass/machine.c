/* machine.c: see machine.h. */
#include "pass/machine.h"

#include <string.h>

static const Machine machines[] = {
#define MACHINE(name, threads, always, roles, skew, tma, wgmma, mma, fp8, bytes, lanes, vector, chains, dot) \
    {name, threads, always, roles, skew, tma, wgmma, mma, fp8, bytes, lanes, vector, chains, dot},
#include "pass/machine.def"
#undef MACHINE
};

const Machine *machine_at(int index) {
    return index < (int)(sizeof machines / sizeof *machines) ? &machines[index] : NULL;
}

const Machine *machine_find(const char *name) {
    const Machine *machine = NULL;
    for (int i = 0; (machine = machine_at(i)) && strcmp(machine->name, name) != 0; i++) {}
    return machine;
}
