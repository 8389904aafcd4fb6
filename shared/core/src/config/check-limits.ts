import type { FileConfig } from '@suzumio/contract/model/project-config';
import { estimatedTokens } from '@suzumio/protocol/estimated-tokens';
import { admittedTools, toolsOfPacks } from '@suzumio/protocol/tool-names';
import { candidatesFor, presetOf, type SinglePreset } from '../budgets/presets.js';
import type { ConfigPath } from './config-node.js';
import type { Place, ProblemList } from './config-problem.js';

/** The share of a context that a question gets; a longer one is shortened before it is sent. */
const askedShare = 0.8;
/** What the system's own words and one tool take, on the average. */
const systemTokens = 500;
const tokensPerTool = 250;

/** Warns of limits of models that cannot hold: the prompt and the tools of an agent alone, or the longest answer, fill the context. */
export function checkLimits(config: FileConfig, locate: (path: ConfigPath) => Place, warnings: ProblemList): void {
  const presets = config.backend.runner.models?.presets ?? {};
  const path = (id: string, field: string) => ['backend', 'runner', 'models', 'presets', id, field];
  for (const [id, preset] of Object.entries(presets)) {
    if ('model-list' in preset) continue;
    const { contextLimit, maxOutputTokens } = preset;
    if (contextLimit === undefined) continue;
    if (maxOutputTokens !== undefined && maxOutputTokens >= contextLimit) {
      const message = `maxOutputTokens of preset ${id} leaves no room for a question: a contextLimit of ${contextLimit} holds question and answer`;
      warnings.add('limit-too-small', locate(path(id, 'maxOutputTokens')), message);
    }
    const [agent, tokens] = largestBeginning(config, preset) ?? [];
    if (agent === undefined || tokens === undefined || tokens <= contextLimit * askedShare) continue;
    const message = `contextLimit of preset ${id} does not hold what agent ${agent} begins with: its prompt and tools take some ${tokens} tokens, and a question gets four fifths of ${contextLimit}`;
    warnings.add('limit-too-small', locate(path(id, 'contextLimit')), message);
  }
}

/** Of the agents that a preset may answer, the one whose prompt and tools take most, and how many tokens that is. */
function largestBeginning(config: FileConfig, preset: SinglePreset): [agent: string, tokens: number] | undefined {
  const available = toolsOfPacks(config.tools.toolpacks);
  const of = Object.entries(config.agents).filter(
    ([id]) =>
      presetOf(config, id) !== undefined && candidatesFor(config, id).some(({ settings }) => settings === preset),
  );
  const sized = of.map(([id, { prompt, tools }]): [string, number] => {
    const shown = admittedTools(tools, available).length;
    return [id, systemTokens + estimatedTokens(Buffer.byteLength(prompt ?? '')) + shown * tokensPerTool];
  });
  return sized.toSorted((a, b) => b[1] - a[1])[0];
}
