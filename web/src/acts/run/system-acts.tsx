import { useMay } from '../use-act.js';
import { ActButton, Bar } from './bar.js';
import type { Next } from './next-act.js';
import { type Asked, useRun } from './use-run.js';
import { words } from './words.js';

/** An act in a row of the system's page; what it will do stands above the rows. */
export default function SystemActs({ request, project }: { request: Next; project?: string }) {
  const may = useMay();
  const run = useRun(project);
  if (!(request.operation in words) || request.asks.length > 0) return null;
  const { operation, params } = request as Next & Asked;
  const { does, will, did } = words[operation as keyof typeof words];
  if (!may(operation)) return null;
  return (
    <Bar label={does} run={run}>
      <ActButton does={does} will={will} isToldAbove run={run} onAct={() => run.ask({ operation, params }, did)} />
    </Bar>
  );
}
