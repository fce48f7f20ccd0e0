// The official Jules SDK against the Jules model. It throws on every activity, artifact or output that it does
// not know, so what it accepts is what the real service may send.
//
//   node tests/parts/with-world.mjs node tests/parts/jules-sdk.mjs
import './no-words.mjs';
import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { connect } from '@google/jules-sdk';
import { removeTree } from './remove-tree.mjs';
import { advance, books, script, setFaults, world } from './world.mjs';

const LIMIT = { timeout: 300_000 };
const RESULT_LIMIT_MS = 120_000;
const STEP = '5m'; // of the world's time
const STEPS = 200;

// The SDK answers from its cache where it can; a folder of our own keeps earlier runs out.
process.env.JULES_HOME = mkdtempSync(join(tmpdir(), 'jules-sdk-'));
after(() => removeTree(process.env.JULES_HOME));

// How a session ends is drawn by chance unless a script says it.
before(() => script({ when: { title: '^Notes$' }, ending: 'changes', questions: [], minutes: 20 }));

const client = (apiKey, maxRetryTimeMs = 60_000) => connect({
  apiKey,
  baseUrl: world.jules,
  config: {
    pollingIntervalMs: 20,
    requestTimeoutMs: 120_000,
    rateLimitRetry: { maxRetryTimeMs, baseDelayMs: 10, maxDelayMs: 50 },
  },
});
const jules = client(world.julesKey);
let baseBranch;
const newSession = (more) => jules.session({
  prompt: 'Add a line to the notes.', title: 'Notes', source: { github: world.repository, baseBranch }, ...more,
});

test('the source of the repository', LIMIT, async () => {
  const names = [];
  for await (const source of jules.sources()) names.push(source.name);
  assert.ok(names.includes(`sources/github/${world.repository}`), names.join(' '));
  const source = await jules.sources.get({ github: world.repository });
  assert.equal(source.githubRepo.repo, world.repo);
  baseBranch = source.githubRepo.defaultBranch;
  assert.ok(source.githubRepo.branches.includes(baseBranch), 'the default branch is among the branches');
});

test('a wrong key is refused', LIMIT, async () => {
  await assert.rejects(client('wrong').sources.get({ github: world.repository }), { name: 'JulesAuthenticationError' });
});

test('a session from its plan over approval and a message to its result', LIMIT, async () => {
  const session = await newSession({ requireApproval: true, autoPr: true });
  assert.match(session.id, /^\d{15,20}$/);
  // Not by info(): the SDK takes a session of a past date, as the world's are, from its cache for ever.
  await passing(session.waitFor('awaitingPlanApproval', { timeoutMs: RESULT_LIMIT_MS }));
  await session.approve();
  await session.send('Keep it short.');
  const outcome = await passing(session.result({ timeoutMs: RESULT_LIMIT_MS }));
  assert.equal(outcome.state, 'completed');
  assert.match(outcome.pullRequest.url, new RegExp(`/${world.repository}/pull/\\d+$`));

  const kinds = [];
  for await (const activity of session.history()) kinds.push(activity.type);
  for (const kind of ['planGenerated', 'planApproved', 'userMessaged', 'sessionCompleted']) {
    assert.ok(kinds.includes(kind), `${kind} among ${kinds.join(' ')}`);
  }
  assert.ok(kinds.indexOf('planGenerated') < kinds.indexOf('planApproved'), kinds.join(' '));
});

test('a session without a pull request leaves a change set', LIMIT, async () => {
  const session = await newSession({ requireApproval: false, autoPr: false });
  const outcome = await passing(session.result({ timeoutMs: RESULT_LIMIT_MS }));
  assert.equal(outcome.pullRequest, undefined);
  const { outputs } = await session.info();
  const changes = outputs.find(({ type }) => type === 'changeSet');
  assert.match(changes.changeSet.gitPatch.unidiffPatch, /^diff --git /m);
  assert.match(changes.changeSet.gitPatch.baseCommitId, /^[0-9a-f]{40}$/);
});

test('the listing, in pages, newest first, archived ones apart', LIMIT, async () => {
  const session = await newSession({ requireApproval: false });
  const listed = [];
  for await (const entry of jules.sessions({ pageSize: 1, persist: false })) listed.push(entry);
  assert.ok(listed.length >= 3, `${listed.length} sessions`);
  assert.equal(listed[0].id, session.id);
  assert.equal(listed[0].title, 'Notes');

  await passing(session.result({ timeoutMs: RESULT_LIMIT_MS }));
  await session.archive();
  assert.ok(!(await ids()).includes(session.id), 'an archived session is not in the plain listing');
  assert.ok((await ids('archived = true')).includes(session.id), 'it is among the archived ones');
  await session.unarchive();
  assert.ok((await ids()).includes(session.id), 'and back in the plain listing');
});

test('an injected 429 is waited out', LIMIT, async () => {
  await setFaults({ face: 'jules', method: 'POST', path: '/v1alpha/sessions', nth: 1, fault: { kind: 'status', status: 429 } });
  const session = await newSession({ requireApproval: false });
  await setFaults();
  assert.equal((await ids()).filter((id) => id === session.id).length, 1);
  const creates = (await books()).requests.filter(({ face, method, path }) => face === 'jules' && method === 'POST' && path === '/v1alpha/sessions');
  assert.deepEqual(creates.slice(-2).map(({ status }) => status), [429, 200]);
});

test('an injected 429 that lasts is reported as such', LIMIT, async () => {
  await setFaults({ face: 'jules', method: 'GET', fault: { kind: 'status', status: 429 } });
  const impatient = client(world.julesKey, 1_000);
  await assert.rejects(impatient.sessions({ persist: false }).all(), { name: 'JulesRateLimitError' });
  await setFaults();
});

async function ids(filter) {
  const all = await jules.sessions({ pageSize: 100, persist: false, ...(filter && { filter }) }).all();
  return all.map(({ id }) => id);
}

/** Lets the world's time pass while a promise is open. */
async function passing(promise) {
  let open = true;
  const settled = promise.finally(() => { open = false; });
  settled.catch(() => {}); // Reported by the await below.
  for (let step = 0; open && step < STEPS; step += 1) await advance(STEP);
  return settled;
}
