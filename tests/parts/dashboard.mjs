// A browser looks at the dashboard of `phileas sandbox --serve`, as a newcomer does: every page, light and dark, wide
// and narrow, with and without scripts. Nothing may be loaded from elsewhere, break the policy, stand over the edge or be
// unreadable to those who do not see it; and what can be clicked must do what it says. promtool reads the metrics.
//
//   PHILEAS_BIN=target/debug/phileas node tests/parts/dashboard.mjs [FOLDER FOR SCREENSHOTS]
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import axe from 'axe-core';

const START_LIMIT_MS = 120_000;
const CLICK_LIMIT_MS = 60_000;
const CHANGE_LIMIT_MS = 180_000;
const END_LIMIT_MS = 60_000;
// Minutes of the sandbox in a second: on a busy machine the page must show what was just done before more happens.
const SPEED = 1;
const SIZES = [{ width: 1280, height: 900 }, { width: 768, height: 1000 }, { width: 360, height: 740 }];
const words = process.argv.slice(2);
if (words.length > 1 || words.some((word) => word === '' || word.startsWith('-'))) {
  console.error(`not understood: ${words.join(' ')}\nusage: dashboard.mjs [FOLDER FOR SCREENSHOTS]`);
  process.exit(2);
}
const folder = words[0] ?? 'target/dashboard';
const browserPath = process.env.CHROMIUM_BIN ?? '/usr/bin/chromium';

const wrong = [];
const check = (holds, what) => {
  if (!holds) wrong.push(what);
};

mkdirSync(folder, { recursive: true });
const sandbox = spawn(process.env.PHILEAS_BIN, ['sandbox', '--serve', '--json', '--until', '60h', '--speed', String(SPEED)], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = once(sandbox, 'exit');
const first = await Promise.race([
  once(createInterface(sandbox.stdout), 'line'),
  ended.then(() => Promise.reject(new Error('the sandbox ended before it served'))),
  late(START_LIMIT_MS, 'the sandbox does not serve'),
]);
const places = JSON.parse(first[0]);
const base = places.dashboard.replace(/\/$/, '');
const browser = await chromium.launch({
  executablePath: browserPath,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
});
try {
  const repository = await firstRepository();
  const review = `${repository}/review`;
  await firstReview(review);
  const pages = { front: '/', repository, review, deliveries: '/deliveries', nowhere: '/repositories/1', search: '/?q=absent%3Cb%3E' };
  for (const colorScheme of ['light', 'dark']) {
    for (const viewport of SIZES) {
      for (const javaScriptEnabled of [true, false]) await look(pages, { colorScheme, viewport, javaScriptEnabled });
      await axeOf(pages, { colorScheme, viewport });
    }
  }
  await clicks(repository);
  await pause(repository);
  await metrics();
  await troubles(pages);
} finally {
  await browser.close();
  sandbox.kill('SIGTERM');
  const [code] = await Promise.race([ended, late(END_LIMIT_MS, 'the sandbox does not end')]);
  check(code === 0, `the sandbox ended with ${code}`);
}
for (const one of wrong) console.log(`not ok: ${one}`);
console.log(wrong.length === 0 ? `all pages are good; screenshots in ${folder}` : `${wrong.length} findings`);
process.exit(wrong.length === 0 ? 0 : 1);

async function late(limit, what) {
  await new Promise((done) => setTimeout(done, limit).unref());
  throw new Error(`${what} within ${limit / 1000} s`);
}

/** Opens a page that notes everything that is not as it should be. */
async function open(settings, name) {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...settings });
  context.setDefaultTimeout(CLICK_LIMIT_MS);
  const page = await context.newPage();
  const where = () => `${name()} ${settings.colorScheme ?? ''} ${settings.viewport?.width ?? ''}`;
  page.on('console', (message) => {
    // A page that does not exist is asked for on purpose.
    const expected = message.text().includes('404') && message.location().url.endsWith('/repositories/1');
    if (['error', 'warning'].includes(message.type()) && !expected) wrong.push(`${where()}: console: ${message.text()}`);
  });
  page.on('pageerror', (error) => wrong.push(`${where()}: ${error.message}`));
  page.on('request', (request) => check(request.url().startsWith(base), `${where()}: loads ${request.url()}`));
  return { context, page };
}

async function firstRepository() {
  let name = 'front';
  const { context, page } = await open({}, () => name);
  const begun = Date.now();
  let path;
  while (!path) {
    if (Date.now() - begun > CHANGE_LIMIT_MS) throw new Error('the first repository is not looked at');
    await page.goto(`${base}/`);
    path = await page.locator('.repo:has(time) h2 a', { hasText: 'widget' }).first().getAttribute('href', { timeout: 1000 })
      .catch(() => undefined);
  }
  await context.close();
  return path;
}

/** Waits until a pull request stands on the review page. */
async function firstReview(path) {
  const { context, page } = await open({}, () => 'review');
  const begun = Date.now();
  do {
    if (Date.now() - begun > CHANGE_LIMIT_MS) throw new Error('no pull request stands on the review page');
    await page.goto(base + path);
  } while (await page.locator('.reviews li .settles').count() === 0);
  await context.close();
}

async function look(pages, settings) {
  let name = '';
  const { context, page } = await open(settings, () => name);
  for (const [key, path] of Object.entries(pages)) {
    name = key;
    await page.goto(base + path);
    check(await page.locator('h1').count() === 1, `${key}: there is not one heading`);
    const { scrollWidth, innerWidth } = await page.evaluate(() => ({ scrollWidth: document.documentElement.scrollWidth, innerWidth }));
    check(scrollWidth <= innerWidth, `${key} at ${innerWidth}: scrolls sideways by ${scrollWidth - innerWidth}`);
    if (key === 'repository') {
      check(await page.locator('.stations li').count() >= 3, 'repository: the loop has no stations');
      check(await page.locator('.sessions li').count() >= 5, 'repository: there are no sessions');
      check(await page.locator('.bar').count() >= 5, 'repository: the timeline is empty');
    }
    if (key === 'review') {
      const settled = await page.locator('.reviews li .settles').allInnerTexts();
      check(settled.every((text) => text.trim() !== ''), 'review: a pull request without what settles it');
    }
    if (settings.javaScriptEnabled) {
      await page.screenshot({ path: `${folder}/${key}-${settings.colorScheme}-${settings.viewport.width}.png`, fullPage: true });
    }
  }
  await context.close();
}

async function axeOf(pages, settings) {
  let name = '';
  // Only for axe itself, which has to get into the page.
  const { context, page } = await open({ ...settings, bypassCSP: true }, () => name);
  for (const [key, path] of Object.entries(pages)) {
    name = key;
    await page.goto(base + path);
    await page.addScriptTag({ content: axe.source });
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    for (const one of violations) {
      wrong.push(`${key} ${settings.colorScheme} ${settings.viewport.width}: ${one.id}: ${one.nodes.map((node) => node.html).slice(0, 3).join(' ')}`);
    }
  }
  await context.close();
}

/** What can be clicked does what it says. */
async function clicks(repository) {
  for (const javaScriptEnabled of [true, false]) {
    const { context, page } = await open({ javaScriptEnabled }, () => 'clicks');
    await page.goto(base + repository);
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByText('The check starts now.').waitFor();
    await page.getByRole('link', { name: 'Deliveries' }).click();
    await page.waitForURL(`${base}/deliveries`);
    const replay = page.getByRole('button', { name: /^Replay/ }).first();
    // Without scripts a page does not renew itself.
    const until = Date.now() + CHANGE_LIMIT_MS;
    while (await replay.count() === 0 && Date.now() < until) await page.goto(`${base}/deliveries`);
    check(await replay.count() > 0, 'no delivery has come in');
    await replay.click();
    await page.getByText('The delivery runs again').waitFor();
    await context.close();
  }
  const { context, page } = await open({}, () => 'live');
  await page.goto(base + repository);
  await page.locator('#pulse.live').waitFor();
  const before = await page.locator('main').innerText();
  // The page's own policy forbids scripts that a test would bring along, so it is looked at from outside.
  const until = Date.now() + CHANGE_LIMIT_MS;
  let renewed = false;
  while (!renewed && Date.now() < until) {
    renewed = (await page.locator('main').innerText()) !== before;
    if (!renewed) await page.waitForEvent('response', { timeout: 5_000 }).catch(() => {});
  }
  check(renewed, 'an open page does not renew itself');
  await page.keyboard.press('Tab');
  check(await page.evaluate(() => document.activeElement.className) === 'skip', 'the first stop of the keyboard is not the skip link');
  await context.close();
}

/** A repository is paused and resumed by its page, with and without scripts. */
async function pause(repository) {
  for (const javaScriptEnabled of [true, false]) {
    const { context, page } = await open({ javaScriptEnabled, viewport: SIZES[0] }, () => 'pause');
    const button = async (name) => {
      const found = page.getByRole('button', { name, exact: true });
      const until = Date.now() + CHANGE_LIMIT_MS;
      while (await found.count() === 0 && Date.now() < until) await page.goto(base + repository);
      return found;
    };
    await (await button('Pause')).click();
    await page.getByText('The repository is paused').waitFor();
    const end = await button('End the pause');
    await page.getByRole('heading', { name: 'Paused by the dashboard of the service' }).waitFor();
    await page.screenshot({ path: `${folder}/paused.png`, fullPage: true });
    await end.click();
    await page.getByText('The pause has ended').waitFor();
    await context.close();
  }
}

/** What is wrong with the service stands on every page: here, a webhook with another secret. */
async function troubles(pages) {
  // A few within an hour are an alert; a single one may be an unauthorized user's try.
  for (let sent = 0; sent < 3; sent += 1) {
    const answer = await fetch(places.webhook, {
      method: 'POST',
      body: '{}',
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'ping',
        'x-github-delivery': '11111111-2222-3333-4444-555555555555',
        'x-hub-signature-256': `sha256=${'0'.repeat(64)}`,
      },
    });
    check(answer.status === 401, `a forged delivery is answered ${answer.status}`);
  }
  const named = Object.fromEntries(Object.entries(pages).map(([key, path]) => [`trouble-${key}`, path]));
  // The narrowest window is where one more box hurts first.
  const viewport = SIZES.at(-1);
  for (const colorScheme of ['light', 'dark']) {
    await look(named, { colorScheme, viewport, javaScriptEnabled: true });
    await axeOf(named, { colorScheme, viewport });
  }
  const { context, page } = await open({}, () => 'troubles');
  for (const [key, path] of Object.entries(pages)) {
    await page.goto(base + path);
    const text = await page.getByRole('alert').first().innerText().catch(() => '');
    check(text.includes('3 deliveries were refused in the last hour'), `${key}: does not say that deliveries are refused: ${text}`);
  }
  await context.close();
}

async function metrics() {
  const page = await (await fetch(`${base}/metrics`)).text();
  const told = spawnSync('promtool', ['check', 'metrics'], { input: page, encoding: 'utf8' });
  check(told.status === 0, `promtool: ${told.error?.message ?? told.stderr + told.stdout}`);
  for (const name of ['phileas_ticks_total{result="done"} 0', 'phileas_deliveries_total{outcome="stored"} 0']) {
    check(!page.includes(name), `metrics: nothing was counted: ${name}`);
  }
  check(/phileas_requests_total\{target="github",status="2xx"\} \d/.test(page), 'metrics: requests to GitHub are not counted');
  check(!page.includes('widget'), 'metrics: a repository is named');
  const documented = readFileSync(new URL('../../docs/operate/metrics.md', import.meta.url), 'utf8');
  for (const [, name, meaning] of page.matchAll(/^# HELP (\S+) (.+)$/gm)) {
    const row = documented.split('\n').find((line) => line.startsWith(`| \`${name}\` |`));
    check(row?.endsWith(`| ${meaning} |`), `docs/operate/metrics.md: ${name} is missing, or means something else: ${row}`);
  }
}
