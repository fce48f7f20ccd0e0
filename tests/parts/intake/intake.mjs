// The webhook service from outside: GitHub's own payloads, SIGKILL under load, the power cut off, an inbox that is full.
//
//   PHILEAS_BIN=target/debug/phileas node tests/parts/intake/intake.mjs [CHECK…]
//
// HASTY names a service that answers before it has committed (the negative control), POWER the library that keeps an
// image of what was synced.
import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdtempSync, mkdirSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from '../remove-tree.mjs';
import { deliver, payloads, sign, start, stored, together } from './service.mjs';

const KILL_ROUNDS = Number(process.env.KILL_ROUNDS ?? 200);
const POWER_ROUNDS = Number(process.env.POWER_ROUNDS ?? 30);
const CONNECTIONS = 16;
const MOST_ANSWERS_A_ROUND = 120;
const FULL_BYTES = 16 << 20;
const MOST_TO_FILL = 200_000;

const checks = { payloads: everyPayload, kill: killed, power: powerCut, full: filled };
const chosen = process.argv.slice(2);
for (const name of chosen) {
  if (Object.hasOwn(checks, name)) continue;
  console.error(`there is no check '${name}'; there are: ${Object.keys(checks).join(' ')}`);
  process.exit(2);
}
const root = mkdtempSync(join(tmpdir(), 'phileas-intake-'));
let failures = 0;
try {
  for (const [name, check] of Object.entries(checks)) {
    if (chosen.length === 0 || chosen.includes(name)) await check(mkdtempSync(join(root, `${name}-`)));
  }
} finally {
  removeTree(root);
}
process.exit(failures === 0 ? 0 : 1);

function expect(right, problem) {
  if (right) return;
  console.log(`WRONG: ${problem}`);
  failures += 1;
}

/** All payloads, signed: 202 and listed. The same with a flipped byte, another secret, another type: refused, no fact. */
async function everyPayload(data) {
  const service = await start(data);
  const sent = payloads.map((payload) => ({ ...payload, guid: randomUUID() }));
  const queue = sent.values();
  await together(CONNECTIONS, async () => {
    for (const one of queue) {
      const flipped = Buffer.from(one.body);
      flipped[Math.floor(Math.random() * flipped.length)] ^= 1;
      const wrong = [
        [401, { ...one, body: flipped }],
        [401, { ...one, signature: sign(one.body, 'another secret') }],
      ];
      for (const [status, payload] of wrong) {
        const answer = await deliver(service, payload, randomUUID());
        expect(answer === status, `${one.event}: wrongly signed and answered ${answer}`);
      }
      const form = await deliver(service, one, randomUUID(), 'application/x-www-form-urlencoded');
      expect(form === 415, `${one.event}: sent as a form and answered ${form}`);
      const answer = await deliver(service, one, one.guid);
      expect(answer === 202, `${one.event}: answered ${answer}`);
      const again = await deliver(service, one, one.guid);
      expect(again === 200, `${one.event}: sent again and answered ${again}`);
    }
  });
  const found = new Map(stored(data).map((fact) => [fact.guid, fact]));
  for (const { guid, event, example } of sent) {
    const fact = found.get(guid);
    expect(fact, `${event}: ${guid} is not listed`);
    if (!fact) continue;
    expect(fact.event === event, `${guid}: event ${fact.event} instead of ${event}`);
    expect(fact.action === (example.action ?? null), `${event}: action ${fact.action}`);
    expect(fact.repository_id === (example.repository?.id ?? null), `${event}: repository ${fact.repository_id}`);
    expect(fact.sender_id === (example.sender?.id ?? null), `${event}: sender ${fact.sender_id}`);
    expect(fact.installation_id === (example.installation?.id ?? null), `${event}: installation ${fact.installation_id}`);
  }
  expect(found.size === sent.length, `${found.size} deliveries are listed`);
  const how = await service.end('SIGTERM');
  expect(how.code === 0, `ended with ${JSON.stringify(how)}`);
  console.log(`payloads: ${sent.length} payloads answered 202 and listed with their facts; ${3 * sent.length} wrong ones refused`);
}

/** Sends until the service has answered so many, kills it, and answers with the ids that were answered 202. */
async function loadAndKill(service, answers, guids) {
  let count = 0;
  let killed;
  await together(CONNECTIONS, async (worker) => {
    for (let n = worker; !killed; n += CONNECTIONS) {
      const guid = randomUUID();
      const status = await deliver(service, payloads[(n * 7) % payloads.length], guid);
      // Once the kill is on its way, an answer still counts if it arrives.
      if (status === undefined) return;
      expect(status === 202, `answered ${status} under load`);
      guids.push(guid);
      count += 1;
      if (count >= answers && !killed) killed = service.end('SIGKILL');
    }
  });
  await killed;
}

async function killed(data) {
  const guids = [];
  const begun = Date.now();
  for (let round = 0; round < KILL_ROUNDS; round += 1) {
    const service = await start(data);
    await loadAndKill(service, 1 + Math.floor(Math.random() * MOST_ANSWERS_A_ROUND), guids);
  }
  const lost = missing(guids, data);
  expect(lost === 0, `${lost} deliveries were answered 202 and are gone after a kill`);
  const after = await start(data);
  const listed = stored(data);
  const known = await deliver(after, payloads.find((one) => one.example.repository), listed[0].guid);
  expect(known === 200, `a stored delivery that comes again is answered ${known}`);
  await after.end('SIGTERM');
  const seconds = ((Date.now() - begun) / 1000).toFixed(0);
  console.log(`kill: ${KILL_ROUNDS} rounds, ${guids.length} answered 202, ${listed.length} stored, ${lost} lost (${seconds} s)`);
}

function missing(guids, data) {
  const found = new Set(stored(data).map((fact) => fact.guid));
  return guids.filter((guid) => !found.has(guid)).length;
}

/** The image of synced bytes holds what was answered; one of a service that answers too early does not. */
async function powerCut(folder) {
  const honest = await cutOff(join(folder, 'honest'), undefined);
  expect(honest.lost === 0, `${honest.lost} of ${honest.answered} answered deliveries were lost with the power`);
  const hasty = await cutOff(join(folder, 'hasty'), process.env.HASTY);
  expect(hasty.lost > 0, 'a service that answers before it commits lost nothing: this check sees nothing');
  console.log(`power: ${POWER_ROUNDS} cuts: ${honest.lost} of ${honest.answered} answered deliveries lost; `
    + `${hasty.lost} of ${hasty.answered} by a service that answers before it commits`);
}

async function cutOff(folder, program) {
  const sum = { answered: 0, lost: 0 };
  let before = [];
  let image;
  for (let round = 0; round < POWER_ROUNDS; round += 1) {
    // Each round begins with what the power cut before it has left.
    const data = join(folder, `data-${round}`);
    mkdirSync(data, { recursive: true, mode: 0o700 });
    if (image) for (const file of readdirSync(image)) copyFileSync(join(image, file), join(data, file));
    image = join(folder, `image-${round}`);
    mkdirSync(image);
    // What survived counts as synced: it was read from the disk.
    for (const file of readdirSync(data)) copyFileSync(join(data, file), join(image, file));
    const env = { LD_PRELOAD: process.env.POWER, POWER_DATA: data, POWER_IMAGE: image };
    const service = await start(data, { ...(program && { program, before: ['hasty'] }), env });
    const guids = [];
    await loadAndKill(service, 1 + Math.floor(Math.random() * MOST_ANSWERS_A_ROUND), guids);
    const left = join(folder, `left-${round}`);
    mkdirSync(left);
    for (const file of readdirSync(image)) copyFileSync(join(image, file), join(left, file));
    const answered = [...before, ...guids];
    sum.answered += guids.length;
    const found = new Set(stored(left).map((fact) => fact.guid));
    sum.lost += answered.filter((guid) => !found.has(guid)).length;
    before = answered.filter((guid) => found.has(guid));
  }
  return sum;
}

/** A full inbox says so, stays usable, and accepts again once it may take more. */
async function filled(data) {
  const small = await start(data, { after: ['--inbox-max-bytes', String(FULL_BYTES)] });
  const payload = payloads.find((one) => one.body.length < 8_000 && one.example.repository);
  let accepted = 0;
  let refused = 0;
  await together(CONNECTIONS * 4, async () => {
    while (refused === 0 && accepted < MOST_TO_FILL) {
      const status = await deliver(small, payload);
      expect(status === 202 || status === 503, `answered ${status} while it fills up`);
      if (status === 202) accepted += 1;
      else refused += 1;
    }
  });
  expect(refused > 0, `${accepted} deliveries did not fill it`);
  const full = await deliver(small, payload);
  expect(full === 503, `answered ${full} when full`);
  const bytes = await small.end('SIGTERM');
  expect(bytes.code === 0, 'a full service ends like any other');
  expect(stored(data).length === accepted, 'what was accepted is stored, and nothing else');
  const larger = await start(data, { after: ['--inbox-max-bytes', String(4 * FULL_BYTES)] });
  const well = await deliver(larger, payload);
  expect(well === 202, `answered ${well} with more room`);
  await larger.end('SIGTERM');
  console.log(`full: 503 after ${accepted} deliveries in ${FULL_BYTES >> 20} MiB; 202 again with more room`);
}
