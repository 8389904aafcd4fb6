import { artifactsPath, artifactsVariable } from '@suzumio/protocol/own-artifacts';
import { oneLine } from './body.js';

/** What an agent finds in its directory of artifacts. */
export interface ArtifactsTold {
  /** Whether its turns run as processes, where that directory has another path. */
  readonly isProcess: boolean;
  /** What it reads artifacts with that are not there, if it has such a tool; and what it lacks where it publishes nothing. */
  readonly reads?: string | undefined;
  readonly lacks?: string | undefined;
  /** Whether it has something there. */
  readonly hasOwn: boolean;
  /** What others have published. */
  readonly others: readonly { readonly creator: string; readonly files: number; readonly bytes: number }[];
  /** Whether others have published more than is there. */
  readonly more: boolean;
}

const maxShown = 30;

/** The section on artifacts as files; nothing where there are none. */
export function renderArtifacts(told: ArtifactsTold | undefined, agent: string): string[] {
  if (told === undefined || (!told.hasOwn && told.others.length === 0 && !told.more)) return [];
  const { isProcess, reads, lacks, others, more } = told;
  const own = `${artifactsPath}/${oneLine(agent)}`;
  const files = others.reduce((sum, one) => sum + one.files, 0);
  return [
    `# Artifacts in ${artifactsPath}: ${counted(files)} of others`,
    ...others.slice(0, maxShown).map(({ creator, files: own, bytes }) => {
      return `  ${artifactsPath}/${oneLine(creator)}, read-only, ${counted(own)} of ${String(bytes)} bytes`;
    }),
    ...(others.length > maxShown ? [`  and of ${String(others.length - maxShown)} more`] : []),
    ...(more ? [`Older ones of others are not there, for want of room${reads ? `: ${reads} has them` : ''}.`] : []),
    lacks === undefined
      ? `${own} is yours to write: what you change there is published when your turn ends.`
      : `${own} is yours to write, and kept for you. It is not published: you have no ${lacks}.`,
    ...(isProcess ? [`In commands, ${artifactsPath} is "$${artifactsVariable}".`] : []),
    '',
  ];
}

function counted(files: number): string {
  return `${String(files)} ${files === 1 ? 'file' : 'files'}`;
}
