"""triton.runtime.interpreter: Triton's interpreter, which we have none of: kernels run compiled, also under TRITON_INTERPRET."""


class InterpretedFunction:
    """No function is one; for `isinstance`."""
