import { expect, test } from '@jest/globals';
import type { ChatMessage } from '@suzumio/protocol/model-chat';
import { responsesBody } from '../../src/gateway/responses.js';
import type { ModelRequest } from '../../src/gateway/wire.js';

const asked = (messages: ChatMessage[], more: Partial<ModelRequest> = {}) =>
  responsesBody({
    model: 'm',
    messages,
    tools: [],
    maxTokens: undefined,
    settings: { provider: 'p', model: 'm' },
    ...more,
  });

test('a conversation becomes items, its calls and their results among them', () => {
  const body = asked([
    { role: 'system', content: 'You are ada.' },
    { role: 'user', content: 'Look.' },
    {
      role: 'assistant',
      content: 'Looking.',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'artifacts_list', arguments: '{}' } },
        { id: 'b', type: 'function', function: { name: 'messages_send', arguments: '{"body":"x"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'a', content: '[]' },
    { role: 'tool', tool_call_id: 'b', content: 'Error no-such-agent: none' },
    { role: 'assistant', content: null, tool_calls: [] },
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Well?' },
  ]);
  expect(body).toEqual({
    model: 'm',
    include: ['reasoning.encrypted_content'],
    instructions: 'You are ada.',
    input: [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: 'Looking.' },
      { type: 'function_call', call_id: 'a', name: 'artifacts_list', arguments: '{}' },
      { type: 'function_call', call_id: 'b', name: 'messages_send', arguments: '{"body":"x"}' },
      { type: 'function_call_output', call_id: 'a', output: '[]' },
      { type: 'function_call_output', call_id: 'b', output: 'Error no-such-agent: none' },
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Well?' },
    ],
    store: false,
    stream: true,
  });
});

test('instructions alone are the question', () => {
  const body = asked([{ role: 'system', content: 'Say hello.' }]);
  expect(body).toMatchObject({ input: [{ role: 'system', content: 'Say hello.' }] });
  expect(body).not.toHaveProperty('instructions');
});

test('settings of the preset and tools have the names that they have there', () => {
  const parameters = { type: 'object', properties: { at: { type: 'string' } } };
  const body = asked([{ role: 'user', content: 'Well?' }], {
    tools: [
      { type: 'function', function: { name: 'look', description: 'Looks.', parameters } },
      { type: 'function', function: { name: 'wait' } },
    ],
    maxTokens: 500,
    settings: {
      provider: 'p',
      model: 'm',
      temperature: 0.3,
      topP: 0.5,
      toolChoice: 'required',
      reasoningEffort: 'low',
    },
  });
  expect(body).toMatchObject({
    tools: [
      { type: 'function', name: 'look', description: 'Looks.', parameters, strict: false },
      { type: 'function', name: 'wait', parameters: { type: 'object', properties: {} }, strict: false },
    ],
    tool_choice: 'required',
    temperature: 0.3,
    top_p: 0.5,
    reasoning: { effort: 'low' },
    max_output_tokens: 500,
  });
});

test('texts and images of a message have the names that they have there', () => {
  const image = { url: 'data:image/png;base64,AA' };
  const body = asked([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: image },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'A ' },
        { type: 'text', text: 'gauge.' },
      ],
    },
  ]);
  expect(body.input).toEqual([
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'What is this?' },
        { type: 'input_image', image_url: image.url, detail: 'auto' },
      ],
    },
    { role: 'assistant', content: 'A gauge.' },
  ]);
});
