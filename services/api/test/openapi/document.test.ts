import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { refusalsOf, takesKey } from '@suzumio/contract/operations/operation';
import { allOperations } from '@suzumio/contract/operations/operations';
import { emptyRequest } from '@suzumio/contract/operations/request';
import { breakingChanges } from '../../src/openapi/breaking-changes.js';
import { openApiDocument } from '../../src/openapi/document.js';
import { requestSchemas } from '../../src/openapi/schemas.js';
import type { JsonSchema, OpenApiDocument } from '../../src/openapi/types.js';
import { type TestApi, testApi } from '../support/api.js';

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
});
afterAll(() => api.close());

const read = async (path: string): Promise<unknown> =>
  JSON.parse(await readFile(new URL(`../../${path}`, import.meta.url), 'utf8'));
const { version } = (await read('package.json')) as { version: string };
const document = openApiDocument(version);
const released = (await read('../../docs/openapi.released.json')) as OpenApiDocument;
const sentence = /^\S.*[.)]$/s;

const operationsOf = ({ paths }: OpenApiDocument) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

interface Field {
  component: string;
  name: string;
}

/** The fields of the component that a schema refers to; of a union, of each component in it. */
function fieldsOf(description: OpenApiDocument, schema: JsonSchema): Field[] {
  const component = schema.$ref?.split('/').at(-1) ?? '';
  const target = description.components.schemas[component];
  if (!target) return [];
  const own = Object.keys(target.properties ?? {}).map((name) => ({ component, name }));
  return [...own, ...(target.anyOf ?? []).flatMap((one) => fieldsOf(description, one))];
}

function withoutField(description: OpenApiDocument, { component, name }: Field): OpenApiDocument {
  const { schemas } = description.components;
  const fields = Object.entries(schemas[component]?.properties ?? {});
  const properties = Object.fromEntries(fields.filter(([field]) => field !== name));
  const changed = { ...schemas, [component]: { ...schemas[component], properties } };
  return { ...description, components: { ...description.components, schemas: changed } };
}

describe('the description', () => {
  test('that is checked in is that of the code (npm run openapi --workspace @suzumio/api)', async () => {
    expect(await read('../../docs/openapi.json')).toEqual(JSON.parse(JSON.stringify(document)));
  });

  test('breaks no client of the last release', () => {
    expect(breakingChanges(released, document)).toEqual([]);
  });

  test('is guarded by that of the last release: npm run openapi --workspace @suzumio/api -- --release', () => {
    const guarded = operationsOf(document).filter(({ path, method }) => released.paths[path]?.[method]);
    expect(guarded.length).toBeGreaterThan(0.9 * operationsOf(document).length);
  });

  test('breaks clients by each field that an operation of the last release no longer answers, or takes', () => {
    const tried = operationsOf(released).flatMap(({ path, method, operation }) => {
      const before = { ...released, paths: { [path]: { [method]: operation } } };
      const answers = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
      return [operation.requestBody?.content, ...answers.map(([, { content }]) => content)]
        .flatMap((content) => fieldsOf(before, content?.['application/json']?.schema ?? {}))
        .map((field) => ({ ...field, operation, broken: breakingChanges(before, withoutField(before, field)) }));
    });
    expect(tried.filter(({ broken }) => broken.length === 0)).toEqual([]);
    // The others answer files, streams, or what is described in place.
    expect(new Set(tried.map(({ operation }) => operation)).size).toBeGreaterThan(100);
  });

  test('refers only to what it has, and names every operation once', () => {
    const text = JSON.stringify(document);
    const referred = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference);
    const known = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    expect(known).toEqual(expect.arrayContaining([...new Set(referred)]));
    expect([...new Set(referred)].sort()).toEqual(known.sort());
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('says in a sentence what each group, operation, parameter and header is', () => {
    const tags = new Set(document.tags.map(({ name }) => name));
    for (const { description } of document.tags) expect(description).toMatch(sentence);
    for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
      expect([operation.operationId, operation.description]).toEqual([
        operation.operationId,
        expect.stringMatching(sentence),
      ]);
      expect(operation.tags.filter((tag) => !tags.has(tag))).toEqual([]);
      for (const { name, description } of operation.parameters) {
        const place = `${operation.operationId} ${name}`;
        expect([place, description]).toEqual([place, expect.stringMatching(sentence)]);
      }
    }
  });

  test('needs no field of a request that has a default', () => {
    const { CreateProject, SendMessage } = document.components.schemas;
    expect(CreateProject?.required).toEqual(['file']);
    expect(SendMessage?.required).toEqual(['body']);
    expect(SendMessage?.properties?.['priority']?.description).toMatch(/ Default: `"P1"`\.$/);
    // Generators of clients take a field with a default for one that is always there.
    const bodies = Object.keys(requestSchemas).map((name) => document.components.schemas[name]);
    expect(JSON.stringify(bodies)).not.toContain('"default":');
  });

  test('declares what a key with another body is refused with, wherever there is a key and a body', () => {
    const without = allOperations.filter(
      (operation) =>
        takesKey(operation) &&
        ((operation.body !== undefined && operation.body !== emptyRequest) || operation.upload !== undefined) &&
        !refusalsOf(operation).includes('idempotency-mismatch'),
    );
    expect(without.map(({ id }) => id)).toEqual([]);
  });

  test('is served to whoever asks', async () => {
    const answer = await api.get('/openapi.json', { token: null });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual(JSON.parse(JSON.stringify(document)));
  });
});
