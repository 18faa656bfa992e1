# SPDX-License-Identifier: Apache-2.0
"""The validator itself: a right profile passes, and each rule, broken once, is seen."""
import gzip
import unittest

from pprof import Malformed, Profile, problems


def varint(v):
    out = bytearray()
    v &= (1 << 64) - 1
    while v >= 0x80:
        out.append(v & 0x7F | 0x80)
        v >>= 7
    out.append(v)
    return bytes(out)


def number(field, v):
    return varint(field << 3) + varint(v)


def data(field, b):
    return varint(field << 3 | 2) + varint(len(b)) + b


def message(*numbers):
    return b"".join(number(i + 1, v) for i, v in enumerate(numbers) if v is not None)


STRINGS = [b"", b"samples", b"count", b"cpu", b"nanoseconds", b"/bin/x", b"ab12", b"main", b"thread_id"]


def profile(strings=STRINGS, types=((1, 2), (3, 4)), period_type=(3, 4), values=(2, 20), mapping=(1, 0x1000, 0x2000, 0, 5, 6, 1),
            location=(1, 1, 0x1100), line=(1, 0), function=(1, 7, 7), sample_location=1, label=(8, 0, 42),
            default=1, period=10, time=5, duration=7, extra=b""):
    p = b"".join(data(1, message(*t)) for t in types)
    sample = data(1, varint(sample_location)) + data(2, b"".join(varint(v) for v in values)) + data(3, message(*label))
    p += data(2, sample) + data(3, message(*mapping))
    p += data(4, message(*location) + (data(4, message(*line)) if line else b"")) + data(5, message(*function))
    p += b"".join(data(6, s) for s in strings)
    p += number(9, time) + number(10, duration)
    if period_type:
        p += data(11, message(*period_type))
    return p + number(12, period) + number(14, default) + extra


class Validator(unittest.TestCase):
    def broken(self, text, **change):
        found = problems(Profile.parse(profile(**change)))
        self.assertTrue(any(text in f for f in found), "%s not in %s" % (text, found))

    def test_right_profile_has_no_problem(self):
        p = Profile.parse(gzip.compress(profile()))
        self.assertEqual(problems(p), [])
        self.assertEqual(p.total("samples"), 2)
        self.assertEqual(p.stack(p.sample[0]), ["main"])
        self.assertEqual(p.labels(p.sample[0]), {"thread_id": 42})

    def test_each_broken_rule_is_seen(self):
        self.broken("string 0", strings=[b"x"] + STRINGS[1:])
        self.broken("not UTF-8", strings=STRINGS[:7] + [b"\xff", b"thread_id"])
        self.broken("twice in the table", strings=STRINGS + [b"main"])
        self.broken("2 values", types=((1, 2),))
        self.broken("no sample type", types=())
        self.broken("cannot be queried", strings=[b"", b"off-cpu"] + STRINGS[2:])
        self.broken("period types", period_type=None)
        self.broken("period 0", period=0)
        self.broken("no time", time=0)
        self.broken("no duration", duration=0)
        self.broken("mapping 0 has id 2", mapping=(2, 0x1000, 0x2000, 0, 5, 6))
        self.broken("mapping 0: [", mapping=(1, 0x2000, 0x1000, 0, 5, 6))
        self.broken("outside its mapping", location=(1, 1, 0x2000))
        self.broken("mapping 2 is not there", location=(1, 2, 0x1100))
        self.broken("location 0 has id 3", location=(3, 1, 0x1100))
        self.broken("function 0 is not there", line=(0, 0))
        self.broken("function 2 is not there", line=(2, 0))
        self.broken("function 0: string index", function=(1, 77, 7))
        self.broken("has_functions", line=None)
        self.broken("location 0 is not there", sample_location=0)
        self.broken("location 9 is not there", sample_location=9)
        self.broken("negative", values=(-1, 1))
        self.broken("only zeros", values=(0, 0))
        self.broken("no key", label=(0, 7))
        self.broken("readers drop", label=(8, 0, 0))
        self.broken("default sample type is no", default=7)
        self.broken("build id", strings=STRINGS[:6] + [b"AB12"] + STRINGS[7:])

    def test_what_is_not_a_profile_is_refused(self):
        whole = profile()
        packed = gzip.compress(whole)
        for bad in (whole[:-1], packed[:-9], packed + b"x", packed + packed, b"\x0a\xff\xff\xff\xff\x0f", b"\x03"):
            with self.assertRaises(Malformed):
                Profile.parse(bad)


if __name__ == "__main__":
    unittest.main()
