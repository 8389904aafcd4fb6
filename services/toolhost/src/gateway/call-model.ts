import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { worstCost } from '@suzumio/core/budgets/model-cost';
import { type Candidate, candidatesFor, presetOf } from '@suzumio/core/budgets/presets';
import { externalEngine } from '@suzumio/protocol/handlers';
import type { AnswerReading, AnswerReference, ChatPurpose } from '@suzumio/protocol/model-chat';
import { backOff } from '@suzumio/protocol/retry';
import { authorizeTool, rejected } from '@suzumio/store/turns/authorize';
import { configOfTurn } from '@suzumio/store/turns/turn-config';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { attemptRow } from '@suzumio/store/rows';
import { beginModelCall, type ModelQuestion } from '@suzumio/store/models/begin-model-call';
import type { RecordedAnswer } from '@suzumio/store/journal';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import { lastAnsweringPreset, readingAt, referenceTo } from '@suzumio/store/turns/repeated-answers';
import type { PresentedToken } from '../auth.js';
import { closed } from '../bodies/close-of.js';
import type { Question } from '../bodies/question.js';
import { contentOf } from '../content.js';
import type { ToolhostContext } from '../context.js';
import { AskedAnswers } from './asked-answers.js';
import { costSoFar } from './call-cost.js';
import { callLeaseMs, pollInterval, writePaid } from './call-lease.js';
import { withCountedPrices } from './candidates.js';
import { ShownImages } from './shown-images.js';
import { ModelCall } from './model-call.js';

/** The caller that waits for an answer. */
export interface Asker {
  /** Whether it has disconnected. */
  readonly gone: boolean;
  /** Gets the text of the first provider's answer while it comes; another's may differ from it. */
  onText(text: string): void;
}

/** What a question is asked for, and where in its turn. */
export interface AskedPlace {
  step: string | undefined;
  purpose: ChatPurpose;
  /** Why the workspace could not be captured before it, if it could not. */
  uncaptured: string | undefined;
}

/**
 * Answers a runner's model call: from the journal, or by calling the agent's providers in order. A call that was begun
 * is finished and journaled, even if its caller disconnects. A queued call is dropped then.
 *
 * @throws SuzumioError `token-rejected`, `journal-mismatch`, `preset-unknown`, `disk-reserve`, `content-missing`, `answer-unknown`; `provider-unavailable`,
 *   `provider-refused`, `policy-denied`, `budget-reached` and `step-limit-reached`, which have ended the attempt
 */
export async function callModel(
  context: ToolhostContext,
  token: PresentedToken,
  { step, purpose, uncaptured }: AskedPlace,
  asked: Question,
  asker: Asker,
): Promise<{
  result: RecordedAnswer;
  reference: AnswerReference | undefined;
  reading: AnswerReading | null | undefined;
}> {
  return context.cell.stores.use(token.project, async (store) => {
    const { agent } = authorizeTool(store.reader, token);
    // Handlers call models of their own: this host's keys are not for them.
    if (attemptRow(store.reader, token.turn, token.attempt)?.engine === externalEngine) throw rejected();
    context.cell.disk.require('rows');
    const config = configOfTurn(store.reader, store, token.turn);
    const inOrder = lastAnsweredFirst(store.reader, token.turn, candidatesFor(config, agent, asked.model));
    const candidates = withCountedPrices(context, token.project, inOrder);
    const images = ShownImages.of(store.reader, token.turn, asked.images, contentOf(context, token.project));
    const answers = AskedAnswers.of(store.reader, agent, asked.answers);
    const size = { bytes: asked.askedBytes + answers.bytes, images: images.sizes };
    const question: ModelQuestion = {
      turn: token.turn,
      attempt: token.attempt,
      tokenHash: token.tokenHash,
      step,
      purpose,
      uncaptured,
      requestHash: asked.requestHash,
      preset: asked.model ?? presetOf(config, agent) ?? '',
      worst: worstCost(candidates, size),
      read: asked.read,
      sent: costSoFar(candidates[0], { asked: size, answerChars: 0 }),
    };
    const begun = await beginCall(context, store, question, asker);
    const made =
      'result' in begun
        ? begun.result
        : await new ModelCall(context, store, {
            ...begun,
            purpose,
            token,
            worst: question.worst,
            size,
            images,
            answers,
          }).make(candidates, asked.request, (text) => {
            asker.onText(text);
          });
    return {
      result: made,
      reference: referenceTo(store.reader, token.turn, begun.step),
      reading: readingAt(store.reader, token.turn, begun.step),
    };
  });
}

/** Within a turn the candidate that answered last is asked first: it has the thoughts that it goes on from. */
function lastAnsweredFirst(reader: SqlReader, turn: string, candidates: readonly Candidate[]): Candidate[] {
  const last = lastAnsweringPreset(reader, turn);
  const isLast = ({ preset }: Candidate) => preset === last;
  return [...candidates.filter(isLast), ...candidates.filter((candidate) => !isLast(candidate))];
}

/**
 * Begins a call, or finds its answer. Waits for another process that makes the same call, and for reservations of other
 * calls.
 */
async function beginCall(
  context: ToolhostContext,
  store: ProjectStore,
  { step: named, ...question }: ModelQuestion,
  asker: Asker,
): Promise<{ call: string; step: string } | { result: RecordedAnswer; step: string }> {
  let step = named;
  for (const wait = backOff(pollInterval); ;) {
    const untilMs = context.cell.context.now() + callLeaseMs;
    const begun = await store.write((tx) =>
      beginModelCall(tx, { ...question, step }, { owner: context.owner, untilMs }),
    );
    if (context.dayLimitNanoUsd !== undefined) {
      for (const { call, nanoUsd } of begun.lost ?? []) {
        await writePaid(() => context.cell.catalog.spending.settle(call, nanoUsd));
      }
    }
    if (begun.state === 'recorded') return { result: begun.result, step: begun.step };
    if (begun.state === 'begun') {
      const { reading } = begun;
      if (reading !== undefined && reading !== 'notes') context.metrics.answersAskedAgain.inc({ reading });
      return begun;
    }
    if (begun.state === 'refused') {
      context.transport.wake(store.project);
      throw new SuzumioError(begun.code, begun.message);
    }
    step = begun.step;
    await wait();
    if (asker.gone) throw closed;
  }
}
