import { askForLess, attachedBytes, notesText, transcriptText, withoutReference } from '@suzumio/protocol/conversation';
import { beginningOf } from '@suzumio/protocol/cut-text';
import { estimatedTokens } from '@suzumio/protocol/estimated-tokens';
import { type ChatMessage, maxChatBytes } from '@suzumio/protocol/model-chat';
import { toldNotes } from '@suzumio/protocol/notes';
import { repositoryText } from '@suzumio/protocol/repository';
import type { ServedToolName } from '@suzumio/protocol/tool-names';
import { sharedText } from '@suzumio/protocol/shared-repository';
import type { RunnerTurnInput } from '@suzumio/protocol/runner';
import { type ImageOfCall, ImagesShown } from './images-shown.js';

/** The share of a model's context for a request; the rest is for its answer, and for errors of the estimate. */
const askedShare = 0.8;
/** The longest request, in bytes; the rest is for what is around messages and tools. */
const mostBytes = maxChatBytes - 64 * 1024;
/** The shortest length of a result that the model has not seen yet. */
const shortestResultChars = 1_000;
const droppedResult = '[left out to make room; call again if you still need it]';
const shortenedMark = /\n\[cut to make room: (\d+) more characters; [^\]\n]*\]$/;

/**
 * The conversation of a turn: notes on earlier turns, earlier turns, and the present one; and how it is shortened. It
 * depends only on the turn's input and the answers, so that a later attempt makes the same requests.
 */
export class Conversation {
  #notes: string | undefined;
  #past: readonly ChatMessage[];
  /** A transcript of the turns that are in neither the notes nor the history. */
  #untold: string | undefined;
  readonly #now: ChatMessage[];
  readonly #images = new ImagesShown();
  readonly #contextLimit: number;

  constructor(private readonly input: RunnerTurnInput) {
    const { history, runner, turn } = input;
    this.#notes = history?.summary;
    this.#past = history?.messages ?? [];
    this.#untold = history?.compact;
    this.#now = [{ role: 'user', content: turn.prompt }];
    this.#contextLimit = (runner.mode === 'ai' ? runner.contextLimit : undefined) ?? Infinity;
  }

  /** All messages of a request. */
  get messages(): ChatMessage[] {
    const { turn, agent, repository, shared, tools } = this.input;
    const has = (tool: ServedToolName) => tools.some(({ name }) => name === tool);
    const runsGit = has('shell.exec');
    const refreshes = has('workspace.git.refresh');
    const content = [
      turn.system ?? agent.prompt,
      ...(repository ? [repositoryText(repository, { runsGit, refreshes })] : []),
      ...(shared && runsGit ? [sharedText(shared)] : []),
    ].join('\n');
    return [{ role: 'system', content }, ...this.withNotes([...this.#past, ...this.#now])];
  }

  /**
   * Messages after the notes on earlier turns. Strict servers refuse consecutive messages of one role: they are merged.
   */
  withNotes(messages: readonly ChatMessage[]): ChatMessage[] {
    if (this.#notes === undefined) return [...messages];
    const notes = notesText(this.#notes);
    const [first, ...others] = messages;
    if (first?.role !== 'user' || typeof first.content !== 'string')
      return [{ role: 'user', content: notes }, ...messages];
    return [{ ...first, content: `${notes}\n\n${first.content}` }, ...others];
  }

  /** What new notes have to be made of, besides the old ones: turns that are too long to show. */
  get untold(): string | undefined {
    return this.#untold;
  }

  add(message: ChatMessage): void {
    this.#now.push(message);
  }

  /** Tells the model something that is neither mail nor the result of a call. */
  tell(text: string): void {
    const last = this.#now.at(-1);
    // Strict servers refuse consecutive messages of one role.
    if (last?.role !== 'user') this.#now.push({ role: 'user', content: text });
    else if (typeof last.content === 'string')
      this.#now.splice(-1, 1, { ...last, content: `${last.content}\n${text}` });
    else last.content?.push({ type: 'text', text });
  }

  /** Shows what the calls of the newest answer have read. */
  show(images: readonly ImageOfCall[]): void {
    if (images.length > 0) this.#now.push(this.#images.show(images));
  }

  /** Replaces the transcript and the notes by new notes. */
  keepNotes(notes: string): void {
    this.#notes = toldNotes(notes, this.#contextLimit);
    this.#untold = undefined;
  }

  /** Drops the history. Returns whether there was one. */
  leavePast(): boolean {
    if (this.#past.length === 0) return false;
    const past = transcriptText(this.#past);
    this.#untold = this.#untold === undefined ? past : `${this.#untold}\n\n${past}`;
    this.#past = [];
    return true;
  }

  /**
   * Drops the oldest image, else the oldest result, else the arguments of the oldest call, else what the provider attached
   * to the oldest answer, or shortens the longest result that the model has not seen. Returns whether there was one.
   */
  shortenResults(): boolean {
    if (this.#images.leaveOldest()) return true;
    const fresh = this.#now.findLastIndex(({ role }) => role === 'assistant') + 1;
    const seen = this.#now.slice(0, fresh).find((message) => resultOf(message).length > droppedResult.length);
    if (seen) {
      seen.content = droppedResult;
      return true;
    }
    if (this.#now.slice(0, fresh).some(leaveArguments)) return true;
    // The newest stays: providers check it first.
    if (this.#now.slice(0, fresh - 1).some(leaveAttached)) return true;
    const [longest] = this.#now.slice(fresh).sort((a, b) => resultOf(b).length - resultOf(a).length);
    const result = longest === undefined ? '' : resultOf(longest);
    if (!longest || result.length <= shortestResultChars) return false;
    const [mark = '', cut = 0] = shortenedMark.exec(result) ?? [];
    const text = result.slice(0, result.length - mark.length);
    const beginning = beginningOf(text, Math.floor(result.length / 2));
    const more = text.length - beginning.length + Number(cut);
    longest.content = `${beginning}
[cut to make room: ${more} more characters; ${askForLess}]`;
    return true;
  }

  /** The estimated tokens of the images in a request of all messages. */
  get imageTokens(): number {
    return this.#images.tokens;
  }

  /** Whether a request probably exceeds the model's context, or is longer than a ToolHost takes. */
  isTooLong({ messages, tools }: Asked, imageTokens = 0): boolean {
    const sizeOf = (of: readonly ChatMessage[]) =>
      Buffer.byteLength(JSON.stringify(tools === undefined ? of : { messages: of, tools }));
    if (sizeOf(messages) > mostBytes) return true;
    const bytes = sizeOf(messages.map(withoutReference)) + attachedBytes(messages);
    return estimatedTokens(bytes) + imageTokens > this.#contextLimit * askedShare;
  }
}

/** A request, as far as it is measured. */
interface Asked {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly RunnerTurnInput['tools'][number][];
}

/** Drops the arguments of a message's calls, where they are long. Returns whether any were. */
function leaveArguments(message: ChatMessage): boolean {
  const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : [];
  const long = calls.filter((call) => call.function.arguments.length > shortestResultChars);
  for (const { function: called } of long) {
    called.arguments = JSON.stringify({ left_out: `${called.arguments.length} characters, to make room` });
  }
  return long.length > 0;
}

/** Has the gateway leave out what the provider attached to an answer. Returns whether there was anything. */
function leaveAttached(message: ChatMessage): boolean {
  if (message.role !== 'assistant' || message.suzumio?.attachedBytes === undefined) return false;
  message.suzumio = { answer: message.suzumio.answer };
  return true;
}

/** A tool's result; nothing for any other message. */
function resultOf({ role, content }: ChatMessage): string {
  return role === 'tool' && typeof content === 'string' ? content : '';
}
