// The webhook payloads that GitHub publishes: signed here, verified by GitHub's own library.
//
//   node tests/parts/payloads.mjs                 writes .parts/payloads/ and verifies every signature
//   node tests/parts/payloads.mjs --deliver URL   also delivers every one to a webhook endpoint, rightly and wrongly signed
//
// Files are EVENT.ACTION.INDEX.json and the signature beside it in .json.sig, over the exact bytes of the file.
import { createHmac, randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { verify } from '@octokit/webhooks-methods';

const words = process.argv.slice(2);
if (words.length > 0 && (words.length !== 2 || words[0] !== '--deliver' || !URL.canParse(words[1]))) {
  console.error(`not understood: ${words.join(' ')}\nusage: payloads.mjs [--deliver URL]`);
  process.exit(2);
}
const SECRET = process.env.WEBHOOK_SECRET ?? 'parts-secret';
const FOLDER = new URL('../../.parts/payloads/', import.meta.url);
const REPLY_LIMIT_MS = 10_000; // GitHub itself waits no longer.
const IN_FLIGHT = 16;

const events = createRequire(import.meta.url)('@octokit/webhooks-examples');
const payloads = events.flatMap((event) => event.examples.map((example, index) => {
  const body = JSON.stringify(example);
  return { event: event.name, file: `${event.name}.${example.action ?? 'none'}.${index}.json`, body, signature: sign(body) };
}));

await mkdir(FOLDER, { recursive: true });
let failures = 0;
for (const { file, body, signature } of payloads) {
  await writeFile(new URL(file, FOLDER), body);
  await writeFile(new URL(`${file}.sig`, FOLDER), signature);
  if (!(await verify(SECRET, body, signature))) report(file, 'a right signature is not verified');
  if (await verify(`${SECRET}.`, body, signature)) report(file, 'a signature of another secret is verified');
  if (await verify(SECRET, `${body} `, signature)) report(file, 'a signature of other bytes is verified');
}
console.log(`${payloads.length} payloads of ${events.length} events signed and verified`);
if (payloads.length === 0) report('@octokit/webhooks-examples', 'holds no payload');

if (words.length > 0) await deliverAll(words[1]);
process.exit(failures === 0 ? 0 : 1);

async function deliverAll(url) {
  const deliveries = payloads.flatMap((payload) => [
    { payload, how: 'signed', signature: payload.signature, accepted: true },
    { payload, how: 'signed for other bytes', signature: sign(`${payload.body} `), accepted: false },
    { payload, how: 'with a short signature', signature: payload.signature.slice(0, -2), accepted: false },
    { payload, how: 'with a sha1 signature', signature: `sha1=${createHmac('sha1', SECRET).update(payload.body).digest('hex')}`, accepted: false },
    { payload, how: 'unsigned', signature: undefined, accepted: false },
  ]);
  const queue = deliveries.values();
  await Promise.all(Array.from({ length: IN_FLIGHT }, async () => {
    for (const delivery of queue) await deliver(url, delivery);
  }));
  console.log(`${deliveries.length} deliveries to ${url}, ${failures} answered wrongly`);
}

async function deliver(url, { payload, how, signature, accepted }) {
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'GitHub-Hookshot/parts',
    'x-github-event': payload.event,
    'x-github-delivery': randomUUID(),
    ...(signature && { 'x-hub-signature-256': signature }),
  };
  const reply = await fetch(url, { method: 'POST', headers, body: payload.body, signal: AbortSignal.timeout(REPLY_LIMIT_MS) });
  await reply.arrayBuffer();
  const right = accepted ? reply.ok : reply.status >= 400 && reply.status < 500;
  if (!right) report(payload.file, `${how}: answered ${reply.status}`);
}

function sign(body) {
  return `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
}

function report(subject, problem) {
  console.log(`${subject}: ${problem}`);
  failures += 1;
}
