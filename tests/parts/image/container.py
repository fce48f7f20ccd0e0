"""The image in a container, as compose.yaml asks for it: read-only, without capabilities, on a new volume.

    unshare --mount --net --pid --mount-proc --fork --kill-child \\
        python3 -B tests/parts/image/container.py IMAGE FOLDER podman [OPTION…]

FOLDER is empty at first and holds the secrets. The caller removes it: outside, nothing of the container is mounted.

The name spaces are those of `unshare`: the container shares its network, in which the ports of the image are free. Some
machines mount control groups of both versions, which crun refuses: here only the second is seen, and none is used.
"""

import argparse
import json
import os
import subprocess
from pathlib import Path

from service import ADMIN_TOKEN, DATA, GRACE, USER, WEBHOOK_SECRET, demonstrate, fail, holds, kept, modes, network_of_our_own

NAME = "phileas"
CONTROL_GROUPS = "/sys/fs/cgroup"
LIMIT = 120
"""Seconds for one command of podman."""


class Container:
    """One container after the other on one volume."""

    def __init__(self, podman, image, secrets):
        self.podman = podman
        self.image = image
        self.options = [
            *("--network=host", "--cgroups=disabled", "--read-only", "--cap-drop=all"),
            "--security-opt=no-new-privileges",
            # Raising the usual limits needs a privilege that not every machine gives.
            *("--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024"),
            # The engine would ask systemd for a timer; we ask ourselves.
            "--health-interval=disable",
            *("--volume", f"data:{DATA}", "--volume", f"{secrets}:/run/secrets:ro"),
            *("--env", "PHILEAS_WEBHOOK_SECRET_FILE=/run/secrets/webhook_secret"),
            *("--env", "PHILEAS_ADMIN_TOKEN_FILE=/run/secrets/admin_token"),
        ]
        self.running = False

    def command(self, *words):
        ended = subprocess.run(
            [*self.podman, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT
        )
        return ended.returncode, (ended.stdout or ended.stderr).decode()

    def asked(self, *words):
        code, said = self.command(*words)
        if code != 0:
            fail(f"podman {' '.join(words)} ended with {code}: {said}")
        return said

    def start(self):
        self.running = True
        return subprocess.Popen(
            [*self.podman, "run", "--name", NAME, *self.options, self.image], stdout=subprocess.PIPE
        )

    def stop(self):
        self.asked("stop", "--time", str(GRACE), NAME)
        self.running = False

    def program(self, words):
        """While it runs, `service health` is the image's own HEALTHCHECK."""
        if self.running and words == ["service", "health"]:
            return self.command("healthcheck", "run", NAME)
        if self.running:
            return self.command("exec", NAME, "/phileas", *words)
        return self.command("run", "--rm", *self.options, self.image, *words)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("image")
    words.add_argument("folder", type=Path)
    words.add_argument("podman", nargs=argparse.REMAINDER, help="podman and its options")
    given = words.parse_args()
    if not given.podman:
        words.error("podman is missing")
    network_of_our_own()
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    if os.path.ismount(CONTROL_GROUPS):
        subprocess.run(["umount", "--recursive", CONTROL_GROUPS], check=True)
    subprocess.run(["mount", "-t", "cgroup2", "none", CONTROL_GROUPS], check=True)
    given.folder.chmod(0o755)
    for name, text in {"webhook_secret": WEBHOOK_SECRET, "admin_token": ADMIN_TOKEN}.items():
        secret = given.folder / name
        secret.write_text(text + "\n")
        secret.chmod(0o400)
        os.chown(secret, USER, USER)
    container = Container(given.podman, given.image, given.folder)
    look_into(container)
    refuses_to_start_open(container)
    demonstrate(container.start, container.program, container.stop)
    modes(container.asked("volume", "inspect", "--format", "{{.Mountpoint}}", "data").strip())
    kept(container.program)


def look_into(container):
    """What the image says of itself, and that there is nothing else in it."""
    (told,) = json.loads(container.asked("image", "inspect", container.image))
    settings = told["Config"]
    wanted = {
        "User": f"{USER}:{USER}",
        "ExposedPorts": {"8080/tcp": {}, "9090/tcp": {}},
        "Volumes": {DATA: {}},
        "Entrypoint": ["/phileas"],
        "Cmd": ["serve"],
        "StopSignal": "SIGTERM",
    }
    for key, value in wanted.items():
        if settings.get(key) != value:
            fail(f"{key} of the image is {settings.get(key)} and not {value}")
    test = (told.get("Healthcheck") or settings.get("Healthcheck") or {}).get("Test")
    if test != ["CMD", "/phileas", "service", "health"]:
        fail(f"the image's HEALTHCHECK is {test}")
    labels = {name for name in settings["Labels"] if name.startswith("org.opencontainers.image.")}
    holds(f"the image says what it is: {len(labels)} labels, user, ports, volume, health, signal", len(labels) == 7, labels)
    mounted = Path(container.asked("image", "mount", container.image).strip())
    found = {f"/{place.relative_to(mounted)}" for place in mounted.rglob("*")}
    container.asked("image", "unmount", container.image)
    holds("nothing is in it but the program and its data directory", found == {"/phileas", "/var", "/var/lib", DATA}, found)
    print(f"    {told['Size']} bytes", flush=True)


def refuses_to_start_open(container):
    """On all addresses, without a token: a user who forgets it gets an error."""
    empty = ("--env", "PHILEAS_ADMIN_TOKEN_FILE=")
    code, said = container.command("run", "--rm", *container.options, *empty, container.image)
    holds("without an admin token it does not start, and says so", code == 2 and "PHILEAS_ADMIN_TOKEN" in said, f"{code}: {said}")


if __name__ == "__main__":
    main()
