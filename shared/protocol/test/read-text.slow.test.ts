import { expect, test } from '@jest/globals';
import { readText } from '../src/call-in-text.js';

const read = (text: string) => readText(text, ['messages.send', 'file.read'], false);

test.each(
  [
    ...[
      '<think>',
      '</think>',
      '<think></think>',
      '{',
      '[',
      '(',
      '{"name":',
      '<tool_call>',
      '<tool_call>{',
      '`',
      '```\n',
      '\n',
      ' ',
    ],
    ...[
      '<',
      '<|',
      '[TOOL_CALLS]',
      '<function=',
      '{"name": "messages_send", "arguments": {',
      '<|channel|>',
      '<|message|>',
    ],
    ...[
      '<|start|>assistant to=functions.x<|message|>a',
      'messages_send(',
      '"',
      '.</think> ',
      '<|end|>',
      '```json\n{}\n```\n',
      '> ',
    ],
    ...[
      'Action: ',
      '<invoke name="',
      '<think ',
      '<|end|> ',
      '{"name":"messages_send","arguments":{}}\n',
      '</a> end',
      ': <tool_call>{',
    ],
  ].map((piece) => [piece]),
)('takes time in proportion to the text: %j', (piece) => {
  const timeOf = (chars: number) => {
    const text = piece.repeat(Math.ceil(chars / piece.length));
    const begun = performance.now();
    for (const one of [text, `<think>${text}`, `Now.\n${text}`, `<tool_call>${text}`]) read(one);
    return performance.now() - begun;
  };
  timeOf(100_000);
  const [short, long] = [timeOf(125_000), timeOf(2_000_000)];
  // Sixteen times as long: a quadratic rule takes 256 times as long.
  expect(long).toBeLessThan(100 * Math.max(short, 4));
});
