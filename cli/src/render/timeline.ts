import type { ProjectEvent } from '@suzumio/contract/model/event';
import type { CliContext, Output } from '../cli-context.js';
import { paint } from './colors.js';
import { describeEvent, type Tone } from './describe-event.js';
import { cut, timeOfDay } from './format.js';

/** The names in a project's timeline, so that its columns are aligned from the first line on. */
export interface TimelineCast {
  readonly project: string;
  readonly agents: readonly string[];
}

export interface TimelineStyle {
  readonly out: Pick<Output, 'colors' | 'columns'>;
  readonly timeZone: CliContext['timeZone'];
  /** The beginning of suggested commands. */
  readonly suzumio: string;
  /** Whether calls of tools that succeeded are left out. @default false */
  readonly quiet?: boolean;
}

const widestNames = 40;

/** Renders events one by one as the lines of a live timeline. `dueNext` says whether to suggest what to do now. */
export function createTimeline(
  cast: TimelineCast,
  style: TimelineStyle,
): (event: ProjectEvent, dueNext: boolean) => string[] {
  const width = namesWidth(cast);
  const colors = paint(style.out);
  const tones: Record<Tone, (text: string) => string> = {
    plain: (text) => text,
    quiet: colors.dim,
    good: colors.green,
    bad: colors.red,
  };
  return (event, dueNext) => {
    if (style.quiet === true && event.type === 'tool.called' && event.data['outcome'] === 'succeeded') return [];
    const description = describeEvent(cast.project, event);
    if (!description) return [];
    const { who, what, tone, next = [] } = description;
    const time = timeOfDay(event.createdAt, style);
    const names = who.padEnd(width);
    const room = style.out.columns === undefined ? undefined : style.out.columns - time.length - names.length - 4;
    const line = `${colors.dim(time)}  ${colors.cyan(names)}  ${tones[tone](cut(what, room))}`;
    const indent = ' '.repeat(time.length + width + 4);
    const hints = next.map(
      (command, index) => `${indent}${colors.dim(index === 0 ? 'next: ' : '  or  ')}${style.suzumio} ${command}`,
    );
    return dueNext ? [line, ...hints] : [line];
  };
}

/** The widest `sender -> recipient` that two of this project can be. */
function namesWidth({ agents }: TimelineCast): number {
  const [longest = 0, next = 0] = ['user', ...agents].map(({ length }) => length).sort((a, b) => b - a);
  return Math.min(widestNames, longest + ' -> '.length + next);
}

/**
 * The events of a history with suggestions that still apply: the project's last event, and failures that were not
 * handled.
 */
export function openEnds(history: readonly ProjectEvent[]): ReadonlySet<number> {
  const open = new Map<string, number>();
  for (const event of history) {
    if (event.type.startsWith('project.')) open.set('', event.seq);
    else if (event.agent !== null && event.type === 'turn.failed') open.set(event.agent, event.seq);
    else if (event.agent !== null && event.type === 'turn.queued') open.delete(event.agent);
  }
  return new Set(open.values());
}
