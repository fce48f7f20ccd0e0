// Validates GraphQL documents against the schema that GitHub publishes.
//
//   node tests/parts/graphql-check.mjs FILE-OR-FOLDER…
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { documentProblems } from './github-schema.mjs';

const files = process.argv.slice(2).flatMap((given) =>
  statSync(given).isDirectory()
    ? readdirSync(given, { recursive: true }).filter((name) => name.endsWith('.graphql')).sort().map((name) => join(given, name))
    : [given]);
if (files.length === 0) {
  console.error('no .graphql file in', process.argv.slice(2).join(' ') || 'the empty list of arguments');
  process.exit(2);
}

let problems = 0;
for (const file of files) {
  for (const problem of documentProblems(readFileSync(file, 'utf8'))) {
    const { line, column } = problem.locations?.[0] ?? { line: 1, column: 1 };
    console.log(`${file}:${line}:${column}: ${problem.message}`);
    problems += 1;
  }
}
console.log(`${files.length} documents, ${problems} problems`);
process.exit(problems === 0 ? 0 : 1);
