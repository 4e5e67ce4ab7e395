#!/usr/bin/python3
"""Nine silos by `drystone sweep`: how fast they empty, by the width of the outlet and by friction, in a table and a picture.

    validation/silo_sweep.py DRYSTONE FOLDER [--kill-after 60] [--jobs 2]

scenes/silo_sweep.toml with three outlets and three frictions. The sweep is killed with all its runs (SIGKILL) after so many seconds (0: not at all), and begun
again by the same command. Rates are those between the first and the last 0.1 s of the flow; each friction's are put beside the law of Beverloo in the plane,
W = C (D - k d)^(3/2), by its two numbers. Writes FOLDER/rates.svg, prints a table.
Needs the Debian packages python3-numpy and python3-matplotlib.
"""
import argparse
import csv
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from common import plots, save, table

SCENE = pathlib.Path(__file__).resolve().parent.parent / "scenes" / "silo_sweep.toml"
OUTLETS, FRICTIONS = ("0.06", "0.08", "0.1"), ("0.2", "0.4", "0.6")
DIAMETER, EDGE = 0.01, 0.1  # m, s


def rate(folder):
    """kg/s while it flows, and how many grains that were."""
    with open(folder / "outflow.csv", encoding="utf-8") as file:
        rows = [[float(x) for x in row] for row in list(csv.reader(file))[1:]]
    t, count, mass = np.array(rows)[:, :3].T
    first = t[np.argmax(count > 0)]
    during = (t > first + EDGE) & (t < t[-1] - EDGE)
    return np.polyfit(t[during], mass[during], 1)[0], int(count[during][-1] - count[during][0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("drystone", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--kill-after", type=float, default=60)
    parser.add_argument("--jobs", default="2")
    options = parser.parse_args()
    words = [str(options.drystone.resolve()), "sweep", str(SCENE), "--over", "let.outlet=" + ",".join(OUTLETS), "material.grain.friction=" + ",".join(FRICTIONS),
             "--output", str(options.folder), "--jobs", options.jobs]
    if options.kill_after > 0:
        job = subprocess.Popen(words, start_new_session=True)
        time.sleep(options.kill_after)
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
            print("killed", flush=True)
        job.wait()
    if subprocess.run(words, check=False).returncode != 0:
        sys.exit("the sweep did not end")

    with open(options.folder / "table.csv", encoding="utf-8") as file:
        cases = {(row["let.outlet"], row["material.grain.friction"]): row for row in csv.DictReader(file)}
    plt = plots()
    shown, ax = plt.subplots(figsize=(5.5, 4))
    rows = []
    for friction, colour in zip(FRICTIONS, ("#203080", "#c06030", "#308040")):
        found = [rate(options.folder / cases[outlet, friction]["case"]) for outlet in OUTLETS]
        rates, widths = np.array([r for r, _ in found]), np.array([float(outlet) for outlet in OUTLETS])
        # W^(2/3) = C^(2/3) (D - k d) is a line.
        slope, offset = np.polyfit(widths, rates ** (2 / 3), 1)
        lost = -offset / slope / DIAMETER
        law = (slope * (widths - lost * DIAMETER)) ** 1.5
        for outlet, (value, grains), expected in zip(OUTLETS, found, law):
            row = cases[outlet, friction]
            rows.append([outlet, friction, f"{value:.1f}", f"{expected:.1f}", grains, row["steps"], row["unsolved"], row["frozen_shift"]])
        ax.plot(widths / DIAMETER, rates, "o", color=colour, label=f"friction {friction}: k = {lost:.2f}")
        fine = np.linspace(0.05, 0.105, 50)
        ax.plot(fine / DIAMETER, (slope * np.maximum(fine - lost * DIAMETER, 0)) ** 1.5, "-", color=colour, linewidth=1)
    ax.set_xlabel("outlet / mean diameter")
    ax.set_ylabel("discharge, kg/s per m of depth")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    save(shown, options.folder / "rates.svg")
    print(table(["outlet, m", "friction", "discharge, kg/s", "C (D - k d)^(3/2)", "grains", "steps", "unsolved", "frozen"], rows))


if __name__ == "__main__":
    main()
