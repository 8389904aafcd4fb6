import type { TestApi } from '../../../services/api/test/support/api.js';
import type { CliResult, CliWorld } from './cli.js';

type Run = (...args: string[]) => Promise<CliResult>;

/** The two ways in which a command reads a project. */
export function waysOf(place: () => { api: TestApi; world: CliWorld }) {
  const root = () => ['--root', place().api.cell.directory.root];
  const atServer: Run = (...args) => place().world.run(...root(), '--url', place().api.url, ...args);
  const withNothingRunning: Run = (...args) => place().world.run(...root(), ...args);
  const ways: [string, Run][] = [
    ['from a server', atServer],
    ['with nothing running', withNothingRunning],
  ];
  return { atServer, withNothingRunning, ways };
}
