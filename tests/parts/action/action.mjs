// The action, run by act as GitHub's runner would run it, against the models.
//
//   PHILEAS_BIN=target/debug/phileas node tests/parts/with-world.mjs node --test tests/parts/action/action.mjs
import '../no-words.mjs';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFileSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { arch, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { removeTree } from '../remove-tree.mjs';
import { act, advance, books, script, world } from '../world.mjs';
import { run, workflow, workflowOfDocs } from './act.mjs';

const REPOSITORY = { id: 1, full_name: world.repository, default_branch: 'main', fork: false };
const VERSION = /^version = "(.*)"$/m.exec(readFileSync(new URL('../../../Cargo.toml', import.meta.url), 'utf8'))[1];
const BINARY = `phileas-${arch() === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-gnu`;
const readme = workflowOfDocs();
const any = workflow('any.yml');
const fetching = workflow('fetch.yml');

const sessions = async () => (await books()).sessions.length;
const payload = (rest) => ({ repository: REPOSITORY, sender: { login: 'maintainer', type: 'User' }, ...rest });

/** A run that did nothing on purpose: green, with one notice, one row, a code, and no session. */
async function skips(text, event, given, reason, options) {
  const before = await sessions();
  const done = await run(text, event, given, options);
  assert.ok(done.ok, done.log.join('\n'));
  assert.equal(done.outputs.decision, 'skipped');
  assert.equal(done.outputs.reason, reason);
  assert.deepEqual([done.errors, done.warnings], [[], []]);
  assert.equal(done.notices.length, 1);
  assert.ok(done.notices[0].message.includes(reason));
  assert.ok(done.summary.includes(reason.replaceAll('_', '&#95;')), done.summary);
  assert.equal(await sessions(), before);
}

test('the clock starts what is due, and tells of it', async () => {
  await script({ ending: 'changes', questions: [], minutes: 20 });
  const done = await run(readme, 'schedule', { schedule: '17 * * * *', repository: REPOSITORY });
  assert.ok(done.ok, done.log.join('\n'));
  const [session] = (await books()).sessions;
  const { outputs } = done;
  assert.equal(outputs.decision, 'dispatched');
  assert.equal(outputs.reason, 'due.track');
  assert.equal(outputs.persona, 'curator');
  assert.equal(outputs.track, 'default');
  assert.equal(outputs['session-id'], session.id);
  assert.equal(outputs['session-url'], `https://jules.google.com/session/${session.id}`);
  assert.match(outputs['session-state'], /^[A-Z_]+$/);
  assert.match(outputs['state-sha'], /^[0-9a-f]{40}$/);
  assert.ok(!Number.isNaN(Date.parse(outputs['next-due'])));
  assert.equal(outputs['dry-run'], 'false');
  const all = JSON.parse(outputs.json);
  assert.equal(all.summary.dispatched, 1);
  assert.ok(all.lines.some((line) => line.track === 'schedule:auditor' && line.reason === 'waiting.not_due'));
  assert.match(done.summary, /^### phileas: started curator\n/);
  assert.ok(done.summary.includes(`[session](https://jules.google.com/session/${session.id})`));
  assert.match(done.summary, /\*\*Budget\*\*: 1 of 12 sessions within a day, 1 of 2 at work/);
  // Neither secret stands anywhere in what act printed, nor in the summary.
  for (const secret of [world.token, world.julesKey]) assert.ok(!JSON.stringify(done.lines).includes(secret));
});

test('a person starts a persona by workflow_dispatch', async () => {
  await advance('2m');
  const inputs = { persona: 'tester', track: '', 'dry-run': 'false' };
  const dry = await run(readme, 'workflow_dispatch', payload({ inputs: { ...inputs, 'dry-run': 'true' } }));
  assert.ok(dry.ok, dry.log.join('\n'));
  assert.deepEqual([dry.outputs.decision, dry.outputs.persona, dry.outputs['dry-run']], ['dispatched', 'tester', 'true']);
  assert.ok(dry.summary.includes('dry run'), dry.summary);
  assert.equal(await sessions(), 1);
  const done = await run(readme, 'workflow_dispatch', payload({ inputs }));
  assert.ok(done.ok, done.log.join('\n'));
  assert.deepEqual([done.outputs.decision, done.outputs.reason, done.outputs.persona], ['dispatched', 'due.request', 'tester']);
  assert.equal(await sessions(), 2);
});

test('a persona that does not exist is a red run that says so once', async () => {
  const done = await run(readme, 'workflow_dispatch', payload({ inputs: { persona: 'absent' } }));
  assert.ok(!done.ok);
  assert.equal(done.outputs.reason, 'refused.unknown');
  assert.equal(done.errors.length, 1);
  assert.ok(done.log.some((line) => line.includes('exit status 2') || line.includes('exitcode \'2\'')), done.log.join('\n'));
});

test('a push to the default branch is followed by a tick', async () => {
  await advance('30m');
  const done = await run(readme, 'push', payload({ ref: 'refs/heads/main', commits: [] }));
  assert.ok(done.ok, done.log.join('\n'));
  assert.ok(['dispatched', 'advanced', 'settled', 'waiting'].includes(done.outputs.decision), done.outputs.decision);
  assert.ok(JSON.parse(done.outputs.json).summary.github_requests > 0);
});

test('an issue that a writer labels is worked on, and the label comes off', async () => {
  await tidy();
  const issue = await act({ act: 'open-issue', by: 'outsider', title: 'It is slow', body: 'Opening takes a whole minute.' });
  await act({ act: 'label', by: 'maintainer', number: issue.number, label: 'phileas:refactor' });
  const done = await run(readme, 'issues', payload({ action: 'labeled', issue, label: { name: 'phileas:refactor' } }));
  assert.ok(done.ok, done.log.join('\n'));
  assert.equal(done.outputs.decision, 'dispatched');
  const [session, ...further] = (await books()).sessions.filter((one) => one.prompt.includes('Opening takes a whole minute.'));
  assert.deepEqual(further, []);
  const begun = JSON.parse(done.outputs.json).lines.find((line) => line.reason === 'due.request');
  assert.equal(begun?.persona, 'refactor', done.outputs.json);
  const { labels, comments } = await shown(issue.number);
  assert.deepEqual(labels, []);
  assert.equal(comments.length, 1, comments.join('\n'));
  assert.ok(comments[0].includes('`refactor`, requested by `maintainer`: at work'), comments[0]);
  assert.ok(comments[0].includes(session.id), comments[0]);
});

test('an issue that an unauthorized user labels is refused, with one comment', async () => {
  await tidy();
  await act({ act: 'set-role', login: 'triager', role: 'triage' });
  const issue = await act({ act: 'open-issue', by: 'outsider', title: 'It is slow again', body: 'Closing takes a whole minute.' });
  await act({ act: 'label', by: 'triager', number: issue.number, label: 'phileas:refactor' });
  const event = { ...payload({ action: 'labeled', issue, label: { name: 'phileas:refactor' } }), sender: { login: 'triager', type: 'User' } };
  for (let times = 0; times < 2; times += 1) {
    const done = await run(readme, 'issues', event, { actor: 'triager' });
    assert.ok(done.ok, done.log.join('\n'));
    assert.deepEqual(done.errors, []);
    const refused = JSON.parse(done.outputs.json).lines.filter((line) => line.decision === 'refused');
    assert.deepEqual(refused.map((line) => line.reason), times === 0 ? ['refused.actor_permission'] : []);
    const { labels, comments } = await shown(issue.number);
    assert.deepEqual(labels, []);
    assert.equal(comments.length, 1, comments.join('\n'));
    assert.ok(comments[0].includes('refused.actor_permission'), comments[0]);
  }
  assert.ok(!(await books()).sessions.some((one) => one.prompt.includes('Closing takes a whole minute.')));
});

test('a comment that begins with a command is executed where its writer may write', async () => {
  await tidy();
  const issue = await act({ act: 'open-issue', by: 'maintainer', title: 'No tests', body: 'No test covers the words of a text.' });
  const says = async (body, by) => {
    const { comment } = await act({ act: 'comment', by, number: issue.number, body });
    const done = await run(readme, 'issue_comment', {
      ...payload({ action: 'created', issue, comment: { id: comment, body, user: { login: by, type: 'User' } } }),
      sender: { login: by, type: 'User' },
    }, { actor: by });
    assert.ok(done.ok, done.log.join('\n'));
    return { comment, lines: JSON.parse(done.outputs.json).lines };
  };
  const asked = async () => (await books()).sessions.filter((one) => one.prompt.includes('No test covers the words of a text.'));
  const { lines } = await says('/phileas run tester', 'outsider');
  assert.ok(lines.some((line) => line.reason === 'refused.actor_permission'), JSON.stringify(lines));
  assert.deepEqual(await asked(), []);
  assert.equal((await shown(issue.number)).comments.length, 1, 'an unauthorized user is not answered');

  const { comment } = await says('/phileas run tester', 'maintainer');
  assert.equal((await asked()).length, 1);
  const reactions = await read(`issues/comments/${comment}/reactions`);
  assert.deepEqual(reactions.map((one) => one.content), ['eyes']);
  const { comments } = await shown(issue.number);
  assert.equal(comments.length, 3, comments.join('\n'));
  assert.ok(comments[2].includes('`tester`, requested by `maintainer`: at work'), comments[2]);
});

test('what is not for us is a green, explained skip', async () => {
  await skips(any, 'watch', payload({ action: 'started' }), 'skipped.event');
  await skips(any, 'push', payload({ ref: 'refs/heads/jules', commits: [] }), 'skipped.branch');
  await skips(any, 'issue_comment', payload({ action: 'edited', comment: { body: '/phileas run curator' } }), 'skipped.comment_edited');
  const comment = { body: 'thank you', user: { login: 'maintainer', type: 'User' } };
  await skips(any, 'issue_comment', payload({ action: 'created', comment }), 'skipped.no_command');
  const pull = (head) => ({ head: { ref: 'x', sha: 'a'.repeat(40), repo: { id: head } }, base: { ref: 'main', repo: { id: 1 } } });
  await skips(any, 'pull_request', payload({ action: 'opened', number: 3, pull_request: pull(2) }), 'skipped.fork');
  await skips(any, 'pull_request', payload({ action: 'opened', number: 3, pull_request: pull(1) }), 'skipped.pull_request');
  const fork = { repository: { ...REPOSITORY, fork: true }, ref: 'refs/heads/main' };
  await skips(any, 'push', fork, 'skipped.fork_without_key', { secrets: { JULES_API_KEY: null } });
});

test('a request counts only when all users who caused the run may write', async () => {
  const before = await sessions();
  const labeled = payload({ action: 'labeled', issue: { number: 7 }, label: { name: 'x' } });
  const request = { env: { PERSONA: 'refactor' }, actor: 'outsider' };
  const done = await run(any, 'issues', labeled, request);
  assert.ok(done.ok, done.log.join('\n'));
  assert.deepEqual([done.outputs.decision, done.outputs.reason], ['refused', 'refused.actor_permission']);
  assert.ok(done.notices[0].message.includes('outsider'));
  const upstream = { path: '.github/workflows/ci.yml', head_repository: { id: 1 }, actor: { login: 'maintainer' }, triggering_actor: { login: 'outsider' } };
  const chained = await run(any, 'workflow_run', payload({ action: 'completed', workflow_run: upstream }), { env: { PERSONA: 'refactor' } });
  assert.equal(chained.outputs.reason, 'refused.actor_permission');
  assert.equal(await sessions(), before);
});

test('a missing key is one clear error, and exit code 3', async () => {
  const done = await run(readme, 'schedule', { schedule: '17 * * * *', repository: REPOSITORY }, { secrets: { JULES_API_KEY: null } });
  assert.ok(!done.ok);
  assert.deepEqual([done.outputs.decision, done.outputs.reason], ['failed', 'failed.credential']);
  assert.equal(done.errors.length, 1);
  assert.match(done.errors[0].message, /no Jules key.*JULES_API_KEY/);
  assert.ok(done.log.some((line) => line.includes('exit status 3') || line.includes('exitcode \'3\'')), done.log.join('\n'));
  assert.ok(done.summary.includes('failed.credential'), done.summary);
});

test('a mistake in the plan stands beside its line', async () => {
  const broken = 'cycle = ["curator", "refactor", "tester", "absent"]\n';
  const sound = await plan();
  await act({ act: 'push-files', branch: 'main', files: { '.jules/schedules.toml': broken } });
  const done = await run(readme, 'push', payload({ ref: 'refs/heads/main' }));
  await act({ act: 'push-files', branch: 'main', files: { '.jules/schedules.toml': sound } });
  assert.ok(!done.ok);
  const placed = done.errors.find((error) => error.file === '.jules/schedules.toml');
  assert.ok(placed, JSON.stringify(done.errors));
  assert.deepEqual([placed.line, placed.col], ['1', '43']);
  assert.ok(placed.message.includes('absent'));
  assert.ok(done.summary.includes('Mistakes in the plan'), done.summary);
});

test('the binary of a release is fetched, checked and kept', async () => {
  // A release's binary is not built here; what stands in for it says its version and hands on to the one that is.
  const content = '#!/bin/sh\nexec "$BINARY" "$@"\n';
  const sum = createHash('sha256').update(content).digest('hex');
  await publish(VERSION, content, sum);
  const env = { DOWNLOADS: `${world.github}/${world.repository}/releases/download` };
  const dispatched = payload({ inputs: {} });
  const done = await run(fetching, 'workflow_dispatch', dispatched, { env });
  assert.ok(done.ok, done.log.join('\n'));
  assert.equal(done.outputs['dry-run'], 'true');
  assert.ok(done.outputs.decision);
  assert.ok(said(done, `phileas ${VERSION} from the release v${VERSION}`), done.log.join('\n'));

  // A machine that stays fetches it once.
  const cache = mkdtempSync(join(tmpdir(), 'phileas-tools-'));
  try {
    const first = await run(fetching, 'workflow_dispatch', dispatched, { env, tools: cache });
    assert.ok(said(first, 'from the release'), first.log.join('\n'));
    const again = await run(fetching, 'workflow_dispatch', dispatched, { env, tools: cache });
    assert.ok(again.ok && said(again, 'from the tool cache'), again.log.join('\n'));
    // What came from one place is not what another has.
    const away = { DOWNLOADS: `${world.github}/absent/nothing/releases/download` };
    const other = await run(fetching, 'workflow_dispatch', dispatched, { env: away, tools: cache });
    assert.ok(!other.ok && !said(other, 'from the tool cache'), other.log.join('\n'));
    // What was changed meanwhile is not run.
    const kept = readdirSync(cache, { recursive: true }).find((path) => /linux-gnu\/phileas$/.test(path));
    appendFileSync(join(cache, kept), 'echo changed\n');
    const repeated = await run(fetching, 'workflow_dispatch', dispatched, { env, tools: cache });
    assert.ok(repeated.ok && said(repeated, 'from the release'), repeated.log.join('\n'));
  } finally {
    removeTree(cache);
  }

  // `gh` is asked where it was built, and its no is a no.
  const gh = (verdict) => ({ gh: `#!/bin/sh\ncase "$*" in *--help*) exit 0 ;; esac\necho "gh $*"\nexit ${verdict}\n` });
  const attested = await run(fetching, 'workflow_dispatch', dispatched, { env, programs: gh(0) });
  assert.ok(attested.ok, attested.log.join('\n'));
  assert.ok(said(attested, '--signer-workflow phileas/phileas/.github/workflows/release.yml'), attested.log.join('\n'));
  const denied = await run(fetching, 'workflow_dispatch', dispatched, { env, programs: gh(1) });
  assert.ok(!denied.ok);
  assert.match(denied.errors[0].message, /no attestation/);
  assert.deepEqual(denied.outputs.decision || '', '');
  const wanted = await run(fetching, 'workflow_dispatch', dispatched, { env: { ...env, ATTESTATION: 'always' }, programs: { gh: '#!/bin/sh\nexit 1\n' } });
  assert.match(wanted.errors[0].message, /attestation: always/);
});

test('a file with another digest, or none, is refused, and nothing of it runs', async () => {
  const evil = '#!/bin/sh\necho RAN >&2\nexec "$BINARY" "$@"\n';
  const env = { DOWNLOADS: `${world.github}/${world.repository}/releases/download` };
  for (const [version, sums, word] of [
    ['9.9.1', `${'0'.repeat(64)}  ${BINARY}\n`, /nothing was run/],
    ['9.9.2', `${'0'.repeat(64)}  another-file\n`, /does not name/],
    ['9.9.3', null, /cannot be fetched/],
  ]) {
    await publish(version, evil, null, sums);
    const done = await run(fetching, 'workflow_dispatch', payload({ inputs: {} }), { env: { ...env, VERSION: version } });
    assert.ok(!done.ok);
    assert.equal(done.errors.length, 1, done.log.join('\n'));
    assert.match(done.errors[0].message, word);
    assert.ok(!said(done, 'RAN'));
    assert.equal(done.outputs.decision || '', '');
  }
});

test('PATH counts when its version is the wanted one, and a build only when it is asked for', async () => {
  const phileas = (version) => `#!/bin/sh\nif [ "$1" = --version ]; then echo "phileas ${version}"; else exec "$BINARY" "$@"; fi\n`;
  const env = { DOWNLOADS: `${world.github}/absent/nothing/releases/download` };
  const here = await run(fetching, 'workflow_dispatch', payload({ inputs: {} }), { env, programs: { phileas: phileas(VERSION) } });
  assert.ok(here.ok, here.log.join('\n'));
  assert.ok(said(here, `phileas ${VERSION} from PATH`));
  const old = await run(fetching, 'workflow_dispatch', payload({ inputs: {} }), { env, programs: { phileas: phileas('0.0.1') } });
  assert.ok(!old.ok);
  assert.match(old.errors[0].message, /cannot be fetched/);
  const cargo = '#!/bin/sh\nwhile [ "$1" != --target-dir ]; do shift; done\nmkdir -p "$2/release" && ln -s "$BINARY" "$2/release/phileas"\n';
  const built = await run(fetching, 'workflow_dispatch', payload({ inputs: {} }), { env: { ...env, BUILD: 'true' }, programs: { cargo } });
  assert.ok(built.ok, built.log.join('\n'));
  assert.ok(said(built, 'from its source'));
});

const said = (done, text) => done.log.some((line) => line.includes(text));

async function publish(version, content, sum, sums = `${sum}  ${BINARY}\n`) {
  await act({ act: 'set-private', private: false });
  const assets = { [BINARY]: Buffer.from(content).toString('base64') };
  if (sums !== null) assets.SHA256SUMS = Buffer.from(sums).toString('base64');
  await act({ act: 'publish-release', tag: `v${version}`, assets });
}

/** The labels of an issue, and the texts of its comments. */
async function shown(number) {
  const [issue, comments] = [await read(`issues/${number}`), await read(`issues/${number}/comments`)];
  return { labels: issue.labels.map((label) => label.name), comments: comments.map((comment) => comment.body) };
}

/** Lets all sessions finish, and closes what waits for a review, so that there is room for a session. */
async function tidy() {
  await advance('1h');
  const done = await run(readme, 'schedule', { schedule: '17 * * * *', repository: REPOSITORY });
  assert.ok(done.ok, done.log.join('\n'));
  await advance('1h');
  for (const pull of await read('pulls?state=open')) await act({ act: 'close', by: 'maintainer', number: pull.number });
}

const plan = async () => (await ask('contents/.jules/schedules.toml', 'application/vnd.github.raw+json')).text();
const read = async (path) => (await ask(path, 'application/vnd.github+json')).json();

async function ask(path, accept) {
  const reply = await fetch(`${world.github}/repos/${world.repository}/${path}`, {
    headers: { authorization: `Bearer ${world.token}`, accept },
  });
  assert.equal(reply.status, 200);
  return reply;
}
