import type { Client, FoundItem } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { useKeysHelp } from '../../acts/everywhere.js';
import { isEverywhere, keyTable, type KeyName, signsOf } from '../../acts/key-table.js';
import { isMac, pressKey, useHeld } from '../../acts/keys.js';
import { actsOnPage } from '../../acts/on-page.js';
import { useMayInCell } from '../../acts/use-may-make.js';
import { api, keys, publicPath } from '../../api.js';
import { placeOf, wordsFor } from '../../parts/found-item.js';
import { agentPath, filePath, turnPath } from '../../parts/places.js';
import { nameOf, stateOfAgent, stateOfProject, stateOfTurn } from '../../parts/states.js';
import { useFailed } from '../../use-inbox.js';
import { useProjects } from '../../use-projects.js';
import type { IconName } from '../../parts/icon.js';
import type { MarkKind } from '../../parts/mark-kind.js';
import type { Group } from './choices.js';

/** So many turns and files are recent; so many of each kind are found. */
const [recent, mostFound] = [5, 4];
/** So many acts are shown before anything is written. */
const mostActs = 14;
/** How long somebody has to rest before the server is asked. */
const restMs = 200;

const pagesOfProject: readonly [path: string, name: string][] = [
  ['', 'Now'],
  ['/mail', 'Mail'],
  ['/turns', 'Turns'],
  ['/tasks', 'Tasks'],
  ['/agents', 'Agents'],
  ['/files', 'Files'],
  ['/report', 'Report'],
  ['/workspace', 'Workspace'],
  ['/repository', 'Repository'],
  ['/cost', 'Cost'],
  ['/log', 'Log'],
  ['/setup', 'Setup'],
];

/** Keys that do nothing but move or are for fields; and one that ends a project, to whose button the palette leads. */
const noActs: readonly KeyName[] = ['down', 'up', 'enter', 'send', 'approve'];

type Go = (path: string) => () => void;

/** What can be chosen in the palette. */
export interface Choice {
  /** Where it leads, where it leads somewhere. */
  readonly id: string;
  readonly title: string;
  readonly note?: string | undefined;
  readonly sign?: { readonly icon: IconName } | { readonly mark: MarkKind };
  /** The signs of the key that does the same. */
  readonly keys?: string | undefined;
  readonly choose: () => void;
}

type Choices = Group<Choice>;

/** The acts that the page behind the palette offers. */
export function useActs(): Choices {
  const held = useHeld();
  const [offered] = useState(actsOnPage);
  const help = useKeysHelp();
  const withButton = new Set(offered.map(({ hotkey }) => hotkey));
  const byKey = held.filter((name) => !isEverywhere(name) && !noActs.includes(name) && !withButton.has(name));
  return {
    title: 'On this page',
    areActs: true,
    usual: mostActs,
    choices: [
      ...byKey.map((name) => ({
        id: `key ${name}`,
        title: keyTable[name].does,
        keys: shown(name),
        choose: () => pressKey(name),
      })),
      ...offered.map(({ does, will, hotkey, about, choose }, at) => ({
        id: `act ${at}`,
        title: does,
        note: [about === does ? '' : about.replace(/^Run /, ''), will].filter(Boolean).join(': '),
        keys: hotkey && shown(hotkey),
        choose,
      })),
      { id: 'help', title: keyTable.help.does, keys: shown('help'), choose: help },
    ],
  };
}

/** Pages, projects, and of the project in view its agents, newest turns and files; and whether some of them are still being read. */
export function usePlaces(): { places: Choices[]; isReading: boolean } {
  const [place, navigate] = useLocation();
  const go: Go = (path) => () => navigate(path);
  const project = /^\/p\/([^/]+)/.exec(place)?.[1];
  const pages = usePages(project, go);
  const projects = useProjectChoices(go);
  const ofProject = useOfProject(project, go);
  return {
    places: [...pages, ...projects.places, ...ofProject.places],
    isReading: projects.isReading || ofProject.isReading,
  };
}

function usePages(project: string | undefined, go: Go): Choices[] {
  const may = useMayInCell();
  type Page = [path: string, title: string, key?: KeyName];
  const pages: Page[] = [
    ['/', 'Inbox', 'goInbox'],
    ['/projects', 'Projects', 'goProjects'],
    ['/search', 'Search'],
    ['/system', 'System', 'goSystem'],
    ['/cost', 'What all projects cost'],
    ...(may('createProject') ? ([['/new', 'New project']] satisfies Page[]) : []),
    ['/tokens', 'People and tokens'],
    ...(may('listProfiles') ? ([['/profiles', 'Profiles']] satisfies Page[]) : []),
    ...(may('listTeams') ? ([['/teams', 'Teams']] satisfies Page[]) : []),
  ];
  const docs = { id: '/docs', title: 'Docs', choose: () => location.assign(`${publicPath}/docs`) };
  const everywhere = {
    title: 'Pages',
    choices: [
      ...pages.map(([path, title, key]) => ({ id: path, title, keys: key && shown(key), choose: go(path) })),
      docs,
    ],
  };
  if (project === undefined) return [everywhere];
  const choices = pagesOfProject.map(([path, title]) => {
    const href = `/p/${project}${path}`;
    return { id: href, title, note: `of ${project}`, choose: go(href) };
  });
  return [{ title: `Pages of ${project}`, choices }, everywhere];
}

function useProjectChoices(go: Go): ReturnType<typeof usePlaces> {
  const { data = [], isLoading } = useProjects();
  const failed = useFailed();
  const choices = data.map((project) => {
    const { mark, word } = stateOfProject(project, failed.has(project.id));
    const path = `/p/${project.id}`;
    return { id: path, title: project.id, note: word, sign: { mark }, choose: go(path) };
  });
  return { places: [{ title: 'Projects', choices }], isReading: isLoading };
}

function useOfProject(project: string | undefined, go: Go): ReturnType<typeof usePlaces> {
  const id = project ?? '';
  const enabled = project !== undefined;
  const detail = useQuery({
    queryKey: [...keys.project(id), 'detail'],
    queryFn: () => api.getProject({ project: id }),
    enabled,
  });
  const newest = useQuery({
    queryKey: [...keys.project(id), 'recent'],
    queryFn: () => recentOf(id),
    enabled,
  });
  const isReading = detail.isLoading || newest.isLoading;
  if (detail.data === undefined) return { places: [], isReading };
  const { agents } = detail.data;
  const called = (agent: string) => {
    const found = agents.find((one) => one.id === agent);
    return found ? nameOf(found) : agent;
  };
  const places: Choices[] = [
    {
      title: 'Agents',
      choices: agents.map((agent) => {
        const { mark, word } = stateOfAgent(agent);
        const title = nameOf(agent);
        const note = `${agent.role}, ${word}`;
        const path = agentPath(id, agent.id);
        return { id: path, title, note, sign: { mark }, choose: go(path) };
      }),
    },
    {
      title: 'Newest turns and files',
      choices: [
        ...(newest.data?.turns ?? []).map((turn) => {
          const { mark, word } = stateOfTurn(turn);
          const title = `${called(turn.agent)}, turn ${turn.number}`;
          const path = turnPath(id, turn.agent, turn.number);
          return { id: path, title, note: word, sign: { mark }, choose: go(path) };
        }),
        ...(newest.data?.files ?? []).map((file) => ({
          id: filePath(id, file.id),
          title: file.name,
          note: `by ${called(file.creator)}`,
          sign: { icon: 'file' as const },
          choose: go(filePath(id, file.id)),
        })),
      ],
    },
  ];
  return { places, isReading };
}

async function recentOf(project: string) {
  const query = { limit: recent, order: 'desc' } as const;
  const [turns, files] = await Promise.all([api.listTurns({ project, query }), api.listArtifacts({ project, query })]);
  return { turns: turns.items, files: files.items };
}

type Found = Awaited<ReturnType<Client['search']>>;

/** What the server finds, and the way to all of it. */
export function useFound(text: string): Choices[] {
  const [, navigate] = useLocation();
  const wanted = text.trim();
  const asked = useRested(wanted);
  const found = useQuery<Found>({
    queryKey: ['search', 'palette', asked],
    queryFn: ({ signal }) => api.search({ query: { q: asked, limit: mostFound } }, { signal }),
    enabled: asked.length > 1,
    retry: false,
    staleTime: 10_000,
    gcTime: 60_000,
  });
  if (wanted === '') return [];
  const items = asked === wanted ? (found.data?.items ?? []) : [];
  return [
    {
      title: 'Search',
      choices: [
        {
          id: 'search',
          title: `Search everything for “${wanted}”`,
          sign: { icon: 'search' },
          choose: () => navigate(`/search?q=${encodeURIComponent(wanted)}`),
        },
      ],
    },
    { title: 'Found', choices: items.map((item) => foundChoice(item, navigate)) },
  ];
}

function foundChoice(item: FoundItem, navigate: (path: string) => void): Choice {
  const { mark, title, where } = wordsFor(item);
  const path = placeOf(item);
  const sign = mark === undefined ? ({ icon: item.kind === 'agent' ? 'person' : 'file' } as const) : { mark };
  return { id: path, title, note: where, sign, choose: () => navigate(path) };
}

/** What was written, once nothing more is for a moment. */
function useRested(text: string): string {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), restMs);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
}

const shown = (name: KeyName) => signsOf(name, isMac).join(' ');
