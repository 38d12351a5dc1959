#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs an installation as a wheel of Python, and prints its path.

usage: scripts/wheel.py INSTALLATION VERSION PLATFORM SECONDS DIR

`pip` installs bin/ as programs, and lib/ and share/ below the same prefix, where the programs find them. A wheel has no links:
the highest version of a driver has its name without a version, too. The package of Python, python/ddsmark in the source tree, finds
the program that was installed with it. SECONDS since 1970 is the time of all files.
"""

import base64
import hashlib
import pathlib
import sys
import time
import zipfile

root, version, platform, seconds, directory = sys.argv[1:]
root = pathlib.Path(root)
name = f"ddsmark-{version}"
tag = f"py3-none-{platform}"
contents = {}
for path in sorted(root.rglob("*")):
    if path.is_file() and not path.is_symlink():
        place = path.relative_to(root)
        folder = pathlib.Path("scripts", *place.parts[1:]) if place.parts[0] == "bin" else pathlib.Path("data", place)
        contents[f"{name}.data/{folder}"] = (path.read_bytes(), path.stat().st_mode)
for path in sorted(pathlib.Path("python/ddsmark").iterdir()):
    if path.suffix in (".py", ".typed"):
        contents[f"ddsmark/{path.name}"] = (path.read_bytes(), 0o100644)
about = f"{name}.dist-info"
texts = {
    "METADATA": f"""Metadata-Version: 2.1
Name: ddsmark
Version: {version}
Summary: Benchmark of DDS middleware
License: Apache-2.0; share/doc/ddsmark has the licences of the middleware
Platform: Linux
Requires-Python: >=3.9
Provides-Extra: pandas
Requires-Dist: pandas; extra == "pandas"
Description-Content-Type: text/markdown

{pathlib.Path("README.md").read_text()}""",
    "WHEEL": f"Wheel-Version: 1.0\nGenerator: ddsmark {version}\nRoot-Is-Purelib: false\nTag: {tag}\n",
}
for file, text in texts.items():
    contents[f"{about}/{file}"] = (text.encode(), 0o100644)
lines = []
for file, (content, _) in contents.items():
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    lines.append(f"{file},sha256={digest},{len(content)}\n")
record = f"{about}/RECORD"
contents[record] = ("".join([*lines, f"{record},,\n"]).encode(), 0o100644)

wheel = pathlib.Path(directory, f"{name}-{tag}.whl")
with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for file, (content, mode) in contents.items():
        entry = zipfile.ZipInfo(file, time.gmtime(int(seconds))[:6])
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = mode << 16
        archive.writestr(entry, content)
print(wheel)
