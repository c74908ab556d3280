"""Trials on three hosts, one of which dies, in network namespaces of this machine.

    sudo cluster_hosts.py [--cut]

Makes three hosts with an address each, a scheduler on the first and a worker on every one, runs a
search from outside of them, and kills all processes of the third host in the middle of it (`--cut`
takes its network away instead, so that nobody is told). Prints which trials ended and what was
said. Needs root, iproute2 and the extra `cluster`; everything is removed in the end.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from core.tuning.cluster.address import data_transfer_warning, parse_cluster_address
from core.tuning.cluster.connection import ClusterConnection
from core.tuning.events import RemarkMade, TrialFailed, TrialFinished, WorkersSeen
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import read_data
from core.tuning.tune import tune

HOSTS = ("tune-h1", "tune-h2", "tune-h3")
BRIDGE, NETWORK = "tune-br", "10.77.0"
PLAN = Plan(DataPlan("sample:digits"), "svm", "random", trials=20, seed=1, workers=3)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextlib.contextmanager
def hosts() -> Iterator[None]:
    """Three namespaces on one bridge."""
    try:
        ip("link", "add", BRIDGE, "type", "bridge")
        ip("addr", "add", f"{NETWORK}.254/24", "dev", BRIDGE)
        ip("link", "set", BRIDGE, "up")
        for at, host in enumerate(HOSTS, start=1):
            ip("netns", "add", host)
            ip("link", "add", f"tune-v{at}", "type", "veth", "peer", "name", "eth0", "netns", host)
            ip("link", "set", f"tune-v{at}", "master", BRIDGE, "up")
            ip("-n", host, "addr", "add", f"{NETWORK}.{at}/24", "dev", "eth0")
            ip("-n", host, "link", "set", "eth0", "up")
            ip("-n", host, "link", "set", "lo", "up")
        yield
    finally:
        for host in HOSTS:
            kill(host)
            subprocess.run(["ip", "netns", "del", host], capture_output=True, check=False)
        for at in range(1, len(HOSTS) + 1):  # the system takes a while to remove them itself
            subprocess.run(["ip", "link", "del", f"tune-v{at}"], capture_output=True, check=False)
        subprocess.run(["ip", "link", "del", BRIDGE], capture_output=True, check=False)


def kill(host: str) -> None:
    """End every process of a host."""
    told = subprocess.run(
        ["ip", "netns", "pids", host], capture_output=True, text=True, check=False
    )
    for pid in told.stdout.split():
        subprocess.run(["kill", "-9", pid], check=False)


def begun(host: str, *words: str) -> None:
    dask = Path(sys.executable).with_name("dask")
    subprocess.Popen(
        ["ip", "netns", "exec", host, str(dask), *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cut", action="store_true", help="take its network away instead")
    given = parser.parse_args()
    if shutil.which("ip") is None:
        raise SystemExit("cluster_hosts: there is no command ip; install iproute2")
    with hosts():
        begun(HOSTS[0], "scheduler", "--host", f"{NETWORK}.1", "--no-dashboard")
        time.sleep(4)
        scheduler = f"tcp://{NETWORK}.1:8786"
        for at, host in enumerate(HOSTS, start=1):
            begun(
                host, "worker", scheduler, "--nthreads", "1", "--host", f"{NETWORK}.{at}",
                "--name", f"worker-{at}", "--no-dashboard",
            )  # fmt: skip
        place = parse_cluster_address(scheduler)
        print(data_transfer_warning(place))
        with ClusterConnection(place) as connection:
            end = time.monotonic() + 30
            while connection.threads < 3 and time.monotonic() < end:
                time.sleep(0.2)
            print(f"{connection.threads} threads")
            follow(connection, given.cut)


def follow(connection: ClusterConnection, cut: bool) -> None:
    """Run the search, and take the third host away after the fourth trial."""
    ended: list[int] = []
    died = 0.0
    events = tune(PLAN, read_data(PLAN.data), executor=connection.executor)
    for event in events:
        now = time.monotonic()
        match event:
            case WorkersSeen():
                print("   ", {w["name"]: w["trials"] for w in event.workers})
            case RemarkMade():
                print(event.sentence)
            case TrialFailed():
                print(f"trial {event.number} failed: {event.reason}")
            case TrialFinished():
                ended.append(event.number)
                since = f", {now - died:.1f} s after the host died" if died else ""
                print(f"trial {event.number} ended{since}")
                if len(ended) == 4:
                    died = now
                    if cut:
                        ip("link", "set", "tune-v3", "down")
                    else:
                        kill(HOSTS[2])
                    print("the third host is gone")
        if len(ended) == PLAN.trials:
            break
    events.close()
    print(f"{len(set(ended))} of {PLAN.trials} trials ended")


if __name__ == "__main__":
    main()
