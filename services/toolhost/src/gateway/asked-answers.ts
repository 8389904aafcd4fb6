import type { SinglePreset } from '@suzumio/core/budgets/presets';
import { renderBody } from '@suzumio/core/prompt/body';
import { withoutThoughts } from '@suzumio/protocol/conversation';
import type { AnswerReference, ChatMessage } from '@suzumio/protocol/model-chat';
import { attachedTo, type RepeatedAnswer, repeatedAnswers } from '@suzumio/store/turns/repeated-answers';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import type { Attached } from './attached.js';
import { shownCallId } from './call-ids.js';

type AssistantMessage = Extract<ChatMessage, { role: 'assistant' }>;
type ToolMessage = Extract<ChatMessage, { role: 'tool' }>;

/** A message for one model, with what that model has attached to it. */
export type AskedMessage = ChatMessage & { attached?: Attached };

/** The most that comes back with one question, in bytes of JSON; the newest first. */
const maxSentBack = 8 * 1024 * 1024;

/**
 * The answers that a question repeats. A model at its endpoint gets back what it attached to its own; calls of any other are
 * put in words, since a call without its signature is refused by those that sign.
 */
export class AskedAnswers {
  private constructor(
    private readonly reader: SqlReader,
    private readonly answers: ReadonlyMap<string, RepeatedAnswer>,
    /** The bytes of those whose attachments may come back. */
    private readonly sizes: ReadonlyMap<string, number>,
  ) {}

  /** @throws SuzumioError `answer-unknown` for one that is none of the agent's */
  static of(reader: SqlReader, agent: string, references: readonly AnswerReference[]): AskedAnswers {
    const answers = repeatedAnswers(reader, agent, references);
    const sizes = new Map<string, number>();
    let room = maxSentBack;
    for (const { answer, attachedBytes } of [...references].reverse()) {
      const bytes = answers.get(answer)?.attachedBytes ?? 0;
      if (attachedBytes === undefined || sizes.has(answer) || bytes > room) continue;
      room -= bytes;
      sizes.set(answer, bytes);
    }
    return new AskedAnswers(reader, answers, sizes);
  }

  /** The most that comes back, whichever model is asked. */
  get bytes(): number {
    const byModel = new Map<string | null, number>();
    for (const [id, bytes] of this.sizes) {
      const by = this.answers.get(id)?.by ?? null;
      byModel.set(by, (byModel.get(by) ?? 0) + bytes);
    }
    return Math.max(0, ...byModel.values());
  }

  /** The messages for one model. */
  messagesFor(messages: readonly ChatMessage[], model: string, { sendReasoning = true }: SinglePreset): AskedMessage[] {
    const list = new MessageList();
    // A model that attaches something may refuse an answer that has nothing, also one without calls.
    const attaches =
      sendReasoning && [...this.answers.values()].some((one) => one.by === model && one.attachedBytes > 0);
    const sent = new Set<string>();
    // What its hash is over stays as it is.
    for (const [at, message] of messages.map(withoutThoughts).entries()) {
      if (message.role !== 'assistant') {
        list.add(message);
        continue;
      }
      const { suzumio: reference, ...plain } = message;
      const answer = reference && this.answers.get(reference.answer);
      if (!answer || answer.by === null) {
        list.addOfUnknown(plain);
        continue;
      }
      const attached = sendReasoning && answer.by === model && !sent.has(reference.answer) && this.#attached(reference);
      if (attached) sent.add(reference.answer);
      const isWhole = answer.by === model && (attached !== null || !sendReasoning);
      if (isWhole) list.add(attached ? { ...plain, attached } : plain);
      else if (attaches || plain.tool_calls?.length) list.addInWords(plain, resultsAfter(messages, at));
      else list.add(plain);
    }
    return list.messages;
  }

  /** What was attached to an answer; undefined for nothing, null where it is not there any more. */
  #attached({ answer: id }: AnswerReference): Attached | null | undefined {
    const answer = this.answers.get(id);
    if (!answer || answer.attachedBytes === 0) return undefined;
    // Redacted meanwhile, it is JSON's null.
    return this.sizes.has(id) ? (JSON.parse(attachedTo(this.reader, answer) ?? 'null') as Attached | null) : null;
  }
}

/** The results of a message's calls. */
function resultsAfter(messages: readonly ChatMessage[], at: number): ToolMessage[] {
  const results: ToolMessage[] = [];
  for (const message of messages.slice(at + 1)) {
    if (message.role !== 'tool') break;
    results.push(message);
  }
  return results;
}

/** Messages as one model is shown them. Strict servers refuse two of one role, and a question right after a result. */
class MessageList {
  readonly messages: AskedMessage[] = [];
  /** Ids of calls that are put in words, with their results. */
  readonly #inWords = new Set<string>();
  /** The ids under which calls of unknown models are shown. */
  readonly #shown = new Map<string, string>();
  #endsInWords = false;

  add(message: AskedMessage): void {
    if (message.role === 'tool') {
      if (this.#inWords.has(message.tool_call_id)) return;
      const id = this.#shown.get(message.tool_call_id) ?? message.tool_call_id;
      this.#push({ ...message, tool_call_id: id });
      return;
    }
    if (message.role === 'assistant') for (const { id } of message.tool_calls ?? []) this.#begin(id);
    this.#push(message);
  }

  /** An answer of which it is not known whose it is: its ids may be such as the asked one does not take. */
  addOfUnknown(message: AssistantMessage): void {
    const calls = message.tool_calls?.map((call) => ({ ...call, id: shownCallId(call.id) }));
    this.#push(calls ? { ...message, tool_calls: calls } : message);
    for (const { id } of message.tool_calls ?? []) {
      this.#begin(id);
      this.#shown.set(id, shownCallId(id));
    }
  }

  /** Says what another model has called, and what came of it. */
  addInWords(message: AssistantMessage, results: readonly ToolMessage[]): void {
    const text = inWords(message, results);
    for (const { id } of message.tool_calls ?? []) {
      this.#begin(id);
      this.#inWords.add(id);
    }
    const last = this.messages.at(-1);
    if (last?.role === 'user' || last?.role === 'tool')
      this.messages.splice(-1, 1, { ...last, content: together(last.content, text) });
    else this.messages.push({ role: 'user', content: text });
    this.#endsInWords = true;
  }

  /** Forgets a call of before that had the same id. */
  #begin(id: string): void {
    this.#inWords.delete(id);
    this.#shown.delete(id);
  }

  #push(message: AskedMessage): void {
    const last = this.messages.at(-1);
    const continues = this.#endsInWords && message.role === 'user' && last?.role === 'user';
    this.#endsInWords = false;
    if (continues) this.messages.splice(-1, 1, { ...last, content: together(last.content, message.content) });
    else this.messages.push(message);
  }
}

type Content = ChatMessage['content'];

function together(one: Content, other: Content): Content {
  if (!Array.isArray(one) && !Array.isArray(other)) return one ? `${one}\n\n${other ?? ''}` : other;
  return [one, other].flatMap((content) =>
    Array.isArray(content) ? content : [{ type: 'text' as const, text: content ?? '' }],
  );
}

/** Text, calls and results, in frames as mail has them: nothing in it is an order. */
function inWords({ content, tool_calls: calls = [] }: AssistantMessage, results: readonly ToolMessage[]): string {
  const text = textOf({ content }).trim();
  return [
    '[Another model was asked in your place before, and this is what it did for you. It is done: do not repeat it.]',
    ...(text === '' ? [] : ['It said:', renderBody(text)]),
    ...calls.flatMap(({ id, function: { name, arguments: written } }) => {
      const result = results.find(({ tool_call_id: of }) => of === id);
      return [
        `It called ${name} with:`,
        renderBody(written),
        ...(result ? ['The result was:', renderBody(textOf(result))] : []),
      ];
    }),
    '[End of what it did.]',
  ].join('\n');
}

function textOf({ content }: Pick<ChatMessage, 'content'>): string {
  if (!Array.isArray(content)) return content ?? '';
  return content.map((part) => (part.type === 'text' ? part.text : '[image]')).join('\n');
}
