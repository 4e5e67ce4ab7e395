#!/usr/bin/python3
"""The projection on wrench cones against cvxopt, a conic solver that knows nothing of Drystone.

    validation/wrench_projection.py build/production/validation/wrench_projection

Needs cvxopt (Debian: python3-cvxopt). Draws points and cones, degenerate ones among them, has them projected by the program
(validation/wrench_projection.cpp) and by cvxopt's coneqp,

    min 1/2 |p - x|^2   subject to   (mu p_0, p_T), (rolling p_0, p_R), (spinning p_0, p_S) in second-order cones,

in batches, and prints the largest differences relative to the norm of the points. An interior point comes within the root of its tolerance
where a limit is met with a multiplier of zero, and these points are counted apart. Exit code 1: they differ by more than
REGULAR or DEGENERATE.
"""

import argparse
import math
import random
import subprocess
import sys

try:
    from cvxopt import matrix, solvers, spmatrix
except ImportError:
    sys.exit("validation/wrench_projection.py: cvxopt is missing; install python3-cvxopt and use the python that has it")

POINTS, BATCH = 2000, 40
REGULAR, DEGENERATE = 1e-7, 1e-5
KINDS = 8  # below: those before FIRST_REGULAR are degenerate
FIRST_REGULAR = 4


def groups_of(dim, mu, rolling, spinning):
    """First component, size and coefficient of each group (cone.hpp)."""
    if dim == 3:
        return [(1, 1, mu), (2, 1, rolling)]
    return [(1, 2, mu)] + ([(3, 1, spinning)] if dim == 6 else []) + [(dim - 2, 2, rolling)]


def draw_coefficient(rng):
    return rng.choice([0.0, math.inf, 1.0, 20 ** rng.uniform(-1, 1), rng.uniform(0.05, 2), rng.uniform(0.05, 2)])


def draw_point(rng, kind, dim, norm):
    coefficients = [draw_coefficient(rng) for _ in range(3)]
    groups = groups_of(dim, *coefficients)
    x = [rng.gauss(0, 1) for _ in range(dim)]

    def put(start, size, length):
        angle = rng.uniform(0, 2 * math.pi)
        x[start] = length * (math.cos(angle) if size == 2 else rng.choice([-1, 1]))
        if size == 2:
            x[start + 1] = length * math.sin(angle)

    for start, size, mu in groups:
        limit = min(mu, 20) * abs(x[0])
        if kind == 0:  # on every limit
            put(start, size, limit)
        elif kind == 1:  # all limits are met at the same normal part
            put(start, size, 1.5 * min(mu, 20))
        elif kind == 2:  # on the axis
            put(start, size, 0)
        elif kind == 4:  # well inside
            put(start, size, 0.5 * limit)
        elif kind == 5:  # far below: the answer is 0 but for groups without limit
            put(start, size, 0.1 / (1 + min(mu, 20)))
    if kind in (0, 4):
        x[0] = abs(x[0])
    elif kind == 1:
        x[0] = -abs(x[0])
    elif kind == 3:  # where the answer turns from 0
        x[0] = -sum(mu * math.hypot(*x[s : s + n]) for s, n, mu in groups if not math.isinf(mu))
    elif kind == 5:
        x[0] = -2
    return dim, coefficients, [norm * c for c in x]


def by_cvxopt(batch, norm):
    """Projections of a batch, as one problem in units of norm."""
    n = sum(dim for dim, _, _ in batch)
    entries, positive, cones, equal = [], [], [], []  # (row of a cone, column, value); rows are numbered at the end
    q, at = [], 0
    for dim, coefficients, x in batch:
        q += [-c / norm for c in x]
        positive.append(at)
        for start, size, mu in groups_of(dim, *coefficients):
            members = [at + start + k for k in range(size)]
            if mu == 0:
                equal += members
            elif not math.isinf(mu):
                cones.append([(at, -mu)] + [(m, -1.0) for m in members])
        at += dim
    row = 0
    for column in positive:
        entries.append((row, column, -1.0))
        row += 1
    for cone in cones:
        for column, value in cone:
            entries.append((row, column, value))
            row += 1
    rows, columns, values = zip(*entries)
    G = spmatrix(values, rows, columns, (row, n))
    A = spmatrix(1.0, range(len(equal)), equal, (len(equal), n))
    P = spmatrix(1.0, range(n), range(n))
    dims = {"l": len(positive), "q": [len(cone) for cone in cones], "s": []}
    solution = solvers.coneqp(P, matrix(q), G, matrix(0.0, (row, 1)), dims, A, matrix(0.0, (len(equal), 1)))
    return [norm * c for c in solution["x"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="path of the program wrench_projection")
    program = parser.parse_args().program
    solvers.options.update(show_progress=False, abstol=1e-13, reltol=1e-13, feastol=1e-13, maxiters=60)
    rng = random.Random(1)
    worst = {True: 0.0, False: 0.0}
    for number in range(POINTS // BATCH):
        norm = 10 ** (-6 + 12 * number / (POINTS / BATCH - 1))
        degenerate = number % 2 == 0
        kinds = range(FIRST_REGULAR) if degenerate else range(FIRST_REGULAR, KINDS)
        batch = [draw_point(rng, rng.choice(kinds), rng.choice([3, 5, 6]), norm) for _ in range(BATCH)]
        lines = [" ".join([str(dim)] + [f"{c:.17g}" for c in coefficients + x]) for dim, coefficients, x in batch]
        answer = subprocess.run([program], input="\n".join(lines), capture_output=True, text=True, check=True).stdout
        ours = [[float(word) for word in line.split()] for line in answer.splitlines()]
        if len(ours) != BATCH:
            sys.exit(f"the program answered {len(ours)} of {BATCH} points")
        theirs, at = by_cvxopt(batch, norm), 0
        for p in ours:
            difference = math.dist(p, theirs[at : at + len(p)]) / norm
            worst[degenerate] = max(worst[degenerate], difference)
            at += len(p)
    print(f"{POINTS} points; largest difference: {worst[False]:.1e} regular, {worst[True]:.1e} degenerate")
    return 0 if worst[False] <= REGULAR and worst[True] <= DEGENERATE else 1


if __name__ == "__main__":
    sys.exit(main())
