// Runs a workflow by act, on this machine and without containers, as GitHub's runner would.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeTree } from '../remove-tree.mjs';
import { world } from '../world.mjs';

const RUN_LIMIT_MS = 300_000;
const root = fileURLToPath(new URL('../../..', import.meta.url));
// What GitHub fetches of the action; the rest of the repository is of no use to it.
const ACTION = ['action.yml', 'Cargo.toml', 'scripts/find-binary'];
const DOCS_WORKFLOW = /```yaml\n(# \.github\/workflows\/phileas\.yml\n[^]*?)```/;
const SHOW = `
      - if: always()
        shell: bash
        run: |
          printf 'OUTPUTS %s\\n' "$OUTPUTS"
        env:
          OUTPUTS: \${{ toJSON(steps.phileas.outputs) }}
`;

/** The workflow that docs/guide/action.md shows, with the binary of this build, and a step that shows what came. */
export function workflowOfDocs() {
  const [, text] = DOCS_WORKFLOW.exec(readFileSync(join(root, 'docs/guide/action.md'), 'utf8'));
  const key = /^( *)jules-api-key: .*$/m;
  if (!key.test(text)) throw new Error('docs/guide/action.md passes no jules-api-key');
  // act holds back nothing, and does not know this key of 2026.
  // A reader fills in the commit; here it is the version that the other workflows name.
  return text.replace('phileas/phileas@COMMIT', 'phileas/phileas@v1').replace(/^ {2}queue: max\n/m, '').replace(key, '$&\n$1binary: ${{ env.BINARY }}').trimEnd() + SHOW;
}

/** One of the workflows beside this file. */
export const workflow = (name) => readFileSync(join(root, 'tests/parts/action/workflows', name), 'utf8');

/**
 * Runs `text` for an event. `env` are variables of the job, `secrets` its secrets, `programs` scripts by name that come
 * first in PATH, and `tools` is the tool cache of a machine that stays. Gives `ok`, `log` (all lines), `outputs`, `summary`, and what the runner was told by `::error` and such.
 */
export async function run(...what) {
  // act seems not to wait for the last output of a step that fails: now and then the step's error is missing.
  for (let left = 3; ; left -= 1) {
    const done = await runOnce(...what);
    if (done.ok || done.errors.length > 0 || left === 1) return done;
  }
}

async function runOnce(text, event, payload, { env = {}, secrets = {}, programs = {}, actor = 'maintainer', tools } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'phileas-act-'));
  try {
    const [home, work, action, bin] = ['home', 'work', 'action', 'bin'].map((name) => join(folder, name));
    for (const path of [home, bin, join(work, '.github/workflows'), join(home, '.config/act')]) mkdirSync(path, { recursive: true });
    writeFileSync(join(home, '.config/act/actrc'), '');
    // act names this folder to its jobs, whatever RUNNER_TOOL_CACHE says.
    mkdirSync(join(home, '.cache/act'), { recursive: true });
    if (tools) symlinkSync(tools, join(home, '.cache/act/tool_cache'));
    for (const place of [action, work]) {
      for (const file of ACTION) {
        mkdirSync(dirname(join(place, file)), { recursive: true });
        cpSync(join(root, file), join(place, file));
      }
    }
    for (const [name, script] of Object.entries(programs)) {
      writeFileSync(join(bin, name), script);
      chmodSync(join(bin, name), 0o755);
    }
    writeFileSync(join(work, '.github/workflows/phileas.yml'), text);
    writeFileSync(join(folder, 'event.json'), JSON.stringify(payload));
    const surroundings = { PATH: `${bin}:${process.env.PATH}`, HOME: home, LC_ALL: 'C.UTF-8', GIT_CONFIG_GLOBAL: '/dev/null' };
    const git = (...words) => ended('git', ['-C', work, '-c', 'user.name=parts', '-c', 'user.email=parts@example.org', ...words], surroundings);
    for (const words of [['init', '-q', '-b', 'main'], ['add', '-A'], ['commit', '-qm', 'All'], ['remote', 'add', 'origin', `https://github.com/${world.repository}.git`]]) {
      const made = await git(...words);
      if (made.code !== 0) throw new Error(`git ${words.join(' ')}: ${made.text}`);
    }
    const variables = {
      GITHUB_API_URL: world.github,
      GITHUB_GRAPHQL_URL: `${world.github}/graphql`,
      JULES_API_BASE: world.jules,
      BINARY: process.env.PHILEAS_BIN,
      ...env,
    };
    const known = { GITHUB_TOKEN: world.token, JULES_API_KEY: world.julesKey, ...secrets };
    const pairs = (option, values) => Object.entries(values)
      .filter(([, value]) => value !== null)
      .flatMap(([name, value]) => [option, `${name}=${value}`]);
    const done = await ended(join(root, '.parts/venv/bin/act'), [
      event, '--directory', work, '-W', '.github/workflows/phileas.yml', '-e', join(folder, 'event.json'), '-P', 'ubuntu-24.04=-self-hosted',
      '--local-repository', `phileas/phileas@v1=${action}`, '--action-offline-mode', '--actor', actor, '--json',
      ...pairs('--env', variables), ...pairs('-s', known),
    ], surroundings);
    return { ok: done.code === 0, ...read(done.text) };
  } finally {
    removeTree(folder);
  }
}

async function ended(program, words, env) {
  const child = spawn(program, words, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: RUN_LIMIT_MS });
  // A chunk may end within a line, so what comes by the other stream must not get between.
  const texts = ['', ''];
  for (const [at, stream] of [child.stdout, child.stderr].entries()) {
    stream.setEncoding('utf8').on('data', (data) => { texts[at] += data; });
  }
  const [code] = await once(child, 'close');
  return { code, text: texts.join('\n') };
}

/** What act printed, a JSON document a line. */
function read(text) {
  const lines = text.split('\n').filter(Boolean).map((line) => {
    try {
      return JSON.parse(line);
    } catch {
      return { msg: line };
    }
  });
  // What a step printed; what the runner was told by it comes with the command and its fields.
  const log = lines.flatMap((line) => String(line.msg ?? '').split(/\r?\n/)).filter(Boolean);
  const from = log.findIndex((line) => line.startsWith('OUTPUTS {'));
  let outputs = {};
  if (from >= 0) {
    const to = log.findIndex((line, at) => at >= from && (line === '}' || line.endsWith('{}')));
    outputs = JSON.parse(log.slice(from, to + 1).join('\n').slice('OUTPUTS '.length));
  }
  const [summary = ''] = lines.filter((line) => line.command === 'summary').map((line) => line.content);
  const told = (level) => lines.filter((line) => line.command === level).map((line) => ({ ...line.kvPairs, message: line.arg ?? line.msg }));
  return { log, lines, outputs, summary, errors: told('error'), warnings: told('warning'), notices: told('notice') };
}
