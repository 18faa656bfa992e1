# SPDX-License-Identifier: Apache-2.0
"""What each binary may link with, how it is hardened, and that `make deps` sees a wrong arrow."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from belfry import BUILD, ROLES, ROOT, VARIANT


def libraries(name):
    """Everything that gets mapped into the process, indirect libraries included."""
    out = subprocess.run(["ldd", os.path.join(BUILD, name)], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^\s*(lib[\w+-]+)", out, re.M))


class Linkage(unittest.TestCase):
    def absent(self, name, *unwanted):
        found = libraries(name)
        self.assertTrue(found, "ldd says nothing of " + name)
        self.assertEqual(found & set(unwanted), set())

    def test_collector_has_neither_curl_nor_dwarf(self):
        self.absent("belfry-collector", "libcurl", "libdw", "libnng")
        self.assertIn("libbpf", libraries("belfry-collector"))

    def test_symbolizer_has_neither_bpf_nor_curl(self):
        self.absent("belfry-symbolizer", "libbpf", "libcurl", "libnng")

    def test_uploader_has_neither_bpf_nor_elf(self):
        self.absent("belfry-uploader", "libbpf", "libelf", "libnng")

    def test_launcher_has_none_of_them(self):
        self.absent("belfry", "libbpf", "libelf", "libcurl", "libdw", "libnng")

    @unittest.skipUnless(VARIANT == "release", "of the release build")
    def test_hardened(self):
        for name in ["belfry"] + ["belfry-" + r for r in ROLES]:
            out = subprocess.run(["readelf", "-lWdn", os.path.join(BUILD, name)], capture_output=True, text=True).stdout
            with self.subTest(name):
                self.assertIn("DYN (", subprocess.run(["readelf", "-h", os.path.join(BUILD, name)],
                                                      capture_output=True, text=True).stdout)
                self.assertIn("GNU_RELRO", out)
                self.assertRegex(out, r"BIND_NOW|NOW")
                self.assertRegex(out, r"GNU_STACK.* RW ")
                self.assertNotIn("RPATH", out)
                self.assertNotIn("RUNPATH", out)
                symbols = subprocess.run(["readelf", "-Ws", "--dyn-syms", os.path.join(BUILD, name)],
                                         capture_output=True, text=True).stdout
                self.assertIn("__stack_chk_fail", symbols)
                self.assertRegex(symbols, r"__\w+_chk@")
                if os.uname().machine == "x86_64":
                    # Debian's start files are not marked for CET, so no program is; our own code has its landing pads.
                    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", os.path.join(BUILD, name)],
                                          capture_output=True, text=True).stdout
                    self.assertGreater(code.count("endbr64"), 50)


class Layers(unittest.TestCase):
    def deps(self, root):
        return subprocess.run(["/usr/bin/python3", os.path.join(ROOT, "tools/deps.py"), root], capture_output=True, text=True)

    def test_no_arrow_that_may_not_be(self):
        out = self.deps(ROOT)
        self.assertEqual(out.returncode, 0, out.stdout)

    def test_a_planted_arrow_is_seen(self):
        for source, line in (("ipc/a.c", "collector/x.h"), ("uploader/a.c", "symbolizer/x.h"), ("policy/a.c", "cli/x.h"),
                             ("symbolizer/a.c", "bpf/x.h"), ("uploader/a.c", "sampler.skel.h"), ("ipc/a.c", "policy/x.h")):
            with self.subTest(source=source, line=line), tempfile.TemporaryDirectory() as root:
                for path, text in ((line, ""), (source, '#include "%s"\n' % line)):
                    os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
                    with open(os.path.join(root, path), "w") as f:
                        f.write(text)
                self.assertEqual(self.deps(root).returncode, 1)

    def test_a_circle_is_seen(self):
        with tempfile.TemporaryDirectory() as root:
            os.mkdir(os.path.join(root, "ipc"))
            for name, other in (("a", "b"), ("b", "a")):
                with open(os.path.join(root, "ipc", name + ".h"), "w") as f:
                    f.write('#include "ipc/%s.h"\n' % other)
            out = self.deps(root)
            self.assertEqual(out.returncode, 1)
            self.assertIn("a circle", out.stdout)


class Install(unittest.TestCase):
    @unittest.skipUnless(VARIANT == "release", "of the release build")
    def test_install_with_destdir_and_prefix(self):
        with tempfile.TemporaryDirectory() as root:
            subprocess.run(["make", "-C", ROOT, "install", "DESTDIR=" + root, "PREFIX=/opt/belfry"], check=True,
                           capture_output=True)
            self.assertTrue(os.access(os.path.join(root, "opt/belfry/bin/belfry"), os.X_OK))
            for role in ROLES:
                self.assertTrue(os.access(os.path.join(root, "opt/belfry/libexec/belfry/belfry-" + role), os.X_OK))
            shutil.rmtree(root, ignore_errors=True)
            os.makedirs(root, exist_ok=True)


if __name__ == "__main__":
    unittest.main()
