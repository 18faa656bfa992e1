# SPDX-License-Identifier: Apache-2.0
"""The uploader against a symbolizer that has been taken over: nothing is written but whole messages, and only inside its folder."""
import gzip
import os
import shutil
import socket
import struct
import tempfile
import time
import unittest

import channels as ch
from belfry import wait_for
from roles import GROUP, SYMBOLIZER, UPLOADER, RoleCase, killed_after
from test_validator import profile

PROFILE = gzip.compress(profile())


class HostileSender(RoleCase):
    program = "belfry-uploader"
    role, uid = "uploader", UPLOADER

    def setUp(self):
        super().setUp()
        above = tempfile.mkdtemp(prefix="belfry-sink.")
        self.addCleanup(shutil.rmtree, above, ignore_errors=True)
        os.chmod(above, 0o1777)
        self.directory = os.path.join(above, "sink")
        os.mkdir(self.directory, 0o750)
        os.chown(self.directory, UPLOADER, GROUP)
        self.listener = ch.listen(self.path("profiles.sock"), SYMBOLIZER, GROUP)
        self.addCleanup(self.listener.close)
        self.start_role("--directory", self.directory, "--symbolizer-uid", SYMBOLIZER, "--max-bytes", 1 << 20)
        self.confined()
        self.window = 0

    def accept(self):
        s, _ = self.listener.accept()
        self.addCleanup(s.close)
        s.settimeout(5)
        return s

    def pusher(self):
        return self.accept()

    def files(self):
        return sorted(os.path.relpath(os.path.join(d, n), self.directory) for d, _, names in os.walk(self.directory)
                      for n in names if n.endswith(".pb.gz"))

    def journal(self):
        with open(os.path.join(self.directory, "journal"), "rb") as f:
            return f.read().decode("ascii")

    def window_and_profile(self, s, comm=b"good", pid=b"77", window=None, **values):
        if window is None:
            window = self.window
            self.window += 1
        a = dict(window=window, first=window * 5, end=window * 5 + 5, symbolizer=10, stream=8)
        a.update(values)
        ch.message_send(s, ch.profile_message(ch.WINDOW, sequence=2 * window, **a))
        ch.message_send(s, ch.profile_message(ch.PPROF, sequence=2 * window + 1, labels=((b"comm", comm), (b"pid", pid)), pprof=PROFILE, **a))

    def still_works(self, s):
        self.alive()
        before = self.files()
        self.window_and_profile(s)
        made = wait_for("a profile (%s)" % self.said(), 10, lambda: [f for f in self.files() if f not in before and "good-77" in f])
        self.assertEqual(len(made), 1)
        with open(os.path.join(self.directory, made[0]), "rb") as f:
            self.assertEqual(f.read(), PROFILE)
        st = os.stat(os.path.join(self.directory, made[0]))
        self.assertEqual(st.st_mode & 0o7777, 0o640)

    def test_pieces_that_lie(self):
        self.evil_pieces(self.accept)
        self.still_works(self.pusher())

    def test_symbolizer_that_says_nothing(self):
        s = self.accept()
        time.sleep(2)
        self.alive()
        self.still_works(s)

    def test_symbolizer_killed_in_the_middle_of_a_message(self):
        def half():
            s, _ = self.listener.accept()
            whole = ch.profile_message(ch.PPROF, window=0, labels=((b"comm", b"half"), (b"pid", b"1")), pprof=b"x" * (4 << 20))
            for at in range(0, 40 * ch.PIECE, ch.PIECE):
                s.send(struct.pack("<II", len(whole), at) + whole[at:at + ch.PIECE])

        for _ in range(5):
            self.assertTrue(killed_after(half))
        self.assertEqual(self.files(), [])
        self.still_works(self.accept())
        self.assertEqual(len(self.files()), 1)
        self.memory_is_bounded()

    def test_symbolizer_that_hangs_up_a_hundred_times(self):
        """It comes back each time, but not in a hurry, and keeps no descriptor."""
        before = time.monotonic()
        descriptors = len(os.listdir("/proc/%d/fd" % self.process.pid))
        for i in range(100):
            self.accept().close()
        self.assertGreater(time.monotonic() - before, 4)
        self.still_works(self.accept())
        self.assertLessEqual(len(os.listdir("/proc/%d/fd" % self.process.pid)), descriptors + 1)

    def test_wrong_messages_are_refused(self):
        s = self.pusher()
        good = dict(labels=((b"comm", b"x"), (b"pid", b"1")), pprof=PROFILE)
        whole = ch.profile_message(ch.PPROF, **good)
        attacks = {
            "empty": b"", "one byte": b"P", "cut": whole[:100], "a byte short": whole[:-1], "a byte more": whole + b"\0",
            "other magic": ch.profile_message(ch.WINDOW, magic=7), "other version": ch.profile_message(ch.WINDOW, version=7),
            "unknown type": ch.profile_message(9), "type 0": ch.profile_message(0),
            "reversed range": ch.profile_message(ch.WINDOW, first=9, end=3),
            "received more than the range holds": ch.profile_message(ch.WINDOW, received=99),
            "more in profiles than received": ch.profile_message(ch.WINDOW, in_profiles=99),
            "losses that wrap around": ch.profile_message(ch.WINDOW, stacks_full=2 ** 64 - 1, bad_batch=1),
            "samples that went nowhere": ch.profile_message(ch.WINDOW, in_profiles=1),
            "index beyond its window": ch.profile_message(ch.PPROF, index=5, **good),
            "more samples than its window": ch.profile_message(ch.PPROF, samples=50, **good),
            "a billion labels": ch.profile_message(ch.PPROF, label_count=10 ** 9, **good),
            "65 labels": ch.profile_message(ch.PPROF, labels=[(b"a%d" % i, b"x") for i in range(65)], pprof=PROFILE),
            "label without a name": ch.profile_message(ch.PPROF, labels=((b"", b"x"),), pprof=PROFILE),
            "label of 60,000 bytes": ch.profile_message(ch.PPROF, labels=((b"x", b"x" * 60000),), pprof=PROFILE),
            "profile longer than its message": ch.profile_message(ch.PPROF, pprof_len=2 ** 32 - 1, **good),
            "8 MiB and a byte": b"\0" * (ch.PROFILE_MAX + 1),
        }
        for name, data in attacks.items():
            with self.subTest(name):
                try:
                    ch.message_send(s, data)
                    time.sleep(0.1)
                    s.settimeout(0.05)
                    try:
                        if s.recv(1) == b"":
                            s = self.pusher()
                    except socket.timeout:
                        pass
                except OSError:
                    s = self.pusher()
                s.settimeout(5)
                self.alive()
                self.assertEqual(self.files(), [])
        self.still_works(s)
        self.memory_is_bounded()

    def test_names_that_want_out_of_the_folder(self):
        s = self.pusher()
        names = (b"../../../../etc/cron.d/x", b"/etc/passwd", b"..", b".", b"", b"a/b", b"x\0y", b"x\ny", b"\xff\xfe", b"-rf", b"A" * 4096,
                 b"journal", b"%s%n")
        for name in names:
            self.window_and_profile(s, comm=name, pid=name)
        wait_for("all of them (%s)" % self.said(), 10, lambda: len(self.files()) == len(names))
        self.still_works(s)
        files = self.files()
        self.assertEqual(len(files), len(names) + 1)
        for f in files:
            self.assertRegex(f, r"^\d{8}/\d{6}-[A-Za-z0-9_.-]*\.pb\.gz$")
        self.assertEqual(os.listdir(os.path.dirname(self.directory)), ["sink"])

    def test_same_profile_twice_is_delivered_once(self):
        s = self.pusher()
        self.window_and_profile(s, window=0)
        wait_for("the profile", 5, self.files)
        self.window_and_profile(s, window=0)
        self.window_and_profile(s, window=0)
        self.window = 1
        self.still_works(s)
        self.assertEqual(len(self.files()), 2)

    def test_account_that_contradicts_itself_is_shown(self):
        s = self.pusher()
        self.window_and_profile(s, window=0)
        wait_for("the profile", 5, self.files)
        ch.message_send(s, ch.profile_message(ch.WINDOW, sequence=5, window=0, symbolizer=10, stream=8, first=0, end=900, received=900,
                                         in_profiles=900))
        self.window = 1
        self.still_works(s)
        self.assertIn("inconsistent", self.journal())

    def test_drip(self):
        s = self.pusher()
        message = ch.profile_message(ch.WINDOW, window=0, symbolizer=10, stream=8)
        for byte in message[:3]:
            try:
                s.send(bytes((byte,)))
            except OSError:
                break
            time.sleep(0.1)
        self.assertTrue(self.closed_by_role(s))
        self.alive()
        self.still_works(self.pusher())

    def test_flood_stays_within_the_cap(self):
        s = self.pusher()
        big = gzip.compress(os.urandom(60000), 0)
        for i in range(60):
            a = dict(window=i, first=i * 5, end=i * 5 + 5, symbolizer=10, stream=8)
            ch.message_send(s, ch.profile_message(ch.PPROF, sequence=i, labels=((b"comm", b"flood"), (b"pid", b"9")), pprof=big, **a))
        self.window = 60
        self.still_works(s)
        size = sum(os.path.getsize(os.path.join(self.directory, f)) for f in self.files())
        self.assertLessEqual(size, 1 << 20)
        self.assertIn("removed", self.journal())

    def test_link_in_the_folder_is_not_followed(self):
        target = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, target, ignore_errors=True)
        os.chmod(target, 0o777)
        day = time.strftime("%Y%m%d", time.gmtime(1_700_000_000))
        os.symlink(target, os.path.join(self.directory, day))
        s = self.pusher()
        self.window_and_profile(s)
        time.sleep(1)
        self.alive()
        self.assertEqual(os.listdir(target), [])
        os.unlink(os.path.join(self.directory, day))
        self.still_works(s)

    def test_listener_of_another_user_is_not_talked_to(self):
        self.accept().close()
        self.listener.close()
        self.listener = ch.listen(self.path("profiles.sock"), 0, 0)
        os.chown(self.path("profiles.sock"), SYMBOLIZER, GROUP)
        s = self.accept()
        try:
            ch.message_send(s, ch.profile_message(ch.PPROF, labels=((b"comm", b"x"),), pprof=PROFILE))
        except OSError:
            pass
        self.assertTrue(self.closed_by_role(s))
        self.assertIn("id=channel_peer_refused", self.said())
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
