import { shortestTimeoutMs } from '@suzumio/contract/model/models-config';
import { duration } from '@suzumio/protocol/duration';
import { childOf, type ConfigNode, entriesOf, itemsOf, textOf, toPlain } from './config-node.js';
import type { ProblemList } from './config-problem.js';
import { unescapeReferences, variablesIn } from './environment.js';
import { configLimits } from './limits.js';
import { hintFrom } from '@suzumio/contract/errors/suggest';

/**
 * Checks that providers have addresses, agents name existing presets, presets name existing providers, lists of presets
 * have no cycle, and every preset has a price where there is a budget in dollars.
 */
export function checkModels(root: ConfigNode, problems: ProblemList): void {
  const runner = childOf(childOf(root, 'backend'), 'runner');
  const models = childOf(runner, 'models');
  const providers = entriesOf(childOf(models, 'providers')).map(([id]) => id);
  const presets = new Map(entriesOf(childOf(models, 'presets')).map(([id, entry]) => [id, entry.value]));
  const agentModels = entriesOf(childOf(root, 'agents')).map(([, entry]) => childOf(entry.value, 'model'));
  const listed = [...presets.values()].flatMap((preset) => itemsOf(childOf(preset, 'model-list')));
  for (const node of [childOf(runner, 'model'), ...agentModels, ...listed]) {
    const name = textOf(node);
    if (node === undefined || name === undefined || presets.has(name)) continue;
    const hint = () => hintFrom(name, [...presets.keys()]);
    problems.add('preset-unknown', node.place, () => `unknown model preset "${name}"${hint()}`);
  }
  checkAddresses(childOf(models, 'providers'), problems);
  checkPrices(root, presets, problems);
  checkTimeouts(childOf(models, 'providers'), problems);
  if (presets.size > configLimits.presets) {
    const place = (childOf(models, 'presets') ?? root).place;
    problems.add('too-large', place, `a project has at most ${configLimits.presets} model presets`);
    return;
  }
  for (const [id, preset] of presets) {
    const node = childOf(preset, 'provider');
    const name = textOf(node);
    if (node !== undefined && name !== undefined && !providers.includes(name)) {
      problems.add('provider-unknown', node.place, () => `unknown provider "${name}"${hintFrom(name, providers)}`);
    }
    if (reaches(id, id, presets, new Set())) {
      problems.add('preset-cycle', preset.place, `the model-list of preset ${id} leads back to itself`);
    }
  }
}

/** An address in a variable is only known at run time. */
function checkAddresses(providers: ConfigNode | undefined, problems: ProblemList): void {
  for (const [id, { value }] of entriesOf(providers)) {
    const node = childOf(value, 'baseURL');
    const address = textOf(node);
    if (node === undefined || address === undefined || variablesIn(address).length > 0) continue;
    const url = unescapeReferences(address.trim());
    if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) continue;
    const expected = 'expected an address that begins with http:// or https://, such as https://api.openai.com/v1';
    problems.add('value-invalid', node.place, `backend.runner.models.providers.${id}.baseURL: ${expected}`);
  }
}

function reaches(from: string, target: string, presets: ReadonlyMap<string, ConfigNode>, seen: Set<string>): boolean {
  const next = itemsOf(childOf(presets.get(from), 'model-list')).flatMap((node) => textOf(node) ?? []);
  return next.some((id) => {
    if (id === target) return true;
    if (seen.has(id)) return false;
    seen.add(id);
    return reaches(id, target, presets, seen);
  });
}

/** Existing projects with a shorter timeout keep their files, and get this minimum. */
function checkTimeouts(providers: ConfigNode | undefined, problems: ProblemList): void {
  for (const [, { value }] of entriesOf(providers)) {
    const node = childOf(value, 'timeoutMs');
    const given = duration.safeParse(node && toPlain(node));
    if (node === undefined || !given.success || given.data >= shortestTimeoutMs) continue;
    problems.add('value-invalid', node.place, `no model answers within ${given.data} ms; at least 1s`);
  }
}

/** Without prices a budget in dollars could not be enforced. */
function checkPrices(root: ConfigNode, presets: ReadonlyMap<string, ConfigNode>, problems: ProblemList): void {
  const budgets = [
    childOf(root, 'budget'),
    ...entriesOf(childOf(root, 'agents')).map(([, { value }]) => childOf(value, 'budget')),
  ];
  if (!budgets.some((budget) => childOf(budget, 'usd') !== undefined)) return;
  for (const [id, preset] of presets) {
    if (childOf(preset, 'model-list') !== undefined || childOf(preset, 'price') !== undefined) continue;
    const advice = 'give it price: { input, output } in dollars a million tokens (0 where it costs nothing)';
    problems.add('price-missing', preset.place, `preset ${id} has no price, and there is a budget in usd: ${advice}`);
  }
}
