import type { ModelAnswer, ModelToolCall, ModelUsage } from '@suzumio/shared/protocol/model-chat';
import type { WireChunk, WireMessage, WireToolCall, WireUsage } from './chat-wire.js';
import { ProviderFailure } from './provider-failure.js';

/** The longest answer, all its texts together. */
export const maxAnswerChars = 4 * 1024 * 1024;

/** The most calls of an answer that are kept: with more, OpenAI takes no conversation back, and its clients no stream. */
const maxCalls = 128;

/** The most calls in one answer: a model that asks for more goes in circles, and is not heard to the end. */
const maxCallsInAnswer = 256;

/**
 * Puts an answer together from its pieces, as streaming servers send them: a call's name and arguments in parts, parts
 * of several calls in any order, pieces without a choice, the usage at the end or not at all.
 */
export class AnswerBuilder {
  #text = '';
  #refusal = '';
  #chars = 0;
  #model: string | undefined;
  #finishReason: string | null = null;
  #usage: ModelUsage | undefined;
  readonly #calls: { index: number | undefined; id: string; name: string; arguments: string }[] = [];

  /** Whether the provider has said why it stopped. */
  get finished(): boolean {
    return this.#finishReason !== null;
  }

  /** How much has been said and called so far. */
  get chars(): number {
    return this.#chars;
  }

  /** Whether nothing has been said or called. */
  get empty(): boolean {
    return this.#chars === 0;
  }

  /**
   * Adds a piece, and returns the text that it brought.
   *
   * @throws ProviderFailure `answer-too-large`
   */
  add(chunk: WireChunk): string {
    this.#model ??= chunk.model ?? undefined;
    if (chunk.usage) this.#usage = usageOf(chunk.usage) ?? this.#usage;
    // Only one answer is asked for; what belongs to another is not ours.
    const choice = chunk.choices?.find(({ index }) => (index ?? 0) === 0);
    if (!choice) return '';
    if (choice.finish_reason) this.#finishReason = choice.finish_reason;
    return choice.delta ? this.#addMessage(choice.delta) : '';
  }

  /**
   * The answer so far.
   *
   * @param place names the calls that came without a name of their own, or with one that is taken
   */
  answer(place: string): ModelAnswer {
    return {
      text: this.#text,
      ...(this.#refusal === '' ? {} : { refusal: this.#refusal }),
      toolCalls: withOwnIds(this.#calls.slice(0, maxCalls), place),
      finishReason: this.#finishReason,
      ...this.#counting(),
      ...(this.#model === undefined ? {} : { model: this.#model }),
    };
  }

  /** A server that counts no question, or nothing of an answer, has not counted: neither is believed then. */
  #counting(): { usage?: ModelUsage } {
    const usage = this.#usage;
    return usage && usage.inputTokens > 0 && (usage.outputTokens > 0 || this.empty) ? { usage } : {};
  }

  #addMessage({ content, refusal, tool_calls }: WireMessage): string {
    const text = this.#counted(content ?? '');
    this.#text += text;
    this.#refusal += this.#counted(refusal ?? '');
    for (const [position, part] of (tool_calls ?? []).entries()) this.#addCall(part, position);
    return text;
  }

  #addCall(part: WireToolCall, position: number): void {
    const call = this.#callOf(part, position);
    call.id ||= part.id ?? '';
    const name = this.#counted(part.function?.name ?? '');
    if (!isRepeated(call, part)) call.name += name;
    const written = part.function?.arguments ?? '';
    call.arguments += this.#counted(typeof written === 'string' ? written : JSON.stringify(written));
  }

  /**
   * The call that a part belongs to: by its index; without one, by its id; without both, the one begun last. A name
   * after arguments, or with another id, begins another call, whatever its index: some servers send each call whole, and
   * all as the first.
   */
  #callOf(part: WireToolCall, position: number) {
    const { index, id } = part;
    const calls = this.#calls;
    const known =
      index !== undefined && index !== null
        ? calls.findLast((call) => call.index === index)
        : id
          ? calls.find((call) => call.id === id)
          : position === 0
            ? calls.at(-1)
            : undefined;
    if (known && !beginsAnother(known, part)) return known;
    if (calls.length === maxCallsInAnswer) {
      throw new ProviderFailure('answer-too-large', `the answer holds more than ${maxCallsInAnswer} tool calls`);
    }
    const call = { index: index ?? undefined, id: '', name: '', arguments: '' };
    calls.push(call);
    return call;
  }

  #counted(piece: string): string {
    this.#chars += piece.length;
    if (this.#chars > maxAnswerChars) {
      throw new ProviderFailure('answer-too-large', `the answer is longer than ${maxAnswerChars} characters`);
    }
    return piece;
  }
}

/** Whether a part that comes as one of a call is the first of the next. An id alone is none: some give each part its own. */
function beginsAnother(call: ModelToolCall, part: WireToolCall): boolean {
  if (!part.function?.name || isRepeated(call, part)) return false;
  return call.arguments !== '' || Boolean(part.id && call.id && part.id !== call.id);
}

/** Whether a part only says again what its call is. */
function isRepeated(call: { id: string; name: string }, { id, function: called }: WireToolCall): boolean {
  return id === call.id && id !== '' && called?.name === call.name;
}

/** What a server has counted; undefined where that is nothing. What was thought is a part of what was written, and paid for. */
function usageOf(usage: WireUsage): ModelUsage | undefined {
  const input = usage.prompt_tokens ?? 0;
  const written = usage.completion_tokens ?? 0;
  const total = usage.total_tokens ?? 0;
  const cached = usage.prompt_tokens_details?.cached_tokens;
  const reasoning = usage.completion_tokens_details?.reasoning_tokens;
  if (input === 0 && written === 0) return undefined;
  // Some count it beside, which shows in the total, or in that it is more than all that was written.
  const beside = reasoning && reasoning > written ? reasoning : 0;
  return {
    inputTokens: Math.ceil(input),
    outputTokens: Math.ceil(Math.max(total - input, written + beside)),
    ...(typeof cached === 'number' ? { cachedTokens: Math.ceil(cached) } : {}),
    ...(typeof reasoning === 'number' ? { reasoningTokens: Math.ceil(reasoning) } : {}),
  };
}

/** Calls are answered by their ids, so each has one, and no two the same. */
function withOwnIds(calls: readonly ModelToolCall[], place: string): ModelToolCall[] {
  const taken = new Set<string>();
  return calls.map(({ id, name, arguments: written }, index) => {
    const own = id !== '' && !taken.has(id) ? id : `call_${place}_${index}`;
    taken.add(own);
    return { id: own, name, arguments: written };
  });
}
