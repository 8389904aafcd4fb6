import { describe, expect, test } from '@jest/globals';
import {
  assistantMessage,
  maxResultChars,
  notesText,
  toolMessage,
  transcriptText,
} from '@suzumio/protocol/conversation';

const called = (name: string, written: string) => {
  const message = assistantMessage({ text: '', toolCalls: [{ id: 'c', name, arguments: written }] });
  return message.role === 'assistant' ? message.tool_calls?.[0]?.function : undefined;
};

describe('an answer goes back to a model as every provider takes it', () => {
  test('is as it was, where that is one', () => {
    const toolCalls = [{ id: 'a', name: 'messages_send', arguments: '{"body": "é 🌊"}' }];
    expect(assistantMessage({ text: 'So.', toolCalls })).toEqual({
      role: 'assistant',
      content: 'So.',
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'messages_send', arguments: '{"body": "é 🌊"}' } }],
    });
    expect(assistantMessage({ text: 'So.', toolCalls: [] })).toEqual({ role: 'assistant', content: 'So.' });
  });

  test.each([
    ['that were cut', '{"recipient": "be'],
    ['that are none', ''],
    ['that are a fence without an object', '```json\n[1]\n```'],
    ['in words', 'the editor'],
    ['that are a list', '["editor"]'],
    ['that are a text', '"editor"'],
    ['that are nothing', 'null'],
    ['that nobody can read to their end', `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
  ])('has no arguments instead of ones %s', (_what, written) => {
    expect(called('messages_send', written)?.arguments).toBe('{}');
  });

  test.each([
    ['multi_tool_use.parallel', 'multi_tool_use_parallel'],
    ['functions.messages send', 'functions_messages_send'],
    ['écrire🌊', '_crire_'],
    ['x'.repeat(100), 'x'.repeat(64)],
    ['', 'unnamed'],
  ])('calls only what may be a name: "%s"', (name, told) => {
    expect(called(name, '{}')?.name).toBe(told);
  });

  test('is never empty: some providers refuse that, others two questions without an answer between them', () => {
    for (const text of ['', ' \n']) {
      expect(assistantMessage({ text, toolCalls: [] }).content).toBe('(nothing to say)');
    }
    expect(assistantMessage({ text: ' ', toolCalls: [{ id: 'a', name: 'look', arguments: '{}' }] }).content).toBeNull();
  });

  test('names tools in a refusal as they are called, and leaves what a tool has put out as it is', () => {
    const said = (message: string) => toolMessage('a', { code: 'refused', message }).content;
    expect(said('Only what was read with messages.read can be answered; "artifacts.list" shows more.')).toBe(
      'Error refused: Only what was read with messages_read can be answered; "artifacts_list" shows more.',
    );
    expect(said('Agent ada may not use web.fetch; its tools are: messages.send, file.read.')).toBe(
      'Error refused: Agent ada may not use web_fetch; its tools are: messages_send, file_read.',
    );
    const others = 'There is no profile.read, src/file.read, file.read.md or file.reader.';
    expect(said(others)).toBe(`Error refused: ${others}`);
    expect(toolMessage('a', { output: 'see messages.read' }).content).toBe('see messages.read');
  });

  test('has no halves of characters, wherever it or its results were cut', () => {
    const half = '🌊'.slice(0, 1);
    const toolCalls = [{ id: 'a', name: `look${half}`, arguments: `{"at":"${half}"}` }];
    const messages = [
      assistantMessage({ text: `So ${half}`, toolCalls }),
      toolMessage('a', { output: `${'x'.repeat(maxResultChars - 1)}🌊 and more` }),
      toolMessage('b', { output: `cut elsewhere ${half}` }),
      toolMessage('c', { code: 'tool-unknown', message: `There is no tool "${half}".` }),
      { role: 'user' as const, content: notesText(half) },
    ];
    for (const message of messages) expect(JSON.stringify(message)).not.toMatch(/\\ud[89a-f]/);
    expect(messages[1]?.content).toMatch(/x\n\[cut: 11 more characters(; for these, .*)?\]$/);
    expect(transcriptText(messages).isWellFormed()).toBe(true);
  });
});
