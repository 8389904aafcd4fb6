import { expect, test } from '@jest/globals';
import { assistantMessage, toolMessage } from '@suzumio/protocol/conversation';
import { maxChatBytes } from '@suzumio/protocol/model-chat';
import type { RunnerTurnInput } from '@suzumio/protocol/runner';
import { Conversation } from '@suzumio/runner/ai/conversation';

test('what a model has written itself is left out, the oldest first, where a question would be longer than is taken', () => {
  const told = new Conversation({
    agent: { id: 'ada', prompt: '' },
    turn: { prompt: 'There is mail.' },
    runner: { mode: 'ai' },
    tools: [],
  } as unknown as RunnerTurnInput);
  for (const id of ['a', 'b']) {
    const written = JSON.stringify({ report: 'x'.repeat(maxChatBytes / 2) });
    told.add(assistantMessage({ text: '', toolCalls: [{ id, name: 'completion_submit', arguments: written }] }));
    told.add(toolMessage(id, { code: 'body-too-large', message: 'Write less at once.' }));
  }
  expect(told.isTooLong(told)).toBe(true);
  expect(told.shortenResults()).toBe(true);
  expect(told.isTooLong(told)).toBe(false);
  expect(JSON.stringify(told.messages[2])).toMatch(/left_out.*8388\d{3} characters, to make room/);
  expect(JSON.stringify(told.messages[4])).toContain('xxx');
});

test('what providers attached counts, and is left out after results and arguments, the oldest first and never the newest', () => {
  const told = new Conversation({
    agent: { id: 'ada', prompt: '' },
    turn: { prompt: 'There is mail.' },
    runner: { mode: 'ai', contextLimit: 10_000 },
    tools: [],
  } as unknown as RunnerTurnInput);
  for (const id of ['a', 'b', 'c']) {
    const reference = { answer: `call_${id}`, attachedBytes: 10_000 };
    told.add(assistantMessage({ text: '', toolCalls: [{ id, name: 'file_list', arguments: '{}' }], reference }));
    told.add(toolMessage(id, { output: 'x'.repeat(2_000) }));
  }
  const left = () => told.messages.flatMap((message) => ('suzumio' in message ? [message.suzumio?.attachedBytes] : []));
  expect(told.isTooLong(told)).toBe(true);
  for (const expected of [
    [10_000, 10_000, 10_000],
    [10_000, 10_000, 10_000],
    [undefined, 10_000, 10_000],
  ]) {
    expect(told.shortenResults()).toBe(true);
    expect(left()).toEqual(expected);
  }
  expect(told.isTooLong(told)).toBe(false);
  expect(told.shortenResults()).toBe(true);
  expect(left()).toEqual([undefined, undefined, 10_000]);
  told.shortenResults();
  expect(left()).toEqual([undefined, undefined, 10_000]);
});
