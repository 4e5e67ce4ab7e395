#!/usr/bin/env python3
"""Makes a bank of steps that stall under the exact law, for `drystone bench --steps`.

    benchmarks/stalled_steps.py DRYSTONE FOLDER

DRYSTONE: the program. FOLDER: made, and filled with problems named after their scene and step. Scenes of the repository, with seeds of
their own, are run under law = "coulomb-strict", which keeps the first ten steps that it does not solve. One thread; some ten
minutes. Last line: steps N.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

SCENES = pathlib.Path(__file__).resolve().parent.parent / "scenes"
MOST = 10  # of one run: as many as a run keeps
# Scene, seed, end (s): a little after the tenth step that stalls; step (s): equal ones, which stall more than adapted ones.
RUNS = [
    ("templates/silo", 11, 0.6, 2e-3),
    ("templates/pile", 11, 2.0, 1e-3),
    ("templates/collapse", 11, 1.2, 2e-3),
    ("templates/drum", 11, 3.0, 2e-3),
    ("column_2d", 11, 1.0, 2e-3),
    ("mixed_heap", 12, 0.6, 1e-3),
    ("small_heap", 12, 0.6, 2e-3),
    ("laws/collapse_2d", 12, 0.3, 2e-3),
    ("templates/collapse", 12, 1.2, 2e-3),
    ("templates/drum", 12, 2.0, 2e-3),
]


def strict(text, seed, step):
    text = re.sub(r"(?m)^seed = .*$", f"seed = {seed}", text)
    text = re.sub(r"(?m)^step = .*$", f"step = {step}", text, count=1)
    text = re.sub(r"(?m)^displacement = .*\n", "", text)
    if "[solver]" in text:
        return text.replace("[solver]", '[solver]\nlaw = "coulomb-strict"', 1)
    return text.replace("[time]", '[solver]\nlaw = "coulomb-strict"\n\n[time]', 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("drystone")
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for name, seed, end, step in RUNS:
        with tempfile.TemporaryDirectory() as work:
            scene = pathlib.Path(work) / "scene.toml"
            scene.write_text(strict((SCENES / f"{name}.toml").read_text(), seed, step))
            output = pathlib.Path(work) / "out"
            done = subprocess.run([options.drystone, "run", str(scene), "--output", str(output), "--force", "--tolerance", "1e-4",
                                   "--until", str(end), "--threads", "1", "--quiet"], capture_output=True, text=True)
            if done.returncode not in (0, 1):
                sys.exit(f"{name}: {done.stderr.strip()}")
            steps = sorted(output.glob("failed_step_*.hdf5"), key=lambda f: int(f.stem.split("_")[-1]))[:MOST]
            for file in steps:
                (options.folder / f"{name.split('/')[-1]}_seed{seed}_step{file.stem.split('_')[-1]}.hdf5").write_bytes(file.read_bytes())
            count += len(steps)
            print(f"{name}: {len(steps)}", flush=True)
    print(f"steps {count}")


if __name__ == "__main__":
    main()
