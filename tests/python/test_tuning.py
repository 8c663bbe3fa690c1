# SPDX-License-Identifier: Apache-2.0
"""autotune, heuristics, hooks, timing."""
import numpy as np
import pytest

import tilewright.triton as triton
import tilewright.triton.language as tl


def make(configs, **options):

    @triton.autotune(configs=configs, key=["n"], warmup=1, rep=2, **options)
    @triton.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)

    return kernel


def launch(kernel, x, **kwargs):
    return kernel[lambda meta: (triton.cdiv(len(x), meta["BLOCK"]), )](x, len(x), **kwargs)


def test_autotune_times_once_for_each_key():
    kernel = make([triton.Config({"BLOCK": 32}, num_warps=2), triton.Config({"BLOCK": 64})], restore_value=["x"])
    x = np.zeros(100, np.float32)
    launch(kernel, x)
    np.testing.assert_array_equal(x, 1)
    assert kernel.best_config in kernel.configs and len(kernel.configs_timings) == 2 and len(kernel.cache) == 1
    launch(kernel, x)
    assert len(kernel.cache) == 1
    launch(kernel, np.zeros(50, np.float32))
    assert len(kernel.cache) == 2
    with pytest.raises(ValueError, match="Conflicting meta-parameters: BLOCK"):
        launch(kernel, np.zeros(60, np.float32), BLOCK=32)


def test_one_configuration_is_not_timed():
    kernel = make([triton.Config({"BLOCK": 32})])
    x = np.zeros(100, np.float32)
    launch(kernel, x)
    np.testing.assert_array_equal(x, 1)
    assert not kernel.configs_timings
    with pytest.raises(ValueError, match="Conflicting meta-parameters: BLOCK"):
        launch(kernel, x, BLOCK=64)


def test_pruning_and_reset():
    kernel = make([triton.Config({"BLOCK": n}) for n in (16, 32, 64, 128)], reset_to_zero=["x"],
                  prune_configs_by={"early_config_prune": lambda configs, args, **kw: configs[1:],
                                    "perf_model": lambda BLOCK, **kw: BLOCK, "top_k": 2})
    x = np.zeros(100, np.float32)
    launch(kernel, x)
    assert sorted(config.kwargs["BLOCK"] for config in kernel.configs_timings) == [32, 64]
    np.testing.assert_array_equal(x, 1)


def test_a_tuner_made_from_ours_sets_its_hooks():
    calls = []

    class Careful(triton.runtime.Autotuner):  # as packages do, to pass over arrays that are None

        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            assert not self.user_defined_pre_hook and not self.user_defined_post_hook

            def before(args, reset_only=False):
                calls.append(("before", reset_only))
                if not reset_only:
                    self.copies = {name: args[name].copy() for name in self.restore_value if args[name] is not None}

            def after(args, exception):
                calls.append(("after", exception))
                for name, copy in self.copies.items():
                    args[name][...] = copy

            self.pre_hook, self.post_hook = before, after

    @triton.jit
    def kernel(x, y, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)

    tuned = Careful(kernel, kernel.arg_names, [triton.Config({"BLOCK": n}) for n in (32, 64)], ["n"], None, ["x", "y"], warmup=1, rep=2)
    x = np.zeros(100, np.float32)
    tuned[lambda meta: (triton.cdiv(100, meta["BLOCK"]), )](x, None, 100)
    np.testing.assert_array_equal(x, 1)
    assert ("before", False) in calls and ("after", None) in calls


def test_a_tuner_made_from_ours_chooses_by_itself():

    class First(triton.runtime.Autotuner):  # as packages do that keep their times in a database

        def run(self, *args, **kwargs):
            self.nargs = dict(zip(self.arg_names, args))
            self.times = {config.kwargs["BLOCK"]: self._bench(*args, config=config, **kwargs) for config in self.prune_configs(kwargs)}
            self.best_config = self.configs[0]
            return self.fn.run(*args, **kwargs, **self.best_config.all_kwargs())

    @triton.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)

    tuned = First(kernel, kernel.arg_names, [triton.Config({"BLOCK": n}) for n in (32, 64)], ["n"], None, ["x"], warmup=1, rep=2)
    x = np.zeros(100, np.float32)
    tuned[lambda meta: (triton.cdiv(100, meta["BLOCK"]), )](x, 100)
    np.testing.assert_array_equal(x, 1)
    assert list(tuned.times) == [32, 64] and all(0 < times[0] < float("inf") for times in tuned.times.values())


def test_heuristics_above_and_below():

    @triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
    @triton.jit
    def kernel(out, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
        tl.store(out, 1 if EVEN else 2)

    out = np.zeros(1, np.int32)
    for n, want in ((64, 1), (65, 2)):
        kernel[(1, )](out, n, BLOCK=32)
        assert out[0] == want
    tuned = triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"], warmup=1, rep=1)(kernel)
    tuned[(1, )](out, 65)
    assert out[0] == 2


def test_hooks():
    seen = []

    @triton.jit
    def kernel(out):
        tl.store(out, 1)

    enter = seen.append
    triton.knobs.runtime.launch_enter_hook.add(enter)
    try:
        kernel[(1, )](np.zeros(1, np.int32))
        kernel.add_pre_run_hook(lambda *args, **kwargs: seen.append("pre"))
        kernel[(1, )](np.zeros(1, np.int32))
    finally:
        triton.knobs.runtime.launch_enter_hook.remove(enter)
    kernel[(1, )](np.zeros(1, np.int32))
    assert seen[0].get()["name"] == "kernel" and seen[1] == "pre" and seen[3:] == ["pre"]


def test_compile_hooks(monkeypatch):
    told, loaded = [], []
    knobs = triton.knobs.runtime

    @triton.jit
    def kernel(out, pair, n, BLOCK: tl.constexpr):
        tl.store(out, pair[0] + pair[1] + n + BLOCK)

    @triton.jit
    def other(out, n, BLOCK: tl.constexpr):
        tl.store(out, n + BLOCK)

    monkeypatch.setattr(knobs, "jit_cache_hook", lambda **words: told.append(("before", words)))
    monkeypatch.setattr(knobs, "jit_post_compile_hook", lambda **words: told.append(("after", words)))
    knobs.kernel_load_end_hook.add(lambda *words: loaded.append(words[2]))
    out = np.zeros(1, np.int32)
    for n in (1, 2, 2):
        kernel[(1, )](out, (3, tl.constexpr(4)), n, BLOCK=8, num_warps=2)
    knobs.kernel_load_end_hook.calls.clear()
    assert [when for when, _ in told] == ["before", "after"] * 2 and loaded == ["kernel"] * 2
    words = told[2][1]
    assert words["compile"]["signature"] == {"out": "*i32", "pair.0": "i32", "pair.1": "constexpr", "n": "i32", "BLOCK": "constexpr"}
    assert words["compile"]["constants"] == {"pair.1": 4, "BLOCK": 8} and words["compile"]["num_warps"] == 2 and not words["is_manual_warmup"]
    assert words["repr"].startswith("test_compile_hooks.<locals>.kernel[num_warps=2") and words["fn"].jit_function is kernel
    known = {compiled.hash for compiled in kernel.results()}
    assert words["key"] in known and len(known) == 2
    # what the hook was told makes the same kernel again
    kernel.device_caches[0][0].clear()
    assert kernel.preload(words["compile"]["specialization_data"]).hash == words["key"] and len(told) == 6
    kernel[(1, )](out, (3, tl.constexpr(4)), 2, BLOCK=8, num_warps=2)
    assert out[0] == 17 and len(told) == 6
    with pytest.raises(RuntimeError, match="Specialization data is for .*kernel but trying to preload for .*other"):
        other.preload(words["compile"]["specialization_data"])
    # a hook that says no
    monkeypatch.setattr(knobs, "jit_cache_hook", lambda **words: True)
    assert other[(1, )](out, 2, BLOCK=8) is None and out[0] == 17
    with pytest.raises(ValueError, match="add_stages_inspection_hook is not there"):
        knobs.add_stages_inspection_hook = print


def test_knobs(monkeypatch):
    knobs = triton.knobs
    with knobs.cache.scope():
        knobs.cache.dir = "/somewhere"
        assert knobs.cache.dir == "/somewhere"
    assert knobs.cache.dir != "/somewhere"
    monkeypatch.setenv("TRITON_PRINT_AUTOTUNING", "1")
    assert knobs.autotuning.print is True
    fresh = knobs.autotuning.copy().reset()
    assert "print" in fresh.knob_descriptors and fresh.knob_descriptors["print"].key == "TRITON_PRINT_AUTOTUNING"


def test_do_bench_and_assert_close():
    assert triton.testing.do_bench(lambda: sum(range(100)), warmup=1, rep=2) > 0
    low, high = triton.testing.do_bench(lambda: None, warmup=1, rep=1, quantiles=[0.1, 0.9])
    assert low <= high
    triton.testing.assert_close(np.ones(3), np.ones(3) + 1e-7)
    with pytest.raises(AssertionError):
        triton.testing.assert_close(np.ones(3), np.ones(3) + 1e-2)


def test_host_functions():
    assert triton.cdiv(10, 3) == 4
    assert [triton.next_power_of_2(n) for n in (0, 1, 2, 3, 4, 5, 1023)] == [0, 1, 2, 4, 4, 8, 1024]
    assert triton.runtime.driver.active.get_current_target() == triton.backends.compiler.GPUTarget(
        "cpu", triton.runtime.driver.active.get_current_target().arch, 32)
