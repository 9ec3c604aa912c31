#!/usr/bin/env python3
"""FastMCP's proxy before the server of a configuration, over standard input and output or HTTP.

    e2e/bench/fastmcp_proxy.py CONFIG [PORT]
"""

import json
import sys
from pathlib import Path

from fastmcp.server import create_proxy

proxy = create_proxy(json.loads(Path(sys.argv[1]).read_text()))
if len(sys.argv) > 2:
    proxy.run(transport="http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False, log_level="error")
else:
    proxy.run(transport="stdio", show_banner=False)
