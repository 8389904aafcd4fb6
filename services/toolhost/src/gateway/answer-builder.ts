import type { ModelAnswer, ModelUsage } from '@suzumio/protocol/model-chat';
import { AnswerCalls } from './answer-calls.js';
import type { WireChunk, WireMessage, WireToolCall, WireUsage } from './wire.js';
import { ProviderFailure } from './provider-failure.js';

/** The longest answer, all its texts together. */
export const maxAnswerChars = 4 * 1024 * 1024;

/**
 * Puts an answer together from its pieces, as streaming servers send them: a call's name and arguments in parts, parts
 * of several calls in any order, pieces without a choice, the usage at the end or not at all, all of it once more at the
 * end.
 */
export class AnswerBuilder {
  #text = '';
  #refusal = '';
  #chars = 0;
  #model: string | undefined;
  #finishReason: string | null = null;
  #usage: ModelUsage | undefined;
  readonly #calls = new AnswerCalls((piece) => this.#counted(piece));
  /** Whether anything has come in pieces: a whole message repeats them then. */
  #pieced = false;
  /** Whether calls come in their older form. */
  #older = false;

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
    const { delta, message, finish_reason: finish } = choice;
    if (finish) this.#finishReason = finish === 'function_call' ? 'tool_calls' : finish;
    return (delta ? this.#addPiece(delta) : '') + (message ? this.#addWhole(message) : '');
  }

  /**
   * The answer so far.
   *
   * @param place names the calls that came without a name of their own, or with one that is taken
   * @throws ProviderFailure where it is none: nothing was said, not even why, or not what it is said to call; or it is
   *   said to be in error
   */
  answer(place: string): ModelAnswer {
    if (this.empty && !this.finished) {
      throw new ProviderFailure('unavailable', 'the provider ended its answer before it began');
    }
    if (this.#finishReason === 'error') {
      throw new ProviderFailure('unavailable', 'the provider broke off its answer, and only says that it is an error');
    }
    if (this.empty && this.#finishReason === 'tool_calls') {
      throw new ProviderFailure('unavailable', 'the provider ended an answer as one that calls tools, without a call');
    }
    return {
      text: this.#text,
      ...(this.#refusal === '' ? {} : { refusal: this.#refusal }),
      toolCalls: this.#calls.all(place),
      finishReason: this.#finishReason,
      ...this.#counting(),
      ...(this.#model === undefined ? {} : { model: this.#model }),
    };
  }

  /** A server that counts no question, or nothing of an answer, has not counted: its counts are ignored. */
  #counting(): { usage?: ModelUsage } {
    const usage = this.#usage;
    return usage && usage.inputTokens > 0 && (usage.outputTokens > 0 || this.empty) ? { usage } : {};
  }

  #addPiece(delta: WireMessage): string {
    const before = this.#chars;
    const text = this.#say(delta.content ?? '', delta.refusal ?? '');
    this.#calls.addParts(this.#callsIn(delta));
    this.#pieced ||= this.#chars > before;
    return text;
  }

  /** Takes from a message what has not come before: it may repeat all of them, or grow from one to the next. */
  #addWhole(message: WireMessage): string {
    const { content, refusal } = message;
    const text = this.#pieced && this.#text !== '' ? '' : beyond(this.#text, content ?? '');
    const refused = this.#pieced && this.#refusal !== '' ? '' : beyond(this.#refusal, refusal ?? '');
    if (!this.#pieced || this.#calls.none) this.#calls.addWhole(this.#callsIn(message));
    return this.#say(text, refused);
  }

  #say(text: string, refusal: string): string {
    this.#text += this.#counted(text);
    this.#refusal += this.#counted(refusal);
    return text;
  }

  /** The calls of a message. Some servers send the one in its older form beside the newer. */
  #callsIn({ tool_calls: calls, function_call: older }: WireMessage): WireToolCall[] {
    if (calls && calls.length > 0) return calls;
    if (!older?.name && !older?.arguments) return [];
    this.#older ||= this.#calls.none;
    return this.#older ? [{ function: older }] : [];
  }

  #counted(piece: string): string {
    this.#chars += piece.length;
    if (this.#chars > maxAnswerChars) {
      throw new ProviderFailure('answer-too-large', `the answer is longer than ${maxAnswerChars} characters`);
    }
    return piece;
  }
}

/** What a text says after another, with which it may begin. */
function beyond(said: string, text: string): string {
  return text.startsWith(said) ? text.slice(said.length) : text;
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
