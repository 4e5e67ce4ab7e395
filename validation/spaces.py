#!/usr/bin/python3
"""Which spaces for velocity and stress let a column of sand rest (Daviet 2016, section 7.2.1), by linear algebra in one dimension.

    validation/spaces.py

Pressure lives where the volume fraction is at its limit alone. If a velocity feels the weight of some sand, but is in the stencil of the gradient of
no such pressure, that sand falls for ever. Printed: for each pair (velocity-stress; d: discontinuous), whether there is such a function of the
velocity's basis; then for particles on a grid. Passing is necessary for rest, not sufficient. Ends with 1 if that differs from what the thesis says. Needs the Debian package python3-numpy.
"""
import sys

import numpy as np

CELLS, FULL = 10, 5  # of a column of unit cells on a floor; so many of them, or of their nodes, are full
POINTS, WEIGHTS = np.polynomial.legendre.leggauss(3)
POINTS, WEIGHTS = 0.5 * (POINTS + 1), 0.5 * WEIGHTS


class Space:
    """Piecewise polynomials: P0 and P1d have their own numbers in each cell, P1 shares those of nodes."""

    def __init__(self, name):
        self.name, self.linear = name, name != "P0"
        self.size = {"P0": CELLS, "P1": CELLS + 1, "P1d": 2 * CELLS}[name]

    def of_cell(self, cell):
        return {"P0": [cell], "P1": [cell, cell + 1], "P1d": [2 * cell, 2 * cell + 1]}[self.name]

    def at(self, cell, x):
        """Values of all functions at x in a cell, as seen from inside it, and their slopes."""
        value, slope = np.zeros(self.size), np.zeros(self.size)
        value[self.of_cell(cell)] = [1 - x, x] if self.linear else [1]
        if self.linear:
            slope[self.of_cell(cell)] = [-1, 1]
        return value, slope

    def held(self):
        """What the floor holds: of discontinuous velocities nothing, they have no face with it."""
        return [0] if self.name == "P1" else []


def falls(velocity, stress):
    """True if a v has l(v) = integral of phi v not 0, but b(p, v) = integral of p' v = 0 for all p where phi is full."""
    v, p = Space(velocity), Space(stress)
    phi = np.zeros(p.size)
    full = FULL + 1 if stress == "P1" else len(p.of_cell(0)) * FULL
    phi[:full] = 1
    phi[full : full + len(p.of_cell(0)) - (stress == "P1")] = 0.5  # one more that is half full
    b, load = np.zeros((p.size, v.size)), np.zeros(v.size)
    for cell in range(CELLS):
        for x, weight in zip(POINTS, WEIGHTS):
            (V, _), (P, dP) = v.at(cell, x), p.at(cell, x)
            b += weight * np.outer(dP, V)
            load += weight * (phi @ P) * V
    for face in range(1, CELLS):  # jumps of p times the mean of v
        jump = p.at(face, 0)[0] - p.at(face - 1, 1)[0]
        b += np.outer(jump, 0.5 * (v.at(face, 0)[0] + v.at(face - 1, 1)[0]))
    free = [j for j in range(v.size) if j not in v.held()]
    return misses(b[phi == 1][:, free], load[free])


def misses(b, load):
    """True if there is a basis function that has a weight but is in the stencil of no pressure's gradient."""
    return bool(np.any((np.abs(load) > 1e-12) & (np.abs(b).max(axis=0) < 1e-12)))


def falls_of_particles(places):
    """Linear velocities and stresses at nodes, volumes carried by particles: the method of scenes."""
    nodes = CELLS + 1
    V, b = np.zeros(nodes), np.zeros((nodes, nodes))
    for x in places:
        cell, s = int(x), x - int(x)
        omega, slope = np.zeros(nodes), np.zeros(nodes)
        omega[[cell, cell + 1]], slope[[cell, cell + 1]] = [1 - s, s], [-1, 1]
        V += omega / 3
        b -= np.outer(omega, slope) / 3
    space = np.ones(nodes)
    space[0] = 0.5  # the floor
    full = V >= space - 1e-9
    there = (V > 0) & (np.arange(nodes) > 0)
    return misses(b[full][:, there], V[there])


def main():
    names = ("P0", "P1", "P1d")
    rests = {("P0", "P0"), ("P0", "P1d")}
    wrong = 0
    print("| velocity | stress | published | ours |\n|---|---|---|---|")
    for v in names:
        for p in names:
            ours, published = falls(v, p), (v, p) not in rests
            wrong += ours != published
            print(f"| {v} | {p} | {'falls' if published else 'may rest'} | {'falls' if ours else 'may rest'} |")
    block = [cell + s for cell in range(FULL) for s in (1 / 6, 1 / 2, 5 / 6)]
    for what, places, expected in (("particles that fill cells", block, False),
                                   ("one particle more, in an empty cell", [*block, FULL + 0.5], True)):
        ours = falls_of_particles(places)
        wrong += ours != expected
        print(f"| P1 | P1, {what} | | {'falls' if ours else 'may rest'} |")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
