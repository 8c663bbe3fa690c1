# SPDX-License-Identifier: Apache-2.0
"""triton._plot: the files of perf_report(save_path=..): a table as CSV and a picture of its lines.

The picture is PNG where matplotlib is installed; else it is an SVG that is written here, so that it never is missing.
"""
import csv
import html
import math
import os

_COLORS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f")


def _place(values, log, low_end, high_end):
    """value -> place between two ends of an axis, and the range of the values."""
    scale = (lambda x: math.log10(x)) if log and min(values) > 0 else float
    low, high = scale(min(values)), scale(max(values))
    width = (high - low) or 1.0
    return lambda x: low_end + (scale(x) - low) / width * (high_end - low_end)


def _svg(bench, rows, path):
    count = len(bench.x_names)
    xs = [float(row[0]) if isinstance(row[0], (int, float)) else float(i) for i, row in enumerate(rows)]
    ys = [value for row in rows for value in row[count:] if value is not None and math.isfinite(value)]
    if not xs or not ys:
        xs, ys = xs or [0.0], ys or [0.0]
    x_at, y_at = _place(xs, bench.x_log, 70, 610), _place([*ys, *([] if bench.y_log else [0.0])], bench.y_log, 420, 40)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="640" height="480" font-family="sans-serif" font-size="12">',
           '<rect width="640" height="480" fill="white"/>',
           f'<text x="320" y="20" text-anchor="middle">{html.escape(bench.plot_name)}</text>',
           f'<text x="340" y="465" text-anchor="middle">{html.escape(bench.xlabel or bench.x_names[0])}</text>',
           f'<text x="14" y="230" text-anchor="middle" transform="rotate(-90 14 230)">{html.escape(bench.ylabel)}</text>',
           '<path d="M70 40V420H610" fill="none" stroke="black"/>']
    out += [f'<text x="{x_at(x):.1f}" y="438" text-anchor="middle">{x:g}</text>' for x in sorted({min(xs), max(xs)})]
    out += [f'<text x="64" y="{y_at(y) + 4:.1f}" text-anchor="end">{y:.4g}</text>' for y in sorted({min(ys), max(ys)})]
    for i, name in enumerate(bench.line_names):
        color = _COLORS[i % len(_COLORS)]
        points = [(x, row[count + i]) for x, row in zip(xs, rows) if row[count + i] is not None and math.isfinite(row[count + i])]
        out.append(f'<polyline fill="none" stroke="{color}" points="{" ".join(f"{x_at(x):.1f},{y_at(y):.1f}" for x, y in points)}"/>')
        out.append(f'<text x="80" y="{56 + 16 * i}" fill="{color}">{html.escape(str(name))}</text>')
    with open(path, "w") as file:
        file.write("\n".join([*out, "</svg>\n"]))


def _png(bench, rows, path, show, pyplot):
    count = len(bench.x_names)
    figure, axes = pyplot.subplots()
    for i, name in enumerate(bench.line_names):
        color, style = bench.styles[i] if bench.styles else (None, None)
        axes.plot([row[0] for row in rows], [row[count + i] for row in rows], label=name, color=color, ls=style)
    axes.legend()
    axes.set_xlabel(bench.xlabel or bench.x_names[0])
    axes.set_ylabel(bench.ylabel)
    axes.set_xscale("log" if bench.x_log else "linear")
    axes.set_yscale("log" if bench.y_log else "linear")
    if show:
        pyplot.show()
    if path:
        figure.savefig(path)
    pyplot.close(figure)


def save(bench, rows, folder, precision, show):
    """Writes PLOT_NAME.csv and PLOT_NAME.png or .svg to a folder (none: only shows); gives the name of the picture."""
    try:
        from matplotlib import pyplot
    except ImportError:
        pyplot = None
    if not folder:
        if pyplot is not None and show:
            _png(bench, rows, None, True, pyplot)
        return None
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"{bench.plot_name}.csv"), "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(bench.columns())
        writer.writerows([f"{value:.{precision}f}" if isinstance(value, float) else value for value in row] for row in rows)
    picture = f"{bench.plot_name}.{'png' if pyplot else 'svg'}"
    if pyplot is None:
        _svg(bench, rows, os.path.join(folder, picture))
    else:
        _png(bench, rows, os.path.join(folder, picture), show, pyplot)
    return picture
