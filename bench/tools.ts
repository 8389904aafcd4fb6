import type { Stack } from '../test/support/stack.js';
import { BenchProject } from './bench-project.js';
import { type Spread, spread } from './statistics.js';

export interface ToolsPlan {
  /** How often each call is made in a slice. */
  calls: number;
  slices: number;
}

/** What calls cost in a turn, through the door and on record, one after the other. */
export interface ToolsFigures {
  backend: string;
  /** `artifacts.list`: a core tool, whose call is one request. */
  coreMs: Spread;
  /** `file.read` of 10 kB, which is begun and ended. */
  readMs: Spread;
  /** The slices' own ratios. */
  readRatio: Spread;
  /** `shell.exec` of `true`: in all, and what it takes beside the process itself, from its start to its end. */
  execMs: Spread;
  processMs: Spread;
  execOverheadMs: Spread;
  /** That, in calls of a core tool. */
  execOverheadRatio: Spread;
}

const agent = 'bench';
const file = { path: 'file.txt', text: `${'x'.repeat(49)}\n`.repeat(200) };
const calls = {
  core: { tool: 'artifacts.list', input: {} },
  read: { tool: 'file.read', input: { path: file.path } },
  exec: { tool: 'shell.exec', input: { command: 'true' } },
};

/** Calls of a script, in slices of each kind by turns. */
export async function measureTools(
  stack: Stack,
  backends: readonly ('docker' | 'process')[],
  plan: ToolsPlan,
): Promise<ToolsFigures[]> {
  const figures: ToolsFigures[] = [];
  for (const backend of backends) {
    const slice = Object.values(calls).flatMap((call) => Array.from({ length: plan.calls }, () => call));
    // The first slice is the warm-up; the last call ends the slice before it.
    const steps = [{ write: file }, ...Array.from({ length: plan.slices + 1 }, () => slice).flat(), calls.core];
    const project = await BenchProject.start(
      stack,
      `bench-tools-${backend}`,
      [`${agent}: { role: bench, prompt: Work., tools: ["*"] }`],
      {
        tools: { toolpacks: ['files', 'shell'] },
        turn: { maxToolCalls: 100_000 },
        backend: { kind: backend, docker: { keep: 'never' }, runner: { mode: 'mock', script: [{ agent, steps }] } },
      },
    );
    await project.post(agent, 'Go.');
    await project.idle();
    figures.push({ backend, ...measured(project, plan) });
    project.close();
  }
  return figures;
}

interface Call {
  at: number;
  /** How long the process of a command ran. */
  ran: number | null;
}

function measured(project: BenchProject, { calls: each, slices }: ToolsPlan): Omit<ToolsFigures, 'backend'> {
  project.turnsSince(0);
  const made = project.rows<Call>(
    `SELECT started_at_ms AS at, result_json ->> '$.response.metadata.durationMs' AS ran
     FROM tool_calls LEFT JOIN turn_steps ON turn_steps.turn_id = tool_calls.turn_id AND key = step
     WHERE tool <> 'script.write' ORDER BY tool_calls.seq`,
  );
  const length = 3 * each;
  const all = Array.from({ length: slices }, (_, index) => {
    const first = (index + 1) * length;
    // The clock of the record has whole milliseconds, so calls are measured by the slice.
    const per = (kind: number) => {
      const [from, to] = [made[first + kind * each], made[first + (kind + 1) * each]];
      if (!from || !to) throw new Error(`${made.length} calls are on record`);
      return (to.at - from.at) / each;
    };
    const processes = made.slice(first + 2 * each, first + length).map(({ ran }) => ran ?? Number.NaN);
    const process = processes.reduce((sum, ms) => sum + ms, 0) / each;
    return { core: per(0), read: per(1), exec: per(2), process };
  });
  return {
    coreMs: spread(all.map(({ core }) => core)),
    readMs: spread(all.map(({ read }) => read)),
    readRatio: spread(all.map(({ core, read }) => read / core)),
    execMs: spread(all.map(({ exec }) => exec)),
    processMs: spread(all.map(({ process }) => process)),
    execOverheadMs: spread(all.map(({ exec, process }) => exec - process)),
    execOverheadRatio: spread(all.map(({ core, exec, process }) => (exec - process) / core)),
  };
}
