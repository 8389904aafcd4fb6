import { describe, expect, test } from '@jest/globals';
import { readText } from '../src/call-in-text.js';
import { visibleText } from '../src/visible-text.js';

const tools = ['messages.send', 'file.read', 'artifacts.list'];
const input = { recipient: 'user', body: 'It is "done" {now}.' };
const json = JSON.stringify({ name: 'messages_send', arguments: input });
const read = (text: string, hasWorked = false) => readText(text, tools, hasWorked);

const calls: Record<string, string> = {
  bare: json,
  'bare, pretty': JSON.stringify({ name: 'messages_send', arguments: input }, null, 2),
  'with parameters': JSON.stringify({ type: 'function', name: 'messages.send', parameters: input }),
  'with input': JSON.stringify({ type: 'tool_use', id: 'toolu_1', name: 'messages_send', input }),
  'with its input first': JSON.stringify({ arguments: { name: 'x' }, name: 'messages_send' }),
  'input as text': JSON.stringify({ name: 'messages_send', arguments: JSON.stringify(input) }),
  'of another key': JSON.stringify({ tool: 'messages_send', args: input }),
  'of its name alone': JSON.stringify({ messages_send: input }),
  list: JSON.stringify([
    { name: 'artifacts_list', arguments: {} },
    { name: 'messages_send', arguments: input },
  ]),
  tool_calls: JSON.stringify({
    tool_calls: [{ id: '1', type: 'function', function: { name: 'messages_send', arguments: '{}' } }],
  }),
  function: JSON.stringify({ function: { name: 'messages_send', arguments: input } }),
  'function, named': JSON.stringify({ function: 'messages_send', arguments: input }),
  'one a line': `${json}\n${json}`,
  'not quite JSON': `{'name': 'messages_send', 'arguments': {'recipient': 'user', 'urgent': True}}`,
  fenced: `\`\`\`json\n${json}\n\`\`\``,
  'fenced, two': `\`\`\`json\n${json}\n\`\`\`\n\n\`\`\`json\n${json}\n\`\`\``,
  'fenced, no language': `\`\`\`\n${json}\n\`\`\``,
  'fenced, cut': `\`\`\`json\n{"name": "messages_send", "arguments": {"recipient": "us`,
  cut: '{"name": "messages_send", "arguments": {"recipient": "us',
  announced: `I will tell the user now.\n\n${json}`,
  'announced, fenced': `Here is the tool call:\n\n\`\`\`json\n${json}\n\`\`\``,
  hermes: `<tool_call>\n${json}\n</tool_call>`,
  'hermes, two': `<tool_call>${json}</tool_call>\n<tool_call>${json}</tool_call>`,
  'hermes, cut': '<tool_call>\n{"name": "messages_send", "arguments": {"recipient"',
  'hermes, not closed': `<tool_call>\n${json}`,
  'hermes, announced on its line': `Let me tell the user. <tool_call>${json}</tool_call>`,
  'hermes, with a result of its own': `<tool_call>${json}</tool_call>\n<tool_response>{"ok": true}</tool_response>\nI have told the user.`,
  'hermes, fenced': `\`\`\`xml\n<tool_call>${json}</tool_call>\n\`\`\``,
  'a name alone': '[TOOL_CALLS] [{"name": "messages_send"}]',
  function_call: `I send it.\n<function_call>${json}`,
  'llama, function': '<function=messages_send>{"recipient": "user"}</function>',
  'llama, function, cut': '<function=messages_send>{"recipient": "us',
  'llama, python tag': `<|python_tag|>${json}`,
  'llama, python tag, code': '<|python_tag|>messages_send.call(recipient="user")',
  'llama, pythonic': '[messages_send(recipient="user", body="done"), artifacts_list()]',
  mistral: `[TOOL_CALLS] [${json}]`,
  'mistral, newer': '[TOOL_CALLS]messages_send[ARGS]{"recipient": "user"}',
  'lm studio': `[TOOL_REQUEST]${json}[END_TOOL_REQUEST]`,
  harmony: '<|channel|>commentary to=functions.messages_send <|constrain|>json<|message|>{"recipient":"user"}<|call|>',
  'harmony, after thoughts':
    '<|channel|>analysis<|message|>Tell them.<|end|><|start|>assistant<|channel|>commentary to=functions.messages_send json<|message|>{"recipient":"user"}<|call|>',
  'harmony, by its role':
    '<|start|>assistant to=functions.messages_send<|channel|>commentary <|constrain|>json<|message|>{}<|call|>',
  'harmony, without marks': 'commentary to=functions.messages_send json{"recipient":"user"}',
  'harmony, thoughts without marks':
    'analysisWe have to tell them.assistantcommentary to=functions.messages_send json{"recipient":"user"}',
  dsml: '<｜DSML｜function_calls>\n<｜DSML｜invoke name="messages_send">\n<｜DSML｜parameter name="recipient" string="true">user</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
  'dsml, plain bars, cut': '<|DSML|tool_calls>\n<|DSML|invoke name="messages_send">\n<|DSML|parameter name="reci',
  'deepseek v3':
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>messages_send\n```json\n{"recipient": "user"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  'deepseek v3.1':
    'Sure.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>messages_send<｜tool▁sep｜>{"recipient": "user"}<｜tool▁call▁end｜>'.slice(
      5,
    ),
  tool_code: '```tool_code\nprint(default_api.messages_send(recipient="user", body="done"))\n```',
  'tool_code, a variable': '```tool_code\nanswer = default_api.messages_send(recipient="user")\nprint(answer)\n```',
  'tool_code, no fence': 'tool_code\nprint(default_api.messages_send(recipient="user"))',
  'tool_code, a tag': '<tool_code>\nprint(default_api.messages_send(recipient="user"))\n</tool_code>',
  anthropic:
    '<function_calls>\n<invoke name="messages_send">\n<parameter name="recipient">user</parameter>\n</invoke>\n</function_calls>',
  'anthropic, invoke alone': 'I will write to the user.\n<invoke name="messages_send">\n<parameter name="recipient">us',
  minimax:
    '<minimax:tool_call>\n<invoke name="messages_send">\n<parameter name="recipient">user</parameter>\n</invoke>\n</minimax:tool_call>',
  kimi: '<|tool_calls_section_begin|><|tool_call_begin|>functions.messages_send:0<|tool_call_argument_begin|>{"recipient": "user"}<|tool_call_end|><|tool_calls_section_end|>',
  glm: '<tool_call>messages_send\n<arg_key>recipient</arg_key>\n<arg_value>user</arg_value>\n</tool_call>',
  'qwen coder':
    '<tool_call>\n<function=messages_send>\n<parameter=recipient>\nuser\n</parameter>\n</function>\n</tool_call>',
  'qwen coder, without its first mark':
    '<function=messages_send>\n<parameter=recipient>\nuser\n</parameter>\n</function>\n</tool_call>',
  gemma: '<|tool_call>call:messages_send{recipient:<|"|>user<|"|>}<tool_call|>',
  'gemma, function': '<start_function_call>call:messages_send{recipient:<escape>user<escape>}<end_function_call>',
  cohere: `<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "messages_send", "parameters": {}}]<|END_ACTION|>`,
  nemotron: `<TOOLCALL>[${json}]</TOOLCALL>`,
  react: 'Thought: I should tell the user.\nAction: messages_send\nAction Input: {"recipient": "user"}',
  'react, other words': '**Tool:** messages_send\n**Arguments:** {"recipient": "user"}',
  'below the name of its language': `json\n${json}`,
  'a mark right after words':
    'I look.<|tool_calls_section_begin|><|tool_call_begin|>functions.messages_send:0<|tool_call_arg',
  'a mark within a sentence': 'Let me tell the user <tool_call>'.concat(json, '</tool_call>'),
  'in another language': `Ich schreibe jetzt:\n${json}`,
  'a pack of calls': JSON.stringify({ tool_uses: [{ recipient_name: 'functions.messages_send', parameters: {} }] }),
  'tool_use, tags': '<tool_use>\n<name>messages_send</name>\n<input>{}</input>\n</tool_use>',
  'react, JSON': '{"thought": "Tell them.", "action": "messages_send", "action_input": {"recipient": "user"}}',
  'a tag of its name': '<messages_send>\n<recipient>user</recipient>\n<body>done</body>\n</messages_send>',
  'a name, then JSON': 'messages_send{"recipient": "user"}',
  'a name, then JSON, in marks': '<|tool_call|>messages_send{"recipient": "ben"}',
  code: 'messages_send(recipient="user", body="It is done (all of it).")',
  'after thoughts': `<think>\nI should write.\n</think>\n\n${json}`,
  'after a lone mark': `I should write.\n</think>\n\n<tool_call>${json}</tool_call>`,
};

const answers: Record<string, string> = {
  'in a code span': `Qwen writes \`<tool_call>${json}</tool_call>\`; that is all.`,
  'in a sentence': `Qwen writes <tool_call>${json}</tool_call> for a call.`,
  'in a sentence that begins with it': `<tool_call>${json}</tool_call> is what Qwen writes.`,
  'in a sentence that ends with it': `For a call Qwen writes <tool_call>${json}</tool_call>`,
  'in quotes': 'The letter says "<function=messages_send>" and no more.',
  'in a quoted mail': `Ben wrote:\n> <tool_call>${json}</tool_call>\nI did nothing about it.`,
  'in a fence between prose': `The template is this:\n\n\`\`\`\n<tool_call>\n${json}\n</tool_call>\n\`\`\`\n\nIts parser has to be named.`,
  'as an example': `For example:\n\n\`\`\`json\n${json}\n\`\`\``,
  'as an example that is explained': `${json}\n\nThis is an example of a call.`,
  'as an example without a fence': `A call would look like this:\n${json}`,
  'below a heading': `# Calls\n\n\`\`\`json\n${json}\n\`\`\``,
  'as a report': `The request that failed was:\n${json}`,
  'as an example in another language': `Zum Beispiel:\n\`\`\`json\n${json}\n\`\`\``,
  'within a sentence': `The letter has <tool_call>${json}</tool_call>`,
  'in code of another language': `\`\`\`ts\nmessages_send({ recipient: 'user' })\n\`\`\``,
  'of another tool': '<tool_call>{"name": "f", "arguments": {"name": "messages_send"}}</tool_call>',
  'JSON of another tool': '{"name": "get_weather", "arguments": {"city": "Paris"}}',
  'JSON that is an answer': '{"name": "messages_send", "count": 3}',
  'JSON of a definition':
    '{"name": "messages_send", "description": "Sends.", "parameters": {"type": "object", "properties": {}}}',
  'JSON of a schema alone': '{"name": "messages_send", "parameters": {"type": "object", "properties": {}}}',
  'JSON of what was done': '[{"tool": "messages_send", "input": {}, "result": "sent"}]',
  'a list that is not of calls alone': '[{"name": "messages_send", "arguments": {}}, {"name": "Ben"}]',
  'a mark alone': 'Never write <tool_call> in an answer.',
  'a mark in capitals': 'Calls stand in [TOOL_CALLS], or so I read.',
  'no mark': 'a < b && tool_call > c',
  'a name': 'messages_send() sends a letter.',
  'a tool of no use': 'I called messages_send, and the user was told.',
  'far down': `${'A long report. '.repeat(200)}\n<tool_call>${json}</tool_call>`,
  ordinary: 'Done.',
};

describe('an answer’s text', () => {
  test.each(Object.entries(calls))('is a call: %s', (_name, text) => {
    expect(read(text)).toMatchObject({ meaning: 'call' });
    expect(readText(text, ['shell.exec'], false)).toMatchObject({ meaning: 'answer' });
  });

  test.each(Object.entries(answers))('is an answer: %s', (_name, text) => {
    expect(read(text)).toEqual({ meaning: 'answer', thoughts: '', text });
    expect(read(`<think>${json}\nNo.</think>\n${text}`)).toMatchObject({ meaning: 'answer', text });
  });

  test('is an answer where work was done, and it only ends with a call', () => {
    const text = `Done: the parser takes\n<tool_call>${json}</tool_call>`;
    expect(read(text, true).meaning).toBe('answer');
    expect(read(`Now I tell the user.\n<tool_call>${json}</tool_call>`, true).meaning).toBe('call');
    expect(read(json, true).meaning).toBe('call');
  });

  test.each([
    '',
    ' \n\t',
    '\u200B',
    '<think>I should.</think>',
    '<think>\n\n</think>\n\n',
    '<think>I should',
    '</think>',
    '<|im_end|>',
  ])('is nothing: %j', (text) => {
    expect(read(text)).toMatchObject({ meaning: 'nothing', text: expect.stringMatching(/^[\s\u200B]*$/) });
  });
});

describe('thoughts', () => {
  test.each([
    ['<think>A.</think>B.', 'A.', 'B.'],
    ['<think>\nA.\n</think>\n\nB.', 'A.', 'B.'],
    ['\n<THINK>A.</THINK> B.', 'A.', 'B.'],
    ['<thinking>A.</thinking>\nB.', 'A.', 'B.'],
    ['<reasoning>A.</reasoning>\nB.', 'A.', 'B.'],
    ['<thought>A.</thought>\nB.', 'A.', 'B.'],
    ['<thinking>A.</think>\nB.', 'A.', 'B.'],
    ['<seed:think>A.</seed:think>B.', 'A.', 'B.'],
    ['[THINK]A.[/THINK]B.', 'A.', 'B.'],
    ['◁think▷A.◁/think▷B.', 'A.', 'B.'],
    ['<|begin_of_thought|>A.<|end_of_thought|>B.', 'A.', 'B.'],
    ['<|START_THINKING|>A.<|END_THINKING|>B.', 'A.', 'B.'],
    ['<|channel>thought\nA.<channel|>B.', 'A.', 'B.'],
    ['<unused94>thought\nA.<unused95>B.', 'A.', 'B.'],
    ['<|channel|>analysis<|message|>A.<|end|><|start|>assistant<|channel|>final<|message|>B.<|return|>', 'A.', 'B.'],
    ['<|channel|>analysis<|message|>A.', 'A.', ''],
    ['analysisWe go on.assistantfinalB.', 'We go on.', 'B.'],
    ['<think>A.</think>\n<think>B.</think>\nC.', 'A.\n\nB.', 'C.'],
    ['<think>A <think>B</think> C.</think>\nD.', 'A <think>B\n\nC.', 'D.'],
    ['A.\n</think>\n\nB.', 'A.', 'B.'],
    ['A.</think>B.', 'A.', 'B.'],
    ['A. </think>\nB.', 'A.', 'B.'],
    ['One `</think>` ends it.\n</think>\nB.', 'One `</think>` ends it.', 'B.'],
    ['<think>A.', 'A.', ''],
    ['<think>A.\n<tool_call>{"name": "messages_send"}', 'A.\n<tool_call>{"name": "messages_send"}', ''],
  ])('%j', (written, thoughts, text) => {
    expect(visibleText(written)).toEqual({ thoughts, text });
    expect(visibleText(text).text).toBe(text);
  });

  test.each([
    'Write `</think>` where they end.',
    'Their end is "</think>", as Qwen has it.',
    'Never write </think> in an answer.',
    'Qwen puts them between <think> and </think>.',
    'It looks so:\n\n```\n<think>\nA.\n</think>\n```\n\nThat is all.',
    '```\nA.\n</think>\n```',
    '[think] is no mark.',
    '`<think>` begins them.',
    '  Indented, and with space after it. \n',
    'analysis of the figures: none.',
  ])('are no part of %j', (text) => {
    expect(visibleText(text)).toEqual({ thoughts: '', text });
  });
});
