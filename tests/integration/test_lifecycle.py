# SPDX-License-Identifier: Apache-2.0
"""Processes that come, go, change and hide; CPUs that go and come."""
import os
import shutil
import subprocess
import tempfile
import time
import unittest

from belfry import ROLES, Case, hottest, status, wait_for, workload
from test_record import SOME, levels


class Lifecycle(Case):
    def test_two_hundred_processes_of_50_ms(self):
        r = self.record("-F", 499, "--", workload("short-lived"), 200, 50)
        p = r.profile()
        seconds = float(r.out.decode().split()[0])
        seen = named = 0
        pids = set()
        for s in p.sample:
            labels = p.labels(s)
            if labels.get("comm") not in ("short-lived", "exe"):
                continue
            seen += s.value[0]
            pids.add(labels["pid"])
            # Debian's loader and libc have no names for their inner functions; everything else has.
            leaf = p.stack(s)[0]
            named += s.value[0] * ("+0x" not in leaf or leaf.startswith(("ld-linux", "libc.so")))
        # 200 children of 50 ms of CPU each, 499 times a second.
        self.assertGreater(seen, 0.9 * seconds * 499)
        self.assertGreaterEqual(len(pids), 198, "of 200 children")
        self.assertGreaterEqual(named, 0.99 * seen, hottest(p))
        self.assert_chain(p, ["brief_work", "brief_life", "main"], int(0.8 * seconds * 499))

    def test_program_that_is_deleted_while_it_runs(self):
        directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        program = os.path.join(directory, "vanished")
        shutil.copy(workload("chain"), program)
        p = self.background(program, 6, 10)
        wait_for("it runs", 5, lambda: os.path.exists("/proc/%d/exe" % p.pid))
        time.sleep(0.2)
        os.unlink(program)
        profile = self.record("-F", 99, "-d", 3, "-p", p.pid).profile()
        self.assert_chain(profile, levels(6), SOME)

    def test_program_that_is_replaced_while_it_runs(self):
        directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        program = os.path.join(directory, "program")
        shutil.copy(workload("chain"), program)
        p = self.background(program, 6, 10)
        time.sleep(0.3)
        other = os.path.join(directory, "other")
        shutil.copy(workload("deep"), other)
        os.rename(other, program)
        profile = self.record("-F", 99, "-d", 3, "-p", p.pid).profile()
        self.assert_chain(profile, levels(6), SOME)

    def test_process_in_its_own_mount_and_pid_namespace(self):
        # The program lies on a file system that only the process itself can see.
        script = ("mount -t tmpfs none /mnt && cp %s /mnt/hidden && exec /mnt/hidden 7 12" % workload("chain"))
        self.background("unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", script)
        hidden = wait_for("the hidden program runs", 10, lambda: running("hidden"))
        p = self.record("-F", 99, "-d", 3, "-p", hidden).profile()
        self.assert_chain(p, levels(7), SOME)
        self.assertEqual({int(p.labels(s)["pid"]) for s in p.sample}, {hidden})
        os.kill(hidden, 9)

    def test_process_that_becomes_another_program(self):
        p = self.record("-F", 99, "--", workload("exec-change"), 2, workload("chain"), 5, 2).profile()
        self.assert_chain(p, ["before_exec", "main"], 180)
        self.assert_chain(p, levels(5), 180)
        for s in p.sample:
            stack = p.stack(s)
            self.assertFalse("before_exec" in stack and "level_1" in stack)
            self.assertFalse([n for n in stack if "exec-change+0x" in n or "chain+0x" in n], stack)

    def test_library_that_is_mapped_later(self):
        p = self.record("-F", 99, "--", workload("late-library"), workload("libbell.so"), 4).profile()
        self.assert_chain(p, ["wait_outside", "main"], 180)
        self.assert_chain(p, ["bell_strike", "bell_ring", "main"], 180)

    def test_process_that_was_there_before(self):
        there = self.background(workload("chain"), 3, 10)
        time.sleep(0.3)
        p = self.record("-F", 99, "-d", 2, "-a").profile()
        mine = [s for s in p.sample if int(p.labels(s)["pid"]) == there.pid]
        self.assertTrue([s for s in mine if p.stack(s)[:4] == levels(3)])

    def test_recording_leaves_nothing_behind(self):
        r = self.start("-F", 99, "-d", 2, "-a")
        r.sampling()
        roles = [pid for role in ROLES for pid in r.role_processes(role)]
        with open("/proc/%d/cmdline" % r.role("collector")) as f:
            words = f.read().split("\0")
        run = os.path.dirname(words[words.index("--run-dir") + 1])
        self.assertTrue(run.startswith("/run/belfry-record."), run)
        self.ended(r)
        wait_for("the run directory is removed", 5, lambda: not os.path.exists(run))
        self.assertEqual([pid for pid in roles if os.path.exists("/proc/%d/exe" % pid)], [])

    @unittest.skipUnless(os.environ.get("BELFRY_TEST_HOTPLUG") == "1",
                         "takes a CPU off the host: BELFRY_TEST_HOTPLUG=1 allows it; the VM tests do it always")
    def test_cpu_that_goes_and_comes(self):
        online = "/sys/devices/system/cpu/cpu1/online"
        self.background(workload("threads"), 20)
        r = self.start("-a", "-F", 99, "-d", 12)
        r.sampling()
        try:
            time.sleep(2)
            write(online, "0")
            time.sleep(3)
        finally:
            write(online, "1")
        self.ended(r)
        # 2 s + 7 s of two CPUs and 3 s of one, at least two thirds of it.
        self.assertGreater(r.account()["taken"], 99 * 21 * 2 // 3)


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def running(comm):
    """Pid of a process with this name."""
    for pid in os.listdir("/proc"):
        if pid.isdigit():
            try:
                if status(int(pid))["Name"] == comm[:15] and status(int(pid))["State"][0] != "Z":
                    return int(pid)
            except (OSError, KeyError):
                pass
    return None


if __name__ == "__main__":
    unittest.main()
