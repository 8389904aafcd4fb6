import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createClient } from '@hey-api/openapi-ts';
import ts from 'typescript';

/** What the contract says of its client in plain interfaces. */
const interfaces = {
  'client/make-client.ts': ['ApiAddress', 'AskOptions'],
  'client/follow-events.ts': ['Follow'],
  'client/follow-cell.ts': ['FollowCell', 'CellNotice'],
  'client/follow-turn.ts': ['FollowTurn', 'LiveEnd', 'LiveFrame'],
  'client/until-status.ts': ['UntilStatus'],
  'client/until-reply.ts': ['UntilReply'],
};

/**
 * The types of the API's client, made of its description: a type for each schema, and a method for each operation. They
 * import nothing, where those of the contract are made of zod's.
 */
export async function clientTypes() {
  const document = JSON.parse(await readFile('docs/openapi.json', 'utf8'));
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ path, ...operation })),
  );
  const schemas = new Set(Object.keys(document.components.schemas));
  const queries = new Set(
    operations.filter(({ parameters }) => parameters.some(isInQuery)).map(({ operationId }) => dataOf(operationId)),
  );
  const copied = Object.entries(interfaces).map(async ([file, names]) =>
    declarations(await readFile(`shared/contract/src/${file}`, 'utf8'), (name) => names.includes(name)),
  );
  return [
    declarations(await generated(), (name) => schemas.has(name) || queries.has(name)),
    "export type ProjectStatus = Project['status'];\n",
    ...(await Promise.all(copied)),
    '/** What an operation sends as a file. */\nexport type FetchBody = Uint8Array<ArrayBuffer> | Blob;\n',
    '/** Every operation of the API as a method. */\nexport interface Client {\n',
    ...operations.map(method),
    '}\n',
  ]
    .join('\n')
    .replaceAll('ProjectEvent', 'Event');
}

async function generated() {
  const output = await mkdtemp(join(tmpdir(), 'suzumio-types-'));
  try {
    const plugins = ['@hey-api/typescript'];
    await createClient({ input: resolve('docs/openapi.json'), output, plugins, logs: { level: 'silent' } });
    return await readFile(join(output, 'types.gen.ts'), 'utf8');
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}

/** The wanted types and interfaces of a text, with their comments. */
function declarations(text, isWanted) {
  const source = ts.createSourceFile('types.ts', text, ts.ScriptTarget.Latest, true);
  return source.statements
    .filter((statement) => ts.isTypeAliasDeclaration(statement) || ts.isInterfaceDeclaration(statement))
    .filter(({ name }) => isWanted(name.text))
    .map((statement) => `${text.slice(statement.getStart(source, true), statement.end)}\n`)
    .join('\n');
}

function method({ path, operationId, summary, description, parameters, requestBody, responses }) {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `readonly ${name}: string`);
  const isNeeded = (place) => parameters.some((parameter) => parameter.in === place && parameter.required);

  const query = parameters.some(isInQuery)
    ? [`readonly query${isNeeded('query') ? '' : '?'}: ${dataOf(operationId)}['query']`]
    : [];
  const body = requestBody ? [`readonly body${requestBody.required ? '' : '?'}: ${bodyOf(requestBody.content)}`] : [];
  const optional = names.length === 0 && !isNeeded('query') && !requestBody?.required;
  const input = [...names, ...query, ...body];
  return `  /**\n   * ${summary}\n   *\n   * ${description.replaceAll('\n', '\n   * ')}\n   */
  readonly ${operationId}: (input${optional ? '?' : ''}: { ${input.join('; ')} }, options?: AskOptions) => Promise<${answerOf(responses)}>;\n`;
}

function isInQuery(parameter) {
  return parameter.in === 'query';
}

/** The name that the generator gives to what an operation takes. */
function dataOf(operationId) {
  return `${operationId[0].toUpperCase()}${operationId.slice(1)}Data`;
}

function bodyOf(content) {
  const json = content['application/json'];
  return json ? nameOf(json) : 'FetchBody';
}

function answerOf(responses) {
  const bodies = Object.entries(responses).flatMap(([status, { content = {} }]) =>
    /^2/.test(status) ? [content] : [],
  );
  const json = bodies[0]?.['application/json'];
  if (json) return json.schema.$ref ? nameOf(json) : 'Record<string, unknown>';
  const media = Object.keys(bodies[0] ?? {});
  const isText = media.length > 0 && media.every((type) => /^text\/(?!event-stream)/.test(type));
  return isText ? 'string' : 'AsyncIterable<Uint8Array>';
}

function nameOf({ schema }) {
  return schema.$ref.split('/').at(-1);
}
