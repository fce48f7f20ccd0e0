// How many webhooks a second, beside others, in interleaved rounds. Run by scripts/bench ingest.
import '../no-words.mjs';
import { spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { removeTree } from '../remove-tree.mjs';

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const SECONDS = Number(process.env.SECONDS_EACH ?? 3);
const OFFERED_SECONDS = Number(process.env.OFFERED_SECONDS ?? 10);
const OFFERED = 1_000;
const SECRET = 'bench-secret-of-more-than-32-bytes-01234';
const { BENCH, BIN } = process.env;
const HERE = new URL('.', import.meta.url).pathname;
const scratch = mkdtempSync(join(process.env.SCRATCH, 'ingest-'));

const events = createRequire(import.meta.url)('@octokit/webhooks-examples');
const payloads = ['issues', 'pull_request'].map((event) => {
  const labeled = events.find((one) => one.name === event).examples.filter((example) => example.action === 'labeled');
  const body = labeled.map((example) => Buffer.from(JSON.stringify(example))).sort((a, b) => b.length - a.length)[0];
  const file = join(scratch, `${event}.json`);
  writeFileSync(file, body);
  return { event, file, size: `${(body.length / 1000).toFixed(1)} KB`, body, signature: `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}` };
});

const ours = (program, ...mode) => (data) => ({
  command: [join(BIN, program), ...mode, 'serve', '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0', '--data-dir', data],
  env: { PHILEAS_WEBHOOK_SECRET: SECRET },
});
const servers = [
  { key: 'phileas', name: 'phileas serve', start: ours('phileas') },
  { key: 'verify', name: 'signature only (nothing stored)', start: ours('examples/peers', 'verify') },
  { key: 'nowhere', name: 'the same handler, nothing stored', start: ours('examples/peers', 'nowhere') },
  { key: 'single', name: 'one transaction a request', start: ours('examples/peers', 'single') },
  { key: 'probot', name: 'Probot (nothing stored)', start: () => ({ command: [process.execPath, join(HERE, 'probot.mjs')], env: { SECRET, BENCH } }) },
  { key: 'adnanh', name: 'adnanh/webhook (a process a request)', start: adnanh },
];

function adnanh() {
  const header = { source: 'header', name: 'X-Hub-Signature-256' };
  const hooks = join(scratch, 'hooks.json');
  writeFileSync(hooks, JSON.stringify([{
    id: 'webhook',
    'execute-command': '/bin/true',
    'http-methods': ['POST'],
    'success-http-response-code': 202,
    'trigger-rule': { match: { type: 'payload-hmac-sha256', secret: SECRET, parameter: header } },
  }]));
  const port = 20_000 + Math.floor(Math.random() * 10_000);
  return { command: ['webhook', '-hooks', hooks, '-ip', '127.0.0.1', '-port', String(port), '-urlprefix', ''], listen: `127.0.0.1:${port}`, env: {} };
}

async function withServer(server, measure) {
  const data = mkdtempSync(join(scratch, 'data-'));
  const { command, env, listen } = server.start(data);
  const child = spawn(command[0], command.slice(1), { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, ...env } });
  try {
    let address = listen;
    if (!address) {
      const line = await new Promise((resolve, reject) => {
        createInterface({ input: child.stdout }).once('line', resolve);
        child.once('exit', (code) => reject(new Error(`${server.name} ended with ${code}`)));
      });
      address = JSON.parse(line).listen;
    }
    await answered(address);
    const result = measure(address);
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    return { ...result, mib: Number(/VmHWM:\s+(\d+)/.exec(status)[1]) / 1024 };
  } finally {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode === null) {
      child.kill('SIGKILL');
      await gone;
    }
    removeTree(data);
  }
}

/** Waits until the first delivery is accepted, so that nothing is measured of a server that refuses all. */
async function answered(address) {
  const [host, port] = address.split(':');
  const { event, body, signature } = payloads[0];
  for (let attempt = 0; ; attempt += 1) {
    const status = await new Promise((resolve) => {
      const request = http.request({
        host, port, path: '/webhook', method: 'POST', agent: false,
        headers: { 'content-type': 'application/json', 'content-length': body.length, 'x-github-event': event, 'x-github-delivery': 'first', 'x-hub-signature-256': signature },
      }, (reply) => { reply.resume(); resolve(reply.statusCode); });
      request.on('error', () => resolve(0));
      request.end(body);
    });
    if (status >= 200 && status < 300) return;
    if (attempt === 50) throw new Error(`${address} answers ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function wrk(address, payload, connections) {
  const run = (seconds) => {
    const ran = spawnSync('wrk', [
      '-t1', `-c${connections}`, `-d${seconds}s`, '-s', join(HERE, 'sign.lua'), `http://${address}/webhook`, '--', payload.file, payload.signature, payload.event,
    ], { encoding: 'utf8' });
    const line = ran.stdout.split('\n').find((one) => one.startsWith('RESULT '));
    if (!line) throw new Error(`wrk: ${ran.stdout}${ran.stderr}`);
    return JSON.parse(line.slice(7));
  };
  run(1);
  const { requests, micros, p99, wrong, broken } = run(SECONDS);
  return { rate: requests / (micros / 1e6), p99: p99 / 1000, wrong: wrong + broken };
}

function offered(address) {
  const { file, signature, event } = payloads[0];
  const ran = spawnSync(join(BIN, 'examples/offered'), [address, file, signature, event, String(OFFERED), String(OFFERED_SECONDS), '64'], { encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(`offered: ${ran.stderr}`);
  const { p50, p99, max, wrong } = JSON.parse(ran.stdout);
  return { p50: p50 / 1000, p99: p99 / 1000, max: max / 1000, wrong };
}

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const column = (rows, key) => median(rows.map((row) => row[key]));

const cells = payloads.flatMap((payload) => [16, 64].map((connections) => ({ payload, connections })));
const measured = new Map(servers.map((server) => [server, cells.map(() => [])]));
const paced = new Map(servers.map((server) => [server, []]));
const notes = new Set();
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [place, { payload, connections }] of cells.entries()) {
    for (const server of servers) {
      const result = await withServer(server, (address) => wrk(address, payload, connections));
      if (result.wrong > 0) notes.add(`${server.name}: ${result.wrong} requests failed or were refused in a round`);
      measured.get(server)[place].push(result);
    }
  }
  for (const server of servers) paced.get(server).push(await withServer(server, offered));
  console.error(`round ${round + 1} of ${ROUNDS}`);
}

const model = cpus()[0].model.trim();
console.log(`${cpus().length} cores (${model}), shared by server and load; medians of ${ROUNDS} interleaved rounds of ${SECONDS} s.\n`);
const titles = cells.map(({ payload, connections }) => `${payload.size}, ${connections}`);
console.log(`Requests a second (p99 in ms) by payload and connections; memory is the most of any round.\n`);
console.log(`| | ${titles.join(' | ')} | MiB |\n|---|${titles.map(() => '---:').join('|')}|---:|`);
for (const server of servers) {
  const rows = measured.get(server);
  const figures = rows.map((row) => `${Math.round(column(row, 'rate')).toLocaleString('en')} (${column(row, 'p99').toFixed(1)})`);
  const memory = Math.max(...rows.flat().map((row) => row.mib));
  console.log(`| ${server.name} | ${figures.join(' | ')} | ${memory.toFixed(0)} |`);
}
console.log(`\nphileas serve, as a multiple of:\n\n| | ${titles.join(' | ')} |\n|---|${titles.map(() => '---:').join('|')}|`);
for (const server of servers.slice(1)) {
  const ratios = cells.map((_, place) => column(measured.get(servers[0])[place], 'rate') / column(measured.get(server)[place], 'rate'));
  console.log(`| ${server.name} | ${ratios.map((ratio) => ratio.toFixed(2)).join(' | ')} |`);
}
console.log(`\n${OFFERED.toLocaleString('en')} a second offered (open loop, ${payloads[0].size}, 64 connections), times in ms:\n\n| | p50 | p99 | worst p99 of a round | failed |\n|---|---:|---:|---:|---:|`);
for (const server of servers) {
  const rows = paced.get(server);
  const worst = Math.max(...rows.map((row) => row.p99));
  console.log(`| ${server.name} | ${column(rows, 'p50').toFixed(2)} | ${column(rows, 'p99').toFixed(2)} | ${worst.toFixed(2)} | ${column(rows, 'wrong')} |`);
}
if (process.env.RESULTS) {
  // For the README's table.
  const ratios = servers.slice(1).flatMap((server) => cells.map(({ payload, connections }, place) => ({
    peer: server.key,
    size: payload.size,
    connections,
    ratio: column(measured.get(servers[0])[place], 'rate') / column(measured.get(server)[place], 'rate'),
  })));
  const ours = paced.get(servers[0]);
  const offered = { p50: column(ours, 'p50'), p99: column(ours, 'p99') };
  writeFileSync(process.env.RESULTS, `${JSON.stringify({ rounds: ROUNDS, ratios, offered }, null, 1)}\n`);
}
for (const note of notes) console.log(`\nNote: ${note}.`);
removeTree(scratch);
