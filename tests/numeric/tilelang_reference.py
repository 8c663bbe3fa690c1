# SPDX-License-Identifier: Apache-2.0
"""tilelang_reference.py: a TileLang program run as plain Python, one element after the other, as its text says.

    program = Program("k.py", {"N": 64})        runs the file with a `tilelang` of our own; program.tensors are its parameters
    program.run({"A": [...], "B": [...]})       every block of the grid in order; the lists are changed in place

Nothing here is shared with the compiler: numbers carry their dtype and are rounded or cut off after every operation, tiles are lists, and
`T.Parallel` is a loop. An element of a tile that lies outside may be read only where T.if_then_else drops it. Sums of floats are exact as long as
their numbers are small and whole, which is what tests use, so results are compared bit by bit. A program that names its threads is run by as many of
Python's, one at a time, from barrier to barrier; what is allocated as shared they share, and tile operations are done by the first. Needs no package."""
import itertools
import re
import struct
import sys
import threading
import types

# dtype -> (kind, bits, struct code)
DTYPES = {"bool": ("b", 1, "?"), "int8": ("i", 8, "b"), "uint8": ("u", 8, "B"), "int16": ("i", 16, "h"), "uint16": ("u", 16, "H"), "int32": ("i", 32, "i"),
          "uint32": ("u", 32, "I"), "int64": ("i", 64, "q"), "float16": ("f", 16, "e"), "float32": ("f", 32, "f"), "float64": ("f", 64, "d")}


def kind(dtype):
    return DTYPES[dtype][0]


def settle(value, dtype):
    """The number as an element of that type: integers are cut off, floats rounded."""
    what, bits, code = DTYPES[dtype]
    if what == "b":
        return bool(value)
    if what == "f":
        try:
            return struct.unpack("<" + code, struct.pack("<" + code, float(value)))[0]
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")
    value = int(value) & ((1 << bits) - 1)
    return value - (1 << bits) if what == "i" and value >> (bits - 1) else value


class Num:
    """A run-time number: a value and its dtype. `nowhere`: it was read outside of a tile."""

    def __init__(self, value, dtype, place=None, nowhere=False):
        self.value, self.dtype, self.place, self.nowhere = value, dtype, place, nowhere

    def __index__(self):
        return int(self.value)

    def __bool__(self):
        assert not self.nowhere, "an element outside of a tile is used"
        return bool(self.value)

    def astype(self, dtype):
        return Num(settle(self.value, dtype), dtype, None, self.nowhere)


def meet(x, y):
    """The dtype in which two numbers meet, at least one of them a Num."""
    if not isinstance(y, Num):
        x, y = y, x
    if not isinstance(x, Num):
        if kind(y.dtype) == "f":
            return y.dtype
        if isinstance(x, float):
            return "float32"
        if isinstance(x, bool):
            return y.dtype
        dtype = y.dtype if DTYPES[y.dtype][1] >= 32 else "int32"
        return dtype if settle(x, dtype) == x else "int64"
    if x.dtype == y.dtype:
        return x.dtype
    (kx, bx, _), (ky, by, _) = DTYPES[x.dtype], DTYPES[y.dtype]
    if (kx == "f") != (ky == "f"):
        return x.dtype if kx == "f" else y.dtype
    if bx == by:
        return x.dtype if kx == "i" else y.dtype
    return x.dtype if bx > by else y.dtype


def raw(x):
    return x.value if isinstance(x, Num) else x


def nowhere(*all):
    return any(isinstance(x, Num) and x.nowhere for x in all)


def convert(x, dtype):
    return Num(settle(raw(x), dtype), dtype, None, nowhere(x))


def combine(x, y, function, compare=False):
    if not isinstance(x, Num) and not isinstance(y, Num):
        return function(x, y)
    dtype = meet(x, y)
    value = function(settle(raw(x), dtype), settle(raw(y), dtype))
    return Num(bool(value), "bool", None, nowhere(x, y)) if compare else Num(settle(value, dtype), dtype, None, nowhere(x, y))


def define_operators():
    import operator
    for name in "add sub mul floordiv mod and_ or_ xor lshift rshift truediv".split():
        function, plain = getattr(operator, name), name.rstrip("_")
        setattr(Num, f"__{plain}__", lambda self, other, f=function: combine(self, other, f))
        setattr(Num, f"__r{plain}__", lambda self, other, f=function: combine(other, self, f))
    for name in "lt le gt ge eq ne".split():
        setattr(Num, f"__{name}__", lambda self, other, f=getattr(operator, name): combine(self, other, f, True))
    Num.__neg__ = lambda self: Num(settle(-self.value, self.dtype), self.dtype, None, self.nowhere)
    Num.__invert__ = lambda self: Num(settle(~self.value, self.dtype), self.dtype, None, self.nowhere)
    Num.__hash__ = None


define_operators()


class Box:
    """Part of a storage: first element and extents."""

    def __init__(self, storage, first, shape):
        self.storage, self.first, self.shape = storage, first, shape

    def places(self):
        return ([f + i for f, i in zip(self.first, at)] for at in itertools.product(*map(range, self.shape)))

    def read(self):
        return [self.storage.get(place) for place in self.places()]

    def write(self, values):
        for place, value in zip(self.places(), values):
            self.storage.put(place, value)

    def long(self):
        return [extent for extent in self.shape if extent != 1]


class Storage:
    """A tensor (outside reads 0, writes are dropped) or a tile (has no outside)."""

    def __init__(self, shape, dtype, is_tensor):
        self.shape, self.dtype, self.is_tensor = tuple(int(n) for n in shape), str(dtype), is_tensor
        self.values = None if is_tensor else [None] * self.count()
        self.safe = 0  # what it reads outside

    def as_own(self, own):
        self.own = own
        return self

    def count(self):
        total = 1
        for extent in self.shape:
            total *= extent
        return total

    def flat(self, place):
        at = 0
        for index, extent in zip(place, self.shape):
            if not 0 <= index < extent:
                return None
            at = at * extent + index
        return at

    def get(self, place):
        at = self.flat(place)
        if at is None:
            return Num(settle(self.safe, self.dtype), self.dtype, None, not self.is_tensor)
        return Num(self.values[at], self.dtype, None, self.values[at] is None)

    def put(self, place, value):
        at = self.flat(place)
        assert not nowhere(value), "an element outside of a tile, or never written, is used"
        assert at is not None or self.is_tensor, f"{place} lies outside of a tile of {self.shape}"
        if at is not None:
            self.values[at] = settle(raw(value), self.dtype)

    def whole(self):
        return Box(self, [0] * len(self.shape), list(self.shape))

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        first, shape = [], []
        for part, extent in zip(index, self.shape):
            start, stop = (part.start, part.stop) if isinstance(part, slice) else (part, None)
            start = 0 if start is None else start
            if isinstance(start, int) and start < 0:
                start += extent
            if isinstance(part, slice):
                stop = extent if stop is None else stop
                if isinstance(stop, int) and stop < 0:
                    stop += extent
                shape.append(int(raw(stop)) - int(raw(start)))
            else:
                shape.append(1)
            assert not nowhere(start), "an index that was never written"
            first.append(int(raw(start)))
        assert len(index) == len(self.shape)
        box = Box(self, first, shape)
        if any(isinstance(part, slice) for part in index):
            return box
        number = self.get(first)
        number.place = box
        return number

    def __setitem__(self, index, value):
        self[index].place.storage.put(self[index].place.first, value)


class View(Storage):
    """The bytes of a tile as another one; elements are put together from bytes, the lowest first."""

    def __init__(self, base, shape, dtype):
        super().__init__(shape, dtype, False)
        base = base.base if isinstance(base, View) else base
        self.base, self.width, self.values = base, max(1, DTYPES[dtype][1] // 8), None
        assert self.count() * self.width == base.count() * max(1, DTYPES[base.dtype][1] // 8)

    def bytes(self):
        assert None not in self.base.values
        return bytearray(struct.pack(f"<{self.base.count()}{DTYPES[self.base.dtype][2]}", *self.base.values))

    def get(self, place):
        at = self.flat(place)
        if at is None:
            return Num(settle(0, self.dtype), self.dtype, None, True)
        return Num(struct.unpack_from("<" + DTYPES[self.dtype][2], self.bytes(), at * self.width)[0], self.dtype)

    def put(self, place, value):
        at = self.flat(place)
        assert not nowhere(value) and at is not None
        if DTYPES[self.dtype] == DTYPES[self.base.dtype]:
            self.base.values[at] = settle(raw(value), self.dtype)
            return
        data = self.bytes()
        struct.pack_into("<" + DTYPES[self.dtype][2], data, at * self.width, settle(raw(value), self.dtype))
        self.base.values = list(struct.unpack(f"<{self.base.count()}{DTYPES[self.base.dtype][2]}", data))


def box_of(thing, other=None):
    if isinstance(thing, Storage):
        return thing.whole()
    if isinstance(thing, Num):
        shape = [1] * len(thing.place.shape)
        if other is not None:
            for d in range(1, min(len(shape), len(other)) + 1):
                shape[-d] = other[-d]
        return Box(thing.place.storage, thing.place.first, shape)
    return thing


class Team:
    """The threads of a block. One runs at a time, in order, until it waits or ends; when all have, the first goes on."""

    def __init__(self, extents):
        self.extents, self.count, self.at = extents, extents[0] * extents[1], 0
        self.main, self.turn = threading.Semaphore(0), [threading.Semaphore(0) for _ in range(self.count)]
        self.made, self.calls, self.shown, self.failed = {}, [0] * self.count, [None] * self.count, None

    def run(self, function):
        live = set(range(self.count))

        def work(number):
            self.turn[number].acquire()
            try:
                function()
            except BaseException as why:  # the scheduler says it
                self.failed = self.failed or why
            live.discard(number)
            self.main.release()
        for number in range(self.count):
            threading.Thread(target=work, args=(number,), daemon=True).start()
        while live and not self.failed:
            for number in sorted(live):
                self.at = number
                self.turn[number].release()
                self.main.acquire()
        if self.failed:
            raise self.failed

    def wait(self):
        number = self.at
        self.main.release()
        self.turn[number].acquire()

    def exchange(self, value):
        """What all threads have."""
        self.shown[self.at] = value
        self.wait()
        shown = list(self.shown)
        self.wait()
        return shown

    def shared(self, make):
        """The same thing for all threads: the n-th of each."""
        number = self.calls[self.at]
        self.calls[self.at] += 1
        return self.made.setdefault(number, make()) if number not in self.made else self.made[number]

    def once(self, function):
        self.wait()
        if self.at == 0:
            function()
        self.wait()


class Language(types.ModuleType):
    """`tilelang.language`. The block that runs now is `block`; T.Kernel says how many there are."""

    def __init__(self):
        super().__init__("tilelang.language")
        self.block, self.grid, self.prims = (0, 0, 0), None, []
        for name in DTYPES:
            setattr(self, name, type("dtype", (str,), {"__call__": lambda self, x: convert(x, str(self))})(name))
        self.GemmWarpPolicy = types.SimpleNamespace(Square=0, FullRow=1, FullCol=2)
        self.serial = self.Serial = self.unroll = self.count
        self.reduce_sum, self.reduce_max, self.reduce_min = (self.reducer(f) for f in (lambda x, y: x + y, max, min))
        make = lambda shape, dtype: Storage(shape if isinstance(shape, tuple) else (shape,), dtype, False)  # noqa: E731
        self.alloc_shared = self.alloc_fragment = lambda shape, dtype, scope=None: self.team.shared(lambda: make(shape, dtype)) if self.team else make(shape, dtype)
        self.alloc_local = lambda shape, dtype, scope=None: make(shape, dtype).as_own(self.team is not None)
        self.Cast = lambda dtype, value: convert(value, str(dtype))
        self.floordiv, self.floormod = (lambda a, b: a // b), (lambda a, b: a % b)
        self.cdiv = self.ceildiv
        self.infinity = lambda dtype: float("inf")
        self.use_swizzle = lambda *a, **k: None
        self.team, self.vectorized = None, self.count
        for name, function in (("sum", lambda x, y: x + y), ("max", max), ("min", min), ("bitor", lambda x, y: x | y), ("bitand", lambda x, y: x & y)):
            setattr(self, f"warp_reduce_{name}", lambda value, f=function: self.reduce_threads(value, f))
        for name in ("copy", "fill", "clear", "gemm", "reduce_sum", "reduce_max", "reduce_min"):
            setattr(self, name, self.collective(getattr(self, name)))

    # --- threads that the program names ---

    def collective(self, function):
        def run(*args, **options):
            storages = [x.place.storage if isinstance(x, Num) and x.place else x.storage if isinstance(x, Box) else x for x in args]
            if not self.team or any(getattr(x, "own", False) for x in storages):
                return function(*args, **options)
            return self.team.once(lambda: function(*args, **options))
        return run

    def get_thread_binding(self, dim=0):
        x = self.team.extents[0]
        return Num(self.team.at % x if dim == 0 else self.team.at // x, "int32")

    def sync_threads(self, *args):
        if self.team:
            self.team.wait()

    def reduce_threads(self, value, function):
        first = self.team.at // 32 * 32
        total, *rest = [raw(x) for x in self.team.exchange(value)[first:first + 32]]
        for x in rest:
            total = settle(function(total, x), value.dtype)
        return Num(total, value.dtype)

    def take(self, value, to, inside):
        lane = self.team.at % 32
        shown = self.team.exchange(value)
        return shown[self.team.at - lane + to] if inside else shown[self.team.at]

    def shfl_xor(self, value, by):
        return self.take(value, self.team.at % 32 ^ raw(by), True)

    def shfl_sync(self, value, lane):
        return self.take(value, raw(lane) % 32, True)

    def shfl_up(self, value, by):
        return self.take(value, self.team.at % 32 - raw(by), self.team.at % 32 >= raw(by))

    def shfl_down(self, value, by):
        return self.take(value, self.team.at % 32 + raw(by), self.team.at % 32 + raw(by) < 32)

    def syncthreads_count(self, value):
        return Num(sum(bool(raw(x)) for x in self.team.exchange(value)), "int32")

    def syncthreads_or(self, value):
        return Num(any(bool(raw(x)) for x in self.team.exchange(value)), "int32")

    def syncthreads_and(self, value):
        return Num(all(bool(raw(x)) for x in self.team.exchange(value)), "int32")

    def atomic_add(self, element, value):
        element.place.storage.put(element.place.first, element + value)

    def prim_func(self, function):
        self.prims.append(function)
        return function

    def Tensor(self, shape, dtype):
        return Storage(shape if isinstance(shape, tuple) else (shape,), dtype, True)

    def Kernel(self, *extents, **options):
        self.grid = tuple(int(e) for e in extents) + (1,) * (3 - len(extents))
        names = tuple(Num(b, "int32") for b in self.block[:len(extents)])

        class Launch:
            def __enter__(self):
                return names[0] if len(names) == 1 else names

            def __exit__(self, *why):
                return False
        return Launch()

    def Parallel(self, *extents, **options):
        if self.team:
            self.team.wait()
        for at in () if self.team and self.team.at else itertools.product(*(range(int(e)) for e in extents)):
            numbers = tuple(Num(i, "int32") for i in at)
            yield numbers[0] if len(numbers) == 1 else numbers
        if self.team:
            self.team.wait()

    def count(self, start, stop=None, step=1, **options):
        start, stop = (0, start) if stop is None else (start, stop)
        return (Num(i, "int32") for i in range(int(raw(start)), int(raw(stop)), int(raw(step))))

    def Pipelined(self, start, stop=None, num_stages=0):
        return self.count(start, stop)

    def copy(self, source, target, **options):
        head = isinstance(source, Num)
        to_shape = target.shape if not isinstance(target, Num) else None
        source = box_of(source, to_shape if head else None)
        target = box_of(target, source.shape)
        assert source.long() == target.long(), "shapes"
        target.write(source.read())

    def fill(self, tile, value):
        box = box_of(tile)
        box.write([value] * len(list(box.places())))

    def clear(self, tile):
        self.fill(tile, 0)

    def gemm(self, A, B, C, transpose_A=False, transpose_B=False, policy=None, clear_accum=False, k_pack=1):
        A, B, C = box_of(A), box_of(B), box_of(C)
        (a0, a1), (b0, b1), (m, n) = A.shape[-2:], B.shape[-2:], C.shape[-2:]
        k = a0 if transpose_A else a1
        a, b, c = ([raw(x) for x in box.read()] for box in (A, B, C))
        assert None not in a and None not in b and (clear_accum or None not in c)
        out = []
        for i in range(m):
            row = [a[q * a1 + i] for q in range(k)] if transpose_A else a[i * a1:i * a1 + k]
            for j in range(n):
                column = b[j * b1:j * b1 + k] if transpose_B else b[j::b1]
                out.append((0 if clear_accum else c[i * n + j]) + sum(x * y for x, y in zip(row, column)))
        C.write(out)

    def reducer(self, function):
        def reduce(buffer, out, dim=-1, clear=True):
            source, target = box_of(buffer), box_of(out)
            dim %= len(source.shape)
            old, cells = target.read(), {}
            for place, x in zip(itertools.product(*map(range, source.shape)), source.read()):
                cells.setdefault(place[:dim] + place[dim + 1:], []).append(settle(raw(x), target.storage.dtype))
            results = []
            for number, cell in enumerate(cells.values()):
                values = cell if clear else [raw(old[number])] + cell
                total = values[0]
                for x in values[1:]:
                    total = function(total, x)
                results.append(total)
            target.write(results)
        return reduce

    def Persistent(self, domain, wave_size, index, group_size=8):
        """Tiles index, index + wave_size, ..: groups along the last extent, then the others, then the places in the group."""
        *others, last = (int(e) for e in domain)
        group = max(1, min(group_size, last))
        tiles = [(*place, g * group + i) for g in range(-(-last // group)) for place in itertools.product(*map(range, others)) for i in range(group)]
        for tile in tiles[int(raw(index))::int(wave_size)]:
            if tile[-1] < last:
                yield tuple(Num(i, "int32") for i in tile)

    def alloc_var(self, dtype, init=0):
        return convert(init, str(dtype))

    def alloc_reducer(self, shape, dtype, op="sum", replication=None):
        tile = Storage(shape if isinstance(shape, tuple) else (shape,), dtype, False)
        tile.op = op
        return tile

    def reducer_init(self, reducer, init=None):
        what, bits, _ = DTYPES[reducer.dtype]
        least, most = (float("-inf"), float("inf")) if what == "f" else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if what == "i" else (0, (1 << bits) - 1)
        self.fill(reducer, init if init is not None else {"max": least, "min": most, "bitand": -1}.get(reducer.op, 0))

    def reducer_update(self, target, value):
        tile, value = target.place.storage, convert(value, target.dtype)
        join = {"sum": lambda x, y: x + y, "max": max, "min": min, "bitand": lambda x, y: x & y, "bitor": lambda x, y: x | y, "bitxor": lambda x, y: x ^ y}[tile.op]
        tile.put(target.place.first, combine(target, value, join))

    def finalize_reducer(self, reducer, dst=None):
        if dst is not None:
            self.copy(reducer, dst)

    def any_of(self, buffer):
        return Num(any(bool(x) for x in box_of(buffer).read()), "bool")

    def all_of(self, buffer):
        return Num(all(bool(x) for x in box_of(buffer).read()), "bool")

    def im2col(self, img, col, nhw_step, c_step, kernel, stride, dilation, pad):
        _, height, width, channels = img.shape
        (rows, columns), size = col.shape, [(extent + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1 for extent in (height, width)]
        for i, j in itertools.product(range(rows), range(columns)):
            m, k = int(nhw_step) * rows + i, int(c_step) * columns + j
            n, y, x = m // size[1] // size[0], m // size[1] % size[0], m % size[1]
            ky, kx, c = k // channels // kernel, k // channels % kernel, k % channels
            place = [n, y * stride + ky * dilation - pad, x * stride + kx * dilation - pad, c]
            col.put([i, j], img.get(place) if ky < kernel else 0)

    def view(self, source, shape, dtype=None):
        return View(source, shape if isinstance(shape, tuple) else (shape,), str(dtype or source.dtype))

    reshape = view

    def annotate_safe_value(self, values):
        for tensor, value in values.items():
            tensor.safe = value

    def transpose(self, source, target):
        source, target = box_of(source), box_of(target)
        rows, columns = source.shape[-2:]
        values = source.read()
        target.write([values[at + i * columns + j] for at in range(0, len(values), rows * columns) for j in range(columns) for i in range(rows)])

    def atomic_add(self, target, value):
        if not isinstance(target, Num):
            box = box_of(target)
            more = box_of(value).read() if isinstance(value, (Storage, Box)) else [value] * len(box.read())
            box.write([x + convert(y, x.dtype) for x, y in zip(box.read(), more)])
            return
        target.place.storage.put(target.place.first, target + convert(value, target.dtype))

    def atomic_addx2(self, target, value, count=2):
        if not isinstance(target, Num):
            return self.atomic_add(target, value)
        for i in range(count):
            to, of = ([*x.place.first[:-1], x.place.first[-1] + i] for x in (target, value))
            self.atomic_add(target.place.storage[tuple(to)], value.place.storage[tuple(of)])

    def atomic_addx4(self, target, value):
        self.atomic_addx2(target, value, 4)

    def ceildiv(self, a, b):
        return (a + b - 1) // b

    def max(self, a, b):
        return combine(a, b, max)

    def min(self, a, b):
        return combine(a, b, min)

    def abs(self, x):
        return Num(settle(abs(x.value), x.dtype), x.dtype, None, x.nowhere)

    def cast(self, value, dtype):
        return convert(value, str(dtype))

    def if_then_else(self, condition, a, b):
        if not isinstance(a, Num) and not isinstance(b, Num):
            dtype = "float32" if isinstance(a, float) or isinstance(b, float) else "int32"
        else:
            dtype = meet(a, b)
        return convert(a if condition else b, dtype)


class Program:
    def __init__(self, path, defines):
        self.language = Language()
        package = types.ModuleType("tilelang")
        package.language = self.language
        package.jit = lambda f=None, **options: f if f else lambda g: g
        sys.modules["tilelang"], sys.modules["tilelang.language"] = package, self.language
        names = dict(defines, max=self.language.max, min=self.language.min)
        with open(path) as file:
            text = file.read()
        exec(compile(text, path, "exec"), names)
        threads = re.search(r"threads=\(?([0-9, ]+)", text)
        extents = [int(n) for n in threads.group(1).split(",") if n.strip()] if threads else []
        self.extents = tuple((extents + [1])[:2]) if "get_thread_binding" in text else None
        if not self.language.prims:  # a function that returns the kernel
            factory = [f for f in names.values() if isinstance(f, types.FunctionType) and f.__code__.co_filename == path][-1]
            factory(**{name: value for name, value in defines.items() if name in factory.__code__.co_varnames[:factory.__code__.co_argcount]})
        self.function = self.language.prims[-1]
        self.tensors = dict(self.function.__annotations__)

    def run(self, arrays):
        for name, tensor in self.tensors.items():
            tensor.values = arrays[name]
        self.run_block((0, 0, 0))
        grid = self.language.grid
        for z, y, x in itertools.product(*(range(n) for n in reversed(grid))):
            if (x, y, z) != (0, 0, 0):
                self.run_block((x, y, z))

    def run_block(self, block):
        self.language.block = block
        for tensor in self.tensors.values():
            tensor.safe = 0
        if self.extents:
            self.language.team = Team(self.extents)
            self.language.team.run(lambda: self.function(**self.tensors))
        else:
            self.function(**self.tensors)
