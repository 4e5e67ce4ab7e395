#!/usr/bin/python3
"""A model of one step on many ranks: what is measured here, and what follows for a cluster (docs/scaling.md).

    benchmarks/scaling_model.py                      prints the tables and draws docs/pictures/scaling.png
    benchmarks/scaling_model.py --collect one.json exact.json split.json check.json      first takes the constants from these files
                                                     of ranks_table.py and writes them to scaling_constants.json beside this script

one.json: one rank, many steps with various numbers of sweeps. exact.json, split.json: weak runs of both modes. check.json: a weak run of
another size, to which nothing is fitted. Needs numpy and matplotlib.
"""

import argparse
import json
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
CONSTANTS = HERE / "scaling_constants.json"
PICTURE = HERE.parent / "docs" / "images" / "scaling.png"

# Assumed, not measured: an ordinary cluster. Seconds from rank to rank, bytes per second in and out of a node, cores of a node, and bytes
# per second between two ranks of a node.
ASSUMED = {"latency": 1.5e-6, "node_bandwidth": 10e9, "cores_per_node": 64, "core_bandwidth": 5e9}


# --- Geometry of parts: cubes of n grains, in a box of p[0] x p[1] x p[2] of them ---------------------------

def grid_of(ranks):
    """As choose_lattice() in ranks.cpp: factors go to the axes in turn."""
    p, left, axis, factor = [1, 1, 1], ranks, 0, 2
    while left > 1:
        while left % factor == 0:
            p[axis] *= factor
            left //= factor
            axis = (axis + 1) % 3
        factor += 1
    return p


def neighbours_of(p):
    """Mean numbers over ranks of neighbours across faces, edges and corners."""
    q = [2 * (1 - 1 / k) for k in p]  # along one axis
    return q[0] + q[1] + q[2], q[0] * q[1] + q[1] * q[2] + q[0] * q[2], q[0] * q[1] * q[2]


class Model:
    def __init__(self, constants):
        self.c, self.net = constants["fitted"], constants["assumed"]

    def surface(self, n, p):
        """Grains that this rank and another visit."""
        return self.c["shared_per_face_grain"] * neighbours_of(p)[0] * n ** (2 / 3)

    def ghosts(self, n, p):
        side, around = n ** (1 / 3), self.c["copy_layer"]
        grown = [side + around * 2 * (1 - 1 / k) for k in p]
        return grown[0] * grown[1] * grown[2] - n

    def messages(self, p, mode):
        """Of a sweep. Tiles next to a face have one parity across it: half of 8 colours, a quarter at an edge, one at a corner."""
        faces, edges, corners = neighbours_of(p)
        return 4 * faces + 2 * edges + corners if mode == "exact" else faces + edges + corners

    def sweep_bytes(self, n, p, mode):
        return self.c["bytes_per_surface_grain"][mode] * self.surface(n, p)

    def imbalance(self, n, ranks, mode):
        """Cuts run between cells, four grains wide: each axis may be off by a part of a cell."""
        axes = min(3, np.ceil(np.log2(ranks)))
        return (1 + self.c["imbalance"][mode] * self.c["cell_grains"] / n ** (1 / 3)) ** axes

    def wire(self, count, size, p):
        """Seconds for messages, one after the other and nothing hidden behind work, and their bytes. A node has a cube of ranks."""
        if count == 0:
            return 0.0
        ranks, net = p[0] * p[1] * p[2], self.net
        on_node = min(net["cores_per_node"], ranks)
        outside = 0.0 if ranks <= on_node else on_node ** (-1 / 3)
        return (net["latency"] * count + (1 - outside) * size / net["core_bandwidth"] +
                outside * size * on_node / net["node_bandwidth"])

    def sums(self, ranks):
        """An allreduce of the three exact sums of a sweep."""
        return np.log2(ranks) * (self.net["latency"] + self.c["bytes_of_sums"] / self.net["node_bandwidth"])

    def step(self, n, ranks, mode, p=None):
        """Seconds of a step by part, n grains per rank."""
        p = p or [ranks ** (1 / 3)] * 3
        c = self.c
        contacts, sweeps = c["contacts_per_grain"] * n, c["sweeps"] * (c["split_sweeps"] if mode == "split" and ranks > 1 else 1)
        uneven = self.imbalance(n, ranks, mode) if ranks > 1 else 1.0
        parts = {"visits": sweeps * contacts * c["visit_seconds"], "rest": contacts * c["rest_seconds"]}
        parts["imbalance"] = (uneven - 1) * (parts["visits"] + parts["rest"])
        faces = sum(neighbours_of(p))
        parts["bodies"] = sweeps * self.wire(self.messages(p, mode), self.sweep_bytes(n, p, mode), p)
        parts["sums"] = sweeps * self.sums(ranks)
        # Looks at the residual, and what begins and ends a step: bodies to all their copies, rows of contacts, a few sums.
        parts["looks"] = c["gathers"] * (self.wire(faces, 48 * self.ghosts(n, p), p) + 2 * self.sums(ranks))
        return parts


# --- Constants ----------------------------------------------------------------------------------------------

def fit(one, exact, split):
    """Numbers of the model from runs."""
    steps = one["each_step"]
    contacts = np.array([s["contacts"] for s in steps], float)
    sweeps = np.array([s["sweeps"] for s in steps], float)
    cpu = np.array([s["cpu_seconds"] for s in steps])
    # CPU seconds per contact = rest + sweeps * visit.
    (rest, visit), *_ = np.linalg.lstsq(np.column_stack([np.ones_like(sweeps), sweeps]), cpu / contacts, rcond=None)
    several = [r for r in exact if r["ranks"] > 1]
    faces = [neighbours_of(r["sites_of_ranks"])[0] * r["grains"] ** (2 / 3) for r in several]

    def over_runs(f, runs):
        return float(np.mean([f(r) for r in runs]))

    cell = 3.9
    def unevenness(r, name):
        axes = sum(k > 1 for k in r["sites_of_ranks"])
        return (r["plan"][name] ** (1 / axes) - 1) * r["grains"] ** (1 / 3) / cell

    def layer(r):
        """Thickness of the ghosts, in grains: by bisection."""
        low, high, side = 0.0, 10.0, r["grains"] ** (1 / 3)
        for _ in range(60):
            mid = (low + high) / 2
            grown = [side + mid * 2 * (1 - 1 / k) for k in r["sites_of_ranks"]]
            low, high = (mid, high) if np.prod(grown) - r["grains"] < r["plan"]["copies"]["mean"] else (low, mid)
        return low

    same = {r["ranks"]: r["sweeps"] for r in exact}
    return {
        "visit_seconds": float(visit), "rest_seconds": float(rest),
        "plain_visit_seconds": one["exchange"]["visit_seconds"],
        "contacts_per_grain": over_runs(lambda r: r["contacts"] / r["spheres"], several),
        "sweeps": over_runs(lambda r: r["sweeps"], several),
        "split_sweeps": over_runs(lambda r: r["sweeps"] / same[r["ranks"]], split),
        "shared_per_face_grain": float(np.sum([r["plan"]["shared"]["mean"] for r in several]) / np.sum(faces)),
        "copy_layer": over_runs(layer, several),
        "bytes_per_surface_grain": {"exact": over_runs(lambda r: r["plan"]["bytes_per_surface_grain_and_sweep"], several),
                                    "split": over_runs(lambda r: r["plan"]["bytes_per_surface_grain_and_sweep"], split)},
        "bytes_of_sums": 3 * 69 * 8,
        "gathers": over_runs(lambda r: r["talk"]["gather"]["messages"]["mean"] / max(1, r["ghost_partners"]), several),
        "imbalance": {"exact": over_runs(lambda r: unevenness(r, "colour_imbalance"), [r for r in several if r["ranks"] >= 8]),
                      "split": over_runs(lambda r: unevenness(r, "imbalance"), [r for r in several if r["ranks"] >= 8])},
        "cell_grains": cell,
        "bytes_per_grain": one["memory"]["peak_bytes_per_sphere"],
    }


def collect(files):
    one, exact, split, check = (json.loads(pathlib.Path(f).read_text()) for f in files)

    def brief(run):
        """What of a run the model looks at."""
        kept = {k: run[k] for k in ("ranks", "mode", "spheres", "sites", "contacts", "sweeps", "talk", "plan", "memory", "exchange")}
        kept["grains"] = run["spheres"] / run["ranks"]
        kept["sites_of_ranks"] = grid_of(run["ranks"])
        # Bodies go to their copies: as many messages for each time as there are ranks with copies.
        kept["ghost_partners"] = sum(neighbours_of(kept["sites_of_ranks"]))
        return kept

    exact, split, check = ([brief(r) for r in runs] for runs in (exact, split, check))
    return {"assumed": ASSUMED, "fitted": fit(one[0], exact, split),
            "one": {"spheres": one[0]["spheres"], "each_step": one[0]["each_step"]}, "exact": exact, "split": split, "check": check}


# --- Tables and picture -------------------------------------------------------------------------------------

def print_counts(model, constants):
    print("Counts of weak runs, per rank and sweep: measured (model). Nothing is fitted to those marked *.\n")
    print("| ranks | mode | grains per rank | surface grains | messages | bytes | copies | imbalance |\n" + "|---" * 8 + "|")
    for run in constants["exact"] + constants["split"] + constants["check"]:
        if run["ranks"] == 1:
            continue
        n, p, mode = run["grains"], run["sites_of_ranks"], run["mode"]
        sent = 8 * run["exchange"]["stride"] * run["plan"]["sent"]["mean"]
        mark = "*" if run in constants["check"] else ""
        uneven = run["plan"]["colour_imbalance" if mode == "exact" else "imbalance"]
        print(f"| {run['ranks']}{mark} | {mode} | {n:.0f} | {run['plan']['shared']['mean']:.0f} ({model.surface(n, p):.0f}) "
              f"| {run['plan']['sweep_messages']['mean']:.1f} ({model.messages(p, mode):.1f}) "
              f"| {sent:.0f} ({model.sweep_bytes(n, p, mode):.0f}) | {run['plan']['copies']['mean']:.0f} ({model.ghosts(n, p):.0f}) "
              f"| {uneven:.2f} ({model.imbalance(n, run['ranks'], mode):.2f}) |")


def print_weak(model, n):
    print(f"\nWeak scaling, {n:.3g} grains per core: milliseconds of a step\n")
    print("| cores | grains | mode | visits | rest | imbalance | bodies | sums | looks | step | efficiency |\n" + "|---" * 11 + "|")
    alone = sum(model.step(n, 1, "exact").values())
    for ranks in (1, 64, 512, 5000, 40000):
        for mode in ("exact", "split"):
            if ranks == 1 and mode == "split":
                continue
            parts = model.step(n, ranks, mode)
            total = sum(parts.values())
            columns = " | ".join(f"{1e3 * parts[k]:.3g}" for k in ("visits", "rest", "imbalance", "bodies", "sums", "looks"))
            print(f"| {ranks} | {n * ranks:.2g} | {mode} | {columns} | {1e3 * total:.4g} | {alone / total:.2f} |")


def strong(model, grains, mode):
    """Numbers of cores and seconds of a step, down to parts of two cells along each axis: a smaller one has nothing to do in most colours."""
    cores = np.logspace(0, np.log10(grains / (2 * model.c["cell_grains"]) ** 3), 200)
    return cores, np.array([sum(model.step(grains / k, k, mode).values()) for k in cores])


def print_strong(model):
    print("\nStrong scaling: where half of the cores' time is lost, and where parts are two cells wide\n")
    print("| grains | mode | cores at half | grains per core | s/step | cores at two cells | grains per core | s/step |\n" + "|---" * 8 + "|")
    for grains in (1e6, 1e8, 1e9):
        for mode in ("exact", "split"):
            cores, seconds = strong(model, grains, mode)
            efficiency = seconds[0] / (cores * seconds)
            half = np.nonzero(efficiency >= 0.5)[0][-1]
            best = len(seconds) - 1
            print(f"| {grains:.0e} | {mode} | {cores[half]:.3g} | {grains / cores[half]:.3g} | {seconds[half]:.3g} "
                  f"| {cores[best]:.3g} | {grains / cores[best]:.3g} | {seconds[best]:.3g} |")


def draw(model, constants, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure, (counts, weak, strongly) = plt.subplots(1, 3, figsize=(11.5, 3.6), constrained_layout=True)
    colours = {"exact": "#1f5a8a", "split": "#c2571a"}

    for mode in ("exact", "split"):
        runs = [r for r in constants[mode] if r["ranks"] > 1]
        x = [r["ranks"] for r in runs]
        counts.plot(x, [8e-3 * r["exchange"]["stride"] * r["plan"]["sent"]["mean"] for r in runs], "o", color=colours[mode])
        counts.plot(x, [1e-3 * model.sweep_bytes(r["grains"], r["sites_of_ranks"], mode) for r in runs], "-", color=colours[mode],
                    label=f"{mode}: kB")
        counts.plot(x, [r["plan"]["sweep_messages"]["mean"] for r in runs], "s", color=colours[mode], mfc="none")
        counts.plot(x, [model.messages(r["sites_of_ranks"], mode) for r in runs], "--", color=colours[mode], label=f"{mode}: messages")
    counts.set(xscale="log", yscale="log", xlabel="ranks", title="Sent by a rank in a sweep\n(points measured, lines model)")
    counts.set_xticks([r["ranks"] for r in constants["exact"] if r["ranks"] > 1],
                      [str(r["ranks"]) for r in constants["exact"] if r["ranks"] > 1])
    counts.minorticks_off()
    counts.set_yticks([1, 3, 10, 30], ["1", "3", "10", "30"])
    counts.legend(frameon=False, fontsize=8)

    cores = np.logspace(np.log10(8), 5, 60)
    for n, style in ((2e5, "-"), (2e4, "--"), (2e3, ":")):
        alone = sum(model.step(n, 1, "exact").values())
        for mode in ("exact", "split"):
            weak.plot(cores, [alone / sum(model.step(n, k, mode).values()) for k in cores], style, color=colours[mode],
                      label=f"{mode}, {n:.0e} a core".replace("e+0", "e"))
    weak.axvline(5000, color="0.8", lw=0.8, zorder=0)
    weak.set(xscale="log", ylim=(0, 1), xlabel="cores", ylabel="efficiency", title="Weak scaling (prediction)")
    weak.legend(frameon=False, fontsize=7.5, ncol=2, loc="lower center")

    for grains, place in ((1e6, 0), (1e8, 1), (1e9, 2)):
        for mode in ("exact", "split"):
            k, seconds = strong(model, grains, mode)
            strongly.plot(k, seconds, color=colours[mode], label=mode if place == 0 else None)
        strongly.plot(k, sum(model.step(grains, 1, "exact").values()) / k, ":", color="0.6", zorder=0)
        strongly.text(0.8, 0.28 * seconds[0], f"$10^{{{int(np.log10(grains))}}}$", fontsize=9, va="top")
    strongly.set(xscale="log", yscale="log", ylim=(2e-3, None), xlabel="cores", ylabel="s per step", title="Strong scaling (prediction),\nby the number of grains")
    strongly.legend(frameon=False)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=140)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collect", nargs=4, metavar=("ONE", "EXACT", "SPLIT", "CHECK"))
    parser.add_argument("--grains", type=float, default=2e5, help="per core, for the table of weak scaling")
    args = parser.parse_args()
    if args.collect:
        CONSTANTS.write_text(json.dumps(collect(args.collect), indent=1) + "\n")
    constants = json.loads(CONSTANTS.read_text())
    model = Model(constants)
    print("Fitted:")
    for name, value in constants["fitted"].items():
        print(f"    {name}: {value}")
    print("Assumed:", constants["assumed"], "\n")
    print_counts(model, constants)
    print_weak(model, args.grains)
    print_strong(model)
    draw(model, constants, PICTURE)


if __name__ == "__main__":
    main()
