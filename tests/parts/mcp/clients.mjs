// Clients of the Model Context Protocol that others wrote, against `phileas mcp` and against its HTTP face.
//
//   PHILEAS_BIN=… DECORATED=… PYTHON=… MCP_PARTS=.parts/mcp node tests/parts/with-world.mjs node tests/parts/mcp/clients.mjs
//
// The inspector and the Python client start the program themselves. The conformance suites speak HTTP: the scenarios that
// need no fixture meet the server as it is, the whole suites meet it with their fixtures and a baseline that names every
// exception (a listed scenario that passes fails the run as well).
import '../no-words.mjs';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { start } from '../programs.mjs';
import { removeTree } from '../remove-tree.mjs';

const LIMIT_MS = 300_000;
const here = import.meta.dirname;
const folder = mkdtempSync(join(tmpdir(), 'phileas-mcp-'));
process.on('exit', () => removeTree(folder));

const need = (name) => {
  if (!process.env[name]) throw new Error(`${name} is not set`);
  return process.env[name];
};
const [phileas, decorated, python, parts] = ['PHILEAS_BIN', 'DECORATED', 'PYTHON', 'MCP_PARTS'].map((name) => resolve(need(name)));
const node = join(parts, 'node_modules/node/bin/node');
const inspector = join(parts, 'node_modules/.bin/mcp-inspector');
const suites = {
  '0.1': join(parts, 'node_modules/@modelcontextprotocol/conformance/dist/index.js'),
  next: join(parts, 'node_modules/conformance-next/dist/index.js'),
};
for (const path of [phileas, decorated, python, node, inspector, ...Object.values(suites)]) {
  if (!existsSync(path)) throw new Error(`${path} is missing`);
}

const environment = {
  GITHUB_TOKEN: need('WORLD_TOKEN'),
  GITHUB_API_URL: need('WORLD_GITHUB'),
  GITHUB_GRAPHQL_URL: `${need('WORLD_GITHUB')}/graphql`,
  JULES_API_KEY: need('WORLD_JULES_KEY'),
  JULES_API_BASE: need('WORLD_JULES'),
  PHILEAS_JOBS_PATH: join(folder, 'jobs.jsonl'),
  PHILEAS_EVENTS_PATH: join(folder, 'events.jsonl'),
};
const repository = need('WORLD_REPOSITORY');
let wrong = 0;

/** Runs a program; gives its exit code and what it printed. */
async function run(program, parameters, further = {}) {
  const child = start(program, parameters, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment, ...further, MCP_CATALOG_PATH: join(folder, 'catalog.json'), PATH: `${join(parts, 'node_modules/node/bin')}:${process.env.PATH}` },
    timeout: LIMIT_MS,
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (data) => { out += data; });
  child.stderr.on('data', (data) => { err += data; });
  const [code, signal] = await once(child, 'close');
  return { code: code ?? signal, out, err };
}

function check(what, holds, ran) {
  console.log(`${holds ? 'ok  ' : 'FAIL'} ${what}`);
  if (holds) return;
  wrong += 1;
  console.log(`exit ${ran.code}\n${ran.out.slice(-4000)}\n${ran.err.slice(-4000)}`);
}

/** The inspector asks the program that it starts; `wanted` looks at its answer. */
async function inspect(what, parameters, code, wanted = () => true) {
  const variables = Object.entries(environment).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const ran = await run(node, [inspector, '--cli', '-q', '--format', 'json', ...variables, ...parameters, '--', phileas, 'mcp']);
  let answer;
  try {
    answer = JSON.parse(ran.out.split('\n')[0] || 'null');
  } catch {
    answer = null;
  }
  check(`inspector: ${what}`, ran.code === code && wanted(answer?.result ?? answer, ran), ran);
  return answer?.result;
}

const call = (tool, given) => ['--method', 'tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(given)];
await inspect('initialize', ['--method', 'initialize'], 0, (result) => result.protocolVersion === '2025-11-25' && result.serverInfo.name === 'phileas');
for (const era of ['legacy', 'auto', 'modern']) {
  const asked = ['--protocol-era', era];
  await inspect(`${era}: tools`, [...asked, '--method', 'tools/list'], 0, (result) => result.tools.length === 24);
  const made = await inspect(`${era}: a job is created`, [...asked, ...call('jules_create_job', { repo: repository, prompt: `Asked in era ${era}.` })], 0,
    (result) => result.structuredContent.created === true);
  const id = made?.structuredContent.job_id;
  await inspect(`${era}: it is listed`, [...asked, ...call('jules_list_jobs', { repo: repository })], 0,
    (result) => result.structuredContent.jobs.some((job) => job.job_id === id));
  await inspect(`${era}: it is a resource`, [...asked, '--method', 'resources/read', '--uri', `jules://jobs/${id}`], 0,
    (result) => JSON.parse(result.contents[0].text).job_id === id);
  await inspect(`${era}: resources`, [...asked, '--method', 'resources/list'], 0, (result) => result.resources.length > 2);
  await inspect(`${era}: templates`, [...asked, '--method', 'resources/templates/list'], 0, (result) => result.resourceTemplates.length === 8);
  await inspect(`${era}: prompts`, [...asked, '--method', 'prompts/list'], 0, (result) => result.prompts.length === 4);
  await inspect(`${era}: a prompt`, [...asked, '--method', 'prompts/get', '--prompt-name', 'decompose_task', '--prompt-args', 'task=Fix', `repo=${repository}`], 0,
    (result) => result.messages[0].content.text.includes(`on ${repository}`));
  await inspect(`${era}: no such tool`, [...asked, '--method', 'tools/call', '--tool-name', 'nosuch'], 5);
  await inspect(`${era}: a tool's trouble`, [...asked, ...call('jules_get_job', { job_id: 'x' })], 5, (_, ran) => ran.err.includes('tool_is_error'));
}
await inspect('portable schemas', ['--strict', '--method', 'tools/list'], 0);

const asked = await run(python, [join(here, 'client.py'), phileas]);
check(`Python client: ${asked.out.trim().split('\n').join('; ')}`, asked.code === 0, asked);

const server = start(decorated, [folder], { stdio: ['pipe', 'pipe', 'inherit'], env: process.env });
const [first] = await once(server.stdout, 'data');
const url = String(first).trim();

/** A run of a conformance suite. */
async function conform(what, suite, parameters) {
  const ran = await run(node, [suites[suite], 'server', ...parameters, '-o', join(folder, 'results')]);
  const total = /Total: .*|Passed: .*/.exec(ran.out)?.[0] ?? 'no total';
  check(`conformance ${what}: ${total}`, ran.code === 0 && total !== 'no total', ran);
}

// What needs no fixture, against the server as it is.
const generic = {
  '2025-11-25': ['server-initialize', 'server-session-lifecycle', 'ping', 'tools-list', 'server-sse-multiple-streams', 'resources-list', 'prompts-list', 'dns-rebinding-protection'],
  '2026-07-28': ['server-sse-multiple-streams', 'tools-list', 'resources-list', 'prompts-list', 'sep-2164-resource-not-found', 'dns-rebinding-protection', 'caching', 'http-header-validation',
    'input-required-result-unsupported-methods', 'input-required-result-ignore-extra-params'],
};
for (const [revision, scenarios] of Object.entries(generic)) {
  for (const scenario of scenarios) {
    await conform(`as it is, ${revision} ${scenario}`, 'next', ['--url', `${url}/mcp`, '--scenario', scenario, '--spec-version', revision]);
  }
}
for (const revision of Object.keys(generic)) {
  const baseline = join(here, `baseline-${revision}.yml`);
  await conform(`decorated, all of ${revision}`, 'next', ['--url', `${url}/decorated/mcp`, '--suite', 'all', '--spec-version', revision, '--timeout', '8000', '--expected-failures', baseline]);
}
await conform('decorated, the released suite', '0.1', ['--url', `${url}/decorated/mcp`, '--expected-failures', join(here, 'baseline-2025-11-25.yml')]);

server.stdin.end();
const [code] = await once(server, 'exit');
check('the server ends with its input', code === 0, { code, out: '', err: '' });
console.log(wrong === 0 ? 'all clients are content' : `${wrong} checks failed`);
process.exit(wrong === 0 ? 0 : 1);
