"""Time against rows, a panel for each task, both axes logarithmic: an SVG by gnuplot."""

import os
import shutil
import subprocess

PANEL_WIDTH, PANEL_HEIGHT, ACROSS = 420, 320, 3


def series(lines, task, name):
    return sorted((rows, median) for each, rows, who, _, _, median, _ in lines if (each, who) == (task, name))


def plot(lines, stem):
    """Writes stem.svg from lines (task, rows, contestant, rounds, minimum, median, processor), and says so, or why not."""
    tasks = list(dict.fromkeys(line[0] for line in lines if len(series(lines, line[0], line[2])) > 1))
    names = list(dict.fromkeys(line[2] for line in lines))
    if not tasks:
        return "no plot: of one size there is nothing to draw"
    if not shutil.which("gnuplot"):
        return "no plot: gnuplot is missing"
    down = (len(tasks) + ACROSS - 1) // ACROSS
    script = [
        f"set terminal svg size {PANEL_WIDTH * ACROSS},{PANEL_HEIGHT * down} dynamic background 'white' font 'sans,11'",
        f"set output '{os.path.basename(stem)}.svg'",
        f"set multiplot layout {down},{ACROSS}",
        "set logscale xy\nset grid\nset key left top\nset format '10^{%L}'",
        "set xlabel 'rows'\nset ylabel 'ms'",
    ]
    for task in tasks:
        curves = []
        for number, name in enumerate(names):
            points = series(lines, task, name)
            if points:
                script += [f"${task.name.replace('-', '_')}_{number} << EOD", *(f"{x} {y}" for x, y in points), "EOD"]
                width = 3 if number == 0 else 1
                block = f"${task.name.replace('-', '_')}_{number}"
                curves.append(f"{block} with linespoints lc {number + 1} lw {width} pt 7 ps 0.3 title '{name}'")
        script += [f"set title '{task.title}' noenhanced", "plot " + ", ".join(curves)]
    script.append("unset multiplot")
    with open(f"{stem}.gnuplot", "w", encoding="utf-8") as out:
        out.write("\n".join(script) + "\n")
    command = ["gnuplot", os.path.basename(f"{stem}.gnuplot")]
    done = subprocess.run(command, cwd=os.path.dirname(stem), capture_output=True, text=True, check=False)
    return f"{os.path.relpath(stem)}.svg" if done.returncode == 0 else f"no plot: gnuplot says {done.stderr.strip()}"
