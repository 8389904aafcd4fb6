import { type ComponentType, useEffect, useState } from 'react';

/** A part that could not be loaded is asked for again after so long: the server may be about to come back. */
const againMs = 3_000;

/**
 * A part that is loaded when it is shown for the first time. A server that is away meanwhile only delays it. What a key opens to
 * be typed in is no such part: what is typed meanwhile would be keys of the page.
 */
export function late<Props extends object>(load: () => Promise<{ default: ComponentType<Props> }>) {
  let loaded: ComponentType<Props> | undefined;
  return function Late(props: Props) {
    const [Part, setPart] = useState(() => loaded);
    useEffect(() => {
      if (Part !== undefined) return undefined;
      let timer: ReturnType<typeof setTimeout> | undefined;
      let isShown = true;
      const ask = () => {
        load().then(
          ({ default: part }) => {
            loaded = part;
            if (isShown) setPart(() => part);
          },
          () => {
            if (isShown) timer = setTimeout(ask, againMs);
          },
        );
      };
      ask();
      return () => {
        isShown = false;
        clearTimeout(timer);
      };
    }, [Part]);
    return Part === undefined ? null : <Part {...props} />;
  };
}

export const ProjectActs = late(() => import('./project-acts.js'));
export const AgentActs = late(() => import('./agent-acts.js'));
export const LetterActs = late(() => import('./letter-acts.js'));
export const FileActs = late(() => import('./file-acts.js'));
export const BudgetActs = late(() => import('./budget-acts.js'));
export const NextAct = late(() => import('./next-act.js'));
export const SystemActs = late(() => import('./system-acts.js'));
export const Notes = late(() => import('./notes.js'));
export const KeysHelp = late(() => import('../keys-help.js'));
