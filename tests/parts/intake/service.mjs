// A phileas service in a process of its own, and deliveries to it.
import { spawn, spawnSync } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import http from 'node:http';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

export const SECRET = 'parts-secret-of-more-than-32-bytes-0123';
const REPLY_LIMIT_MS = 60_000;
const PROGRAM = process.env.PHILEAS_BIN ?? 'target/debug/phileas';

/** The payloads that GitHub publishes, with their event's name. */
export const payloads = createRequire(import.meta.url)('@octokit/webhooks-examples')
  .flatMap((event) => event.examples.map((example) => ({ event: event.name, example, body: Buffer.from(JSON.stringify(example)) })));

export const sign = (body, secret = SECRET) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

for (const payload of payloads) payload.signature = sign(payload.body);

/** Starts a service and waits until it listens. */
export async function start(data, { program = PROGRAM, before = [], after = [], env = {} } = {}) {
  const child = spawn(program, [
    ...before, 'serve', '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0', '--data-dir', data, ...after,
  ], { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, PHILEAS_WEBHOOK_SECRET: SECRET, ...env } });
  const ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve({ code, signal })));
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([new Promise((resolve) => lines.once('line', resolve)), ended]);
  if (typeof line !== 'string') throw new Error(`the service ended before it listened: ${JSON.stringify(line)}`);
  const [host, port] = JSON.parse(line).listen.split(':');
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  return {
    child,
    agent,
    host,
    port,
    async end(signal) {
      child.kill(signal);
      const how = await ended;
      agent.destroy();
      return how;
    },
  };
}

/** Sends one delivery; answers with the status, or with nothing where the connection broke. */
export function deliver(service, { event, body, signature }, guid = randomUUID(), type = 'application/json') {
  return new Promise((resolve) => {
    const request = http.request({
      host: service.host,
      port: service.port,
      agent: service.agent,
      path: '/webhook',
      method: 'POST',
      timeout: REPLY_LIMIT_MS,
      headers: {
        'content-type': type,
        'content-length': body.length,
        'user-agent': 'GitHub-Hookshot/parts',
        'x-github-event': event,
        'x-github-delivery': guid,
        'x-hub-signature-256': signature,
      },
    }, (reply) => {
      reply.resume();
      reply.on('end', () => resolve(reply.statusCode));
      reply.on('error', () => resolve(undefined));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(undefined));
    request.end(body);
  });
}

/** What `phileas service deliveries` lists of a data directory. */
export function stored(data) {
  const listed = spawnSync(PROGRAM, ['service', 'deliveries', '--data-dir', data, '--json'], { encoding: 'utf8', maxBuffer: 1 << 30 });
  if (listed.status !== 0) throw new Error(`phileas service deliveries: ${listed.status} ${listed.stderr}`);
  return listed.stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
}

/** Runs so many workers until each has nothing more to do. */
export const together = (count, work) => Promise.all(Array.from({ length: count }, (_, index) => work(index)));
