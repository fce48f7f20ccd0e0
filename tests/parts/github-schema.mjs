// GitHub's GraphQL schema as GitHub publishes it, and what can be held against it: documents and answers.
import { isDeepStrictEqual } from 'node:util';
import { schema as published } from '@octokit/graphql-schema';
import {
  buildSchema, executeSync, isInterfaceType, Kind, NoDeprecatedCustomRule, parse, specifiedRules, validate,
} from 'graphql';

export const schema = buildSchema(published.idl, { assumeValid: true });

/** What is wrong with a document (text, or parsed), as GraphQLErrors; deprecated fields count, since GitHub removes them. */
export function documentProblems(document) {
  try {
    return validate(schema, typeof document === 'string' ? parse(document) : document, [...specifiedRules, NoDeprecatedCustomRule]);
  } catch (error) {
    return [error];
  }
}

/**
 * What is wrong with an answer: fields that were not asked for or are missing, values of another type,
 * null where the schema forbids it, unknown enum values. Works by executing the document over the answer's
 * data, which must yield the same data again. An answer with `data: null` and errors has nothing to check.
 */
export function answerProblems({ query, variables, operationName }, answer) {
  if (!answer?.data) return Array.isArray(answer?.errors) ? [] : ['neither data nor errors'];
  const again = executeSync({
    schema,
    document: parse(query),
    operationName,
    variableValues: variables ?? {},
    rootValue: answer.data,
    // Data is keyed by alias, not by field name.
    fieldResolver: (parent, _arguments, _context, info) => parent[info.path.key],
    typeResolver: concreteType,
  });
  const problems = (again.errors ?? []).map((error) => `${error.path?.join('.') ?? ''}: ${error.message}`);
  if (problems.length > 0) return problems;
  return difference(JSON.parse(JSON.stringify(again.data)), answer.data, 'data');
}

/** The type of an object behind an interface or a union: as it says itself, else the fragment that fits best. */
function concreteType(value, _context, info, abstract) {
  if (value.__typename) return value.__typename;
  const possible = schema.getPossibleTypes(abstract);
  const fits = info.fieldNodes
    .flatMap((node) => node.selectionSet?.selections ?? [])
    .map((selection) => (selection.kind === Kind.FRAGMENT_SPREAD ? info.fragments[selection.name.value] : selection))
    .filter((fragment) => fragment.typeCondition)
    .map((fragment) => ({ fragment, type: schema.getType(fragment.typeCondition.name.value) }))
    .filter(({ fragment }) => fragment.selectionSet.selections.every((field) => !field.name || (field.alias ?? field.name).value in value))
    .map(({ type }) => (isInterfaceType(type) ? schema.getPossibleTypes(type)[0] : type));
  return (fits[0] ?? possible[0]).name;
}

function difference(wanted, got, path) {
  if (isDeepStrictEqual(wanted, got)) return [];
  if (!isObject(wanted) || !isObject(got)) return [`${path}: ${JSON.stringify(got)} should be ${JSON.stringify(wanted)}`];
  const keys = new Set([...Object.keys(wanted), ...Object.keys(got)]);
  return [...keys].flatMap((key) => {
    if (!(key in got)) return [`${path}.${key}: missing`];
    if (!(key in wanted)) return [`${path}.${key}: was not asked for`];
    return difference(wanted[key], got[key], `${path}.${key}`);
  });
}

function isObject(value) {
  return value !== null && typeof value === 'object';
}
