"""What parameters of sand do: its friction, its friction in fast flow and its viscosity, on discharge and on columns that collapse."""

import math

from common import set_field, table
from laws import slope, solved, steps_of
from sand import CELL, frame, lines

FRICTIONS = (0.0, 0.3, 0.5)  # of a silo; Daviet 2016, section 7.2.3
WIDTH, DEPTH, OUTLET, LIMIT = 0.44, 0.35, 0.11, 0.6
COLUMNS = {  # friction, friction in fast flow, viscosity (Pa s)
    "as above": (0.32, 0.6, 0),
    "more friction": (0.42, 0.7, 0),
    "less friction": (0.22, 0.5, 0),
    "fast flow as slow": (0.32, 0.32, 0),
    "fast flow at 0.46": (0.32, 0.46, 0),
    "viscous, 3 Pa s": (0.32, 0.6, 3),
    "viscous, 30 Pa s": (0.32, 0.6, 30),
}


def friction(bench):
    """Does it flow out like sand, at one rate, or like water, ever slower? And what stays."""
    import numpy as np

    figures = {}
    for mu in FRICTIONS:
        text = bench.text("laws", "sand_silo_2d").replace("-0.24, -0.01", f"{-0.2 - OUTLET / 2:g}, -0.01")
        text = text.replace("0.24, -0.01", f"{0.2 + OUTLET / 2:g}, -0.01").replace("friction = 0.5", f"friction = {mu:g}")
        summary = bench.run(bench.write("sand_silo_2d.toml", set_field(text, "end", "4")))
        out = lines(summary["folder"], "out")
        left = 1 - out["out mass"] / (2600 * LIMIT * WIDTH * DEPTH)

        def rate(most, least):
            part = (left <= most) & (left >= least)
            return -slope(out["time"][part], left[part]) if part.sum() > 2 else math.nan

        side = (WIDTH - OUTLET) / 2
        figures[f"{mu:g}"] = {
            "rates": [rate(0.9, 0.7), rate(0.7, 0.5), rate(0.5, 0.3)], "stays": float(left[-1]),
            # What lies below the angle of repose beside the outlet.
            "asked": side**2 * mu / math.sqrt(1 - mu**2) / (WIDTH * DEPTH), **steps_of(summary),
        }
    return figures


def materials(bench):
    import numpy as np

    figures = {}
    for name, (slow, fast, viscosity) in COLUMNS.items():
        text = bench.text("laws", "sand_column_2d").replace("friction = 0.32", f"friction = {slow:g}\nviscosity = {viscosity:g}")
        text = set_field(set_field(text, "friction_fast", f"{fast:g}"), "end", "5")
        summary = bench.run(bench.write("sand_column_2d.toml", text))
        reach = lines(summary["folder"], "reach")
        x = frame(summary["folder"])[0]
        front = reach["sand_right"][-1]
        cells = [k for k in range(int(front / 0.0125)) if 0.1 * front < (k + 0.5) * 0.0125 < 0.6 * front]
        column = np.floor(x[:, 0] / 0.0125).astype(int)
        heights = [x[column == k, 1].max() for k in cells]
        figures[name] = {"runout": (front - 0.2) / 0.2, "height": reach["sand_top"][-1] / 0.2,
                         "slope": -slope([(k + 0.5) * 0.0125 for k in cells], heights), **steps_of(summary)}
    return figures


# What is checked, where, what is asked; figures are in the tables of this page, of docs/dense_flow.md, or what a test asserts.
LIST = [
    ("tensors as vectors, projections, zeros of the residuals and their derivatives", "`ctest --preset production -R '^(sweep/Tensors\\|cone/(Cone\\|Complementarity))'`", "rounding; derivatives by finite differences"),
    ("Mohr-Coulomb and Drucker-Prager match", "`ctest --preset production -R '^continuum/SandMaterial'`", "in the plane the same; tan = 0.32, middle match: 0.2608"),
    ("the Delassus operator is symmetric and not negative", "`validation_dense_flow sample`", "asymmetry 5e-16, least eigenvalue -6e-16"),
    ("the associated law: one pass, no power of the stress", "`validation_dense_flow sample`", "1; 4e-10 of the sum of its parts"),
    ("a closed box: rest with friction, Stokes flow without", "`validation_dense_flow sample`", "2e-17; orders 2.5, 2.7 (3 in the limit)"),
    ("Bingham-Poiseuille", "`validation_dense_flow channel`", "plug 0.12497 (0.125)"),
    ("Bagnold", "`validation_dense_flow bagnold`", "u(1) 0.197367 (0.19734)"),
    ("past a cylinder: wake without pressure, drag", "`validation_dense_flow cylinder`", "pressure 0; drag does not collapse for all diameters"),
    ("Beverloo in the plane", "`validation/run --only sand_silo`", "this page"),
    ("hourglass and clepsydra, what stays", "`validation/run --only sand_friction`", "this page"),
    ("spaces in which sand can rest", "`validation/spaces.py`", "all nine pairs as published"),
    ("volume: fraction not negative, mass kept", "`ctest --preset production -R '^continuum/GridOfSand.*KeepsMass'`", "particles carry it: rounding (the upwind scheme of the thesis is not built)"),
    ("energy never grows", "`ctest --preset production -R '^world/SandInAWorld.*Energy'`", "in no step of a collapse"),
    ("rest: pressure as weight asks, no creep, Archimedes", "`ctest --preset production -R '^world/SandInAWorld.*(AtRest\\|Bears)'`; `validation/run --only sand_heap`", "this page"),
    ("run-out in the plane and in space", "`validation/run --only sand_columns`", "this page"),
    ("what friction, fast friction and viscosity do", "`validation/run --only sand_materials`", "this page"),
    ("the same column of spheres and of sand", "`validation/sand_and_grains.py`", "[profiles](pictures/sand_and_grains.svg); [figures](measured.md)"),
    ("a round heap stays round", "`validation/run --only sand_cylinder`", "this page; the cone's norm is the exact one (with the largest component instead, published: a diamond)"),
]


def section(figures):
    """The page's part."""
    out = ["### What is checked of sand\n", table(["what", "by", "asked, or found"], [list(row) for row in LIST])]
    f = figures.get("sand_friction")
    if f:
        rows = [[f"{mu:g}"] + [f"{x:.2f}" for x in f[f"{mu:g}"]["rates"]]
                + [f"{f[f'{mu:g}']['stays']:.3f}", f"{f[f'{mu:g}']['asked']:.3f}", solved(f[f"{mu:g}"])] for mu in FRICTIONS]
        out += ["### An hourglass is no clepsydra (silo in the plane)\n",
                f"Outlet of {OUTLET / CELL:g} cells. Published: with friction 0.3 and 0.5 a constant rate between 0.9 and 0.2 of what was there at first, without friction "
                "one that falls, and what stays beside the outlet lies at the angle of repose.\n",
                table(["friction", "rate from 0.9 to 0.7 of V0, V0/s", "0.7 to 0.5", "0.5 to 0.3", "stays, V0", "at the angle of repose", "steps not solved; with a frozen shift"],
                      rows)]
    f = figures.get("sand_materials")
    if f:
        rows = [[name, *(f"{x:g}" for x in COLUMNS[name]), f"{f[name]['runout']:.2f}", f"{f[name]['height']:.2f}", f"{f[name]['slope']:.3f}", solved(f[name])] for name in COLUMNS]
        out += ["### What a material does to a column (plane, a = 2)\n",
                "Published: friction sets the slope; friction of fast flow and viscosity set the spread, not the angle of rest; here friction of fast flow changes the slope, too. Slope: of the surface between 0.1 and 0.6 of the run-out.\n",
                table(["", "friction", "of fast flow", "viscosity, Pa s", "run-out / L0", "height / L0", "slope", "steps not solved; with a frozen shift"], rows)]
    return "\n".join(out)
