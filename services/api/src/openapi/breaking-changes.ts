import { breakingSchemaChanges, type Direction } from './breaking-schema-changes.js';
import type { JsonSchema, OpenApiDocument, OpenApiOperation, OpenApiParameter } from './types.js';

/**
 * What would break a client of `before` in `after`, one sentence each: a removed operation, success, field or name; a
 * request that requires more or accepts less; an answer that promises less.
 */
export function breakingChanges(before: OpenApiDocument, after: OpenApiDocument): string[] {
  const compare = (place: string, direction: Direction, was: JsonSchema, is: JsonSchema) =>
    breakingSchemaChanges({ before, after, direction }, place, was, is);

  return Object.entries(before.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, was]) => {
      const place = `${method.toUpperCase()} ${path}`;
      const is = after.paths[path]?.[method];
      if (!is) return [`${place} is gone`];
      return [
        ...(is.operationId === was.operationId ? [] : [`${place}: its operationId was ${was.operationId}`]),
        ...(was.security?.length === 0 && is.security?.length !== 0 ? [`${place} needs a token now`] : []),
        ...parameterChanges(place, was, is, compare),
        ...bodyChanges(place, was, is, compare),
        ...answerChanges(place, was, is, compare),
      ];
    }),
  );
}

type Compare = (place: string, direction: Direction, was: JsonSchema, is: JsonSchema) => string[];

function parameterChanges(place: string, was: OpenApiOperation, is: OpenApiOperation, compare: Compare): string[] {
  const find = (operation: OpenApiOperation, { name, in: where }: OpenApiParameter) =>
    operation.parameters.find((candidate) => candidate.name === name && candidate.in === where);
  const kept = was.parameters.flatMap((old) => {
    const shown = `${place} ${old.in} parameter ${old.name}`;
    const now = find(is, old);
    if (!now) return [`${shown} is gone`];
    const needed = now.required && !old.required ? [`${shown} is required now`] : [];
    return [...needed, ...compare(shown, 'request', old.schema, now.schema)];
  });
  const added = is.parameters
    .filter((parameter) => parameter.required && !find(was, parameter))
    .map((parameter) => `${place} ${parameter.in} parameter ${parameter.name} is new and required`);
  return [...kept, ...added];
}

function bodyChanges(place: string, was: OpenApiOperation, is: OpenApiOperation, compare: Compare): string[] {
  const needed =
    is.requestBody?.required === true && was.requestBody?.required !== true ? [`${place} body is required now`] : [];
  const kept = Object.entries(was.requestBody?.content ?? {}).flatMap(([media, { schema }]) => {
    const now = is.requestBody?.content[media];
    return now ? compare(`${place} body`, 'request', schema, now.schema) : [`${place} body ${media} is gone`];
  });
  return [...needed, ...kept];
}

function answerChanges(place: string, was: OpenApiOperation, is: OpenApiOperation, compare: Compare): string[] {
  const successes = Object.entries(was.responses).filter(([status]) => /^[123]/.test(status));
  return successes.flatMap(([status, { content = {}, headers = {} }]) => {
    const now = is.responses[status];
    if (!now) return [`${place} no longer answers ${status}`];
    const lost = Object.keys(headers).filter((name) => !now.headers?.[name]);
    return [
      ...lost.map((name) => `${place} ${status} header ${name} is gone`),
      ...Object.entries(content).flatMap(([media, { schema }]) => {
        const body = now.content?.[media];
        if (!body) return [`${place} ${status} ${media} is gone`];
        return compare(`${place} ${status}`, 'answer', schema, body.schema);
      }),
    ];
  });
}
