"""What a benchmark ran on: the first line that it prints."""

import os
import platform


def machine():
    """Processor, threads, and how busy it is: `Intel Xeon, 2 threads, load 0.3`."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    threads = len(os.sched_getaffinity(0))
    return f"{names[0] if names else platform.machine()}, {threads} threads, load {os.getloadavg()[0]:.1f}"
