# SPDX-License-Identifier: Apache-2.0
"""triton.runtime.discarded: calls whose result must be used (triton.must_use_result) and stand as statements of their own."""
import ast

from ..compiler.errors import CompilationError
from .trees import tree_of

_seen = {}  # source of a function -> its (call, dotted name) statements


def _statements(source):
    """The calls of a source that are whole statements, with the names they are called by."""
    if source not in _seen:
        try:
            tree = tree_of(source)
        except SyntaxError:
            tree = ast.Module([], [])
        calls = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
        _seen[source] = [call for call in calls if isinstance(call.func, (ast.Name, ast.Attribute))]
    return _seen[source]


def _meaning(node, scope):
    if isinstance(node, ast.Name):
        return scope.get(node.id)
    owner = _meaning(node.value, scope) if isinstance(node, (ast.Attribute, )) else None
    return getattr(owner, node.attr, None) if owner is not None else None


def check(function):
    """A CompilationError for the first such call of a kernel."""
    calls = _statements(function.src)
    scope = function.get_capture_scope() if calls else {}
    for call in calls:
        words = getattr(_meaning(call.func, scope), "_must_use_result", False)
        if words:
            extra = [words] if isinstance(words, str) else []
            raise CompilationError(function.src, call, " ".join([f"The result of {ast.unparse(call.func)} is not being used.", *extra]))
