# SPDX-License-Identifier: Apache-2.0
"""What each role may still do once it is confined: read back from /proc, tried out call by call, and seen by `belfry audit`."""
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

from belfry import BELFRY, BUILD, ROLES, ROOT, VARIANT, descendants, program, status, tasks, wait_for

COLLECTOR, SYMBOLIZER, UPLOADER, GROUP = 61301, 61302, 61303, 61300
UIDS = {"collector": COLLECTOR, "symbolizer": SYMBOLIZER, "uploader": UPLOADER}
SELFTEST = os.path.join(ROOT, "build/selftest")

ENOENT, EACCES = 2, 13
CALLS = (
    "execve socket_inet socket_packet socket_netlink bind ptrace mmap_exec mprotect_exec openat_write openat_create openat_read "
    "openat2 readlinkat bpf_prog_load bpf_map_create bpf_map_by_id perf_event_open clone3 fork clone_thread clone_user_namespace "
    "ioctl_tty ioctl_perf_filter process_vm_readv process_vm_writev pidfd_getfd kill mount setuid setresgid capset unshare setns "
    "chroot init_module io_uring userfaultfd add_key prctl_dumpable fcntl_owner seccomp_listener").split()
if os.uname().machine == "x86_64":
    CALLS += ["x32", "int80"]

# Calls that do not kill, and the errno they get; None: the filter lets them through, the kernel decides.
NOTHING_THERE = {c: ENOENT for c in ("openat_write", "openat_create", "openat_read", "readlinkat")}
ANSWERS = {
    ("collector", "main"): {"openat_read": None, "perf_event_open": None},
    ("symbolizer", "main"): NOTHING_THERE,
    # fork is the zygote's work
    ("symbolizer", "zygote"): NOTHING_THERE,
    ("uploader", "main"): {"openat_write": EACCES, "openat_create": EACCES, "openat_read": EACCES, "readlinkat": ENOENT},
}

CAP = {"DAC_READ_SEARCH": 2, "SYS_PTRACE": 19, "PERFMON": 38, "CHECKPOINT_RESTORE": 40}
COLLECTOR_STEADY = sum(1 << CAP[c] for c in CAP)


def landlock():
    """True where this kernel has Landlock: without it the uploader's openat() goes by file permissions alone."""
    libc = __import__("ctypes").CDLL(None, use_errno=True)
    return libc.syscall(444, None, 0, 1) > 0


class Roles(unittest.TestCase):
    build = BUILD

    def setUp(self):
        self.run = tempfile.mkdtemp(prefix="belfry-contain.", dir="/run")
        os.chown(self.run, SYMBOLIZER, GROUP)
        os.chmod(self.run, 0o750)
        self.addCleanup(shutil.rmtree, self.run, ignore_errors=True)
        self.directory = tempfile.mkdtemp(prefix="belfry-contain.", dir="/run")
        os.chown(self.directory, UPLOADER, GROUP)
        os.chmod(self.directory, 0o750)
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def command(self, role, *more):
        own = {"collector": ["--symbolizer-uid", SYMBOLIZER], "symbolizer": ["--collector-uid", COLLECTOR, "--uploader-uid", UPLOADER],
               "uploader": ["--symbolizer-uid", SYMBOLIZER, "--directory", self.directory]}[role]
        words = [os.path.join(self.build, "belfry-" + role), "--run-dir", self.run, "--user", UIDS[role], "--group", GROUP]
        return [str(w) for w in words + own + list(more)]

    def start(self, role, *more, **kwargs):
        p = subprocess.Popen(self.command(role, *more), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, **kwargs)
        self.addCleanup(lambda: (p.kill(), p.wait()))
        wait_for(role + " is confined", 20, lambda: p.poll() is None and status(p.pid).get("Seccomp") == "2")
        return p

    def audit(self, *args):
        out = subprocess.run([BELFRY, "audit"] + [str(a) for a in args], capture_output=True, text=True)
        return out.returncode, out.stdout, out.stderr


@unittest.skipUnless(VARIANT == "release", "a sanitizer makes calls of its own")
class ForbiddenCalls(Roles):
    build = SELFTEST

    def attempt(self, role, process, call):
        """(signal that killed the process, errno that it was answered)."""
        env = dict(os.environ, BELFRY_SELFTEST_SYSCALL=call, BELFRY_SELFTEST_PROCESS=process)
        p = subprocess.Popen(self.command(role), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
        self.addCleanup(p.stderr.close)
        try:
            if process == "main":
                p.wait(20)
                said = p.stderr.read().decode()
                answer = re.search(r"^selftest %s errno=(-?\d+)$" % call, said, re.M)
                return -p.returncode, int(answer.group(1)) if answer else None
            # Another process of the role: it says its line to the same stream, or nothing because it died.
            wait_for("%s is confined" % role, 20, lambda: p.poll() is not None or status(p.pid).get("Seccomp") == "2")
            zygote = next(iter(descendants(p.pid)), 0)
            wait_for("the zygote has made its call", 20, lambda: not zygote or status(zygote).get("State", "Z").startswith("Z"))
            with open("/proc/%d/stat" % zygote) as f:
                code = int(f.read().rsplit(")", 1)[1].split()[-1])
            p.kill()
            answer = re.search(r"errno=(-?\d+)$", p.stderr.read().decode(), re.M)
            return code & 127, int(answer.group(1)) if answer else None
        finally:
            p.kill()
            p.wait()

    def check(self, role, process, call):
        killed_by, answer = self.attempt(role, process, call)
        expected = ANSWERS[role, process]
        if call not in expected:
            # Without 32-bit calls in the kernel the instruction itself faults.
            deadly = (signal.SIGSYS, signal.SIGSEGV) if call == "int80" else (signal.SIGSYS,)
            self.assertIn(killed_by, deadly, "not killed, errno %s" % answer)
            return
        self.assertEqual(killed_by, 0)
        self.assertIsNotNone(answer)
        wanted = expected[call]
        if wanted == EACCES and not landlock():
            wanted = None
        if wanted is not None:
            self.assertEqual(answer, wanted)

    def each_call(self, role, process="main"):
        for call in CALLS:
            with self.subTest(role=role, process=process, call=call):
                self.check(role, process, call)

    def test_collector(self):
        self.each_call("collector")

    def test_symbolizer(self):
        self.each_call("symbolizer")

    def test_zygote(self):
        self.each_call("symbolizer", "zygote")

    def test_uploader(self):
        self.each_call("uploader")

    def test_the_list_is_the_one_of_the_source(self):
        with open(os.path.join(ROOT, "policy/selftest.c")) as f:
            names = re.findall(r'^\t\{ "(\w+)", try_\w+ \},$', f.read(), re.M)
        self.assertEqual(set(names) - {"x32", "int80"}, set(CALLS) - {"x32", "int80"})

    def test_no_release_role_can_be_asked_for_it(self):
        for role in ROLES:
            out = subprocess.run(["strings", os.path.join(BUILD, "belfry-" + role)], capture_output=True, text=True).stdout
            self.assertNotIn("BELFRY_SELFTEST", out)


class ReadBack(Roles):
    def assert_thread(self, s, uid, capabilities):
        self.assertEqual(s["Uid"].split(), [str(uid)] * 4)
        self.assertEqual(s["Gid"].split(), [str(GROUP)] * 4)
        self.assertEqual(s["Groups"].split(), [])
        self.assertEqual(int(s["CapEff"], 16), capabilities)
        self.assertEqual(int(s["CapPrm"], 16), capabilities)
        for empty in ("CapInh", "CapBnd", "CapAmb"):
            self.assertEqual(int(s[empty], 16), 0, empty)
        self.assertEqual(s["NoNewPrivs"], "1")
        self.assertEqual(s["Seccomp"], "2")

    def all_roles(self):
        return {role: self.start(role) for role in ("symbolizer", "collector", "uploader")}

    def test_every_thread_of_every_process(self):
        for role, p in self.all_roles().items():
            processes = [p.pid] + descendants(p.pid)
            self.assertEqual(len(processes), 2 if role == "symbolizer" else 1)
            for pid in processes:
                self.assertEqual(program(pid), "belfry-" + role)
                self.assertEqual(os.stat("/proc/%d/fd" % pid).st_uid, 0, "dumpable")
                threads = tasks(pid)
                self.assertEqual(len(threads), 1)
                for tid in threads:
                    with self.subTest(role=role, pid=pid, tid=tid):
                        self.assert_thread(status(pid, tid), UIDS[role], COLLECTOR_STEADY if role == "collector" else 0)

    def test_audit_agrees(self):
        self.all_roles()
        code, out, err = self.audit("--run-dir", self.run)
        self.assertEqual((code, err), (0, ""), out)
        self.assertIn("4 processes, 0 mismatches", out)
        for role in ROLES:
            self.assertIn("equal to policy/%s.policy" % role, out)

    def test_a_feature_turned_off_gives_its_right_up(self):
        p = self.start("collector", "--no-hotplug")
        self.assertEqual(int(status(p.pid)["CapPrm"], 16), COLLECTOR_STEADY & ~(1 << CAP["PERFMON"]))
        code, out, _ = self.audit("--pid", p.pid)
        self.assertEqual(code, 0, out)
        self.assertRegex(out, r"given up +PERFMON")

    def test_started_with_ambient_capabilities_as_by_a_unit(self):
        """systemd's way: own user, ambient capabilities, bounding set cut; no root at any time."""
        caps = "bpf,perfmon,syslog,sys_ptrace,dac_read_search,checkpoint_restore"
        plus = "+" + caps.replace(",", ",+")
        command = ["setpriv", "--reuid", str(COLLECTOR), "--regid", str(GROUP), "--clear-groups", "--bounding-set", "-all," + plus,
                   "--inh-caps", "-all," + plus, "--ambient-caps", "-all," + plus]
        p = subprocess.Popen(command + self.command("collector"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (p.kill(), p.wait()))
        wait_for("collector is confined", 20, lambda: p.poll() is None and status(p.pid).get("Seccomp") == "2")
        self.assertEqual(int(status(p.pid)["CapPrm"], 16), COLLECTOR_STEADY)
        self.assertEqual(int(status(p.pid)["CapAmb"], 16), 0)
        code, out, _ = self.audit("--pid", p.pid)
        self.assertEqual(code, 0, out)


class Audit(Roles):
    """What it must notice. Each of these roles runs with something that its policy does not grant."""

    def assert_mismatch(self, pid, text):
        code, out, _ = self.audit("--pid", pid)
        self.assertEqual(code, 1, out)
        self.assertRegex(out, "MISMATCH .*" + text)
        self.assertNotIn("equal to", out)

    def test_a_network_socket_that_was_inherited(self):
        with socket.socket(socket.AF_INET) as s:
            s.bind(("127.0.0.1", 0))
            s.listen()
            p = self.start("uploader", pass_fds=(s.fileno(),))
        self.assert_mismatch(p.pid, "is socket:tcp-listen, policy has no such")

    def test_a_file_open_for_writing(self):
        with tempfile.NamedTemporaryFile() as f:
            p = self.start("collector", pass_fds=(f.fileno(),))
        self.assert_mismatch(p.pid, "is file-write:/.*, policy has no such")

    def test_a_bounding_set_that_nobody_has_cut(self):
        command = ["setpriv", "--reuid", str(UPLOADER), "--regid", str(GROUP), "--clear-groups"]
        p = subprocess.Popen(command + self.command("uploader"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (p.kill(), p.wait()))
        wait_for("uploader is confined", 20, lambda: p.poll() is None and status(p.pid).get("Seccomp") == "2")
        self.assert_mismatch(p.pid, "bounding capabilities .*policy has none")

    def test_a_role_that_is_not_confined_at_all(self):
        fake = os.path.join(self.run, "belfry-uploader")
        shutil.copy("/bin/sleep", fake)
        os.chmod(self.run, 0o755)
        for user, texts in ((0, ("runs as root", "effective capabilities: has .*SYS_ADMIN")),
                            (UPLOADER, ("no_new_privs is not set", "seccomp mode 0", "no report", "may be dumped", "limit NOFILE"))):
            p = subprocess.Popen([fake, "60"], user=user, group=GROUP, extra_groups=[])
            self.addCleanup(lambda p=p: (p.kill(), p.wait()))
            wait_for("it runs", 5, lambda: program(p.pid) == "belfry-uploader")
            for text in texts:
                self.assert_mismatch(p.pid, text)

    def test_where_it_cannot_look_it_says_so(self):
        self.assertEqual(self.audit("--run-dir", self.run)[0], 2)
        self.assertEqual(self.audit("--pid", os.getpid())[0], 2)
        self.assertEqual(self.audit("--pid", "x")[0], 2)
        self.assertEqual(self.audit("--nonsense")[0], 2)
        self.start("uploader")
        out = subprocess.run([BELFRY, "audit"], capture_output=True, text=True, user=65534, group=65534, extra_groups=[])
        self.assertEqual(out.returncode, 2)
        self.assertIn("needs root", out.stderr)


if __name__ == "__main__":
    unittest.main()
