/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c: see machine.h. */
#include "pass/machine.h"

#include <limits.h>
#include <string.h>

static const Machine machines[] = {
#define MACHINE(...) {__VA_ARGS__},
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

static bool is_of(const Machine *machine, const char *target) {
    return machine->arch && strcmp(machine->target, target) == 0;
}

const Machine *machine_of_arch(const char *target, const char *arch) {
    const Machine *machine = NULL;
    for (int i = 0; (machine = machine_at(i)); i++)
        if (is_of(machine, target) && strcmp(machine->arch, arch) == 0) return machine;
    return NULL;
}

const Machine *machine_of_level(const char *target, int level) {
    const Machine *machine, *best = NULL;
    for (int i = 0; (machine = machine_at(i)); i++) {
        bool serves = is_of(machine, target) && level >= machine->level && level <= machine->level_best;
        if (serves && (!best || machine->level > best->level)) best = machine;
    }
    return best;
}

int64_t machine_spare_bytes(const Machine *machine, int areas) { return (int64_t)machine->tile_align * areas; }

bool machine_runs_on(const Machine *machine, int level) {
    return machine->level_only ? level == machine->level : level >= machine->level;
}

int64_t machine_unit_bytes(const Machine *machine) {
    return machine->unit_bytes ? machine->unit_bytes : machine->ring_bytes;
}

int64_t machine_room(const Machine *machine, int blocks) {
    int64_t room = (machine_unit_bytes(machine) + machine->block_bytes) / blocks - machine->block_bytes;
    return room < machine->ring_bytes ? room : machine->ring_bytes;
}
