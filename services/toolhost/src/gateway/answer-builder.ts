import type { ModelAnswer, ModelToolCall, ModelUsage } from '@suzumio/protocol/model-chat';
import { AnswerCalls } from './answer-calls.js';
import { type Attached, AttachedFields, type AttachedItem, AttachedSize, maxAttachedBytes } from './attached.js';
import type { WireChunk, WireMessage, WireToolCall, WireUsage } from './wire.js';
import { ProviderFailure } from './provider-failure.js';

/** The longest answer, in characters of all its texts. */
export const maxAnswerChars = 4 * 1024 * 1024;

/** An answer with what its provider attached; null where that is more than what is kept. */
export interface ProviderAnswer extends ModelAnswer {
  attached?: Attached | null;
}

/**
 * Builds an answer from the chunks of streaming servers: a call's name and arguments in parts, interleaved parts of
 * several calls, chunks without a choice, usage at the end or not at all, everything repeated at the end.
 */
export class AnswerBuilder {
  #text = '';
  #refusal = '';
  #chars = 0;
  #model: string | undefined;
  #finishReason: string | null = null;
  #usage: ModelUsage | undefined;
  readonly #attachedSize = new AttachedSize();
  readonly #attached = new AttachedFields(this.#attachedSize);
  readonly #items = new Map<number, NonNullable<WireChunk['item']>>();
  readonly #calls = new AnswerCalls((piece) => this.#counted(piece), this.#attachedSize);
  /** Whether anything has come in chunks: a whole message repeats them then. */
  #pieced = false;
  /** Whether calls come in the older form, `function_call`. */
  #older = false;

  /** Whether a finish reason has come. */
  get finished(): boolean {
    return this.#finishReason !== null;
  }

  /** The length so far, with its calls, and with what is attached. */
  get chars(): number {
    return this.#chars + this.#attachedSize.chars;
  }

  /** Whether there is neither text nor a call. */
  get empty(): boolean {
    return this.#chars === 0;
  }

  /**
   * Adds a chunk, and returns its new text.
   *
   * @throws ProviderFailure `answer-too-large`
   */
  add(chunk: WireChunk): string {
    this.#model ??= chunk.model ?? undefined;
    if (chunk.item) this.#addItem(chunk.item);
    if (chunk.usage) this.#usage = usageOf(chunk.usage) ?? this.#usage;
    // Only one choice is requested; others are ignored.
    const choice = chunk.choices?.find(({ index }) => (index ?? 0) === 0);
    if (!choice) return '';
    const { delta, message, finish_reason: finish } = choice;
    if (finish) this.#finishReason = finish === 'function_call' ? 'tool_calls' : finish;
    return (delta ? this.#addPiece(delta) : '') + (message ? this.#addWhole(message) : '');
  }

  /**
   * The answer so far.
   *
   * @throws ProviderFailure where it is no answer: it is empty without a finish reason, lacks the calls that its finish
   *   reason announces, or reports an error
   */
  answer(): ProviderAnswer {
    if (this.empty && !this.finished) {
      throw new ProviderFailure('unavailable', 'the provider ended its answer before it began');
    }
    if (this.#finishReason === 'error') {
      throw new ProviderFailure('unavailable', 'the provider broke off its answer, and only says that it is an error');
    }
    if (this.empty && this.#finishReason === 'tool_calls') {
      throw new ProviderFailure('unavailable', 'the provider ended an answer as one that calls tools, without a call');
    }
    const toolCalls = this.#calls.all();
    const attached = this.#attachments(toolCalls);
    return {
      text: this.#text,
      ...(this.#refusal === '' ? {} : { refusal: this.#refusal }),
      toolCalls,
      finishReason: this.#finishReason,
      ...this.#counting(),
      ...(this.#model === undefined ? {} : { model: this.#model }),
      ...(attached === undefined ? {} : { attached }),
    };
  }

  #attachments(toolCalls: readonly ModelToolCall[]): Attached | null | undefined {
    if (this.#attachedSize.isTooMuch) return null;
    const message = this.#attached.all;
    const calls = this.#calls.attached(toolCalls);
    const items = this.#itemsOf(toolCalls);
    const attached: Attached = {
      ...(message ? { message } : {}),
      ...(calls.length > 0 ? { calls } : {}),
      ...(items.length > 0 ? { items } : {}),
    };
    if (Object.keys(attached).length === 0) return undefined;
    return Buffer.byteLength(JSON.stringify(attached)) > maxAttachedBytes ? null : attached;
  }

  #addItem(item: NonNullable<WireChunk['item']>): void {
    if (!this.#attachedSize.takes(item.fields)) return;
    const before = this.#items.get(item.index);
    this.#attachedSize.add(JSON.stringify(item.fields).length - (before ? JSON.stringify(before.fields).length : 0));
    this.#items.set(item.index, item);
  }

  /** All items in their order, where there are thoughts among them: without these, the others need no names. */
  #itemsOf(toolCalls: readonly ModelToolCall[]): AttachedItem[] {
    const all = [...this.#items.values()].sort((a, b) => a.index - b.index);
    if (all.every(({ type }) => type !== 'reasoning')) return [];
    return all.flatMap(({ index, type, fields }): AttachedItem[] => {
      if (type !== 'function_call') return type === 'reasoning' || type === 'message' ? [{ type, fields }] : [];
      const call = toolCalls[this.#calls.slotOf(index)]?.id;
      return call === undefined ? [] : [{ type, call, fields }];
    });
  }

  /** Usage; zero input tokens, or zero output tokens for a non-empty answer, mean that the server does not count. */
  #counting(): { usage?: ModelUsage } {
    const usage = this.#usage;
    return usage && usage.inputTokens > 0 && (usage.outputTokens > 0 || this.empty) ? { usage } : {};
  }

  #addPiece(delta: WireMessage): string {
    const before = this.#chars;
    const text = this.#say(delta.content ?? '', delta.refusal ?? '');
    this.#attached.add(delta);
    this.#calls.addParts(this.#callsIn(delta));
    this.#pieced ||= this.#chars > before;
    return text;
  }

  /** Takes what is new in a whole message, which may repeat all chunks, or grow from one to the next. */
  #addWhole(message: WireMessage): string {
    const { content, refusal } = message;
    const text = this.#pieced && this.#text !== '' ? '' : beyond(this.#text, content ?? '');
    const refused = this.#pieced && this.#refusal !== '' ? '' : beyond(this.#refusal, refusal ?? '');
    this.#attached.replace(message);
    if (!this.#pieced || this.#calls.none) this.#calls.addWhole(this.#callsIn(message));
    else this.#calls.attach(this.#callsIn(message));
    return this.#say(text, refused);
  }

  #say(text: string, refusal: string): string {
    this.#text += this.#counted(text);
    this.#refusal += this.#counted(refusal);
    return text;
  }

  /** The calls of a message. Some servers send a call in the older form beside the newer. */
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

/** The rest of a text that may begin with another. */
function beyond(said: string, text: string): string {
  return text.startsWith(said) ? text.slice(said.length) : text;
}

const readNames = ['cached_tokens', 'cache_read_input_tokens', 'prompt_cache_hit_tokens'] as const;
const writeNames = ['cache_write_tokens', 'cache_creation_tokens', 'cache_creation_input_tokens'] as const;

/** A server's counts; undefined where it has none. Reasoning is part of the output, and is billed. */
function usageOf(usage: WireUsage): ModelUsage | undefined {
  const input = usage.prompt_tokens ?? 0;
  const written = usage.completion_tokens ?? 0;
  const total = usage.total_tokens ?? 0;
  const reasoning = usage.completion_tokens_details?.reasoning_tokens;
  if (input === 0 && written === 0) return undefined;
  // Some servers count reasoning separately: the total shows that, or a count above the output's.
  const beside = reasoning && reasoning > written ? reasoning : 0;
  const inputTokens = Math.ceil(input);
  const cached = largest(usage, readNames, inputTokens);
  const cacheWrite = largest(usage, writeNames, inputTokens - (cached ?? 0));
  return {
    inputTokens,
    outputTokens: Math.ceil(Math.max(total - input, written + beside)),
    ...(cached === undefined ? {} : { cachedTokens: cached }),
    ...(cacheWrite === undefined ? {} : { cacheWriteTokens: cacheWrite }),
    ...(typeof reasoning === 'number' ? { reasoningTokens: Math.ceil(reasoning) } : {}),
  };
}

/** The largest count of several names: servers with two of them may leave one at zero. */
function largest(
  { prompt_tokens_details: details, ...usage }: WireUsage,
  names: readonly (keyof NonNullable<WireUsage['prompt_tokens_details']>)[],
  max: number,
): number | undefined {
  const counts = names.flatMap((name) => [usage[name], details?.[name]]).filter((count) => typeof count === 'number');
  return counts.length === 0 ? undefined : Math.min(max, Math.ceil(Math.max(...counts)));
}
