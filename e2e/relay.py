#!/usr/bin/env python3
"""Pumps bytes between a client and a server: a guard that does nothing, to try the harness on."""

import subprocess
import sys
import threading


def pump(source, sink):
    while piece := source.read1(65536):
        sink.write(piece)
        sink.flush()
    sink.close()


server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
threading.Thread(target=pump, args=(sys.stdin.buffer, server.stdin), daemon=True).start()
pump(server.stdout, sys.stdout.buffer)
sys.exit(server.wait())
