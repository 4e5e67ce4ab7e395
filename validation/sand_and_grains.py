#!/usr/bin/python3
"""The same column, of spheres and of sand as a continuum: profiles while it collapses, in one picture.

    validation/sand_and_grains.py DRYSTONE FOLDER [--radius 0.00229] [--threads N]

1. Spheres in a periodic cell, sheared at four rates under one pressure, say what the friction mu(I) of the spheres is; nothing else is fitted.
2. scenes/large/grains_column.toml: 100,000 spheres settle, and their gate is taken away; some hours. A run that was stopped is gone on with. Spheres with
   twice the RADIUS: an eighth of the spheres, some twenty minutes.
3. A column of sand of the same length, mass and density, with that friction.
Writes FOLDER/profiles.svg and prints a table. Depths are those of what stands on each strip of the floor, were it as dense as the column was.
Needs the Debian packages python3-numpy, python3-h5py and python3-matplotlib.
"""
import argparse
import csv
import json
import math
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from common import plots, save, set_field, table

SCENES = pathlib.Path(__file__).resolve().parent.parent / "scenes"
LENGTH, WIDTH, OPENS = 0.25, 0.1, 0.4  # m, m, s
RATES = (1, 4, 16, 64)  # 1/s
PRESSURE, DENSITY = 1000, 2500
TIMES = (0.1, 0.2, 0.3, 1.0)  # s after the gate
STRIP = 0.0125  # m

SHEAR = """
title = "shear cell of spheres"
dimension = 3
[time]
step = {step:g}
end = {end:g}
[solver]
tolerance = 1e-3
[domain]
period = [0.1, 0.1, 0.1]
[cell]
shear_rate = {rate:g}
stress = ["rate", "rate", {pressure:g}]
[[material]]
name = "grain"
density = {density:g}
friction = 0.5
[[fill]]
region = {{ type = "box", lower = [0, 0, 0], upper = [0.1, 0.1, 0.1] }}
shape = {{ type = "sphere", radius = 0.005 }}
size = [0.8, 1.2]
fraction = 0.5
[[measure]]
name = "cell"
every = {every:g}
what = ["stress", "packing", "inertial"]
"""

SAND = """
title = "collapse of a column of sand"
dimension = 3
gravity = [0, 0, -9.81]
[time]
step = 4e-3
end = {end:g}
[solver]
tolerance = 1e-3
[[material]]
name = "grain"
density = {density:g}
friction = 0.5
[[material]]
name = "smooth"
friction = 0
[[wall]]
name = "floor"
point = [0, 0, 0]
normal = [0, 0, 1]
material = "grain"
[box]
lower = [0, 0, 0]
upper = [2, {width:g}, 1]
sides = ["left", "front", "back"]
material = "smooth"
[sand]
material = "grain"
cell = 0.0125
friction = {friction:g}
friction_fast = {fast:g}
inertial_number = {number:g}
grain_diameter = {diameter:g}
max_fraction = {fraction:g}
[[sand.fill]]
region = {{ type = "box", lower = [0, 0, 0], upper = [{length:g}, {width:g}, {height:g}] }}
[output]
frames_every = 0.1
"""


class Runs:
    def __init__(self, options):
        self.drystone, self.folder, self.threads = options.drystone, options.folder, options.threads

    def run(self, name, text, *settings):
        """The summary of a run in its own folder: begun, gone on with, or already there."""
        scene, output = self.folder / f"{name}.toml", self.folder / name
        scene.write_text(text)
        done = self.folder / f"{name}.json"
        if not done.exists():
            begun = (output / "checkpoint.h5").exists()
            command = [self.drystone, *(["resume", output] if begun else ["run", scene, *(["--set", *settings] if settings else [])]), "--json", "--output", output]
            print(" ".join(str(word) for word in command), flush=True)
            said = subprocess.run([str(word) for word in command] + ["--threads", self.threads, "--checkpoint-every", "60"], stdout=subprocess.PIPE, text=True)
            if said.returncode != 0:
                sys.exit(f"validation/sand_and_grains.py: ended with {said.returncode}")
            done.write_text(said.stdout)
        return json.loads(done.read_text())


def columns(file):
    with open(file) as lines:
        rows = list(csv.DictReader(lines))
    return {key.split(" (")[0]: np.array([float(row[key]) for row in rows]) for key in rows[0]}


def friction(runs):
    """mu and packing at each inertial number, and the fit mu = slow + (fast - slow) / (1 + I0 / I)."""
    points = []
    for rate in RATES:
        runs.run(f"shear_{rate}", SHEAR.format(step=2e-3 / rate, end=5 / rate, every=0.02 / rate, rate=rate, pressure=PRESSURE, density=DENSITY))
        lines = columns(runs.folder / f"shear_{rate}" / "cell.csv")
        late = lines["time"] > 2 / rate
        mean = {key: float(values[late].mean()) for key, values in lines.items()}
        points.append((mean["inertial_number"], -mean["stress_xz"] / mean["pressure"], mean["packing_fraction"]))
    number, mu = np.array([p[0] for p in points]), np.array([p[1] for p in points])
    fits = []
    for base in np.geomspace(0.05, 2, 200):
        (slow, rise), rest, _, _ = np.linalg.lstsq(np.stack([np.ones(len(mu)), 1 / (1 + base / number)], axis=1), mu, rcond=None)
        fits.append((float(((slow + rise / (1 + base / number) - mu) ** 2).sum()), slow, slow + rise, base))
    _, slow, fast, base = min(fits)
    return points, slow, fast, base


def depth(x, volume, solid, edges):
    return np.histogram(x, edges, weights=volume)[0] / (solid * WIDTH * STRIP)


def grains(folder):
    import h5py

    for file in sorted(folder.glob("grains_*.hdf")):
        with h5py.File(file, "r") as f:
            free = f["bodies/motion"][:] == 0
            yield float(f["time"][()].item()), f["bodies/position"][:][free], f["bodies/size"][:][free]  # of balls: their radius


def sand(folder):
    import h5py

    for file in sorted(folder.glob("sand_*.hdf")):
        with h5py.File(file, "r") as f:
            yield float(f["time"][()].item()), f["particles/position"][:], f["particles/volume"][:]


def nearest(frames, time):
    """Steps that adapt miss the times of frames by up to their length."""
    return frames[min(frames, key=lambda t: abs(t - time))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("drystone", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--radius", type=float, default=0.00229)
    parser.add_argument("--threads", default="2")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    runs = Runs(options)
    points, slow, fast, base = friction(runs)
    print(table(["inertial number", "mu", "packing"], [[f"{value:.4g}" for value in point] for point in points]))
    print(f"mu(I) from {slow:.3f} to {fast:.3f}, half way at {base:.3g}\n", flush=True)

    told = runs.run("grains", (SCENES / "large" / "grains_column.toml").read_text(), f"let.radius={options.radius:g}")
    frames = {time: (x, 4 / 3 * math.pi * radius**3) for time, x, radius in grains(runs.folder / "grains")}
    x, volume = nearest(frames, OPENS)
    x = x - [0, 0, options.radius]  # the top of the floor's spheres
    top = np.quantile(x[:, 2], 0.99)
    core = (np.abs(x[:, 0] - LENGTH / 2) < LENGTH / 4) & (np.abs(x[:, 1] - WIDTH / 2) < WIDTH / 4) & (np.abs(x[:, 2] - top / 2) < top / 4)
    core_solid = float(volume[core].sum()) / (LENGTH / 2 * WIDTH / 2 * top / 2)
    # Less dense at walls: of the whole column, up to where it would end were it equally dense to its top.
    low = x[:, 2] < 0.8 * top
    solid = float(volume[low].sum()) / (LENGTH * WIDTH * 0.8 * top)
    height = float(volume.sum()) / (solid * LENGTH * WIDTH)
    print(f"{len(x)} spheres, {height:.3f} m high; they fill {solid:.3f} of the column, {core_solid:.3f} of its middle\n", flush=True)

    told_of_sand = runs.run("sand", SAND.format(end=TIMES[-1], density=DENSITY, width=WIDTH, length=LENGTH, height=height, friction=slow, fast=fast,
                                                number=base, diameter=2 * options.radius, fraction=solid))
    other = {time: (x, volume) for time, x, volume in sand(runs.folder / "sand")}
    edges = np.arange(0, 2, STRIP)
    rows = []
    plt = plots()
    shown, axes = plt.subplots(len(TIMES), 1, figsize=(7, 6), sharex=True, sharey=True)
    for ax, time in zip(axes, TIMES):
        profiles = [depth(x[:, 0], volume, solid, edges) for x, volume in (nearest(frames, OPENS + time), nearest(other, time))]
        reach = [float(edges[1:][p > 0.02 * height].max()) for p in profiles]
        rows.append([f"{time:g}", *(f"{p.max() / height:.3f}" for p in profiles), *(f"{(r - LENGTH) / LENGTH:.2f}" for r in reach),
                     f"{float(np.abs(profiles[0] - profiles[1]).sum() * STRIP / (height * LENGTH)) / 2:.3f}"])
        for p, colour, name in zip(profiles, ("#203080", "#c06030"), (f"{len(x)} spheres", "sand")):
            ax.step(edges[:-1] / LENGTH, p / height, where="post", color=colour, label=name)
        ax.set_ylabel(f"{time:g} s")
    axes[0].legend(frameon=False)
    axes[0].set_xlim(0, 4)
    axes[-1].set_xlabel("x / L0; depths over H0, at times after the gate has opened")
    save(shown, runs.folder / "profiles.svg")
    print(table(["time, s", "highest / H0, spheres", "sand", "run-out / L0, spheres", "sand", "volume that is elsewhere"], rows))
    for name, summary in (("spheres", told), ("sand", told_of_sand)):
        print(f"{name}: {summary['steps']} steps, {summary['unsolved']} unsolved, {summary['frozen_shift']} with a frozen shift")


if __name__ == "__main__":
    main()
