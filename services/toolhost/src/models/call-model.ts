import { setTimeout as sleep } from 'node:timers/promises';
import { isSuzumioError, SuzumioError } from '@suzumio/shared/errors/suzumio-error';
import { type Cost, costOf, worstCost } from '@suzumio/shared/model/model-cost';
import { type Candidate, candidatesFor, presetOf } from '@suzumio/shared/model/presets';
import { estimatedTokens } from '@suzumio/shared/protocol/estimated-tokens';
import { externalEngine } from '@suzumio/shared/protocol/handlers';
import type { ChatPurpose, ChatRequest, ModelAnswer } from '@suzumio/shared/protocol/model-chat';
import { providerDenial } from '@suzumio/shared/policy/check-provider';
import { authorizeTool } from '@suzumio/shared/store/authorize';
import type { ProjectStore } from '@suzumio/shared/store/project-store';
import { hasBudget } from '@suzumio/shared/store/queries/budget-of';
import { dollars } from '@suzumio/shared/store/queries/usage';
import { attemptRow } from '@suzumio/shared/store/rows';
import type { Tx } from '@suzumio/shared/store/tx';
import {
  type AnsweredBy,
  beginModelCall,
  extendModelCall,
  failModelCall,
  type ModelQuestion,
  type RecordedAnswer,
  recordModelAnswer,
  recordModelRefusal,
} from '@suzumio/shared/store/verbs/model-calls';
import { type PresentedToken, rejected } from '../auth.js';
import type { ToolhostContext } from '../context.js';
import { requestHash } from '@suzumio/shared/store/request-hash';
import { askProvider } from './ask-provider.js';
import { AllAway, type Away, endingOf, Refused } from './call-ending.js';
import { ProviderFailure } from './provider-failure.js';
import { endpointOf, providerRequest } from './provider-request.js';

/** How long a process that makes a call is believed without a word, and how often it gives one. */
const ownerLeaseMs = 20_000;
const ownerBeatMs = 5_000;
const lookAgainMs = 200;

/** What a question came to, and under which step. */
export interface ModelOutcome {
  step: string;
  result: RecordedAnswer;
  /** Whether the answer was there already. */
  replayed: boolean;
}

/**
 * Answers a runner's question to its model: from the journal, or by asking the agent's providers in their order. A call
 * that was begun is finished and journaled, whatever becomes of who asked.
 *
 * @param onText gets the text of the first provider's answer while it comes; another's may differ from it
 * @throws SuzumioError `token-rejected`, `journal-mismatch`, `preset-unknown`; `provider-unavailable`, `provider-refused`,
 *   `policy-denied`, `budget-reached` and `step-limit-reached`, which have ended the attempt
 */
export async function callModel(
  context: ToolhostContext,
  token: PresentedToken,
  { step, purpose }: { step: string | undefined; purpose: ChatPurpose },
  request: ChatRequest,
  onText: (text: string) => void,
): Promise<ModelOutcome> {
  return context.cell.stores.use(token.project, async (store) => {
    const { agent } = authorizeTool(store.reader, token);
    // A handler has a model of its own: this host's keys are not for it.
    if (attemptRow(store.reader, token.turn, token.attempt)?.engine === externalEngine) throw rejected();
    const candidates = candidatesFor(store.config, agent, request.model);
    const asked = { messages: request.messages, tools: request.tools ?? [] };
    const askedBytes = Buffer.byteLength(JSON.stringify(asked));
    const question: ModelQuestion = {
      turn: token.turn,
      attempt: token.attempt,
      tokenHash: token.tokenHash,
      step,
      purpose,
      requestHash: requestHash(purpose, asked),
      preset: request.model ?? presetOf(store.config, agent) ?? '',
      worst: worstCost(candidates, askedBytes),
    };
    const begun = await begin(context, store, question);
    if ('result' in begun) return { ...begun, replayed: true };
    const call = new ModelCall(context, store, { ...begun, worst: question.worst, askedBytes });
    return { step: begun.step, result: await call.make(candidates, request, onText), replayed: false };
  });
}

/** Waits for whoever is asking the same. */
async function begin(
  context: ToolhostContext,
  store: ProjectStore,
  question: ModelQuestion,
): Promise<{ call: string; step: string } | { step: string; result: RecordedAnswer }> {
  for (;;) {
    const untilMs = context.cell.context.now() + ownerLeaseMs;
    const begun = await store.write((tx) => beginModelCall(tx, question, { owner: context.owner, untilMs }));
    if (begun.state === 'recorded') return { step: begun.step, result: begun.result };
    if (begun.state === 'begun') return begun;
    if (begun.state === 'refused') {
      context.transport.wake(store.project);
      throw new SuzumioError(begun.code, begun.message);
    }
    await sleep(lookAgainMs);
  }
}

/** One call that this process makes. */
class ModelCall {
  readonly #call: string;

  constructor(
    private readonly context: ToolhostContext,
    private readonly store: ProjectStore,
    private readonly asked: { call: string; step: string; worst: Cost; askedBytes: number },
  ) {
    this.#call = asked.call;
  }

  async make(
    candidates: readonly Candidate[],
    request: ChatRequest,
    onText: (text: string) => void,
  ): Promise<RecordedAnswer> {
    const { spending } = this.context.cell.catalog;
    let beating = Promise.resolve();
    const beat = setInterval(() => {
      beating = this.#stillHere();
    }, ownerBeatMs);
    let spentNanoUsd = 0;
    try {
      await this.#holdForTheDay(candidates);
      const { answer, by } = await this.#ask(candidates, request, onText);
      spentNanoUsd = by.cost.nanoUsd;
      return await this.#insist((tx) => recordModelAnswer(tx, this.#call, answer, by));
    } catch (error) {
      return await this.#failed(error);
    } finally {
      clearInterval(beat);
      await beating;
      if (this.context.dayLimitNanoUsd !== undefined) await spending.settle(this.#call, spentNanoUsd);
    }
  }

  async #ask(
    candidates: readonly Candidate[],
    request: ChatRequest,
    onText: (text: string) => void,
  ): Promise<{ answer: ModelAnswer; by: AnsweredBy }> {
    const away: Away[] = [];
    for (const candidate of candidates) {
      const asked = await this.#askOne(candidate, request, away.length === 0 ? onText : () => undefined);
      if (!('untilMs' in asked)) return asked;
      away.push(asked);
    }
    throw new AllAway(away);
  }

  async #askOne(
    candidate: Candidate,
    request: ChatRequest,
    onText: (text: string) => void,
  ): Promise<{ answer: ModelAnswer; by: AnsweredBy } | Away> {
    const { metrics, cell } = this.context;
    this.#refuseByPolicy(candidate);
    const endpoint = endpointOf(candidate, this.context.secrets);
    const asking = providerRequest(candidate, endpoint, request, {
      place: this.asked.step,
      budgeted: this.#budgeted(),
    });
    const admission = await cell.catalog.providers.admit(endpoint.key, asking.timeoutMs);
    if (!admission.ask) {
      metrics.modelCalls.inc({ outcome: 'held-back' });
      return { provider: endpoint.key, untilMs: admission.untilMs, error: admission.lastError };
    }
    const begun = performance.now();
    try {
      const answer = await askProvider(asking, onText);
      await cell.catalog.providers.answered(endpoint.key);
      metrics.modelCalls.inc({ outcome: 'answered' });
      metrics.modelDuration.observeMs({}, performance.now() - begun);
      return { answer, by: answeredBy(candidate, endpoint.key, answer, this.asked.askedBytes) };
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error;
      metrics.modelCalls.inc({ outcome: error.kind === 'unavailable' ? 'unavailable' : 'refused' });
      const { message, retryAfterMs } = error;
      if (error.kind !== 'unavailable') {
        // It is there and answers, which is all that those who wait for it want to know.
        await cell.catalog.providers.answered(endpoint.key);
        throw new Refused(error, candidate, endpoint.key);
      }
      const untilMs = await cell.catalog.providers.failed(endpoint.key, message, retryAfterMs);
      this.context.logger.warn({ provider: endpoint.key, preset: candidate.preset, untilMs }, message);
      return { provider: endpoint.key, untilMs, error: message };
    }
  }

  /**
   * The policy may have changed since the project was made, and is asked before any key is read.
   *
   * @throws SuzumioError `policy-denied`
   */
  #refuseByPolicy({ preset, settings, provider }: Candidate): void {
    const denied = providerDenial(this.context.policyOf(this.store.project), provider);
    if (!denied) return;
    throw new SuzumioError(
      'policy-denied',
      `The policy does not allow provider "${settings.provider}" of preset ${preset}: ${denied.field}: ${denied.message} (policy: providers).`,
    );
  }

  #budgeted(): boolean {
    return this.context.dayLimitNanoUsd !== undefined || hasBudget(this.store.reader, this.store.config);
  }

  /** @throws SuzumioError `budget-reached` */
  async #holdForTheDay(candidates: readonly Candidate[]): Promise<void> {
    const { dayLimitNanoUsd: limit, cell } = this.context;
    if (limit === undefined) return;
    const unpriced = candidates.find(({ settings }) => settings.price === undefined);
    if (unpriced) {
      throw new SuzumioError(
        'budget-reached',
        `The day's budget of all projects cannot be kept: preset ${unpriced.preset} has no price; price: { input: 0, output: 0 } says that it costs nothing.`,
      );
    }
    const { nanoUsd } = this.asked.worst;
    const over = await cell.catalog.spending.hold(this.#call, nanoUsd, limit, cell.context.now() + ownerLeaseMs);
    if (!over) return;
    throw new SuzumioError(
      'budget-reached',
      `The day's budget of all projects, ${dollars(limit)}, is reached: ${dollars(over.spentNanoUsd)} is spent, ${dollars(over.heldNanoUsd)} held back by calls that run, and this call may cost ${dollars(nanoUsd)}.`,
    );
  }

  /** An answer has been paid for: a busy store is no reason to lose it. */
  async #insist<Result>(verb: (tx: Tx) => Result): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.store.write(verb);
      } catch (error) {
        if (!isSuzumioError(error, 'store-busy') || attempt === 10) throw error;
      }
    }
  }

  async #stillHere(): Promise<void> {
    const untilMs = this.context.cell.context.now() + ownerLeaseMs;
    try {
      await this.store.write((tx) => extendModelCall(tx, this.#call, untilMs));
      const { dayLimitNanoUsd: limit, cell } = this.context;
      if (limit !== undefined) {
        await cell.catalog.spending.hold(this.#call, this.asked.worst.nanoUsd, Number.MAX_SAFE_INTEGER, untilMs);
      }
    } catch (error) {
      // The next beat says it again, and the answer is journaled whether others believed in it or not.
      this.context.logger.debug({ err: error, call: this.#call }, 'could not say that a model is still being asked');
    }
  }

  /** What cannot be answered as it is becomes the step's result; everything else ends the attempt. */
  async #failed(error: unknown): Promise<RecordedAnswer> {
    if (error instanceof Refused && error.failure.kind === 'context-overflow') {
      return this.store.write((tx) => recordModelRefusal(tx, this.#call, 'context-overflow', error.message));
    }
    const ending = endingOf(error);
    // Something of ours broke: the runner asks again, and so does whoever finds this call without an owner.
    if (!ending) throw error;
    const { failure, code, wait } = ending;
    await this.#insist((tx) => failModelCall(tx, this.#call, failure, wait));
    this.context.transport.wake(this.store.project);
    throw new SuzumioError(code, failure.message, {}, { cause: error });
  }
}

function answeredBy(
  { preset, settings }: Candidate,
  provider: string,
  answer: ModelAnswer,
  askedBytes: number,
): AnsweredBy {
  const written = JSON.stringify([answer.text, answer.toolCalls]);
  const usage = answer.usage ?? {
    inputTokens: estimatedTokens(askedBytes),
    outputTokens: estimatedTokens(Buffer.byteLength(written)),
  };
  return {
    preset,
    provider,
    model: answer.model ?? settings.model,
    cost: costOf(settings, usage),
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    estimated: answer.usage === undefined,
  };
}
