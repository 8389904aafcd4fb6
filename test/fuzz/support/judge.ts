import { errorCodes } from '../../../shared/contract/src/errors/codes.js';
import { problem, problemMediaType } from '../../../shared/protocol/src/problem.js';
import type { Conversation, RawAnswer } from './raw-http.js';

/** What a shim answers for itself, beyond the codes of the services. */
const codesOfTheShim = new Set(['door-away', 'door-failed', 'answer-invalid']);

/** Fails unless an answer is a success, or a problem document with a code that is known and fits its status. */
export function judgeAnswer({ status, headers, body }: RawAnswer, head: boolean): void {
  if (status >= 200 && status < 400) return;
  const shown = `${String(status)} ${body.toString('utf8').slice(0, 300)}`;
  if (status >= 500) throw new Error(`answers ${shown}`);
  if (headers.get('content-type')?.split(';')[0] !== problemMediaType) {
    throw new Error(`refuses without a problem document, as ${String(headers.get('content-type'))}: ${shown}`);
  }
  if (head) return;
  const { code, status: inside } = problem.parse(JSON.parse(body.toString('utf8')));
  if (inside !== status) throw new Error(`says another status than it has: ${shown}`);
  if (codesOfTheShim.has(code)) return;
  if (!Object.hasOwn(errorCodes, code)) throw new Error(`refuses with a code that nobody knows: ${shown}`);
  const known = errorCodes[code as keyof typeof errorCodes];
  if (known.status !== status) throw new Error(`refuses with a code of another status: ${shown}`);
}

/** Fails unless a conversation came to an end, with answers that are all right and nothing besides. */
export function judgeConversation({ answers, rest, over }: Conversation, head = false): void {
  for (const answer of answers) judgeAnswer(answer, head);
  // What cannot be read as a request is not known to be a `HEAD`, either, and is told what is wrong with it.
  if (rest.length > 0 && !head) throw new Error(`left half an answer: ${rest.toString('latin1').slice(0, 300)}`);
  if (!over) throw new Error(`was silent; ${String(answers.length)} answers before that`);
}
