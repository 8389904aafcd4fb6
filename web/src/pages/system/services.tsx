import type { ReactNode } from 'react';
import { NextAct } from '../../acts/run/late.js';
import { Copyable } from '../../parts/copy.js';
import { Mark } from '../../parts/mark.js';
import type { MarkKind } from '../../parts/mark-kind.js';
import { count, some } from '../../parts/numbers.js';
import { Ago, Moment } from '../../parts/time.js';
import type { SystemState } from '../../use-system.js';

interface Line {
  key: string;
  name: string;
  mark: MarkKind;
  word: string;
  detail: ReactNode;
}

/** Services, the queue and what is on it, a line each; each says how that is known. */
export function Services({ system }: { system: SystemState }) {
  const { queue, services, toolhosts, workers, version, paused } = system;
  const lines: Line[] = [
    { key: 'api', name: 'API', mark: 'done', word: 'answers', detail: `version ${version}` },
    serviceLine('Scheduler', 'scheduler', services, 'No turn starts without one.'),
    serviceLine('ToolHost', 'toolhost', services, 'No turn can run without one.'),
    ...toolhosts.map(({ url, version: own, problem }): Line => ({
      key: url,
      name: 'ToolHost, asked',
      mark: own === null ? 'failed' : 'done',
      word: own === null ? 'does not answer' : 'answers',
      detail: (
        <>
          <code translate="no">{url}</code> {own === null ? problem : `version ${own}`}
        </>
      ),
    })),
    queueLine(queue),
    {
      key: 'workers',
      name: 'Workers',
      mark: workers === null || workers.lost > 0 ? 'failed' : workers.ready > 0 ? 'done' : 'paused',
      word: workers === null ? 'unknown' : `${workers.ready} of ${workers.connected} ready`,
      detail:
        workers === null
          ? 'The queue knows them.'
          : `${workers.busy} of ${some(workers.slots, 'slot')} busy${workers.lost === 0 ? '' : `, ${count(workers.lost)} lost`}`,
    },
  ];
  return (
    <section aria-label="Services">
      <h2>Services</h2>
      {paused === null ? null : (
        <p className="state state-paused">
          <Mark kind="paused" /> Every project is paused by <bdi>{paused.by}</bdi>.{' '}
          <NextAct next={{ operation: 'resumeCell', params: {}, asks: [] }} /> <Copyable text="suzumio resume --all" />
        </p>
      )}
      <ul className="services">
        {lines.map(({ key, name, mark, word, detail }) => (
          <li key={key} className="service">
            <Mark kind={mark} />
            <b>{name}</b>
            <span className={`state state-${mark}`}>{word}</span>
            <span className="service-detail">{detail}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function serviceLine(name: string, service: string, services: SystemState['services'], without: string): Line {
  const own = services.filter((one) => one.service === service);
  const alive = own.filter((one) => one.alive);
  const last = own.toSorted((a, b) => (a.seenAt < b.seenAt ? 1 : -1))[0];
  if (alive.length === 0) {
    return {
      key: service,
      name,
      mark: 'failed',
      word: 'not seen',
      detail: last ? (
        <>
          Last seen <Ago at={last.seenAt} inWords />. {without}
        </>
      ) : (
        without
      ),
    };
  }
  const hosts = [...new Set(alive.map(({ host }) => host))].join(', ');
  return {
    key: service,
    name,
    mark: 'done',
    word: alive.length === 1 ? 'alive' : `${alive.length} alive`,
    detail: (
      <>
        on <bdi>{hosts}</bdi>, since <Moment at={alive.map(({ since }) => since).sort()[0] ?? ''} />
      </>
    ),
  };
}

function queueLine({ kind, turns }: SystemState['queue']): Line {
  const name = kind === 'redis' ? 'Queue, in Redis' : 'Queue, in memory';
  if (turns === null) {
    return { key: 'queue', name, mark: 'failed', word: 'does not answer', detail: 'Turns start more slowly, or not.' };
  }
  const { waiting, active, delayed } = turns;
  return {
    key: 'queue',
    name,
    mark: 'done',
    word: 'answers',
    detail: `${some(waiting, 'turn')} waiting, ${count(active)} active, ${count(delayed)} delayed`,
  };
}
