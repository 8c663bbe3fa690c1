# SPDX-License-Identifier: Apache-2.0
"""tilelang_programs.py: random TileLang programs, drawn from a list of numbers (Choices); random_tilelang.py runs them.

Every program is valid, and its result does not depend on the order of a sum: floats are small whole numbers, whose largest magnitude is
known for every tile (`bound`); integers are anything and wrap. What the families are, the statements of Generator say: element loops with any
form of index, conditions and loops inside of them, cells that several iterations update, matrix products written out and by T.gemm, reductions, copies, loops and branches around them."""
import random

MOST = 2048
LIMIT = {"float16": 2000, "float32": 1 << 22}  # floats up to there are whole in every order of a sum


class Choices:
    """Numbers drawn, or replayed; behind the end of a replayed list every answer is 0."""

    def __init__(self, seed=None, numbers=None):
        self.random, self.numbers, self.next = random.Random(seed) if numbers is None else None, list(numbers or []), 0

    def pick(self, n):
        if self.next < len(self.numbers):
            value = self.numbers[self.next] % n
        else:
            value = self.random.randrange(n) if self.random else 0
            self.numbers.append(value)
        self.next += 1
        return value


class Tile:
    def __init__(self, name, shape, dtype, bound=0, is_tensor=False, lead=""):
        self.name, self.shape, self.dtype, self.bound, self.is_tensor, self.lead = name, shape, dtype, bound, is_tensor, lead

    def is_float(self):
        return self.dtype in LIMIT


class Writer:
    """Lines of a program, and what is drawn for them."""

    def __init__(self, choices):
        self.choices, self.lines, self.indent, self.count = choices, [], 2, 0

    def pick(self, n):
        return self.choices.pick(n)

    def one(self, options):
        return options[self.pick(len(options))]

    def line(self, text):
        self.lines.append("    " * self.indent + text)

    def name(self, letter):
        self.count += 1
        return f"{letter}{self.count}"


class Generator(Writer):
    """Tiles are written wholly before anything reads them. `frozen`: those whose floats may grow from trip to trip of a loop around here."""

    def __init__(self, choices):
        super().__init__(choices)
        self.tiles, self.inputs, self.params, self.outputs = [], [], [], []
        self.vars, self.trips, self.frozen, self.loops = {}, 1, set(), 0  # name -> extent (values 0 .. extent - 1)
        self.plain, self.near = False, []  # a loop of boxes, as most are; what it writes, to be read as well
        self.reads = True  # may indices be read from tiles?
        self.named = []  # values that the loop's body gave a name: (name, is it a float, bound)

    def shape(self, rank=None):
        rank = rank or 1 + self.pick(3) % 2 + (self.pick(8) == 7)
        return tuple(self.one([16, 8, 32, 4, 1, 7, 2, 5, 3, 12]) for _ in range(rank))

    def dtype(self):
        return self.one(["float32", "int32", "int8", "float16", "int16", "uint8", "bool"])

    # --- storage ---

    def new_input(self, shape, dtype):
        tensor = Tile(self.name("A"), shape, dtype, 3, True)
        self.inputs.append(tensor)
        self.params.append(tensor)
        return tensor

    def new_tile(self, shape=None, dtype=None):
        """Allocated, and written by a copy or a fill."""
        tile = Tile(self.name("t"), shape or self.shape(), dtype or self.dtype())
        self.line(f'{tile.name} = T.{self.one(["alloc_shared", "alloc_fragment", "alloc_local"])}({self.tuple(tile.shape)}, "{tile.dtype}")')
        if self.pick(3) == 2:
            value = 0 if tile.dtype == "bool" else self.pick(4)
            self.line(f"T.fill({tile.name}, {value})" if value else f"T.clear({tile.name})")
            tile.bound = value
        else:
            self.load(tile)
        self.tiles.append(tile)
        return tile

    @staticmethod
    def tuple(shape):
        return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"

    def load(self, tile):
        """From a tensor that is larger, smaller or as large; block by block or not."""
        lead = self.pick(3) == 2
        rows = tile.shape[0] * self.grid[0] - (self.pick(3) if self.pick(2) else 0)
        tensor = self.new_input(((self.grid[0],) if lead else ()) + ((tile.shape[0] if lead else max(rows, 1)),) + tile.shape[1:], tile.dtype)
        if tile.dtype != "bool" and self.pick(6) == 5:  # what lies outside
            self.line(f"T.annotate_safe_value({{{tensor.name}: {self.pick(4)}}})")
        start = ["bx" if lead else f"bx * {tile.shape[0]}"]
        if lead:
            start.append("0")
        else:
            start[0] += self.one(["", "", " + 1", " - 2"])
        rest = tile.shape[1:]
        if self.pick(3) == 2:
            parts = ["bx", f"0:{tile.shape[0]}"] if lead else [f"{start[0]} : {start[0]} + {tile.shape[0]}"]
            self.line(f"T.copy({tensor.name}[{', '.join(parts + [f'0:{n}' for n in rest])}], {tile.name})")
        else:
            self.line(f"T.copy({tensor.name}[{', '.join(start + ['0'] * len(rest))}], {tile.name})")
        tile.bound = tensor.bound

    # --- indices: a text whose values lie in 0 .. extent - 1 ---

    def index(self, extent, variables, depth=0):
        fitting = [v for v in variables if self.vars[v] <= extent]
        form = self.pick(7 if self.plain else 12)
        if not variables:
            return str(self.pick(extent)) if self.pick(4) else str(-1 - self.pick(extent))
        v = self.one(fitting or variables)
        n = self.vars[v]
        if fitting and form < 5:
            return v
        if fitting and form == 5 and not self.plain:
            return f"{extent - 1} - {v}"
        if self.plain and not fitting:
            return str(self.pick(extent))
        if fitting and form >= 5 and form < 7:
            return f"{v} + {self.pick(extent - n + 1)}"
        if form == 7 and 2 * (n - 1) < extent:
            return f"2 * {v}" + (" + 1" if 2 * n - 1 < extent and self.pick(2) else "")
        if form == 8:
            by = max(self.one([2, 4, 3]), -(-n // extent))
            return f"{v} // {by}" if (n - 1) // by < extent else f"{v} % {extent}"
        w = self.one(variables)
        if form == 9:
            return f"({v} * {1 + self.pick(5)} + {w}) % {extent}"
        if form == 10 and depth < 1:
            gathers = self.reads and [t for t in self.tiles if t.dtype in ("int32", "int8", "uint8", "int16") and not t.is_tensor]
            if gathers:
                return f"{self.element(self.one(gathers), variables, depth + 1)} % {extent}"
        if self.vars[v] + self.vars[w] - 1 <= extent and v != w:
            return f"{v} + {w}"
        return f"({v} + {self.pick(extent)}) % {extent}"

    def element(self, storage, variables, depth=0):
        parts = [self.index(extent, variables, depth) for extent in storage.shape]
        return f"{storage.name}[{', '.join(([storage.lead] if storage.lead else []) + parts)}]"

    def own_cell(self, storage, variables, distinct=True):
        """An index form that names another cell for each tuple of the variables, which must fit; None if they do not."""
        free, parts = list(variables), []
        if len(storage.shape) == 1 and len(free) == 2 and self.vars[free[0]] * self.vars[free[1]] <= storage.shape[0]:
            return f"{storage.name}[{storage.lead + ', ' if storage.lead else ''}{free[0]} * {self.vars[free[1]]} + {free[1]}]"
        for d, extent in enumerate(storage.shape):
            left = len(storage.shape) - d
            fits = [v for v in free if self.vars[v] <= extent]
            if free and len(free) < left and self.pick(2) or not free:
                parts.append(str(self.pick(extent)))
            elif not fits:
                return None
            else:
                v = self.one(fits)
                free.remove(v)
                n = self.vars[v]
                form = self.pick(8)
                if self.plain:
                    parts.append(f"{v} + {self.pick(extent - n + 1)}" if form == 6 else v)
                elif form == 5:
                    parts.append(f"{extent - 1} - {v}")
                elif form == 6:
                    parts.append(f"{v} + {self.pick(extent - n + 1)}")
                elif form == 7 and 2 * (n - 1) < extent:
                    parts.append(f"2 * {v}")
                else:
                    parts.append(v)
        if free and distinct:
            return None
        return f"{storage.name}[{', '.join(([storage.lead] if storage.lead else []) + parts)}]"

    # --- values: a text and, of floats, the largest magnitude ---

    def readable(self, is_float):
        return [t for t in self.tiles + self.inputs if t.is_float() == is_float and (not is_float or t.name not in self.frozen) and t.dtype != "bool"]

    def value(self, is_float, variables, depth=0):
        form = self.pick(10)
        sources = self.readable(is_float)
        if depth > 2 or form < 4:
            named = [one for one in self.named if one[1] == is_float]
            if named and self.pick(2):
                return self.one(named)[::2]
            if sources and self.pick(5) < 4:
                near = [t for t in sources if t in self.near]
                source = self.one(near) if near and self.pick(3) == 2 else self.one(sources)
                return self.element(source, variables), source.bound
            if variables and self.pick(2):
                v = self.one(variables)
                return (f'T.cast({v}, "float32")' if is_float else v), self.vars[v]
            number = self.pick(4)
            return (f"{number}.0" if is_float else str(number)), number
        x, a = self.value(is_float, variables, depth + 1)
        y, b = self.value(is_float, variables, depth + 1)
        if form == 4:
            return f"({x} + {y})", a + b
        if form == 5:
            return f"({x} - {y})", a + b
        if form == 6:
            return f"({x} * {y})", a * b
        if form == 7:
            return f"T.{self.one(['max', 'min'])}({x}, {y})", max(a, b)
        if form == 8:
            return f"T.if_then_else({self.condition(variables)}, {x}, {y})", max(a, b)
        if is_float:
            return f"(-{x})" if not x[0].isdigit() else x, a
        by = 1 + self.pick(9)
        return self.one([f"({x} // {by})", f"({x} % {by})", f"({x} & {y})", f"({x} ^ {by})", f"({x} >> {by % 4})", f'T.cast({x}, "{self.one(["int8", "int32", "uint8", "int16"])}")']), 0

    def condition(self, variables):
        flags = [t for t in self.tiles + self.inputs if t.dtype == "bool"]
        if flags and self.pick(3) == 2:
            return self.element(self.one(flags), variables)
        is_float = self.pick(3) == 2 and bool(self.readable(True))
        x, _ = self.value(is_float, variables, 3)
        y, _ = self.value(is_float, variables, 3)
        return f"{x} {self.one(['<', '<=', '>', '==', '!='])} {y}"

    def guarded(self, variables):
        """A neighbour that lies outside at the edge, where the condition drops it."""
        sources = [t for t in self.readable(False) + self.readable(True) if not t.is_tensor and variables and self.vars[variables[0]] == t.shape[0]]
        if not sources:
            return None
        t, v = self.one(sources), variables[0]
        rest = "".join(", " + self.index(n, variables) for n in t.shape[1:])
        if self.pick(2):
            return t, f"T.if_then_else({v} > 0, {t.name}[{v} - 1{rest}], 1)"
        return t, f"T.if_then_else({v} < {t.shape[0] - 1}, {t.name}[{v} + 1{rest}], 2)"

    def typed(self, tile, variables, most=None):
        """A value for that tile; most: the largest magnitude that is left for a float."""
        if tile.dtype == "bool":
            return self.condition(variables), 0
        most = LIMIT.get(tile.dtype, 0) if most is None else most
        for _ in range(4):
            text, bound = self.value(tile.is_float(), variables)
            if not tile.is_float() or (bound <= most and bound <= 2000):
                return text, bound
        return ("1.0", 1) if tile.is_float() else ("1", 1)

    # --- statements ---

    def writable(self):
        return [t for t in self.tiles if not t.is_tensor or t.lead]

    def open_parallel(self, extents, near=(), runs=False):
        """Of at most MOST iterations: those that run one by one take their time on emulated threads."""
        self.plain, self.near = self.pick(2) == 0, list(near)
        extents, room = list(extents), max(1, MOST // self.trips)
        for d, extent in enumerate(extents):
            extents[d] = min(extent, room)
            room = max(1, room // extents[d])
        names = [self.name("i") for _ in extents]
        texts = list(map(str, extents))
        if runs and self.pick(8) == 7:  # as long as a number says, up to the extent
            d = self.pick(len(extents))
            texts[d] = f"{self.new_input((self.grid[0],), 'int32').name}[bx] % {extents[d] + 1}"
        self.line(f"for {', '.join(names)} in T.Parallel({', '.join(texts)}):")
        self.vars.update(zip(names, extents))
        self.indent += 1
        return names

    def close(self, names):
        for name in names:
            del self.vars[name]
        self.indent -= 1
        self.plain = False

    def outer(self):
        return list(self.vars)

    def elements(self):
        """Each iteration its own cell: one to three stores, which may read what the stores before them wrote."""
        first = self.one(self.writable())
        extents = [self.one([n, n, max(1, n // 2), max(1, n - 1)]) for n in first.shape]
        around = self.outer()
        targets = [first] + [t for t in self.writable() if t is not first and len(t.shape) >= len(extents)][:self.pick(3)]
        names = self.open_parallel(extents, targets, runs=True)
        before, self.frozen = self.frozen, self.frozen | {t.name for t in targets if t.is_float()}  # from iteration to iteration they could grow
        written = 0
        if self.pick(6) == 5:
            self.variable(names, around)
        for target in targets:
            if self.pick(3) == 2 and target.dtype != "bool":
                text, bound = self.typed(target, names + around)
                name = self.name("v")
                self.line(f"{name} = {text}")
                self.named.append((name, target.is_float(), bound))
            cell = self.own_cell(target, names)
            if not cell:
                continue
            guard = self.guarded(names) if self.pick(6) == 5 else None
            if guard and guard[0].is_float() == target.is_float() and target.dtype != "bool":
                text, bound = guard[1], max(guard[0].bound, 2)
            else:
                text, bound = self.typed(target, names + around)
            if target.is_float() and bound > LIMIT[target.dtype]:
                text, bound = "1.0", 1
            target.bound = max(target.bound, bound, self.write(target, cell, text, names, around))
            written += 1
        if not written:
            self.line("pass")
        self.named, self.frozen = [], before
        self.close(names)

    def variable(self, names, around):
        """A cell that each iteration writes first, perhaps once more, and reads from then on."""
        tiles = [t for t in self.tiles if not t.is_float() and t.dtype != "bool" and not t.is_tensor]
        if not tiles:
            return
        tile = self.one(tiles)
        cell = f"{tile.name}[{', '.join(str(self.pick(n)) for n in tile.shape)}]"
        self.line(f"{cell} = {self.typed(tile, names + around)[0]}")
        if self.pick(2):
            self.line(f"if {self.condition(names)}:")
            self.lines.append("    " * (self.indent + 1) + f"{cell} {self.one(['=', '+='])} {self.typed(tile, names + around)[0]}")
        self.named.append((cell, False, 0))

    def write(self, target, cell, text, names, around):
        """The store as it is, under a condition, or in a loop; the bound of what else was written."""
        form, bound, depth = self.pick(9), 0, self.indent
        opened = []
        if form in (6, 8):
            opened.append(self.open_inner(names))
            if self.pick(2):
                cell = self.own_cell(target, names + opened) or cell
                other, more = self.typed(target, names + opened + around)
                if more <= LIMIT.get(target.dtype, more):
                    text, bound = other, more
        if form in (5, 7, 8):
            self.line(f"if {self.condition(names + opened)}:")
            self.indent += 1
        self.line(f"{cell} = {text}")
        if form == 7:
            self.indent -= 1
            other, more = self.typed(target, names + around)
            if more > LIMIT.get(target.dtype, more):
                other, more = "1.0", 1
            self.line("else:")
            self.indent += 1
            self.line(f"{cell} = {other}")
            bound = max(bound, more)
        self.indent = depth
        for k in opened:
            del self.vars[k]
        return bound

    def running(self):
        """Sums, products and extrema that run along a loop, in a cell or from place to place, in an element loop or not."""
        rows = [t for t in self.tiles if len(t.shape) == 2 and t.dtype != "bool" and not t.is_tensor]
        if not rows:
            return
        row, around = self.one(rows), self.outer()
        cells = [t for t in self.tiles if len(t.shape) == 1 and t.shape[0] >= row.shape[0] and t.dtype == row.dtype and not t.is_tensor]
        names, depth = [], self.indent
        if self.pick(3):
            names = self.open_parallel([row.shape[0]])
        i, k = (names or [str(self.pick(row.shape[0]))])[0], self.name("q")
        moves, low = not cells or self.pick(2), self.pick(2)
        low, high = (1 + low if moves else low), row.shape[1] - self.pick(2)
        before, self.frozen = self.frozen, self.frozen | {t.name for t in [row] + cells if t.is_float()}
        self.line(f"for {k} in T.serial({low}, {high}):")
        self.indent += 1
        self.vars[k] = max(1, high)
        text, bound = self.typed(row, names + [k] + around, 3)
        step = self.one(["{0} + {1}", "{1} * {0}", "T.max({1}, {0})", "T.min({0}, {1})"]) if not row.is_float() else self.one(["T.max({1}, {0})", "T.min({0}, {1})"])
        if moves:
            self.line(f"{row.name}[{i}, {k}] = {step.format(f'{row.name}[{i}, {k} - 1]', text)}")
        else:
            cell = f"{self.one(cells).name}[{i}]"
            self.line(f"{cell} = {step.format(cell, text)}")
            self.line(f"{row.name}[{i}, {k}] = {cell}")
        for t in [row] + cells:
            t.bound = max(t.bound, bound, row.bound, *(c.bound for c in cells)) if t.is_float() else t.bound
        del self.vars[k]
        self.frozen = before
        if names:
            self.close(names)
        self.indent = depth

    def open_inner(self, names):
        """A loop in the body of an element loop, with as many trips for each iteration or not."""
        k, most = self.name("q"), 1 + self.pick(3)
        end = self.one([str(most), str(most), f"{self.one(names)} % {most + 1}", "0"])
        self.line(f"for {k} in " + self.one([f"T.serial({end})", f"range({end})"]) + ":")
        self.vars[k] = most
        self.indent += 1
        return k

    def in_order(self):
        """Iterations that meet in cells, or read what others write: the order matters, and is that of the loop."""
        target = self.one([t for t in self.writable() if not t.is_float()] or [None])
        if not target:
            return
        around = self.outer()
        names = self.open_parallel([self.one([4, 3, 8, 1, 6]) for _ in range(1 + self.pick(2))], [target])
        for _ in range(1 + self.pick(2)):
            self.reads = not target.is_tensor  # of iterations that meet in a tensor by chance any may be the last
            cell = self.element(target, names + around)
            self.reads = True
            self.line(f"{cell} {self.one(['=', '+=', '-=', '*=', '='])} {self.typed(target, names + around)[0]}" if target.dtype != "bool" else f"{cell} = {self.condition(names)}")
        self.close(names)

    def accumulate(self):
        """Cells that some variable does not reach; plain, or with an update that reads its cell, or two of them."""
        target = self.one([t for t in self.writable() if t.dtype != "bool" and len(t.shape) < 4] or [None])
        if not target:
            return
        around = self.outer()
        kept = [self.one([n, n, max(1, n - 1)]) for n in target.shape]
        names = self.open_parallel(kept + [self.one([8, 4, 3, 1, 16, 5]) for _ in range(1 + self.pick(4) // 3)], [target], runs=True)
        extra = 1
        for name in names[len(kept):]:
            extra *= self.vars[name]
        cell = f"{target.name}[{', '.join(([target.lead] if target.lead else []) + names[:len(kept)])}]"
        if self.pick(5) == 4:
            cell = self.own_cell(target, names[:len(kept)]) or cell
        for _ in range(1 + (self.pick(4) == 3)):
            form, depth, inner = self.pick(8), self.indent, []
            if form in (5, 7):
                inner.append(self.open_inner(names))
            if form in (6, 7):
                self.line(f"if {self.condition(names + inner)}:")
                self.indent += 1
            self.update(target, cell, names + inner, around, extra * (self.vars[inner[0]] if inner else 1))
            self.indent = depth
            for k in inner:
                del self.vars[k]
        self.close(names)

    def update(self, target, cell, names, around, extra):
        form = self.pick(8)
        if target.is_float():
            room = (LIMIT[target.dtype] - target.bound) / (extra * self.trips) / 2
            self.frozen.add(target.name)
            text, bound = self.product(names) if form == 5 else self.typed(target, names + around, max(room, 0))
            if bound > room:
                text, bound = "0.0", 0
            self.frozen.discard(target.name)
            if form == 6:
                self.line(f"{cell} = T.max({cell}, {text})")
                target.bound = max(target.bound, bound)
            else:
                self.line(f"{cell} += {text}" if form % 2 else f"{cell} = {text} + {cell}")
                target.bound += bound * extra * self.trips
            return
        text = self.product(names, False)[0] if form == 5 else self.typed(target, names + around)[0]
        self.line(self.one([f"{cell} += {text}", f"{cell} = {cell} + {text}", f"{cell} = {text} + {cell}", f"{cell} *= {text}", f"{cell} = T.max({cell}, {text})", f"{cell} -= {text}",
                            f"{cell} += {cell} * {text}", f'{cell} = T.cast(T.cast({cell}, "{self.one(["int32", "int8", "int16"])}") + {text}, "{target.dtype}")']))

    def product(self, names, is_float=True):
        """a[i, k] * b[k, j], transposed or not, as it stands or cast."""
        sources = [t for t in self.readable(is_float) if len(t.shape) == 2]
        if len(names) != 3 or not sources:
            return self.value(is_float, names, 2)
        factors, bound = [], 1
        for v in names[:2]:
            t, pair = self.one(sources), [v, names[2]]
            if self.pick(2):
                pair.reverse()
            if any(self.vars[n] > extent for n, extent in zip(pair, t.shape)):
                return self.value(is_float, names, 2)
            text = f"{t.name}[{t.lead + ', ' if t.lead else ''}{pair[0]}, {pair[1]}]"
            factors.append(f'T.cast({text}, "{"float32" if is_float else "int32"}")' if self.pick(3) == 2 else text)
            bound *= t.bound
        return f"{factors[0]} * {factors[1]}", bound

    def product_loop(self):
        """A matrix product written out: c[i, j] += a[i, k] * b[k, j], in any order of the indices and with any casts."""
        dtype = self.one(["int8", "float16", "float32", "int16", "uint8", "int32"])
        m, n, k = (self.one([8, 4, 7, 16, 1]) for _ in range(3))
        ta, tb = self.pick(2), self.pick(2)
        a = self.matrix(k if ta else m, m if ta else k, dtype)
        b = self.matrix(n if tb else k, k if tb else n, dtype if self.pick(4) else self.one(["int8", "int32"]) if dtype not in LIMIT else "float32")
        c = self.new_tile((m, n), (self.one(["int32", "int32", dtype]) if dtype not in LIMIT else self.one(["float32", dtype]))) if self.indent == 2 else None
        if not a or not b or not c or a.bound * b.bound * k * self.trips + c.bound > LIMIT.get(c.dtype, 1 << 60) and c.is_float():
            return
        names = self.open_parallel([m, n, k])
        wide, (i, j, q) = "float32" if c.is_float() else self.one(["int32", "int16"]), names
        x, y = f"{a.name}[{f'{q}, {i}' if ta else f'{i}, {q}'}]", f"{b.name}[{f'{j}, {q}' if tb else f'{q}, {j}'}]"
        x, y = (f'T.cast({text}, "{wide}")' if self.pick(3) == 2 else text for text in (x, y))
        text = f"{x} * {y}" if self.pick(2) else f"{y} * {x}"
        text = f'T.cast({text}, "{c.dtype}")' if self.pick(4) == 3 else text
        self.line(f"{c.name}[{i}, {j}] += {text}" if self.pick(2) else f"{c.name}[{i}, {j}] = {text} + {c.name}[{i}, {j}]")
        self.close(names)
        c.bound += a.bound * b.bound * k * self.trips

    def matrix(self, rows, columns, dtype):
        """An operand of T.gemm: a tile that is there, or a new one, as it is or written anew by a loop or a copy."""
        old = [t for t in self.tiles if t.shape == (rows, columns) and t.dtype == dtype and not t.is_tensor and t.bound <= 3 and t.name not in self.frozen]
        if old and self.pick(2):
            return self.one(old)
        if self.indent > 2 or self.pick(3) == 0 or rows * columns > MOST:
            return self.new_tile((rows, columns), dtype) if self.indent == 2 else None
        source = self.new_tile((columns, rows), dtype)
        made = Tile(self.name("t"), (rows, columns), dtype, source.bound)
        self.line(f'{made.name} = T.{self.one(["alloc_shared", "alloc_fragment"])}({self.tuple(made.shape)}, "{dtype}")')
        names = self.open_parallel([rows, columns])
        self.line(f"{made.name}[{names[0]}, {names[1]}] = {source.name}[{names[1]}, {names[0]}]")
        self.close(names)
        self.tiles.append(made)
        return made

    def gemm(self):
        dtype = self.one(["float16", "int8", "float32"])
        sum_type = "int32" if dtype == "int8" else self.one(["float32", "float32", dtype])
        m, n, k = (self.one([16, 32, 8]) for _ in range(3))
        if self.pick(3) == 0:
            m = n = k
        ta, tb = self.pick(2), self.pick(2)
        a = self.matrix(k if ta else m, m if ta else k, dtype)
        b = self.matrix(n if tb else k, k if tb else n, dtype)
        sums = [t for t in self.tiles if t.shape == (m, n) and t.dtype == sum_type and not t.is_tensor and t is not a and t is not b]
        c = self.one(sums) if sums else self.new_tile((m, n), sum_type) if self.indent == 2 else None
        if not a or not b or not c:
            return
        clear = self.pick(4) == 3
        added = a.bound * b.bound * k
        if c.is_float() and (0 if clear else c.bound) + added * self.trips > LIMIT[sum_type]:
            return
        options = [f"transpose_{x}=True" for x, t in (("A", ta), ("B", tb)) if t]
        if clear:
            options.append("clear_accum=True")
        if self.pick(3) == 2:
            options.append("policy=T.GemmWarpPolicy." + self.one(["Square", "FullRow", "FullCol"]))
        self.line(f"T.gemm({', '.join([a.name, b.name, c.name] + options)})")
        c.bound = (0 if clear else c.bound) + added * (1 if clear else self.trips) if not clear else max(c.bound, added)

    def reduce(self):
        source = self.one([t for t in self.tiles if t.dtype != "bool" and not t.is_tensor and len(t.shape) > 1 and t.name not in self.frozen] or [None])
        if not source:
            return
        dim = self.pick(len(source.shape))
        shape = source.shape[:dim] + source.shape[dim + 1:]
        outs = [t for t in self.tiles if t.shape == shape and t.is_float() == source.is_float() and not t.is_tensor and t.dtype != "bool"]
        if not outs and self.indent > 2:
            return
        out = self.one(outs) if outs else self.new_tile(shape, self.one(["float32", source.dtype]) if source.is_float() else self.one(["int32", "int8", source.dtype]))
        kind, clear = self.one(["sum", "max", "min"]), self.pick(2) == 0
        grown = source.bound * (source.shape[dim] * self.trips if kind == "sum" else 1)
        if out.is_float() and grown + out.bound > LIMIT[out.dtype]:
            return
        self.line(f"T.reduce_{kind}({source.name}, {out.name}, dim={self.one([dim, dim - len(source.shape)])}{'' if clear else ', clear=False'})")
        out.bound = max(out.bound, grown) if clear or kind != "sum" else out.bound + grown

    def turn(self):
        """A tile copied with its rows as columns."""
        target = self.one([t for t in self.tiles if len(t.shape) == 2 and not t.is_tensor] or [None])
        sources = [t for t in self.tiles if target and t is not target and t.shape == target.shape[::-1] and t.dtype == target.dtype and not t.is_tensor and t.name not in self.frozen]
        if not sources and (not target or self.indent > 2):
            return
        source = self.one(sources) if sources else self.new_tile(target.shape[::-1], target.dtype)
        self.line(f"T.transpose({source.name}, {target.name})")
        target.bound = max(target.bound, source.bound)

    def reducer(self):
        """Cells that iterations contribute to in one way, from what changes nothing or a number on."""
        target = self.one([t for t in self.tiles if t.dtype != "bool" and not t.is_tensor and len(t.shape) < 3] or [None])
        if not target:
            return
        around, name = self.outer(), self.name("r")
        kind = self.one(["sum", "max", "min"] if target.is_float() else ["sum", "max", "min", "bitand", "bitor", "bitxor"])
        first = self.pick(4) if target.is_float() or self.pick(2) else None
        self.line(f'{name} = T.alloc_reducer({self.tuple(target.shape)}, "{target.dtype}", op="{kind}")')
        self.line(f"T.reducer_init({name}{'' if first is None else f', {first}'})")
        names = self.open_parallel(list(target.shape) + [self.one([8, 3, 1, 5])])
        text, bound = self.typed(target, names + around, LIMIT.get(target.dtype, 0) / 8 - 4)
        self.line(f"T.reducer_update({name}[{', '.join(names[:len(target.shape)])}], {text})")
        count = self.vars[names[-1]]
        self.close(names)
        self.line(f"T.finalize_reducer({name}, {target.name})")
        target.bound = max(target.bound, bound * (count if kind == "sum" else 1) + 3)

    def bytes(self):
        """A tile of integers seen as another one of the same bytes."""
        width = {"int8": 1, "uint8": 1, "int16": 2, "int32": 4}
        target = self.one([t for t in self.tiles if t.dtype in width and not t.is_tensor] or [None])
        if not target or self.indent > 2:
            return
        dtype = self.one(list(width))
        total = width[target.dtype]
        for extent in target.shape:
            total *= extent
        if total % width[dtype]:
            return
        count = total // width[dtype]
        rows = self.one([n for n in (1, 2, 3, 4, 8) if count % n == 0])
        view = Tile(self.name("t"), self.one([(rows, count // rows), (count,)]), dtype)
        self.line(f'{view.name} = T.view({target.name}, {self.tuple(view.shape)}, "{dtype}")')
        self.tiles.append(view)

    def move(self):
        target = self.one([t for t in self.writable() if not t.is_tensor] or [None])
        if not target:
            return
        sources = [t for t in self.tiles if t.shape == target.shape and t is not target and t.is_float() == target.is_float() and not t.is_tensor and t.name not in self.frozen and
                   (not t.is_float() or t.bound <= LIMIT[target.dtype]) and (t.dtype == "bool") == (target.dtype == "bool")]
        if sources:
            source = self.one(sources)
            if len(target.shape) == 2 and target.shape[0] > 1 and self.pick(2):
                rows = 1 + self.pick(target.shape[0] - 1)
                self.line(f"T.copy({source.name}[{target.shape[0] - rows}:, :], {target.name}[0:{rows}, :])")
            else:
                self.line(f"T.copy({source.name}, {target.name})")
            target.bound = max(target.bound, source.bound)
        elif self.loops:
            self.stream(target)
        else:
            self.load(target)

    def stream(self, target):
        """The next block of a tensor, in a loop: the loop's variable counts the blocks."""
        k = self.innermost
        blocks = max(1, self.vars[k])
        rows = max(1, blocks * target.shape[0] - (self.pick(3) if self.pick(2) else 0))
        tensor = self.new_input((rows,) + target.shape[1:], target.dtype)
        self.line(f"T.copy({tensor.name}[{', '.join([f'{k} * {target.shape[0]}'] + ['0'] * (len(target.shape) - 1))}], {target.name})")
        target.bound = max(target.bound, tensor.bound)

    def loop(self):
        if self.loops >= 2:
            return
        trips, k = self.one([2, 3, 1, 0, 5]), self.name("k")
        self.line(f"for {k} in " + self.one([f"T.serial({trips})", f"range({trips})", *(f"T.Pipelined({trips}, num_stages={n})" for n in range(4)), f"T.serial(0, {2 * trips}, 2)", f"T.unroll({trips})"]) + ":")
        step = 2 if ", 2)" in self.lines[-1] and "serial(0" in self.lines[-1] else 1
        self.vars[k] = max(1, trips * step)
        before, inner, self.innermost = self.frozen, getattr(self, "innermost", None), k
        self.frozen = before | {t.name for t in self.tiles}
        self.indent, self.loops, self.trips = self.indent + 1, self.loops + 1, self.trips * max(trips, 1)
        start = len(self.lines)
        self.statements(1 + self.pick(3))
        if len(self.lines) == start:
            self.line("pass")
        self.indent, self.loops, self.trips = self.indent - 1, self.loops - 1, self.trips // max(trips, 1)
        self.frozen, self.innermost = before, inner
        del self.vars[k]

    def branch(self):
        if self.loops >= 2:
            return
        tiles = [t for t in self.tiles + self.inputs if not t.is_float() and not t.lead]
        whole = [f"T.{self.one(['any_of', 'all_of'])}({self.one(tiles).name})"] if tiles else []
        self.line(f"if {self.one(['bx > 0', 'bx == 0', *(f'{k} > 0' for k in self.vars), *whole])}:")
        self.indent, self.loops = self.indent + 1, self.loops + 1
        start, inner = len(self.lines), getattr(self, "innermost", None)
        self.innermost = inner or "bx"
        self.vars.setdefault("bx", self.grid[0])
        self.statements(1 + self.pick(2))
        if not inner:
            self.innermost = None
        if len(self.lines) == start:
            self.line("pass")
        self.indent, self.loops = self.indent - 1, self.loops - 1

    def statements(self, count):
        for _ in range(count):
            self.one([self.elements, self.accumulate, self.move, self.loop, self.gemm, self.reduce, self.in_order, self.elements, self.accumulate, self.branch, self.product_loop, self.running, self.turn, self.reducer, self.bytes])()

    def program(self):
        self.grid = (self.one([1, 2, 3]),)
        for _ in range(1 + self.pick(3)):
            self.new_tile()
        if self.pick(3) == 2:  # memory of the block in a tensor, written and read again
            shape, dtype = self.shape(1 + self.pick(2)), self.dtype()
            tensor = Tile(self.name("W"), shape, dtype, 3, True, "bx")
            self.params.append(Tile(tensor.name, self.grid + shape, dtype, 3, True))
            self.tiles.append(tensor)
        self.statements(1 + self.pick(6))
        for tile in self.tiles:
            if tile.is_tensor:
                continue
            out = Tile("O" + tile.name, self.grid + tile.shape, tile.dtype, 0, True)
            self.params.append(out)
            if self.pick(4) == 3:
                names = self.open_parallel(tile.shape)
                self.line(f"{out.name}[bx, {', '.join(names)}] = {tile.name}[{', '.join(names)}]")
                self.close(names)
            else:
                self.line(f"T.copy({tile.name}, {out.name}[bx{', 0' * len(tile.shape)}])")
        head = ["import tilelang.language as T", "", "", "@T.prim_func", "def kernel(" + ", ".join(f'{p.name}: T.Tensor({self.tuple(p.shape)}, "{p.dtype}")' for p in self.params) + "):",
                f"    with T.Kernel({self.grid[0]}) as bx:"]
        return "\n".join(head + self.lines) + "\n"
