import { useMay } from '../use-act.js';
import { ActButton, Bar } from './bar.js';
import { type Asked, useRun } from './use-run.js';
import { words } from './words.js';

/** An act in a row of the system's page; what it will do stands above the rows. */
export default function SystemActs({ request, project }: { request: Asked; project?: string }) {
  const may = useMay();
  const run = useRun(project);
  const { does, will, did } = words[request.operation as keyof typeof words];
  if (!may(request.operation)) return null;
  return (
    <Bar label={does} run={run}>
      <ActButton does={does} will={will} isToldAbove run={run} onAct={() => run.ask(request, did)} />
    </Bar>
  );
}
