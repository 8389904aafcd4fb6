import { ConfigErrors } from '@suzumio/core/config/config-problem';
import type { ProjectSource } from '@suzumio/core/config/project-source';
import { providerDenial } from '@suzumio/core/policy/check-provider';
import { type Policy, policySchema } from '@suzumio/core/policy/policy';
import { type Session, shellWord } from '../session.js';
import { UsageError } from '../usage-error.js';
import { type ConsentKind, consentsIn } from '../consents.js';
import { isExpected } from './expected-providers.js';
import { describePair, isSamePair, pairsOf, type ProviderPair, wordOf } from './provider-pair.js';

const providerSchema = policySchema.shape.providers.unwrap().element;

const kind: ConsentKind<typeof providerSchema> = {
  name: 'providers-allowed.json',
  what: 'providers',
  schema: providerSchema,
  isSame: isSamePair,
};

/**
 * The providers of a file that its project may use beyond the policy. A file decides where a key is sent, and another
 * person may have written it: so the user is asked once for each address with its key, and the answer is stored for
 * that file.
 *
 * @param policy what the project is allowed already
 * @param agreed what the command itself allows
 * @throws {ConfigErrors} `policy-denied` without a terminal to ask at
 * @throws UsageError where the user does not allow it
 */
export async function allowProviders(
  session: Session,
  source: ProjectSource,
  policy: Policy,
  agreed: readonly ProviderPair[],
): Promise<ProviderPair[]> {
  const [file = ''] = source.files;
  const consents = consentsIn(session.root, kind);
  const isAgreed = (pair: ProviderPair) =>
    isExpected(pair) || agreed.some((one) => isSamePair(one, pair)) || consents.allowed(file, pair);
  const unknown = beyond(policy, source).filter(([, pair]) => !isAgreed(pair));
  const ask = session.json ? undefined : session.context.ask;
  if (unknown.length > 0 && ask === undefined) throw nobodyToAsk(session, source, unknown);
  for (const [, pair] of unknown) {
    session.context.err.write(`${file} wants to ask models at ${describePair(pair)}.\n`);
    const answer = ((await ask?.('Allow that for this file, now and later? [y/N] ')) ?? '').trim().toLowerCase();
    if (answer !== 'y' && answer !== 'yes') throw new UsageError('Nothing was made.');
    consents.remember(file, pair);
  }
  return providersBeyond(policy, source);
}

/** The providers of a file that a policy does not name. */
export function providersBeyond(policy: Policy, source: ProjectSource): ProviderPair[] {
  return beyond(policy, source).map(([, pair]) => pair);
}

function beyond(policy: Policy, { config }: ProjectSource): (readonly [id: string, ProviderPair])[] {
  return [...pairsOf(config)].filter(([, pair]) => providerDenial(policy, pair) !== undefined);
}

function nobodyToAsk(
  { suzumio }: Session,
  source: ProjectSource,
  unknown: readonly (readonly [id: string, ProviderPair])[],
): ConfigErrors {
  const problems = unknown.map(([id, pair]) => ({
    ...source.locate(['backend', 'runner', 'models', 'providers', id]),
    code: 'policy-denied' as const,
    message: `backend.runner.models.providers.${id}: nobody is there to be asked about ${describePair(pair)} (policy: providers)`,
  }));
  const options = unknown.map(([, pair]) => `--allow-provider ${shellWord(wordOf(pair))}`).join(' ');
  const next = `the same on a terminal, which asks, or with ${options}   (or name it in the policy: ${suzumio} policy show)`;
  return new ConfigErrors(problems, 'policy-denied', { next });
}
