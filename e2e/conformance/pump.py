#!/usr/bin/env python3
"""Pumps bytes between a client and the server of a configuration: a guard that does nothing, behind
which no check may be lost.

    e2e/conformance/pump.py guard --listen HOST:PORT --mcp-config FILE
"""

import argparse
import json
import socket
import threading
from urllib.parse import urlsplit


def pump(source, sink):
    try:
        while piece := source.recv(65536):
            sink.sendall(piece)
    except OSError:
        pass
    # Both directions: a client that hangs up has to be seen by the server.
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["guard"])
    parser.add_argument("--listen", required=True)
    parser.add_argument("--mcp-config", required=True)
    options = parser.parse_args()
    host, _, port = options.listen.rpartition(":")
    with open(options.mcp_config) as file:
        [server] = json.load(file)["mcpServers"].values()
    upstream = urlsplit(server["url"])
    with socket.create_server((host, int(port))) as listener:
        while True:
            client, _ = listener.accept()
            behind = socket.create_connection((upstream.hostname, upstream.port))
            threading.Thread(target=pump, args=(client, behind), daemon=True).start()
            threading.Thread(target=pump, args=(behind, client), daemon=True).start()


if __name__ == "__main__":
    main()
