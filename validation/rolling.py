"""Rolling and spinning friction (Tasora & Anitescu 2013): disk, top, guideway, gravel. What is run, figures, plots and the page's section."""

import csv
import math

from common import plots, save, set_field, table

LOADS = (100, 250, 490, 1000)
ZETAS = (0, 0.0025, 0.005, 0.01)
SEALS, BALL_RADIUS, GRAVITY = 5.3, 0.0032, 9.8
ROLLING = (0, 0.002, 0.004, 0.006, 0.008, 0.01)  # m
LAWS = {"associated": "associated", "exact": "coulomb"}


def columns(folder, name):
    """The columns of a file of measurements, by the name before the unit."""
    import numpy as np

    with open(f"{folder}/{name}.csv") as file:
        rows = list(csv.reader(file))
    data = np.array(rows[1:], dtype=float)
    return {head.split(" (")[0]: data[:, k] for k, head in enumerate(rows[0])}


def under_each_law(bench, scene, figures_of):
    """Runs a scene of scenes/rolling under both laws; `figures_of` makes figures of its measurements."""
    figures = {}
    for name, law in LAWS.items():
        text = set_field(bench.text("rolling", scene), "law", f'"{law}"')
        summary = bench.run(bench.write(f"{scene}.toml", text))
        figures[name] = figures_of(columns(summary["folder"], scene)) | {"unsolved": summary["unsolved"]}
    return figures


def disk(bench):
    """Deceleration, time and place of the stop, and the speed afterwards; expected 0.14 m/s^2, 7.142857 s, 3.571429 m."""
    import numpy as np

    def figures_of(c):
        t, x, v = c["time"], c["centre_x"], c["velocity_x"]
        rolls = (t > 0.1) & (t < 7)
        # A step at whose end the disk stands: it stopped within it, and what is left of the line tells where.
        deceleration = -float(np.polyfit(t[rolls], v[rolls], 1)[0])
        at_rest = np.nonzero(np.abs(v) < 1e-9)[0][0]
        stop = float(t[at_rest - 1] + v[at_rest - 1] / deceleration)
        return {"deceleration": deceleration, "stop": stop, "way": float(x[-1]), "rest": float(np.abs(v[at_rest:]).max())}

    return under_each_law(bench, "disk", figures_of)


def top(bench):
    """The rate at which a spinning ball slows down over sigma m g / I."""
    import numpy as np

    mass = 8500 * 4 / 3 * math.pi * 0.05**3
    inertia = 0.4 * mass * 0.05**2
    expected = 0.002 * mass * GRAVITY / inertia

    def figures_of(c):
        spin = np.sqrt(2 * c["kinetic_rotation"] / inertia)
        turns = spin > 1
        slope = -float(np.polyfit(c["time"][turns], spin[turns], 1)[0])
        return {"ratio": slope / expected, "stop": float(c["time"][np.nonzero(spin < 1e-9)[0][0]]),
                "expected_stop": 20 / expected, "rest": float(spin[-1])}

    return under_each_law(bench, "top", figures_of)


def guideway(bench):
    """The pull at a constant speed, along the contacts of one row and straight down."""
    import numpy as np

    figures = {}
    for direction, gravity in (("along", f"[0, {-GRAVITY / math.sqrt(2):.9f}, {-GRAVITY / math.sqrt(2):.9f}]"), ("down", f"[0, 0, {-GRAVITY}]")):
        for load in LOADS:
            for zeta in ZETAS:
                text = set_field(bench.text("rolling", "guideway"), "gravity", gravity)
                text = set_field(text, "rolling", f"{zeta * BALL_RADIUS:g}")
                text = text.replace("mass = 49.9", f"mass = {load / GRAVITY - 0.1:.9f}")
                if load >= 1000:  # the heaviest takes longer to come to its pull
                    text = set_field(text, "end", "0.2")
                summary = bench.run(bench.write("guideway.toml", text))
                c = columns(summary["folder"], "pull")
                late = c["time"] > 0.6 * c["time"][-1]
                pull = c["pull axial"][late]
                figures[f"{direction} {load:g} {zeta:g}"] = {
                    "pull": -float(np.mean(pull)) if np.mean(pull) < 0 else float(np.mean(pull)), "spread": float(np.ptp(pull)),
                    "unsolved": summary["unsolved"], "steps": summary["steps"], "seconds": summary["seconds"]}
    return figures


def gravel(name, small=False):
    """Piles of 10,000 spheres, or of 2500 in a tray of a quarter of the floor."""
    def run(bench):
        figures = {}
        for rho in ROLLING:
            text = set_field(bench.text("rolling", "gravel"), "law", f'"{LAWS[name]}"')
            for field in ("rolling", "spinning"):
                text = set_field(text, field, f"{rho:g}")
            if small:
                text = text.replace("-1, -1, 0]", "-0.5, -0.5, 0]").replace("[1, 1, ", "[0.5, 0.5, ")
                text = text.replace("end = 15", "end = 6").replace("end = 12.5", "end = 3.125")
            summary = bench.run(bench.write("gravel.toml", text))
            figures[f"{rho:g}"] = pile_figures(summary, list(bench.frames(summary["folder"])))
            if bench.pictures and not small:
                draw_side(bench.pictures / f"gravel_{name}_{rho * 1000:g}mm.png", list(bench.frames(summary["folder"]))[-1])
        return figures

    return run


def pile_figures(summary, states):
    c = columns(summary["folder"], "pile")
    late = c["time"] > c["time"][-1] - 0.5
    return {"angle": float(c["repose"][late].mean()), "height": float(c["height"][-1]), "fraction": solid_fraction(states[-1]),
            "kinetic": float((c["kinetic_translation"] + c["kinetic_rotation"])[-1]), "grains": int(states[-1]["free"].sum()),
            "unsolved": summary["unsolved"], "steps": summary["steps"], "seconds": summary["seconds"]}


def solid_fraction(state):
    """Solid volume over the volume under the surface of the pile, in cells of three diameters: what dilatation lowers."""
    import numpy as np

    keep = state["free"].astype(bool)
    x, radius = state["position"][keep], 0.0225
    width = 6 * radius
    cell = np.floor(x[:, :2] / width).astype(int)
    under = 0.0
    for key in {tuple(c) for c in cell}:
        inside = (cell == key).all(axis=1)
        under += (x[inside, 2].max() + radius) * width**2
    return float(keep.sum() * 4 / 3 * math.pi * radius**3 / under)


def draw_side(file, state):
    """The pile seen from the side, nearer grains over farther ones."""
    plt = plots()
    x = state["position"][state["free"].astype(bool)]
    x = x[x[:, 1].argsort()[::-1]]
    figure, axis = plt.subplots(figsize=(6, 3.75))
    shade = (x[:, 1] - x[:, 1].min()) / max(1e-9, float(x[:, 1].max() - x[:, 1].min()))
    size = (0.045 / 2.0 * 6 * 72 * 0.86) ** 2
    axis.scatter(x[:, 0], x[:, 2], s=size, c=shade, cmap="copper", vmin=-0.4, vmax=1.2, linewidths=0.2, edgecolors="#302010")
    axis.set_xlim(-1, 1)
    axis.set_ylim(0, 1.25)
    axis.set_aspect("equal")
    axis.axis("off")
    figure.tight_layout(pad=0.1)
    figure.savefig(file, dpi=110)
    plt.close(figure)


def draw_gravel(file, figures, kind):
    plt = plots()
    figure, axis = plt.subplots(figsize=(5, 3))
    for name, colour in (("associated", "#a02020"), ("exact", "#203080")):
        f = figures.get(f"{kind}_{name}", {})
        points = [(rho, f[f"{rho:g}"]["angle"]) for rho in ROLLING if f"{rho:g}" in f]
        axis.plot([1000 * p[0] for p in points], [p[1] for p in points], "o-", color=colour, ms=4, lw=1, label=f"{name} law")
    axis.set_xlabel("rolling = spinning coefficient, mm")
    axis.set_ylabel("angle of repose, degrees")
    axis.set_ylim(bottom=0)
    axis.legend(frameon=False)
    save(figure, file)


def draw(figures, pictures):
    """What needs the figures of several cases."""
    for kind in ("gravel", "gravel_small"):
        if any(figures.get(f"{kind}_{name}") for name in LAWS):
            draw_gravel(pictures / f"{kind}_angle.svg", figures, kind)


def section(figures):
    out = ["## Rolling and spinning friction\n",
           "Scenes in `scenes/rolling`; `validation/run --only disk` (`top`, `guideway`, `gravel_associated`, `gravel_exact`, `gravel_small_associated`, `gravel_small_exact`) repeats one. Tasora & Anitescu 2013.\n"]
    f = figures.get("disk")
    if f:
        rows = [["expected", "0.14", f"{1 / 0.14:.4f}", f"{0.5 / 0.14:.4f}", "0", ""]]
        rows += [[name, f"{f[name]['deceleration']:.6f}", f"{f[name]['stop']:.4f}", f"{f[name]['way']:.4f}", f"{f[name]['rest']:.0e}",
                  f[name]["unsolved"]] for name in LAWS]
        out += ["### Rolling disk\n", table(["law", "deceleration, m/s^2", "stop, s", "way, m", "largest speed after, m/s", "steps not solved"], rows)]
    f = figures.get("top")
    if f:
        rows = [[name, f"{f[name]['ratio']:.6f}", f"{f[name]['stop']:.3f} ({f[name]['expected_stop']:.3f})", f"{f[name]['rest']:.0e}",
                 f[name]["unsolved"]] for name in LAWS]
        out += ["### Spinning top\n", table(["law", "slowing over sigma m g / I", "stop, s (expected)", "spin at the end, rad/s", "steps not solved"], rows)]
    f = figures.get("guideway")
    if f:
        rows = []
        for load in LOADS:
            for zeta in ZETAS:
                along, down = f[f"along {load:g} {zeta:g}"], f[f"down {load:g} {zeta:g}"]
                expected = zeta * load + SEALS
                rows.append([load, zeta, f"{expected:.3f}", f"{along['pull']:.3f}", f"{100 * (along['pull'] / expected - 1):+.2f}", f"{down['pull']:.3f}",
                             f"{along['unsolved'] + down['unsolved']} of {along['steps'] + down['steps']}"])
        out += ["### Linear guideway\n",
                "Pull force, N. The formula `zeta F + S` holds for a load along the contacts of a row. Straight down the two upper rows bear the load at 45 "
                "degrees: their normal forces add up to `sqrt(2) F` less what friction in the raceways carries.\n",
                table(["load F, N", "zeta", "zeta F + S", "load along the contacts", "difference, %", "load straight down", "steps not solved"], rows)]
    for kind, what in (("gravel", "10,000 spheres of 45 mm poured into a tray of 2 m x 2 m, 15 s"),
                       ("gravel_small", "2500 spheres in a tray of 1 m x 1 m, 6 s")):
        f = {name: figures.get(f"{kind}_{name}", {}) for name in LAWS}
        if not any(f.values()):
            continue
        rows = []
        for rho in ROLLING:
            cells = [f[name].get(f"{rho:g}") for name in LAWS]
            rows.append([f"{1000 * rho:g}"] + [x for c in cells for x in ([f"{c['angle']:.1f}", f"{c['height']:.3f}", f"{c['fraction']:.3f}",
                        f"{c['unsolved']} of {c['steps']}"] if c else ["", "", "", ""])])
        out += [f"### Gravel: {what}\n",
                "Friction 0.6, h = 5 ms, residual 1e-2. Solid fraction: under the surface of the pile, in cells of three diameters. Empty cells were not run.\n",
                table(["rolling = spinning, mm", "associated: angle", "height, m", "solid fraction", "not solved",
                       "exact: angle", "height, m", "solid fraction", "not solved"], rows),
                f"![angle](pictures/{kind}_angle.svg)\n"]
        if kind == "gravel":
            out += ["\n".join(f"![{name}, {1000 * rho:g} mm](pictures/gravel_{name}_{rho * 1000:g}mm.png)" for name in LAWS for rho in ROLLING
                              if f"{rho:g}" in f[name]) + "\n"]
    return "\n".join(out) if len(out) > 2 else ""
