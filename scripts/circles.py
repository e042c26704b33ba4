#!/usr/bin/env python3
"""Import cycles, retired names and long files of a package: circles.py crates/pack"""
import subprocess
import sys

sys.exit(subprocess.call(["cargo", "run", "-q", "-p", "tileheap-house", "--", *sys.argv[1:]]))
