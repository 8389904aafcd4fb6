import { useWho } from '../who.js';
import { useMay } from './use-act.js';

/** Whether who is signed in may make projects: that takes a session of the whole cell. */
export function useMayMake(): boolean {
  const may = useMay();
  const { project } = useWho();
  return may('createProject') && project === null;
}
