import { callInput } from './call-input.js';
import { beginningOf } from './cut-text.js';
import type { AnswerReading, ChatMessage, ReceivedAnswer } from './model-chat.js';
import { isShallow } from './nesting.js';
import { toolpackTools } from './tool-names.js';
import { visibleText } from './visible-text.js';

// Builds conversations from steps. The runner builds the present turn's, the ToolHost those of earlier turns: by the
// same rules, so that a model sees its past unchanged, and providers' prompt caches match.

/** The longest result of a tool in a conversation. */
export const maxResultChars = 48 * 1024;

/** How much of a result a tool shows to a model: more would be cut there, with what the tool says on how to go on. */
export const maxShownBytes = maxResultChars - 4 * 1024;

/** What leads on where a result was cut. */
export const askForLess = 'for these, ask for less at a time, such as a part of a file by its offset';

/** The message after an answer that was cut off without a call. */
export const goOnMessage: ChatMessage = {
  role: 'user',
  content: '[Your answer was cut at its longest. Go on from there, and be brief.]',
};

/** The message after an answer that holds a call as text. */
export const callInTextMessage: ChatMessage = {
  role: 'user',
  content:
    '[Your answer holds a call as text, and nobody carries that out. Make the call as a tool call of your own interface: ' +
    'one of the functions that you were given, by its name, with one JSON object as its arguments. ' +
    'If you meant no call, answer without such marks.]',
};

/** The message after an answer that says nothing. */
export const blankMessage: ChatMessage = {
  role: 'user',
  content:
    '[Your answer was empty, and no call of yours has succeeded so far, or since one was refused. Make the call that is needed. ' +
    'If nothing is to be done, say so: one word is enough.]',
};

/** What follows an answer that ended no turn. A text that was released never changes: it is part of what was asked. */
export const followUps: Record<Exclude<AnswerReading, 'notes'>, ChatMessage> = {
  cut: goOnMessage,
  'call-as-text': callInTextMessage,
  blank: blankMessage,
  oversized: { role: 'user', content: '[The turn cannot end like this.]' },
};

/** A tool's name as a function's: without dots, which function names do not have. */
export function functionName(tool: string): string {
  return tool.replaceAll('.', '_');
}

/** A tool's name in a sentence, and not as a part of a longer name or of a path. */
const toolInText = new RegExp(
  `(?<![\\w./-])(?:${Object.values(toolpackTools).flat().join('|').replaceAll('.', '\\.')})(?![\\w/-]|\\.\\w)`,
  'g',
);

/** What is said of tools, by the names that a model calls them by. */
export function inFunctionNames(text: string): string {
  return text.replace(toolInText, functionName);
}

/** The longest name of a function. */
const maxNameChars = 64;

/** Replaces an empty answer. */
const nothingSaid = '(nothing to say)';

/**
 * An answer as part of the conversation. Models write what no provider accepts back: arguments that are no JSON object,
 * invalid function names, nothing at all. These are replaced by something valid; the result of a call tells the model
 * what was wrong with it.
 */
export function assistantMessage({
  text,
  toolCalls,
  reference,
}: Pick<ReceivedAnswer, 'text' | 'toolCalls' | 'reference'>): ChatMessage {
  const content = text.trim() === '' ? undefined : text.toWellFormed();
  const repeats = reference === undefined ? {} : { suzumio: reference };
  if (toolCalls.length === 0) return { role: 'assistant', content: content ?? nothingSaid, ...repeats };
  return {
    role: 'assistant',
    content: content ?? null,
    ...repeats,
    tool_calls: toolCalls.map(({ id, name, arguments: written }) => ({
      id,
      type: 'function',
      function: { name: possibleName(name), arguments: possibleArguments(written) },
    })),
  };
}

/** What providers attached to the answers that a conversation repeats, in bytes. */
export function attachedBytes(messages: readonly ChatMessage[]): number {
  return messages.reduce(
    (sum, message) => sum + ((message.role === 'assistant' && message.suzumio?.attachedBytes) || 0),
    0,
  );
}

/** A message as it is hashed and measured: without its reference, which is no part of what is asked. */
export function withoutReference(message: ChatMessage): ChatMessage {
  if (message.role !== 'assistant' || message.suzumio === undefined) return message;
  return { ...message, suzumio: undefined };
}

function possibleName(written: string): string {
  return written.replace(/[^\w-]/gu, '_').slice(0, maxNameChars) || 'unnamed';
}

function possibleArguments(written: string): string {
  if (isObject(written)) return written.toWellFormed();
  const meant = callInput(written);
  const text = 'input' in meant ? JSON.stringify(meant.input) : '';
  return isObject(text) ? text.toWellFormed() : '{}';
}

/** Whether a text is a JSON object that every server can read. */
function isObject(written: string): boolean {
  try {
    const value: unknown = JSON.parse(written);
    return typeof value === 'object' && value !== null && !Array.isArray(value) && isShallow(value);
  } catch {
    return false;
  }
}

/** A tool call's result as a message. */
export function toolMessage(
  call: string,
  result: { output: unknown } | { code: string; message: string },
): ChatMessage {
  const text =
    'code' in result
      ? `Error ${result.code}: ${inFunctionNames(result.message)}`
      : typeof result.output === 'string'
        ? result.output
        : JSON.stringify(result.output ?? null);
  return { role: 'tool', tool_call_id: call, content: shortened(text, `; ${askForLess}`) };
}

/** The message with a model's notes on turns that are no longer shown. */
export function notesText(notes: string): string {
  return `[Your notes on your earlier turns]\n${notes.toWellFormed()}\n[end of your notes]`;
}

/** A message without its model's thoughts, which no model is shown again. */
export function withoutThoughts(message: ChatMessage): ChatMessage {
  if (message.role !== 'assistant' || typeof message.content !== 'string') return message;
  const { text } = visibleText(message.content);
  if (text === message.content) return message;
  if (text.trim() !== '') return { ...message, content: text };
  return { ...message, content: message.tool_calls?.length ? null : nothingSaid };
}

/** A conversation as one text, for a model to sum up. */
export function transcriptText(messages: readonly ChatMessage[]): string {
  return messages
    .map((message) => {
      const said = typeof message.content === 'string' ? message.content : JSON.stringify(message.content ?? '');
      const calls =
        message.role === 'assistant' && message.tool_calls
          ? message.tool_calls.map(({ function: called }) => `\n(calls ${called.name} ${shortened(called.arguments)})`)
          : [];
      return `## ${message.role}\n${shortened(said)}${calls.join('')}`;
    })
    .join('\n\n');
}

function shortened(text: string, advice = ''): string {
  const kept = beginningOf(text, maxResultChars);
  const cut = text.length === kept.length ? '' : `\n[cut: ${text.length - kept.length} more characters${advice}]`;
  return `${kept.toWellFormed()}${cut}`;
}
