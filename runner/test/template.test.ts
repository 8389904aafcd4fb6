import { describe, expect, test } from '@jest/globals';
import {
  fillCommand,
  fillTemplate,
  fillValue,
  type TemplateScope,
  UnknownPlaceholder,
} from '@suzumio/runner/mock/template';

const scope: TemplateScope = {
  project: 'newsroom',
  agent: { id: 'reporter-1', base: 'reporter', role: 'reporter', displayName: 'Akari' },
  turn: { id: 'turn_01KB3Z0000000000000000000A', number: 3, attempt: 1 },
  mail: [{ body: 'say $(it)' }],
  steps: [{ output: 'plain' }, { output: { id: 'art_1', sizes: [1, 2] } }, {}],
};

describe('a template', () => {
  test.each([
    ['{{agent.id}}-summary.md', 'reporter-1-summary.md'],
    ['{{ agent.displayName }} in turn {{turn.number}}', 'Akari in turn 3'],
    ['{{mail.0.body}}', 'say $(it)'],
    ['{{steps.0.output}}', 'plain'],
    ['{{steps.1.output}}', '{"id":"art_1","sizes":[1,2]}'],
    ['{{steps.1.output.id}} {{steps.1.output.sizes.1}}', 'art_1 2'],
    ['{ {agent.id} } {}', '{ {agent.id} } {}'],
  ])('%j is filled to %j', (text, filled) => {
    expect(fillTemplate(text, scope)).toBe(filled);
  });

  test.each([
    'agent.name',
    'steps.2.output',
    'steps.9.output',
    'mail.1.body',
    'agent.id.length',
    'constructor',
    'agent.__proto__',
    '',
  ])('refuses {{%s}} and names it', (path) => {
    expect(() => fillTemplate(`x {{${path}}}`, scope)).toThrow(UnknownPlaceholder);
    expect(() => fillTemplate(`x {{${path}}}`, scope)).toThrow(`{{${path}}}`);
  });

  test('is filled wherever it stands in a value; what came in is not filled again', () => {
    const value = { a: ['{{agent.id}}', 1, null], b: { '{{agent.id}}': '{{mail.0.body}}' } };
    expect(fillValue(value, scope)).toEqual({ a: ['reporter-1', 1, null], b: { '{{agent.id}}': 'say $(it)' } });
    expect(fillTemplate('{{mail.0.body}}', { ...scope, mail: [{ body: '{{agent.id}}' }] })).toBe('{{agent.id}}');
  });

  test('of a command becomes variables, which no shell parses', () => {
    expect(fillCommand('echo "{{mail.0.body}}" > {{agent.id}}.md', scope)).toEqual({
      command: 'echo "${SUZUMIO_VALUE_0}" > ${SUZUMIO_VALUE_1}.md',
      variables: { SUZUMIO_VALUE_0: 'say $(it)', SUZUMIO_VALUE_1: 'reporter-1' },
    });
  });
});
