# SPDX-License-Identifier: Apache-2.0
"""example_run.py: one example for tilelang_examples.py: `python -m tilewright -m example_run SCRIPT`, on the device that TILEWRIGHT_EXAMPLE_DEVICE names.

cuda: as it stands. cpu: tensors of CUDA lie on the CPU. none: tensors have no memory, and a kernel that would be launched is compiled only: for the CPU and for sm_90a;
a line `@compiled TARGET KERNEL ok` (or why not) says so. values: the same with tensors on the CPU, for scripts that look into them; what kernels write is zero.
"""
import os
import pathlib
import runpy
import sys
import traceback

_seen = set()


def _report(function, args, kwargs, name):
    """Compiles for both targets, once for each name and shapes."""
    described = tuple(str(getattr(value, "shape", value)) for value in (*args, *kwargs.values()))
    if (name, described) in _seen:
        return
    _seen.add((name, described))
    texts = os.environ.get("TILEWRIGHT_EXAMPLE_TEXTS")
    for target in ("cpu", "cuda:sm_90a"):
        try:
            made = function.emit(args, kwargs, target)
            said = "ok"
            if texts and target != "cpu":
                script = pathlib.Path(sys.argv[0])
                for file, text in made.artifacts().items():
                    if file.endswith((".cu", ".cuh")):
                        named = f"{script.parent.name}.{script.stem}.{name}.{len(_seen)}.cu" if file.endswith(".cu") else file
                        (pathlib.Path(texts) / named).write_text(text)
        except Exception as error:  # what is said of it is the result
            said = (str(error).split("error: ", 1)[-1].split("\n")[0] or type(error).__name__)
        print(f"@compiled {target.split(':')[0]} {name} {said}", flush=True)


def _only_compile(device):
    """Kernels are compiled where they would run, those of Triton, which are rivals, not even that; outputs are made on `device`."""
    import torch
    from tilewright.tilelang.jit import kernel
    from tilewright.triton.runtime import autotuner, jit

    jit.JITFunction.launch = autotuner.Autotuner.run = lambda self, *args, **kwargs: None

    def sample(value):
        if isinstance(value, torch.Tensor):
            return kernel.Sample(str(value.dtype).removeprefix("torch."), value.shape)
        return value

    emit_as_it_is = kernel.CompiledFunction.emit

    def emit(self, args, kwargs, target):
        return emit_as_it_is(self, tuple(map(sample, args)), {name: sample(value) for name, value in kwargs.items()}, target)

    def launch(self, grid, args, kwargs, purpose):
        args, kwargs = tuple(map(sample, args)), {name: sample(value) for name, value in kwargs.items()}
        _report(self, args, kwargs, self.called)
        made = []
        emitted = self.emit(args, kwargs, "cpu")
        for place, (name, constant, output) in enumerate(self.parameters()):
            if output:
                dtype, shape = emitted.shape(place)
                made.append(torch.empty(shape, dtype=kernel._dtype(kernel._DTYPES[dtype]).as_torch(), device=device))
                if device != "meta":
                    made[-1].zero_()
        return made[0] if len(made) == 1 else made or None

    made_anew = kernel.CompiledFunction.__init__

    def make(self, name, *args, **kwargs):
        self.called = name
        made_anew(self, name, *args, **kwargs)

    kernel.CompiledFunction.__init__, kernel.CompiledFunction.launch, kernel.CompiledFunction.emit = make, launch, emit
    torch.testing.assert_close = torch.allclose = lambda *args, **kwargs: True
    from tilewright.tilelang import profiler

    def tried(self, function=None, *args, input_tensors=None, dynamic_symbolic_constraints=None, **kwargs):
        given = dynamic_symbolic_constraints or {}
        self.adapter(*(self._get_inputs(dynamic_symbolic_constraints=given) if input_tensors is None else input_tensors))
        return 1.0

    for name in ("do_bench", "assert_allclose", "assert_consistent"):
        setattr(profiler.Profiler, name, tried)


def main():
    device = os.environ.get("TILEWRIGHT_EXAMPLE_DEVICE", "cuda")
    place = "meta" if device == "none" else "cpu"
    if device != "cuda":
        from tilewright import cuda_on_cpu
        cuda_on_cpu.install(place)
    if device in ("none", "values"):
        _only_compile(place)
    script = sys.argv[1]
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1 if end.code else 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
