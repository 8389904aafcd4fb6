import type { ReactNode } from 'react';
import { isOpen, type Operation, refusalsOf } from '@suzumio/contract/operations/operation';
import { code, h, joined, markup, pre, prose, table } from '../element.js';
import type { Rendered, Section, Source } from '../page.js';
import { commands } from './commands.js';
import { type DescribedOperation, type Description, looked, type Parameter } from './description.js';
import { entriesOf, type Entry } from './entries.js';
import { exampleBody, exampleCall } from './example.js';
import { pathOfGroup } from './paths.js';
import { fieldsTable, typeOf } from './schema-view.js';
import { tryForm } from './try-form.js';

/** The pages of the operations: a list of all, one page for each group, and the schemas. */
export function operationPages(description: Description): Source[] {
  const entries = entriesOf(description);
  const overview: Source = {
    path: 'docs/api',
    title: 'Operations',
    group: 'Reference',
    render: ({ root }) => overviewPage(description, entries, root),
  };
  const groups = description.tags.map((tag): Source => ({
    path: pathOfGroup(tag.name),
    title: tag.name,
    below: overview.path,
    render: ({ root }) =>
      groupPage(
        tag,
        entries.filter(({ operation }) => operation.group === tag.name),
        description,
        root,
      ),
  }));
  const schemas: Source = {
    path: 'docs/api/schemas',
    title: 'Schemas',
    below: overview.path,
    render: ({ root }) => schemasPage(description, root),
  };
  return [overview, ...groups, schemas];
}

function overviewPage(description: Description, entries: readonly Entry[], root: string): Rendered {
  const sections: Section[] = [
    { anchor: 'operations', title: 'Operations', level: 1, text: description.info.description },
  ];
  const parts = description.tags.map(({ name, description: meaning }) => {
    sections.push({ anchor: name, title: name, level: 2, text: meaning });
    const rows = entries
      .filter(({ operation }) => operation.group === name)
      .map(({ operation, path, described }) => [
        h(
          'a',
          { id: operation.id, href: `${root}${pathOfGroup(name)}#${operation.id}` },
          ...call(operation.method, path),
        ),
        h('span', null, ...prose(described.summary)),
      ]);
    return [
      h('h2', { id: name }, h('a', { href: `${root}${pathOfGroup(name)}` }, name)),
      h('p', null, meaning),
      table(['Call', 'Does'], rows),
    ];
  });
  const intro = [
    h('h1', { id: 'operations' }, 'Operations of the HTTP API'),
    h('p', null, ...prose(description.info.description)),
    h(
      'p',
      null,
      h('a', { href: `${root}docs/http-api` }, 'The HTTP API'),
      ' explains how they belong together. For programs the same is at ',
      h('a', { href: `${root}openapi.json` }, code('/openapi.json')),
      ' (OpenAPI 3.1). Whoever is ',
      h('a', { href: `${root}docs/access#signing-in-to-the-page` }, 'signed in'),
      ' can call each of them on its page, as far as their scope allows it.',
    ),
  ];
  return { html: markup(...intro, ...parts.flat()), sections };
}

function groupPage(
  { name, description: meaning }: { name: string; description: string },
  entries: readonly Entry[],
  description: Description,
  root: string,
): Rendered {
  const sections: Section[] = [
    { anchor: name.toLowerCase(), title: name, level: 1, text: meaning },
    ...entries.map(({ operation, path, described }) => ({
      anchor: operation.id,
      title: operation.id,
      level: 2,
      text: `${operation.method.toUpperCase()} ${path} ${described.summary} ${described.description} ${commands[operation.id as keyof typeof commands] ?? ''}`,
    })),
  ];
  const html = markup(
    h('h1', { id: name.toLowerCase() }, name),
    h('p', null, meaning),
    ...entries.map((entry) => operationPart(entry, description, root)),
  );
  return { html, sections };
}

function operationPart(entry: Entry, description: Description, root: string): ReactNode {
  const { operation, path, described } = entry;
  const body = exampleBody(described, description);
  return h(
    'section',
    { className: 'docs-operation', 'aria-label': operation.id },
    h(
      'h2',
      { id: operation.id },
      ...call(operation.method, path),
      h('a', { className: 'docs-anchor', href: `#${operation.id}`, 'aria-label': `Link to “${operation.id}”` }, '#'),
    ),
    h('p', { className: 'docs-lead' }, ...prose(described.summary)),
    ...described.description.split('\n\n').map((part) => h('p', null, ...prose(part))),
    ...commandLine(operation.id, root),
    ...titled('Parameters', parametersTable(described.parameters, root)),
    ...titled('Body', bodyPart(described, description, root)),
    ...titled('Answers', answersTable(operation, described, root)),
    ...titled('Refusals', refusalList(operation, root)),
    ...titled('Example', pre(exampleCall(operation.method, path, described, body, isOpen(operation)))),
    tryForm(entry, body, root),
  );
}

function titled(title: string, part: ReactNode | undefined): ReactNode[] {
  return part === undefined ? [] : [h('h3', null, title), part];
}

function commandLine(id: string, root: string): ReactNode[] {
  const command = commands[id as keyof typeof commands];
  if (command === undefined) return [];
  return [
    h(
      'p',
      null,
      'The command for it: ',
      code(`suzumio ${command}`),
      ' (',
      h('a', { href: `${root}docs/cli#commands` }, 'the command'),
      ').',
    ),
  ];
}

function parametersTable(parameters: readonly Parameter[], root: string): ReactNode | undefined {
  if (parameters.length === 0) return undefined;
  const rows = parameters.map(({ name, in: place, required, description = '', schema }) => [
    h('span', null, code(name), ' ', h('span', { className: 'quiet' }, required ? place : `${place}, optional`)),
    typeOf(schema, root),
    h(
      'span',
      null,
      ...prose(description),
      ...(schema.default === undefined ? [] : [' Default: ', code(JSON.stringify(schema.default)), '.']),
    ),
  ]);
  return table(['Parameter', 'Type', 'Meaning'], rows);
}

function bodyPart({ requestBody }: DescribedOperation, description: Description, root: string): ReactNode | undefined {
  const [media, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (media === undefined || content === undefined) return undefined;
  if (media !== 'application/json') return h('p', null, 'The file itself, as ', code(media), '.');
  const fields = fieldsTable(looked(content.schema, description), root);
  return fields ?? h('p', null, 'An object without fields, or nothing.');
}

function answersTable({ answers }: Operation, { responses }: DescribedOperation, root: string): ReactNode {
  const rows = Object.keys(answers).map((status) => {
    const { description = '', content = {} } = responses[status] ?? {};
    const bodies = Object.entries(content).map(([media, { schema }]) =>
      schema.$ref === undefined ? code(media) : typeOf(schema, root),
    );
    return [code(status), h('span', null, ...joined(bodies, ' or ')), h('span', null, ...prose(description))];
  });
  return table(['Status', 'Body', 'Meaning'], rows);
}

function refusalList(operation: Operation, root: string): ReactNode {
  const links = refusalsOf(operation).map((name) => h('a', { href: `${root}docs/errors#${name}` }, code(name)));
  return h('p', null, ...joined(links, ', '));
}

function schemasPage({ components }: Description, root: string): Rendered {
  const schemas = Object.entries(components.schemas);
  const sections: Section[] = [
    { anchor: 'schemas', title: 'Schemas', level: 1, text: '' },
    ...schemas.map(([name, { description = '', properties = {} }]) => ({
      anchor: `schema-${name}`,
      title: name,
      level: 2,
      text: `${description} ${Object.keys(properties).join(' ')}`,
    })),
  ];
  const parts = schemas.map(([name, schema]) =>
    h(
      'section',
      { className: 'docs-schema' },
      h('h2', { id: `schema-${name}` }, code(name)),
      ...(schema.description === undefined ? [] : [h('p', null, ...prose(schema.description))]),
      fieldsTable(schema, root) ?? h('p', null, typeOf(schema, root)),
    ),
  );
  const intro = h(
    'p',
    null,
    'Bodies of requests and answers by their names. Requests refuse fields that they do not know; answers may grow fields.',
  );
  return { html: markup(h('h1', { id: 'schemas' }, 'Schemas'), intro, ...parts), sections };
}

/** A method and its path; long paths may break after each part. */
export function call(method: string, path: string): ReactNode[] {
  const parts = path.split('/').flatMap((part, index) => (index === 0 ? [part] : ['/', h('wbr', null), part]));
  return [
    h('span', { className: `docs-method docs-${method}` }, method.toUpperCase()),
    ' ',
    h('code', { className: 'docs-path' }, ...parts),
  ];
}
