import { errorCodes } from '@suzumio/contract/errors/codes';
import { refusalsOf } from '@suzumio/contract/operations/operation';
import { code, h, joined, markup, table } from '../element.js';
import type { Source } from '../page.js';
import type { Description } from './description.js';
import { entriesOf } from './entries.js';
import { pathOfGroup } from './paths.js';

/** Operations that are named where a code is refused by some; by more it is one of what holds everywhere. */
const mostNamed = 8;

/** Every error code, with the operations that refuse with it. */
export function errorPage(description: Description): Source {
  return {
    path: 'docs/errors',
    title: 'Error codes',
    group: 'Reference',
    render: ({ root }) => {
      const entries = entriesOf(description);
      const rows = Object.entries(errorCodes).map(([name, { status, retryable }]) => {
        const by = entries.filter(({ operation }) => refusalsOf(operation).some((refusal) => refusal === name));
        const links = by.map(({ operation }) =>
          h('a', { href: `${root}${pathOfGroup(operation.group)}#${operation.id}` }, code(operation.id)),
        );
        const where = by.length > mostNamed ? [`${by.length} operations`] : joined(links, ', ');
        return [h('code', { id: name }, name), String(status), retryable ? 'yes' : 'no', h('span', null, ...where)];
      });
      return {
        html: markup(
          h('h1', { id: 'error-codes' }, 'Error codes'),
          h(
            'p',
            null,
            'Every refusal is a ',
            h('a', { href: `${root}docs/http-api#refusals` }, 'problem document'),
            ' whose ',
            code('code'),
            ' is one of these. They are stable: scripts and alerts match on them. “Again” says whether the same request may succeed later without being changed. ',
            'Where no operation is named, the code reaches agents, runners, workers, commands or logs.',
          ),
          table(['Code', 'Status', 'Again', 'Refused by'], rows),
        ),
        sections: [
          { anchor: 'error-codes', title: 'Error codes', level: 1, text: 'code status retryable problem refusal' },
          ...Object.entries(errorCodes).map(([name, { status }]) => ({
            anchor: name,
            title: name,
            // Too many for a table of contents.
            level: 7,
            text: `error code, status ${status}`,
          })),
        ],
      };
    },
  };
}
