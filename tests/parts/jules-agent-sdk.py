"""A second Jules client, written by others, against the Jules model.

node tests/parts/with-world.mjs python tests/parts/jules-agent-sdk.py
"""

import json
import os
import unittest
import urllib.request

from jules_agent_sdk import JulesClient
from jules_agent_sdk.exceptions import JulesAPIError, JulesAuthenticationError, JulesNotFoundError, JulesValidationError
from jules_agent_sdk.models import SessionState

REPOSITORY = os.environ["WORLD_REPOSITORY"]
SOURCE = f"sources/github/{REPOSITORY}"
BASE = os.environ["WORLD_JULES"]
STEPS = 200
LIMIT = 120
"""Seconds for an answer, on a busy machine."""


def control(name: str, **body: object) -> None:
    """Reaches for the world's own controls."""
    request = urllib.request.Request(
        f"{os.environ['WORLD_GITHUB']}/__world/{name}",
        data=json.dumps(body).encode(),
        headers={"content-type": "application/json"},
    )
    urllib.request.urlopen(request, timeout=LIMIT).close()


class JulesAgentSdk(unittest.TestCase):
    """One client a test, as its users have it."""

    @classmethod
    def setUpClass(cls) -> None:
        # How a session ends is drawn by chance unless a script says it.
        control("scenario", when={"title": "^Notes$"}, ending="changes", questions=[], minutes=20)

    def setUp(self) -> None:
        self.client = JulesClient(api_key=os.environ["WORLD_JULES_KEY"], base_url=BASE, timeout=LIMIT, retry_backoff_factor=0.01)
        self.addCleanup(self.client.close)

    def until(self, session_id: str, *states: SessionState):
        for _ in range(STEPS):
            session = self.client.sessions.get(session_id)
            if session.state in states:
                return session
            control("advance", by="5m")
        self.fail(f"the session is {session.state} after {STEPS} steps, not one of {states}")

    def create(self, **more):
        branch = self.client.sources.get(SOURCE).github_repo.default_branch.display_name
        return self.client.sessions.create("Add a line to the notes.", SOURCE, starting_branch=branch, title="Notes", **more)

    def test_sources(self) -> None:
        self.assertIn(SOURCE, [source.name for source in self.client.sources.list_all()])
        source = self.client.sources.get(SOURCE)
        self.assertEqual(f"{source.github_repo.owner}/{source.github_repo.repo}", REPOSITORY)
        self.assertIn(source.github_repo.default_branch, source.github_repo.branches)

    def test_a_session_with_a_plan_to_approve(self) -> None:
        session = self.create(require_plan_approval=True)
        self.assertEqual(session.name, f"sessions/{session.id}")
        self.until(session.id, SessionState.AWAITING_PLAN_APPROVAL)
        self.client.sessions.approve_plan(session.id)
        self.client.sessions.send_message(session.id, "Keep it short.")
        done = self.until(session.id, SessionState.COMPLETED)
        self.assertEqual((done.prompt, done.title), ("Add a line to the notes.", "Notes"))
        self.assertEqual(done.source_context.source, SOURCE)

        activities = self.client.activities.list_all(session.id)
        self.assertEqual(len({activity.name for activity in activities}), len(activities))
        self.assertTrue(any(activity.plan_generated for activity in activities))
        self.assertTrue(any(activity.user_messaged for activity in activities))
        times = [activity.create_time[:19] for activity in activities]
        self.assertEqual(times, sorted(times), "oldest first")
        one = self.client.activities.get(session.id, activities[0].name.rsplit("/", 1)[1])
        self.assertEqual(one.name, activities[0].name)

    def test_pages(self) -> None:
        made = [self.create().id for _ in range(2)]
        first = self.client.sessions.list(page_size=1)
        self.assertEqual([session.id for session in first["sessions"]], made[-1:])
        second = self.client.sessions.list(page_size=1, page_token=first["nextPageToken"])
        self.assertEqual([session.id for session in second["sessions"]], made[:1])
        for session_id in made:
            self.until(session_id, SessionState.COMPLETED, SessionState.FAILED)

    def test_refusals(self) -> None:
        with self.assertRaises(JulesNotFoundError):
            self.client.sessions.get("1234567890123456789")
        with self.assertRaises(JulesValidationError):
            self.client.sessions.create("Without a branch.", SOURCE)
        with self.assertRaises(JulesAPIError):
            self.client.sessions.create("For no repository.", "sources/github/absent/nothing", starting_branch="main")
        with JulesClient(api_key="wrong", base_url=BASE, timeout=LIMIT) as refused, self.assertRaises(JulesAuthenticationError):
            refused.sessions.list()


if __name__ == "__main__":
    unittest.main(verbosity=2)
