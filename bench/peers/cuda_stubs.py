"""Lets the PyTorch wheel of the package index load on a machine without CUDA's libraries.

    python bench/peers/cuda_stubs.py FOLDER_OF_TORCH_LIB

The wheel for Linux names some fourteen CUDA libraries (about 3 GB) that arithmetic on the CPU never
needs. For each one that is missing, a shared library is made of functions that do nothing; those
that count devices say that there is none. Needs readelf and gcc. Libraries that are there stay.
"""

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

CUDA_LIBRARY = re.compile(r"lib(?:cu|nccl|nvrtc|nvshmem)\w*\.so\.\d+$")
CUDA_FUNCTION = re.compile(r"(?:cu|nccl|nvrtc|nvshmem)\w*$")
# 100 is "no device" in both CUDA interfaces. A text is asked for only to report a failure.
BODIES = {"cudaGetDeviceCount": "return 100;", "cuInit": "return 100;"}
TEXT_FUNCTION = re.compile(r"\w+Get\w*(?:String|Name)$")


def readelf(*arguments) -> str:
    return subprocess.run(["readelf", "-W", *map(str, arguments)], check=True, capture_output=True,
                          text=True).stdout


def needed_libraries(text: str) -> set:
    """Names in the NEEDED entries of `readelf -d`."""
    return set(re.findall(r"\(NEEDED\).*\[(.+?)\]", text))


def undefined_functions(text: str) -> dict:
    """Version -> names of the undefined symbols of `readelf --dyn-syms`; "" when unversioned."""
    found = defaultdict(set)
    for line in text.splitlines():
        fields = line.split()
        if len(fields) > 7 and fields[6] == "UND":
            name, _, version = fields[7].partition("@")
            found[version.lstrip("@")].add(name)
    return found


def versions_asked(text: str) -> dict:
    """Library -> version names asked of it, from `readelf --version-info`."""
    found, library = defaultdict(set), ""
    for line in text.splitlines():
        library = (re.findall(r"File: (\S+)", line) or [library])[0]
        found[library] |= set(re.findall(r"Name: (\S+)", line)) if library else set()
    return found


def stub_function(name: str) -> str:
    if TEXT_FUNCTION.match(name):
        return f'const char* {name}(void) {{ return "no CUDA here"; }}\n'
    return f"int {name}(void) {{ {BODIES.get(name, 'return 0;')} }}\n"


def make_stub(folder: Path, library: str, by_version: dict) -> None:
    """`by_version`: version name -> functions; the empty name holds those without a version."""
    with tempfile.TemporaryDirectory() as scratch:
        source, versions = Path(scratch) / "stub.c", Path(scratch) / "stub.map"
        names = sorted(set().union(*by_version.values()))
        source.write_text("".join(stub_function(name) for name in names))
        # The loader complains about a version it was promised and does not find.
        versions.write_text("".join(
            f"{version or library + '_any'} {{ {'global: ' if of else ''}"
            + "".join(f"{name}; " for name in sorted(of)) + "};\n"
            for version, of in by_version.items()))
        command = ["gcc", "-shared", "-fPIC", "-w", f"-Wl,-soname,{library}",
                   f"-Wl,--version-script={versions}", "-o", folder / library, source]
        subprocess.run(command, check=True)


def main() -> None:
    folder = Path(sys.argv[1])
    needed, functions, versions = set(), defaultdict(set), defaultdict(set)
    for path in folder.glob("*.so"):
        needed |= needed_libraries(readelf("-d", path))
        for version, names in undefined_functions(readelf("--dyn-syms", path)).items():
            functions[version] |= names
        for library, names in versions_asked(readelf("--version-info", path)).items():
            versions[library] |= names
    missing = sorted(library for library in needed if CUDA_LIBRARY.match(library)
                     and not (folder / library).exists()
                     and not any((folder.parent.parent / "nvidia").rglob(library)))
    unversioned = {name for name in functions[""] if CUDA_FUNCTION.match(name)}
    for number, library in enumerate(missing):
        by_version = {version: functions[version] for version in versions[library]}
        # The loader searches all of them, so functions without a version may live in any one.
        make_stub(folder, library, by_version | {"": set() if number else unversioned})
    print(f"{len(missing)} stand-ins for CUDA libraries made in {folder.name}")


if __name__ == "__main__":
    main()
