# SPDX-License-Identifier: Apache-2.0
"""Compares what `ddsmark import rosbag2` reads of six kinds of MCAP and two of SQLite with independent readers.

The files are written and read by the reference library of MCAP and by SQLite. For each topic, the time and the size of each message
must be those of the trace, in its order. `ddsmark` is that of PATH.
"""

import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile
import tomllib

import zstandard
from mcap.reader import make_reader
from mcap.writer import CompressionType, IndexType, Writer

BEGIN = 1_700_000_000_000_000_000
QOS = "- history: 1\n  depth: 5\n  reliability: 2\n  durability: 2\n"
METADATA = "version: 9\nrelative_file_paths: [bag]\nros_distro: jazzy\n"
# Name, period in ns, whether its messages were published before they were recorded, and its sizes.
TOPICS = [
    ("/camera", 33_000_000, False, lambda dice: dice.randrange(20, 60_000)),
    ("/imu", 2_500_000, False, lambda dice: 320),
    ("/scan", 100_000_000, True, lambda dice: dice.randrange(500, 8_000)),
]


def messages():
    """Returns topic, log time, publish time and data of each message, in the order of their log times."""
    dice = random.Random(7)
    found = []
    for topic, (_, period, before, size) in enumerate(TOPICS):
        for index in range(8_000_000_000 // period):
            log = BEGIN + index * period + dice.randrange(period // 10)
            publish = log - dice.randrange(1, 400_000) if before else log
            found.append((topic, log, publish, dice.randbytes(size(dice))))
    return sorted(found, key=lambda message: message[1])


def write_mcap(path, each, compress=lambda data: data, **options):
    """Writes an MCAP file with the metadata that rosbag2 writes in it."""
    with open(path, "wb") as stream:
        writer = Writer(stream, **options)
        writer.start(profile="ros2", library="test")
        schema = writer.register_schema("test/msg/Data", "ros2msg", b"")
        channels = [
            writer.register_channel(name, "cdr", schema, metadata={"offered_qos_profiles": QOS, "topic_type_hash": "RIHS01_5"})
            for name, *_ in TOPICS
        ]
        for topic, log, publish, data in each:
            writer.add_message(channels[topic], log, compress(data), publish)
        writer.add_metadata("rosbag2", {"serialized_metadata": METADATA})
        writer.finish()


def write_db3(path, each, has_metadata, compress=lambda data: data):
    """Writes a SQLite file with the tables of Humble, or those of later distributions."""
    with sqlite3.connect(path) as bag:
        hash_column = ",type_description_hash TEXT NOT NULL" if has_metadata else ""
        bag.execute(
            "CREATE TABLE topics(id INTEGER PRIMARY KEY,name TEXT NOT NULL,type TEXT NOT NULL,serialization_format TEXT NOT NULL,"
            f"offered_qos_profiles TEXT NOT NULL{hash_column})"
        )
        bag.execute(
            "CREATE TABLE messages(id INTEGER PRIMARY KEY,topic_id INTEGER NOT NULL,timestamp INTEGER NOT NULL,data BLOB NOT NULL)"
        )
        bag.execute("CREATE INDEX timestamp_idx ON messages (timestamp ASC)")
        if has_metadata:
            bag.execute("CREATE TABLE metadata(id INTEGER PRIMARY KEY,metadata_version INTEGER NOT NULL,metadata TEXT NOT NULL)")
            bag.execute("INSERT INTO metadata VALUES(1,9,?)", (METADATA,))
        for topic, (name, *_) in enumerate(TOPICS):
            row = [topic + 1, name, "test/msg/Data", "cdr", QOS] + (["RIHS01_5"] if has_metadata else [])
            bag.execute(f"INSERT INTO topics VALUES({','.join('?' * len(row))})", row)
        rows = ((topic + 1, log, compress(data)) for topic, log, _, data in each)
        bag.executemany("INSERT INTO messages(topic_id,timestamp,data) VALUES(?,?,?)", rows)
    bag.close()


def length(data):
    """Returns the number of bytes of a message before its compression."""
    return len(zstandard.decompress(data)) if data.startswith(b"\x28\xb5\x2f\xfd") else len(data)


def read_mcap(path):
    """Returns name, log time, publish time and size of each message, by the reference library."""
    with open(path, "rb") as stream:
        for _, channel, message in make_reader(stream).iter_messages():
            yield channel.topic, message.log_time, message.publish_time, length(message.data)


def read_db3(path):
    """Returns name, time and size of each message, by SQLite."""
    with sqlite3.connect(path) as bag:
        rows = bag.execute("SELECT name,timestamp,data FROM messages JOIN topics ON topics.id=topic_id ORDER BY messages.id")
        yield from ((name, time, time, length(data)) for name, time, data in rows)
    bag.close()


def expected(read):
    """Returns time from the first message on, in ns, and size of each message of each topic."""
    read = list(read)
    published = {name for name, log, publish, _ in read if log != publish}
    timed = [(publish if name in published else log, name, size) for name, log, publish, size in read]
    begin = min(time for time, _, _ in timed)
    topics = {}
    for time, name, size in sorted(timed, key=lambda message: message[0]):
        topics.setdefault(name.strip("/"), []).append((time - begin, size))
    return topics


def imported(path, out):
    """Returns the same as the import has it."""
    run = subprocess.run(["ddsmark", "import", "rosbag2", path, "--out", out], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"error: cannot import {path}: {run.stderr}")
    topics = {}
    for flow in tomllib.loads((out / "system.toml").read_text())["flows"]:
        lines = [line.split() for line in (out / flow["trace"]).read_text().splitlines() if not line.startswith("#")]
        topics[flow["name"]] = [
            (int(time.replace(".", "")), int(rest[0]) if rest else flow["size"]) for time, *rest in lines
        ]
    return topics


def main():
    each = messages()
    zstd = zstandard.ZstdCompressor().compress
    kinds = {
        "plain.mcap": dict(compression=CompressionType.NONE),
        "lz4.mcap": dict(compression=CompressionType.LZ4),
        "zstd.mcap": dict(compression=CompressionType.ZSTD),
        "no-chunks.mcap": dict(use_chunking=False),
        "no-index.mcap": dict(
            compression=CompressionType.NONE,
            index_types=IndexType.NONE,
            repeat_channels=False,
            repeat_schemas=False,
            use_statistics=False,
            use_summary_offsets=False,
        ),
        "by-message.mcap": dict(compression=CompressionType.NONE, compress=zstd),
    }
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        for name, options in kinds.items():
            write_mcap(work / name, each, **options)
        write_db3(work / "humble.db3", each, has_metadata=False)
        write_db3(work / "by-message.db3", each, has_metadata=True, compress=zstd)
        for path in sorted(work.iterdir()):
            found = imported(path, work / f"{path.name}-import")
            wanted = expected(read_mcap(path) if path.suffix == ".mcap" else read_db3(path))
            for name in wanted.keys() | found.keys():
                if found.get(name) != wanted.get(name):
                    sys.exit(f"error: times or sizes of `{name}` of {path.name} are not those of the independent reader")
            number = sum(len(topic) for topic in wanted.values())
            total = sum(size for topic in wanted.values() for _, size in topic)
            print(f"{path.name}: {number} times and sizes agree, {total} bytes in all")


main()
