# SPDX-License-Identifier: Apache-2.0
"""triton.language.core: the objects of the language that exist on the host: constexpr, dtypes, and the stubs of what only
kernels can call.

Kernels are compiled from their text; the objects here are what names in that text lead to. The compiler knows them by
identity, under the full name that they are registered with.
"""
import enum
import inspect
import operator
import sys

from ... import _native


class constexpr:
    """A value known at compile time. Arithmetic gives constexprs again."""

    def __init__(self, value):
        while isinstance(value, constexpr):
            value = value.value
        self.value = value
        self.type = constexpr_type(value)

    def __repr__(self):
        return f"constexpr[{self.value}]"

    def __hash__(self):
        return hash((type(self.value), self.value))

    def __index__(self):
        return operator.index(self.value)

    def __bool__(self):
        return bool(self.value)

    def __int__(self):
        return int(self.value)

    def __float__(self):
        return float(self.value)

    def __call__(self, *args, **kwargs):
        return self.value(*args, **kwargs)

    def __getitem__(self, *args):
        return self.value.__getitem__(*map(_unwrap_if_constexpr, args))

    def __not__(self):
        return constexpr(not self.value)

    def logical_and(self, other):
        return constexpr(self.value and _unwrap_if_constexpr(other))

    def logical_or(self, other):
        return constexpr(self.value or _unwrap_if_constexpr(other))


def _binary(function):
    return (lambda self, other: constexpr(function(self.value, _unwrap_if_constexpr(other))),
            lambda self, other: constexpr(function(_unwrap_if_constexpr(other), self.value)))


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor"):
    _forward, _backward = _binary(getattr(operator, f"__{_name}__"))
    setattr(constexpr, f"__{_name}__", _forward)
    setattr(constexpr, f"__r{_name}__", _backward)
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(constexpr, f"__{_name}__", _binary(getattr(operator, _name))[0])
for _name in ("neg", "pos", "invert"):
    setattr(constexpr, f"__{_name}__", lambda self, _function=getattr(operator, _name): constexpr(_function(self.value)))
constexpr.__hash__ = lambda self: hash((type(self.value), self.value))


def _unwrap_if_constexpr(value):
    return value.value if isinstance(value, constexpr) else value


class base_type:
    """What types of the language are."""


class constexpr_type(base_type):
    """The type of a constexpr: its value."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, constexpr_type) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self):
        return hash((type(self.value), self.value))

    def __repr__(self):
        return f"constexpr_type[{self.value}]"


class dtype(base_type):
    """An element type."""
    SINT_TYPES = ["int8", "int16", "int32", "int64"]
    UINT_TYPES = ["int1", "uint8", "uint16", "uint32", "uint64"]
    FP_TYPES = ["fp8e4b15", "fp8e4nv", "fp8e4b8", "fp8e5", "fp8e5b16", "fp16", "bf16", "fp32", "fp64"]
    STANDARD_FP_TYPES = ["fp16", "bf16", "fp32", "fp64"]
    OTHER_TYPES = ["void"]

    class SIGNEDNESS(enum.Enum):
        SIGNED = 0
        UNSIGNED = 1

    class KIND(enum.Enum):
        BOOLEAN = 0
        INTEGRAL = 1
        FLOATING = 2

    _FLOATS = {  # bits, mantissa, exponent bias
        "fp8e4b15": (8, 3, 15), "fp8e4nv": (8, 3, 7), "fp8e4b8": (8, 3, 8), "fp8e5": (8, 2, 15), "fp8e5b16": (8, 2, 16),
        "fp16": (16, 10, 15), "bf16": (16, 7, 127), "fp32": (32, 23, 127), "fp64": (64, 52, 1023),
    }

    _known = {}

    def __new__(cls, *args, **kwargs):
        """There is one object for each element type, which the compiler knows."""
        name = _unwrap_if_constexpr(args[0]) if cls is dtype and args else None
        if name is None:
            return super().__new__(cls)
        return cls._known[name] if name in cls._known else cls._known.setdefault(name, super().__new__(cls))

    def __init__(self, name):
        name = _unwrap_if_constexpr(name)
        if name not in self.SINT_TYPES + self.UINT_TYPES + self.FP_TYPES + self.OTHER_TYPES:
            raise ValueError(f"{name!r} is no dtype")
        self.name = name
        if name in self._FLOATS:
            self.primitive_bitwidth, self.fp_mantissa_width, self.exponent_bias = self._FLOATS[name]
        elif name == "void":
            self.primitive_bitwidth = 0
        else:
            self.int_bitwidth = self.primitive_bitwidth = int(name.split("int")[-1])
            signed = name in self.SINT_TYPES
            self.int_signedness = self.SIGNEDNESS.SIGNED if signed else self.SIGNEDNESS.UNSIGNED

    def __reduce__(self):
        return (dtype, (self.name, )) if type(self) is dtype else super().__reduce__()

    def __deepcopy__(self, memo):
        return self

    @property
    def itemsize(self):
        return (self.primitive_bitwidth + 7) // 8

    @property
    def scalar(self):
        return self

    def is_fp8(self):
        return "fp8" in self.name

    def is_floating(self):
        return self.name in self.FP_TYPES

    def is_standard_floating(self):
        return self.name in self.STANDARD_FP_TYPES

    def is_int_signed(self):
        return self.name in self.SINT_TYPES

    def is_int_unsigned(self):
        return self.name in self.UINT_TYPES

    def is_int(self):
        return self.is_int_signed() or self.is_int_unsigned()

    def is_bool(self):
        return self.name == "int1"

    def is_void(self):
        return self.name == "void"

    def is_block(self):
        return False

    def is_ptr(self):
        return False

    def is_const(self):
        return False

    def kind(self):
        return self.KIND.BOOLEAN if self.is_bool() else self.KIND.INTEGRAL if self.is_int() else self.KIND.FLOATING

    def get_int_max_value(self):
        if self.is_int_signed():
            return 2**(self.int_bitwidth - 1) - 1
        return 2**self.int_bitwidth - 1

    def get_int_min_value(self):
        return -2**(self.int_bitwidth - 1) if self.is_int_signed() else 0

    @property
    def cache_key_part(self):
        return self.name

    def codegen_name(self):
        return {"fp": "float", "bf": "bfloat"}.get(self.name[:2], self.name[:2]) + self.name[2:]

    def __eq__(self, other):
        other = _unwrap_if_constexpr(other)
        return type(other) is dtype and self.name == other.name

    def __hash__(self):
        return hash((dtype, self.name))

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"triton.language.{self.codegen_name()}"


for _name in ("fp8e4nv", "fp8e4b8", "fp8e4b15", "fp8e5", "fp8e5b16", "fp16", "bf16", "fp32", "fp64", "int1"):
    setattr(dtype, f"is_{_name}", lambda self, _own=_name: self.name == _own)
for _bits in (8, 16, 32, 64):
    setattr(dtype, f"is_int{_bits}", lambda self, _own=f"int{_bits}": self.name == _own)
    setattr(dtype, f"is_uint{_bits}", lambda self, _own=f"uint{_bits}": self.name == _own)


class pointer_type(dtype):
    """A pointer to elements of a type."""

    def __init__(self, element_ty, address_space=1, const=False):
        self.element_ty = _unwrap_if_constexpr(element_ty)
        self.address_space = address_space
        self.const = const
        self.name = f"pointer<{self.element_ty}>" if not const else f"const_pointer<{self.element_ty}>"
        self.primitive_bitwidth = 64

    @property
    def scalar(self):
        return self

    def is_ptr(self):
        return True

    def is_const(self):
        return self.const

    def __eq__(self, other):
        other = _unwrap_if_constexpr(other)
        return isinstance(other, pointer_type) and (self.element_ty, self.address_space, self.const) == (
            other.element_ty, other.address_space, other.const)

    def __hash__(self):
        return hash((pointer_type, self.element_ty, self.address_space, self.const))

    def __repr__(self):
        return f"triton.language.pointer_type({self.element_ty!r})"


class block_type(dtype):
    """A tile: elements of a type in a shape."""

    def __init__(self, element_ty, shape):
        self.element_ty = element_ty
        self.shape = tuple(map(_unwrap_if_constexpr, shape))
        self.numel = 1
        for extent in self.shape:
            self.numel *= extent
        self.name = f"<{list(self.shape)}, {element_ty}>"
        self.primitive_bitwidth = element_ty.primitive_bitwidth

    @property
    def scalar(self):
        return self.element_ty

    def is_block(self):
        return True

    def get_block_shapes(self):
        return self.shape

    def __eq__(self, other):
        return isinstance(other, block_type) and (self.element_ty, self.shape) == (other.element_ty, other.shape)

    def __hash__(self):
        return hash((block_type, self.element_ty, self.shape))


class base_value:
    """What values of the language are."""


class tensor(base_value):
    """A value of a kernel. There are none outside of kernels."""

    def __init__(self, *args, **kwargs):
        raise TypeError("tensors of triton.language exist inside kernels only")


class tensor_descriptor_base(base_value):
    """A descriptor inside a kernel."""


class tensor_descriptor(tensor_descriptor_base):
    """A descriptor inside a kernel."""


class tensor_descriptor_type(base_type):
    """The type of descriptors."""


class tuple_type(base_type):
    """The type of tuples."""


class tuple(base_value):
    """A tuple of the language, as kernels take and make them."""

    def __init__(self, args, type=None):
        self.values = [x for x in args]

    def __getitem__(self, index):
        index = _unwrap_if_constexpr(index)
        return self.values[index]

    def __iter__(self):
        return iter(self.values)

    def __len__(self):
        return len(self.values)

    def __eq__(self, other):
        return len(self.values) == len(other) and all(x == y for x, y in zip(self.values, other))

    def __hash__(self):
        return hash(type(self))


class slice:
    """A slice of the language."""

    def __init__(self, start, stop, step):
        self.start, self.stop, self.step = start, stop, step
        self.type = slice_type()


class slice_type(base_type):
    """The type of slices."""


class const:
    """Marks a pointer parameter as one that is only read."""


class PropagateNan(enum.Enum):
    NONE = 0
    ALL = 0xFFFF


class _Builtin:
    """What kernels can call, and Python cannot."""

    def __init__(self, name, full_name, signature, about, refused):
        self.__name__ = self.__qualname__ = name
        self.__module__ = full_name.rpartition(".")[0]
        self.__doc__ = f"{name}({signature})\n\n{about}" if not refused else f"{name}: known, and not supported"
        self.__triton_builtin__ = True
        self._form = signature

    @property
    def __signature__(self):
        """For inspect and help(): the signature in the compiler's table."""
        scope = dict(globals())
        exec(f"def form({self._form}, _semantic=None): pass" if self._form and "*" not in self._form else
             f"def form({self._form}): pass", scope)
        return inspect.signature(scope["form"])

    def __call__(self, *args, **kwargs):
        raise ValueError("Did you forget to add @triton.jit ? (`_semantic` argument must be provided outside of JIT functions.)")

    def __get__(self, instance, owner=None):
        return self

    def __repr__(self):
        return f"<function {self.__module__}.{self.__name__} of kernels>"


TRITON_MAX_TENSOR_NUMEL = 1 << 20
TRITON_BUILTIN = "__triton_builtin__"
CONSTEXPR_0 = constexpr(0)
void = dtype("void")
_DTYPES = {"int1": "int1", "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64", "uint8": "uint8", "uint16": "uint16",
           "uint32": "uint32", "uint64": "uint64", "float8e5": "fp8e5", "float8e5b16": "fp8e5b16", "float8e4nv": "fp8e4nv",
           "float8e4b8": "fp8e4b8", "float8e4b15": "fp8e4b15", "float16": "fp16", "bfloat16": "bf16", "float32": "fp32",
           "float64": "fp64"}
for _name, _short in _DTYPES.items():
    globals()[_name] = dtype(_short)
    _native.register(globals()[_name], f"triton.language.{_name}")
_native.register(void, "triton.language.void")
pi32_t = pointer_type(globals()["int32"])
_native.set_constexpr(constexpr)

_SHORT = {"i1": "int1", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u1": "int1", "u8": "uint8", "u16": "uint16",
          "u32": "uint32", "u64": "uint64", "B": "int1", **{short: name for name, short in _DTYPES.items()}}


def str_to_ty(name, c=None):
    """The type of a signature's text: "fp32", "*i8", "*kfp16"."""
    if name == "constexpr":
        return constexpr
    if name.startswith("*"):
        read_only = name.startswith("*k")
        return pointer_type(str_to_ty(name[2 if read_only else 1:], c), const=read_only)
    if name == "void":
        return void
    return globals()[_SHORT[name]]


def get_int_dtype(bitwidth, signed):
    return globals()[f"{'' if signed or bitwidth == 1 else 'u'}int{bitwidth}"]


for _name in ("constexpr", "constexpr_type", "dtype", "pointer_type", "block_type", "tensor", "tensor_descriptor", "tuple", "slice", "const",
              "PropagateNan", "tuple_type", "tensor_descriptor_type"):
    _native.register(globals()[_name], f"triton.language.{_name}")
for _member in PropagateNan:
    _native.register(_member, f"triton.language.PropagateNan.{_member.name}")

# What each place of the table of builtins is called, and what it holds.
PLACES = {"T": "triton.language", "M": "triton.language.math", "L": "triton.language.extra.libdevice", "C": "triton.language.extra.cuda"}
TABLES = {place: {} for place in PLACES}
for _name, _places, _signature, _about, _refused in _native.builtins():
    for _place in _places:
        _own = _place == "T" and _name in globals() and _name not in TABLES["T"]
        if _place in TABLES and not _own:
            _stub = _Builtin(_name, f"{PLACES[_place]}.{_name}", _signature, _about, _refused)
            TABLES[_place][_name] = _stub
            _native.register(_stub, f"{PLACES[_place]}.{_name}")
    if "m" in _places and not hasattr(tensor, _name):
        setattr(tensor, _name, _Builtin(_name, f"triton.language.tensor.{_name}", _signature, _about, _refused))
globals().update({_name: _stub for _name, _stub in TABLES["T"].items() if _name not in globals()})


def is_builtin(fn):
    return isinstance(fn, _Builtin)


def builtin(fn):
    """Marks a function as one of the language."""
    fn.__triton_builtin__ = True
    return fn


def must_use_result(x, s=True):
    """A kernel that calls the function and drops its result is not compiled; with a text, that is said too."""
    if isinstance(x, str):
        return lambda fn: must_use_result(fn, x)
    x._must_use_result = s
    return x


def register_module(name, full_name):
    """The module that is being imported, under the name by which kernels know it."""
    _native.register(sys.modules[name], full_name)
