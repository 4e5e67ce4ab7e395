"""The cases: what is run, and which figures are kept."""

import dataclasses
import math
import pathlib
import typing

import forces
import laws
import rolling
import sand
import sand_laws
from common import plots, save

GRADIENTS = ["pgd", "apgd", "apgd-as", "apgd-ar", "apgd-asr"]
LAWS = ["sbp", "sal", "ebp", "eal", "pdas"]


@dataclasses.dataclass
class Case:
    name: str
    what: str
    long: bool
    run: typing.Callable


def box_gradients(count, solvers):
    def run(bench):
        scene = bench.scene(f"spheres_box_{count}")
        return {solver: bench.program("gradients", scene, solver) for solver in solvers}

    return run


def keep(summary):
    """Of a summary of `drystone run`, what the page needs."""
    names = ["steps", "unsolved", "worst_residual", "worst_relative_overlap", "iterations", "balance_error", "time"]
    kept = {name: summary[name] for name in names}
    kept["seconds"] = summary["seconds_solve"]
    kept["seconds_all"] = summary["seconds"]
    kept["constraints"], kept["active"] = int(summary["last"]["contacts"]), int(summary["last"]["active"])
    return kept


def box_referee(count, solvers, *options):
    def run(bench):
        name = f"spheres_box_{count}"
        return {solver: keep(bench.run(bench.with_solver(name, solver), *options)) for solver in solvers}

    return run


def fixed_point(count, variants):
    def run(bench):
        figures = {}
        for friction in (0.1, 1):
            scene = bench.scene(f"spheres_plane_{count}", friction=friction)
            for start, test in variants:
                figures[f"{friction} {start} {test}"] = bench.program("fixed_point_count", scene, start, test)
        return figures

    return run


def plane_exact(count):
    """The same run in the command, under the exact law by sweeps."""

    def run(bench):
        return {str(mu): keep(bench.run(bench.scene(f"spheres_plane_{count}", friction=mu))) for mu in (0.1, 1)}

    return run


def frames(folder):
    import h5py

    for file in sorted(pathlib.Path(folder).glob("grains_*.hdf")):
        with h5py.File(file, "r") as f:
            yield {
                "time": float(f["time"][()]),
                "position": f["bodies/position"][:],
                "angle": f["bodies/rotation"][:],
                "free": f["bodies/motion"][:] == 0,
                "radius": f["bodies/size"][:],  # of balls, whose shape has radius 1
            }


def profile(position, radius, edges):
    """Height of the highest disk in each bin; 0 where there is none."""
    import numpy as np

    height = np.zeros(len(edges) - 1)
    at = np.digitize(position[:, 0], edges) - 1
    inside = (at >= 0) & (at < len(height))
    np.maximum.at(height, at[inside], position[inside, 1] + radius)
    return height


def compare_profiles(first, second, radius, edges):
    """By how much two runs differ, frame by frame; pairs of numbers are (first, second)."""
    import numpy as np

    rows = []
    for (t, x), (_, y) in zip(first[1:], second[1:]):
        a, b = profile(x, radius, edges), profile(y, radius, edges)
        either = (a > 0) | (b > 0)
        width = [np.quantile(p[:, 0], 0.99) - np.quantile(p[:, 0], 0.01) for p in (x, y)]
        rows.append({
            "time": round(t, 3),
            "mean_difference": float(np.abs(a - b)[either].mean()),
            "height": [float(a.max()), float(b.max())],
            "mean_height": [float(p[:, 1].mean()) for p in (x, y)],
            "width": [float(w) for w in width],
        })
    return rows


def collapse(until, picture):
    def run(bench):
        import numpy as np

        radius, edges = 10 / 62, np.arange(-40, 50.01, 0.5)
        figures, states = {}, {}

        def simulate(name, mu, law, seed):
            scene = bench.scene("disks_collapse", friction=mu, law=f'"{law}"', seed=seed)
            summary = bench.run(scene, "--until", until)
            figures[name] = keep(summary)
            return [(f["time"], f["position"][f["free"]]) for f in frames(summary["folder"])]

        for mu in (0.1, 1):
            for law in ("coulomb", "associated"):
                states[mu, law] = simulate(f"{mu} {law}", mu, law, 1)
            figures[f"{mu} profiles"] = compare_profiles(states[mu, "coulomb"], states[mu, "associated"], radius, edges)
        # How far two runs of one law with other masses are apart: what a difference of laws must exceed to mean anything.
        other = simulate("1 other masses", 1, "coulomb", 2)
        figures["1 profiles, other masses"] = compare_profiles(states[1, "coulomb"], other, radius, edges)
        if bench.pictures:
            draw_profiles(bench.pictures / picture, states, radius, edges)
        return figures

    return run


def draw_profiles(file, states, radius, edges):
    plt = plots()
    figure, axes = plt.subplots(2, 1, figsize=(8, 5), sharex=True, sharey=True)
    middle = 0.5 * (edges[1:] + edges[:-1])
    colours = ["#8c8c8c", "#d0a040", "#c06030", "#a02020", "#601060", "#203080", "#207060", "#60a030", "#202020"]
    for axis, mu in zip(axes, (0.1, 1)):
        for law, style in (("coulomb", "-"), ("associated", "--")):
            for (t, x), colour in zip(states[mu, law], colours):
                height = profile(x, radius, edges)
                label = f"t = {t:.3g}" if law == "coulomb" else None
                axis.plot(middle[height > 0], height[height > 0], style, color=colour, lw=1.1, label=label)
        axis.set_title(f"friction {mu}: exact law (full), convex relaxation (dashed)", loc="left", fontsize=9)
        axis.set_ylabel("height")
        axis.legend(frameon=False, ncol=2)
    axes[1].set_xlabel("x")
    axes[1].set_xlim(-15, 25)
    save(figure, file)


def ellipses(bench):
    import re

    scene = bench.scene("ellipses_column")
    summary = bench.run(scene)
    figures = keep(summary)
    states = list(frames(summary["folder"]))
    last = states[-1]["position"][states[-1]["free"]]
    figures["width"] = float(last[:, 0].max() - last[:, 0].min())
    figures["lowest"] = float(last[:, 1].min())
    if bench.pictures:
        semi = [float(x) for x in re.findall(r"semi = \[([0-9.]+),", scene.read_text())]
        draw_ellipses(bench.pictures / "ellipses_column.png", states, semi)
    return figures


def draw_ellipses(file, states, semi):
    plt = plots()
    from matplotlib.patches import Ellipse

    shown = [s for s in states if min(abs(s["time"] - t) for t in (0, 1, 2, 3)) < 1e-6]
    figure, axes = plt.subplots(2, 2, figsize=(9, 3.2), sharex=True, sharey=True)
    for axis, state in zip(axes.flat, shown):
        free = state["free"]
        for x, angle, a in zip(state["position"][free], state["angle"][free], semi):
            axis.add_patch(Ellipse(x, 2 * a, 0.9, angle=math.degrees(float(angle)), fc="#cfc6b4", ec="#303030", lw=0.5))
        axis.axhline(0, color="#303030", lw=0.8)
        axis.set_aspect("equal")
        axis.set_xlim(-17, 17)
        axis.set_ylim(-0.2, 9.8)
        axis.set_title(f"t = {state['time']:.3g}", loc="left", fontsize=9)
    figure.tight_layout()
    figure.savefig(file, dpi=130, metadata={"Software": None})


def sliding_ball(bench):
    scene = bench.scene("sliding_ball")
    figures = {law: bench.program("local_laws", scene, law, 1e-7, 1) for law in LAWS}
    for rho in (0.25, 0.5):
        figures[f"sal {rho}"] = bench.program("local_laws", scene, "sal", 1e-7, rho)
    return figures


def local_laws(name):
    def run(bench):
        scene = bench.scene(name)
        figures = {law: bench.program("local_laws", scene, law, 1e-7, 1) for law in LAWS}
        for law in ("sbp", "sal"):
            figures[f"{law} 0.5"] = bench.program("local_laws", scene, law, 1e-7, 0.5)
        return figures

    return run


ALL = [
    Case("sliding_ball", "one ball slides on a plane, five local laws", False, sliding_ball),
    Case("ellipses", "column of 100 ellipses", False, ellipses),
    Case("balls_settling", "500 balls settle in a box, five local laws", False, local_laws("balls_settling")),
    Case("box_512", "512 spheres in a box, gradients with the paper's test", False, box_gradients(512, GRADIENTS)),
    Case("box_512_referee", "512 spheres in a box, solvers to one residual", False, box_referee(512, ["auto", "apgd-ar"])),
    Case("plane_512", "512 spheres on a plane, passes of the fixed point", False,
         fixed_point(512, [("zero", "all"), ("zero", "each")])),
    Case("collapse", "collapse of 900 disks to t = 4 in two laws", False, collapse(4, "disks_collapse.svg")),
    Case("disk", "a disk that rolls, slows down and stops", False, rolling.disk),
    Case("top", "a ball that spins, slows down and stops", False, rolling.top),
    Case("beam", "a beam on three supports, every solver and order", False, forces.beam),
    Case("friction", "unique forces with friction against springs", False, forces.friction(6)),
    Case("guideway", "pull of a linear guideway, four loads, four coefficients", True, rolling.guideway),
    Case("gravel_associated", "a pile of 10,000 spheres, six coefficients of rolling", True, rolling.gravel("associated")),
    Case("gravel_exact", "the same with the exact law", True, rolling.gravel("exact")),
    Case("gravel_small_associated", "the same with 2500 spheres", True, rolling.gravel("associated", True)),
    Case("gravel_small_exact", "the same with 2500 spheres and the exact law", True, rolling.gravel("exact", True)),
    Case("pyramid", "unique forces in a pyramid of 2870 spheres against springs", True, forces.pyramid(20)),
    Case("friction_20", "unique forces with friction in the large pyramid", True, forces.friction(20)),
    Case("chains", "force chains of a pile in the plane", True, forces.chains),
    Case("silo_3d", "discharge of a silo, five outlets", True, laws.silo("silo_3d")),
    Case("silo_2d", "discharge of a silo in the plane, five outlets", True, laws.silo("silo_2d")),
    Case("column", "collapse of columns of five aspect ratios", True, laws.column),
    Case("drum", "slope in a rotating drum, three seeds", True, laws.drum),
    Case("pile", "slope of a poured pile, three seeds", True, laws.pile),
    Case("shear", "shear cell, five rates", True, laws.shear),
    Case("sand_columns", "collapse of columns of sand, six aspect ratios and one in space", True, sand.columns),
    Case("sand_cylinder", "collapse of a cylinder of sand", True, sand.cylinder),
    Case("sand_heap", "a heap of sand at rest for 10,000 steps", True, sand.heap),
    Case("sand_friction", "discharge of a silo of sand with friction 0, 0.3, 0.5", True, sand_laws.friction),
    Case("sand_materials", "what friction, fast friction and viscosity do to a column of sand", True, sand_laws.materials),
    Case("sand_silo", "discharge of a silo of sand in the plane, five outlets", True, sand.silo),
    Case("balls_slope", "500 balls on a slope, five local laws", True, local_laws("balls_slope")),
    Case("plane_512_before", "512 spheres on a plane, s from the step before", True,
         fixed_point(512, [("before", "all"), ("before", "each")])),
    Case("plane_512_exact", "512 spheres on a plane by `drystone run`", True, plane_exact(512)),
    Case("plane_1000", "1000 spheres on a plane, passes of the fixed point", True,
         fixed_point(1000, [("zero", "all"), ("zero", "each")])),
    Case("plane_1728", "1728 spheres on a plane, passes of the fixed point", True,
         fixed_point(1728, [("zero", "all"), ("zero", "each")])),
    Case("collapse_8", "collapse of 900 disks to t = 8 in two laws", True, collapse(8, "disks_collapse_8.svg")),
    Case("box_512_referee_rest", "512 spheres in a box, the slower solvers to one residual", True,
         box_referee(512, ["gauss-seidel", "pgd", "apgd", "apgd-as", "apgd-asr"])),
    Case("box_4096", "4096 spheres in a box, APGD-AR with the paper's test", True, box_gradients(4096, ["apgd-ar"])),
    Case("box_4096_rest", "4096 spheres in a box, the other gradients", True,
         box_gradients(4096, [s for s in GRADIENTS if s != "apgd-ar"])),
    Case("box_125000", "125,000 spheres in a box, 100 steps", True, box_referee(125000, ["apgd-ar"], "--steps", 100)),
]


def sample(bench):
    """The two shortest cases against bounds; the number of misses."""
    misses = []

    def within(what, value, low, high):
        print(f"{'ok  ' if low <= value <= high else 'MISS'} {what}: {value:.6g}, bounds {low:g} to {high:g}")
        if not low <= value <= high:
            misses.append(what)

    ball = sliding_ball(bench)
    for law in LAWS:
        # With rho = 1 / W_NN every law is exact for one contact.
        within(f"sweeps of {law} for one ball", ball[law]["mean_sweeps"], 1, 1)
    # The error halves with each sweep from g h = 9.81e-4: 14 halvings to 1e-7, where |u p| is smaller still.
    within("sweeps of sal with rho = 0.5 / W_NN", ball["sal 0.5"]["mean_sweeps"], 14, 14)
    column = ellipses(bench)
    within("steps of the ellipses that were not solved", column["unsolved"], 0, 0)
    within("error of the energy balance", column["balance_error"], 0, 1e-12)  # an identity: rounding
    # The distance of turning ellipses is not convex, so a step can end with an overlap, of order h^2 times spin and curvature.
    within("worst overlap in inner radii", column["worst_relative_overlap"], 0, 0.1)
    within("lowest centre", column["lowest"], 0.2, 0.5)  # nothing has fallen through the floor: smallest semi-axis 0.22
    within("width of the heap at t = 3", column["width"], 25, 36)
    return 1 if misses else 0
