# SPDX-License-Identifier: Apache-2.0
"""tilelang.language.symbols: sizes that only a call knows, and what host code computes from them.

    M = T.dynamic("m"); T.ceildiv(M, 128)         # an expression; the kernel's own launch computes it

Such an object reaches the compiler by its parts (__tilelang__).
"""


class Expr:
    """An integer that only a call knows."""
    dtype = "int32"

    def _joined(op, swapped=False):

        def join(self, other):
            if not isinstance(other, (int, float, Expr)):
                return NotImplemented
            return Binary(op, other, self) if swapped else Binary(op, self, other)

        return join

    for _name, _op in (("add", "+"), ("sub", "-"), ("mul", "*"), ("floordiv", "//"), ("mod", "%"), ("truediv", "/"), ("lshift", "<<"), ("rshift", ">>"),
                       ("and", "&"), ("or", "|"), ("xor", "^")):
        locals()[f"__{_name}__"] = _joined(_op)
        locals()[f"__r{_name}__"] = _joined(_op, True)
    del _joined, _name, _op

    def __neg__(self):
        return Binary("-", 0, self)

    def __bool__(self):
        raise TypeError(f"`{self}` is known when the kernel is called; host code cannot decide by it")

    def __int__(self):
        raise TypeError(f"`{self}` is known when the kernel is called; host code has no number for it")

    __index__ = __lt__ = __le__ = __gt__ = __ge__ = lambda self, *other: self.__int__()

    def value(self, sizes):
        """The number that it is, where sizes are known by name."""
        raise NotImplementedError


class Var(Expr):
    """A size by its name."""

    def __init__(self, name, dtype="int32"):
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"the name of a size is an identifier, not {name!r}")
        self.name = name
        self.dtype = dtype
        self.__tilelang__ = ("symbol", name)

    def value(self, sizes):
        if self.name not in sizes:
            raise ValueError(f"the size `{self.name}` is not known; known are {', '.join(sizes) or 'none'}")
        return sizes[self.name]

    def __repr__(self):
        return self.name


class Binary(Expr):
    """Two numbers joined by an operator."""
    _DO = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "//": lambda a, b: a // b, "%": lambda a, b: a % b,
           "/": lambda a, b: a / b, "<<": lambda a, b: a << b, ">>": lambda a, b: a >> b, "&": lambda a, b: a & b, "|": lambda a, b: a | b,
           "^": lambda a, b: a ^ b}

    def __init__(self, op, left, right):
        self.op, self.left, self.right = op, left, right
        self.__tilelang__ = ("binary", op, left, right)

    def value(self, sizes):
        return self._DO[self.op](extent(self.left, sizes), extent(self.right, sizes))

    def __repr__(self):
        return f"({self.left!r} {self.op} {self.right!r})"


def extent(of, sizes):
    """The number of an extent: a number, or an expression over sizes by name."""
    return of.value(sizes) if isinstance(of, Expr) else of


def dynamic(name, dtype="int32"):
    """Sizes that arguments' shapes give: T.dynamic("m"), T.dynamic("m, n")."""
    if not isinstance(name, str):
        raise TypeError(f"T.dynamic takes the name of a size, as in T.dynamic(\"m\"), not {name!r}")
    names = name.replace(",", " ").split()
    made = tuple(Var(each, dtype) for each in names)
    return made[0] if len(made) == 1 else made


symbolic = const = dynamic
