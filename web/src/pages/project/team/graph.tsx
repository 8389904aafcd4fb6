import { useMemo } from 'react';
import { Link } from 'wouter';
import { Mark } from '../../../parts/mark.js';
import { some } from '../../../parts/numbers.js';
import { useNow } from '../../../parts/time.js';
import { useWidth } from '../../../parts/use-width.js';
import { heightOf, pill, place, type Placed, type Spot } from './layout.js';
import type { Member, Ways } from './members.js';

/** How long a way is drawn as one that mail has just gone. */
const freshMs = 10_000;

/** A way for each direction that mail went, as wide as there was much of it. */
export function Graph({ members, ways }: { members: readonly Member[]; ways: readonly Ways[] }) {
  const [width, frame] = useWidth();
  const isNarrow = width < 560;
  // What they are called, and not what they are doing: nothing moves while somebody looks at it.
  // Who is in the team says its file; who writes to whom shows only while it works.
  const shape = JSON.stringify(members.map((member) => ({ id: member.id, chars: charsOf(member, isNarrow) })));
  const { placed, height } = useMemo(
    () => place(JSON.parse(shape) as { id: string; chars: number }[], width),
    [shape, width],
  );
  const nameIn = (id: string) => members.find((member) => member.id === id)?.name ?? id;
  const now = useNow(2_000);
  const most = Math.max(...ways.map(({ messages }) => messages), 1);
  return (
    <div className="team-frame" ref={frame} style={width === 0 ? { minHeight: heightOf(members.length) } : undefined}>
      {width === 0 ? null : (
        <svg width={width} height={height} role="group" aria-label="The team and its mail">
          <defs>
            {['plain', 'fresh'].map((kind) => (
              <marker
                key={kind}
                id={`arrow-${kind}`}
                className={`arrow-${kind}`}
                viewBox="0 0 8 8"
                refX="6.5"
                refY="4"
                markerWidth="8"
                markerHeight="8"
                markerUnits="userSpaceOnUse"
                orient="auto"
              >
                <path d="M0 .8 7.2 4 0 7.2Z" />
              </marker>
            ))}
          </defs>
          {ways.map((way) => {
            const [from, to] = [placed.get(way.from), placed.get(way.to)];
            if (!from || !to) return null;
            const isFresh = now - Date.parse(way.lastAt) < freshMs;
            return (
              <path
                key={JSON.stringify([way.from, way.to])}
                d={arc(from, to)}
                className={isFresh ? 'way way-fresh' : 'way'}
                strokeWidth={1.2 + 2.2 * Math.sqrt(way.messages / most)}
                markerEnd={`url(#arrow-${isFresh ? 'fresh' : 'plain'})`}
              >
                <title>{`${some(way.messages, 'message')} from ${nameIn(way.from)} to ${nameIn(way.to)}`}</title>
              </path>
            );
          })}
          {members.map((member) => {
            const at = placed.get(member.id);
            if (at === undefined) return null;
            return (
              <Link key={member.id} href={member.href}>
                <Pill member={member} at={at} narrow={isNarrow} />
              </Link>
            );
          })}
        </svg>
      )}
    </div>
  );
}

/** How many characters a pill has room for: its words change, its width does not. */
function charsOf({ name, role, mark }: Member, isNarrow: boolean): number {
  if (mark === 'person') return name.length;
  const label = isNarrow || role === '' ? name : `${name} ${role}`;
  return Math.min(Math.max(label.length, isNarrow ? 11 : 16), isNarrow ? 14 : 26);
}

function Pill({ member, at, narrow }: { member: Member; at: Placed; narrow: boolean }) {
  const [left, top] = [at.x - at.width / 2, at.y - pill.height / 2];
  const isLoud = member.mark === 'running' || member.mark === 'failed' || member.mark === 'asks';
  return (
    <g className={`pill pill-${member.mark} ${isLoud ? 'pill-loud' : ''}`}>
      <title>{`${member.name} ${member.role}: ${member.word}`}</title>
      <rect x={left} y={top} width={at.width} height={pill.height} rx={8} />
      <svg x={left + 12} y={member.word === '' ? at.y - 8 : at.y - 8} width={16} height={16} overflow="visible">
        {member.mark === 'person' ? (
          <path
            className="person"
            d="M8 2.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6ZM2.8 14c.3-3.2 2.3-4.6 5.2-4.6s4.9 1.4 5.2 4.6Z"
          />
        ) : (
          <Mark kind={member.mark} />
        )}
      </svg>
      <text x={left + 38} y={member.word === '' ? at.y + 5 : at.y - 2}>
        <tspan className="pill-name">{cut(member.name, narrow ? at.chars : 18)}</tspan>
        {narrow || member.role === '' ? null : (
          <tspan className="pill-role" dx={6}>
            {cut(member.role, Math.max(4, 24 - member.name.length))}
          </tspan>
        )}
      </text>
      {member.word === '' ? null : (
        <text x={left + 38} y={at.y + 14} className="pill-word">
          {cut(member.word, Math.floor(at.chars * 1.08))}
        </text>
      )}
    </g>
  );
}

function cut(text: string, chars: number): string {
  return text.length > chars ? `${text.slice(0, chars - 1)}…` : text;
}

/** A bent line from the edge of one box to the edge of another: each direction bends to its own side. */
function arc(from: Placed, to: Placed): string {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const bend = Math.min(length * 0.14, 34);
  const middle = { x: (from.x + to.x) / 2 - (dy / length) * bend, y: (from.y + to.y) / 2 + (dx / length) * bend };
  const [start, end] = [edge(from, middle, 2), edge(to, middle, 5)];
  return `M${start.x.toFixed(1)} ${start.y.toFixed(1)}Q${middle.x.toFixed(1)} ${middle.y.toFixed(1)} ${end.x.toFixed(1)} ${end.y.toFixed(1)}`;
}

/** Where the line from a box's middle towards a place leaves the box. */
function edge(box: Placed, towards: Spot, gap: number): Spot {
  const [dx, dy] = [towards.x - box.x, towards.y - box.y];
  const scale = Math.min(
    (box.width / 2 + gap) / Math.max(Math.abs(dx), 0.001),
    (pill.height / 2 + gap) / Math.max(Math.abs(dy), 0.001),
    1,
  );
  return { x: box.x + dx * scale, y: box.y + dy * scale };
}
