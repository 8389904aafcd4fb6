import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { worstCost } from '@suzumio/core/budgets/model-cost';
import { type Candidate, candidatesFor, presetOf } from '@suzumio/core/budgets/presets';
import { countedPrice } from '@suzumio/core/policy/check-provider';
import { externalEngine } from '@suzumio/protocol/handlers';
import type { ChatPurpose } from '@suzumio/protocol/model-chat';
import { authorizeTool } from '@suzumio/store/turns/authorize';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { attemptRow } from '@suzumio/store/rows';
import { beginModelCall, type ModelQuestion, type RecordedAnswer } from '@suzumio/store/models/model-calls';
import { rejected } from '@suzumio/store/turns/authorize';
import { type PresentedToken } from '../auth.js';
import type { Question } from '../bodies/question.js';
import type { ToolhostContext } from '../context.js';
import { insist } from './insist.js';
import { lookingAgain } from './looking-again.js';
import { ModelCall, soFar } from './model-call.js';
import { ownerLeaseMs } from './owner-lease.js';

/** What a question came to, and under which step. */
export interface ModelOutcome {
  step: string;
  result: RecordedAnswer;
  /** Whether the answer was there already. */
  replayed: boolean;
}

/** Whoever waits for an answer. */
export interface Asker {
  /** Whether nobody does any more. */
  readonly gone: boolean;
  /** Gets the text of the first provider's answer while it comes; another's may differ from it. */
  onText(text: string): void;
}

/**
 * Answers a runner's question to its model: from the journal, or by asking the agent's providers in their order. A call
 * that was begun is finished and journaled, whatever becomes of who asked; one that waits to begin is not begun for nobody.
 *
 * @throws SuzumioError `token-rejected`, `journal-mismatch`, `preset-unknown`, `disk-reserve`; `provider-unavailable`, `provider-refused`,
 *   `policy-denied`, `budget-reached` and `step-limit-reached`, which have ended the attempt
 */
export async function callModel(
  context: ToolhostContext,
  token: PresentedToken,
  { step, purpose }: { step: string | undefined; purpose: ChatPurpose },
  asked: Question,
  asker: Asker,
): Promise<ModelOutcome> {
  return context.cell.stores.use(token.project, async (store) => {
    const { agent } = authorizeTool(store.reader, token);
    // A handler has a model of its own: this host's keys are not for it.
    if (attemptRow(store.reader, token.turn, token.attempt)?.engine === externalEngine) throw rejected();
    context.cell.disk.require('rows');
    const candidates = counted(context, token.project, candidatesFor(store.config, agent, asked.model));
    const { askedBytes } = asked;
    const question: ModelQuestion = {
      turn: token.turn,
      attempt: token.attempt,
      tokenHash: token.tokenHash,
      step,
      purpose,
      requestHash: asked.requestHash,
      preset: asked.model ?? presetOf(store.config, agent) ?? '',
      worst: worstCost(candidates, askedBytes),
      sent: soFar(candidates[0], { askedBytes, answerChars: 0 }),
    };
    const begun = await begin(context, store, question, asker);
    if ('result' in begun) return { ...begun, replayed: true };
    const call = new ModelCall(context, store, { ...begun, token, worst: question.worst, askedBytes });
    return {
      step: begun.step,
      result: await call.make(candidates, asked.request(), (text) => {
        asker.onText(text);
      }),
      replayed: false,
    };
  });
}

/** The candidates with the prices that they are counted by. */
function counted(context: ToolhostContext, project: string, candidates: readonly Candidate[]): Candidate[] {
  const policy = context.policyOf(project);
  const dayBudget = context.dayLimitNanoUsd !== undefined;
  return candidates.map((candidate) => {
    const settings = { ...candidate.settings };
    const price = countedPrice(policy, candidate, { dayBudget });
    if (price) settings.price = price;
    else delete settings.price;
    return { ...candidate, settings };
  });
}

/** Waits for whoever is asking the same, and for what others hold back. */
async function begin(
  context: ToolhostContext,
  store: ProjectStore,
  { step: named, ...question }: ModelQuestion,
  asker: Asker,
): Promise<{ call: string; step: string } | { step: string; result: RecordedAnswer }> {
  let step = named;
  for (const lookAgain = lookingAgain(); ;) {
    const untilMs = context.cell.context.now() + ownerLeaseMs;
    const begun = await store.write((tx) =>
      beginModelCall(tx, { ...question, step }, { owner: context.owner, untilMs }),
    );
    if (context.dayLimitNanoUsd !== undefined) {
      for (const { call, nanoUsd } of begun.lost ?? []) {
        await insist(() => context.cell.catalog.spending.settle(call, nanoUsd));
      }
    }
    if (begun.state === 'recorded') return { step: begun.step, result: begun.result };
    if (begun.state === 'begun') return begun;
    if (begun.state === 'refused') {
      context.transport.wake(store.project);
      throw new SuzumioError(begun.code, begun.message);
    }
    step = begun.step;
    await lookAgain();
    if (asker.gone) throw new SuzumioError('invalid-request', 'Whoever asked this has gone.');
  }
}
