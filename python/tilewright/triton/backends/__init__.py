"""triton.backends: one backend, the CPU."""
from .compiler import CPUBackend
from .driver import CPUDriver


class Backend:

    def __init__(self, compiler, driver):
        self.compiler = compiler
        self.driver = driver


backends = {"cpu": Backend(CPUBackend, CPUDriver)}
