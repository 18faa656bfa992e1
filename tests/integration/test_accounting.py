# SPDX-License-Identifier: Apache-2.0
"""Samples taken = delivered + lost by reason, exactly, whatever happens to the roles."""
import os
import signal
import time
import unittest

from belfry import Case, descendants, program, wait_for, workload


class Accounting(Case):
    def load(self, seconds):
        """Keeps both CPUs busy with several processes whose stacks differ."""
        self.background(workload("threads"), seconds)
        self.background(workload("chain"), 9, seconds)
        self.background(workload("demo"), seconds)

    def busy_recording(self, seconds, frequency=499):
        self.load(seconds + 10)
        r = self.start("-a", "-F", frequency, "-d", seconds, "--window", 1)
        r.sampling()
        return r

    def least(self, seconds, frequency):
        """Samples that busy CPUs must give at least; the host is shared, so not all of them."""
        return int(0.5 * seconds * frequency * os.cpu_count())

    def test_nothing_is_lost_at_999_hz_on_all_cpus(self):
        seconds = int(os.environ.get("BELFRY_TEST_SECONDS", "30"))
        self.load(seconds + 5)
        r = self.record("-a", "-F", 999, "-d", seconds)
        a = r.account()
        self.assertEqual(a["lost"], 0, dict(a))
        self.assertGreater(a["taken"], self.least(seconds, 999))

    def kill_ten_times(self, role):
        r = self.busy_recording(28)
        killed = []

        def another():
            pid = r.role(role)
            return pid if pid not in killed else None

        while len(killed) < 10:
            wait_for("%s runs (again)" % role, 8, another)
            time.sleep(1)
            pid = another()
            if pid:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
        wait_for("%s comes back" % role, 8, lambda: r.role(role) not in (None, killed[-1]))
        collector = r.role("collector")
        self.assertTrue(collector, "the collector goes on")
        self.assertEqual(r.finish(), 0, r.text())
        a = self.balanced(r)
        self.assertGreater(a["taken"], self.least(28, 499))
        self.assertGreater(a["delivered"], 0)
        return a

    def test_symbolizer_killed_ten_times(self):
        a = self.kill_ten_times("symbolizer")
        self.assertGreater(a["lost"], 0, "windows went down with it: %s" % dict(a))
        self.assertGreater(a.reasons().get("symbolizer_lost", 0) + a.reasons().get("in_transit", 0), 0, dict(a))

    def test_uploader_killed_ten_times(self):
        a = self.kill_ten_times("uploader")
        self.assertLessEqual(set(a.reasons()), {"profile_lost", "uploader_away", "write_failed"}, dict(a))

    def test_both_killed_by_turns(self):
        r = self.busy_recording(15)
        for i in range(6):
            time.sleep(1.5)
            r.kill(("symbolizer", "uploader")[i % 2])
        self.assertEqual(r.finish(), 0, r.text())
        self.balanced(r)

    def test_stopped_symbolizer_does_not_stop_the_collector(self):
        r = self.busy_recording(14)
        symbolizer = r.kill("symbolizer", signal.SIGSTOP)
        cpu_before = ticks(r.role("collector"))
        time.sleep(6)
        self.assertGreaterEqual(ticks(r.role("collector")), cpu_before, "the collector runs")
        os.kill(symbolizer, signal.SIGCONT)
        self.assertEqual(r.finish(), 0, r.text())
        a = self.balanced(r)
        self.assertGreater(a["taken"], self.least(14, 499))

    def test_symbolizer_that_is_stopped_to_the_end(self):
        r = self.busy_recording(6)
        symbolizer = r.kill("symbolizer", signal.SIGSTOP)
        code = r.finish(60)
        self.assertIn(code, (0, 3, 4), r.text())
        if os.path.exists(r.path) and os.path.getsize(r.path):
            a = r.account()
            self.assertEqual(a["taken"], a["delivered"] + sum(a.reasons().values()), dict(a))
        self.assertFalse(os.path.exists("/proc/%d" % symbolizer), "nothing is left behind")

    def test_killed_collector_ends_the_recording_with_what_there_is(self):
        r = self.busy_recording(10)
        time.sleep(3)
        r.kill("collector")
        code = r.finish(30)
        self.assertEqual(code, 3, r.text())
        if os.path.exists(r.path) and os.path.getsize(r.path):
            self.assertGreater(r.profile().total("samples"), 0)

    def test_killed_launcher_leaves_no_role_behind(self):
        r = self.busy_recording(30)
        roles = [p for name in ("collector", "symbolizer", "uploader") for p in r.role_processes(name)]
        self.assertGreaterEqual(len(roles), 3)
        r.process.kill()
        wait_for("the roles end with the launcher", 15, lambda: not [p for p in roles if program(p)])

    def test_launcher_killed_at_any_moment_of_its_start(self):
        """Whatever it had started by then ends as well."""
        for milliseconds in range(0, 400, 60):
            with self.subTest(milliseconds=milliseconds):
                r = self.start("-a", "-F", 99, "-d", 30)
                time.sleep(milliseconds / 1000)
                mine = descendants(r.process.pid)
                r.process.kill()
                mine += [p for p in mine for p in descendants(p)]
                wait_for("everything ends: %s" % mine, 15, lambda: not [p for p in mine if program(p).startswith("belfry")])

    def test_dead_workers_cost_no_sample(self):
        r = self.busy_recording(8)
        main = r.role("symbolizer")
        killed = 0
        end = time.monotonic() + 6
        while time.monotonic() < end:
            # Grandchildren: the workers that the zygote forks, one a file.
            for pid in r.role_processes("symbolizer"):
                if pid != main and worker(pid, r):
                    try:
                        os.kill(pid, signal.SIGKILL)
                        killed += 1
                    except OSError:
                        pass
            time.sleep(0.01)
        self.assertEqual(r.finish(), 0, r.text())
        a = self.balanced(r)
        self.assertEqual(a["lost"], 0, dict(a))
        self.assertEqual(r.role("symbolizer"), None)


def ticks(pid):
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def worker(pid, r):
    """A process of the symbolizer whose parent is not its main process: a worker."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            return int(f.read().rsplit(")", 1)[1].split()[1]) != r.role("symbolizer")
    except OSError:
        return False


if __name__ == "__main__":
    unittest.main()
