"""Includes: rooms point one way, third-party headers stay behind the room that owns them."""

import json
import re

from tidylib.tree import Finding, allowed, is_test

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', re.MULTILINE)

STANDARD = set("""
algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono
cinttypes climits clocale cmath compare complex concepts condition_variable coroutine csetjmp
csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception
execution filesystem forward_list fstream functional future initializer_list iomanip ios iosfwd
iostream istream iterator latch limits list locale map memory memory_resource mutex new numbers
numeric optional ostream queue random ranges ratio regex scoped_allocator semaphore set
shared_mutex source_location span sstream stack stdexcept stop_token streambuf string string_view
strstream syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map
unordered_set utility valarray variant vector version
""".split())
# C's own headers: allowed in the C header and where a system call needs them.
C_STANDARD = set("assert.h stddef.h stdint.h stdbool.h stdlib.h string.h errno.h math.h".split())
SYSTEM = set("""
unistd.h fcntl.h dirent.h poll.h pthread.h sched.h signal.h spawn.h dlfcn.h endian.h link.h
netdb.h termios.h time.h pwd.h elf.h cpuid.h fenv.h langinfo.h
""".split())
SYSTEM_FOLDERS = ("sys/", "linux/", "netinet/", "arpa/", "asm/", "net/")
INTRINSICS = {"immintrin.h", "x86intrin.h", "arm_neon.h", "arm_sve.h", "cpuid.h"}
INTRINSICS_ROOMS = {"kernels"}


def room_of(name):
    """(room, folder inside the room) of a file; None for what may include anything."""
    parts = name.split("/")
    if parts[0] == "src" and len(parts) > 2:
        return parts[1], parts[2] if len(parts) > 3 else ""
    if parts[0] in ("apps", "bindings", "switchyard"):
        return parts[0], ""
    if parts[0] == "include":
        return "include", ""
    return None


class Includes:
    """Applies tools/include_table.json to every include line."""

    name = "Includes"

    def __init__(self, tree):
        self.tree = tree
        self.table = json.loads(tree.text("tools/include_table.json"))

    def run(self):
        yield from self._table_is_acyclic()
        yield from self._public_headers()
        for name in self.tree.cpp_files():
            place = room_of(name)
            if place is None:
                continue
            if place[0] != "include" and place[0] not in self.table["rooms"]:
                yield Finding(name, 1, f"room '{place[0]}' is not in tools/include_table.json; "
                                       "add it with the rooms it may include")
                continue
            text = self.tree.text(name)
            for match in INCLUDE.finditer(text):
                line = text.count("\n", 0, match.start(1)) + 1
                problem = self._problem(name, place, match.group(1), match.group(2))
                if problem and not allowed(self.tree, name, line, self.name):
                    yield Finding(name, line, problem)

    def _problem(self, name, place, quote, target):
        """What is wrong with `target` included by `name`, or None."""
        if ".." in target.split("/"):
            return f'"{target}" climbs out of its folder; write "room/file.h"'
        first = target.split("/")[0]
        if first == "layard" and "/" in target:
            return self._public_problem(place, target)
        if "/" in target and first in self.table["rooms"]:
            return self._room_problem(place, first, target)
        if place[0] == "include":
            if quote == "<" and (target in STANDARD or target in C_STANDARD):
                return None
            return f"<{target}> in a public header; the front door uses std types only"
        if quote == '"' and place[0] == "apps" and "/" not in target:
            folder = name.rsplit("/", 1)[0]
            if self.tree.exists(f"{folder}/{target}"):  # a program's own files lie side by side
                return None
        if quote == '"' and "/" not in target:
            return f'"{target}" has no room; write "room/{target}"'
        return self._outside_problem(name, place, first, target)

    def _public_problem(self, place, target):
        if place[0] == "include":
            return None
        header = target.split("/", 1)[1]
        public = self.table["rooms"][place[0]].get("public", [])
        if header in self.table["values"] or public == "*" or header in public:
            return None
        return (f"room '{place[0]}' may not include \"{target}\"; below runtime only the value "
                f"headers are allowed: {', '.join(self.table['values'])}")

    def _room_problem(self, place, room, target):
        if place[0] == "include":
            return f'a public header may not include "{target}", a room of src/'
        if room == place[0]:
            return None
        entry = self.table["rooms"][place[0]]
        may = entry["rooms"] + entry.get("folders", {}).get(place[1], [])
        if room in may:
            return None
        return (f"room '{place[0]}' may not include \"{target}\"; it may include "
                f"{', '.join(may) or 'no other room'} (tools/include_table.json)")

    def _outside_problem(self, name, place, first, target):
        """The standard library, the system, or a third party."""
        if target in INTRINSICS:
            if place[0] in INTRINSICS_ROOMS:
                return None
            return f"<{target}>: instruction sets are used in kernels only"
        if target in STANDARD or target in C_STANDARD or target in SYSTEM:
            return None
        if target.startswith(SYSTEM_FOLDERS):
            return None
        if first in self.table["test_folders"] and "/" in target:
            return None if is_test(name) else f'"{target}" is for tests only'
        key = first.removesuffix(".h")
        if key in self.table["test_libraries"]:
            return None if is_test(name) else f"<{target}> is for tests and benchmarks only"
        owner = self.table["third_party"].get(key)
        if owner is None:
            return (f"<{target}> is unknown: a new library needs a note in docs/decisions/ and a "
                    "row in tools/include_table.json")
        if place[0] not in owner["rooms"]:
            return f"<{target}> belongs to {' and '.join(owner['rooms'])}; use its interface"
        if not name.endswith(".cc") and not owner.get("headers"):
            return f"<{target}> in a header; a third-party header stays in .cc files"
        return None

    def _public_headers(self):
        headers = [name for name in self.tree.cpp_files("include/layard")]
        most = self.table["public_headers_max"]
        if len(headers) > most:
            yield Finding("include/layard", 1, f"{len(headers)} public headers; at most {most}")
        for key, entry in self.table["third_party"].items():
            if not self.tree.exists(entry["decision"]):
                yield Finding("tools/include_table.json", 1,
                              f"library '{key}' has no note {entry['decision']}")

    def _table_is_acyclic(self):
        """The table itself must point one way."""
        rooms = self.table["rooms"]
        done, open_rooms = set(), []

        def visit(room):
            if room in done:
                return None
            if room in open_rooms:
                return open_rooms[open_rooms.index(room):] + [room]
            open_rooms.append(room)
            entry = rooms.get(room, {"rooms": []})
            folders = entry.get("folders", {}).values()
            for below in entry["rooms"] + [r for extra in folders for r in extra]:
                cycle = visit(below)
                if cycle:
                    return cycle
            open_rooms.pop()
            done.add(room)
            return None

        for room in rooms:
            cycle = visit(room)
            if cycle:
                yield Finding("tools/include_table.json", 1, "cycle: " + " -> ".join(cycle))
                return
