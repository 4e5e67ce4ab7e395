#!/usr/bin/env python3
"""Runs scenes, each at its own tolerance, and says how their steps were solved.

    benchmarks/every_scene.py DRYSTONE [SCENE...] [--tolerance T] [--longest SECONDS] [--threads N]

DRYSTONE: the program. SCENE: scene files or folders of them; otherwise scenes/. A run that takes longer than SECONDS (600) is stopped as by
Ctrl-C, and its row says how far it came. Steps after which overlaps grew more than a solution allows are counted, too (not for a stopped run). Last line:
unsolved N, of all steps that were made.
"""
import argparse
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(drystone, scene, settings, longest):
    """What the run, or as much of it as `longest` allows, says of itself; whether it came to its end."""
    with tempfile.TemporaryDirectory() as output:
        command = [drystone, "run", str(scene), "--json", "--output", output, "--force", *settings]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            try:
                said, complaint = process.communicate(timeout=longest)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
                said, complaint = process.communicate()
        ended = bool(said)
        if not ended:
            said = subprocess.run([drystone, "info", output, "--json"], capture_output=True, text=True).stdout
        if not said:
            sys.exit(f"{scene}: {complaint.strip()}")
        return json.loads(said), ended


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("drystone")
    parser.add_argument("scene", nargs="*", type=pathlib.Path, default=[ROOT / "scenes"])
    parser.add_argument("--tolerance")
    parser.add_argument("--longest", type=float, default=600)
    parser.add_argument("--threads", default="1")
    options = parser.parse_args()
    settings = ["--threads", options.threads] + (["--tolerance", options.tolerance] if options.tolerance else [])
    unsolved = 0
    print("| scene | steps | unsolved | frozen shift | overlaps grew | seconds |\n|---|---|---|---|---|---|", flush=True)
    for scene in options.scene:
        for file in sorted(scene.rglob("*.toml")) if scene.is_dir() else [scene]:
            begin = time.monotonic()
            said, ended = run(options.drystone, file, settings, options.longest)
            unsolved += said["unsolved"]
            name = file.resolve().relative_to(ROOT) if file.resolve().is_relative_to(ROOT) else file
            print(f"| {name} | {said['steps']}{'' if ended else ', stopped'} | {said['unsolved']} | {said['frozen_shift']} "
                  f"| {said.get('overlap_jumps', '')} | {time.monotonic() - begin:.0f} |", flush=True)
    print(f"unsolved {unsolved}")


if __name__ == "__main__":
    main()
