import type { MockCondition, MockRule, MockScript } from '@suzumio/protocol/mock-script';
import type { RunnerTurnInput, TurnMail } from '@suzumio/protocol/runner';

/** The first rule of `script` for this turn's agent whose conditions hold. */
export function findRule(script: MockScript, { agent, turn }: RunnerTurnInput): MockRule | undefined {
  return script.find(
    (rule) =>
      (rule.agent === agent.id || rule.agent === agent.base) && (rule.when === undefined || holds(rule.when, turn)),
  );
}

function holds(when: MockCondition, turn: RunnerTurnInput['turn']): boolean {
  const { turn: number, attempt, ...ofMail } = when;
  if (number !== undefined && number !== turn.number) return false;
  if (attempt !== undefined && attempt !== turn.attempt) return false;
  return Object.keys(ofMail).length === 0 || (turn.mail ?? []).some((mail) => mailMeets(mail, ofMail));
}

function mailMeets(mail: TurnMail, when: Omit<MockCondition, 'turn' | 'attempt'>): boolean {
  const {
    from = mail.sender,
    contains = '',
    channel = mail.channel,
    kind = mail.kind,
    priority = mail.priority,
  } = when;
  return (
    mail.sender === from &&
    mail.body.includes(contains) &&
    mail.channel === channel &&
    mail.kind === kind &&
    mail.priority === priority
  );
}
