import type { Client } from '@suzumio/contract/client/client';
import { untilReply } from '@suzumio/contract/client/until-reply';
import type { ReplyAnswer } from '@suzumio/contract/model/reply';
import { visibleLines } from '@suzumio/core/prompt/body';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { say, sayJson, type Session } from '../session.js';

/**
 * Waits for the reply to a message and prints it, so that a script has nothing else on its standard output. Why there is
 * none goes to standard error.
 */
export async function awaitReply(
  session: Session,
  api: Client,
  { project, message, timeoutMs }: { project: string; message: string; timeoutMs: number },
): Promise<ExitCode> {
  const { interrupted } = session.context;
  const answer = await untilReply(api, { project, message, timeoutMs, signal: interrupted }).catch((error: unknown) => {
    if (!interrupted.aborted) throw error;
    return { message, state: 'waiting', reply: null, reasons: [] } satisfies ReplyAnswer;
  });
  sayJson(session, answer);
  if (answer.reply !== null) {
    say(session, ...visibleLines(answer.reply.body.trimEnd()));
    return exitCodes.ok;
  }
  if (!session.json) tellWhyNone(session, project, answer);
  return answer.state === 'waiting' ? exitCodes.timedOut : exitCodes.refused;
}

function tellWhyNone({ context, suzumio }: Session, project: string, { message, state, reasons }: ReplyAnswer): void {
  const lines =
    state === 'waiting'
      ? [`${message} has no reply yet; one may still come.`]
      : [
          `No reply to ${message} is expected for now.`,
          ...reasons.map(({ agent, sentence }) => `${agent === null ? '' : `${agent}: `}${sentence}`),
        ];
  const next = reasons.find((reason) => reason.next !== null)?.next ?? `messages show ${project} ${message}`;
  context.err.write(`${lines.flatMap(visibleLines).join('\n')}\nnext: ${suzumio} ${next}\n`);
}
