// Validates GraphQL documents against the schema that GitHub publishes.
//
//   node tests/parts/graphql-check.mjs FILE-OR-FOLDER…
//
// A file that holds nothing but fragments lends them to all the others, and each must be borrowed.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { GraphQLError, Kind, parse, Source, visit } from 'graphql';
import { documentProblems } from './github-schema.mjs';

const words = process.argv.slice(2);
const unknown = words.find((word) => !existsSync(word));
if (unknown !== undefined) {
  console.error(`there is no file or folder '${unknown}'`);
  process.exit(2);
}
const files = words.flatMap((given) =>
  statSync(given).isDirectory()
    ? readdirSync(given, { recursive: true }).filter((name) => name.endsWith('.graphql')).sort().map((name) => join(given, name))
    : [given]);
if (files.length === 0) {
  console.error('no .graphql file in', words.join(' ') || 'the empty list of arguments');
  process.exit(2);
}

const problems = [];
const documents = files.flatMap((file) => {
  try {
    return [parse(new Source(readFileSync(file, 'utf8'), file))];
  } catch (error) {
    problems.push(error);
    return [];
  }
});
const isFragment = ({ kind }) => kind === Kind.FRAGMENT_DEFINITION;
const operations = documents.filter(({ definitions }) => !definitions.every(isFragment));
const lent = new Map(documents
  .filter((document) => !operations.includes(document))
  .flatMap(({ definitions }) => definitions.map((fragment) => [fragment.name.value, fragment])));

const borrowed = new Set();
for (const document of operations) {
  problems.push(...documentProblems({ ...document, definitions: [...document.definitions, ...fragmentsOf(document)] }));
}
for (const [name, fragment] of lent) {
  if (!borrowed.has(name)) problems.push(new GraphQLError(`Fragment "${name}" is never used.`, { nodes: fragment }));
}

for (const problem of problems) {
  const { line, column } = problem.locations?.[0] ?? { line: 1, column: 1 };
  console.log(`${problem.source?.name ?? '?'}:${line}:${column}: ${problem.message}`);
}
console.log(`${operations.length} documents and ${lent.size} shared fragments in ${files.length} files, ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);

/** The lent fragments that a document spreads, and those that they spread in turn. */
function fragmentsOf(document) {
  const found = new Map();
  const collect = (node) => visit(node, {
    FragmentSpread({ name: { value: name } }) {
      const fragment = lent.get(name);
      if (!fragment || found.has(name)) return;
      borrowed.add(name);
      found.set(name, fragment);
      collect(fragment);
    },
  });
  collect(document);
  return found.values();
}
