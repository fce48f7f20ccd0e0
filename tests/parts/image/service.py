"""What a service in a container must do, asked from outside, by any container runtime.

One `Service` is a command that starts `phileas serve` with the settings of the Dockerfile. `demonstrate` goes through
its life: it comes up, says that it is well, keeps what was signed and nothing else, lets no client in without the admin
token, and ends on SIGTERM in time although a client hangs on the line.
"""

import hashlib
import hmac
import http.client
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time

USER = 65532
"""The user of the Dockerfile."""
DATA = "/var/lib/phileas"
WEBHOOK_SECRET = "0123456789abcdef-test-secret-of-hooks"
ADMIN_TOKEN = "0123456789abcdef-test-token-of-admins"
START_LIMIT = 180
"""Seconds until it must listen, on a busy machine."""
GRACE = 30
"""Seconds from SIGTERM to the end: `stop_grace_period` of compose.yaml and `TimeoutStopSec` of the unit."""


def fail(why):
    print(f"NOT SO: {why}", file=sys.stderr)
    sys.exit(1)


def holds(what, truth, detail=""):
    """A line for what holds; the end of everything for what does not."""
    if not truth:
        fail(f"{what}{f': {detail}' if detail else ''}")
    print(f"ok  {what}", flush=True)


def network_of_our_own():
    """The loopback device of a new network namespace is down at first. Anywhere else this would be another program's."""
    if len(socket.if_nameindex()) != 1:
        fail("there is more than one network device: start this with `unshare --net`")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


class Service:
    """A running `phileas serve`, ended with this process."""

    def __init__(self, start):
        """`start` gives the Popen of a service, with its standard output as a pipe."""
        self.process = start()
        ready, _, _ = select.select([self.process.stdout], [], [], START_LIMIT)
        line = self.process.stdout.readline() if ready else b""
        if not line:
            fail(f"no line within {START_LIMIT} s that says where it listens; exit code {self.process.poll()}")
        self.places = json.loads(line)

    def end(self, signaller=None):
        """Asks it to end; how long that took and with what exit code."""
        asked = time.monotonic()
        (signaller or (lambda: self.process.send_signal(signal.SIGTERM)))()
        try:
            code = self.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            fail(f"it has not ended {GRACE} s after SIGTERM")
        return time.monotonic() - asked, code


def ask(port, method, path, body=None, headers=None):
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=START_LIMIT)
    line.request(method, path, body, headers or {})
    reply = line.getresponse()
    text = reply.read().decode()
    line.close()
    return reply.status, text


def signed(body):
    digest = hmac.new(WEBHOOK_SECRET.encode(), body, hashlib.sha256).hexdigest()
    return {
        "content-type": "application/json",
        "x-github-event": "issues",
        "x-github-delivery": "of-the-image",
        "x-hub-signature-256": f"sha256={digest}",
    }


def demonstrate(start, program, signaller=None):
    """`program(words)` runs the binary beside the service, in the same container: (exit code, what it printed)."""
    service = Service(start)
    holds(
        "serve listens on all addresses, on the ports that the image exposes",
        (service.places["listen"], service.places["admin_listen"]) == ("0.0.0.0:8080", "0.0.0.0:9090"),
        service.places,
    )
    inbox = f"SQLite, {DATA}/inbox.sqlite3"
    holds("and keeps its inbox in the data directory", service.places["inbox"] == inbox, service.places)
    for words in (["service", "health"], ["service", "health", "--ready"]):
        until = time.monotonic() + START_LIMIT
        code, said = program(words)
        # On a busy machine the inbox may answer too late now and then, which makes a service not ready.
        while code != 0 and time.monotonic() < until:
            code, said = program(words)
        holds(f"`phileas {' '.join(words)}` finds it well", code == 0, f"{code}: {said}")

    body = b'{"action":"labeled","issue":{"node_id":"I_7"},"sender":{"id":5},"repository":{"id":7,"full_name":"acme/r7"}}'
    right = signed(body)
    status, text = ask(8080, "POST", "/webhook", body, right)
    holds("a signed delivery is kept", status == 202, f"{status} {text}")
    wrong = right | {"x-hub-signature-256": "sha256=" + "0" * 64, "x-github-delivery": "forged"}
    status, text = ask(8080, "POST", "/webhook", body, wrong)
    holds("a forged one is not", status == 401, f"{status} {text}")
    status, _ = ask(9090, "GET", "/metrics")
    holds("the admin listener lets no client in without its token", status == 401, status)
    status, text = ask(9090, "GET", "/metrics", headers={"authorization": f"Bearer {ADMIN_TOKEN}"})
    holds("and serves metrics to who has it", status == 200 and "# TYPE" in text, f"{status} {text[:200]}")

    # A request that never ends, and that the service has begun to read before it is told to end.
    hanging = socket.create_connection(("127.0.0.1", 8080))
    head = "".join(f"{name}: {value}\r\n" for name, value in right.items())
    hanging.sendall(f"POST /webhook HTTP/1.1\r\nhost: test\r\ncontent-length: 999\r\n{head}\r\n{{".encode())
    ask(8080, "GET", "/healthz")
    took, code = service.end(signaller)
    hanging.close()
    holds(f"SIGTERM ends it with 0 within {GRACE} s while a request hangs ({took:.1f} s)", code == 0, code)


def kept(program):
    """After the end: what was answered 202 is there, and no process is well any more."""
    code, said = program(["service", "health"])
    holds("`phileas service health` finds no process well any more", code == 1, f"{code}: {said}")
    code, said = program(["service", "deliveries", "--json"])
    guids = [json.loads(line)["guid"] for line in said.splitlines()]
    holds("the kept delivery is in the data directory, the forged one is not", (code, guids) == (0, ["of-the-image"]), said)


def modes(folder):
    """Everything in the data directory is its owner's alone."""
    for place in [folder, *(os.path.join(folder, name) for name in sorted(os.listdir(folder)))]:
        told = os.stat(place)
        mode = told.st_mode & 0o777
        good = told.st_uid == USER and mode == (0o700 if os.path.isdir(place) else 0o600)
        if not good:
            fail(f"{place}: user {told.st_uid}, mode {mode:o}")
    print(f"ok  the data directory is user {USER}'s alone: {', '.join(sorted(os.listdir(folder)))}", flush=True)
