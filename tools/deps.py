#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""deps: who includes whom, by folder; fails on an upward or sideways arrow, and on a circle of headers.

The layers, lowest first:
  bpf/shared.h            layouts that both sides of the kernel boundary include; the only such header
  ipc                     bounded decoders and channels; knows no role
  policy                  what each role may do; knows no role; may use ipc
  collector symbolizer uploader cli
                          each may use ipc, policy, bpf/shared.h and itself, never one another
"""
import os
import re
import sys

FOLDERS = ("bpf", "ipc", "policy", "collector", "symbolizer", "uploader", "cli")
MAY = {
    "bpf": set(),
    "ipc": {"bpf/shared.h"},
    "policy": {"ipc"},
    "collector": {"ipc", "policy", "bpf/shared.h"},
    "symbolizer": {"ipc", "policy", "bpf/shared.h"},
    "uploader": {"ipc", "policy", "bpf/shared.h"},
    "cli": {"ipc", "policy", "bpf/shared.h"},
}
# Made by the build, and who may use it: the BPF skeleton is the collector's alone.
GENERATED = {"sampler.skel.h": "collector"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def sources(root):
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    yield os.path.relpath(os.path.join(path, name), root)


def resolve(root, source, name):
    """The included file, from the project's root; None where there is no such file."""
    for base in (os.path.dirname(source), ""):
        path = os.path.normpath(os.path.join(base, name))
        if os.path.exists(os.path.join(root, path)):
            return path
    return None


def circle(graph):
    """A circle of files that include one another, or None."""
    state = {}

    def visit(node, way):
        state[node] = 1
        for to in sorted(graph.get(node, ())):
            if state.get(to) == 1:
                return way[way.index(to):] + [to]
            if to not in state:
                found = visit(to, way + [to])
                if found:
                    return found
        state[node] = 2
        return None

    for node in sorted(graph):
        if node not in state:
            found = visit(node, [node])
            if found:
                return found
    return None


def main(root):
    arrows, graph, wrong = {}, {}, []
    for source in sources(root):
        folder = source.split("/")[0]
        with open(os.path.join(root, source), encoding="utf-8") as f:
            names = INCLUDE.findall(f.read())
        for name in names:
            if name in GENERATED:
                if GENERATED[name] != folder:
                    wrong.append("%s includes %s, which is the %s's" % (source, name, GENERATED[name]))
                continue
            path = resolve(root, source, name)
            if path is None:
                wrong.append("%s includes %s, which is not there" % (source, name))
                continue
            graph.setdefault(source, set()).add(path)
            to = path.split("/")[0]
            if to == folder:
                continue
            target = path if path == "bpf/shared.h" else to
            arrows[(folder, target)] = arrows.get((folder, target), 0) + 1
            if target not in MAY[folder]:
                wrong.append("%s includes %s: %s may not know %s" % (source, path, folder, to))
    for folder in FOLDERS:
        print("%-10s -> %s" % (folder, ", ".join(
            "%s (%d)" % (to, n) for (frm, to), n in sorted(arrows.items()) if frm == folder) or "nothing"))
    ring = circle(graph)
    if ring:
        wrong.append("a circle: " + " -> ".join(ring))
    for line in wrong:
        print("deps: " + line)
    print("deps: %d arrows that may not be" % len(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "."))
