import { isSuzumioError, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { AskedSize, Cost } from '@suzumio/core/budgets/model-cost';
import type { Candidate } from '@suzumio/core/budgets/presets';
import { allowedProvider } from '@suzumio/core/policy/check-provider';
import type { ChatPurpose, ChatRequest } from '@suzumio/protocol/model-chat';
import { authorizeTool } from '@suzumio/store/turns/authorize';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { hasBudget } from '@suzumio/store/budgets/budgets-of';
import type { Tx } from '@suzumio/store/sqlite/tx';
import {
  type AnsweredBy,
  chargeModelCall,
  dropModelCall,
  extendModelCall,
} from '@suzumio/store/models/model-call-costs';
import { failModelCall } from '@suzumio/store/models/fail-model-call';
import { recordModelFault } from '@suzumio/store/models/model-faults';
import { recordModelAnswer, recordModelRefusal } from '@suzumio/store/models/record-model-answer';
import type { RecordedAnswer } from '@suzumio/store/journal';
import { refuseUnmadeCalls } from '@suzumio/store/models/refuse-unmade-calls';
import type { PresentedToken } from '../auth.js';
import type { ToolhostContext } from '../context.js';
import type { ProviderAnswer } from './answer-builder.js';
import { AskProgress } from './ask-progress.js';
import { askProvider, written } from './ask-provider.js';
import type { AskedAnswers } from './asked-answers.js';
import { answeredBy, costSoFar } from './call-cost.js';
import { callLeaseMs, heartbeatIntervalMs, writePaid } from './call-lease.js';
import { requireAllowed, requireCounted } from './candidates.js';
import { CircuitBreaker } from './circuit-breaker.js';
import {
  endingOf,
  isOfLength,
  isRefusalOfOne,
  NoModelAvailable,
  ProviderRefused,
  refusalOfAll,
  type UnavailableModel,
} from './ending.js';
import { Negotiation } from './adaptation.js';
import { ProviderFailure } from './provider-failure.js';
import { toolsRefused } from './refusal-words.js';
import { type Endpoint, endpointOf, providerRequest } from './provider-request.js';
import { Reservation } from './reservation.js';
import type { ShownImages } from './shown-images.js';
import { mayBeTooLong } from './suspected-length.js';

/** A provider counts as unavailable after this silence, unless the policy sets another time. */
const defaultSilenceMs = 2 * 60_000;

/** How many requests leave for one call: what a refusal teaches is tried, and other candidates are. */
const maxRequests = 8;
const maxRequestsPerCandidate = 4;

/** The candidate being called, and its progress. */
interface Asking {
  candidate: Candidate;
  provider: string;
  breaker: CircuitBreaker;
  progress: AskProgress;
}

/** What is asked, by whom, and as which call of the journal. */
export interface AskedCall {
  call: string;
  step: string;
  purpose: ChatPurpose;
  token: PresentedToken;
  /** The most that it may cost. */
  worst: Cost;
  size: AskedSize;
  images: ShownImages;
  answers: AskedAnswers;
}

/** `from` is the model at its endpoint. */
type Answered = { answer: ProviderAnswer; by: AnsweredBy; from: string };

/** What became of a request until it failed. */
interface Sent {
  /** The longest answer that it asked for. */
  maxTokens: number | undefined;
  /** Something of an answer has come. */
  begun: boolean;
}

/** One call that this process makes: it reserves, calls the candidates, and journals the answer. */
export class ModelCall {
  readonly #call: string;
  readonly #reservation: Reservation;
  #asking: Asking | undefined;
  /** The names of the tools that the question offers. */
  #offered: string[] = [];
  #costNanoUsd = 0;
  #requests = 0;
  /** The error that rules out the remaining candidates, if any. */
  #exhausted: Error | undefined;

  constructor(
    private readonly context: ToolhostContext,
    private readonly store: ProjectStore,
    private readonly asked: AskedCall,
  ) {
    this.#call = asked.call;
    this.#reservation = new Reservation(context, asked.call, asked.worst.nanoUsd);
  }

  async make(
    candidates: readonly Candidate[],
    request: () => ChatRequest,
    onText: (text: string) => void,
  ): Promise<RecordedAnswer> {
    let beating = Promise.resolve();
    const heartbeats = setInterval(() => {
      beating = this.#heartbeat();
    }, heartbeatIntervalMs);
    try {
      for (const candidate of candidates) requireCounted(this.context, this.store.project, candidate);
      await this.#reservation.begin(() => authorizeTool(this.store.reader, this.asked.token));
      const answered = await this.#askInOrder(candidates, request, onText);
      return await this.#journal(answered);
    } catch (error) {
      return await this.#failed(error);
    } finally {
      clearInterval(heartbeats);
      await beating;
      await this.#bestEffort(() => this.#reservation.end(this.#costNanoUsd));
    }
  }

  /** Calls the candidates in order until one answers. */
  async #askInOrder(
    candidates: readonly Candidate[],
    request: () => ChatRequest,
    onText: (text: string) => void,
  ): Promise<Answered> {
    const unavailable: UnavailableModel[] = [];
    const refusals: Error[] = [];
    for (const [index, candidate] of candidates.entries()) {
      if (this.#exhausted) throw this.#exhausted;
      if (this.#requests >= maxRequests) {
        const left = candidates.length - index;
        refusals.push(new Error(`${left} more were not asked: at most ${maxRequests} requests leave for one step`));
        break;
      }
      try {
        const asked = await this.#ask(candidate, request, index === 0 ? onText : () => undefined);
        if (!('untilMs' in asked)) return asked;
        unavailable.push(asked);
      } catch (error) {
        // Another candidate may have another key, model, account, or context.
        if (!isRefusalOfOne(error)) throw error;
        refusals.push(error);
        await this.#bestEffort(() => this.#recordFault(candidate, error));
      }
    }
    if (unavailable.length === 0) throw refusalOfAll(refusals);
    throw new NoModelAvailable(unavailable, refusals);
  }

  /** Another candidate may answer: this one is recorded for its operator all the same. */
  async #recordFault({ preset }: Candidate, error: Error): Promise<void> {
    if (error instanceof ProviderRefused && isOfLength(error)) return;
    const fault = endingOf(error)?.failure;
    if (fault) await this.#write((tx) => recordModelFault(tx, preset, fault));
  }

  /** Calls a candidate, and again with what its refusals teach, before anything of an answer has come. */
  async #ask(
    candidate: Candidate,
    request: () => ChatRequest,
    onText: (text: string) => void,
  ): Promise<Answered | UnavailableModel> {
    requireAllowed(this.context, this.store.project, candidate);
    const endpoint = endpointOf(candidate, this.context.secrets);
    const { adaptations } = this.context.cell.catalog;
    const known = adaptations.read(endpoint.circuit, this.context.cell.context.now());
    const negotiation = new Negotiation(candidate, endpoint.baseURL, known);
    for (let left = maxRequestsPerCandidate; ; left -= 1) {
      const sent: Sent = { maxTokens: undefined, begun: false };
      try {
        const asked = await this.#askOnce(negotiation, endpoint, { request: request(), onText, sent });
        const { learnt } = negotiation;
        if ('untilMs' in asked || !learnt) return asked;
        await this.#bestEffort(() => adaptations.keep(endpoint.circuit, learnt));
        return asked;
      } catch (error) {
        if (!(error instanceof ProviderRefused) || left === 1 || sent.begun || this.#requests >= maxRequests)
          throw error;
        if (!negotiation.learn(error.failure, sent)) throw error;
        if (this.#exhausted) throw this.#exhausted;
        // Policy may have changed meanwhile.
        requireAllowed(this.context, this.store.project, candidate);
      }
    }
  }

  async #askOnce(
    negotiation: Negotiation,
    endpoint: Endpoint,
    { request, onText, sent }: { request: ChatRequest; onText: (text: string) => void; sent: Sent },
  ): Promise<Answered | UnavailableModel> {
    const { metrics, cell } = this.context;
    const { candidate, maxAnswer, changes } = negotiation;
    const { key: provider, circuit } = endpoint;
    const { host } = new URL(endpoint.baseURL);
    const budgeted = this.context.dayLimitNanoUsd !== undefined || hasBudget(this.store.reader, this.store.config);
    const { images, answers } = this.asked;
    this.#offered = request.tools?.map((tool) => tool.function.name) ?? [];
    const { maxTokens, ...made } = providerRequest(candidate, endpoint, request, {
      budgeted,
      maxAnswer,
      images,
      answers,
    });
    sent.maxTokens = maxTokens;
    const asked = written({ ...made, outbound: this.context.outbound });
    const breaker = new CircuitBreaker(this.context, { circuit, project: this.store.project, call: this.#call });
    const open = await breaker.admit();
    if (open) {
      const { untilMs, lastError } = open;
      return { host, circuit, reached: cell.catalog.reached.has(host), untilMs, error: lastError };
    }
    this.#requests += 1;
    const begun = performance.now();
    let answering = Promise.resolve();
    const progress = new AskProgress(() => {
      sent.begun = true;
      answering = this.#bestEffort(() => breaker.answering());
    });
    const asking = { candidate, provider, breaker, progress };
    this.#asking = asking;
    const live = this.context.live.text(this.asked.token, this.asked.step);
    try {
      const answer = await askProvider(
        asked,
        (text) => {
          onText(text);
          live.write(text);
        },
        progress,
      );
      await answering;
      await this.#bestEffort(() => breaker.close());
      metrics.modelCalls.inc({ outcome: 'answered' });
      metrics.modelDuration.observeMs({}, performance.now() - begun);
      const by = answeredBy(candidate, provider, answer, this.asked.size);
      return { answer, by: changes.length === 0 ? by : { ...by, changes }, from: circuit };
    } catch (error) {
      await answering;
      if (!(error instanceof ProviderFailure)) throw error;
      const failure = this.#detailed(error, candidate, request);
      metrics.modelCalls.inc({ outcome: failure.kind === 'unavailable' ? 'unavailable' : 'refused' });
      if (failure.kind === 'unavailable') return await this.#unavailable(failure, asking, endpoint);
      await this.#bestEffort(() => breaker.close());
      await this.#charge();
      throw new ProviderRefused(failure, candidate, endpoint);
    } finally {
      live.end();
      if (progress.connected) await this.#bestEffort(() => cell.catalog.reached.add(host));
      this.#asking = undefined;
    }
  }

  /** A failure with details of its question: the tools that it is about, and whether it was long. */
  #detailed(failure: ProviderFailure, { settings }: Candidate, request: ChatRequest): ProviderFailure {
    const { kind, message, words } = failure;
    if (kind === 'schema-refused') {
      return failure.with({ message: `${message}; it cannot take ${toolsRefused(words, this.#offered)}` });
    }
    const { step, purpose, size, token } = this.asked;
    const question = { turn: token.turn, step, purpose, size, settings, request };
    return mayBeTooLong(this.store.reader, failure, question) ? failure.with({ kind: 'context-suspected' }) : failure;
  }

  /** Opens the circuit of a model that has failed to answer. */
  async #unavailable(
    { message, retryAfterMs, unreadable }: ProviderFailure,
    { candidate, breaker, progress }: Asking,
    { baseURL, circuit }: Endpoint,
  ): Promise<UnavailableModel> {
    const busy = retryAfterMs !== undefined;
    const opensFor = busy || progress.tellsOfProvider(this.#silenceMs(candidate)) ? 'all' : 'project';
    const { untilMs, sinceMs } = await breaker.open({ opensFor, error: message, retryAfterMs });
    await this.#charge();
    const { host } = new URL(baseURL);
    return {
      host,
      circuit,
      reached: progress.connected || this.context.cell.catalog.reached.has(host),
      untilMs,
      error: message,
      asked: { sinceMs, mayBeItsFault: !busy && progress.mayBeItsFault, unreadable },
    };
  }

  #silenceMs({ provider }: Candidate): number {
    const allowed = allowedProvider(this.context.policyOf(this.store.project), provider);
    return allowed?.silence ?? defaultSilenceMs;
  }

  /** Charges for a failed request that the provider may bill, and checks whether the budgets have room for another. */
  async #charge(): Promise<void> {
    const by = this.#costSoFar();
    if (!by || this.#asking?.progress.paidFor !== true) return;
    const exhausted = await this.#write((tx) => chargeModelCall(tx, this.#call, by));
    if (exhausted) this.#exhausted = new SuzumioError('budget-reached', exhausted.message);
    const spent = await this.#reservation.spend(by.cost.nanoUsd);
    this.#exhausted ??= spent;
  }

  #journal({ answer: { attached, ...answer }, by, from }: Answered): Promise<RecordedAnswer> {
    this.#costNanoUsd = by.cost.nanoUsd;
    const attachedJson = attached === undefined ? null : JSON.stringify(attached);
    return this.#write((tx) => {
      const recorded = recordModelAnswer(tx, this.#call, answer, by, { by: from, attachedJson });
      // Another process may have journaled another answer: that one's calls count.
      const counts = recorded.ok && recorded.answer === answer && recorded.summary !== true;
      if (counts) refuseUnmadeCalls(tx, this.#call, answer.toolCalls, this.#offered);
      return recorded;
    });
  }

  /** Journals that the conversation is too long as the step's result; any other failure ends the attempt. */
  async #failed(error: unknown): Promise<RecordedAnswer> {
    if (error instanceof ProviderRefused && isOfLength(error)) {
      const { kind } = error.failure;
      return this.store.write((tx) => recordModelRefusal(tx, this.#call, kind, error.message));
    }
    if (isSuzumioError(error, 'token-rejected')) {
      await this.#write((tx) => {
        dropModelCall(tx, this.#call);
      });
      throw error;
    }
    const ending = endingOf(error);
    // An error of this process: the runner repeats the call, and so does a process that finds it without an owner.
    if (!ending) throw error;
    await this.#write((tx) => {
      failModelCall(tx, this.#call, ending);
    });
    this.context.transport.wake(this.store.project);
    throw new SuzumioError(ending.code, ending.failure.message, {}, { cause: error });
  }

  /** Extends the leases of the call, its reservation and its probe. */
  async #heartbeat(): Promise<void> {
    const untilMs = this.context.cell.context.now() + callLeaseMs;
    await this.#bestEffort(async () => {
      await this.store.write((tx) => extendModelCall(tx, this.#call, untilMs, this.#costSoFar()));
      await this.#reservation.heartbeat(untilMs);
      await this.#asking?.breaker.heartbeat();
    });
  }

  #costSoFar(): AnsweredBy | undefined {
    if (!this.#asking) return undefined;
    const { candidate, provider, progress } = this.#asking;
    const size = { asked: this.asked.size, answerChars: progress.chars };
    return { ...costSoFar(candidate, size), provider };
  }

  #write<Result>(verb: (tx: Tx) => Result): Promise<Result> {
    return writePaid(() => this.store.write(verb));
  }

  /** Runs something that only helps other calls: its failure does not fail this one. */
  async #bestEffort(tell: () => Promise<unknown>): Promise<void> {
    try {
      await tell();
    } catch (error) {
      this.context.logger.warn({ err: error, call: this.#call }, 'could not extend the lease of a model call');
    }
  }
}
