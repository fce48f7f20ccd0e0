// Programs that a check runs. None outlives it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const RUN_LIMIT_MS = 300_000;
const START_LIMIT_MS = 120_000;
const END_LIMIT_MS = 120_000;

const children = [];
process.on('exit', () => children.forEach((child) => child.kill('SIGKILL')));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

/** Starts a program that is ended with this process at the latest. */
export function start(program, parameters, options) {
  const child = spawn(program, parameters, options);
  children.push(child);
  return child;
}

/** Runs a program to its end; gives what is wrong with it. */
export async function run(program, parameters, environment, expected = 0) {
  const child = start(program, parameters, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...environment },
    timeout: RUN_LIMIT_MS,
  });
  return verdict([program, ...parameters], await once(child, 'exit'), expected);
}

/**
 * Starts a program that stays, and waits for its first line: `line`. `ended` becomes what is wrong with its end, and
 * `end` asks for that end.
 */
export async function stay(program, parameters, environment) {
  const words = [program, ...parameters];
  const child = start(program, parameters, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...environment } });
  const exit = once(child, 'exit');
  const lines = createInterface(child.stdout);
  const line = await within(START_LIMIT_MS, `the first line of ${words.join(' ')}`, Promise.race([
    once(lines, 'line').then(([first]) => first),
    exit.then(([code, signal]) => { throw new Error(`${words.join(' ')} ended with ${code ?? signal} before its first line`); }),
  ]));
  lines.on('line', (further) => console.log(further));
  const ended = exit.then((how) => verdict(words, how, 0));
  return {
    line,
    ended: () => within(END_LIMIT_MS, `the end of ${words.join(' ')}`, ended),
    end() {
      child.kill('SIGTERM');
      return this.ended();
    },
  };
}

function verdict(words, [code, signal], expected) {
  return code === expected ? [] : [`${words.join(' ')} ended with ${code ?? signal}, not ${expected}`];
}

/** What a promise gives; fails when it takes longer. */
async function within(limit, what, promise) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`not within ${limit} ms: ${what}`)), limit); });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
