"""The static binary in an empty root: no container engine, and all that one would take away is taken away.

    unshare --mount --net --pid --mount-proc --fork --kill-child \\
        python3 -B tests/parts/image/empty_root.py BINARY FOLDER

The root is made in FOLDER, which is empty at first. Its mounts are those of the name space and end with it, so FOLDER is
removed by the caller, for which nothing is mounted there: never in here, where `/dev` would be part of what is removed.

The root is read-only and holds the binary, two secrets, a list of repositories, a data directory, and of what engines put
there themselves `/etc/resolv.conf` and three devices (a static binary has no dynamic linker that would find it the call
for randomness, and reads `/dev/urandom`); no `/proc` and no certificates. The service runs as a user without a name and
without privileges. A name server of our own shows that names are resolved there, which static binaries of glibc are
known to fail at.
"""

import argparse
import ctypes
import os
import re
import select
import shutil
import socket
import struct
import subprocess
import threading
from pathlib import Path

from service import (
    ADMIN_TOKEN,
    DATA,
    START_LIMIT,
    USER,
    WEBHOOK_SECRET,
    Service,
    demonstrate,
    fail,
    holds,
    kept,
    modes,
    network_of_our_own,
)

KNOWN = "api.phileas.test"
UNKNOWN = "absent.phileas.test"
DEVICES = ("null", "random", "urandom")
CHECK_LIMIT = 120
"""Seconds for one run of `serve --check`, which tries again a few times."""
PR_SET_NO_NEW_PRIVS = 38
TEMPLATES = {
    "tidy": "Tidy {{ repo }}.",
    "greedy": '{{ [1]|batch(3000000000, "x")|list|length }}',
}
"""Personas whose prompts are rendered in the empty root, where a process cannot find its own program by `/proc`."""


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("binary", type=Path)
    words.add_argument("folder", type=Path)
    given = words.parse_args()
    network_of_our_own()
    look(prepare(given.folder, given.binary))


def prepare(folder, binary):
    """The empty root, mounted read-only, with the data directory mounted into it."""
    # These mounts must not reach the machine's own view.
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    root, data, seen = folder / "root", folder / "data", folder / "seen"
    (root / "run/secrets").mkdir(parents=True)
    (root / DATA[1:]).mkdir(parents=True)
    (root / "etc").mkdir()
    (root / "dev").mkdir()
    for device in DEVICES:
        (root / "dev" / device).touch()
    (root / "etc/resolv.conf").write_text("nameserver 127.0.0.1\n")
    (root / "etc/phileas.toml").write_text('[[repository]]\nname = "acme/r7"\nid = 7\n')
    shutil.copy(binary, root / "phileas")
    for persona, template in TEMPLATES.items():
        prompt = root / f"repository/.jules/personas/{persona}/prompt.md.j2"
        prompt.parent.mkdir(parents=True)
        prompt.write_text(f"---\nid: {persona}\nemoji: x\n---\n{template}\n")
    for name, text in {"webhook": WEBHOOK_SECRET, "admin": ADMIN_TOKEN}.items():
        secret = root / "run/secrets" / name
        secret.write_text(text + "\n")
        secret.chmod(0o400)
        os.chown(secret, USER, USER)
    data.mkdir(mode=0o700)
    os.chown(data, USER, USER)
    seen.mkdir()
    subprocess.run(["mount", "--bind", root, seen], check=True)
    subprocess.run(["mount", "-o", "remount,bind,ro,nosuid,nodev", seen], check=True)
    subprocess.run(["mount", "--bind", data, seen / DATA[1:]], check=True)
    for device in DEVICES:
        subprocess.run(["mount", "--bind", f"/dev/{device}", seen / "dev" / device], check=True)
    return seen


def enter(root):
    """What a container engine does between fork and exec."""
    os.chroot(root)
    os.chdir(DATA)
    os.setgroups([])
    os.setgid(USER)
    os.setuid(USER)
    if ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        os._exit(125)


def environment(more=None):
    """Nothing but what the Dockerfile sets and the two secrets as files."""
    return {
        "PHILEAS_DATA_DIR": DATA,
        "PHILEAS_LISTEN": "0.0.0.0:8080",
        "PHILEAS_ADMIN_LISTEN": "0.0.0.0:9090",
        "PHILEAS_WEBHOOK_SECRET_FILE": "/run/secrets/webhook",
        "PHILEAS_ADMIN_TOKEN_FILE": "/run/secrets/admin",
    } | (more or {})


def look(root):
    def start(more=None):
        return subprocess.Popen(
            ["/phileas", "serve"], env=environment(more), stdout=subprocess.PIPE, preexec_fn=lambda: enter(root)
        )

    def program(words, more=None):
        ended = subprocess.run(
            ["/phileas", *words],
            env=environment(more),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=CHECK_LIMIT,
            preexec_fn=lambda: enter(root),
        )
        return ended.returncode, ended.stdout.decode()

    def start_and_look():
        process = start()
        select.select([process.stdout], [], [], START_LIMIT)
        if process.poll() is not None:
            fail(f"it has ended with {process.returncode}")
        status = dict(re.findall(r"^(\w+):\s*(.*)$", Path(f"/proc/{process.pid}/status").read_text(), re.M))
        holds(
            "the service runs as a user without privileges, and cannot gain any",
            status["Uid"].split() == [str(USER)] * 4 and int(status["CapEff"], 16) == 0 and status["NoNewPrivs"] == "1",
            status,
        )
        print(f"    {status['VmRSS']} resident, {status['Threads']} threads", flush=True)
        return process

    read_only(root)
    code, said = program(["--version"])
    holds(f"it starts: {said.strip()}", code == 0 and said.startswith("phileas "), f"{code}: {said}")
    for persona, ends, says in [("tidy", 0, "Tidy hello-world."), ("greedy", 1, "64 MiB of memory")]:
        code, said = program(["persona", "render", persona, "/repository", "--repo", "octocat/hello-world"])
        holds(f"a process of its own renders `{persona}`, within its limits", code == ends and says in said, f"{code}: {said}")
    demonstrate(start_and_look, program)
    modes(root / DATA[1:])
    kept(program)
    volume_of_another_user(root, start)
    names(program)


def read_only(root):
    """The stage itself is what it claims to be: nothing can be written outside the data directory."""
    child = os.fork()
    if child == 0:
        enter(root)
        refused = 0
        for place in ("/new", "/etc/new", "/run/secrets/new", "/phileas"):
            try:
                os.close(os.open(place, os.O_WRONLY | os.O_CREAT))
            except OSError as error:
                refused += error.errno in (13, 30)  # EACCES, EROFS
        os.close(os.open("of-this-check", os.O_WRONLY | os.O_CREAT))
        os.unlink("of-this-check")
        os._exit(0 if refused == 4 else 1)
    _, status = os.waitpid(child, 0)
    holds("only the data directory can be written to", status == 0, status)


def volume_of_another_user(root, start):
    """Some orchestrators keep a volume as root's, and let the user of the container in as a member of a group."""
    volume = root / DATA[1:] / "volume"
    volume.mkdir()
    os.chown(volume, 0, USER)
    volume.chmod(0o2770)
    service = Service(lambda: start({"PHILEAS_DATA_DIR": f"{DATA}/volume"}))
    _, code = service.end()
    holds("a volume of root's that it may write to by its group is taken", code == 0 and any(volume.iterdir()), code)


def names(program):
    """`serve --check` asks two hosts. One name is known to our name server and leads to our listener, one is not."""
    asked, greeted = set(), []
    name_server(asked)
    tls_listener(greeted)

    def check(name):
        # Not real, and not sent to any host: the conversation ends before a request could be made.
        return program(
            ["serve", "--check"],
            {
                "PHILEAS_CONFIG": "/etc/phileas.toml",
                "GITHUB_TOKEN": "test-token",
                "JULES_API_KEY": "test-key",
                "GITHUB_API_URL": f"https://{name}",
                "JULES_API_BASE": f"https://{name}/v1alpha",
            },
        )

    code, said = check(KNOWN)
    holds(f"a name is resolved in the empty root: {KNOWN}", KNOWN in asked, f"asked for {asked}; {said}")
    holds("and TLS begins with the host that it leads to", any(KNOWN.encode() in hello for hello in greeted), said)
    holds("a host that breaks off is unavailable: exit code 4", code == 4, f"{code}: {said}")
    before = len(greeted)
    code, said = check(UNKNOWN)
    holds(
        "an unknown name is said to have no address",
        code == 4 and UNKNOWN in asked and len(greeted) == before and "lookup" in said,
        f"{code}: {said}",
    )


def name_server(asked):
    """Knows one name, by its IPv4 address."""
    wire = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    wire.bind(("127.0.0.1", 53))

    def serve():
        while True:
            query, client = wire.recvfrom(512)
            labels, at = [], 12
            while query[at]:
                labels.append(query[at + 1 : at + 1 + query[at]].decode())
                at += 1 + query[at]
            question = query[12 : at + 5]
            (kind,) = struct.unpack("!H", query[at + 1 : at + 3])
            name = ".".join(labels).lower()
            asked.add(name)
            found = name == KNOWN
            answer = b""
            if found and kind == 1:  # A
                answer = b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 60, 4) + socket.inet_aton("127.0.0.1")
            flags = 0x8180 if found else 0x8183  # an answer; NXDOMAIN
            header = query[:2] + struct.pack("!HHHHH", flags, 1, 1 if answer else 0, 0, 0)
            wire.sendto(header + question + answer, client)

    threading.Thread(target=serve, daemon=True).start()


def tls_listener(greeted):
    """Keeps what is said first, in which the name of the host stands in clear, and breaks off."""
    listener = socket.create_server(("127.0.0.1", 443))

    def serve():
        while True:
            line, _ = listener.accept()
            with line:
                greeted.append(line.recv(4096))

    threading.Thread(target=serve, daemon=True).start()


if __name__ == "__main__":
    main()
