# SPDX-License-Identifier: Apache-2.0
"""Runs the product as a user would, and reads what it says: `belfry record`, its roles' pids, its account."""
import collections
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import pprof

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BELFRY_BUILD", os.path.join(ROOT, "build/release"))
VARIANT = os.environ.get("BELFRY_VARIANT", os.path.basename(BUILD))
BELFRY = os.path.join(BUILD, "belfry")
WORKLOADS = os.path.join(ROOT, "build/workloads")
PROFILES = os.path.join(ROOT, "build/profiles")
ROLES = ("collector", "symbolizer", "uploader")
NOBODY = 65534


def workload(name):
    return os.path.join(WORKLOADS, name)


def children(pid):
    out = []
    for task in tasks(pid):
        try:
            with open("/proc/%d/task/%d/children" % (pid, task)) as f:
                out += [int(c) for c in f.read().split()]
        except OSError:
            pass
    return out


def tasks(pid):
    try:
        return [int(t) for t in os.listdir("/proc/%d/task" % pid)]
    except OSError:
        return []


def descendants(pid):
    out, todo = [], [pid]
    while todo:
        for child in children(todo.pop()):
            out.append(child)
            todo.append(child)
    return out


def program(pid):
    """Name of what a process runs; "" when it is gone."""
    try:
        return os.path.basename(os.readlink("/proc/%d/exe" % pid).replace(" (deleted)", ""))
    except OSError:
        return ""


def status(pid, task=None):
    """Fields of /proc/PID/status (of one thread) as text."""
    path = "/proc/%d/status" % pid if task is None else "/proc/%d/task/%d/status" % (pid, task)
    with open(path) as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)


def wait_for(what, seconds, condition):
    """The first true value of condition(); fails after so many seconds."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("not within %g s: %s" % (seconds, what))
        time.sleep(0.02)


class Account(collections.OrderedDict):
    """The line that a profile's comment carries: taken, delivered, lost, and each reason with its number."""
    NOT_REASONS = ("taken", "delivered", "lost", "underway", "unexplained", "surplus", "balanced")

    @classmethod
    def of(cls, profile):
        lines = [c for c in profile.comments() if c.startswith("belfry account: ")]
        if len(lines) != 1:
            raise AssertionError("%d account lines in %s" % (len(lines), profile.comments()))
        return cls.parse(lines[0])

    @classmethod
    def parse(cls, line):
        out = cls()
        for key, value in re.findall(r"(\w+)=(\w+)", line):
            out[key] = int(value) if value.isdigit() else value
        return out

    def reasons(self):
        return {k: v for k, v in self.items() if k not in self.NOT_REASONS}


class Recording:
    """One `belfry record` that runs, or has ended."""

    def __init__(self, *args, user=None, env=None, cwd=None, output=None):
        self.directory = tempfile.mkdtemp(prefix="belfry-test.")
        os.chmod(self.directory, 0o777)
        self.path = os.path.join(self.directory, "profile.pb.gz")
        self.output = output
        command = [BELFRY, "record"]
        if output is None:
            command += ["-o", self.path]
        command += [str(a) for a in args]
        self.command = command
        kwargs = {}
        if user is not None:
            kwargs = {"user": user, "group": user, "extra_groups": []}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL, env=env, cwd=cwd or self.directory, **kwargs)
        self.out = self.err = None

    def role(self, name):
        """Pid of a role's main process (the one whose parent is not the role itself); None when it does not run."""
        wanted = "belfry-" + name
        for pid in descendants(self.process.pid):
            if program(pid) == wanted:
                return pid
        return None

    def role_processes(self, name):
        return [pid for pid in descendants(self.process.pid) if program(pid) == "belfry-" + name]

    def sampling(self):
        """Waits until all roles run and are confined."""
        def ready():
            if self.process.poll() is not None:
                self.finish()
                raise AssertionError("ended before it sampled: %s" % self.err)
            try:
                return all(self.role(r) and status(self.role(r)).get("Seccomp") == "2" for r in ROLES)
            except (OSError, TypeError):
                return False
        wait_for("all roles confined", 20, ready)

    def kill(self, name, number=signal.SIGKILL):
        """Sends a signal to a role's main process. Returns its pid, None where the role is not there just now."""
        pid = self.role(name)
        if pid:
            os.kill(pid, number)
        return pid

    def stop(self):
        self.process.send_signal(signal.SIGINT)

    def finish(self, seconds=120):
        """Waits for its end. Returns its exit code."""
        if self.out is None:
            try:
                self.out, self.err = self.process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                for pid in [self.process.pid] + descendants(self.process.pid):
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except OSError:
                        pass
                self.out, self.err = self.process.communicate()
                raise AssertionError("%s did not end within %d s: %s" % (self.command, seconds, self.text()))
        return self.process.returncode

    def text(self):
        return (self.out or b"").decode("utf-8", "replace") + (self.err or b"").decode("utf-8", "replace")

    def profile(self):
        if not os.path.exists(self.path):
            raise AssertionError("no profile: %s" % self.text())
        return pprof.Profile.read(self.path)

    def account(self):
        return Account.of(self.profile())

    def keep(self, name):
        """Leaves the profile for the judges."""
        if os.path.exists(self.path):
            os.makedirs(PROFILES, exist_ok=True)
            shutil.copyfile(self.path, os.path.join(PROFILES, re.sub(r"[^\w.-]", "_", name) + ".pb.gz"))

    def remove(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdout, self.process.stderr):
            pipe.close()
        shutil.rmtree(self.directory, ignore_errors=True)


class Case(unittest.TestCase):
    """Tests that record. Every profile goes through the validator and the law of conservation."""
    program = "belfry"

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("needs root")
        if not os.path.exists(os.path.join(BUILD, cls.program)):
            raise AssertionError("%s is not built" % os.path.join(BUILD, cls.program))

    def start(self, *args, **kwargs):
        r = Recording(*args, **kwargs)
        self.addCleanup(r.remove)
        return r

    def background(self, *command, **kwargs):
        p = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             stdin=subprocess.DEVNULL, **kwargs)

        def end():
            p.kill()
            p.wait()
        self.addCleanup(end)
        return p

    def record(self, *args, **kwargs):
        """Records to the end; the profile must be valid and balanced."""
        r = self.start(*args, **kwargs)
        self.ended(r)
        return r

    def ended(self, r, code=0, seconds=120):
        self.assertEqual(r.finish(seconds), code, r.text())
        if r.output is None:
            self.balanced(r)

    def balanced(self, r):
        """taken = delivered + lost by reason, exactly, and the profile holds what was delivered."""
        r.keep(self.id())
        p = r.profile()
        self.assertEqual(pprof.problems(p), [])
        a = r.account()
        self.assertEqual(a["taken"], a["delivered"] + sum(a.reasons().values()), dict(a))
        self.assertEqual(a["lost"], sum(a.reasons().values()), dict(a))
        self.assertEqual(p.total("samples"), a["delivered"], dict(a))
        self.assertEqual(a["balanced"], "yes", dict(a))
        self.assertEqual(p.total("cpu"), p.total("samples") * p.period)
        return a

    def share_with_chain(self, profile, chain, leaf=None):
        """
        Of the samples whose stack holds `leaf` (default: the chain's first name), the share whose user stack goes on
        from there exactly as `chain` says.
        """
        leaf = leaf or chain[0]
        seen = whole = 0
        for s in profile.sample:
            stack = profile.stack(s)
            if leaf not in stack:
                continue
            at = stack.index(leaf)
            seen += s.value[0]
            if stack[at:at + len(chain)] == list(chain):
                whole += s.value[0]
        return (whole / seen if seen else 0.0), seen

    def assert_chain(self, profile, chain, least, leaf=None, share=0.99):
        got, seen = self.share_with_chain(profile, chain, leaf)
        self.assertGreaterEqual(seen, least, "samples in %s; hottest: %s" % (chain[0], hottest(profile)))
        self.assertGreaterEqual(got, share, "complete chains of %d samples; %s" % (seen, stacks(profile, chain[0])))


def hottest(profile, count=10):
    names = collections.Counter()
    for s in profile.sample:
        stack = profile.stack(s)
        names[stack[0] if stack else "-"] += s.value[0]
    return names.most_common(count)


def stacks(profile, leaf, count=4):
    out = collections.Counter()
    for s in profile.sample:
        stack = profile.stack(s)
        if leaf in stack:
            out[";".join(stack)] += s.value[0]
    return out.most_common(count)
