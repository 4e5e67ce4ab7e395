"""tools/check-layers passes good includes and fails bad ones, on small trees made for the purpose."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check-layers"


def check(files):
    """Runs the tool on a tree of {"room/file.hpp": include line}; returns (exit code, messages)."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, "src", "drystone", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", encoding="utf-8")
        run = subprocess.run([sys.executable, str(TOOL), folder], capture_output=True, text=True, check=False)
        return run.returncode, run.stderr


def include(header):
    return f'#include "drystone/{header}"'


class CheckLayers(unittest.TestCase):
    def test_includes_that_point_down_pass(self):
        for room, header in [
            ("base", "base/types.hpp"),
            ("cone", "base/types.hpp"),
            ("solve", "cone/problem.hpp"),
            ("solve", "sweep/sweep.hpp"),
            ("elastic", "solve/report.hpp"),
            ("collide", "pairs/find_pairs.hpp"),
            ("collide", "shapes/sphere.hpp"),
            ("contact", "cone/problem.hpp"),
            ("contact", "collide/contact.hpp"),
            ("grains", "contact/assembly.hpp"),
            ("files", "base/error.hpp"),
            ("problems", "cone/problem.hpp"),
            ("run", "world/step.hpp"),
            ("scenes", "run/simulate.hpp"),
            ("scenes", "fields/fields.hpp"),
            ("results", "run/plan.hpp"),
            ("distributed", "world/share.hpp"),
            ("distributed", "solve/gauss_seidel.hpp"),
        ]:
            with self.subTest(room=room, header=header):
                code, messages = check({f"{room}/a.cpp": include(header)})
                self.assertEqual((code, messages), (0, ""))

    def test_includes_that_point_up_or_sideways_fail(self):
        for room, header in [
            ("base", "cone/problem.hpp"),
            ("cone", "solve/gauss_seidel.hpp"),
            ("sweep", "solve/gauss_seidel.hpp"),
            ("solve", "elastic/least_energy.hpp"),
            ("pairs", "collide/contact.hpp"),
            ("shapes", "bodies/bodies.hpp"),
            ("bodies", "collide/contact.hpp"),
            ("solve", "shapes/sphere.hpp"),
            ("collide", "cone/problem.hpp"),
            ("cone", "contact/law.hpp"),
            ("contact", "world/step.hpp"),
            ("grains", "continuum/grid.hpp"),
            ("fibres", "world/step.hpp"),
            ("solve", "problems/problem_file.hpp"),
            ("files", "cone/problem.hpp"),
            ("problems", "solve/solve.hpp"),
            ("problems", "bodies/scene.hpp"),
            ("grains", "run/simulate.hpp"),
            ("scenes", "results/checkpoint.hpp"),
            ("results", "distributed/ghosts.hpp"),
            ("results", "scenes/scene_file.hpp"),
            ("fields", "scenes/table.hpp"),
            ("world", "run/simulate.hpp"),
            ("distributed", "results/frames.hpp"),
        ]:
            with self.subTest(room=room, header=header):
                code, messages = check({f"{room}/a.hpp": "// head\n" + include(header)})
                self.assertEqual(code, 1)
                self.assertIn(f"src/drystone/{room}/a.hpp:2: {room} includes drystone/{header}", messages)

    def test_other_spellings_are_seen(self):
        for line in ["#include <drystone/solve/a.hpp>", '  #  include  "drystone/solve/a.hpp"', '#include "../solve/a.hpp"']:
            with self.subTest(line=line):
                self.assertEqual(check({"cone/a.cpp": line})[0], 1)

    def test_includes_of_others_and_comments_are_ignored(self):
        text = '#include <vector>\n#include "hdf5.h"\n// #include "drystone/solve/a.hpp"'
        self.assertEqual(check({"cone/a.cpp": text}), (0, ""))

    def test_unknown_rooms_fail(self):
        self.assertEqual(check({"attic/a.cpp": ""})[0], 1)
        self.assertEqual(check({"results/a.cpp": include("attic/a.hpp")})[0], 1)
        self.assertEqual(check({"results/a.cpp": include("everything.hpp")})[0], 1)

    def test_files_and_rooms_that_are_too_large_fail(self):
        self.assertEqual(check({"cone/a.cpp": "//\n" * 598 + "//"})[0], 0)
        code, messages = check({"cone/a.cpp": "//\n" * 601})
        self.assertEqual(code, 1)
        self.assertIn("cone/a.cpp: 602 lines; a file may have 600", messages)
        code, messages = check({f"cone/{k}.cpp": "//\n" * 500 for k in range(9)})
        self.assertEqual(code, 1)
        self.assertIn("src/drystone/cone: 4509 lines; a room may have 4500", messages)

    def test_a_tree_without_sources_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run([sys.executable, str(TOOL), folder], capture_output=True, check=False)
        self.assertEqual(run.returncode, 2)


if __name__ == "__main__":
    unittest.main()
