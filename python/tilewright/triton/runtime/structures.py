# SPDX-License-Identifier: Apache-2.0
"""triton.runtime.structures: arguments that are made of others (tuples, named tuples, descriptors of the host), taken apart."""


def _elements_from(base):
    """How many elements lie from the first one of an array on, in the memory it is of; None: it does not say."""
    if hasattr(base, "untyped_storage"):
        return base.untyped_storage().nbytes() // base.element_size() - base.storage_offset()
    whole = getattr(base, "base", base) is None  # numpy: a view may have more behind it
    return getattr(base, "size", None) if whole and isinstance(getattr(base, "size", None), int) else None


block_constants = {}  # int -> constexpr: extents of blocks are the same in every launch


def _constant(number):
    from ..language.core import constexpr
    found = block_constants[number] = constexpr(int(number))
    return found


def _take_descriptor(value, name, values):
    """What a descriptor says of its array must be there: the kernel relies on it."""
    shape, strides, block = [*map(int, value.shape)], [*map(int, value.strides)], value.block_shape
    rank = len(shape)
    if len(strides) != rank or len(block) != rank:
        raise ValueError(f"argument `{name}`: shape, strides and block_shape of a descriptor have one rank, "
                         f"not {rank}, {len(strides)} and {len(block)}")
    first = last = 0
    for extent, stride in zip(shape, strides):
        if extent < 0:
            raise ValueError(f"argument `{name}`: the descriptor has the shape {tuple(shape)}; extents are not negative")
        if stride > 0:
            last += (extent - 1) * stride
        else:
            first += (extent - 1) * stride
    there = _elements_from(value.base) if 0 not in shape else None
    if there is not None and (last >= there or first < 0):
        raise ValueError(f"argument `{name}`: the descriptor has the shape {tuple(shape)} and the strides {tuple(strides)}, "
                         f"elements {first} to {last} of an array of {there}")
    values.append(value.base)
    values += shape
    values += strides
    values += [block_constants.get(number) or _constant(number) for number in block]
    return "<2>" if rank == 2 and value.padding != "nan" else f"<{rank}{' nan' if value.padding == 'nan' else ''}>"


def _is_descriptor(value):
    return hasattr(value, "block_shape") and hasattr(value, "base")


def take_apart(value, name, values):
    """What an argument is made of, as the compiler reads it; its parts go to the list."""
    if isinstance(value, (tuple, list)):
        fields = getattr(value, "_fields", None)
        texts = []
        for i, item in enumerate(value):
            key = fields[i] if fields else i
            text = take_apart(item, f"{name}.{key}", values)
            texts.append(f"{key}:{text}" if fields else text)
        return f"({','.join(texts)})"
    if type(value) not in (int, float, bool) and _is_descriptor(value):
        return _take_descriptor(value, name, values)
    values.append(value)
    return "."


def part_names(value, name):
    """The names of these parts, in their order."""
    if isinstance(value, (tuple, list)):
        fields = getattr(value, "_fields", None) or range(len(value))
        return [part for field, item in zip(fields, value) for part in part_names(item, f"{name}.{field}")]
    if not _is_descriptor(value):
        return [name]
    numbers = range(len(value.shape))
    return [f"{name}.base"] + [f"{name}.{what}.{i}" for what in ("shape", "strides", "block") for i in numbers]
