import * as z from 'zod';
import { type ErrorCode, errorCodes } from '@suzumio/contract/errors/codes';
import { idempotencyKey } from '@suzumio/contract/operations/request';
import { problemMediaType } from '@suzumio/protocol/problem';
import { allOperations } from '@suzumio/contract/operations/operations';
import { answerSchemas, pathParameters, requestSchemas } from './schemas.js';
import {
  groups,
  isOpen,
  type Operation,
  type OperationAnswer,
  refusalsOf,
  scopeOf,
  takesKey,
} from '@suzumio/contract/operations/operation';
import type { JsonSchema, OpenApiDocument, OpenApiOperation, OpenApiParameter, OpenApiResponse } from './types.js';

type Io = 'input' | 'output';

const names = new Map(
  [...Object.entries(requestSchemas), ...Object.entries(answerSchemas)].map(([name, schema]) => [schema, name]),
);

/** The API's description, made from the operations of the contract. The same each time for the same version. */
export function openApiDocument(version: string): OpenApiDocument {
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const operation of allOperations) {
    const path = operation.path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[operation.method] = describe(operation);
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Suzumio',
      version,
      description:
        'What people and programs do to projects, and read of them. Requests refuse fields that they do not know; ' +
        'answers may grow fields, and lists of names may grow names. A refusal is a problem document (RFC 9457), whose ' +
        '`code` is stable. A list comes in parts: the `next` of one is the `after` of the following.',
      contact: { name: 'Suzumio' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    tags: Object.entries(groups).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token of the scope that the operation names, or of one that is more.',
        },
      },
      schemas: { ...components(requestSchemas, 'input'), ...components(answerSchemas, 'output') },
    },
  };
}

function describe(operation: Operation): OpenApiOperation {
  return {
    operationId: operation.id,
    tags: [operation.group],
    summary: operation.summary,
    description: wordsOf(operation),
    ...(isOpen(operation) ? { security: [] } : {}),
    parameters: parametersOf(operation),
    ...bodyOf(operation),
    responses: { ...answersOf(operation), ...refusals(refusalsOf(operation)), default: refusal('Anything else.') },
  };
}

function wordsOf(operation: Operation): string {
  const needs = isOpen(operation) ? 'Needs no token.' : needsOf(operation);
  return operation.description === undefined ? needs : `${operation.description}\n\n${needs}`;
}

function needsOf(operation: Operation): string {
  const scope = scopeOf(operation);
  const cell = operation.wholeCell ? ' that is for the whole cell' : '';
  return `Needs a token of the scope \`${scope}\`${scope === 'admin' ? '' : ' or more'}${cell}.`;
}

function bodyOf({ body, upload }: Operation): Pick<OpenApiOperation, 'requestBody'> {
  if (upload) return { requestBody: { required: true, content: { [upload.media]: { schema: {} } } } };
  if (!body) return {};
  const content = { 'application/json': { schema: schemaOf(body, 'input') } };
  return { requestBody: { required: !accepts(body, {}), content } };
}

function parametersOf(operation: Operation): OpenApiParameter[] {
  const { path, query, headers } = operation;
  const parameter = (place: OpenApiParameter['in'], name: string, schema: z.ZodType, meaning?: string) => {
    const { description = meaning, ...described } = schemaOf(schema, 'input');
    return {
      name,
      in: place,
      required: place === 'path' || !accepts(schema, undefined),
      ...(description === undefined ? {} : { description }),
      // A list is one parameter, separated by commas.
      ...(described.type === 'array' ? { explode: false } : {}),
      schema: described,
    };
  };
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => {
    const known = pathParameters[name];
    if (!known) throw new Error(`the part :${name} of ${path} is not described`);
    return parameter('path', name, known.schema, known.description);
  });
  const inQuery = Object.entries(query?.shape ?? {}).map(([name, schema]) =>
    parameter('query', name, schema as z.ZodType),
  );
  const inHeaders = Object.entries(headers ?? {}).map(([name, { schema, description }]) =>
    parameter('header', name, schema, description),
  );
  const repeatable = parameter(
    'header',
    'Idempotency-Key',
    idempotencyKey.optional(),
    'The same request with the same key takes effect once, and gets the same answer for 24 hours.',
  );
  return [...inPath, ...inQuery, ...inHeaders, ...(takesKey(operation) ? [repeatable] : [])];
}

function answersOf({ answers }: Operation): Record<string, OpenApiResponse> {
  return Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, answerOf(answer)]));
}

function answerOf({ description, content, headers }: OperationAnswer): OpenApiResponse {
  return {
    description,
    ...(headers
      ? {
          headers: Object.fromEntries(
            Object.entries(headers).map(([name, meaning]) => [
              name,
              { description: meaning, schema: { type: 'string' } },
            ]),
          ),
        }
      : {}),
    ...(content
      ? {
          content: Object.fromEntries(
            Object.entries(content).map(([media, schema]) => [media, { schema: schemaOf(schema, 'output') }]),
          ),
        }
      : {}),
  };
}

/** One response for each status, with its error codes. */
function refusals(codes: readonly ErrorCode[]): Record<string, OpenApiResponse> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = errorCodes[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, some]) => [status, refusal(some.map((code) => `\`${code}\``).join(', '))]),
  );
}

function refusal(description: string): OpenApiResponse {
  return { description, content: { [problemMediaType]: { schema: { $ref: '#/components/schemas/Problem' } } } };
}

function components(schemas: Readonly<Record<string, z.ZodType>>, io: Io): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const made = z.toJSONSchema(registry, {
    io,
    override: plainly(io, io === 'input'),
    uri: (id) => `#/components/schemas/${id}`,
  });
  const { __shared: unnamed, ...named } = JSON.parse(JSON.stringify(made.schemas), anyJson) as Record<
    string,
    JsonSchema
  >;
  if (Object.keys(unnamed?.['$defs'] ?? {}).length > 1) throw new Error('a schema that contains itself needs a name');
  return Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, withoutIds(schema)]));
}

/** The only unnamed recursive schema is that of any JSON value, which needs no description. */
function anyJson(_key: string, value: unknown): unknown {
  const isUnnamed =
    typeof value === 'object' && value !== null && '$ref' in value && /__shared/.test(String(value.$ref));
  return isUnnamed ? {} : value;
}

/** A named schema is referred to by its name. */
function schemaOf(schema: z.ZodType, io: Io): JsonSchema {
  const name = names.get(schema);
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
  const tell = plainly(io);
  return withoutIds(
    z.toJSONSchema(schema, {
      io,
      override(made) {
        tell(made);
        const inner = names.get(made.zodSchema as unknown as z.ZodType);
        if (inner === undefined) return;
        for (const keyword of Object.keys(made.jsonSchema)) Reflect.deleteProperty(made.jsonSchema, keyword);
        made.jsonSchema.$ref = `#/components/schemas/${inner}`;
      },
    }),
  );
}

function withoutIds(schema: object): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== '$schema' && keyword !== '$id'));
}

/**
 * Leaves out noise, and what answers do not promise: that they never gain a field. Adds the defaults of a query, which
 * zod omits where text is turned into a number.
 *
 * @param inBody whether it is of a request's body. Defaults are said in words there: generators of clients take a field
 *   with the keyword for one that is always there, and would have it sent.
 */
function plainly(io: Io, inBody = false) {
  return ({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: z.core.JSONSchema.BaseSchema }) => {
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
    if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    if (!(zodSchema instanceof z.ZodDefault)) return;
    const { defaultValue } = zodSchema.def;
    if (!inBody) {
      jsonSchema.default = defaultValue;
      return;
    }
    delete jsonSchema.default;
    jsonSchema.description = `${jsonSchema.description ?? ''} Default: \`${JSON.stringify(defaultValue)}\`.`.trim();
  };
}

function accepts(schema: z.ZodType, value: unknown): boolean {
  return schema.safeParse(value).success;
}
