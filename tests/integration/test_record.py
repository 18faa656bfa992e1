# SPDX-License-Identifier: Apache-2.0
"""What a recorded profile shows of programs whose hot chains are known."""
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import pprof
from belfry import BELFRY, NOBODY, Case, descendants, hottest, workload


def levels(depth):
    """level_DEPTH, where all the time is spent, first."""
    return ["level_%d" % n for n in range(depth, 0, -1)] + ["main"]


# The C workloads use so many seconds of CPU time, whatever else runs: 3 s at 99 Hz are 297 samples.
SECONDS = "3"
LEAST = 270
# Go and Rust count the seconds by the clock on the wall, and what runs beside a recording gets what the host has left.
SOME = 40


class NativeChains(Case):
    """-F 99 -- WORKLOAD: names, order, and at least 99 % of the stacks complete."""

    def chain(self, name, *args, chain, least=LEAST):
        p = self.record("-F", 99, "--", workload(name), *args).profile()
        self.assert_chain(p, chain, least)
        self.assertEqual(hottest(p, 1)[0][0], chain[0])
        return p

    def test_c_pie(self):
        p = self.chain("chain", 8, SECONDS, chain=levels(8))
        self.assertTrue(p.string(p.mapping[0].filename).endswith("/chain"), "mapping[0] is the main program")
        self.assertEqual(p.types(), [("samples", "count"), ("cpu", "nanoseconds")])

    def test_c_deepest_named_chain(self):
        self.chain("chain", 16, SECONDS, chain=levels(16))

    def test_c_not_pie(self):
        self.chain("chain-nopie", 8, SECONDS, chain=levels(8))

    def test_c_static(self):
        self.chain("chain-static", 8, SECONDS, chain=levels(8))

    def test_c_static_pie(self):
        self.chain("chain-static-pie", 8, SECONDS, chain=levels(8))

    def test_two_executable_segments_with_other_addresses_than_offsets(self):
        self.chain("chain-segments", 8, SECONDS, chain=levels(8))

    def test_only_dynamic_symbols(self):
        self.chain("chain-stripped", 8, SECONDS, chain=levels(8))

    def test_cpp(self):
        self.chain("chain-cpp", SECONDS, chain=[
            "tower::Bell<unsigned long, 3>::strike(unsigned long) const", "tower::rope::pull(unsigned long)",
            "tower::ring(unsigned long)", "main"])

    def test_rust(self):
        p = self.record("-F", 99, "--", workload("chain-rust"), SECONDS).profile()
        # The compiler's own mangling decides how much of the path of an implementation is shown.
        strike = [n for n, _ in hottest(p, 3) if n.endswith("strike")]
        self.assertTrue(strike, hottest(p))
        names = [p.string(f.name) for f in p.function]
        pull = [n for n in names if re.match(r"^chain::tower::pull(::<.*>)?$", n)]
        ring = [n for n in names if re.match(r"^chain::tower::ring$", n)]
        self.assertTrue(pull and ring, names)
        self.assert_chain(p, [strike[0], pull[0], ring[0]], SOME)
        self.assertFalse([n for n in names if n.startswith(("_ZN", "_R"))], "mangled names")

    def test_go(self):
        self.chain("chain-go", SECONDS, chain=["main.strike", "main.pull", "main.ring", "main.main"], least=SOME)

    def test_shared_library(self):
        p = self.chain("library-user", SECONDS, chain=["bell_strike", "bell_ring", "visit_tower", "main"])
        hot = max(p.sample, key=lambda s: s.value[0])
        files = [os.path.basename(m) for m in p.mappings(hot)]
        self.assertEqual(files[:4], ["libbell.so", "libbell.so", "library-user", "library-user"])

    def test_stack_deeper_than_usual_limits(self):
        p = self.chain("deep", 900, SECONDS, chain=["descend"] * 900 + ["main"])
        self.assertEqual(p.string(p.function[0].name) != "", True)

    def test_stack_deeper_than_ours_keeps_the_leaf_side(self):
        p = self.record("-F", 99, "--", workload("deep"), 3000, SECONDS).profile()
        hot = max(p.sample, key=lambda s: s.value[0])
        self.assertGreaterEqual(p.stack(hot).count("descend"), 1000)
        self.assertLessEqual(len(hot.location_id), 1024 + 127 + 2)

    def test_threads_have_their_names(self):
        p = self.record("-F", 99, "--", workload("threads"), SECONDS).profile()
        by_name = {}
        for s in p.sample:
            if "thread_work" in p.stack(s):
                name = p.labels(s).get("thread_name")
                by_name[name] = by_name.get(name, 0) + s.value[0]
                self.assertGreater(int(p.labels(s)["thread_id"]), 0)
        for n in range(4):
            self.assertGreater(by_name.get("ringer-%d" % n, 0), 240, by_name)

    def test_code_without_a_file(self):
        p = self.record("-F", 99, "--", workload("anonymous-code"), SECONDS).profile()
        name, count = hottest(p, 1)[0]
        self.assertRegex(name, r"^\[anon\]\+0x[0-9a-f]+$")
        self.assertGreater(count, LEAST)
        self.assert_chain(p, [name, "call_code", "main"], LEAST)

    def test_thread_name_that_is_no_text(self):
        p = self.record("-F", 99, "--", workload("odd-name"), "2").profile()
        self.assertEqual(pprof.problems(p), [])
        self.assert_chain(p, ["odd_work", "main"], 180)

    def test_build_id_is_the_file_s(self):
        p = self.record("-F", 99, "--", workload("chain"), 2, "1").profile()
        notes = subprocess.run(["readelf", "-n", workload("chain")], capture_output=True, text=True).stdout
        self.assertEqual(p.string(p.mapping[0].build_id), re.search(r"Build ID: ([0-9a-f]+)", notes).group(1))

    def test_process_labels(self):
        p = self.record("-F", 99, "--", workload("chain"), 2, "1").profile()
        hot = max(p.sample, key=lambda s: s.value[0])
        labels = p.labels(hot)
        self.assertEqual(labels.get("comm"), "chain")
        self.assertTrue(labels.get("exe", "").endswith("/chain"), labels)
        self.assertGreater(int(labels["pid"]), 1)
        self.assertEqual(labels.get("node"), os.uname().nodename)
        self.assertEqual(labels.get("kernel_release"), os.uname().release)

    def test_time_and_duration(self):
        before = time.time()
        p = self.record("-F", 99, "--", workload("chain"), 2, "2").profile()
        self.assertLess(abs(p.time_nanos / 1e9 - before), 5)
        self.assertGreater(p.duration_nanos / 1e9, 1.8)
        self.assertLess(p.duration_nanos / 1e9, 6)
        self.assertEqual(p.period, 1000000000 // 99)


class Kernel(Case):
    def test_system_calls_are_named(self):
        p = self.record("-F", 99, "--", workload("syscall-heavy"), SECONDS).profile()
        seen = below = 0
        for s in p.sample:
            stack = p.stack(s)
            if "read_zeros" not in stack:
                continue
            seen += s.value[0]
            # The kernel's frames stand above the user's.
            kernel = stack[:stack.index("read_zeros")]
            if any(n in kernel for n in ("ksys_read", "vfs_read", "__x64_sys_read")):
                below += s.value[0]
        self.assertGreater(seen, LEAST, hottest(p))
        self.assertGreater(below, 0.9 * seen, hottest(p))
        unnamed = [n for n, _ in hottest(p, 50) if re.match(r"^(0x|\[kernel)", n)]
        self.assertEqual(unnamed, [])

    def test_kernel_mapping_is_marked(self):
        p = self.record("-F", 99, "--", workload("syscall-heavy"), "1").profile()
        names = [p.string(m.filename) for m in p.mapping]
        self.assertTrue([n for n in names if n.startswith("[kernel.kallsyms]")], names)

    def test_kernel_threads_appear(self):
        # Dirty pages are written back, and memory is given back, by kernel threads; at 999 Hz a few are always met.
        self.background("sh", "-c", "while :; do dd if=/dev/zero of=%s bs=1M count=64 conv=fsync; done" %
                        os.path.join(tempfile.mkdtemp(dir="/var/tmp"), "dirty"))
        p = self.record("-a", "-F", 999, "-d", 5).profile()
        threads = set()
        for s in p.sample:
            labels = p.labels(s)
            try:
                with open("/proc/%d/cmdline" % int(labels["pid"])) as f:
                    if f.read() == "" and os.stat("/proc/%d" % int(labels["pid"])).st_uid == 0:
                        threads.add(labels.get("comm") or labels.get("thread_name"))
            except (OSError, KeyError):
                pass
        self.assertTrue([t for t in threads if re.match(r"(kworker|kswapd|ksoftirqd|rcu_|kcompactd|jbd2|migration)", t or "")],
                        threads)


class Selection(Case):
    """What is recorded: a command alone, a pid, a uid, a cgroup, the host."""

    def comms(self, p):
        return {p.labels(s).get("comm") for s in p.sample}

    def test_command_alone(self):
        self.background(workload("threads"), 8)
        p = self.record("-F", 99, "--", workload("chain"), 4, "2").profile()
        self.assertEqual({p.labels(s).get("exe", "").split("/")[-1] for s in p.sample} - {""}, {"chain"})

    def test_command_with_its_children(self):
        p = self.record("-F", 99, "--", "sh", "-c", "%s 3 2; %s 4 2" % (workload("chain"), workload("chain-nopie"))).profile()
        self.assert_chain(p, levels(3), 90)
        self.assert_chain(p, levels(4), 90)

    def test_pid(self):
        wanted = self.background(workload("chain"), 5, 8)
        self.background(workload("deep"), 5, 8)
        p = self.record("-F", 99, "-d", 2, "-p", wanted.pid).profile()
        self.assertEqual({int(p.labels(s)["pid"]) for s in p.sample}, {wanted.pid})
        self.assert_chain(p, levels(5), SOME)

    def test_two_pids(self):
        one, two = (self.background(workload("chain"), d, 8) for d in (3, 6))
        self.background(workload("deep"), 5, 8)
        p = self.record("-F", 99, "-d", 2, "-p", one.pid, "-p", two.pid).profile()
        self.assertEqual({int(p.labels(s)["pid"]) for s in p.sample}, {one.pid, two.pid})

    def test_uid(self):
        self.background(workload("deep"), 5, 8)
        mine = self.background(workload("chain"), 5, 8, user=NOBODY, group=NOBODY, extra_groups=[])
        p = self.record("-F", 99, "-d", 2, "--uid", NOBODY).profile()
        self.assertEqual({int(p.labels(s)["pid"]) for s in p.sample}, {mine.pid})

    def test_cgroup_with_descendants(self):
        top = next((line.split()[1] for line in open("/proc/mounts") if line.split()[2] == "cgroup2"), None)
        if not top:
            self.skipTest("no cgroup2")
        outer = tempfile.mkdtemp(prefix="belfry-test-", dir=top)
        inner = os.path.join(outer, "inner")
        os.mkdir(inner)
        self.addCleanup(lambda: (os.rmdir(inner), os.rmdir(outer)))
        inside = self.background(workload("chain"), 5, 8)
        with open(os.path.join(inner, "cgroup.procs"), "w") as f:
            f.write(str(inside.pid))
        self.background(workload("deep"), 5, 8)
        p = self.record("-F", 99, "-d", 2, "--cgroup", outer).profile()
        self.assertEqual({int(p.labels(s)["pid"]) for s in p.sample}, {inside.pid})
        self.assert_chain(p, levels(5), SOME)
        inside.kill()
        inside.wait()

    def test_whole_host_without_the_agent(self):
        self.background(workload("chain"), 5, 8)
        self.background(workload("deep"), 5, 8)
        r = self.start("-F", 999, "-d", 3, "-a")
        r.sampling()
        own = {r.process.pid, *descendants(r.process.pid)}
        self.assertGreaterEqual(len(own), 6)
        self.ended(r)
        p = r.profile()
        self.assertLessEqual({"chain", "deep"}, self.comms(p))
        # Not by name: another recording may run on this host.
        self.assertEqual({int(p.labels(s)["pid"]) for s in p.sample} & own, set())

    def test_agent_can_be_included(self):
        p = self.record("-F", 999, "-d", 3, "-a", "--include-agent").profile()
        self.assertTrue({c for c in self.comms(p) if c and c.startswith("belfry")}, self.comms(p))


class Output(Case):
    def test_folded(self):
        r = self.start("-F", 99, "--format", "folded", "--", workload("chain"), 4, "2")
        self.assertEqual(r.finish(), 0, r.text())
        with open(r.path) as f:
            lines = f.read().splitlines()
        best = max(lines, key=lambda l: int(l.rsplit(" ", 1)[1]))
        self.assertRegex(best, r"main;level_1;level_2;level_3;level_4 \d+$")

    def test_top(self):
        r = self.start("-F", 99, "--format", "top", "--", workload("chain"), 4, "2")
        self.assertEqual(r.finish(), 0, r.text())
        with open(r.path) as f:
            self.assertIn("level_4", f.read())

    def test_says_what_was_taken_and_lost_and_what_is_hot(self):
        r = self.record("-F", 99, "--", workload("chain"), 4, "2")
        a = r.account()
        text = r.text()
        self.assertRegex(text, r"taken +%d" % a["taken"])
        self.assertIn("level_4", text)
        self.assertIn(os.path.basename(r.path), text)

    def test_name_by_default(self):
        r = self.start("-F", 99, "--", workload("chain"), 2, "1", output="default")
        self.assertEqual(r.finish(), 0, r.text())
        made = [n for n in os.listdir(r.directory) if re.match(r"^belfry-.*\.pb\.gz$", n)]
        self.assertEqual(len(made), 1, os.listdir(r.directory))

    def test_command_s_exit_and_streams(self):
        r = self.record("-F", 99, "--", "sh", "-c", "echo to stdout; echo to stderr >&2; exec %s 2 1" % workload("chain"))
        self.assertIn("to stdout", r.out.decode())
        self.assertIn("to stderr", r.err.decode())

    def test_command_that_is_not_there(self):
        r = self.start("-F", 99, "--", "/nonexistent/program")
        self.assertNotEqual(r.finish(), 0)
        self.assertIn("/nonexistent/program", r.text())

    def test_ctrl_c_ends_it_with_what_it_has(self):
        self.background(workload("chain"), 4, 20)
        r = self.start("-F", 99, "-a")
        r.sampling()
        time.sleep(2)
        r.stop()
        self.ended(r, seconds=20)
        self.assert_chain(r.profile(), levels(4), SOME)

    def test_report_reads_it_back(self):
        r = self.record("-F", 99, "--", workload("chain"), 4, "2")
        top = subprocess.run([BELFRY, "report", r.path], capture_output=True, text=True)
        self.assertEqual(top.returncode, 0, top.stderr)
        self.assertIn("level_4", top.stdout)

    def test_go_tool_pprof_shows_it(self):
        go = shutil.which("go")
        if not go:
            self.skipTest("no go")
        r = self.record("-F", 99, "--", workload("chain"), 4, "2")
        env = dict(os.environ, PPROF_BINARY_PATH=r.directory, PPROF_TMPDIR=r.directory)
        top = subprocess.run([go, "tool", "pprof", "-symbolize=none", "-top", r.path], capture_output=True, text=True, env=env)
        self.assertEqual(top.returncode, 0, top.stderr)
        rows = [l.split() for l in top.stdout.splitlines() if "%" in l and not l.startswith(("Showing", " "*6 + "flat"))]
        named = [row[-1] for row in rows if row[-1].startswith("level_") or row[-1] == "main"]
        self.assertEqual(named[0], "level_4")
        cum = {row[-1]: row[4] for row in rows if row[-1] in ("main", "level_1", "level_2", "level_3")}
        self.assertEqual(set(cum), {"main", "level_1", "level_2", "level_3"}, top.stdout)


class Users(Case):
    def test_output_belongs_to_whoever_used_sudo(self):
        env = dict(os.environ, SUDO_UID=str(NOBODY), SUDO_GID=str(NOBODY), SUDO_USER="nobody")
        r = self.start("-F", 99, "--", "sh", "-c", "id -u; exec %s 2 1" % workload("chain"), env=env)
        self.ended(r)
        self.assertEqual(os.stat(r.path).st_uid, NOBODY)
        self.assertIn(str(NOBODY), r.out.decode().split())
        for s in r.profile().sample[:1]:
            self.assertTrue(r.profile().stack(s))

    def test_without_root_it_names_what_is_missing(self):
        r = self.start("-F", 99, "-d", 1, user=NOBODY)
        self.assertEqual(r.finish(), 2, r.text())
        text = r.text()
        for capability in ("BPF", "PERFMON", "SYS_PTRACE"):
            self.assertIn(capability, text)

    def test_command_line_that_is_wrong(self):
        for args in (["-F", "0"], ["-F", "99999999"], ["-d", "x"], ["--format", "svg"], ["--nonsense"], ["-p", "-3"]):
            with self.subTest(args=args):
                r = self.start(*args)
                self.assertEqual(r.finish(), 1, r.text())
                self.assertTrue(r.err)


if __name__ == "__main__":
    unittest.main()
