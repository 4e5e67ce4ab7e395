#!/usr/bin/env python3
"""Runs scenes of slow flow and says how their steps were solved.

    benchmarks/slow_flow.py DRYSTONE FOLDER [--only NAME...]

DRYSTONE: the program. FOLDER: holds box1500.toml, pile_3d.toml, drum_2d.toml, silo_30.toml, silo_45.toml, silo_60.toml. One
thread; some ten minutes in all. Last line: unsolved N, of all steps.
"""
import argparse
import json
import pathlib
import subprocess
import sys

# Name, file, tolerance, end (s).
RUNS = [
    ("box1500", "box1500.toml", "1e-3", None),
    ("pile_3d", "pile_3d.toml", "1e-4", None),
    ("drum_2d", "drum_2d.toml", "1e-3", "3"),
    ("silo_30", "silo_30.toml", "1e-4", None),
    ("silo_45", "silo_45.toml", "1e-4", None),
    ("silo_60", "silo_60.toml", "1e-4", None),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("drystone")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    unsolved = 0
    print("| scene | steps | unsolved | frozen shift | worst error | sweeps a step | overlap, radii | energy, J |")
    print("|---|---|---|---|---|---|---|---|")
    for name, file, tolerance, end in RUNS:
        if options.only and name not in options.only:
            continue
        command = [options.drystone, "run", str(options.folder / file), "--tolerance", tolerance, "--threads", "1", "--json"]
        if end:
            command += ["--until", end]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{name}: {done.stderr.strip()}")
        r = json.loads(done.stdout)
        unsolved += r["unsolved"]
        print(f"| {name} to {tolerance} | {r['steps']} | {r['unsolved']} | {r['frozen_shift']} | {r['worst_shift_error']:.2g} "
              f"| {r['iterations'] / r['steps']:.0f} | {r['worst_relative_overlap']:.1e} "
              f"| {r['energy_begin']:.4g} to {r['energy_end']:.4g} |", flush=True)
    print(f"unsolved {unsolved}")


if __name__ == "__main__":
    main()
