import type { ReactNode } from 'react';
import { isOpen, scopeOf } from '@suzumio/contract/operations/operation';
import { code, h } from '../element.js';
import type { Parameter } from './description.js';
import type { Entry } from './entries.js';
import { pathOfGroup } from './paths.js';

/**
 * What calls an operation on its page. It is hidden until a script of the page knows that somebody is signed in who may;
 * what the script needs stands in its attributes.
 */
export function tryForm({ operation, path, described }: Entry, body: unknown, root: string): ReactNode {
  const { id, method, wholeCell = false, upload } = operation;
  const writes = operation.writes ?? method !== 'get';
  // A sign-in without a link of one's own has no code, and the body of an upload is a file.
  if (upload !== undefined || (isOpen(operation) && method !== 'get')) return null;
  const takesBody = operation.body !== undefined;
  return h(
    'div',
    {
      className: 'docs-try',
      'data-method': method.toUpperCase(),
      'data-path': path,
      'data-scope': isOpen(operation) ? 'read' : scopeOf(operation),
      'data-whole-cell': wholeCell,
      'data-writes': writes,
    },
    h(
      'p',
      { className: 'docs-try-out', hidden: true },
      h('a', { href: `${root}sign-in?to=/${pathOfGroup(operation.group)}` }, 'Sign in'),
      ' to call it here.',
    ),
    h('p', { className: 'docs-try-not quiet', hidden: true }),
    h(
      'details',
      { hidden: true },
      h('summary', null, 'Call it here'),
      h(
        'form',
        { action: '#', 'aria-label': `Call ${id}`, autoComplete: 'off' },
        ...described.parameters.map((parameter) => field(id, parameter)),
        ...(takesBody
          ? [
              h('label', { htmlFor: `${id}-body` }, 'Body, as JSON'),
              h('textarea', {
                id: `${id}-body`,
                name: 'body',
                rows: bodyRows(body),
                spellCheck: false,
                // A call that changes something is written by who calls: the example only shows how.
                ...(writes
                  ? { placeholder: JSON.stringify(body ?? {}, null, 2), required: body !== undefined }
                  : { defaultValue: JSON.stringify(body ?? {}, null, 2) }),
              }),
            ]
          : []),
        h(
          'div',
          { className: 'docs-try-act' },
          h(
            'button',
            { className: 'button', 'aria-describedby': `${id}-does` },
            writes ? `Call ${method.toUpperCase()}` : 'Read',
          ),
          h('button', { className: 'button', type: 'button', name: 'stop', hidden: true }, 'Stop'),
          h(
            'span',
            { id: `${id}-does`, className: 'quiet' },
            writes
              ? 'It changes this server, as you: what is done is done.'
              : 'It is asked as you, and changes nothing.',
          ),
        ),
        h('p', { className: 'docs-status', role: 'status' }),
        h('div', { className: 'docs-answer' }),
      ),
    ),
  );
}

function field(id: string, { name, in: place, required, schema }: Parameter): ReactNode {
  const input = `${id}-${place}-${name}`;
  const listed = schema.enum?.filter((value) => typeof value === 'string');
  const attributes = { id: input, name: `${place}:${name}`, 'data-in': place, 'data-name': name, required };
  return h(
    'div',
    { className: 'docs-field' },
    h('label', { htmlFor: input }, code(name), required ? null : h('span', { className: 'quiet' }, ' optional')),
    listed
      ? h(
          'select',
          { ...attributes, className: 'input' },
          h('option', { value: '' }),
          ...listed.map((value) => h('option', { value }, value)),
        )
      : h('input', {
          ...attributes,
          className: 'input',
          maxLength: 2000,
          spellCheck: false,
          placeholder: schema.default === undefined ? undefined : JSON.stringify(schema.default),
        }),
  );
}

function bodyRows(body: unknown): number {
  return Math.min(14, JSON.stringify(body ?? {}, null, 2).split('\n').length + 1);
}
