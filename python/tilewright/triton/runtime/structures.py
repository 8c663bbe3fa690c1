"""triton.runtime.structures: arguments that are made of others (tuples, named tuples, descriptors of the host), taken apart."""


def _elements_from(base):
    """How many elements lie from the first one of an array on, in the memory it is of; None: it does not say."""
    if hasattr(base, "untyped_storage"):
        return base.untyped_storage().nbytes() // base.element_size() - base.storage_offset()
    whole = getattr(base, "base", base) is None  # numpy: a view may have more behind it
    return getattr(base, "size", None) if whole and isinstance(getattr(base, "size", None), int) else None


def _check_descriptor(value, name):
    """What a descriptor says of its array must be there: the kernel relies on it."""
    rank, there = len(value.shape), _elements_from(value.base)
    if len(value.strides) != rank or len(value.block_shape) != rank:
        raise ValueError(f"argument `{name}`: shape, strides and block_shape of a descriptor have one rank, "
                         f"not {rank}, {len(value.strides)} and {len(value.block_shape)}")
    if any(int(extent) < 0 for extent in value.shape):
        raise ValueError(f"argument `{name}`: the descriptor has the shape {tuple(value.shape)}; extents are not negative")
    if there is None or not all(value.shape):
        return
    steps = [(int(extent) - 1) * int(stride) for extent, stride in zip(value.shape, value.strides)]
    last, first = sum(step for step in steps if step > 0), sum(step for step in steps if step < 0)
    if last >= there or first < 0:
        raise ValueError(f"argument `{name}`: the descriptor has the shape {tuple(value.shape)} and the strides {tuple(value.strides)}, "
                         f"elements {first} to {last} of an array of {there}")


def take_apart(value, name, parts):
    """What an argument is made of, as the compiler reads it; its parts go to the list as (name, value)."""
    if isinstance(value, (tuple, list)):
        fields = getattr(value, "_fields", None)
        texts = []
        for i, item in enumerate(value):
            key = fields[i] if fields else i
            text = take_apart(item, f"{name}.{key}", parts)
            texts.append(f"{key}:{text}" if fields else text)
        return f"({','.join(texts)})"
    if hasattr(value, "block_shape") and hasattr(value, "base"):
        from ..language.core import constexpr
        _check_descriptor(value, name)
        parts.append((f"{name}.base", value.base))
        for what, numbers in (("shape", value.shape), ("strides", value.strides)):
            parts += [(f"{name}.{what}.{i}", int(number)) for i, number in enumerate(numbers)]
        parts += [(f"{name}.block.{i}", constexpr(int(number))) for i, number in enumerate(value.block_shape)]
        return f"<{len(value.shape)}{' nan' if value.padding == 'nan' else ''}>"
    parts.append((name, value))
    return "."
