import { isSuzumioError, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { type Cost, costOf } from '@suzumio/core/budgets/model-cost';
import type { Candidate } from '@suzumio/core/budgets/presets';
import { allowedProvider, modelDenial, priceDenial, providerDenial } from '@suzumio/core/policy/check-provider';
import { estimatedTokens } from '@suzumio/protocol/estimated-tokens';
import type { ChatRequest, ModelAnswer } from '@suzumio/protocol/model-chat';
import { authorizeTool } from '@suzumio/store/turns/authorize';
import type { Caller } from '@suzumio/store/models/providers';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { hasBudget } from '@suzumio/store/budgets/budget-of';
import type { Tx } from '@suzumio/store/sqlite/tx';
import type { AnsweredBy } from '@suzumio/store/models/model-call-costs';
import {
  chargeModelCall,
  dropModelCall,
  extendModelCall,
  failModelCall,
  type RecordedAnswer,
  recordModelAnswer,
  recordModelRefusal,
} from '@suzumio/store/models/model-calls';
import { refuseUnmadeCalls } from '@suzumio/store/models/refuse-unmade-calls';
import type { PresentedToken } from '../auth.js';
import type { ToolhostContext } from '../context.js';
import { AskProgress } from './ask-progress.js';
import { askProvider } from './ask-provider.js';
import { AllAway, type Away, endingOf, Refused } from './call-ending.js';
import { DayHold } from './day-hold.js';
import { insist } from './insist.js';
import { ownerBeatMs, ownerLeaseMs } from './owner-lease.js';
import { ProviderFailure } from './provider-failure.js';
import { endpointOf, providerRequest } from './provider-request.js';

/** A provider's silence says something of it once it is this long, unless the policy says otherwise. */
const defaultSilenceMs = 2 * 60_000;

/** One call that this process makes. */
export class ModelCall {
  readonly #call: string;
  /** Who is being asked, and how far that has come. */
  #asking:
    | { candidate: Candidate; provider: string; caller: Caller; progress: AskProgress; probe: boolean; sinceMs: number }
    | undefined;
  readonly #day: DayHold;
  #costNanoUsd = 0;
  /** Why no other of its candidates is asked any more. */
  #exhausted: Error | undefined;

  constructor(
    private readonly context: ToolhostContext,
    private readonly store: ProjectStore,
    private readonly asked: { call: string; step: string; token: PresentedToken; worst: Cost; askedBytes: number },
  ) {
    this.#call = asked.call;
    this.#day = new DayHold(context, asked.call, asked.worst.nanoUsd);
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
      for (const candidate of candidates) this.#refuseUncounted(candidate);
      await this.#day.begin(() => authorizeTool(this.store.reader, this.asked.token));
      const { answer, by } = await this.#ask(candidates, request, onText);
      const offered = new Set(request.tools?.map((tool) => tool.function.name));
      this.#costNanoUsd = by.cost.nanoUsd;
      return await this.#insist((tx) => {
        const recorded = recordModelAnswer(tx, this.#call, answer, by);
        // Another process may have journaled another answer, with the calls that count.
        const counts = recorded.ok && recorded.answer === answer && recorded.summary !== true;
        if (counts) refuseUnmadeCalls(tx, this.#call, answer.toolCalls, offered);
        return recorded;
      });
    } catch (error) {
      return await this.#failed(error);
    } finally {
      clearInterval(beat);
      await beating;
      await this.#try(() => this.#day.end(this.#costNanoUsd));
    }
  }

  async #ask(
    candidates: readonly Candidate[],
    request: ChatRequest,
    onText: (text: string) => void,
  ): Promise<{ answer: ModelAnswer; by: AnsweredBy }> {
    const away: Away[] = [];
    let spent: Refused | undefined;
    for (const [index, candidate] of candidates.entries()) {
      if (this.#exhausted) throw this.#exhausted;
      try {
        const asked = await this.#askOne(candidate, request, index === 0 ? onText : () => undefined);
        if (!('untilMs' in asked)) return asked;
        away.push(asked);
      } catch (error) {
        // Another may have credit; waiting brings none.
        if (!(error instanceof Refused) || error.failure.kind !== 'quota-spent') throw error;
        spent = error;
      }
    }
    if (spent && away.length === 0) throw spent;
    throw new AllAway(away);
  }

  async #askOne(
    candidate: Candidate,
    request: ChatRequest,
    onText: (text: string) => void,
  ): Promise<{ answer: ModelAnswer; by: AnsweredBy } | Away> {
    const { metrics, cell } = this.context;
    const { providers } = cell.catalog;
    this.#refuseByPolicy(candidate);
    const endpoint = endpointOf(candidate, this.context.secrets);
    const { key: provider, circuit } = endpoint;
    const { host } = new URL(endpoint.baseURL);
    const asking = providerRequest(candidate, endpoint, request, {
      place: this.asked.step,
      budgeted: this.#budgeted(),
    });
    const caller = { circuit, project: this.store.project, call: this.#call };
    const sinceMs = cell.context.now();
    const admission = await providers.admit(caller, ownerLeaseMs);
    if (!admission.ask) {
      metrics.modelCalls.inc({ outcome: 'held-back' });
      const reached = cell.catalog.reached.has(host);
      return { host, circuit, reached, untilMs: admission.untilMs, error: admission.lastError };
    }
    const begun = performance.now();
    let told = Promise.resolve();
    const progress = new AskProgress(() => {
      if (admission.probe) told = this.#try(() => providers.answering(caller));
    });
    this.#asking = { candidate, provider, caller, progress, probe: admission.probe, sinceMs };
    try {
      const answer = await askProvider(asking, onText, progress);
      await told;
      await this.#answered(caller);
      metrics.modelCalls.inc({ outcome: 'answered' });
      metrics.modelDuration.observeMs({}, performance.now() - begun);
      return { answer, by: answeredBy(candidate, provider, answer, this.asked.askedBytes) };
    } catch (error) {
      await told;
      if (!(error instanceof ProviderFailure)) throw error;
      metrics.modelCalls.inc({ outcome: error.kind === 'unavailable' ? 'unavailable' : 'refused' });
      const { message, retryAfterMs } = error;
      if (error.kind !== 'unavailable') {
        await this.#answered(caller);
        await this.#charge();
        throw new Refused(error, candidate, endpoint);
      }
      const busy = retryAfterMs !== undefined;
      const opensFor = busy || progress.tellsOfProvider(this.#silenceMs(candidate)) ? 'all' : 'project';
      const { untilMs, sinceMs, first } = await providers.failed(caller, { opensFor, error: message, retryAfterMs });
      if (first) this.#tell('warn', caller, { opensFor, untilMs }, `a model does not answer: ${message}`);
      await this.#charge();
      return {
        host,
        circuit,
        reached: progress.connected || cell.catalog.reached.has(host),
        untilMs,
        error: message,
        asked: { sinceMs, mayBeItsFault: !busy && progress.mayBeItsFault },
      };
    } finally {
      if (progress.connected) await this.#try(() => cell.catalog.reached.add(host));
      this.#asking = undefined;
    }
  }

  /** It is there and answers, which is all that those who wait for it want to know. */
  async #answered(caller: Caller): Promise<void> {
    await this.#try(async () => {
      const wasAway = await this.context.cell.catalog.providers.answered(caller.circuit);
      if (wasAway) this.#tell('info', caller, {}, 'a model answers again');
    });
  }

  #tell(level: 'info' | 'warn', { circuit, project }: Caller, more: object, message: string): void {
    this.context.logger[level]({ circuit, project, ...more }, message);
  }

  #silenceMs({ provider }: Candidate): number {
    const allowed = allowedProvider(this.context.policyOf(this.store.project), provider);
    return allowed?.silence ?? defaultSilenceMs;
  }

  /** Pays for what a provider did before it came to nothing, and sees whether that leaves room for another. */
  async #charge(): Promise<void> {
    const by = this.#soFar();
    if (!by || this.#asking?.progress.paidFor !== true) return;
    const exhausted = await this.#insist((tx) => chargeModelCall(tx, this.#call, by));
    if (exhausted) this.#exhausted = new SuzumioError('budget-reached', exhausted.message);
    const spent = await this.#day.spend(by.cost.nanoUsd);
    this.#exhausted ??= spent;
  }

  /**
   * The policy may have changed since the project was made, and is asked before any key is read.
   *
   * @throws SuzumioError `policy-denied`
   */
  #refuseByPolicy(candidate: Candidate): void {
    const { preset, settings, provider } = candidate;
    const policy = this.context.policyOf(this.store.project);
    const unasked = modelDenial(policy, candidate);
    if (unasked !== undefined) throw modelRefused(preset, unasked);
    const denied = providerDenial(policy, provider);
    if (!denied) return;
    throw new SuzumioError(
      'policy-denied',
      `The policy does not allow provider "${settings.provider}" of preset ${preset}: ${denied.field}: ${denied.message} (policy: providers).`,
    );
  }

  /**
   * What cannot be counted would pass the day's budget unseen. What is not allowed at all is refused as that.
   *
   * @throws SuzumioError `policy-denied`
   */
  #refuseUncounted(candidate: Candidate): void {
    const policy = this.context.policyOf(this.store.project);
    if (this.context.dayLimitNanoUsd === undefined || !allowedProvider(policy, candidate.provider)) return;
    const uncounted = modelDenial(policy, candidate) ?? priceDenial(policy, candidate);
    if (uncounted !== undefined) throw modelRefused(candidate.preset, uncounted);
  }

  #budgeted(): boolean {
    return this.context.dayLimitNanoUsd !== undefined || hasBudget(this.store.reader, this.store.config);
  }

  #insist<Result>(verb: (tx: Tx) => Result): Promise<Result> {
    return insist(() => this.store.write(verb));
  }

  async #stillHere(): Promise<void> {
    const untilMs = this.context.cell.context.now() + ownerLeaseMs;
    const { providers } = this.context.cell.catalog;
    await this.#try(async () => {
      await this.store.write((tx) => extendModelCall(tx, this.#call, untilMs, this.#soFar()));
      await this.#day.extend(untilMs);
      if (this.#asking?.probe === true) {
        await providers.stillTrying(this.#asking.caller, ownerLeaseMs, this.#asking.sinceMs);
      }
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

function modelRefused(preset: string, why: string): SuzumioError {
  return new SuzumioError('policy-denied', `Preset ${preset} cannot be used: ${why} (policy: providers.models).`);
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
export function soFar(
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
