# SPDX-License-Identifier: Apache-2.0
"""tilelang_roles.py: random TileLang programs whose warpgroups have roles and hand tiles over by barriers; a family of random_tilelang.py.

A producer brings tiles, one or two consumers use each of them (both, or every other one), and a writer may take what they make. Slots, trips (0 and
1 among them, numbers, what memory says, tasks of several trips each), order of the roles in the text and their form (loops of their own under T.ws or under
conditions, or one loop around all) are drawn. What such a program computes is what it says without barriers, one role behind the other for each tile:
the lines behind `# |` are that, and plain Python runs them."""
import re

from tilelang_programs import Writer


class Role:
    def __init__(self, group):
        self.group, self.before, self.item, self.after, self.every = group, [], [], [], None


class RoleGenerator(Writer):
    def barrier(self, role, line):
        """A line that the program without roles does not have."""
        role.item.append(("barrier", line))

    def work(self, role, *lines):
        role.item += [("work", line) for line in lines]

    def wait(self, role, name, slots, first):
        """`first`: passes at once in the first round, since slots are free when a program begins."""
        parity = f"(it // {slots} + 1) % 2" if first else f"it // {slots} % 2"
        self.barrier(role, f"T.barrier_wait({name}[it % {slots}], {parity})")

    def arrive(self, role, name, slots):
        self.barrier(role, f"T.barrier_arrive({name}[it % {slots}])")

    # --- what roles do with a tile ---

    def bring(self, role, slots):
        r, c = self.rows, self.columns
        self.wait(role, "free", slots, True)
        how = self.pick(4 if self.dtype == "int32" else 2)
        place = "A[bx, at * {0}, 0]".format(r)
        if how == 0:
            self.work(role, f"T.copy({place}, a[it % {slots}, :, :])")
        elif how == 1:
            role.item.append(("both", f"T.tma_copy({place}, a[it % {slots}, :, :], barrier=ready[it % {slots}])", f"T.copy({place}, a[it % {slots}, :, :])"))
        else:
            change = self.one(["", " + it", " * 3", " ^ bx"])
            self.work(role, f"for i, j in T.Parallel({r}, {c}):", f"    a[it % {slots}, i, j] = A[bx, at * {r} + i, j]{change}")
        self.arrive(role, "ready", slots)

    def use(self, role, slots, out, out_slots):
        r, c, acc = self.rows, self.columns, f"acc{role.group}"
        self.wait(role, "ready", slots, False)
        where = f"a[it % {slots}, i, j]"
        if self.dtype == "float16":
            self.work(role, f"T.gemm(a[it % {slots}, :, :], a[it % {slots}, :, :], {acc}, transpose_B=True)")
            self.arrive(role, "free", slots)
        elif self.pick(2):
            self.work(role, f"T.copy(a[it % {slots}, :, :], own{role.group})")
            self.arrive(role, "free", slots)
            where = f"own{role.group}[i, j]"
            self.update(role, where)
        else:
            self.update(role, where)
            self.arrive(role, "free", slots)
        if out:
            self.wait(role, "taken", out_slots, True)
            self.work(role, f"for i, j in T.Parallel({r}, {self.wide}):", f"    o[it % {out_slots}, i, j] = {acc}[i, j] * {2 + self.pick(2)} + i")
            self.arrive(role, "made", out_slots)

    def update(self, role, where):
        acc = f"acc{role.group}"
        value = self.one([f"{acc}[i, j] + {where}", f"{acc}[i, j] * 3 + {where}", f"({acc}[i, j] ^ {where}) + it", f"T.max({acc}[i, j], {where})"])
        self.work(role, f"for i, j in T.Parallel({self.rows}, {self.columns}):", f"    {acc}[i, j] = {value}")

    def put(self, role, out_slots):
        self.wait(role, "made", out_slots, False)
        self.work(role, f"T.copy(o[it % {out_slots}, :, :], O[bx, it * {self.rows}, 0])")
        self.arrive(role, "taken", out_slots)

    # --- the whole ---

    def loops(self, role, items, pad):
        """The role's loops around lines; items: (pad) -> lines."""
        lines = []
        if self.tasks > 1:
            lines.append(pad + f"for t in T.serial({self.tasks}):")
            pad += "    "
        if role.every is None:
            lines.append(pad + f"for k in T.{self.loop}({self.trips}):")
            it, at = ("k", "k")
        else:
            lines.append(pad + f"for k in T.serial(T.ceildiv({self.trips} - {role.every}, 2)):")
            it, at = (f"(k * 2 + {role.every})",) * 2
        if self.tasks > 1:
            it = f"(t * {self.trips} + {it})"
        return lines + items(pad + "    ", it, at)

    @staticmethod
    def place(line, it, at):
        """`it`: the number of the tile; `at`: which one of the source it is."""
        return re.sub(r"\bat\b", at, re.sub(r"\bit\b", it, line))

    def lines_of(self, role, pad, it, at, plain):
        out = []
        for kind, *text in role.item:
            if kind != "barrier" or not plain:
                out.append(pad + self.place(text[-1] if plain else text[0], it, at))
        return out

    def program(self):
        self.dtype = self.one(["int32", "int32", "float16"])
        self.rows, self.columns = self.one([(16, 32), (64, 16), (32, 64), (16, 16)] if self.dtype == "int32" else [(64, 32), (64, 64), (64, 16)])
        self.wide = self.rows if self.dtype == "float16" else self.columns
        blocks, slots, out_slots = 1 + self.pick(3), 1 + self.pick(3), 1 + self.pick(2)
        consumers, writer = 1 + self.pick(2), self.pick(2)
        turns = consumers == 2 and self.pick(2) == 1  # each takes every other tile, out of slots that only it uses
        if turns:
            slots, out_slots = 2 + slots // 3 * 2, 2
        writer = writer and (consumers == 1 or turns)
        self.tasks = self.one([1, 1, 2, 3])
        count = self.pick(3) == 2 and self.tasks == 1
        most = 4 if count else self.one([3, 1, 2, 5, 0, 4, 7])
        if turns and self.tasks > 1:
            most = most // 2 * 2
        self.trips = self.one(["(counts[bx] & 3)", "((counts[bx] & 3) + 1)", "(bx % 3)"]) if count else str(most)
        self.loop = "serial"
        order = list(range(1 + consumers + writer))
        for i in range(len(order) - 1, 0, -1):
            j = self.pick(i + 1)
            order[i], order[j] = order[j], order[i]
        roles = [Role(group) for group in order]
        producer, users, last = roles[0], roles[1:1 + consumers], roles[-1] if writer else None
        self.bring(producer, slots)
        for n, role in enumerate(users):
            if turns:
                role.every = n
            role.before.append(f"T.fill(acc{role.group}, {0 if self.dtype == 'float16' else self.pick(3)})")
            self.use(role, slots, writer, out_slots)
            role.after.append(f"T.copy(acc{role.group}, C{role.group}[bx, 0, 0])")
        if writer:
            self.put(last, out_slots)
        out_type = "float32" if self.dtype == "float16" else "int32"
        acc_columns = self.wide
        params = [f'A: T.Tensor(({blocks}, {max(1, most * self.rows - self.pick(2))}, {self.columns}), "{self.dtype}")']
        params += [f'C{role.group}: T.Tensor(({blocks}, {self.rows}, {acc_columns}), "{out_type}")' for role in users]
        if writer:
            params.append(f'O: T.Tensor(({blocks}, {max(1, most * self.tasks) * self.rows}, {acc_columns}), "{out_type}")')
        if "counts" in self.trips:
            params.append(f'counts: T.Tensor(({blocks},), "int32")')
        allocate = [f'a = T.alloc_shared(({slots}, {self.rows}, {self.columns}), "{self.dtype}")']
        if writer:
            allocate.append(f'o = T.alloc_shared(({out_slots}, {self.rows}, {acc_columns}), "{out_type}")')
        for role in users:
            allocate.append(f'acc{role.group} = T.alloc_fragment(({self.rows}, {acc_columns}), "{out_type}")')
            allocate.append(f'own{role.group} = T.alloc_fragment(({self.rows}, {self.columns}), "{self.dtype}")')
        readers = 128 if turns else 128 * consumers
        barriers = [f"ready = T.alloc_barrier([128] * {slots})", f"free = T.alloc_barrier([{readers}] * {slots})"]
        if writer:
            barriers += [f"made = T.alloc_barrier([128] * {out_slots})", f"taken = T.alloc_barrier([128] * {out_slots})"]
        shown = list(roles)
        if self.pick(2):
            shown.reverse()
        form = self.pick(3 if not turns else 2)
        body, pad = [], "        "
        if form == 2:  # one loop around all roles
            for role in shown:
                if role.before:
                    body += [pad + f"with T.ws({role.group}):"] + [pad + "    " + line for line in role.before]
            def inside(to, it, at):
                return [line for role in shown for line in [to + f"with T.ws({role.group}):"] + self.lines_of(role, to + "    ", it, at, False)]
            body += self.loops(shown[0], inside, pad)
            for role in shown:
                if role.after:
                    body += [pad + f"with T.ws({role.group}):"] + [pad + "    " + line for line in role.after]
        else:
            if form == 1:
                body.append(pad + "tx = T.get_thread_binding()")
                shown.sort(key=lambda role: role.group)
            for n, role in enumerate(shown):
                if form == 0:
                    body.append(pad + f"with T.ws({role.group}):")
                else:
                    body.append(pad + (f"{'el' if n else ''}if tx < {128 * (n + 1)}:" if n < len(shown) - 1 else "else:"))
                body += [pad + "    " + line for line in role.before]
                body += self.loops(role, lambda to, it, at, role=role: self.lines_of(role, to, it, at, False), pad + "    ")
                body += [pad + "    " + line for line in role.after]
        plain = [pad + line for role in roles for line in role.before]
        def serial(to, it, at):
            out = self.lines_of(producer, to, it, at, True)
            for role in users:
                if turns:
                    out += [to + f"if k % 2 == {role.every}:"] + self.lines_of(role, to + "    ", it, at, True)
                else:
                    out += self.lines_of(role, to, it, at, True)
            return out + (self.lines_of(last, to, it, at, True) if writer else [])
        plain += self.loops(producer, serial, pad)
        plain += [pad + line for role in roles for line in role.after]
        head = ["import tilelang.language as T", "", "", "@T.prim_func", f"def main({', '.join(params)}):", f"    with T.Kernel({blocks}, threads={128 * len(roles)}) as bx:"]
        allocate = [pad + line for line in allocate]
        twin = ["# | " + line for line in head + allocate + plain]
        return "\n".join(head + allocate + [pad + line for line in barriers] + body + twin) + "\n"
