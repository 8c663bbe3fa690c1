# SPDX-License-Identifier: Apache-2.0
"""gpu_table.py: the runs of the GPU bench in one table: what each row reached in each of them, and whether all of them meet its bar.

    python3 bench/gpu_table.py build/bench-gpu/FIRST.json build/bench-gpu/SECOND.json > table.md
    | softmax 8192x4096 | GB/s | 3752, 3749 | triton 3748, torch 1242 | 1.002 (0.998 to 1.002), 1.001 (0.997 to 1.003) of triton | 0.97 | met |

A row is met when it meets its bar in every run (a single run says 'met once'). Figures of the rivals are those of the first run;
where the fastest rival is another one in another run, each ratio says its own."""
import json
import sys

HEAD = ["| row | unit | ours | rivals (first run) | ratio in each run (spread over turns) | bar | |", "|---|---|---|---|---|---|---|"]


def number(value):
    return f"{value:.4g}" if value is not None else "-"


def ratios_text(bars):
    """Ratios with their spread, and of whom: once where all runs have the same fastest rival."""
    found = [bar for bar in bars if bar["ratio"]]
    if not found:
        return "-"
    same = len({bar["rival"] for bar in found}) == 1
    each = [f"{bar['ratio']:.3f} ({bar['low']:.3f} to {bar['high']:.3f})" + ("" if same else f" of {bar['rival']}") if bar["ratio"] else "-"
            for bar in bars]
    return ", ".join(each) + (f" of {found[0]['rival']}" if same else "")


def verdict(bars):
    if any(bar["missing"] or bar["ratio"] is None for bar in bars):
        return "not measured"
    met = sum(bar["met"] for bar in bars)
    if met < len(bars):
        return "MISSED" if met == 0 else f"missed in {len(bars) - met} of {len(bars)}"
    return "met" if len(bars) > 1 else "met once"


def lines_of(versions):
    """One row of the table for each bar of a row; `versions`: the row in each run, None where it is not there."""
    there = [row for row in versions if row]
    first = there[0]
    ours = ", ".join(number(row["rate"].get("ours")) if row else "-" for row in versions)
    rivals = ", ".join(f"{name} {number(rate)}" for name, rate in first["rate"].items() if name != "ours")
    start = f"| {first['name']} | {first['unit']} | {ours} | {rivals} |"
    if not first["bars"]:
        return [f"{start} - | - | |"]
    lines = []
    for at, bar in enumerate(first["bars"]):
        bars = [row["bars"][at] for row in there]
        said = verdict(bars) if len(there) == len(versions) else "not in every run"
        lines.append(f"{start} {ratios_text(bars)} | {bar['bar']:.3g} | {said} |")
    return lines


def table(runs):
    names = list(dict.fromkeys(row["name"] for run in runs for row in run["rows"]))
    lines = [line for name in names for line in lines_of([next((row for row in run["rows"] if row["name"] == name), None) for run in runs])]
    bars = [line for line in lines if not line.endswith("| - | |")]
    met = sum(line.endswith(("| met |", "| met once |")) for line in bars)
    heads = [f"Run {at + 1}: {run['head']}" + (f"; {run['tail']}" if "tail" in run else "") for at, run in enumerate(runs)]
    return "\n".join([*heads, "", f"{met} of {len(bars)} bars met in every run.", "", *HEAD, *lines])


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__.split("\n\n")[1].strip())
    runs = []
    for path in sys.argv[1:]:
        with open(path) as file:
            runs.append(json.load(file))
    print(table(runs))


if __name__ == "__main__":
    main()
