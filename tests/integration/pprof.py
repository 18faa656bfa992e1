# SPDX-License-Identifier: Apache-2.0
"""pprof: an own decoder of profile.proto and a strict validator.

Written from the message definition alone and independent of the encoder under test. The decoder refuses whatever
protobuf refuses (truncated fields, wrong wire types, bad UTF-8); the validator adds the rules of the strictest
readers known: Parca's WriteRaw, and the cases that make such a server fall over later.
"""
import re
import zlib


class Malformed(Exception):
    """The bytes are not a profile."""


VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def varint(data, at):
    """Returns (value, next offset)."""
    value = 0
    for i in range(10):
        if at + i >= len(data):
            raise Malformed("varint cut at byte %d" % at)
        b = data[at + i]
        value |= (b & 0x7F) << (7 * i)
        if b < 0x80:
            if value >= 1 << 64:
                raise Malformed("varint above 64 bits at byte %d" % at)
            return value, at + i + 1
    raise Malformed("varint longer than 10 bytes at byte %d" % at)


def fields(data):
    """Yields (field number, wire type, value); value is int or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if number == 0:
            raise Malformed("field number 0")
        if wire == VARINT:
            value, at = varint(data, at)
        elif wire == BYTES:
            size, at = varint(data, at)
            if size > len(data) - at:
                raise Malformed("field %d wants %d bytes, %d are left" % (number, size, len(data) - at))
            value, at = data[at:at + size], at + size
        elif wire in (FIXED64, FIXED32):
            size = 8 if wire == FIXED64 else 4
            if size > len(data) - at:
                raise Malformed("field %d is cut" % number)
            value, at = int.from_bytes(data[at:at + size], "little"), at + size
        else:
            raise Malformed("field %d has wire type %d" % (number, wire))
        yield number, wire, value


def signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


def packed(wire, value):
    """Values of a repeated integer field, packed or not."""
    if wire == VARINT:
        return [value]
    out, at = [], 0
    while at < len(value):
        v, at = varint(value, at)
        out.append(v)
    return out


class Message:
    """Numeric and message fields of one protobuf message, by the names in `scalars` and `lists`."""
    scalars = {}
    lists = {}
    messages = {}

    def __init__(self, data):
        for name in self.scalars.values():
            setattr(self, name, 0)
        for name, _ in self.messages.values():
            setattr(self, name, [])
        for name in self.lists.values():
            setattr(self, name, [])
        self.unknown = []
        for number, wire, value in fields(data):
            if number in self.scalars:
                if wire != VARINT:
                    raise Malformed("%s.%s has wire type %d" % (type(self).__name__, self.scalars[number], wire))
                setattr(self, self.scalars[number], value)
            elif number in self.lists:
                if wire not in (VARINT, BYTES):
                    raise Malformed("%s.%s has wire type %d" % (type(self).__name__, self.lists[number], wire))
                getattr(self, self.lists[number]).extend(packed(wire, value))
            elif number in self.messages:
                name, kind = self.messages[number]
                if wire != BYTES:
                    raise Malformed("%s.%s has wire type %d" % (type(self).__name__, name, wire))
                getattr(self, name).append(kind(value))
            else:
                self.unknown.append(number)


class ValueType(Message):
    scalars = {1: "type", 2: "unit"}


class Label(Message):
    scalars = {1: "key", 2: "str", 3: "num", 4: "num_unit"}


class Sample(Message):
    lists = {1: "location_id", 2: "value"}
    messages = {3: ("label", Label)}


class Mapping(Message):
    scalars = {1: "id", 2: "memory_start", 3: "memory_limit", 4: "file_offset", 5: "filename", 6: "build_id",
               7: "has_functions", 8: "has_filenames", 9: "has_line_numbers", 10: "has_inline_frames"}


class Line(Message):
    scalars = {1: "function_id", 2: "line", 3: "column"}


class Location(Message):
    scalars = {1: "id", 2: "mapping_id", 3: "address", 5: "is_folded"}
    messages = {4: ("line", Line)}


class Function(Message):
    scalars = {1: "id", 2: "name", 3: "system_name", 4: "filename", 5: "start_line"}


class Profile(Message):
    scalars = {7: "drop_frames", 8: "keep_frames", 9: "time_nanos", 10: "duration_nanos", 12: "period",
               14: "default_sample_type", 15: "doc_url"}
    lists = {13: "comment"}
    messages = {1: ("sample_type", ValueType), 2: ("sample", Sample), 3: ("mapping", Mapping),
                4: ("location", Location), 5: ("function", Function), 11: ("period_types", ValueType),
                6: ("string_table", bytes)}

    @classmethod
    def read(cls, path):
        with open(path, "rb") as f:
            return cls.parse(f.read())

    @classmethod
    def parse(cls, data):
        """Of the file's bytes: exactly one gzip member, or plain."""
        if data[:2] == b"\x1f\x8b":
            z = zlib.decompressobj(31)
            try:
                plain = z.decompress(data)
            except zlib.error as e:
                raise Malformed("gzip: %s" % e)
            if not z.eof:
                raise Malformed("gzip member is cut")
            if z.unused_data:
                raise Malformed("%d bytes after the gzip member" % len(z.unused_data))
            data = plain
        return cls(data)

    # -- reading it as a person would --------------------------------------------------------

    def string(self, index):
        return self.string_table[index].decode("utf-8")

    def comments(self):
        return [self.string(i) for i in self.comment]

    def types(self):
        return [(self.string(t.type), self.string(t.unit)) for t in self.sample_type]

    def frames(self, location_id):
        """Names of one location, innermost first; a location without a function gives its address."""
        location = self.location[location_id - 1]
        if not location.line:
            return ["0x%x" % location.address]
        return [self.string(self.function[line.function_id - 1].name) for line in location.line]

    def stack(self, sample):
        """Names, leaf first."""
        return [name for i in sample.location_id for name in self.frames(i)]

    def mappings(self, sample):
        """File names of the mappings that a stack goes through, leaf first."""
        ids = [self.location[i - 1].mapping_id for i in sample.location_id]
        return [self.string(self.mapping[m - 1].filename) if m else "" for m in ids]

    def labels(self, sample):
        out = {}
        for label in sample.label:
            out[self.string(label.key)] = self.string(label.str) if label.str else signed(label.num)
        return out

    def value_index(self, name):
        return [t for t, _ in self.types()].index(name)

    def total(self, name="samples"):
        index = self.value_index(name)
        return sum(s.value[index] for s in self.sample)

    def where(self, **wanted):
        """Samples whose labels have these values."""
        return [s for s in self.sample if all(self.labels(s).get(k) == v for k, v in wanted.items())]


QUERYABLE = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_]*$")


def problems(p):
    """Every rule that the profile breaks, as sentences. Empty: the strictest reader takes it."""
    out = []

    def check(condition, text, *args):
        if not condition:
            out.append(text % args if args else text)

    strings = len(p.string_table)

    def string_ok(index, what, *args):
        check(index < strings, what + ": string index out of range", *args)

    for kind in (p, *p.sample_type, *p.sample, *p.mapping, *p.location, *p.function):
        check(not kind.unknown, "%s has unknown fields %s", type(kind).__name__, kind.unknown)

    check(strings > 0, "no string table")
    check(strings == 0 or p.string_table[0] == b"", "string 0 is not empty")
    for i, s in enumerate(p.string_table):
        try:
            s.decode("utf-8")
        except UnicodeDecodeError:
            check(False, "string %d is not UTF-8: %r", i, s)
        check(b"\0" not in s, "string %d holds a NUL", i)
    check(len(set(p.string_table)) == strings, "a string is twice in the table")

    check(p.sample_type, "no sample type")
    check(len(p.period_types) == 1, "%d period types", len(p.period_types))
    for t in list(p.sample_type) + list(p.period_types):
        string_ok(t.type, "value type")
        string_ok(t.unit, "value type")
        if t.type < strings and t.unit < strings:
            for s in (p.string_table[t.type], p.string_table[t.unit]):
                check(QUERYABLE.match(s.decode("utf-8", "replace")), "value type %r cannot be queried", s)
    check(len({(t.type, t.unit) for t in p.sample_type}) == len(p.sample_type), "a sample type is there twice")
    check(signed(p.period) > 0, "period %d", signed(p.period))
    check(signed(p.time_nanos) > 0, "no time")
    check(signed(p.duration_nanos) > 0, "no duration")
    string_ok(p.default_sample_type, "default sample type")
    check(p.default_sample_type in [t.type for t in p.sample_type], "default sample type is no sample type")
    for c in p.comment:
        string_ok(c, "comment")

    for i, m in enumerate(p.mapping):
        check(m.id == i + 1, "mapping %d has id %d", i, m.id)
        string_ok(m.filename, "mapping %d filename", i)
        string_ok(m.build_id, "mapping %d build id", i)
        if m.memory_start or m.memory_limit or m.file_offset:
            check(m.memory_start < m.memory_limit, "mapping %d: [%x, %x)", i, m.memory_start, m.memory_limit)
        if m.build_id < strings and m.filename < strings and not p.string_table[m.filename].startswith(b"["):
            check(re.match(rb"^([0-9a-f]{2,})?$", p.string_table[m.build_id]),
                  "mapping %d: build id %r is not lower-case hex", i, p.string_table[m.build_id])
        for flag in (m.has_functions, m.has_filenames, m.has_line_numbers, m.has_inline_frames):
            check(flag in (0, 1), "mapping %d: a flag is %d", i, flag)
    for i, f in enumerate(p.function):
        check(f.id == i + 1, "function %d has id %d", i, f.id)
        check(f.name, "function %d has no name", i)
        for s in (f.name, f.system_name, f.filename):
            string_ok(s, "function %d", i)
    check(len({(f.name, f.system_name, f.filename, f.start_line) for f in p.function}) == len(p.function),
          "a function is twice in the table")

    named, lines, inlines = {}, {}, {}
    for i, l in enumerate(p.location):
        check(l.id == i + 1, "location %d has id %d", i, l.id)
        check(l.mapping_id <= len(p.mapping), "location %d: mapping %d is not there", i, l.mapping_id)
        for line in l.line:
            check(1 <= line.function_id <= len(p.function), "location %d: function %d is not there", i,
                  line.function_id)
            check(not line.unknown, "line with unknown fields %s", line.unknown)
        if 1 <= l.mapping_id <= len(p.mapping):
            m = p.mapping[l.mapping_id - 1]
            if m.memory_limit:
                check(m.memory_start <= l.address < m.memory_limit, "location %d: %x is outside its mapping [%x, %x)",
                      i, l.address, m.memory_start, m.memory_limit)
            named.setdefault(l.mapping_id, []).append(bool(l.line))
            lines.setdefault(l.mapping_id, []).append(bool(l.line) and all(x.line for x in l.line))
            inlines.setdefault(l.mapping_id, []).append(len(l.line) > 1)
        check(l.mapping_id or l.line, "location %d has neither a mapping nor a name", i)
    for i, m in enumerate(p.mapping):
        if m.has_functions:
            check(all(named.get(m.id, [True])), "mapping %d: has_functions, but a location has no name", i)
        if m.has_line_numbers:
            check(all(lines.get(m.id, [True])), "mapping %d: has_line_numbers, but a location has no line", i)
        if not m.has_inline_frames:
            check(not any(inlines.get(m.id, [])), "mapping %d: inlined frames without has_inline_frames", i)

    for i, s in enumerate(p.sample):
        check(len(s.value) == len(p.sample_type), "sample %d has %d values", i, len(s.value))
        check(all(0 <= signed(v) for v in s.value), "sample %d has a negative value", i)
        check(any(s.value), "sample %d has only zeros", i)
        check(s.location_id, "sample %d has no frames", i)
        for l in s.location_id:
            check(1 <= l <= len(p.location), "sample %d: location %d is not there", i, l)
        keys = set()
        for label in s.label:
            check(label.key, "sample %d: a label has no key", i)
            for index in (label.key, label.str, label.num_unit):
                string_ok(index, "sample %d label", i)
            check(not (label.str and label.num), "sample %d: a label has a string and a number", i)
            check(label.str or label.num or label.num_unit, "sample %d: a label that readers drop", i)
            check(label.key not in keys, "sample %d: a label is there twice", i)
            keys.add(label.key)
            if label.key < strings:
                check(QUERYABLE.match(p.string_table[label.key].decode("utf-8", "replace")),
                      "sample %d: label name %r", i, p.string_table[label.key])
    used = {l for s in p.sample for l in s.location_id}
    check(len(used) == len(p.location) or not p.sample, "%d locations that no sample uses",
          len(p.location) - len(used))
    return out


if __name__ == "__main__":
    import sys
    bad = 0
    for path in sys.argv[1:]:
        try:
            profile = Profile.read(path)
            found = problems(profile)
        except (Malformed, OSError) as e:
            found = [str(e)]
        if found:
            bad += 1
        print("%s: %s" % (path, "; ".join(found[:20]) if found else
                          "valid, %d samples" % profile.total(profile.types()[0][0])))
    sys.exit(1 if bad else 0)
