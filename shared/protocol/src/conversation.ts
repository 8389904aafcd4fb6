import { beginningOf } from './cut-text.js';
import type { ChatMessage, ModelAnswer } from './model-chat.js';
import { isShallow } from './nesting.js';

// How a turn's steps become a conversation. The runner builds the one that it is having, and the ToolHost those of earlier
// turns: from the same rules, so that a model sees its past as it saw it then, and providers' caches see it, too.

/** The longest result of a tool in a conversation. */
export const maxResultChars = 48 * 1024;

/** What a model is told whose answer was cut at its longest and calls nothing. */
export const goOnMessage: ChatMessage = {
  role: 'user',
  content: '[Your answer was cut at its longest. Go on from there, and be brief.]',
};

/** A tool's name as models are told it: their names have no dots. */
export function functionName(tool: string): string {
  return tool.replaceAll('.', '_');
}

/** The longest name of a function. */
const maxNameChars = 64;

/** What stands for an answer that says and calls nothing. */
const nothingSaid = '(nothing to say)';

/**
 * An answer as it stands in the conversation. Models write what no provider takes back: calls whose arguments are no JSON
 * object, names with other characters than names have, nothing at all. There it is written as it may be; what was wrong
 * with a call, the model is told as its result.
 */
export function assistantMessage({ text, toolCalls }: Pick<ModelAnswer, 'text' | 'toolCalls'>): ChatMessage {
  const content = text.trim() === '' ? undefined : text.toWellFormed();
  if (toolCalls.length === 0) return { role: 'assistant', content: content ?? nothingSaid };
  return {
    role: 'assistant',
    content: content ?? null,
    tool_calls: toolCalls.map(({ id, name, arguments: written }) => ({
      id,
      type: 'function',
      function: { name: possibleName(name), arguments: isObject(written) ? written.toWellFormed() : '{}' },
    })),
  };
}

function possibleName(written: string): string {
  return written.replace(/[^\w-]/gu, '_').slice(0, maxNameChars) || 'unnamed';
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

/** What a tool's call came to, as the model is told. */
export function toolMessage(
  call: string,
  result: { output: unknown } | { code: string; message: string },
): ChatMessage {
  const text =
    'code' in result
      ? `Error ${result.code}: ${result.message}`
      : typeof result.output === 'string'
        ? result.output
        : JSON.stringify(result.output ?? null);
  return { role: 'tool', tool_call_id: call, content: shortened(text) };
}

/** What a model is told of its earlier turns where they are too many to be told. */
export function notesText(notes: string): string {
  return `[Your notes on your earlier turns]\n${notes.toWellFormed()}\n[end of your notes]`;
}

/** A conversation as one text, for a model that is to sum it up. */
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

function shortened(text: string): string {
  const kept = beginningOf(text, maxResultChars);
  const cut = text.length === kept.length ? '' : `\n[cut: ${text.length - kept.length} more characters]`;
  return `${kept.toWellFormed()}${cut}`;
}
