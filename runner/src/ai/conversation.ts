import { notesText, transcriptText } from '@suzumio/protocol/conversation';
import { beginningOf } from '@suzumio/protocol/cut-text';
import { tokensOf } from '@suzumio/protocol/estimated-tokens';
import type { ChatMessage } from '@suzumio/protocol/model-chat';
import { toldNotes } from '@suzumio/protocol/notes';
import type { RunnerTurnInput } from '@suzumio/protocol/runner';

/** How much of a model's context is asked with; the rest is for its answer, and for what the estimate is wrong by. */
const askedShare = 0.8;
/** A result that was just brought is never made shorter than this. */
const shortestResultChars = 1_000;
const droppedResult = '[left out to make room; call again if you still need it]';
const shortenedMark = '\n[the rest was left out to make room]';

/**
 * What a model is told in a turn: notes on its past, its past, and the turn so far; and how that is made shorter. Nothing
 * but the turn's input and what was answered decides on it, so that a turn that is run again asks the same.
 */
export class Conversation {
  #notes: string | undefined;
  #past: readonly ChatMessage[];
  /** Turns that neither the notes nor the past tell, as a transcript. */
  #untold: string | undefined;
  readonly #now: ChatMessage[];
  readonly #contextLimit: number;

  constructor(private readonly input: RunnerTurnInput) {
    const { history, runner, turn } = input;
    this.#notes = history?.summary;
    this.#past = history?.messages ?? [];
    this.#untold = history?.compact;
    this.#now = [{ role: 'user', content: turn.prompt }];
    this.#contextLimit = (runner.mode === 'ai' ? runner.contextLimit : undefined) ?? Infinity;
  }

  /** All of it, as it is asked with. */
  get messages(): ChatMessage[] {
    const { turn, agent } = this.input;
    return [{ role: 'system', content: turn.system ?? agent.prompt }, ...this.withNotes([...this.#past, ...this.#now])];
  }

  /** Messages with the notes on its past in front. Strict servers want none of one role after another: they become one. */
  withNotes(messages: readonly ChatMessage[]): ChatMessage[] {
    if (this.#notes === undefined) return [...messages];
    const notes = notesText(this.#notes);
    const [first, ...others] = messages;
    if (first?.role !== 'user' || typeof first.content !== 'string')
      return [{ role: 'user', content: notes }, ...messages];
    return [{ ...first, content: `${notes}\n\n${first.content}` }, ...others];
  }

  /** What new notes have to be made of, beside the old ones: turns that are too long to be told. */
  get untold(): string | undefined {
    return this.#untold;
  }

  add(message: ChatMessage): void {
    this.#now.push(message);
  }

  /** Tells its untold turns by notes from now on. */
  keepNotes(notes: string): void {
    this.#notes = toldNotes(notes, this.#contextLimit);
    this.#untold = undefined;
  }

  /** Tells its past no longer. Returns whether there was one. */
  leavePast(): boolean {
    if (this.#past.length === 0) return false;
    const past = transcriptText(this.#past);
    this.#untold = this.#untold === undefined ? past : `${this.#untold}\n\n${past}`;
    this.#past = [];
    return true;
  }

  /** Leaves out the oldest result, or shortens the longest that its model has not seen. Returns whether there was one. */
  shortenResults(): boolean {
    const fresh = this.#now.findLastIndex(({ role }) => role === 'assistant') + 1;
    const seen = this.#now.slice(0, fresh).find((message) => resultOf(message).length > droppedResult.length);
    if (seen) {
      seen.content = droppedResult;
      return true;
    }
    const [longest] = this.#now.slice(fresh).sort((a, b) => resultOf(b).length - resultOf(a).length);
    const result = longest === undefined ? '' : resultOf(longest);
    if (!longest || result.length <= shortestResultChars) return false;
    longest.content = beginningOf(result, Math.floor(result.length / 2)) + shortenedMark;
    return true;
  }

  /** Whether a question is likely to be longer than its model reads at once. */
  isTooLong(question: unknown): boolean {
    return tokensOf(question) > this.#contextLimit * askedShare;
  }
}

/** A tool's result; nothing for any other message. */
function resultOf({ role, content }: ChatMessage): string {
  return role === 'tool' && typeof content === 'string' ? content : '';
}
