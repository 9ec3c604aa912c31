#!/usr/bin/env python3
"""FastMCP's proxy under the guard's command line, behind which checks are lost: the comparison has
to fail on it.

    e2e/conformance/lossy.py guard --listen HOST:PORT --mcp-config FILE
"""

import os
import sys
from pathlib import Path

FASTMCP = Path(__file__).resolve().parents[2] / ".tools/venv/bin/fastmcp"

if __name__ == "__main__":
    options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
    host, _, port = options["--listen"].rpartition(":")
    where = ["--transport", "http", "--host", host, "--port", port]
    os.execv(FASTMCP, ["fastmcp", "run", options["--mcp-config"], *where, "--no-banner", "--log-level", "ERROR"])
