// Layers over a day of the models: what only they ask GitHub for.
import { act, advance, world } from './world.mjs';

const MOST_TICKS = 40;
const BETWEEN_TICKS = '30m'; // of the world's time
// Only layers work, and only when they are called.
const PLAN = `[budget]
max_active = 5
max_open_pulls = 50
daily_sessions = 90
tier = "ultra"
`;
const CONFIG = `version = 1
[workflow]
cron = "0 1 1 1 *"
layers = ["narrator", "implementer"]
`;
const REQUIREMENT = `schema_version: 2
id: "item01"
source_events: ["even01"]
title: Stop at the deadline
label: bugs
priority: medium
summary: The client stops when its caller has given up.
goal: No work without a waiting caller.
problem: The client goes on after its caller has given up.
impact: Connections are held for nothing.
desired_outcome: The client stops at the deadline.
constraints: []
affected_areas: [src/retry.rs]
risks: []
acceptance_criteria:
  - A test shows that it stops.
verification_criteria:
  - The tests pass.
requires_deep_analysis: false
deep_analysis_reason: ""
`;
// The routes that this takes.
export const LAYER_ROUTES = [
  'GET /repos/{owner}/{repo}/compare/{basehead}',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/comments',
];

/** A narrator tells twice, so that the second time begins where the first ended; people turn an implementer's work down. */
export async function layers(phileas, exercised) {
  const [compare, ...remarks] = LAYER_ROUTES;
  await act({ act: 'push-files', branch: 'main', files: { '.jules/schedules.toml': PLAN, '.jlo/config.toml': CONFIG } });
  const until = async (isEnough, command) => {
    for (let count = 0; count < MOST_TICKS; count += 1) {
      if (await isEnough()) return;
      await act({ act: 'push-files', branch: 'main', files: { 'notes.md': `Note ${count}.\n` } });
      await phileas(command);
      await advance(BETWEEN_TICKS);
    }
  };
  await until(() => exercised(compare), 'tick --json --entry-point narrator');

  await act({ act: 'push-files', branch: 'jules', files: { '.jules/exchange/requirements/deadline.yml': REQUIREMENT } });
  const before = new Set((await openPulls()).map(({ number }) => number));
  const theirs = async () => (await openPulls()).find(({ number }) => !before.has(number));
  await until(theirs, 'tick --json --entry-point requirements');
  await phileas('tick --json');
  const pull = await theirs();
  if (!pull) throw new Error(`no implementer opened a pull request within ${MOST_TICKS} ticks`);
  await act({ act: 'review-pull', number: pull.number, verdict: 'request-changes', body: 'Use the clock that the client has.' });
  await act({ act: 'comment', number: pull.number, body: 'Not like this.' });
  await act({ act: 'close', number: pull.number });
  await until(() => remarks.every(exercised), 'tick --json');
}

async function openPulls() {
  const reply = await fetch(new URL(`/repos/${world.repository}/pulls?state=open&per_page=100`, world.github), {
    headers: { authorization: `Bearer ${world.token}`, 'user-agent': 'parts' },
  });
  return reply.json();
}
