import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { Environment } from '@suzumio/core/config/environment';

/** Which model thinks for the demo, and what it may cost. */
export interface DemoModelOptions {
  /** A server that speaks OpenAI's Chat Completions; without it, OpenAI's own. */
  baseUrl?: string;
  model?: string;
  /** Dollars a million tokens, in and out. */
  price?: { input: number; output: number };
  /** Where it stops, in dollars. @default 0.5 */
  budget?: number;
}

const keyVariable = 'OPENAI_API_KEY';

/**
 * The newsroom with the model that was asked for.
 *
 * @throws SuzumioError `settings-invalid` where something is missing to ask it
 */
export function withDemoModel(
  config: ProjectConfig,
  options: DemoModelOptions,
  environment: Environment,
): ProjectConfig {
  const { baseUrl, model, price, budget = 0.5 } = options;
  const { runner } = config.backend;
  const preset = runner.models?.presets['main'];
  const provider = runner.models?.providers['main'];
  if (preset === undefined || 'model-list' in preset || provider === undefined) {
    throw new Error('the example has no preset called main');
  }
  if (baseUrl === undefined && (environment[keyVariable] ?? '') === '') {
    throw new SuzumioError(
      'settings-invalid',
      `A model needs a key in ${keyVariable}, or a server of its own: --base-url http://localhost:11434/v1 --model NAME.`,
    );
  }
  if (baseUrl !== undefined && model === undefined) {
    throw new SuzumioError('settings-invalid', `Say which model of ${baseUrl} is to be asked: --model NAME.`);
  }
  if (baseUrl === undefined && model !== undefined && price === undefined) {
    const message = `Say what ${model} costs, so that the budget can be kept: --price IN/OUT in dollars a million tokens.`;
    throw new SuzumioError('settings-invalid', message);
  }
  return {
    ...config,
    budget: { usd: budget },
    backend: {
      ...config.backend,
      runner: {
        ...runner,
        models: {
          providers: { main: baseUrl === undefined ? provider : { type: provider.type, baseURL: baseUrl } },
          presets: {
            main: {
              ...preset,
              ...(model === undefined ? {} : { model }),
              price:
                price ?? (baseUrl === undefined ? (preset.price ?? { input: 0, output: 0 }) : { input: 0, output: 0 }),
            },
          },
        },
      },
    },
  };
}
