import * as z from 'zod';
import {
  atLeastOneAgent,
  backendConfig,
  channelConfig,
  dockerConfig,
  fileAgentConfig,
  gitConfig,
  hasEntries,
  mountConfig,
  observabilityConfig,
  projectConfig,
  runnerConfig,
  schedulerConfig,
  toolpackConfig,
  turnConfig,
} from '@suzumio/contract/model/project-config';
import { modelsConfig } from '@suzumio/contract/model/models-config';
import { wholeNumber } from '@suzumio/contract/model/scalar-config';
import { configLimits } from './limits.js';

const sourceMount = mountConfig.partial({ readonly: true });

const sourceAgent = fileAgentConfig.omit({ base: true, mounts: true }).extend({
  tools: fileAgentConfig.shape.tools.optional(),
  mounts: z.array(sourceMount).max(32).optional(),
  count: wholeNumber(1, configLimits.agents).optional(),
  names: z.array(fileAgentConfig.shape.displayName.unwrap()).max(configLimits.agents).optional(),
});
export type SourceAgent = z.infer<typeof sourceAgent>;

const sourceBackend = backendConfig.partial().extend({
  docker: dockerConfig
    .partial()
    .extend({ mounts: z.array(sourceMount).max(32).optional() })
    .optional(),
  runner: runnerConfig.partial().extend({ models: modelsConfig.partial().optional() }).optional(),
});

/** The schema of what people write: the rendered form with defaults left out, and with short forms. */
export const sourceConfig = projectConfig.omit({ rendered: true }).extend({
  channels: z
    .array(z.union([channelConfig.shape.name, channelConfig.partial({ members: true })]))
    .max(1000)
    .optional(),
  scheduler: schedulerConfig.partial().optional(),
  backend: sourceBackend.optional(),
  agents: z.record(projectConfig.shape.agents.keyType, sourceAgent).refine(hasEntries, { error: atLeastOneAgent }),
  tools: z.strictObject({ toolpacks: z.array(toolpackConfig).max(100).optional() }).optional(),
  turn: turnConfig.partial().optional(),
  git: gitConfig.partial({ shared: true }).optional(),
  observability: z
    .strictObject({
      http: observabilityConfig.shape.http.partial().optional(),
      webui: observabilityConfig.shape.webui.partial().optional(),
    })
    .optional(),
});
export type SourceConfig = z.infer<typeof sourceConfig>;
