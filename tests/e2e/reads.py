# SPDX-License-Identifier: Apache-2.0
"""A reader that is none of ddsmark's: the Python binding of Cyclone DDS, and a type that `idlc -l py` made of sample.idl.

    reads.py DOMAIN TOPIC TYPE TAG SEED SIZE

TYPE is MODULE.CLASS. Its standard input is a socket: it writes a byte there when it has matched a writer, and takes
samples until the socket ends and nothing is left. Prints the samples of the run with this tag, as JSON: sequence numbers,
in the order of arrival, and those of samples that are not as they were sent.
"""
import importlib
import json
import os
import select
import struct
import sys

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

HEADER = struct.Struct("<IHHQ")  # sequence number, writer, tag and flags, when it was sent
WARM_UP = 0x8000


def payloads(seed, size):
    """Those that a writer sends in turn, but for their headers: numbers of SplitMix64, little endian."""
    mask = (1 << 64) - 1
    made = []
    for _ in range(min(max((32 << 10) // size, 2), 16)):
        numbers = []
        for _ in range((size + 7) // 8):
            seed = (seed + 0x9E3779B97F4A7C15) & mask
            z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & mask
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
            numbers.append(z ^ (z >> 31))
        made.append(struct.pack(f"<{len(numbers)}Q", *numbers)[:size])
    return made


def main(domain, topic, type_name, tag, seed, size):
    module, name = type_name.split(".")
    sample_type = getattr(importlib.import_module(module), name)
    expected = payloads(int(seed), int(size))
    qos = Qos(
        Policy.Reliability.Reliable(duration(seconds=1)),
        Policy.History.KeepAll,
        Policy.DataRepresentation(use_cdrv0_representation=True),
    )
    participant = DomainParticipant(int(domain))
    reader = DataReader(participant, Topic(participant, topic, sample_type), qos=qos)
    came = {"sequences": [], "broken": [], "foreign": 0}
    matched = ended = False
    while True:
        if not matched and reader.get_matched_publications():
            matched = bool(os.write(sys.stdin.fileno(), b"m"))
        samples = [sample for sample in reader.take(256) if isinstance(sample, sample_type)]
        for sample in samples:
            payload = bytes(sample.payload)
            sequence, _, flags, _ = HEADER.unpack_from(payload.ljust(HEADER.size, b"\0"))
            if flags & ~WARM_UP != int(tag):
                came["foreign"] += 1
            elif not flags & WARM_UP:
                came["sequences"].append(sequence)
                if payload[HEADER.size :] != expected[sequence % len(expected)][HEADER.size :]:
                    came["broken"].append(sequence)
        if not samples and ended:
            break
        ended = ended or bool(select.select([sys.stdin], [], [], 0 if samples else 0.002)[0])
    print(json.dumps(came))


main(*sys.argv[1:])
