// The second journey of prism.mjs: phileas as a service.
//
//   set-up page ──> App, installed on the repository ──> serve: sweeps the App's webhook
//                   token and phileas.toml ────────────> serve: sweeps the repository's webhook
//
// Each webhook has lost one event, so that each sweep asks for it; what comes again must be taken.
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { run, stay } from './programs.mjs';
import { removeTree } from './remove-tree.mjs';
import { act, advance, delivered, deliveries, toPresent, world } from './world.mjs';

// The first sweep comes a minute after the start: FIRST_AFTER in src/server/worker/sweep.rs.
const SWEEP_LIMIT_MS = 180_000;
const BETWEEN_LOOKS_MS = 250;
// Where GitHub believes the two services to be.
const APP_URL = 'https://app.example.com';
const TOKEN_URL = 'https://token.example.com';
const SECRET = 'test-secret-of-the-other-hook-01234';
// More attempts than a page holds, so that the sweeps follow its link to the one with the lost event.
const GOOD_EVENTS = 101;
const TAKEN = 202;
const AWAY = 503;
const ATTEMPTS = [
  'POST /app/hook/deliveries/{delivery_id}/attempts',
  'POST /repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}/attempts',
];

/** Gives what went otherwise than expected. `surroundings` are variables; `exercised` tells whether a route was taken. */
export async function service(surroundings, exercised) {
  const place = mkdtempSync(join(tmpdir(), 'prism-service-'));
  try {
    return await journey(place, surroundings, exercised);
  } finally {
    removeTree(place);
  }
}

async function journey(place, surroundings, exercised) {
  const phileas = (parameters, environment) => run(process.env.PHILEAS_BIN, parameters, { ...surroundings, ...environment });
  const serve = (parameters, environment) => stay(process.env.PHILEAS_BIN,
    [...parameters, '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'], { ...surroundings, ...environment });

  // A service goes by this machine's clock.
  await toPresent();
  const home = join(place, 'app');
  const failures = await makeApp(home, surroundings);
  const app = JSON.parse(readFileSync(join(home, 'app.json'), 'utf8'));
  await act({ act: 'install-app', app: app.id });
  failures.push(...await phileas(['tick', '--json'], {
    GITHUB_REPOSITORY: world.repository, GITHUB_APP_ID: String(app.id), GITHUB_APP_PRIVATE_KEY: app.private_key,
  }));

  const file = join(place, 'phileas.toml');
  writeFileSync(file, `[[repository]]\nname = "${world.repository}"\n`);
  await addHook();
  const withApp = ['serve', '--data-dir', home];
  const withToken = ['serve', '--data-dir', join(place, 'token'), '--config', file, '--public-url', TOKEN_URL];
  // One of the two does the work; the other one is told to leave it.
  const token = { GITHUB_TOKEN: world.token, PHILEAS_WEBHOOK_SECRET: SECRET, PHILEAS_PAUSED: '1' };
  failures.push(...await phileas([...withApp, '--check']), ...await phileas([...withToken, '--check'], token));

  // One event finds no listener. All before and after it are taken.
  await deliver(() => TAKEN);
  const { number } = await act({ act: 'open-issue', title: 'While no service was there' });
  const lost = await deliver(() => AWAY);
  if (lost.size !== ATTEMPTS.length) throw new Error(`${lost.size} deliveries were lost, not one of each webhook`);
  for (let count = 0; count < GOOD_EVENTS; count += 1) await act({ act: 'comment', number, body: `Word ${count}` });
  await deliver(() => TAKEN);

  const services = { [APP_URL]: await serve(withApp), [TOKEN_URL]: await serve(withToken, token) };
  await until('both services have asked for what was lost', () => ATTEMPTS.every(exercised));
  const again = await deliver((delivery) => post(delivery, JSON.parse(services[new URL(delivery.url).origin].line).listen));
  for (const guid of lost.keys()) {
    if (again.get(guid) !== TAKEN) failures.push(`the lost delivery ${guid} was answered with ${again.get(guid)} when it came again`);
  }
  for (const each of Object.values(services)) failures.push(...await each.end());
  return failures;
}

/** Makes an App by the set-up page, as a person does in a browser; gives what is wrong with the page's end. */
async function makeApp(home, surroundings) {
  // The key of an App is GitHub's own work, which the model leaves to others.
  const key = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'pkcs1', format: 'der' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  await act({ act: 'stock-app-key', pem: key.privateKey, public_key: key.publicKey.toString('base64') });
  const setup = await stay(process.env.PHILEAS_BIN, ['serve', '--setup', '--admin-listen', '127.0.0.1:0', '--data-dir', home], {
    ...surroundings, GITHUB_SERVER_URL: world.github,
  });
  const address = new URL(/http:\S+/.exec(setup.line)[0]);
  const form = await page(address);
  const review = await page(`${address.origin}/setup`, {
    token: attribute(form, 'name="token" value'), url: APP_URL, owner: world.owner,
  });
  const confirmed = await fetch(attribute(review, 'action'), {
    method: 'POST', body: new URLSearchParams({ manifest: attribute(review, 'name="manifest" value') }), redirect: 'manual',
  });
  if (confirmed.status !== 302) throw new Error(`GitHub did not take the manifest: ${confirmed.status} ${await confirmed.text()}`);
  await page(confirmed.headers.get('location'));
  return setup.ended();
}

/** A page of the set-up; with a form's fields, what comes of these. */
async function page(address, fields) {
  const reply = await fetch(address, fields && { method: 'POST', body: new URLSearchParams(fields) });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`the set-up page answered ${reply.status}: ${text}`);
  return text;
}

/** The first value of an attribute, as a browser reads it. */
function attribute(text, name) {
    const [, value] = new RegExp(`${name}="([^"]*)"`).exec(text) ?? [];
  if (value === undefined) throw new Error(`the set-up page has no ${name}: ${text}`);
  return value.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));
}

/** Adds the repository's webhook, behind the back of all that is checked here. */
async function addHook() {
  const config = { url: `${TOKEN_URL}/webhook`, content_type: 'json', secret: SECRET };
  const reply = await fetch(`${world.github}/repos/${world.repository}/hooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.token}`, 'user-agent': 'parts' },
    body: JSON.stringify({ name: 'web', events: ['issues', 'issue_comment'], config }),
  });
  if (reply.status !== 201) throw new Error(`the webhook was not made: ${reply.status} ${await reply.text()}`);
}

/** Lets the deliveries to the services come, and gives by their GUIDs what they were answered with. */
async function deliver(answer) {
  await advance('1s');
  const statuses = new Map();
  for (const delivery of await deliveries()) {
    // The world has webhooks of its own, which do not matter here.
    if (![APP_URL, TOKEN_URL].some((url) => delivery.url === `${url}/webhook`)) continue;
    const status = await answer(delivery);
    await delivered({ id: delivery.id, status });
    statuses.set(delivery.guid, status);
  }
  return statuses;
}

async function post({ headers, body }, listen) {
  return (await fetch(`http://${listen}/webhook`, { method: 'POST', headers, body })).status;
}

/** Waits while the world's time passes with ours. */
async function until(what, holds) {
  const begun = performance.now();
  while (!holds()) {
    if (performance.now() - begun > SWEEP_LIMIT_MS) throw new Error(`not within ${SWEEP_LIMIT_MS} ms: ${what}`);
    await toPresent();
    await pause(BETWEEN_LOOKS_MS);
  }
}
