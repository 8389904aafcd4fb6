import type { Agent, Turn, ProjectDetail } from '@suzumio/sdk/client';
import { type KeyboardEvent, useId, useState } from 'react';
import { Link } from 'wouter';
import { useKeys } from '../../acts/keys.js';
import { Failure } from '../../parts/failure.js';
import { Mark } from '../../parts/mark.js';
import { count, some, span } from '../../parts/numbers.js';
import { nameOf, stateOfAgent, stateOfTurn } from '../../parts/states.js';
import { clockOf, useNow } from '../../parts/time.js';
import { useWidth } from '../../parts/use-width.js';
import { agentPath } from '../../parts/places.js';
import { useTurns } from '../../use-project.js';

const spans = [
  ['10 min', 10 * 60_000],
  ['1 h', 3_600_000],
  ['All', Infinity],
] as const;

/** Nothing shorter is zoomed into. */
const shortestMs = 2_000;
const rowPx = 30;
const leftPx = 120;
const mostLanes = 40;

/** Turns in time, a lane for each agent. */
export function Lanes({ detail: { project, agents } }: { detail: ProjectDetail }) {
  const turns = useTurns(project.id);
  const [length, setLength] = useState<number>(Infinity);
  const isActive = agents.some(({ activeTurn }) => activeTurn !== null);
  const clock = useNow(isActive ? 1_000 : 10_000);
  const [width, frame] = useWidth();
  const previous = turns.data?.previous;
  const all = (turns.data?.turns ?? []).filter(({ startedAt }) => startedAt !== null);
  const last = Math.max(...all.map(endOf(clock)), 0);
  // The clock goes by steps: what has ended since its last one is in view as well.
  const until = isActive ? Math.max(clock, last) : last + 1_000;
  const first = Math.min(...all.map(({ startedAt }) => Date.parse(startedAt ?? '')), until);
  const from = Math.max(until - length, first);
  const isWhole = from <= first;
  // Half of what is in view, or twice as much, until that is all of it.
  useKeys({
    zoomIn: until - from > shortestMs ? () => setLength((until - from) / 2) : undefined,
    zoomOut: isWhole ? undefined : () => setLength(2 * length < until - first ? 2 * length : Infinity),
  });
  const shown = all.filter((turn) => endOf(clock)(turn) >= from);
  const scale = (at: number) =>
    leftPx + ((Math.max(at, from) - from) / Math.max(until - from, 1)) * (width - leftPx - 12);
  const lanes = agents.slice(0, mostLanes);
  const failed = all.reduce(
    (sum, { attempts = [] }) => sum + attempts.filter(({ status }) => status === 'failed').length,
    0,
  );
  const hatch = useId();
  // The bars are one stop of the Tab key, and the arrow keys go from one to another.
  const [chosen, setStop] = useState<string>();
  const stop = shown.some(({ id }) => id === chosen) ? chosen : shown.at(-1)?.id;
  return (
    <section className="lanes" aria-label="Turns">
      <header className="pane-head">
        <h2>
          Turns{' '}
          <span className="pane-note">
            {project.turns.total}
            {failed > 0 ? `, ${some(failed, 'failed attempt')}` : ''}
          </span>
        </h2>
        <div className="switch" role="group" aria-label="How far back">
          {spans.map(([words, ms]) => (
            <button key={words} type="button" aria-pressed={length === ms} onClick={() => setLength(ms)}>
              {ms === Infinity && previous !== undefined ? `Newest ${all.length}` : words}
            </button>
          ))}
        </div>
      </header>
      {turns.error && turns.data === undefined ? (
        <Failure error={turns.error} again={() => void turns.refetch()} />
      ) : null}
      <div className="lanes-frame" ref={frame}>
        {width === 0 ? null : (
          <svg
            width={width}
            height={lanes.length * rowPx + 26}
            role="group"
            aria-label={`${some(all.length, 'turn')} of ${some(lanes.length, 'agent')}`}
            onKeyDown={move}
          >
            <pattern id={hatch} width={6} height={6} patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
              <rect width={6} height={6} className="hatch-ground" />
              <rect width={3} height={6} className="hatch-lines" />
            </pattern>
            <Axis from={from} until={until} width={width} height={lanes.length * rowPx} scale={scale} />
            {lanes.map((agent, row) => (
              <Lane key={agent.id} project={project.id} agent={agent} row={row} width={width} />
            ))}
            {shown.map((turn) => {
              const row = lanes.findIndex(({ id }) => id === turn.agent);
              return row < 0 ? null : (
                <Bar
                  key={turn.id}
                  turn={turn}
                  href={`/p/${project.id}/turns/${turn.agent}:${turn.number}`}
                  name={short(nameOf(lanes[row] ?? { id: turn.agent, displayName: null }))}
                  y={26 + row * rowPx + 7}
                  place={{ from, clock, scale, hatch }}
                  isStop={turn.id === stop}
                  onFocus={() => setStop(turn.id)}
                />
              );
            })}
          </svg>
        )}
      </div>
      {isWhole && previous !== undefined ? (
        <p className="lanes-note">
          Only the newest {all.length} of {count(project.turns.total)} turns are drawn.{' '}
          <Link href={`/p/${project.id}/turns?before=${previous}`} className="evidence">
            Earlier turns
          </Link>
        </p>
      ) : null}
      {agents.length > mostLanes ? <p className="lanes-note">and {agents.length - mostLanes} more agents</p> : null}
    </section>
  );
}

const endOf =
  (now: number) =>
  ({ endedAt }: { endedAt: string | null }): number =>
    endedAt === null ? now : Date.parse(endedAt);

const moves: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowLeft: (at) => at - 1,
  ArrowUp: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  ArrowDown: (at) => at + 1,
  Home: () => 0,
  End: (_, last) => last,
};

/** Goes from bar to bar, in the order of time. */
function move(event: KeyboardEvent<SVGSVGElement>): void {
  const step = moves[event.key];
  const bars = [...event.currentTarget.querySelectorAll<SVGAElement>('a.bar')];
  const at = bars.indexOf(document.activeElement as SVGAElement & Element);
  if (!step || at < 0) return;
  event.preventDefault();
  bars[step(at, bars.length - 1)]?.focus();
}

interface BarProps {
  turn: Turn;
  href: string;
  name: string;
  y: number;
  place: { from: number; clock: number; scale: (at: number) => number; hatch: string };
  isStop: boolean;
  onFocus: () => void;
}

/** A turn: a bar for each attempt, hatched where it failed and another followed, and dashes while it waited. */
function Bar({ turn, href, name, y, place: { from, clock, scale, hatch }, isStop, onFocus }: BarProps) {
  const { attempts = [], number, status, startedAt } = turn;
  const start = Date.parse(startedAt ?? '');
  const end = endOf(clock)(turn);
  const words = `${name}, turn ${number}: ${stateOfTurn(turn).word}, ${span(Math.max(0, end - start))}, ${some(turn.attempt, 'attempt')}`;
  const bars = attempts
    .map((attempt) => {
      const [x, until] = [scale(Date.parse(attempt.startedAt)), scale(endOf(clock)(attempt))];
      return { attempt, x, width: Math.max(until - x, 3), isSeen: endOf(clock)(attempt) >= from };
    })
    .filter(({ isSeen }) => isSeen);
  const labelled = bars.find(({ width }) => width > 18)?.attempt.number;
  return (
    <Link href={href} className={`bar bar-${status}`} aria-label={words} tabIndex={isStop ? 0 : -1} onFocus={onFocus}>
      <title>{words}</title>
      {scale(end) > scale(start) ? (
        <line x1={scale(start)} x2={scale(end)} y1={y + 8} y2={y + 8} className="bar-wait" />
      ) : null}
      {bars.map(({ attempt, x, width }) => {
        const isLast = attempt.number === turn.attempt && status !== 'queued';
        return (
          <g key={attempt.number} className={isLast ? 'bar-last' : 'bar-failed-attempt'}>
            <rect x={x} y={y} width={width} height={16} rx={3} fill={isLast ? undefined : `url(#${hatch})`} />
            {attempt.number === labelled ? (
              <text x={x + 6} y={y + 12}>
                {number}
              </text>
            ) : null}
          </g>
        );
      })}
    </Link>
  );
}

interface LaneProps {
  project: string;
  agent: Agent;
  row: number;
  width: number;
}

function Lane({ project, agent, row, width }: LaneProps) {
  const y = 26 + row * rowPx;
  const { mark, word } = stateOfAgent(agent);
  return (
    <g>
      <line x1={0} x2={width} y1={y + rowPx} y2={y + rowPx} className="lane-line" />
      <svg x={0} y={y + 7} width={16} height={16} overflow="visible">
        <Mark kind={mark} title={word} />
      </svg>
      <Link href={agentPath(project, agent.id)}>
        <text x={24} y={y + 19} className="lane-name">
          {short(nameOf(agent))}
        </text>
      </Link>
    </g>
  );
}

function short(name: string): string {
  return name.length > 13 ? `${name.slice(0, 12)}…` : name;
}

const ticksMs = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400].map((s) => s * 1_000);

interface AxisProps {
  from: number;
  until: number;
  width: number;
  height: number;
  scale: (at: number) => number;
}

function Axis({ from, until, width, height, scale }: AxisProps) {
  const wanted = Math.max(Math.floor((width - leftPx) / 140), 1);
  const step = ticksMs.find((ms) => (until - from) / ms <= wanted) ?? 86_400_000;
  const offset = new Date(from).getTimezoneOffset() * 60_000;
  const ticks: number[] = [];
  for (let at = Math.ceil((from - offset) / step) * step + offset; at < until && ticks.length < 50; at += step)
    ticks.push(at);
  return (
    <g className="axis">
      <line x1={0} x2={width} y1={26} y2={26} className="lane-line" />
      {ticks.map((at) => (
        <text key={at} x={scale(at)} y={16}>
          {clockOf(new Date(at), step < 60_000)}
        </text>
      ))}
      <line x1={scale(until)} x2={scale(until)} y1={20} y2={26 + height} className="axis-now" />
    </g>
  );
}
