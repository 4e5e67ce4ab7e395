#!/usr/bin/python3
"""Runs the scenes of scenes/sand and says what a published frame of each takes, beside the published times.

    benchmarks/sand_scenes.py DRYSTONE [--only NAME...] [--frames N] [--threads N] [--tolerance T] [--even]
        [--longest SECONDS]

DRYSTONE: the program. N published frames (5) of each, from its beginning, on N threads (2). Published: Daviet 2016,
table 7.1, the mean of a whole run on 4 cores of a Xeon; what our scenes have otherwise is said at their heads. Nodes:
that have sand around them, at the beginning or at the end, whichever is more. CPU: of all threads; on a busy machine it
says more, and --threads 1 is best there. --even: particles begin in rows, where scenes scatter them, which takes far
fewer sweeps. A run that takes longer than SECONDS (600) is stopped as by Ctrl-C, and its row says so; it ends with the
step that it is in. Needs the Debian packages python3-numpy and python3-h5py. Last line: unsolved N.
"""
import argparse
import csv
import itertools
import json
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

import h5py
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
PUBLISHED = {  # s per frame, frames per s
    "collapse": (1.47, 96),
    "zb05": (23.5, 96),
    "wheel": (9.62, 96),
    "silo": (61.5, 96),
    "writing": (48.4, 60),
    "cohesion": (6.8, 240),
    "digging": (32.3, 96),
    "crater": (89.6, 600),
    "treasure": (83.6, 96),
}


def sand_of(frame, cell):
    """(particles, nodes around them) of a frame."""
    with h5py.File(frame) as file:
        places = np.floor(file["particles/position"][:] / cell).astype(np.int64)
    cells = np.unique(places, axis=0)
    corners = itertools.product((0, 1), repeat=cells.shape[1])
    return len(places), len(np.unique(np.concatenate([cells + corner for corner in corners]), axis=0))


def stopped(options, output, seconds):
    """What is known of a run that was stopped: nothing where it did not come to a checkpoint."""
    said = subprocess.run([options.drystone, "info", str(output), "--json"], capture_output=True, text=True).stdout
    if not said:
        return ""
    with open(output / "steps.csv") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    sweeps = sum(int(row[key]) for row in rows for key in row if key.startswith("iterations"))
    return json.dumps(json.loads(said) | {"iterations": sweeps, "seconds": seconds})


def run(options, name, scratch):
    """What the run says of itself, whether it came to its end, particles, nodes."""
    text = (ROOT / "scenes" / "sand" / f"{name}.toml").read_text()
    plan = tomllib.loads(text)
    # Frames at the beginning and at the end alone.
    scene, output = scratch / f"{name}.toml", scratch / name
    text = re.sub(r"frames_every = .*", "frames_every = 1e6", text)
    scene.write_text(re.sub(r"scatter = .*", "scatter = 0", text) if options.even else text)
    command = [options.drystone, "run", str(scene), "--json", "--output", str(output), "--force", "--threads", str(options.threads),
               "--until", repr(options.frames / PUBLISHED[name][1])]
    if options.tolerance:
        command += ["--tolerance", options.tolerance]
    begin = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            said, complaint = process.communicate(timeout=options.longest)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            said, complaint = process.communicate()
    ended = bool(said)
    if not ended:
        said = stopped(options, output, time.monotonic() - begin)
    if not said:
        sys.exit(f"{name}: {complaint.strip()}")
    sand = [sand_of(file, plan["sand"]["cell"]) for file in sorted(output.glob("sand_*.hdf"))]
    particles, nodes = (max(counts) for counts in zip(*sand))
    return json.loads(said), ended, particles, nodes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("drystone")
    parser.add_argument("--only", nargs="*", choices=PUBLISHED, default=list(PUBLISHED))
    parser.add_argument("--frames", type=float, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tolerance")
    parser.add_argument("--even", action="store_true")
    parser.add_argument("--longest", type=float, default=600)
    options = parser.parse_args()
    unsolved = 0
    print("| scene | particles | nodes | steps | sweeps a step | unsolved | CPU s a frame | s a frame | published | ratio |")
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    for name in options.only:
        with tempfile.TemporaryDirectory() as scratch:
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            r, ended, particles, nodes = run(options, name, pathlib.Path(scratch))
            cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        steps = max(r["steps"], 1)
        published, per_second = PUBLISHED[name]
        frames = r["time"] * per_second if r["time"] > 0 else float("nan")
        seconds = r["seconds"] / frames
        unsolved += r["unsolved"]
        print(f"| {name} | {particles} | {nodes} | {r['steps']}{'' if ended else ', stopped'} | {r['iterations'] / steps:.0f} "
              f"| {r['unsolved']} | {cpu / frames:.3g} | {seconds:.3g} | {published:g} | {seconds / published:.2g} |", flush=True)
    print(f"unsolved {unsolved}")


if __name__ == "__main__":
    main()
