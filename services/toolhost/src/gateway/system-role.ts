import type { SystemRole } from '@suzumio/contract/model/models-config';
import type { AskedMessage } from './asked-answers.js';

/**
 * Messages with the system's under the role that a server takes. Strict servers refuse two messages of one role, so a text for a
 * user is put before that user's own.
 */
export function withSystemRole(
  messages: readonly AskedMessage[],
  role: SystemRole = 'system',
): readonly AskedMessage[] {
  if (role === 'system') return messages;
  const sent: AskedMessage[] = [];
  for (const message of messages) {
    const isSystem = message.role === 'system' || message.role === 'developer';
    const last = sent.at(-1);
    if (isSystem && role === 'developer') sent.push({ ...message, role });
    else if (role === 'user' && message.role === 'user' && last?.role === 'user')
      sent.splice(-1, 1, joined(last, message));
    else if (isSystem) sent.push({ ...message, role: 'user' });
    else sent.push(message);
  }
  return sent;
}

function joined(before: AskedMessage, after: AskedMessage): AskedMessage {
  const [one, other] = [before.content ?? '', after.content ?? ''];
  if (typeof one === 'string' && typeof other === 'string') return { role: 'user', content: `${one}\n\n${other}` };
  const content = [one, other].flatMap((part) =>
    typeof part === 'string' ? [{ type: 'text' as const, text: part }] : part,
  );
  return { role: 'user', content };
}
