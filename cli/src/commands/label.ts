import { type Labels, labelKey } from '@suzumio/contract/model/labels';
import { oneLine } from '@suzumio/core/prompt/body';
import { requireApi } from '../reach/reach.js';
import { type Session, shellWord } from '../session.js';
import { UsageError } from '../usage-error.js';
import type { Register } from './action.js';
import { gatherLabels } from './arguments.js';
import { examples } from './help.js';
import { tell } from './tell.js';

export const registerLabel: Register = (program, action) => {
  examples(
    program
      .command('label <project> <labels...>')
      .description('set labels of a project with KEY=VALUE, and remove others with KEY-'),
    ['label newsroom team=river env=live'],
    ['label newsroom env-', 'it has no label env any more'],
  ).action(action(label));
};

async function label(session: Session, project: string, words: string[]): Promise<undefined> {
  const body = changeOf(words);
  const api = await requireApi(session);
  const answer = await api.labelProject({ project, body });
  const now = Object.entries(answer.project.labels).map(([key, value]) => oneLine(`${key}=${value}`));
  const filed = now.length === 0 ? `${project} has no labels now.` : `${project} is filed under ${now.join(' ')}.`;
  tell(session, answer, [filed], now[0] === undefined ? 'status' : `status --label ${shellWord(now[0])}`);
}

/** What the words ask for: the last word on a label holds. */
function changeOf(words: readonly string[]): { set: Labels; remove: string[] } {
  let set: Labels = {};
  const remove = new Set<string>();
  for (const word of words) {
    if (word.includes('=')) {
      set = gatherLabels(word, set);
      remove.delete(word.slice(0, word.indexOf('=')));
    } else if (word.endsWith('-') && labelKey.safeParse(word.slice(0, -1)).success) {
      const key = word.slice(0, -1);
      set = Object.fromEntries(Object.entries(set).filter(([name]) => name !== key));
      remove.add(key);
    } else {
      throw new UsageError(
        `"${oneLine(word)}" is neither KEY=VALUE, which sets a label, nor KEY-, which removes one.`,
        'label --help',
      );
    }
  }
  return { set, remove: [...remove] };
}
