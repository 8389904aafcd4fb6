import { describe, expect, test } from '@jest/globals';
import { imageUrl, maxImages, maxImagesBytes, type ShownImage } from '@suzumio/protocol/images';
import type { ChatMessage } from '@suzumio/protocol/model-chat';
import type { RunnerTurnInput } from '@suzumio/protocol/runner';
import type { ModelResult, Question } from '../src/ai/model-client.js';
import { think } from '../src/ai/think.js';

const hashOf = (number: number) => number.toString(16).padStart(64, '0');

const imageOf = (number: number, change: Partial<ShownImage> = {}): ShownImage => ({
  sha256: hashOf(number),
  mediaType: 'image/png',
  width: 640,
  height: 480,
  sizeBytes: 12_345,
  ...change,
});

/** A model whose answers read so many images each, and what it was asked. */
async function looking(reads: readonly number[], change: Partial<ShownImage> = {}, contextLimit?: number) {
  const questions: Question[] = [];
  let read = 0;
  const input: RunnerTurnInput = {
    project: 'paper',
    agent: { id: 'ada', role: 'editor', prompt: 'Edit.' },
    turn: { id: `turn_${'0'.repeat(26)}`, prompt: 'Look.', system: 'You are ada.' },
    workspace: '/workspace',
    controllerUrl: 'stdio:',
    token: 't',
    runner: { mode: 'ai', vision: true, ...(contextLimit === undefined ? {} : { contextLimit }) },
    tools: [{ name: 'file.read', description: '', inputSchema: {} }],
  };
  await think(input, {
    model: {
      ask(question): Promise<ModelResult> {
        questions.push(structuredClone(question));
        const calls = Array.from({ length: reads[questions.length - 1] ?? 0 }, (_none, index) => ({
          id: `${questions.length}-${index}`,
          name: 'file_read',
          arguments: '{"path": "plot.png"}',
        }));
        const finishReason = calls.length > 0 ? 'tool_calls' : 'stop';
        return Promise.resolve({ answer: { text: '', toolCalls: calls, finishReason } });
      },
    },
    tools: {
      call: () => {
        read += 1;
        return Promise.resolve({ response: { output: `plot-${read}.png: [image]`, image: imageOf(read, change) } });
      },
    },
    log: () => undefined,
  });
  return questions.map(({ messages }) => messages);
}

const partsOf = (messages: readonly ChatMessage[] | undefined) =>
  (messages ?? []).flatMap(({ content }) => (Array.isArray(content) ? content : []));
const shownIn = (messages: readonly ChatMessage[] | undefined) =>
  partsOf(messages).flatMap((part) => (part.type === 'image_url' ? [part.image_url.url] : []));

describe('images that calls have shown', () => {
  test('follow the results of all calls of their answer, by the place of their content', async () => {
    const [first, second] = await looking([2]);
    expect(shownIn(first)).toEqual([]);
    expect(second?.slice(3)).toEqual([
      { role: 'tool', tool_call_id: '1-0', content: 'plot-1.png: [image]' },
      { role: 'tool', tool_call_id: '1-1', content: 'plot-2.png: [image]' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'plot-1.png: [image]' },
          { type: 'image_url', image_url: { url: imageUrl(hashOf(1)) } },
          { type: 'text', text: 'plot-2.png: [image]' },
          { type: 'image_url', image_url: { url: imageUrl(hashOf(2)) } },
        ],
      },
    ]);
  });

  test('stay where they are while there is room', async () => {
    const questions = await looking([1, 1, 1]);
    expect(questions.map((messages) => shownIn(messages).length)).toEqual([0, 1, 2, 3]);
    // What was asked before is asked again unchanged.
    for (const [index, messages] of questions.entries()) {
      expect(questions.at(index + 1)?.slice(0, messages.length) ?? messages).toEqual(messages);
    }
  });

  test('become words, the oldest half at once, where there are more than one question may show', async () => {
    const questions = await looking([maxImages, 1, 1]);
    expect(shownIn(questions[1])).toHaveLength(maxImages);
    expect(shownIn(questions[2])).toHaveLength(maxImages / 2);
    expect(shownIn(questions[2]).at(-1)).toBe(imageUrl(hashOf(maxImages + 1)));
    expect(shownIn(questions[3])).toHaveLength(maxImages / 2 + 1);
    expect(partsOf(questions[2]).slice(0, 2)).toEqual([
      { type: 'text', text: 'plot-1.png: [image]' },
      { type: 'text', text: '[no longer shown; read it again to look at it]' },
    ]);
  });

  test('become words where they have too many bytes together, also those of one answer', async () => {
    const questions = await looking([3, 1], { sizeBytes: maxImagesBytes / 3 + 1 });
    expect(shownIn(questions[1])).toEqual([imageUrl(hashOf(3))]);
    expect(shownIn(questions[2])).toEqual([imageUrl(hashOf(3)), imageUrl(hashOf(4))]);
  });

  test('become words before anything else where the context has no room for them', async () => {
    // Each is counted as some ten thousand tokens.
    const questions = await looking([1, 1], { width: 2_048, height: 2_048 }, 20_000);
    expect(shownIn(questions[1])).toEqual([imageUrl(hashOf(1))]);
    expect(shownIn(questions[2])).toEqual([imageUrl(hashOf(2))]);
    expect(questions[2]?.filter(({ role }) => role === 'tool')).toHaveLength(2);
  });
});
