import type { Client } from '@suzumio/sdk/client';
import { useWho } from '../who.js';
import { useMay } from './use-act.js';

/** Whether who is signed in may do what takes a session of the whole cell. */
export function useMayInCell(): (operation: keyof Client) => boolean {
  const may = useMay();
  const { project } = useWho();
  return (operation) => project === null && may(operation);
}

/**
 * Whether who is signed in may do what a request asks for.
 *
 * @param project the request's; empty where it is about the whole cell
 */
export function useMayIn(project: string | null | undefined): (operation: keyof Client) => boolean {
  const [mayInProject, mayInCell] = [useMay(), useMayInCell()];
  return project ? mayInProject : mayInCell;
}

/** Whether who is signed in may make projects. */
export function useMayMake(): boolean {
  return useMayInCell()('createProject');
}
