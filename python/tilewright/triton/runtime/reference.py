# SPDX-License-Identifier: Apache-2.0
"""triton.runtime.reference: jit functions are pickled by reference, as Python's own functions are: by module and name."""
import functools
import importlib
import pickle


def _find(module, name):
    """What has that name; decorators above (autotune, heuristics) are what the name leads to."""
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def lookup(module, name, kind):
    """The object of that class (or of one derived from it) behind a name."""
    found = _find(module, name)
    while type(found).__name__ != kind and hasattr(found, "fn"):
        found = found.fn
    return found


def reduce(thing):
    """For __reduce__ of what stands in a module under the name of its function."""
    module, name, kind = thing.__module__, thing.__qualname__, type(thing).__name__
    try:
        same = lookup(module, name, kind) is thing
    except (ImportError, AttributeError):
        same = False
    if not same:
        raise pickle.PicklingError(f"{name} of {module} cannot be pickled: it is not what that name means there; define it at module level")
    return functools.partial(lookup, kind=kind), (module, name)
