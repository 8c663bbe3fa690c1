# SPDX-License-Identifier: Apache-2.0
"""triton.runtime.trees: syntax trees of Python, one at a time: CPython 3.11 counts the depth of a tree that it makes for all threads
together, and two that make one at once can end in a SystemError."""
import ast
import threading

_one = threading.Lock()


def tree_of(source):
    with _one:
        return ast.parse(source)
