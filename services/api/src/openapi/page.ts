import { createHash } from 'node:crypto';
import type { JsonSchema, OpenApiDocument, OpenApiOperation, OpenApiParameter, OpenApiResponse } from './types.js';

/** An HTML page and its Content-Security-Policy. */
export interface DescriptionPage {
  html: string;
  contentSecurityPolicy: string;
}

const style = `
:root { color-scheme: light dark; --faint: color-mix(in srgb, currentColor 60%, transparent); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
nav a { margin-right: 1rem; }
h2 { margin-top: 2.5rem; }
details { border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding: .4rem 0; }
summary { cursor: pointer; overflow-wrap: anywhere; }
summary span { color: var(--faint); display: block; padding-left: 1rem; }
code, pre { font: 14px/1.45 ui-monospace, monospace; }
pre { overflow: auto; padding: .75rem; background: color-mix(in srgb, currentColor 7%, transparent); }
table { border-collapse: collapse; margin: .75rem 0 .75rem 1rem; }
th, td { text-align: left; vertical-align: top; padding: .15rem 1.25rem .15rem 0; }
th { font-weight: 600; }
`;

/** The API's description for people: one page without scripts, which loads nothing. */
export function descriptionPage(document: OpenApiDocument): DescriptionPage {
  const hash = createHash('sha256').update(style).digest('base64');
  return {
    html: render(document),
    contentSecurityPolicy: `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  };
}

function render({ info, tags, paths, components }: OpenApiDocument): string {
  const groups = new Map<string, string[]>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const group = operation.tags[0] ?? '';
      groups.set(group, [...(groups.get(group) ?? []), operationPart(method, path, operation)]);
    }
  }
  const meaningOf = (group: string) =>
    tags
      .filter(({ name }) => name === group)
      .map(({ description }) => `<p>${prose(description)}</p>\n`)
      .join('');
  const links = [...groups.keys(), 'Schemas'].map((group) => `<a href="#${text(group)}">${text(group)}</a>`).join('\n');
  const sections = [...groups].map(
    ([group, parts]) => `<h2 id="${text(group)}">${text(group)}</h2>\n${meaningOf(group)}${parts.join('\n')}`,
  );
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<details id="schema-${text(name)}" open><summary><code>${text(name)}</code></summary>${schemaPart(schema)}</details>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${text(info.title)}: the HTTP API</title>
<style>${style}</style>
</head>
<body>
<h1>${text(info.title)} ${text(info.version)}: the HTTP API</h1>
<p>${text(info.description)}</p>
<p>For programs: <a href="openapi.json">openapi.json</a></p>
<nav>
${links}
</nav>
${sections.join('\n')}
<h2 id="Schemas">Schemas</h2>
${schemas.join('\n')}
</body>
</html>
`;
}

function operationPart(method: string, path: string, operation: OpenApiOperation): string {
  const { operationId, summary, description, parameters, requestBody, responses } = operation;
  const body = requestBody ? [row('body', bodies(requestBody.content), '')] : [];
  const takes = [...parameters.map(parameterRow), ...body].join('\n');
  const answers = Object.entries(responses).map(([status, response]) => answerRow(status, response));
  return `<details id="${text(operationId)}"><summary><code><b>${text(method.toUpperCase())}</b> ${text(path)}</code>
<span>${prose(summary)}</span></summary>
<p>${prose(description)}</p>
<table>
${takes}
${answers.join('\n')}
</table></details>`;
}

function parameterRow({ name, in: place, required, description, schema }: OpenApiParameter): string {
  const meaning = description === undefined ? '' : `${prose(description)} `;
  const type = `<code>${text(JSON.stringify(schema))}</code>`;
  return row(place, `<code>${text(name)}</code>${required ? '' : ' (optional)'}`, `${meaning}${type}`);
}

function answerRow(status: string, { description, content = {} }: OpenApiResponse): string {
  return row(text(status), bodies(content), prose(description));
}

/** A body's description: a schema by its name, anything else by its media type. */
function bodies(content: NonNullable<OpenApiResponse['content']>): string {
  const named = Object.entries(content).map(([media, { schema }]) =>
    schema.$ref === undefined ? `<code>${text(media)}</code>` : reference(schema),
  );
  return named.join(', ');
}

function row(first: string, second: string, third: string): string {
  return `<tr><th>${first}</th><td>${second}</td><td>${third}</td></tr>`;
}

function schemaPart(schema: JsonSchema): string {
  const shown = text(JSON.stringify(schema, null, 2));
  const linked = shown.replaceAll(
    /#\/components\/schemas\/(\w+)/g,
    (whole, name: string) => `<a href="#schema-${name}">${whole}</a>`,
  );
  return `<pre>${linked}</pre>`;
}

function reference({ $ref }: JsonSchema): string {
  const name = text($ref?.split('/').at(-1) ?? '');
  return `<a href="#schema-${name}"><code>${name}</code></a>`;
}

/** A sentence as HTML; backquotes mark code. */
function prose(sentence: string): string {
  return text(sentence).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function text(plain: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return plain.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}
