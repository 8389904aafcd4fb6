import { describe, expect, test } from '@jest/globals';
import { parse } from '@suzumio/runtime/http/validate';
import { chatRequest } from '@suzumio/protocol/model-chat';

const read = (body: unknown) => parse(chatRequest, body, 'question to a model');
const asking = (content: unknown, more: object = {}) => ({ messages: [{ role: 'user', content }], ...more });
const image = (url: unknown) => [{ type: 'image_url', image_url: { url } }];
const pixel = 'data:image/png;base64,iVBORw0KGgo=';
const tool = (parameters: unknown) => ({ type: 'function', function: { name: 'look', parameters } });

describe('a question of a runner makes no provider fetch anything', () => {
  test.each([
    ['of the web', image('https://example.org/?q=secret')],
    ["of the provider's own network", image('http://169.254.169.254/latest/meta-data')],
    ["of the provider's disk", image('file:///etc/passwd')],
    ['of another kind than pictures', image('data:text/html;base64,AAAA')],
    ['that draws on others', image('data:image/svg+xml;base64,AAAA')],
    ['behind a blank', image(' https://example.org/')],
    ['with an address after its data', image(`${pixel}\nhttps://example.org/`)],
    ['that is an address itself', [{ type: 'image_url', image_url: 'https://example.org/' }]],
  ])('by an image %s', (_what, content) => {
    expect(() => read(asking(content))).toThrow(/messages\[0\]\.content.*data:image.*no address is fetched/);
  });

  test.each([
    ['a file', { type: 'file', file: { file_url: 'https://example.org/' } }],
    ['a sound', { type: 'input_audio', input_audio: { url: 'https://example.org/' } }],
    ['a video', { type: 'video_url', video_url: { url: 'https://example.org/' } }],
    ['an item of the other format', { type: 'input_image', image_url: 'https://example.org/' }],
  ])('by %s', (_what, part) => {
    expect(() => read(asking([part]))).toThrow(/messages\[0\]\.content.*no address is fetched/);
  });

  test.each(['web_search', 'web_search_preview', 'mcp', 'code_interpreter', 'file_search', 'url_context'])(
    'by a tool of its own: %s',
    (type) => {
      const asked = asking('x', { tools: [{ type, server_url: 'https://example.org/', function: { name: 'x' } }] });
      expect(() => read(asked)).toThrow(/tools\[0\]\.type/);
    },
  );

  test.each(['$ref', '$dynamicRef', '$recursiveRef'])('by a tool whose input is described elsewhere: %s', (name) => {
    for (const elsewhere of ['https://example.org/schema', 'file:///etc/passwd', 'other.json']) {
      const asked = asking('x', { tools: [tool({ properties: { a: { anyOf: [{ [name]: elsewhere }] } } })] });
      expect(() => read(asked)).toThrow(/tools\[0\]\.function\.parameters.*no address is fetched/);
    }
  });

  test('by a field that nobody knows: they go no further', () => {
    const unknown = { web_search_options: {}, plugins: [{ id: 'web' }], file_url: 'https://example.org/' };
    const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}', ...unknown }, ...unknown };
    const asked = {
      messages: [
        { role: 'system', content: 'Be brief.', ...unknown },
        { role: 'user', name: 'ben', content: [{ type: 'text', text: 'Look.', ...unknown }], ...unknown },
        { role: 'assistant', content: null, tool_calls: [call], audio: { id: 'x' }, ...unknown },
        { role: 'tool', tool_call_id: 'a', content: 'It is there.', ...unknown },
      ],
      tools: [{ ...tool({ type: 'object' }), ...unknown }],
      ...unknown,
    };
    expect(read(asked)).toEqual({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'Look.' }] },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'It is there.' },
      ],
      tools: [tool({ type: 'object' })],
      stream: false,
    });
  });
});

test('a question describes its tools in no more levels than can be read', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`) as object;
  expect(() => read(asking('x', { tools: [tool(deep)] }))).toThrow(/parameters: expected lists and objects/);
});

test('a question holds images as they are, and descriptions of inputs that refer to themselves', () => {
  const content = [
    { type: 'text', text: 'What is this? https://example.org/a.png' },
    { type: 'image_url', image_url: { url: pixel, detail: 'low' } },
  ];
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $defs: { at: { type: 'string', description: 'Say "$ref":"https://example.org".' } },
    properties: { at: { $ref: '#/$defs/at' } },
  };
  expect(read(asking(content, { tools: [tool(schema)] }))).toMatchObject(asking(content, { tools: [tool(schema)] }));
});
