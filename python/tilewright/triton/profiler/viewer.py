# SPDX-License-Identifier: Apache-2.0
"""triton.profiler.viewer: prints what profiler.finalize wrote.

    python -m tilewright -m triton.profiler.viewer -m tflop16/s,time/ms matmul.hatchet

Metrics: time/UNIT, avg_time/UNIT, cpu_time/UNIT (s, ms, us, ns); [g|t]flop[WIDTH]/s and [g|t]byte/s, over the time of the node; count;
and whatever the program counted, by its name.
"""
import argparse
import json
import re

_SECONDS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_TIMES = {"time": "time (ns)", "cpu_time": "cpu_time (ns)"}
_FACTORS = {"": 1, "g": 1e9, "t": 1e12}


class Frame:
    """A node with the sums of all below it."""

    def __init__(self, row):
        self.name = row["frame"]["name"]
        self.children = [Frame(child) for child in row["children"]]
        self.sums = dict(row["metrics"])
        for child in self.children:
            for name, value in child.sums.items():
                if name != "count":
                    self.sums[name] = self.sums.get(name, 0) + value

    def value(self, metric):
        """A number, or None where the node does not have it."""
        time = re.fullmatch(r"(avg_)?(time|cpu_time)/(s|ms|us|ns)", metric)
        if time:
            found = self.sums.get(_TIMES[time[2]])
            return found and found * 1e-9 / _SECONDS[time[3]] / (max(self.sums["count"], 1) if time[1] else 1)
        rate = re.fullmatch(r"(g|t|)(flop|byte)(\d*)/s", metric)
        if rate:
            found, seconds = self.sums.get(f"{rate[2]}s{rate[3]}"), self.value("time/s")
            return found / seconds / _FACTORS[rate[1]] if found and seconds else None
        return self.sums.get(metric)

    def names(self):
        return set(self.sums).union(*(child.names() for child in self.children))

    def reduced(self, keep):
        """Without the leaves that are not to be kept; None: nothing is left."""
        self.children = [child for child in (child.reduced(keep) for child in self.children) if child]
        return self if self.children or keep(self) else None


def read(filename):
    """The tree of a file."""
    with open(filename) as file:
        try:
            return Frame(json.load(file)[0])
        except (ValueError, LookupError, TypeError) as fault:
            raise ValueError(f"profiler.viewer: {filename} is no file of profiler.finalize") from fault


def _known(tree, metric):
    if re.fullmatch(r"(avg_)?(time|cpu_time)/(s|ms|us|ns)|(g|t|)(flop|byte)\d*/s", metric) or metric in tree.names():
        return True
    raise ValueError(f"profiler.viewer: {metric!r} is no metric of this file; it has time/ms, avg_time/us, tflop16/s, gbyte/s and the like, "
                     f"and {', '.join(sorted(tree.names()))}")


def parse(metrics, filename, include=None, exclude=None, threshold=None):
    """(tree, metrics) for print_tree. include, exclude: regular expressions of names; threshold: of the first metric."""
    tree = read(filename)
    metrics = [metric for metric in metrics if _known(tree, metric)]

    def keep(frame):
        return ((not include or re.search(include, frame.name)) and not (exclude and re.search(exclude, frame.name))
                and (threshold is None or (frame.value(metrics[0]) or 0) >= threshold))

    return (tree.reduced(keep) or tree), metrics


def _lines(frame, metrics, depth, before, last):
    told = " ".join("-" if value is None else f"{value:.3f}" for value in map(frame.value, metrics))
    mark = "" if before is None else before + ("`- " if last else "|- ")
    yield f"{mark}{told} {frame.name}"
    below = "" if before is None else before + ("   " if last else "|  ")
    for i, child in enumerate(frame.children if depth else ()):
        yield from _lines(child, metrics, depth - 1, below, i + 1 == len(frame.children))


def _leaves(frame):
    return [leaf for child in frame.children for leaf in _leaves(child)] or [frame]


def print_tree(tree, metrics, depth=100, format=None, print_sorted=False):
    """One line a node: its metrics, its name."""
    print("\n".join(_lines(tree, metrics, depth, None, True)))
    if print_sorted:
        print(f"Sorted kernels by metric {metrics[0]}")
        for frame in sorted(_leaves(tree), key=lambda frame: -(frame.value(metrics[0]) or 0)):
            print(f"{frame.name[:100]:105} {frame.value(metrics[0]) or 0:.4}")


def main():
    parser = argparse.ArgumentParser(prog="viewer", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("-m", "--metrics", default="time/ms", help="with commas between them")
    parser.add_argument("-d", "--depth", type=int, default=100)
    parser.add_argument("-i", "--include")
    parser.add_argument("-e", "--exclude")
    parser.add_argument("-t", "--threshold", type=float)
    parser.add_argument("--print-sorted", action="store_true")
    options = parser.parse_args()
    tree, metrics = parse(options.metrics.split(","), options.file, options.include, options.exclude, options.threshold)
    print_tree(tree, metrics, options.depth, None, options.print_sorted)


if __name__ == "__main__":
    main()
