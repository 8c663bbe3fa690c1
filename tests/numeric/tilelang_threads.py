# SPDX-License-Identifier: Apache-2.0
"""tilelang_threads.py: random TileLang programs that name their threads; a family of random_tilelang.py.

Each thread has tiles of its own, all of them shared ones. What a thread reads of others is behind a barrier, and so is what they write there
next, so the result is the same in any order. Numbers are integers, which wrap. Statements: arithmetic on own elements, conditions by thread, loops,
an exchange through shared memory at any place, shuffles, reductions over a warp and over threads, atomics on shared memory, tile operations between them."""
from tilelang_programs import Writer


class ThreadGenerator(Writer):
    def __init__(self, choices):
        super().__init__(choices)
        self.own, self.shared, self.params = [], [], []  # (name, extent, dtype); shared: (name, shape, dtype)

    def dtype(self):
        return self.one(["int32", "int32", "int8", "uint8", "int16", "uint32"])

    # --- expressions ---

    def thread(self):
        """A number that differs between threads, or not; at least 0 and small."""
        return self.one(["tx", "tx", "ty", "bx", "lin", "lin // 3", "lin % 7", "(lin ^ 1)", f"{self.pick(9)}"])

    def place(self, extent, loop=None):
        """An index in 0 .. extent - 1."""
        forms = [f"{self.pick(extent)}", f"{self.thread()} % {extent}", f"({self.thread()} * {1 + self.pick(4)} + {self.pick(5)}) % {extent}"]
        if loop and loop[1] <= extent:
            forms += [loop[0]] * 3
        return self.one(forms)

    def element(self, loop=None):
        if self.shared and self.pick(4) == 3:
            return self.shared_element(loop)
        name, extent, _ = self.one(self.own)
        return f"{name}[{self.place(extent, loop)}]"

    def shared_element(self, loop=None, tile=None):
        name, shape, _ = tile or self.one(self.shared)
        return f"{name}[{', '.join(self.place(n, loop) for n in shape)}]"

    def value(self, loop=None, depth=0):
        form = self.pick(9)
        if depth > 1 or form < 3:
            return self.element(loop)
        if form == 3:
            return f"T.cast({self.thread()}, \"int32\")"
        if form == 4:
            return f"T.if_then_else({self.condition(loop)}, {self.value(loop, 2)}, {self.value(loop, 2)})"
        if form == 5:
            return f"T.{self.one(['max', 'min'])}({self.value(loop, 2)}, {self.value(loop, 2)})"
        return f"({self.value(loop, depth + 1)} {self.one(['+', '-', '*', '^', '&'])} {self.value(loop, depth + 1)})"

    def condition(self, loop=None):
        left = self.one([self.thread(), self.thread(), self.element(loop)])
        return f"{left} {self.one(['<', '>=', '==', '!='])} {self.pick(self.threads + 2)}"

    # --- statements; a thread's own tiles change, shared ones only in exchange() and tile() ---

    def update(self, loop=None):
        name, extent, _ = self.one(self.own)
        self.line(f"{name}[{self.place(extent, loop)}] {self.one(['=', '=', '+='])} {self.value(loop)}")

    def own_loop(self):
        extent = self.one([4, 2, 3, 8, 1])
        i = self.name("i")
        self.line(f"for {i} in T.{self.one(['serial', 'vectorized', 'unroll'])}({extent}):")
        self.indent += 1
        for _ in range(1 + self.pick(2)):
            self.update((i, extent))
        self.indent -= 1

    def branch(self):
        self.line(f"if {self.condition()}:")
        self.indent += 1
        self.update()
        self.indent -= 1
        if self.pick(3) == 2:
            self.line("else:")
            self.indent += 1
            self.update()
            self.indent -= 1

    def exchange(self):
        """Each thread writes a cell that no other does; or all add to any."""
        tile = self.one(self.shared)
        name, shape, dtype = tile
        form = self.pick(4)
        self.line("T.sync_threads()")
        if form == 3 and dtype in ("int32", "uint32"):
            own, extent, _ = self.one(self.own)
            value = self.one(["lin", "1", f'T.cast({own}[{self.place(extent)}], "int32") & 15'])
            self.line(f"T.atomic_add({self.shared_element(None, tile)}, {value})")
        else:
            at = self.one(["lin", f"{self.threads - 1} - lin", "(lin ^ 1)" if self.threads % 2 == 0 else "lin"])
            own = "ty, tx" if shape == (self.y, self.x) else at if len(shape) == 1 else f"({at}) // {shape[1]}, ({at}) % {shape[1]}"
            guard = self.pick(3) == 2
            if guard:
                self.line(f"if {self.thread()} < {self.pick(self.threads + 1)}:")
                self.indent += 1
            owned, extent, _ = self.one(self.own)
            self.line(f"{name}[{own}] = {owned}[{self.place(extent)}]")
            self.indent -= guard
        self.line("T.sync_threads()")

    def whole(self):
        name, shape, dtype = self.one(self.shared)
        if self.pick(2):
            self.line(f"T.fill({name}, {self.pick(5)})")
        else:
            i = [self.name("p") for _ in shape]
            self.line(f"for {', '.join(i)} in T.Parallel({', '.join(map(str, shape))}):")
            self.lines.append("    " * (self.indent + 1) + f"{name}[{', '.join(i)}] = {name}[{', '.join(i)}] * 3 + {i[-1]}")

    def together(self):
        """What threads tell each other without memory."""
        name, extent, dtype = self.one(self.own)
        other, far, _ = self.one(self.own)
        value, to = f"{other}[{self.pick(far)}]", f"{name}[{self.pick(extent)}]"
        form = self.pick(6)
        if self.threads % 32:
            form = 5
        if form == 0:
            self.line(f"{to} = T.shfl_xor({value}, {1 << self.pick(5)})")
        elif form == 1:
            self.line(f"{to} = T.shfl_sync({value}, {self.one(['0', '(lin + 5) % 32', '31 - lin % 32', str(self.pick(32))])})")
        elif form == 2:
            self.line(f"{to} = T.shfl_{self.one(['up', 'down'])}({value}, {1 + self.pick(8)})")
        elif form < 5:
            self.line(f"{to} = T.warp_reduce_{self.one(['sum', 'max', 'min', 'bitor'])}({value})")
        else:
            self.line(f"{to} = T.syncthreads_{self.one(['count', 'or', 'and'])}({value} > {self.pick(20)})")

    def statement(self, depth=0):
        form = self.pick(9)
        if form < 2:
            self.update()
        elif form == 2:
            self.own_loop()
        elif form == 3:
            self.branch()
        elif form < 6:
            self.exchange()
        elif form == 6:
            self.together()
        elif form == 7:
            self.whole()
        elif depth < 1:
            self.line(f"for {self.name('r')} in T.serial({1 + self.pick(3)}):")
            self.indent += 1
            for _ in range(1 + self.pick(3)):
                self.statement(depth + 1)
            self.indent -= 1
        else:
            self.update()

    def program(self):
        self.x, self.y = self.one([(32, 1), (32, 2), (8, 4), (64, 1), (16, 1), (5, 3), (1, 1)])
        self.threads = self.x * self.y
        blocks = 1 + self.pick(3)
        self.line("tx, ty = T.get_thread_binding(0), T.get_thread_binding(1)")
        self.line(f"lin = ty * {self.x} + tx")
        for _ in range(1 + self.pick(3)):
            tile = (self.name("l"), self.one([4, 2, 1, 8, 3]), self.dtype())
            tensor = (self.name("A"), (blocks, self.threads * tile[1] - self.pick(2)), tile[2])
            self.params.append(tensor)
            self.line(f'{tile[0]} = T.alloc_local(({tile[1]},), "{tile[2]}")')
            if self.pick(3) == 2:
                self.line(f"T.copy({tensor[0]}[bx, lin * {tile[1]}], {tile[0]})")
            else:
                self.line(f"for v in T.vectorized({tile[1]}):")
                self.lines.append("    " * (self.indent + 1) + f"{tile[0]}[v] = {tensor[0]}[bx, lin * {tile[1]} + v]")
            self.own.append(tile)
        for _ in range(1 + self.pick(2)):
            shape = self.one([(self.threads,), (self.y, self.x), (self.threads + 3,)])
            tile = (self.name("s"), shape, self.dtype())
            self.line(f'{tile[0]} = T.alloc_shared({shape}, "{tile[2]}")')
            self.line(f"T.fill({tile[0]}, {self.pick(4)})")
            self.shared.append(tile)
        for _ in range(1 + self.pick(7)):
            self.statement()
        for name, extent, dtype in list(self.own):
            out = (self.name("O"), (blocks, self.threads * extent), dtype)
            self.params.append(out)
            self.line(f"for v in T.vectorized({extent}):")
            self.lines.append("    " * (self.indent + 1) + f"{out[0]}[bx, lin * {extent} + v] = {name}[v]")
        params = ", ".join(f'{name}: T.Tensor({shape}, "{dtype}")' for name, shape, dtype in self.params)
        threads = f"({self.x}, {self.y})" if self.y > 1 else str(self.x)
        head = ["import tilelang.language as T", "", "", "@T.prim_func", f"def main({params}):", f"    with T.Kernel({blocks}, threads={threads}) as bx:"]
        return "\n".join(head + self.lines) + "\n"
