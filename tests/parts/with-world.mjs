// Starts the models of GitHub and of Jules, runs a command against them, and ends both.
//
//   PHILEAS_BIN=target/debug/phileas node tests/parts/with-world.mjs COMMAND [ARGUMENT…]
//
// The command finds the world in WORLD_GITHUB, WORLD_JULES, WORLD_TOKEN, WORLD_JULES_KEY and WORLD_REPOSITORY.
// Exit code: the command's; 1 when the world does not start, or does not end by itself when its input closes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const START_LIMIT_MS = 120_000;
const END_LIMIT_MS = 120_000;
const KEPT_LINES = 40;

const command = process.argv.slice(2);
const binary = process.env.PHILEAS_BIN;
if (command.length === 0 || !binary) {
  console.error('usage: PHILEAS_BIN=… node with-world.mjs COMMAND [ARGUMENT…]');
  process.exit(2);
}

const world = spawn(binary, ['sandbox', '--world-only', '--github', '127.0.0.1:0', '--jules', '127.0.0.1:0'], {
  // The input stays open as long as this process lives: however it ends, the world ends too.
  stdio: ['pipe', 'pipe', 'pipe'],
});
const worldEnded = once(world, 'exit');
const lastWords = [];
createInterface(world.stderr).on('line', (line) => {
  lastWords.push(line);
  if (lastWords.length > KEPT_LINES) lastWords.shift();
});

const faces = await announcement().catch((error) => fail(error.message));
const client = spawn(command[0], command.slice(1), {
  stdio: 'inherit',
  env: {
    ...process.env,
    WORLD_GITHUB: faces.github,
    WORLD_JULES: faces.jules,
    WORLD_TOKEN: faces.token,
    WORLD_JULES_KEY: faces.jules_key,
    WORLD_REPOSITORY: faces.repository,
  },
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => client.kill(signal));
const clientEnded = once(client, 'exit');
const first = await Promise.race([clientEnded, worldEnded.then(() => 'world')]);
if (first === 'world') {
  client.kill();
  fail(`the world ended (${world.exitCode ?? world.signalCode}) while ${command.join(' ')} was running`);
}

world.stdin.end();
if (!(await within(END_LIMIT_MS, worldEnded))) {
  fail(`the world did not end within ${END_LIMIT_MS} ms after its input was closed`);
}
if (world.exitCode !== 0) fail(`the world ended with ${world.exitCode ?? world.signalCode} after its input was closed`);
const [code] = await clientEnded;
process.exit(code ?? 1);

/** The first line of the world's output: where its faces are. */
async function announcement() {
  const lines = createInterface(world.stdout);
  const spoken = await within(START_LIMIT_MS, Promise.race([
    once(lines, 'line').then(([line]) => ({ line })),
    worldEnded.then(([status, signal]) => ({ ended: status ?? signal })),
    once(world, 'error').then(([error]) => ({ ended: error.message })),
  ]));
  if (!spoken) throw new Error(`the world said nothing within ${START_LIMIT_MS} ms`);
  if ('ended' in spoken) throw new Error(`the world ended before it said where it is: ${spoken.ended}`);
  const faces = JSON.parse(spoken.line);
  for (const key of ['github', 'jules', 'token', 'jules_key', 'repository']) {
    if (typeof faces[key] !== 'string') throw new Error(`the world's first line has no "${key}": ${spoken.line}`);
  }
  return faces;
}

/** What the promise gives, or undefined when the time is over. */
async function within(limit, promise) {
  let timer;
  const late = new Promise((resolve) => { timer = setTimeout(resolve, limit); });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function fail(why) {
  console.error(`with-world: ${why}`);
  for (const line of lastWords) console.error(`  world: ${line}`);
  world.kill('SIGKILL');
  process.exit(1);
}
