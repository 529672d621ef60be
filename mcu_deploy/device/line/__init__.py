"""The serial line, from its bytes to a device with models (docs/protocol.md).

From below: `transport` (bytes), `framing` (frames), `messages` (their payloads), `wire` (waiting,
and why nothing comes), `link` (requests and replies, repeated where they are lost), `transfers`
(tensors), `client` (the device).
"""
