"""Forces that are unique (Olsen & Kamrin 2018): beam, pyramid, friction, force chains. What is run, figures, plots and the page's section."""

import math

from common import plots, save, set_field, table

PUBLISHED = {"hooke": "1.9e-5", "hertz": "2.8e-5", "two materials": "2.3e-5"}


def beam(bench):
    return bench.program("unique_forces", "beam")


def pyramid(along):
    return lambda bench: bench.program("unique_forces", "pyramid", along)


def friction(along):
    return lambda bench: bench.program("unique_forces", "friction", along)


def contacts_of(folder):
    """Bodies, and of the contacts of the last frame the two bodies, the point and the force (N)."""
    import glob

    import h5py

    file = h5py.File(sorted(glob.glob(f"{folder}/grains_*.hdf"))[-1], "r")
    group = file["contacts"]
    h = float(group["h"][()])
    return file["bodies/position"][:], {"point": group["point"][:], "normal": group["normal"][:], "force": group["impulse"][:] / h}


def chains(bench):
    """One pile, solved with and without the elastic limit: forces, their histogram, a picture of both."""
    import numpy as np

    figures, found = {}, {}
    for name in ("any", "elastic-limit"):
        text = set_field(bench.text("forces", "pile_2d"), "forces", f'"{name}"')
        summary = bench.run(bench.write("pile_2d.toml", text))
        position, contacts = contacts_of(summary["folder"])
        force = np.linalg.norm(contacts["force"], axis=1)
        found[name] = position, contacts, force
        figures[name] = {"contacts": int((force > 1e-9).sum()), "mean": float(force[force > 1e-9].mean()), "largest": float(force.max()),
                         "unsolved": summary["unsolved"], "steps": summary["steps"], "missed": summary["forces_missed"], "seconds": summary["seconds"],
                         "energy": float((force**2).sum())}
    if bench.pictures:
        draw_chains(bench.pictures / "force_chains.png", found["any"], found["elastic-limit"])
        draw_histogram(bench.pictures / "force_histogram.svg", found["any"][2], found["elastic-limit"][2])
    return figures


def draw_chains(file, before, after):
    plt = plots()
    from matplotlib.collections import LineCollection

    figure, axes = plt.subplots(1, 2, figsize=(9, 6.5))
    for axis, (position, contacts, force), title in zip(axes, (before, after), ("as the solver finds them", "elastic limit")):
        mean = force[force > 1e-9].mean()
        grains = position[:, 1] > -1
        axis.scatter(position[grains, 0], position[grains, 1], s=18, c="#e8e4da", linewidths=0)
        point, normal = contacts["point"], contacts["normal"]
        reach = 0.01
        lines = [((p - reach * n)[:2], (p + reach * n)[:2]) for p, n in zip(point, normal)]
        axis.add_collection(LineCollection(lines, linewidths=[1.2 * f / mean for f in force], colors="#203080"))
        axis.set_title(title)
        axis.set_xlim(0, 0.5)
        axis.set_ylim(0, 0.7)
        axis.set_aspect("equal")
        axis.axis("off")
    figure.tight_layout()
    figure.savefig(file, dpi=110)
    plt.close(figure)


def draw_histogram(file, before, after):
    import numpy as np

    plt = plots()
    figure, axis = plt.subplots(figsize=(5, 3))
    edges = np.linspace(0, 6, 31)
    for force, colour, label in ((before, "#a02020", "as the solver finds them"), (after, "#203080", "elastic limit")):
        force = force[force > 1e-9]
        density, _ = np.histogram(force / force.mean(), edges, density=True)
        axis.semilogy((edges[1:] + edges[:-1]) / 2, np.where(density > 0, density, math.nan), "o-", ms=3, lw=1, color=colour, label=label)
    axis.set_xlabel("force over its mean")
    axis.set_ylabel("probability density")
    axis.legend(frameon=False)
    save(figure, file)


def section(figures):
    out = ["## Forces that are unique\n",
           "Olsen & Kamrin 2018, and the same with friction. `validation/run --only beam` (`pyramid`, `friction`, `chains`) repeats one; the springs are "
           "those of `validation/penalty.hpp`.\n"]
    f = figures.get("beam")
    if f:
        rows = [["10/3, 10/3, 10/3" if k == "1" else "2, 6, 2", f[k]["answers"], f"{f[k]['worst_before']:.2f}", f"{f[k]['worst']:.1e}"] for k in ("1", "3")]
        out += ["### Beam of 10 N on three supports\n", "Every solver, law and order of contacts.\n",
                table(["expected, N", "answers", "largest error as solved, N", "in the elastic limit, N"], rows)]
    f = figures.get("pyramid")
    if f:
        rows = [[k, PUBLISHED[k], f"{f[k]['error']['1']:.1e}", f"{f[k]['error']['10']:.1e}", f"{f[k]['error']['100']:.1e}", f"{f[k]['error_to_limit']:.1e}",
                 f"{f[k]['dropped']['error']:.1e}", f"{f[k]['asymmetry']:.1e}", f"{f[k]['before_sweeps']:.2f} ({100 * f[k]['before_sweeps_peak']:+.0f} %)",
                 f"{f[k]['before_gradient']:.2f} ({100 * f[k]['before_gradient_peak']:+.0f} %)", f"{f[k]['seconds']:.2f} ({f[k]['seconds_solve']:.2f})"]
                for k in PUBLISHED if k in f]
        out += ["### Pyramid\n",
                f"{f['hooke']['spheres']} spheres, {f['hooke']['contacts']} contacts. Relative error of the forces on the base against springs of the paper's stiffness, "
                "10 and 100 times stiffer ones, and the limit computed apart; `dropped`: the grains fall by 5 % of a radius and come to rest in 200 steps first.\n",
                table(["springs", "published", "error", "10 k", "100 k", "limit", "dropped", "asymmetry", "as sweeps leave them (peak)", "as APGD leaves them (peak)",
                       "seconds (of the solve to 1e-8)"], rows)]
    large = figures.get("friction_20", {})
    f = {**figures.get("friction", {}), **{f"{k} (20 along)": v for k, v in large.items() if k.startswith("pyramid")}}
    if f:
        rows = [[k, v["contacts"], v["answers"], f"{v['spread_before']:.1e}", f"{v['spread']:.1e}", f"{v['error']['1']:.1e}", f"{v['error']['10']:.1e}",
                 f"{v['error']['100']:.1e}", f"{v['error_history']['100']:.1e}", v["springs_slipped"], v["unsolved"]] for k, v in f.items() if isinstance(v, dict)]
        out += ["### With friction\n",
                "Exact law. Spread: largest relative difference of all contact forces over solvers, orders of contacts and starts, as solved and in the elastic limit; "
                "error: against springs that slip by Coulomb's law, at their stiffness k, 10 k and 100 k; springs that keep the whole stretch (deformation theory), which is "
                "what loads that grow in proportion do, and in the next column the usual ones that forget what slips, whose rest depends on how slowly they are loaded.\n",
                table(["case", "contacts", "answers", "spread as solved", "spread", "error", "10 k", "100 k", "forgetful, 100 k", "springs that slipped", "not solved"], rows)]
    f = figures.get("chains")
    if f:
        rows = [[k, v["contacts"], f"{v['mean']:.4f}", f"{v['largest']:.3f}", f"{v['energy']:.4f}", f"{v['unsolved']} of {v['steps']}", v["missed"]]
                for k, v in f.items() if isinstance(v, dict)]
        out += ["### Force chains of a pile of 800 disks\n",
                table(["forces", "contacts that bear", "mean, N", "largest, N", "sum of squares, N^2", "steps not solved", "elastic limit not found"], rows),
                "![force chains](pictures/force_chains.png)\n", "![histogram](pictures/force_histogram.svg)\n"]
    return "\n".join(out) if len(out) > 2 else ""
