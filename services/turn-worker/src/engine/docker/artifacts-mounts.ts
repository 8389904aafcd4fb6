import { join } from 'node:path';
import { artifactsPath } from '@suzumio/protocol/own-artifacts';
import type { ArtifactsDirectories, StartOptions } from '../turn-engine.js';
import type { BindMount } from './container-options.js';

/** The directories of artifacts in an agent's containers. */
export function artifactsIn(agent: string): ArtifactsDirectories {
  return { all: artifactsPath, own: join(artifactsPath, agent) };
}

/** What others have published cannot be written; the agent's own directory is mounted over an empty one in there. */
export function artifactsMounts({ artifacts, ref }: Pick<StartOptions, 'artifacts' | 'ref'>): BindMount[] {
  if (!artifacts) return [];
  const { all, own } = artifactsIn(ref.agent);
  return [
    { source: artifacts.all, target: all },
    { source: artifacts.own, target: own, writable: true },
  ];
}
