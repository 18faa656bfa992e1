# SPDX-License-Identifier: Apache-2.0
"""Profiled programs that mean harm: names stay right or honestly absent, nothing ends, nothing is lost uncounted."""
import os
import shutil
import subprocess
import tempfile

from belfry import NOBODY, Case, hottest, program, workload

HOSTILE = workload("hostile-target")


class HostileTargets(Case):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="belfry-target.")
        os.chmod(self.folder, 0o755)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def copy(self, name):
        path = os.path.join(os.fsencode(self.folder), name)
        shutil.copy(HOSTILE, path)
        return path

    def hostile(self, *args):
        return self.record("-F", 99, "--", HOSTILE, *args).profile()

    def leaves(self, profile, **labels):
        """Samples by the leaf's name; only those with these labels."""
        out = {}
        for s in profile.sample:
            have = profile.labels(s)
            if all(have.get(k) == v for k, v in labels.items()):
                leaf = profile.stack(s)[0]
                out[leaf] = out.get(leaf, 0) + s.value[0]
        return out

    def test_mapping_that_mprotect_split(self):
        p = self.hostile("split", "1.5")
        leaves = self.leaves(p)
        for name in ("page_before", "page_inside", "page_behind"):
            self.assertGreater(leaves.get(name, 0), 30, leaves)

    def test_code_in_devices_and_shared_memory(self):
        p = self.hostile("odd", "1.5")
        code = {n: c for n, c in self.leaves(p).items() if n.endswith(("+0x9", "+0xb"))}
        self.assertGreater(sum(code.values()), 100, hottest(p))
        for name in code:
            self.assertFalse(set(name) & {"\n", "\0"}, name)

    def test_thread_that_outlives_its_leader(self):
        p = self.hostile("outlive", "1")
        self.assert_chain(p, ["hostile_burn", "outlive"], 80)

    def test_file_that_is_rewritten_and_truncated_while_it_is_parsed(self):
        victim = self.copy(b"victim")
        r = self.start("-F", 99, "--window", 1, "--", HOSTILE, "rewrite", "2", victim.decode())
        r.sampling()
        roles = {name: r.role(name) for name in ("collector", "symbolizer", "uploader")}
        for name, pid in roles.items():
            self.assertEqual(program(pid), "belfry-" + name)
        self.ended(r)
        self.assertGreater(self.leaves(r.profile()).get("hostile_burn", 0), 100)
        self.assertNotIn("died", r.text())

    def test_names_that_are_not_names(self):
        names = [b"a b", b"x (deleted)", b"new\nline", b"ff\xff\xfe", b"[vdso]", b"[kernel.kallsyms]", b"//anon", b"n" * 255]
        script = b"for f in \"$@\"; do \"$f\" burn 0.3; done"
        paths = [self.copy(n) for n in names]
        p = self.record("-F", 99, "--", "sh", "-c", script.decode(), "sh", *[os.fsdecode(n) for n in paths]).profile()
        by_exe = {}
        for s in p.sample:
            if "hostile_burn" in p.stack(s):
                exe = p.labels(s).get("exe", "")
                by_exe[exe] = by_exe.get(exe, 0) + s.value[0]
        self.assertEqual(len(by_exe), len(names), by_exe)
        self.assertTrue(all(n > 15 for n in by_exe.values()), by_exe)
        self.assertFalse([e for e in by_exe if "\n" in e], by_exe)

    def test_program_that_its_user_alone_may_reach_and_setuid_root(self):
        private = os.path.join(self.folder, "private")
        os.mkdir(private, 0o700)
        shutil.copy(HOSTILE, private + "/secret")
        os.chown(private, NOBODY, NOBODY)
        shutil.copy(HOSTILE, self.folder + "/setuid")
        os.chmod(self.folder + "/setuid", 0o4711)
        r = self.start("-a", "-F", 99, "-d", 4)
        r.sampling()
        for path in (private + "/secret", self.folder + "/setuid"):
            subprocess.run([path, "burn", "0.5"], user=NOBODY, check=True)
        self.ended(r)
        for name in ("secret", "setuid"):
            leaves = self.leaves(r.profile(), comm=name)
            self.assertGreater(leaves.get("hostile_burn", 0), 30, leaves)

    def test_samples_from_before_an_exec_keep_their_program(self):
        p = self.record("-F", 99, "--", workload("exec-change"), "0.7", workload("chain"), 3, "0.7").profile()
        before = {k: v for s in p.sample if p.stack(s)[0] == "before_exec" for k, v in p.labels(s).items()}
        after = {k: v for s in p.sample if p.stack(s)[0] == "level_3" for k, v in p.labels(s).items()}
        self.assertEqual((before["comm"], after["comm"]), ("exec-change", "chain"))
        self.assertTrue(before["exe"].endswith("/exec-change"), before)
        self.assertTrue(after["exe"].endswith("/chain"), after)
        self.assertEqual(before["pid"], after["pid"])

    def test_flood_of_mappings_harms_no_neighbour(self):
        chain = self.background(workload("chain"), 4, 2)
        p = self.record("-a", "-F", 99, "--", HOSTILE, "flood", "2", HOSTILE).profile()
        chain.wait()
        self.assert_chain(p, ["level_%d" % n for n in range(4, 0, -1)] + ["main"], 40)
        self.assertGreater(self.leaves(p, comm="hostile-target").get("hostile_burn", 0), 10)
