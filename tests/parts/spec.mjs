// Writes .parts/github.json: the REST description that GitHub publishes, in a form that Prism checks in full.
//
//   node tests/parts/spec.mjs
//
// As the package has it, it has five gaps for a strict proxy; each is closed here, and nothing else is changed.
import './no-words.mjs';
import { createRequire } from 'node:module';
import { readFile, writeFile } from 'node:fs/promises';

const OUTPUT = new URL('../../.parts/github.json', import.meta.url);
const METHODS = ['get', 'put', 'post', 'patch', 'delete', 'head', 'options'];
// GitHub may answer any request with these, and a conditional one with 304. Where an operation does not list them, Prism would flag the answer.
const FAULTS = ['401', '403', '404', '429', '500', '502', '503'];
// Path parameters that may contain slashes: OpenAPI cannot say that, and Prism matches one segment only.
const SLASHED = /\{(ref|path|branch|basehead|tree_sha|tag|dir)\}$/;
const MAX_SEGMENTS = 8;

const source = createRequire(import.meta.url).resolve('@octokit/openapi/generated/api.github.com.json');
const spec = JSON.parse(await readFile(source, 'utf8'));
delete spec['x-webhooks'];

// Octokit's package overrides one operation for the sake of its types: every account would be a user and an enterprise at
// once (scripts/overrides/get-app-installations.json in octokit/openapi). GitHub's own description says: one of the two.
spec.paths['/app/installations'].get.responses['200'].content['application/json'].schema.items = { $ref: '#/components/schemas/installation' };

typeNullables(spec);
const operations = Object.values(spec.paths).flatMap((item) => METHODS.flatMap((method) => item[method] ?? []));
operations.forEach(describeFaults);
for (const [path, item] of Object.entries(spec.paths)) {
  if (SLASHED.test(path)) addSegments(path, item);
}

// The root folder is read without a path, which a path parameter cannot be.
const contents = '/repos/{owner}/{repo}/contents';
spec.paths[contents] = { get: structuredClone(spec.paths[`${contents}/{path}`].get) };
spec.paths[contents].get.parameters = spec.paths[contents].get.parameters.filter((parameter) => parameter.name !== 'path');
delete spec.paths[contents].get.operationId;

// A number in a path is a text as well, which "exactly one" of both never allows.
for (const parameter of [
  ...Object.values(spec.components?.parameters ?? {}),
  ...Object.values(spec.paths).flatMap((item) => [item, ...Object.values(item)]).flatMap((part) => part?.parameters ?? []),
]) {
  if (parameter.in === 'path' && parameter.schema?.oneOf) {
    parameter.schema.anyOf = parameter.schema.oneOf;
    delete parameter.schema.oneOf;
  }
}

await writeFile(OUTPUT, JSON.stringify(spec));
console.log(`${Object.keys(spec.paths).length} paths, ${operations.length} operations`);

/**
 * OpenAPI 3.0 wants a `type` beside `nullable`. Without one ajv refuses the schema, and Prism then accepts
 * every body of that operation without a word. `null` becomes one more alternative instead.
 */
function typeNullables(node) {
  if (node === null || typeof node !== 'object') return;
  if (node.nullable === true && node.type === undefined) {
    delete node.nullable;
    const alternatives = node.oneOf ?? node.anyOf;
    if (alternatives) {
      alternatives.push({ enum: [null] });
    } else if (node.allOf) {
      node.anyOf = [{ allOf: node.allOf }, { enum: [null] }];
      delete node.allOf;
    }
  }
  for (const [key, value] of Object.entries(node)) {
    if (key !== 'example' && key !== 'examples') typeNullables(value);
  }
}

function describeFaults(operation) {
  operation.responses['304'] ??= { description: 'not modified' };
  for (const status of FAULTS) {
    operation.responses[status] ??= {
      description: 'a fault',
      content: { 'application/json': { schema: { type: 'object' } } },
    };
  }
}

/** The same operations once more for two to MAX_SEGMENTS segments in place of the last parameter. */
function addSegments(path, item) {
  for (let count = 2; count <= MAX_SEGMENTS; count += 1) {
    const names = Array.from({ length: count - 1 }, (_, index) => `segment${index + 2}`);
    const longer = structuredClone(item);
    for (const method of METHODS) {
      const operation = longer[method];
      if (!operation) continue;
      delete operation.operationId;
      operation.parameters = [
        ...(operation.parameters ?? []),
        ...names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
      ];
    }
    spec.paths[path + names.map((name) => `/{${name}}`).join('')] = longer;
  }
}
