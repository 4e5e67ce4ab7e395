#!/usr/bin/env python3
"""Runs `ranks` on several numbers of ranks and makes a table.

    benchmarks/ranks_table.py build/<preset>/benchmarks/ranks --ranks 1 2 --rounds 3 -- --spheres 1000000 --steps 5
    benchmarks/ranks_table.py build/<preset>/benchmarks/ranks --ranks 1 2 4 8 16 --json weak.json -- --spheres 4096 --weak

What follows `--` goes to `ranks`. Rounds go through all numbers of ranks in turn, so that what else the machine does hits all alike; the
fastest run of each counts. Needs Python's own library alone.
"""

import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile


def run(args, ranks):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "ranks.json"
        command = [*shlex.split(args.mpirun), "-n", str(ranks), args.program, *args.rest, "--json", str(out)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0 or not out.exists():
            sys.exit(f"{shlex.join(command)} failed:\n{done.stdout}")
        return json.loads(out.read_text())


def main():
    own, rest = sys.argv[1:], []
    if "--" in own:
        cut = own.index("--")
        own, rest = own[:cut], own[cut + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the program `ranks`")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--mpirun", default="mpirun", help="how to start ranks; -n N is added")
    parser.add_argument("--json", type=pathlib.Path, help="file for all figures of the fastest runs")
    args = parser.parse_args(own)
    args.rest = rest

    best = {}
    for _ in range(args.rounds):
        for ranks in args.ranks:
            figures = run(args, ranks)
            if ranks not in best or figures["seconds_per_step"] < best[ranks]["seconds_per_step"]:
                best[ranks] = figures

    print("| ranks | spheres | contacts | sweeps | s/step | speed-up | bytes/sphere: peak, steps, left | neighbours | surface grains "
          "| messages/sweep | bytes/surface grain and sweep | imbalance, by colour | exchange / plain MPI |")
    print("|" + "---|" * 13)
    first = best[args.ranks[0]]
    for ranks in args.ranks:
        f, plan, memory = best[ranks], best[ranks]["plan"], best[ranks]["memory"]
        # Spheres per second, so that weak runs compare as well.
        speed = first["seconds_per_step"] / f["seconds_per_step"] * f["spheres"] / first["spheres"]
        print(f"| {ranks} | {f['spheres']} | {f['contacts']:.0f} | {f['sweeps']:.1f} | {f['seconds_per_step']:.4g} | {speed:.2f} "
              f"| {memory['peak_bytes_per_sphere']:.0f}, {memory['peak_of_steps_bytes_per_sphere']:.0f}, {memory['left_bytes_per_sphere']:.0f} "
              f"| {plan['neighbours']['mean']:.1f}, {plan['neighbours']['largest']:.0f} "
              f"| {plan['shared']['mean']:.0f}, {plan['shared']['largest']:.0f} "
              f"| {plan['sweep_messages']['mean']:.1f}, {plan['sweep_messages']['largest']:.0f} "
              f"| {plan['bytes_per_surface_grain_and_sweep']:.1f} | {plan['imbalance']:.2f}, {plan['colour_imbalance']:.2f} "
              f"| {f['exchange']['ratio']:.2f} |")
    print("Pairs are mean and largest over ranks.")
    if args.json:
        args.json.write_text(json.dumps([best[ranks] for ranks in args.ranks], indent=1) + "\n")
    last = best[args.ranks[-1]]
    speed = first["seconds_per_step"] / last["seconds_per_step"] * last["spheres"] / first["spheres"]
    print(f"speedup {speed:.3f}")


if __name__ == "__main__":
    main()
