"""What the fixture's tools and prompts say, and the questions that they ask."""

import base64
import struct
import zlib


def _chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


# One red pixel, and a sound without samples.
PNG = base64.b64encode(
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(b"\0\xff\0\0"))
    + _chunk(b"IEND", b"")
).decode()
WAV = base64.b64encode(
    b"RIFF" + struct.pack("<I4s4sIHHIIHH4sI", 36, b"WAVE", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8, b"data", 0)
).decode()

IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": WAV, "mimeType": "audio/wav"}
STRING = {"type": "string"}
ROOTS = {"method": "roots/list", "params": {}}


def text(words):
    return {"type": "text", "text": words}


def embedded(uri, kind, body):
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": body}}


def said(*blocks, **more):
    """The result of a tool."""
    return {"content": [text(block) if isinstance(block, str) else block for block in blocks], **more}


def form(**properties):
    return {"type": "object", "properties": properties, "required": list(properties)}


def elicitation(message, **properties):
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": form(**properties)}}


def sampling(words):
    messages = [{"role": "user", "content": text(words)}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 100}}


def asked(requests, state=None):
    """The result of a request that needs an answer first."""
    return {"resultType": "input_required", "inputRequests": requests} | ({"requestState": state} if state else {})
