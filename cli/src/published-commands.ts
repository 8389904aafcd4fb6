import { type Command, Option } from 'commander';

/**
 * A command of the published Suzumio: a row of the table in `docs/coming-from-suzumio.md`. `same`: it is here; `alias`:
 * it is another name of a command that is here; `note`: it is accepted, and one of its options has no effect.
 */
export type PublishedCommand = {
  /** As one types it. */
  readonly typed: string;
  /** What it is here: for the docs, and for notes. */
  readonly here: string;
} & (
  | { readonly meaning: 'same' }
  | {
      readonly meaning: 'alias';
      /** The command here. */
      readonly of: string;
    }
  | {
      readonly meaning: 'note';
      /** The option without effect. */
      readonly option: string;
    }
);

const list = 'the newest 50 unless `--limit` says otherwise; `--json` prints an array';
const needsServer = 'it needs a server that runs';

/** Every command of the published Suzumio, in all its versions. */
export const publishedCommands: readonly PublishedCommand[] = [
  { typed: 'config render FILE', meaning: 'same', here: 'a file of this format' },
  { typed: 'init FILE', meaning: 'same', here: '`--json` prints `{project, directory}`' },
  { typed: 'serve', meaning: 'same', here: 'with `--host`, `--port` and `--no-scheduler`' },
  {
    typed: 'serve --no-platforms',
    meaning: 'note',
    option: '--no-platforms',
    here: 'no platforms are served here, with or without it',
  },
  { typed: 'start PROJECT', meaning: 'same', here: needsServer },
  {
    typed: 'send PROJECT RECIPIENT PRIORITY MESSAGE…',
    meaning: 'same',
    here: `${needsServer}; \`--json\` prints \`{id, seq, recipients}\``,
  },
  { typed: 'status [PROJECT]', meaning: 'same', here: '`--json` prints what `GET /api/projects/:project` answers' },
  { typed: 'messages PROJECT', meaning: 'same', here: list },
  { typed: 'turns PROJECT', meaning: 'same', here: list },
  { typed: 'activations PROJECT', meaning: 'alias', of: 'turns', here: '`turns PROJECT`' },
  { typed: 'artifacts PROJECT', meaning: 'same', here: list },
  { typed: 'events PROJECT', meaning: 'same', here: list },
  { typed: 'tick [PROJECT]', meaning: 'same', here: needsServer },
  { typed: 'stop PROJECT', meaning: 'same', here: `${needsServer}; turns that run go to their end, or \`--now\`` },
  {
    typed: 'approve PROJECT',
    meaning: 'same',
    here: `${needsServer}; only where a report is submitted: \`stop\` ends a project without one`,
  },
];

/**
 * Has a program take names of the published Suzumio, which its help does not show.
 *
 * @param note tells that an option has no effect
 */
export function acceptPublishedNames(program: Command, note: (text: string) => void): void {
  for (const row of publishedCommands) {
    const [name = ''] = row.typed.split(' ');
    if (row.meaning === 'alias') called(program, row.of).alias(name);
    if (row.meaning === 'note') {
      const option = new Option(row.option).hideHelp();
      called(program, name)
        .addOption(option)
        .hook('preAction', (command) => {
          const given = command.getOptionValueSource(option.attributeName()) === 'cli';
          if (given) note(`${row.option}: ${row.here}`);
        });
    }
  }
}

function called(program: Command, name: string): Command {
  const command = program.commands.find((one) => one.name() === name);
  if (!command) throw new Error(`there is no command ${name}`);
  return command;
}
