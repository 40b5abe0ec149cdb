"""Runs a program and adds its processor time so far to every line that contains a text.

    python timed.py "released and trained" ./merf-images -seed 1
"""
import os
import subprocess
import sys


def seconds(pid):
    """User and system time of a running process."""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(text, *command):
    program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for line in program.stdout:
        line = line.rstrip("\n")
        print(line + (f" ({seconds(program.pid):.1f} s of processor time)" if text in line else ""), flush=True)
    return program.wait()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
