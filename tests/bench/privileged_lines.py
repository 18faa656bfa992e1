# SPDX-License-Identifier: Apache-2.0
"""privileged_lines.py BUILD GEN: lines of our own code, without blank and comment lines, that are linked into programs which hold a
capability at any time. What is linked is read off each program's debug information, so nothing can be forgotten."""
import os
import re
import subprocess
import sys

# Headers with code in them.
INLINE = ("ipc/cursor.h", "ipc/builder.h")


def lines(path):
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group(0).count("\n"), f.read(), flags=re.S)
    return sum(1 for line in text.splitlines() if re.sub(r"//.*", "", line).strip())


def linked(program):
    """Our .c files that are in a program."""
    out = subprocess.run(["readelf", "--debug-dump=info", "--dwarf-depth=1", program], capture_output=True, text=True).stdout
    names = re.findall(r"DW_AT_name\s*:.*?(?:\(.*?\):\s*)?(\S+\.c)\s*$", out, re.M)
    return sorted({os.path.normpath(n) for n in names if os.path.exists(n)})


def report(title, files):
    by_folder = {}
    for f in files:
        by_folder[f.split("/")[0]] = by_folder.get(f.split("/")[0], 0) + lines(f)
    total = sum(by_folder.values())
    print("  %-34s %5d  (%s)" % (title, total, ", ".join("%s %d" % (k, v) for k, v in sorted(by_folder.items()))))
    return total


def main(build, gen):
    collector = [f for f in linked(os.path.join(build, "belfry-collector")) if not f.startswith("build")] + list(INLINE)
    total = report("collector, steady and loading", collector)
    report("in the kernel (verified BPF)", [os.path.join("bpf", n) for n in sorted(os.listdir("bpf")) if n.endswith((".c", ".bpf.h"))])
    report("launcher, until it drops its rights", [f for f in linked(os.path.join(build, "belfry")) if not f.startswith("build")])
    if len(collector) < 5:
        print("privileged_lines: the collector has no debug information")
        return 1
    print("  %d of 4000 lines" % total)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
