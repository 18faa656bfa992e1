# SPDX-License-Identifier: Apache-2.0
"""What a person at a terminal, a cron job or a hardened host does to `belfry` around its proper use."""
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import pprof
from belfry import BELFRY, BUILD, ROLES, Case, status, workload

CAP_SYS_RESOURCE = 24


def run(*command, **kwargs):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=60, **kwargs)


class Place(Case):
    """Where the programs are, and where they write."""

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="belfry-test.")
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.path = os.path.join(self.directory, "profile.pb.gz")

    def copies(self, bin_folder, role_folder):
        for folder, names in ((bin_folder, ["belfry"]), (role_folder, ["belfry-" + r for r in ROLES])):
            os.makedirs(os.path.join(self.directory, folder), exist_ok=True)
            for name in names:
                shutil.copy(os.path.join(BUILD, name), os.path.join(self.directory, folder, name))
        return os.path.join(self.directory, bin_folder, "belfry")

    def assert_recorded(self, r):
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual(pprof.problems(pprof.Profile.read(self.path)), [])
        self.assertNotIn(" died ", r.stdout)

    def test_below_a_home_that_only_its_owner_may_enter(self):
        belfry = self.copies("home/build", "home/build")
        os.chmod(os.path.join(self.directory, "home"), 0o700)
        self.assert_recorded(run(belfry, "record", "-a", "-d", 0.5, "-o", self.path))

    def test_role_that_its_user_may_not_run_is_one_sentence(self):
        belfry = self.copies("build", "build")
        os.chmod(os.path.join(self.directory, "build/belfry-uploader"), 0o700)
        r = run(belfry, "record", "-a", "-d", 5, "-o", self.path)
        self.assertEqual(r.returncode, 2, r.stderr)
        self.assertEqual(r.stderr.count("cannot run"), 1, r.stderr)
        self.assertIn("chmod o+x", r.stderr)
        self.assertFalse(os.path.exists(self.path))

    def test_installed_under_any_prefix(self):
        belfry = self.copies("opt/any/bin", "opt/any/libexec/belfry")
        self.assert_recorded(run(belfry, "record", "-a", "-d", 0.5, "-o", self.path))

    def test_roles_that_are_not_there(self):
        belfry = self.copies("bin", "elsewhere")
        r = run(belfry, "record", "-a", "-d", 1, "-o", self.path)
        self.assertEqual(r.returncode, 2, r.stderr)
        self.assertIn("belfry-collector is neither", r.stderr)

    def test_closed_standard_streams_do_not_get_into_the_profile(self):
        for closed in ((0, 1, 2), (1, 2), (1,)):
            with self.subTest(closed=closed):
                words = " ".join("%d>&-" % fd for fd in closed)
                self.assert_recorded(run("sh", "-c", "exec %s; exec %s record -a -d 0.5 -o %s" % (words, BELFRY, self.path)))

    def test_table_that_cannot_be_printed(self):
        with open("/dev/full", "w") as full:
            for args in (["--format", "top"], ["--format", "folded", "-o", "-"]):
                with self.subTest(args=args):
                    r = subprocess.run([BELFRY, "record", "-d", "1", *args, "--", workload("chain"), "2", "1"],
                                       stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
                    self.assertEqual(r.returncode, 5, r.stderr)
                    self.assertIn("No space left", r.stderr)


class Host(Case):
    """What a host or a service manager takes away."""

    def may_raise(self):
        return bool(int(status(os.getpid())["CapEff"], 16) >> CAP_SYS_RESOURCE & 1)

    def test_small_limits_are_raised_or_named(self):
        for name, value in (("NOFILE", 64), ("NPROC", 1), ("FSIZE", 0), ("AS", 256 << 20)):
            if name == "AS" and "asan" in BUILD:
                continue  # its shadow memory does not fit
            with self.subTest(limit=name):
                number = getattr(resource, "RLIMIT_" + name)
                r = run(BELFRY, "record", "--format", "top", "-d", 1, "-a",
                        preexec_fn=lambda: resource.setrlimit(number, (value, value)))
                if self.may_raise():
                    self.assertEqual(r.returncode, 0, r.stderr)
                    self.assertNotIn(" died ", r.stdout)
                else:
                    self.assertEqual(r.returncode, 2, r.stderr)
                    self.assertIn("RLIMIT_%s is %d here" % (name, value), r.stderr)
                    self.assertIn("ulimit -", r.stderr)

    def test_command_keeps_the_user_s_limits(self):
        r = run(BELFRY, "record", "--format", "top", "--", "sh", "-c", "ulimit -n",
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300)))
        self.assertEqual(r.stdout.splitlines()[0], "300", r.stderr)

    def test_without_sys_admin_where_the_sysctl_does_not_ask_for_it(self):
        with open("/proc/sys/kernel/perf_event_paranoid") as f:
            if int(f.read()) > 2:
                self.skipTest("kernel.perf_event_paranoid > 2")
        r = run("setpriv", "--bounding-set", "-sys_admin", BELFRY, "record", "--format", "top", "-a", "-d", 0.5)
        self.assertEqual(r.returncode, 0, r.stderr)


class Signals(Case):
    def test_hang_up_under_nohup(self):
        r = subprocess.Popen([BELFRY, "record", "--format", "top", "--", "sh", "-c", "kill -HUP $PPID $$; sleep 2; echo survived"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        time.sleep(1)
        r.send_signal(signal.SIGHUP)
        out, err = r.communicate(timeout=60)
        self.assertEqual(r.returncode, 0, err)
        self.assertIn("survived", out)

    def test_hang_up_ends_it_with_what_it_has(self):
        self.background(workload("chain"), 2, 20)
        r = self.start("-F", 99, "-a")
        r.sampling()
        time.sleep(1)
        r.process.send_signal(signal.SIGHUP)
        self.ended(r)


class Nothing(Case):
    def test_recording_without_a_sample_is_a_valid_profile(self):
        before = time.time()
        r = self.record("-d", 0.3, "-u", 54321)
        p = r.profile()
        self.assertEqual(p.total("samples"), 0)
        self.assertTrue(before - 1 < p.time_nanos / 1e9 < time.time(), p.time_nanos)
        self.assertTrue(0.25e9 < p.duration_nanos < 5e9, p.duration_nanos)
        self.assertIn("no samples", r.out.decode())


class Report(Case):
    def test_options_that_are_wrong(self):
        for args, text in ((["--nonsense", "x"], "--nonsense: no such option"), (["--top"], "--top: a value is missing"),
                           (["--top", "0", "x"], "--top 0: a number"), ([], "one FILE is needed")):
            with self.subTest(args=args):
                r = run(BELFRY, "report", *args)
                self.assertEqual(r.returncode, 1)
                self.assertIn("belfry report: " + text, r.stderr)

    def test_files_that_are_no_profile(self):
        for path in ("/dev/zero", "/dev/null", "/etc/passwd", "/", "/nonexistent"):
            with self.subTest(path=path):
                r = run(BELFRY, "report", path)
                self.assertEqual(r.returncode, 1, r.stderr)
                self.assertTrue(r.stderr.startswith("belfry report: %s: " % path), r.stderr)


if __name__ == "__main__":
    unittest.main()
