"""The laws of granular matter: discharge, run-out, slopes, friction in shear. What is run, figures, plots and the page's section."""

import math

from common import plots, save, set_field, table

DIAMETER = 0.01
SEEDS = (1, 2, 3)
OUTLETS = {"silo_3d": (0.04, 0.05, 0.06, 0.07, 0.08), "silo_2d": (0.06, 0.08, 0.10, 0.12, 0.14)}
EXPONENT = {"silo_3d": 2.5, "silo_2d": 1.5}
RATIOS = (0.5, 1, 2, 3.5, 6)
INERTIAL = (0.02, 0.05, 0.1, 0.2, 0.4)
# Until some two thirds are out, or long enough to see a rate, s.
END = {"silo_3d": {0.04: 1.8, 0.05: 1.5, 0.06: 1.2, 0.07: 0.9, 0.08: 0.8}, "silo_2d": {0.06: 3, 0.08: 2.5, 0.10: 2, 0.12: 1.7, 0.14: 1.4}}
TAKEN_OFF = 1.4  # diameters that the outlet is narrower by; Beverloo, Leniger and van de Velde 1961


def steps_of(summary):
    return {"unsolved": summary["unsolved"], "frozen": summary["frozen_shift"], "steps": summary["steps"], "seconds": summary["seconds"]}


def solved(figures):
    return f"{figures['unsolved']} of {figures['steps']}; {figures.get('frozen', 0)}"


def with_outlet(text, name, width):
    """The plates of the floor moved to another outlet."""
    plate, start = (0.1, 0.06) if name == "silo_3d" else (0.2, 0.08)
    text = text.replace(f"{plate + start / 2:g}", f"{plate + width / 2:g}")
    return text.replace(f"sides = [{start:g}, 0.2, 0.02]", f"sides = [{width:g}, 0.2, 0.02]")


def slope(x, y):
    import numpy as np

    return float(np.polyfit(x, y, 1)[0])


def silo(name):
    def run(bench):
        import numpy as np

        figures = {}
        for width in OUTLETS[name]:
            text = with_outlet(bench.text("laws", name), name, width)
            text = set_field(text, "end", END[name][width])
            summary = bench.run(bench.write(f"{name}.toml", text))
            states = list(bench.frames(summary["folder"]))
            t = np.array([s["time"] for s in states])
            left = np.array([int(s["free"].sum()) for s in states])
            out = left[0] - left
            # The middle: once what falls has reached the sink, until two thirds are out.
            middle = (t > 0.35) & (out < 0.67 * left[0])
            rate = slope(t[middle], out[middle])
            k = int(middle.sum()) // 2
            first, second = slope(t[middle][:k], out[middle][:k]), slope(t[middle][k:], out[middle][k:])
            figures[f"{width:g}"] = {
                "grains": int(left[0]), "rate": rate, "first_half": first, "second_half": second,
                "time": [round(float(x), 3) for x in t], "out": [int(x) for x in out],
                **steps_of(summary),
            }
        widths = np.array(OUTLETS[name])
        rates = np.array([figures[f"{w:g}"]["rate"] for w in widths])
        figures["exponent"] = slope(np.log(widths - TAKEN_OFF * DIAMETER), np.log(rates))
        figures["taken_off"] = best_taken_off(widths, rates, EXPONENT[name])
        if bench.pictures:
            draw_silo(bench.pictures / f"{name}.svg", name, figures)
        return figures

    return run


def best_taken_off(widths, rates, exponent):
    """k of the best fit of rates by C (D - k d)^exponent, in diameters."""
    a, b = __import__("numpy").polyfit(widths, rates ** (1 / exponent), 1)
    return float(-b / a / DIAMETER)


def draw_silo(file, name, figures):
    plt = plots()
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3))
    for width in OUTLETS[name]:
        f = figures[f"{width:g}"]
        left.plot(f["time"], f["out"], label=f"{width / DIAMETER:g} d")
    left.set_xlabel("time, s")
    left.set_ylabel("grains that are out")
    left.legend(frameon=False, title="outlet")
    x = [w / DIAMETER - TAKEN_OFF for w in OUTLETS[name]]
    y = [figures[f"{w:g}"]["rate"] for w in OUTLETS[name]]
    right.loglog(x, y, "o", color="#203080")
    n = EXPONENT[name]
    c = math.exp(sum(math.log(b) - n * math.log(a) for a, b in zip(x, y)) / len(x))
    right.loglog(x, [c * a**n for a in x], color="#8c8c8c", lw=1, label=f"exponent {n:g}")
    right.set_xlabel(f"D / d - {TAKEN_OFF:g}")
    right.set_ylabel("grains per s")
    right.legend(frameon=False)
    save(figure, file)


def front_of(position, top):
    """How far the heap reaches from the wall: to the first gap of three diameters between neighbours on the ground."""
    import numpy as np

    x = np.sort(position[top < 2.5 * 0.008][:, 0])
    gaps = np.nonzero(np.diff(x) > 3 * 0.008)[0]
    return float(x[gaps[0]] if len(gaps) else x[-1])


def column(bench):
    import numpy as np

    figures, profiles = {}, {}
    for a in RATIOS:
        text = bench.text("laws", "collapse_2d").replace("upper = [0.2, 0.4]", f"upper = [0.2, {0.2 * a:g}]")
        text = set_field(text, "end", 2 + math.sqrt(0.2 * a))
        summary = bench.run(bench.write("collapse_2d.toml", text))
        states = list(bench.frames(summary["folder"]))
        # The column at the moment when the gate opens; it has settled a little.
        start = min(states, key=lambda s: abs(s["time"] - 0.4))
        x0, r0 = start["position"][start["free"]], start["radius"][start["free"]]
        last = states[-1]
        x, r = last["position"][last["free"]], last["radius"][last["free"]]
        height = float(np.quantile(x0[:, 1] + r0, 0.99))
        front = front_of(x, x[:, 1])
        figures[f"{a:g}"] = {
            "grains": len(x), "ratio": height / 0.2, "runout": (front - 0.2) / 0.2, "end_height": float((x[:, 1] + r).max() / 0.2),
            "time": last["time"], **steps_of(summary),
        }
        profiles[a] = (x, r)
    ratios = np.array([figures[f"{a:g}"]["ratio"] for a in RATIOS])
    runout = np.array([figures[f"{a:g}"]["runout"] for a in RATIOS])
    low, high = ratios < 3, ratios > 2
    figures["exponent_low"] = slope(np.log(ratios[low]), np.log(runout[low]))
    figures["exponent_high"] = slope(np.log(ratios[high]), np.log(runout[high]))
    if bench.pictures:
        draw_column(bench.pictures / "collapse_runout.svg", ratios, runout, profiles)
    return figures


def draw_column(file, ratios, runout, profiles):
    import numpy as np

    plt = plots()
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3))
    for a, (x, r) in profiles.items():
        edges = np.arange(0, 3, 0.02)
        height = np.zeros(len(edges) - 1)
        at = np.clip(np.digitize(x[:, 0], edges) - 1, 0, len(height) - 1)
        np.maximum.at(height, at, x[:, 1] + r)
        left.plot(edges[:-1][height > 0] / 0.2, height[height > 0] / 0.2, label=f"{a:g}")
    left.set_xlabel("x / L0")
    left.set_ylabel("height / L0")
    left.legend(frameon=False, title="a")
    right.loglog(ratios, runout, "o", color="#203080", label="here")
    a = np.array([0.3, 3])
    b = np.array([2, 8])
    right.loglog(a, 1.82 * a**1.1, "--", color="#c06030", lw=1, label="1.82 a^1.1, 2.8 a^0.73: continuum")
    right.loglog(b, 2.8 * b**0.73, "--", color="#c06030", lw=1)
    right.loglog([0.3, 2], [0.75, 5], ":", color="#207060", lw=1.2, label="2.5 a, 3.25 a^0.7: disks")
    right.loglog([2, 8], [3.25 * 2**0.7, 3.25 * 8**0.7], ":", color="#207060", lw=1.2)
    c = runout[ratios < 3].mean() / ratios[ratios < 3].mean()
    right.loglog(a, c * a, color="#8c8c8c", lw=1, label="a and a^(2/3): exponents of experiments")
    right.loglog(b, c * 3 ** (1 / 3) * b ** (2 / 3), color="#8c8c8c", lw=1)
    right.set_xlabel("aspect ratio a")
    right.set_ylabel("run-out (L - L0) / L0")
    right.legend(frameon=False, fontsize=7)
    save(figure, file)


def radial_slope(x, y, top, low, high, rings, sectors=8):
    """Slope, in degrees, of a heap about the origin: the highest points of sectors of rings, the mean over sectors, a line through the rings."""
    import numpy as np

    ring = np.floor((np.hypot(x, y) - low) / (high - low) * rings).astype(int)
    sector = np.floor((np.arctan2(y, x) + math.pi) / (2 * math.pi) * sectors).astype(int) % sectors
    best = np.full((rings, sectors), np.nan)
    for r, s, z in zip(ring, sector, top):
        if 0 <= r < rings and not best[r, s] >= z:
            best[r, s] = z
    good = np.isfinite(best).any(axis=1)
    middle = low + (np.arange(rings) + 0.5) * (high - low) / rings
    return math.degrees(math.atan(-slope(middle[good], np.nanmean(best[good], axis=1))))


def slopes(name, scene, begin, slope_of, what):
    """A case: the slope of a surface in time, with each seed, and its mean from `begin` on. slope_of(state): how many grains, and their slope
    in degrees; None where there is none yet."""

    def run(bench):
        import numpy as np

        figures = {}
        for seed in SEEDS:
            text = set_field(bench.text("laws", scene), "seed", seed)
            summary = bench.run(bench.write(f"{scene}.toml", text))
            seen = [(s["time"], *found) for s in bench.frames(summary["folder"]) if (found := slope_of(s))]
            t = np.array([round(time, 3) for time, _, _ in seen])
            angle = np.array([a for _, _, a in seen])
            steady = angle[t > begin]
            k = len(steady) // 2
            figures[str(seed)] = {
                "grains": seen[-1][1], "angle": float(steady.mean()), "spread": float(steady.std()),
                "first_half": float(steady[:k].mean()), "second_half": float(steady[k:].mean()),
                "time": t.tolist(), "angles": [round(float(x), 2) for x in angle],
                **steps_of(summary),
            }
        if bench.pictures:
            draw_angles(bench.pictures / f"{name}_angle.svg", figures, f"slope of the {what}, degrees")
        return figures

    return run


def drum_slope(state):
    # Of a filling with a flat surface, the centre of mass lies straight below the middle of the surface, as the surface sees it.
    x = state["position"][state["free"]].mean(axis=0)
    return int(state["free"].sum()), math.degrees(math.atan2(abs(x[0]), -x[1]))


def pile_slope(state):
    x, r = state["position"][state["free"]], state["radius"][state["free"]]
    on = (x[:, 2] > 0) & (x[:, 2] < 0.05)  # what is on the plate
    if on.sum() < 100:
        return None
    return int(on.sum()), radial_slope(x[on, 0], x[on, 1], x[on, 2] + r[on], 0.006, 0.054, 8)


drum = slopes("drum", "drum_2d", 3, drum_slope, "surface")
pile = slopes("pile", "pile_3d", 2.6, pile_slope, "pile")  # from when nothing falls any more


def draw_angles(file, figures, what):
    plt = plots()
    figure, axis = plt.subplots(figsize=(6, 2.6))
    for seed in SEEDS:
        axis.plot(figures[str(seed)]["time"], figures[str(seed)]["angles"], lw=0.9, label=f"seed {seed}")
    axis.set_xlabel("time, s")
    axis.set_ylabel(what)
    axis.legend(frameon=False)
    save(figure, file)


def shear(bench):
    import csv

    import numpy as np

    figures = {}
    for inertial in INERTIAL:
        rate = inertial / 0.05
        strain = 6 if inertial > 0.05 else 3
        text = set_field(bench.text("laws", "shear_cell"), "shear_rate", f"{rate:g}")
        # Slow shear takes long: its steps may be longer, since nothing moves far in one.
        text = set_field(text, "end", f"{max(3.0, strain / rate):g}")
        text = set_field(text, "step", f"{5e-3 if inertial < 0.1 else 2e-3:g}")
        summary = bench.run(bench.write("shear_cell.toml", text))
        with open(f"{summary['folder']}/cell.csv") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        name = {key.split(" ")[0]: key for key in rows[0]}
        column = {key: np.array([float(row[full]) for row in rows]) for key, full in name.items()}
        late = column["time"] > 0.4 * column["time"][-1]
        xy, yy = column["stress_xy"][late], column["stress_yy"][late]
        blocks = np.array_split(np.abs(xy), 5), np.array_split(yy, 5)
        ratios = [float(a.mean() / b.mean()) for a, b in zip(*blocks)]
        figures[f"{inertial:g}"] = {
            "friction": float(np.abs(xy).mean() / yy.mean()), "error": float(np.std(ratios) / math.sqrt(4)),
            "pressure": float(yy.mean()), "fraction": float(column["packing_fraction"][late].mean()),
            **steps_of(summary),
        }
    add_static(figures)
    if bench.pictures:
        draw_shear(bench.pictures / "shear_mu_of_i.svg", figures)
    return figures


def add_static(figures):
    """The straight line through the slower half: the friction at rest and its growth."""
    import numpy as np

    slow = [i for i in INERTIAL if i <= 0.2]
    growth, static = np.polyfit(slow, [figures[f"{i:g}"]["friction"] for i in slow], 1)
    figures["static"], figures["growth"] = float(static), float(growth)


def draw_shear(file, figures):
    plt = plots()
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3))
    points = [figures[f"{i:g}"] for i in INERTIAL]
    left.errorbar(INERTIAL, [p["friction"] for p in points], [p["error"] for p in points], fmt="o", color="#203080", ms=4)
    left.set_xscale("log")
    left.set_ylim(bottom=0)
    left.set_xlabel("inertial number I")
    left.set_ylabel("shear stress / pressure")
    right.semilogx(INERTIAL, [p["fraction"] for p in points], "o", color="#a02020", ms=4)
    right.set_xlabel("inertial number I")
    right.set_ylabel("packing fraction")
    save(figure, file)


def section(figures):
    """The page's part."""
    out = ["## Laws of granular matter\n",
           "Scenes in `scenes/laws`; `validation/run --only silo_3d` (`silo_2d`, `column`, `drum`, `pile`, `shear`) repeats one. "
           "Exact Coulomb friction; steps count as solved at a residual of 1e-2 (silos), 5e-3 (column, drum, pile) and 1e-3 (shear cell).\n"]
    for name, what in (("silo_3d", "space, square outlet"), ("silo_2d", "plane")):
        f = figures.get(name)
        if not f:
            continue
        rows = [[f"{w / DIAMETER:g}", f[f"{w:g}"]["grains"], f"{f[f'{w:g}']['rate']:.0f}",
                 f"{f[f'{w:g}']['second_half'] / f[f'{w:g}']['first_half']:.2f}",
                 solved(f[f'{w:g}'])] for w in OUTLETS[name]]
        out += [f"### Discharge of a silo ({what})\n",
                f"Exponent of `D - {TAKEN_OFF} d`: **{f['exponent']:.2f}** (Beverloo: {EXPONENT[name]}); with that exponent given, the best "
                f"fit takes off {f['taken_off']:.2f} d.\n",
                table(["D / d", "grains", "rate, 1/s", "rate of the later half of the middle over the earlier", "steps not solved; with a frozen shift"], rows),
                f"![discharge](pictures/{name}.svg)\n"]
    f = figures.get("column")
    if f:
        rows = [[f"{f[f'{a:g}']['ratio']:.2f}", f[f"{a:g}"]["grains"], f"{f[f'{a:g}']['runout']:.2f}", f"{f[f'{a:g}']['end_height']:.2f}",
                 solved(f[f'{a:g}'])] for a in RATIOS]
        out += ["### Collapse of a column (plane)\n",
                f"Run-out grows as a^**{f['exponent_low']:.2f}** below a = 3 and a^**{f['exponent_high']:.2f}** above 2; experiments: a and "
                "a^(2/3); a continuum model with mu(I) (thesis of G. Daviet, 2016): 1.82 a^1.1 and 2.8 a^0.73; disks without rolling friction, as here "
                "(Staron and Hinch 2005): 2.5 a below 2 and 3.25 a^0.7 above. The front is where the grains on the ground first leave a gap of three "
                "diameters; beyond it single disks roll on.\n",
                table(["a", "grains", "run-out / L0", "height at the end / L0", "steps not solved; with a frozen shift"], rows),
                "![run-out](pictures/collapse_runout.svg)\n"]
    for name, what in (("drum", "Rotating drum (plane)"), ("pile", "Pile on a plate (space)")):
        f = figures.get(name)
        if not f:
            continue
        angles = [f[str(s)]["angle"] for s in SEEDS]
        rows = [[s, f[str(s)]["grains"], f"{f[str(s)]['angle']:.2f}", f"{f[str(s)]['spread']:.2f}",
                 solved(f[str(s)])] for s in SEEDS]
        out += [f"### {what}\n", f"The means of three seeds lie within **{max(angles) - min(angles):.2f}** degrees.\n",
                table(["seed", "grains", "slope, degrees", "standard deviation in time", "steps not solved; with a frozen shift"], rows),
                f"![slope](pictures/{name}_angle.svg)\n"]
    f = figures.get("shear")
    if f:
        rows = [[f"{i:g}", f"{f[f'{i:g}']['friction']:.3f} +- {f[f'{i:g}']['error']:.3f}", f"{f[f'{i:g}']['fraction']:.3f}",
                 f"{f[f'{i:g}']['pressure']:.1f}", solved(f[f'{i:g}'])] for i in INERTIAL]
        out += ["### Shear cell (plane)\n",
                "A periodic cell of 325 disks sheared at a given rate, its height free under a pressure of 100 N/m; friction of the grains 0.5. The line "
                f"through I <= 0.2 is {f['static']:.2f} + {f['growth']:.2f} I (da Cruz et al. 2005, disks with springs and friction 0.4: 0.25 + 1.1 I).\n",
                table(["I", "shear stress / pressure", "packing fraction", "pressure, N/m", "steps not solved; with a frozen shift"], rows),
                "![mu(I)](pictures/shear_mu_of_i.svg)\n"]
    return "\n".join(out) if len(out) > 2 else ""
