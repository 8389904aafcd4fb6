import type { ProjectDetail } from '@suzumio/sdk/client';
import { useSearchParams } from 'wouter';
import { Icon } from '../../../parts/icon.js';
import { nameOf } from '../../../parts/states.js';
import { useMailCounts } from '../../../use-project.js';

const priorities = ['P0', 'P1', 'P2', 'P3'] as const;
const states = [
  ['unread', 'Unread'],
  ['read', 'Read'],
  ['undelivered', 'Not delivered'],
] as const;

/** What messages have to be to be shown; nothing where all are. */
export interface Wanted {
  sender?: string;
  recipient?: string;
  channel?: string;
  priority?: (typeof priorities)[number];
  state?: (typeof states)[number][0];
  search?: string;
}

/** The names of the filters in the address. */
const names = ['from', 'to', 'channel', 'priority', 'state', 'q'] as const;
type Name = (typeof names)[number];

export type Change = (name: Name, value: string) => void;

/** The filters of the address. One that means nothing is left out. */
export function useFilters(): { wanted: Wanted; query: string; change: Change } {
  const [params, setParams] = useSearchParams();
  const of = (name: Name) => params.get(name)?.trim().slice(0, 200) || undefined;
  const given = {
    sender: of('from'),
    recipient: of('to'),
    channel: of('channel'),
    priority: priorities.find((one) => one === of('priority')),
    state: states.find(([one]) => one === of('state'))?.[0],
    search: of('q'),
  };
  const wanted: Wanted = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const kept = new URLSearchParams(names.flatMap((name) => (of(name) === undefined ? [] : [[name, of(name) ?? '']])));
  return {
    wanted,
    query: kept.size === 0 ? '' : `?${kept.toString()}`,
    change: (name, value) =>
      setParams((before) => {
        const next = new URLSearchParams(before);
        if (value === '') next.delete(name);
        else next.set(name, value);
        return next;
      }),
  };
}

interface FiltersProps {
  detail: ProjectDetail;
  wanted: Wanted;
  change: Change;
}

/** By whom, to whom, how urgent, what became of it, and words that are in it. */
export function Filters({ detail: { project, agents }, wanted, change }: FiltersProps) {
  const counts = useMailCounts(project.id).data ?? [];
  const channels = [...new Set(counts.flatMap(({ channel }) => channel ?? []))].sort();
  const people = agents.map((agent) => [agent.id, nameOf(agent)] as const);
  return (
    <form
      className="mail-filters"
      role="search"
      aria-label="Mail"
      onSubmit={(event) => {
        event.preventDefault();
        const text = new FormData(event.currentTarget).get('q');
        change('q', typeof text === 'string' ? text.trim() : '');
      }}
    >
      <label className="mail-search">
        <Icon name="search" />
        <span className="visually-hidden">Search mail</span>
        <input
          key={wanted.search ?? ''}
          name="q"
          type="search"
          className="input"
          placeholder="Search mail"
          defaultValue={wanted.search ?? ''}
          maxLength={200}
        />
      </label>
      <Choice
        name="from"
        label="From"
        value={wanted.sender}
        options={[['user', 'You'], ...people, ['system', 'Suzumio']]}
        change={change}
      />
      <Choice name="to" label="To" value={wanted.recipient} options={[['user', 'You'], ...people]} change={change} />
      {channels.length === 0 && wanted.channel === undefined ? null : (
        <Choice
          name="channel"
          label="Channel"
          value={wanted.channel}
          options={channels.map((one) => [one, one])}
          change={change}
        />
      )}
      <Choice
        name="priority"
        label="Priority"
        value={wanted.priority}
        options={priorities.map((one) => [one, one])}
        change={change}
      />
      <Choice name="state" label="State" value={wanted.state} options={states} change={change} />
    </form>
  );
}

interface ChoiceProps {
  name: Name;
  label: string;
  value: string | undefined;
  options: readonly (readonly [value: string, words: string])[];
  change: Change;
}

function Choice({ name, label, value = '', options, change }: ChoiceProps) {
  const isKnown = value === '' || options.some(([one]) => one === value);
  return (
    <select
      className={value === '' ? 'choice' : 'choice choice-made'}
      aria-label={label}
      value={value}
      onChange={(event) => change(name, event.currentTarget.value)}
    >
      <option value="">{label}: all</option>
      {options.map(([one, words]) => (
        <option key={one} value={one}>
          {label}: {words}
        </option>
      ))}
      {isKnown ? null : (
        <option value={value}>
          {label}: {value}
        </option>
      )}
    </select>
  );
}
