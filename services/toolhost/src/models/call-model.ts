import { setTimeout as sleep } from 'node:timers/promises';
import { isSuzumioError, SuzumioError } from '@suzumio/shared/errors/suzumio-error';
import { type DayBudget, dayBudget, daySpentMessage } from '@suzumio/shared/model/day-budget';
import { type Cost, costOf, dollars, worstCost } from '@suzumio/shared/model/model-cost';
import { type Candidate, candidatesFor, presetOf } from '@suzumio/shared/model/presets';
import { estimatedTokens } from '@suzumio/shared/protocol/estimated-tokens';
import { externalEngine } from '@suzumio/shared/protocol/handlers';
import type { ChatPurpose, ChatRequest, ModelAnswer } from '@suzumio/shared/protocol/model-chat';
import { providerDenial } from '@suzumio/shared/policy/check-provider';
import { authorizeTool } from '@suzumio/shared/store/authorize';
import type { ProjectStore } from '@suzumio/shared/store/project-store';
import { hasBudget } from '@suzumio/shared/store/queries/budget-of';
import { attemptRow } from '@suzumio/shared/store/rows';
import type { Tx } from '@suzumio/shared/store/tx';
import {
  type AnsweredBy,
  beginModelCall,
  chargeModelCall,
  dropModelCall,
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
import { AskProgress } from './ask-progress.js';
import { askProvider } from './ask-provider.js';
import { AllAway, type Away, DaySpent, endingOf, Refused } from './call-ending.js';
import { ProviderFailure } from './provider-failure.js';
import { endpointOf, providerRequest } from './provider-request.js';

/** How long a process that makes a call is believed without a word, and how often it gives one. */
const ownerLeaseMs = 20_000;
const ownerBeatMs = 5_000;
/** Whoever waits for others looks again after this, and less often the longer it takes. */
const lookAgainMs = { first: 200, most: 1_000 };

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
      sent: soFar(candidates[0], { askedBytes, answerChars: 0 }),
    };
    const begun = await begin(context, store, question);
    if ('result' in begun) return { ...begun, replayed: true };
    const call = new ModelCall(context, store, { ...begun, token, worst: question.worst, askedBytes });
    return { step: begun.step, result: await call.make(candidates, request, onText), replayed: false };
  });
}

/** Waits for whoever is asking the same, and for what others hold back. */
async function begin(
  context: ToolhostContext,
  store: ProjectStore,
  { step: named, ...question }: ModelQuestion,
): Promise<{ call: string; step: string } | { step: string; result: RecordedAnswer }> {
  let step = named;
  for (const lookAgain = lookingAgain(); ;) {
    const untilMs = context.cell.context.now() + ownerLeaseMs;
    const begun = await store.write((tx) =>
      beginModelCall(tx, { ...question, step }, { owner: context.owner, untilMs }),
    );
    if (context.dayLimitNanoUsd !== undefined) {
      for (const { call, nanoUsd } of begun.lost ?? []) await context.cell.catalog.spending.settle(call, nanoUsd);
    }
    if (begun.state === 'recorded') return { step: begun.step, result: begun.result };
    if (begun.state === 'begun') return begun;
    if (begun.state === 'refused') {
      context.transport.wake(store.project);
      throw new SuzumioError(begun.code, begun.message);
    }
    step = begun.step;
    await lookAgain();
  }
}

/** Waits longer each time. */
function lookingAgain(): () => Promise<void> {
  let ms = lookAgainMs.first;
  return async () => {
    await sleep(ms);
    ms = Math.min(1.5 * ms, lookAgainMs.most);
  };
}

/** One call that this process makes. */
class ModelCall {
  readonly #call: string;
  /** Who is being asked, and how far that has come. */
  #asking: { candidate: Candidate; provider: string; progress: AskProgress; probe: boolean } | undefined;
  /** Whether the day's budget holds something back for it, and what its answer has cost. */
  #heldForTheDay = false;
  #costNanoUsd = 0;
  /** Why no other of its candidates is asked any more. */
  #exhausted: Error | undefined;

  constructor(
    private readonly context: ToolhostContext,
    private readonly store: ProjectStore,
    private readonly asked: { call: string; step: string; token: PresentedToken; worst: Cost; askedBytes: number },
  ) {
    this.#call = asked.call;
  }

  async make(
    candidates: readonly Candidate[],
    request: ChatRequest,
    onText: (text: string) => void,
  ): Promise<RecordedAnswer> {
    let beating = Promise.resolve();
    const beat = setInterval(() => {
      beating = this.#stillHere();
    }, ownerBeatMs);
    try {
      await this.#holdForTheDay(candidates);
      const { answer, by } = await this.#ask(candidates, request, onText);
      this.#costNanoUsd = by.cost.nanoUsd;
      return await this.#insist((tx) => recordModelAnswer(tx, this.#call, answer, by));
    } catch (error) {
      return await this.#failed(error);
    } finally {
      clearInterval(beat);
      await beating;
      await this.#settle();
    }
  }

  async #ask(
    candidates: readonly Candidate[],
    request: ChatRequest,
    onText: (text: string) => void,
  ): Promise<{ answer: ModelAnswer; by: AnsweredBy }> {
    const away: Away[] = [];
    for (const candidate of candidates) {
      if (this.#exhausted) throw this.#exhausted;
      const asked = await this.#askOne(candidate, request, away, away.length === 0 ? onText : () => undefined);
      if (!('untilMs' in asked)) return asked;
      away.push(asked);
    }
    throw new AllAway(away);
  }

  async #askOne(
    candidate: Candidate,
    request: ChatRequest,
    away: readonly Away[],
    onText: (text: string) => void,
  ): Promise<{ answer: ModelAnswer; by: AnsweredBy } | Away> {
    const { metrics, cell } = this.context;
    const { providers } = cell.catalog;
    this.#refuseByPolicy(candidate);
    const { key: provider, ...endpoint } = endpointOf(candidate, this.context.secrets);
    const asking = providerRequest(candidate, { ...endpoint, key: provider }, request, {
      place: this.asked.step,
      budgeted: this.#budgeted(),
    });
    // What failed one of its models may have others that answer: whoever asked the one may ask those.
    const another = away.some((one) => one.provider === provider && one.asked !== undefined);
    const admission = another
      ? ({ ask: true, probe: false } as const)
      : await providers.admit(provider, ownerLeaseMs, this.#call);
    if (!admission.ask) {
      metrics.modelCalls.inc({ outcome: 'held-back' });
      return { provider, untilMs: admission.untilMs, error: admission.lastError };
    }
    const begun = performance.now();
    let told = Promise.resolve();
    const progress = new AskProgress(() => {
      if (admission.probe) told = this.#try(() => providers.answering(provider, this.#call));
    });
    this.#asking = { candidate, provider, progress, probe: admission.probe };
    try {
      const answer = await askProvider(asking, onText, progress);
      await told;
      await this.#try(() => providers.answered(provider));
      metrics.modelCalls.inc({ outcome: 'answered' });
      metrics.modelDuration.observeMs({}, performance.now() - begun);
      return { answer, by: answeredBy(candidate, provider, answer, this.asked.askedBytes) };
    } catch (error) {
      await told;
      if (!(error instanceof ProviderFailure)) throw error;
      metrics.modelCalls.inc({ outcome: error.kind === 'unavailable' ? 'unavailable' : 'refused' });
      const { message, retryAfterMs } = error;
      if (error.kind !== 'unavailable') {
        // It is there and answers, which is all that those who wait for it want to know.
        await this.#try(() => providers.answered(provider));
        await this.#charge();
        throw new Refused(error, candidate, provider);
      }
      const { untilMs, sinceMs } = await providers.failed(provider, message, retryAfterMs);
      this.context.logger.warn({ provider, preset: candidate.preset, untilMs }, message);
      await this.#charge();
      const mayBeItsFault = retryAfterMs === undefined && progress.mayBeItsFault;
      return { provider, untilMs, error: message, asked: { sinceMs, mayBeItsFault } };
    } finally {
      this.#asking = undefined;
    }
  }

  /** Pays for what a provider did before it came to nothing, and sees whether that leaves room for another. */
  async #charge(): Promise<void> {
    const by = this.#soFar();
    if (!by || this.#asking?.progress.paidFor !== true) return;
    const exhausted = await this.#insist((tx) => chargeModelCall(tx, this.#call, by));
    if (exhausted) this.#exhausted = new SuzumioError('budget-reached', exhausted.message);
    const { dayLimitNanoUsd: limit, cell } = this.context;
    if (limit === undefined || !this.#heldForTheDay) return;
    const now = await insist(() => cell.catalog.spending.spend(by.cost.nanoUsd));
    if (now.spentNanoUsd + this.asked.worst.nanoUsd > limit)
      this.#exhausted ??= daySpent(dayBudget(now, limit), this.asked.worst);
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

  /**
   * Holds back its worst cost from what the day may cost, and waits where only what other calls hold back is in its way.
   *
   * @throws SuzumioError `budget-reached` where no day has room for it, `token-rejected` where its attempt has ended
   * @throws DaySpent
   */
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
    if (nanoUsd > limit) {
      throw new SuzumioError(
        'budget-reached',
        `The day's budget of all projects, ${dollars(limit)}, has no room for this call on any day: it may cost ${dollars(nanoUsd)}.`,
      );
    }
    for (const lookAgain = lookingAgain(); ;) {
      const over = await cell.catalog.spending.hold(this.#call, nanoUsd, limit, cell.context.now() + ownerLeaseMs);
      if (!over) {
        this.#heldForTheDay = true;
        return;
      }
      if (over.spentNanoUsd + nanoUsd > limit) throw daySpent(dayBudget(over, limit), this.asked.worst);
      authorizeTool(this.store.reader, this.asked.token);
      await lookAgain();
    }
  }

  /** What the call has cost is the day's, and what it held back no longer is. */
  async #settle(): Promise<void> {
    if (!this.#heldForTheDay) return;
    const { spending } = this.context.cell.catalog;
    await this.#try(() => insist(() => spending.settle(this.#call, this.#costNanoUsd)));
  }

  #insist<Result>(verb: (tx: Tx) => Result): Promise<Result> {
    return insist(() => this.store.write(verb));
  }

  async #stillHere(): Promise<void> {
    const untilMs = this.context.cell.context.now() + ownerLeaseMs;
    const { providers, spending } = this.context.cell.catalog;
    await this.#try(async () => {
      await this.store.write((tx) => extendModelCall(tx, this.#call, untilMs, this.#soFar()));
      if (this.#heldForTheDay) {
        await spending.hold(this.#call, this.asked.worst.nanoUsd, Number.MAX_SAFE_INTEGER, untilMs);
      }
      if (this.#asking?.probe === true) await providers.stillTrying(this.#asking.provider, this.#call, ownerLeaseMs);
    });
  }

  /** Does what is only of use to others: what becomes of the call does not hang on it. */
  async #try(tell: () => Promise<unknown>): Promise<void> {
    try {
      await tell();
    } catch (error) {
      this.context.logger.warn({ err: error, call: this.#call }, 'could not say how far a call of a model has come');
    }
  }

  #soFar(): AnsweredBy | undefined {
    const asking = this.#asking;
    if (!asking) return undefined;
    const size = { askedBytes: this.asked.askedBytes, answerChars: asking.progress.chars };
    return { ...soFar(asking.candidate, size), provider: asking.provider };
  }

  /** What cannot be answered as it is becomes the step's result; everything else ends the attempt. */
  async #failed(error: unknown): Promise<RecordedAnswer> {
    if (error instanceof Refused && error.failure.kind === 'context-overflow') {
      return this.store.write((tx) => recordModelRefusal(tx, this.#call, 'context-overflow', error.message));
    }
    if (isSuzumioError(error, 'token-rejected')) {
      await this.#insist((tx) => {
        dropModelCall(tx, this.#call);
      });
      throw error;
    }
    const ending = endingOf(error);
    // Something of ours broke: the runner asks again, and so does whoever finds this call without an owner.
    if (!ending) throw error;
    await this.#insist((tx) => {
      failModelCall(tx, this.#call, ending);
    });
    this.context.transport.wake(this.store.project);
    throw new SuzumioError(ending.code, ending.failure.message, {}, { cause: error });
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

/** What a question comes to with so much of its answer, for want of the provider's own counting. */
function soFar(
  candidate: Candidate | undefined,
  { askedBytes, answerChars }: { askedBytes: number; answerChars: number },
): Omit<AnsweredBy, 'provider'> {
  const usage = { inputTokens: estimatedTokens(askedBytes), outputTokens: estimatedTokens(answerChars) };
  return {
    preset: candidate?.preset ?? '',
    model: candidate?.settings.model ?? '',
    cost: costOf(candidate?.settings ?? {}, usage),
    ...usage,
    estimated: true,
  };
}

function daySpent(day: DayBudget, { nanoUsd }: Cost): DaySpent {
  return new DaySpent(day, `${daySpentMessage(day)} This call may cost ${dollars(nanoUsd)}.`);
}

/** What was paid for is kept: a busy store is no reason to lose it. */
async function insist<Result>(write: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (!isSuzumioError(error, 'store-busy') || attempt === 10) throw error;
    }
  }
}
