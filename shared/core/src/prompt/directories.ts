import { oneLine } from './body.js';

/** A host directory mounted in the agent's container. */
export interface PromptMount {
  readonly target: string;
  readonly readonly: boolean;
  readonly description?: string;
  readonly size?: MountSize | undefined;
}

/** What is in a mount, as far as it was counted. */
export interface MountSize {
  readonly files: number;
  readonly bytes: number;
  /** Whether there is more than was counted. */
  readonly more: boolean;
}

/** The section on mounts; nothing where there are none. */
export function renderDirectories(mounts: readonly PromptMount[]): string[] {
  return mounts.length === 0 ? [] : ['# Directories', ...mounts.map(entry), ''];
}

function entry({ target, readonly, description, size }: PromptMount): string {
  const facts = [oneLine(target), readonly ? 'read-only' : 'writable', ...(size ? [sizeText(size)] : [])].join(', ');
  return description === undefined ? facts : `${facts}: ${oneLine(description)}`;
}

function sizeText({ files, bytes, more }: MountSize): string {
  if (more) return `more than ${String(files)} files of ${String(bytes)} bytes`;
  return files === 0 ? 'empty' : `${String(files)} ${files === 1 ? 'file' : 'files'} of ${String(bytes)} bytes`;
}
