# SPDX-License-Identifier: Apache-2.0
"""tilelang.language.builtins: the names of T as objects of the host.

What a name means inside a kernel says the compiler, which knows these objects by their full names. The host may call those that compute
with numbers; all others say that they are for kernels.
"""
import enum
import math

from ... import _native
from .symbols import Expr


class Builtin:
    """A name of T."""

    def __init__(self, name, host=None):
        self.__name__ = self.__qualname__ = name
        self.__module__ = "tilelang.language"
        self._host = host
        _native.register(self, f"tilelang.language.{name}")

    def __call__(self, *args, **kwargs):
        if self._host is None:
            raise TypeError(f"T.{self.__name__} is for kernels: it is called inside of a function decorated with T.prim_func, T.macro or tilelang.jit")
        return self._host(*args, **kwargs)

    def __getitem__(self, parts):
        raise TypeError(f"T.{self.__name__} is for kernels")

    def __repr__(self):
        return f"T.{self.__name__}"


def ceildiv(a, b):
    """a / b, rounded up."""
    return (a + b - 1) // b


def align_up(a, b):
    """The least multiple of b that is not below a."""
    return ceildiv(a, b) * b


def _infinity(dtype="float32"):
    return math.inf


def _limit(low):

    def limit(dtype):
        from .dtypes import dtype as of
        found = of(dtype)
        if "float" in found:
            if str(found) not in ("float16", "float32", "float64", "bfloat16"):
                raise ValueError(f"the limits of {found} are for kernels")
            largest = {"float16": 65504.0, "float32": 3.4028234663852886e38, "float64": 1.7976931348623157e308, "bfloat16": 3.3895313892515355e38}[str(found)]
            return -largest if low else largest
        if found.startswith("uint") or found == "bool":
            return 0 if low else (1 << found.bits) - 1
        return -(1 << found.bits - 1) if low else (1 << found.bits - 1) - 1

    return limit


HOST = {
    "ceildiv": ceildiv, "cdiv": ceildiv, "align_up": align_up, "floordiv": lambda a, b: a // b, "floormod": lambda a, b: a % b,
    "truncdiv": lambda a, b: a // b if isinstance(a, Expr) or isinstance(b, Expr) or (a < 0) == (b < 0) else -(-a // b), "truncmod": math.fmod,
    "shift_left": lambda a, b: a << b, "shift_right": lambda a, b: a >> b, "bitwise_and": lambda a, b: a & b, "bitwise_or": lambda a, b: a | b,
    "bitwise_xor": lambda a, b: a ^ b, "max": max, "min": min, "abs": abs, "exp": math.exp, "exp2": lambda x: 2.0**x, "log": math.log,
    "log2": math.log2, "sqrt": math.sqrt, "rsqrt": lambda x: 1 / math.sqrt(x), "pow": pow, "floor": math.floor, "ceil": math.ceil,
    "infinity": _infinity, "max_value": _limit(False), "min_value": _limit(True), "cast": lambda value, dtype, **how: _cast(value, dtype, **how),
    "if_then_else": lambda condition, a, b: a if condition else b, "next_power_of_2": lambda n: 1 << max(n - 1, 0).bit_length(),
}


def check_cast(round=None, sat=None, rbits=None):
    """The ways to round of T.cast, as the compiler takes them."""
    if round not in (None, "", "rn", "rz", "rm", "rp", "rna", "rs"):
        raise ValueError(f"Invalid round={round!r}: T.cast rounds to nearest (rn), toward zero (rz), down (rm), up (rp), halves away from zero (rna) or by random bits (rs)")
    if sat is not None and not isinstance(sat, bool):
        raise ValueError(f"Invalid sat={sat!r}: it is True (what is too large becomes the largest number) or False")
    if round == "rs" and rbits is None:
        raise ValueError("rbits is required for round='rs': the random bits by which it rounds")
    if round != "rs" and rbits is not None:
        raise ValueError("rbits is only valid with round='rs'")


def _cast(value, dtype, round=None, sat=None, rbits=None):
    from .dtypes import dtype as of
    check_cast(round, sat, rbits)
    return of(dtype)(value)


class GemmWarpPolicy(enum.IntEnum):
    """How warps share a product: a hint."""
    Square = 0
    FullRow = 1
    FullCol = 2

    def compute_warp_partition(self, block_M, block_N, num_warps):
        """How many warps share the rows and the columns of a product, as this asks for: each has 16 rows and 8 columns or more."""
        if self.name == "FullRow" or self.name == "FullCol":
            most = max(1, block_M // 16 if self.name == "FullRow" else block_N // 8)
            along = max(n for n in range(1, num_warps + 1) if num_warps % n == 0 and n <= most)
            return (along, num_warps // along) if self.name == "FullRow" else (num_warps // along, along)
        ways = [(m, num_warps // m) for m in range(1, num_warps + 1) if num_warps % m == 0]
        fits = [way for way in ways if block_M // way[0] >= 16 and block_N // way[1] >= 8] or ways
        return min(fits, key=lambda way: (abs(block_M / way[0] - block_N / way[1]), way))


_native.register(GemmWarpPolicy, "tilelang.language.GemmWarpPolicy")
for _member in GemmWarpPolicy:
    _native.register(_member, f"tilelang.language.GemmWarpPolicy.{_member.name}")
