# SPDX-License-Identifier: Apache-2.0
"""triton.compiler: compiled kernels and errors of their source."""
from .errors import CompilationError, CompileTimeAssertionFailure, UnsupportedLanguageConstruct
from .compiler import ASTSource, CompiledKernel, LazyDict, compile, make_backend

__all__ = ["ASTSource", "CompilationError", "CompileTimeAssertionFailure", "CompiledKernel", "LazyDict", "UnsupportedLanguageConstruct",
           "compile", "make_backend"]
