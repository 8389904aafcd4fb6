import type { MessageDetail } from '@suzumio/sdk/client';
import { useMay } from '../use-act.js';
import { ActButton, Bar } from './bar.js';
import { openDialog } from './dialogs.js';
import { Menu, MenuItem } from './menu.js';
import { Going, RedactDialog } from './redact-dialog.js';
import { asked, useRun } from './use-run.js';
import { words } from './words.js';

/** What is done to a message that was sent: delivered again where it was not, or its text removed. */
export default function LetterActs({ project, message }: { project: string; message: MessageDetail }) {
  const may = useMay();
  const run = useRun(project);
  const { id, seq, body, delivery, redacted } = message;
  const mayRedact = redacted === null && may('redactMessage');
  const mayRedeliver = delivery.undelivered > 0 && may('redeliverMessage');
  return (
    <Bar label={`Message ${String(seq)}`} run={run} className="letter-acts">
      {mayRedeliver ? (
        <ActButton
          does="Deliver again"
          will={words.redeliverMessage.will}
          run={run}
          onAct={() => run.ask(asked('redeliverMessage', { project, message: id }), words.redeliverMessage.did)}
        />
      ) : null}
      {mayRedact ? (
        <Menu name="More">
          <MenuItem
            does="Remove its text…"
            will="Removes it for good, everywhere, after it was shown once more."
            onAct={() =>
              openDialog(
                <RedactDialog
                  changes={project}
                  request={asked('redactMessage', { project, message: id })}
                  what="message"
                >
                  <Going text={body} />
                </RedactDialog>,
              )
            }
          />
        </Menu>
      ) : null}
    </Bar>
  );
}
