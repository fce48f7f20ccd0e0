// phileas and the GitHub model against the descriptions that GitHub publishes.
//
//   node tests/parts/spec.mjs && node tests/parts/with-world.mjs node tests/parts/prism.mjs
//
//   phileas ──> router ──> Prism ──> GitHub model      REST: Prism holds request and answer against the description
//                  └─────────────> GitHub model      GraphQL: held against the schema here; git and /__world: passed on
//   phileas ──> router ─────────────────> Jules model      counted only: Jules publishes no description
//
// First Octokit makes its calls through Prism, then phileas works while the world's time passes: at a command line, and
// as a service. Fails when anything broke a description, when a run ends otherwise than expected, and when phileas has a
// route that was never taken.
import './no-words.mjs';
import { once } from 'node:events';
import { createWriteStream, existsSync, readFileSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answerProblems, documentProblems } from './github-schema.mjs';
import { layers } from './prism-layers.mjs';
import { service } from './prism-service.mjs';
import { run, start } from './programs.mjs';
import { act, advance, books, script, setFaults, world } from './world.mjs';

const START_LIMIT_MS = 180_000;
const ANSWER_LIMIT_MS = 120_000;
const QUIET_TICKS = 6;
const MOST_TICKS = 40;
const BETWEEN_TICKS = '30m'; // of the world's time
const STATUS_MARKER = '<!-- phileas:status -->';
const ROUTE_FILES = { github: 'src/adapters/github/http/routes.rs', jules: 'src/adapters/jules/routes.rs' };
// Routes that cannot be taken here, each with the reason. An entry that is exercised after all is an error too.
const OUT_OF_REACH = {
  github: {
    'POST /repos/{owner}/{repo}/issues/{issue_number}/labels': 'for tokens of which GitHub drops the label of a new issue',
  },
  jules: {
    'POST /v1alpha/sessions/{session}:approvePlan': 'no session of these runs waits for the approval of its plan',
  },
};
// The steps of a track whose sessions start from branches of their own, so that pull requests are pointed elsewhere.
const PLAN_WITH_BRANCHES = `cycle = ["curator", "refactor", "tester"]
[defaults]
branch = "persona"
skip_unchanged = false
[budget]
max_open_pulls = 50
daily_sessions = 50
tier = "pro"
`;
// The same on the default branch, where a label may ask for a merge.
const PLAN_THAT_MERGES = PLAN_WITH_BRANCHES.replace('branch = "persona"', 'merge = "green"');
// A workflow that calls phileas as it should.
const WORKFLOW = `on:
  schedule: [{ cron: "17 * * * *" }]
  push:
  issues:
  issue_comment:
  workflow_dispatch:
jobs:
  tick:
    steps: [{ uses: phileas/phileas@v1 }]
`;

const root = fileURLToPath(new URL('../..', import.meta.url));
const log = createWriteStream(join(root, '.parts/prism.log'));
const servers = [];

const violations = [];
let seen = nothingSeen(); // face -> set of "METHOD path", of Octokit or of phileas
let counts; // "face METHOD route status" -> number, of the phase at hand
const description = JSON.parse(readFileSync(join(root, '.parts/github.json'), 'utf8'));
const templates = publishedTemplates();

const prism = await startPrism();
// Prism would follow the answer of a job's log to the store itself, and take the token along.
const github = await startRouter('github', (path) => (
  path === '/graphql' || path.startsWith('/__world/') || /^\/[^/]+\/[^/]+\.git\//.test(path) || /\/actions\/jobs\/\d+\/logs$/.test(path) || path.startsWith('/actions-results/') ? world.github : prism));
const jules = await startRouter('jules', () => new URL(world.jules).origin);

const failures = [
  ...(await phase('Octokit', () => run(process.execPath, [
    '--test', '--test-concurrency=1', '--test-reporter=spec', ...['octokit.mjs', 'octokit-routes.mjs'].map((file) => join(root, 'tests/parts', file)),
  ], { GITHUB_FACE: github }))),
  ...(existsSync(join(root, ROUTE_FILES.github)) ? await ownRoutes() : nothingYet(ROUTE_FILES.github)),
  ...violations,
];
servers.forEach((server) => server.close());
for (const failure of failures) console.log(`FAILED ${failure}`);
console.log(failures.length === 0 ? 'no violation' : `${failures.length} failures`);
process.exit(failures.length === 0 ? 0 : 1);

/** Runs one phase, prints what it requested, and gives its failures; one that cannot go on is a failure too. */
async function phase(name, work) {
  counts = new Map();
  console.log(`-- ${name}`);
  const failures = await work().catch((error) => [error.stack]);
  for (const [line, count] of [...counts].sort()) console.log(`${String(count).padStart(6)}  ${line}`);
  return failures.map((failure) => `${name}: ${failure}`);
}

/** phileas at a command line and as a service, until each of its routes was taken. */
async function ownRoutes() {
  const wanted = Object.fromEntries(Object.entries(ROUTE_FILES).map(([face, file]) => [face, routesOf(file)]));
  const surroundings = {
    GITHUB_API_URL: github,
    GITHUB_GRAPHQL_URL: `${github}/graphql`,
    JULES_API_KEY: world.julesKey,
    JULES_API_BASE: jules + new URL(world.jules).pathname,
    PHILEAS_LOG: 'error',
  };
  seen = nothingSeen();
  return [
    ...wanted.github.filter((route) => !published(route)).map((route) => `not in GitHub's description: ${route}`),
    ...(await phase('phileas', () => journey(surroundings))),
    ...(await phase('phileas as a service', () => service(surroundings, (route) => exercised('github', route)))),
    ...unexercised(wanted).map((route) => `never exercised: ${route}`),
    ...stale(wanted),
  ];
}

/** phileas on good days and on bad ones, and a person at its command line. */
async function journey(surroundings) {
  const failures = [];
  const phileas = async (command, expected = 0, more = {}) => failures.push(...await run(process.env.PHILEAS_BIN, command.split(' '), {
    ...surroundings,
    ...more,
    GITHUB_REPOSITORY: world.repository,
    GITHUB_TOKEN: world.token,
  }, expected));
  const tick = async (expected) => {
    await phileas('tick --json', expected);
    await advance(BETWEEN_TICKS);
  };
  const untilTaken = async (face, ...routes) => {
    for (let count = 0; count < MOST_TICKS && failures.length === 0 && !routes.every((route) => exercised(face, route)); count += 1) await tick();
  };

  // Sessions that need no person, on a schedule.
  await script({ ending: 'changes', questions: [], minutes: 20 });
  for (let count = 0; count < QUIET_TICKS; count += 1) await tick();

  // A person looks, and speaks.
  const { sessions: [{ id }] } = await books();
  for (const command of ['status', 'track list', 'session list --archived', `session show ${id}`, `session approve ${id}`, 'explain --json']) {
    await phileas(command);
  }

  // A label asks for a persona, a comment how it goes, and another one takes it back: its plan would wait for a writer.
  const request = await act({ act: 'open-issue', title: 'Look at this', labels: ['phileas:curator'] });
  await phileas('tick --json');

  // Another replica has sent the same at that moment. The next writer removes the younger copy.
  const talk = new URL(`/repos/${world.repository}/issues/${request.number}/comments`, world.github);
  const headers = { authorization: `Bearer ${world.token}`, 'content-type': 'application/json' };
  const said = await (await fetch(talk, { headers })).json();
  const { body } = said.find((comment) => comment.body.includes(STATUS_MARKER));
  await fetch(talk, { method: 'POST', headers, body: JSON.stringify({ body }) });
  await advance(BETWEEN_TICKS);
  await act({ act: 'comment', number: request.number, body: '/phileas status' });
  await untilTaken('github', 'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', 'POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions', 'DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}');

  await act({ act: 'comment', number: request.number, body: '/phileas cancel' });
  await tick();

  // A job fails on a pull request, and its log goes to the session.
  const shown = await fetch(new URL(`/repos/${world.repository}/pulls?state=open`, world.github), { headers: { authorization: `Bearer ${world.token}` } });
  const pulls = await shown.json();
  await act({ act: 'fail-job', number: pulls[0].number, name: 'build', log: '##[error]exit code 101\n' });
  await untilTaken('github', 'GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs');

  // Another one is green and approved, and a label asks for its merge.
  await act({ act: 'push-files', branch: 'main', files: { '.jules/schedules.toml': PLAN_THAT_MERGES } });
  const { number: green } = pulls.at(-1);
  await act({ act: 'set-check', number: green, name: 'build', conclusion: 'success' });
  await act({ act: 'review-pull', number: green, verdict: 'approve' });
  await act({ act: 'label', number: green, label: 'phileas:merge' });
  await untilTaken('github', 'GET /repos/{owner}/{repo}/pulls/{pull_number}/files', 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge');

  // A person wants to know what is wrong: a workflow sleeps, labels are missing, the ledger is protected, all is paused.
  const workflow = '.github/workflows/clock.yml';
  await act({ act: 'push-files', branch: 'main', files: { [workflow]: WORKFLOW } });
  await act({ act: 'run-workflow', path: workflow, conclusion: 'success' });
  await act({ act: 'set-workflow', path: workflow, state: 'disabled_inactivity' });
  await act({ act: 'protect-branch', branch: 'jules', rules: ['deletion', 'non_fast_forward'], classic: {} });
  const { number } = await act({ act: 'open-issue', title: 'Stop', labels: ['phileas:pause'] });
  await phileas('doctor --fix');
  await act({ act: 'unlabel', number, label: 'phileas:pause' });
  await act({ act: 'close', number });

  // A workflow runs the action, and asks who requested a persona.
  for (const actor of ['maintainer', 'absent-user']) {
    await phileas('action', 0, { GITHUB_EVENT_NAME: 'issues', GITHUB_ACTOR: actor, INPUT_PERSONA: 'auditor', INPUT_DRY_RUN: 'true' });
  }

  // An answer to a commit is lost: the branch tells what became of it.
  await setFaults({ face: 'github', path: '/graphql', body: 'createCommitOnBranch', nth: 1, fault: { kind: 'drop-after' } });
  await phileas('track pause default');
  await setFaults();
  await phileas('track resume default');

  // Sessions on branches of their own; an answer to the retargeting says nothing of it.
  await act({ act: 'push-files', branch: 'main', files: { '.jules/schedules.toml': PLAN_WITH_BRANCHES } });
  await setFaults({ face: 'github', method: 'PATCH', path: '/repos/*/pulls/*', nth: 1, fault: { kind: 'status', status: 502, done: true } });
  await untilTaken('github', 'PATCH /repos/{owner}/{repo}/pulls/{pull_number}', 'GET /repos/{owner}/{repo}/pulls/{pull_number}');
  await setFaults();

  // The state file breaks: a person is called, looks at the proposal, takes it, and the call is closed.
  await act({ act: 'push-files', branch: 'jules', files: { '.jules/cycle_state.json': '{ broken' } });
  await removeLabel('phileas');
  await tick(5);
  await phileas('state show', 5);
  await phileas('state repair');
  await phileas('state repair --write');
  await untilTaken('github', 'PATCH /repos/{owner}/{repo}/issues/{issue_number}');

  // A beginning by a pull request, and labels: one of no persona, one of another colour, the rest missing.
  await removeLabel('phileas:hold');
  for (const name of ['phileas:ghost', 'phileas:hold']) await createLabel(name);
  await phileas('labels sync --prune');
  await phileas(`init --pull-request --yes --action phileas/phileas@${'0'.repeat(40)}`);

  // Layers at work, whose sessions take their time.
  if (failures.length === 0) await layers(phileas, (route) => exercised('github', route));

  // The brake, and its release.
  await phileas('pause --cancel-sessions');
  await phileas('resume');
  return failures;
}

/** Deletes a label, behind the back of all that is checked here. */
async function removeLabel(name) {
  const reply = await fetch(`${world.github}/repos/${world.repository}/labels/${name}`, {
    method: 'DELETE', headers: { authorization: `Bearer ${world.token}`, 'user-agent': 'parts' },
  });
  if (reply.status !== 204) throw new Error(`the label ${name} was not deleted: ${reply.status}`);
}

/** Makes a label, likewise. */
async function createLabel(name) {
  const reply = await fetch(`${world.github}/repos/${world.repository}/labels`, {
    method: 'POST', headers: { authorization: `Bearer ${world.token}`, 'user-agent': 'parts' }, body: JSON.stringify({ name, color: 'ededed' }),
  });
  if (reply.status !== 201) throw new Error(`the label ${name} was not made: ${reply.status}`);
}

/** The routes of an adapter: `pub const NAME: &str = "GET /repos/{owner}/{repo}/…";`, one constant each. */
function routesOf(file) {
  const routes = [...readFileSync(join(root, file), 'utf8').matchAll(/\bconst\s+\w+\s*:\s*&(?:'static\s+)?str\s*=\s*"([A-Z]+ \/[^"]*)"/g)]
    .map(([, route]) => route);
  if (routes.length === 0) throw new Error(`${file} holds no route constant: fix the pattern in tests/parts/prism.mjs`);
  return routes;
}

/** Whether GitHub's description has the route, under whatever parameter names. */
function published(route) {
  const nameless = (path) => path.replace(/\{[^}]+\}/g, '{}');
  const [method, path] = route.split(' ');
  return Object.entries(description.paths).some(([known, item]) => nameless(known) === nameless(path) && method.toLowerCase() in item);
}

function unexercised(wanted) {
  return Object.entries(wanted).flatMap(([face, routes]) => routes
    .filter((route) => !(route in OUT_OF_REACH[face]) && !exercised(face, route))
    .map((route) => `${face} ${route}`));
}

function stale(wanted) {
  return Object.entries(OUT_OF_REACH).flatMap(([face, routes]) => Object.keys(routes)
    .filter((route) => !wanted[face].includes(route) || exercised(face, route))
    .map((route) => `OUT_OF_REACH lists ${face} ${route}, which ${exercised(face, route) ? 'a run takes' : 'no longer exists'}`));
}

/** Whether a request took this route of an adapter. */
function exercised(face, route) {
  const [method, template] = route.split(' ');
  const matcher = new RegExp(`^${method} (/v1alpha)?${patternOf(face, template.split('?')[0])}$`);
  return [...seen[face]].some((line) => matcher.test(line));
}

/** `{name}` stands for one segment; `{path}`, `{ref}`, `{source}` and the like may hold slashes. */
function patternOf(face, template) {
  // After a colon the Jules API has its verbs; GitHub's labels may hold one.
  const segment = face === 'jules' ? '[^/:]+' : '[^/]+';
  return template.split(/(\{[^}]+\})/).map((piece) => {
    if (!piece.startsWith('{')) return piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    return /^\{(path|ref|branch|basehead|source)\}$/.test(piece) ? '.+' : segment;
  }).join('');
}

/** The path templates of both services, those with the fewest parameters first. */
function publishedTemplates() {
  const jules = ['/sources', '/sources/{source}', '/sessions', '/sessions/{session}', '/sessions/{session}/activities',
    '/sessions/{session}/activities/{activity}', ...['approvePlan', 'sendMessage', 'archive', 'unarchive'].map((verb) => `/sessions/{session}:${verb}`)];
  const compile = (face, prefix) => (template) => (
    { template, parameters: template.split('{').length, matcher: new RegExp(`^${prefix}${patternOf(face, template)}$`) });
  const byParameters = (a, b) => a.parameters - b.parameters;
  return {
    github: Object.keys(description.paths).filter((path) => !path.includes('{segment')).map(compile('github', '')).sort(byParameters),
    jules: jules.map(compile('jules', '/v1alpha')).sort(byParameters),
  };
}

/** A face that passes requests on, counts them, and keeps what broke a description. */
async function startRouter(face, upstreamOf) {
  const server = createServer(async (incoming, outgoing) => {
    try {
      // Links to further pages name a repository by its number, a form that the description does not know.
      const url = incoming.url.replace(/^\/repositories\/\d+(?=\/)/, `/repos/${world.repository}`);
      const path = url.split('?')[0];
      const body = await bytes(incoming);
      const upstream = new URL(upstreamOf(path));
      const headers = { ...incoming.headers, host: upstream.host };
      const reply = await exchange({
        host: upstream.hostname, port: upstream.port, path: url, method: incoming.method, headers,
      }, body);
      note(face, incoming.method, path, reply, body);
      // What the model links to is behind Prism; a client that follows a link must not get round it.
      if (reply.headers.link) reply.headers.link = reply.headers.link.replaceAll(world.github, `http://${incoming.headers.host}`);
      outgoing.writeHead(reply.status, reply.headers).end(reply.body);
    } catch (error) {
      // The model may cut the connection on purpose: so does the router.
      console.log(`${face} ${incoming.method} ${incoming.url}: ${error.message}`);
      incoming.socket.destroy();
    }
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${server.address().port}`;
}

function note(face, method, path, reply, body) {
  const plain = decodeURIComponent(path);
  const template = templates[face].find(({ matcher }) => matcher.test(plain))?.template ?? plain;
  const line = `${face} ${method} ${template} ${reply.status}`;
  seen[face].add(`${method} ${plain}`);
  counts.set(line, (counts.get(line) ?? 0) + 1);
  const found = [];
  if (reply.headers['sl-violations']) found.push(reply.headers['sl-violations']);
  if (String(reply.headers['content-type']).startsWith('application/problem+json')) found.push(reply.body.toString());
  if (face === 'github' && path === '/graphql' && reply.status === 200) {
    const call = JSON.parse(body);
    const answer = JSON.parse(reply.body);
    found.push(...documentProblems(call.query).map(({ message }) => message), ...answerProblems(call, answer));
  }
  violations.push(...found.map((what) => `${line} (${plain}): ${what}`));
}

function exchange(options, body) {
  return new Promise((resolve, reject) => {
    const call = send({ ...options, timeout: ANSWER_LIMIT_MS }, async (reply) => {
      const received = await bytes(reply).catch(reject);
      const headers = { ...reply.headers };
      delete headers['transfer-encoding'];
      resolve({ status: reply.statusCode, headers, body: received });
    });
    call.on('timeout', () => call.destroy(new Error('no answer in time')));
    call.on('error', reject);
    call.end(body);
  });
}

async function bytes(stream) {
  const pieces = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function startPrism() {
  const cli = join(dirname(createRequire(import.meta.url).resolve('@stoplight/prism-cli/package.json')), 'dist/index.js');
  const child = start(process.execPath,
    [cli, 'proxy', '--host', '127.0.0.1', '--port', '0', '--errors', join(root, '.parts/github.json'), world.github],
    { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stderr.pipe(log);
  const listening = new Promise((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      log.write(`${line}\n`);
      const address = /Prism is listening on (http:\/\/[\d.]+:\d+)/.exec(line);
      if (address) resolve(address[1]);
    });
    child.on('exit', (code) => reject(new Error(`Prism ended with ${code}; see .parts/prism.log`)));
    setTimeout(() => reject(new Error(`Prism is not ready after ${START_LIMIT_MS} ms; see .parts/prism.log`)), START_LIMIT_MS).unref();
  });
  return listening;
}

function nothingSeen() {
  return { github: new Set(), jules: new Set() };
}

function nothingYet(file) {
  console.log(`nothing to check yet: ${file} does not exist`);
  return [];
}
