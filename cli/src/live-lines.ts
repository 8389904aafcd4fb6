import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '@suzumio/contract/errors/suzumio-error';
import type { ProjectEvent } from '@suzumio/contract/model/event';
import { oneLine } from '@suzumio/core/prompt/body';
import type { LiveFrame } from '@suzumio/protocol/live';
import { withoutTerminalSequences } from '@suzumio/protocol/terminal-sequences';
import { followLive, gapText, type LiveTurn } from './live-turn.js';
import type { ApiClient } from './reach/api-client.js';
import { paint } from './render/colors.js';
import { cut } from './render/format.js';
import { say, sayJson, type Session } from './session.js';

/** A longer line is shown in parts. */
const maxLineChars = 2_000;
/** How long after its end the last lines of a turn may come. */
const lastWordsMs = 1_500;

/** What the turns of a project say and print while they run: whole lines, each with its agent before it. */
export class LiveLines {
  /** The turns that are followed, until all of each was seen. */
  readonly #turns = new Map<string, Promise<void>>();
  #isRefused = false;

  private constructor(
    private readonly session: Session,
    private readonly api: ApiClient,
    private readonly project: string,
    private readonly signal: AbortSignal,
  ) {}

  static async of(session: Session, api: ApiClient, project: string, signal: AbortSignal): Promise<LiveLines> {
    const lines = new LiveLines(session, api, project, signal);
    const { items } = await api.listTurns({ project, query: { status: 'running', limit: 100 } });
    for (const turn of items) lines.#begin(turn);
    return lines;
  }

  /** Follows a turn that begins. Resolves, for one that has ended, once its last lines are shown. */
  async hear({ type, turn: id, agent, data }: ProjectEvent): Promise<void> {
    if (id === null || agent === null) return;
    if (type === 'turn.started') this.#begin({ id, agent, number: Number((data as { number?: number }).number) });
    if (!['turn.completed', 'turn.failed', 'turn.cancelled'].includes(type)) return;
    await Promise.race([this.#turns.get(id), sleep(lastWordsMs, undefined, { ref: false })]);
  }

  #begin(turn: LiveTurn): void {
    if (this.#turns.has(turn.id)) return;
    const { api, project, signal } = this;
    const pending = { source: '', text: '' };
    const following = followLive(api, { project, turn, signal }, (frame) => this.#take(turn, frame, pending))
      .then(
        (refusal) => refusal && this.#refuse(refusal.message),
        (error: unknown) => this.#refuse(messageOf(error)),
      )
      .then(() => {
        this.#flush(turn, pending);
        this.#turns.delete(turn.id);
      });
    this.#turns.set(turn.id, following);
  }

  #take(turn: LiveTurn, frame: LiveFrame, pending: { source: string; text: string }): void {
    sayJson(this.session, { turn: turn.id, agent: turn.agent, number: turn.number, live: frame }, 'line');
    const source = frame.kind === 'gap' ? frame.kind : `${frame.kind} ${frame.step}`;
    if (source !== pending.source) this.#flush(turn, pending);
    pending.source = source;
    const lines = `${pending.text}${frame.kind === 'gap' ? `${gapText(frame.bytes)}\n` : frame.text}`.split('\n');
    pending.text = lines.pop() ?? '';
    for (const line of lines) this.#show(turn, line);
    if (pending.text.length > maxLineChars) this.#flush(turn, pending);
  }

  #flush(turn: LiveTurn, pending: { text: string }): void {
    if (pending.text !== '') this.#show(turn, pending.text);
    pending.text = '';
  }

  #show({ agent, number }: LiveTurn, line: string): void {
    const { out } = this.session.context;
    const before = `${agent}:${String(number)} | `;
    const shown = oneLine(withoutTerminalSequences(line));
    if (shown === '') return;
    const room = out.columns === undefined ? undefined : out.columns - before.length;
    say(this.session, `${paint(out).dim(before)}${cut(shown, room)}`);
  }

  #refuse(message: string): void {
    if (!this.#isRefused) this.session.context.err.write(`-- what turns print is not shown: ${message}\n`);
    this.#isRefused = true;
  }
}
