/* SPDX-License-Identifier: Apache-2.0 */
/* interp.c: a launch from its arguments to its end.
 *
 * Flat kernels run program after program, on the caller's stack unless an spmd region needs
 * coroutines. A kernel with `tasks` in the body runs its roles side by side: `tasks in` by the
 * launch's workers, each with rings of its own that live across its tasks; `tasks while`, a
 * template's own loop, by one worker a program.
 *
 * Nothing allocated here outlives the launch, and no trap leaves before the coroutines are gone:
 * the launch arms its own, tidies up, and throws what it caught to the caller's. */
#include "ir/interp/interp_core.h"

static Interp *interp_begin(const InterpLaunch *launch, Interp *in) {
    *in = (Interp){.launch = launch, .kernel = launch->kernel, .diag = launch->diag};
    arena_init(&in->arena, launch->arena->allocator, &in->trap);
    in->random = launch->seed;
    in->budget = launch->budget > 0 ? launch->budget : INT64_MAX;
    in->memory_limit = launch->sanitize ? launch->memory_limit : 0;
    if (launch->sanitize && !in->memory_limit) {
        in->memory_limit = (size_t)4 << 30;
        for (int i = 0; i < launch->region_count; i++)
            in->memory_limit += 16 * launch->regions[i].size; /* bytes of shadow */
    }
    return in;
}

/* The parameter of the kernel with the name of this argument of a region. */
static const InterpArg *argument_of(Interp *in, const Region *region, int index) {
    const Region *body = in->kernel->body;
    if (region != body) {
        const char *name = ir_value(in->kernel, region->args[index])->name;
        for (index = 0; index < body->arg_count; index++) {
            const char *other = ir_value(in->kernel, body->args[index])->name;
            if (name && other && strcmp(name, other) == 0) break;
        }
    }
    if (index >= in->launch->arg_count) ice(&in->trap, "interpreter: an argument is missing");
    return &in->launch->args[index];
}

static void bind_arguments(Process *p, const Region *region) {
    Interp *in = p->in;
    for (int i = 0; i < region->arg_count; i++) {
        Ref ref = region->args[i];
        const Type *type = ir_value(in->kernel, ref)->type;
        const InterpArg *arg = argument_of(in, region, i);
        Cell *cell = ev_define_ref(p, ref);
        if (type->kind == TY_TENSOR) {
            TensorValue *t = cell->data;
            t->base = (uint64_t)(uintptr_t)arg->pointer;
            memcpy(t->extent, arg->extent, sizeof t->extent);
            memcpy(t->stride, arg->stride, sizeof t->stride);
            memset(t->unbounded, 0, sizeof t->unbounded);
        } else if (type->pointer) {
            *(uint64_t *)cell->data = (uint64_t)(uintptr_t)arg->pointer;
        } else if (type->elem == EL_I1) {
            *(uint8_t *)cell->data = (arg->bits & 0xFF) != 0;
        } else {
            memcpy(cell->data, &arg->bits, (size_t)elem_info[type->elem].bytes);
        }
    }
}

static Instance *instance_new(Interp *in, int64_t worker) {
    Instance *instance = ARENA_NEW(&in->arena, Instance);
    instance->rings = ARENA_ARRAY(&in->arena, RingState *, in->ring_count);
    instance->worker = worker;
    return instance;
}

static void place_program(Instance *instance, const int64_t *grid, uint64_t program) {
    instance->program[0] = (int64_t)(program % (uint64_t)grid[0]);
    instance->program[1] = (int64_t)(program / (uint64_t)grid[0] % (uint64_t)grid[1]);
    instance->program[2] = (int64_t)(program / (uint64_t)grid[0] / (uint64_t)grid[1]);
}

static Process *process_for(Interp *in, Instance *instance, Step *role, uint64_t program) {
    Process *p = process_new(in, instance);
    p->role = role;
    p->writer = (uint32_t)program + 1;
    p->task_rank = 3;
    memcpy(p->task, instance->program, sizeof instance->program);
    bind_arguments(p, in->body.region);
    return p;
}

/* The processes of one worker: one a role, or one in all. */
static void start_worker(Interp *in, Instance *instance, const Step *tasks, uint64_t program) {
    const Block *body = tasks ? &tasks->blocks[tasks->op->region_count - 1] : NULL;
    bool any = false;
    for (int i = 0; body && i < body->count; i++)
        if (body->steps[i].op->code == OP_ROLE) {
            process_start(process_for(in, instance, &body->steps[i], program));
            any = true;
        }
    if (!any) process_start(process_for(in, instance, NULL, program));
}

static void run_flat(Interp *in, uint64_t programs, const Step *tasks) {
    Permutation order = permutation_new(in, programs);
    Instance *instance = instance_new(in, 0);
    for (uint64_t i = 0; i < programs; i++) {
        uint64_t program = permutation_at(&order, i);
        in->budget -= (int64_t)in->kernel->values.count; /* what a program costs beside its ops */
        place_program(instance, in->launch->grid, program);
        in->work = 0;
        if (in->fibers) {
            start_worker(in, instance, tasks, program);
            processes_run(in);
        } else {
            Process *p = process_for(in, instance, NULL, program);
            ev_run(p, &in->body);
            process_free(p);
        }
        ring_end(in, instance);
    }
}

static void run_workers(Interp *in, const Step *tasks) {
    int workers = in->launch->workers > 0 ? in->launch->workers : 2;
    in->by_task = true;
    Instance **instances = ARENA_ARRAY(&in->arena, Instance *, workers);
    for (int w = 0; w < workers; w++) {
        instances[w] = instance_new(in, w);
        start_worker(in, instances[w], tasks, 0);
    }
    processes_run(in);
    for (int w = 0; w < workers; w++) ring_end(in, instances[w]);
}

static void run_all(Interp *in) {
    const int64_t *grid = in->launch->grid;
    unsigned __int128 programs = 1;
    for (int d = 0; d < 3; d++) programs *= grid[d] > 0 ? (uint64_t)grid[d] : 0;
    if (programs > INT32_MAX) {
        diag_emit(in->diag, DIAG_INTERP_REFUSED, in->kernel->range, "a grid of 2^31 programs or more");
        in->failed = true;
    }
    if (in->failed || programs == 0) return;
    memory_open(in);
    interp_prepare(in, in->kernel->body);
    const Step *tasks = NULL;
    for (int i = 0; i < in->body.count; i++)
        if (in->body.steps[i].op->code == OP_TASKS) tasks = &in->body.steps[i];
    if (tasks && tasks->op->region_count == 1)
        run_workers(in, tasks);
    else
        run_flat(in, (uint64_t)programs, tasks);
}

static void run_grid(Interp *in, int64_t *grid) {
    interp_prepare(in, in->kernel->grid);
    Process *p = process_new(in, ARENA_NEW(&in->arena, Instance));
    bind_arguments(p, in->body.region);
    ev_run(p, &in->body);
    Step *end = in->body.end;
    for (int d = 0; d < 3; d++) grid[d] = d < end->op->operand_count ? ev_scalar(p, end, end->op->operands[d]) : 1;
}

static void run_armed(Interp *in, int64_t *grid) {
    interp_set_trap(in, &in->trap);
    if (TRAP_ARM(&in->trap)) {
        if (grid)
            run_grid(in, grid);
        else
            run_all(in);
    } else {
        in->failed = true;
    }
    processes_end(in);
}

/* Without the memory for it, messages stay without their counts. */
static void say_counts(Interp *in) {
    Trap trap;
    in->diag->arena->trap = &trap;
    if (TRAP_ARM(&trap)) report_counts(in);
}

static bool interp_launch(const InterpLaunch *launch, int64_t *grid) {
    Interp in;
    Trap *diag_trap = launch->diag->arena->trap;
    int errors = launch->diag->errors;
    run_armed(interp_begin(launch, &in), grid);
    say_counts(&in);
    launch->diag->arena->trap = diag_trap;
    arena_free(&in.arena);
    if (in.trap.code == TRAP_INTERNAL) ice(launch->arena->trap, "%s", in.trap.message);
    if (in.trap.code == TRAP_OUT_OF_MEMORY) trap_throw(launch->arena->trap, TRAP_OUT_OF_MEMORY);
    return !in.failed && launch->diag->errors == errors;
}

bool interp_run(const InterpLaunch *launch) { return interp_launch(launch, NULL); }

bool interp_grid(const InterpLaunch *launch, int64_t grid[3]) { return interp_launch(launch, grid); }
