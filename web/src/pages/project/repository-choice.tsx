import type { SharedRef } from '@suzumio/sdk/client';
import { useLocation } from 'wouter';
import { visible } from '../../parts/visible.js';
import { repositoryPath } from '../../parts/places.js';
import { type Asked, mainBranch, shortly } from './repository-names.js';

const mostRefs = 500;
const mostNameChars = 250;

/** Which two are compared. What is chosen is shown at once. */
export function RepositoryChoice({
  project,
  refs,
  asked,
}: {
  project: string;
  refs: readonly SharedRef[];
  asked?: Asked;
}) {
  const [, navigate] = useLocation();
  const names = refs.slice(0, mostRefs).map(({ ref }) => ref);
  if (names.length < 2 && asked === undefined) return null;
  const others = [asked?.from, asked?.to].filter((name): name is string => name !== undefined && !names.includes(name));
  const options = [...new Set([...names, ...others])];
  const [from, to] = [asked?.from ?? '', asked?.to ?? ''];
  const common = asked?.common ?? true;
  const choose = (change: Partial<{ from: string; to: string; common: boolean }>) => {
    const chosen = { from, to, common, ...change };
    if (chosen.to === '') return;
    const { from: old, ...rest } = chosen;
    navigate(repositoryPath(project, old === '' ? { to: rest.to } : { from: old, ...rest }));
  };
  return (
    <div className="turns-filters repository-choice">
      {asked === undefined ? <span className="quiet">Compare</span> : null}
      {asked === undefined ? null : (
        <label>
          <span className="visually-hidden">Compare with</span>
          <select className="input" value={from} onChange={({ target }) => choose({ from: target.value })}>
            <option value="">nothing</option>
            {options.map(optionOf)}
          </select>
        </label>
      )}
      {asked === undefined ? null : <span aria-hidden>→</span>}
      <label>
        <span className="visually-hidden">What is compared</span>
        <select
          className="input"
          value={to}
          onChange={({ target }) =>
            choose(asked ? { to: target.value } : { from: startOf(names, target.value), to: target.value })
          }
        >
          {asked === undefined ? <option value="">a branch or tag…</option> : null}
          {options.map(optionOf)}
        </select>
      </label>
      {asked?.from === undefined ? null : (
        <label className="repository-common">
          <input type="checkbox" checked={common} onChange={({ target }) => choose({ common: target.checked })} /> only
          what it has changed since both were the same
        </label>
      )}
    </div>
  );
}

const optionOf = (name: string) => (
  <option key={name} value={name}>
    {visible(shortly(name).slice(0, mostNameChars))}
  </option>
);

/** What a branch is compared with before somebody has said it: where others begin, or any other one. */
function startOf(names: readonly string[], chosen: string): string {
  const others = names.filter((name) => name !== chosen);
  return others.find((name) => name === mainBranch) ?? others[0] ?? '';
}
