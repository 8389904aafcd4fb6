import { Fragment } from 'react';
import { isEverywhere, isWithCtrl, keyNames, keyTable, type KeyName, signsOf } from './key-table.js';
import { isMac, useKeysSwitch } from './keys.js';
import { Dialog } from './run/dialog.js';

/**
 * Every key, those that do something on the page first.
 *
 * @param held those that did, when it was asked
 */
export default function KeysHelp({ held }: { held: readonly KeyName[] }) {
  const [areOn, turn] = useKeysSwitch();
  const isHere = new Set<KeyName>(held);
  return (
    <Dialog title="Keys">
      {(close) => (
        <>
          <p className="quiet">
            {areOn
              ? 'Single keys do nothing where text is written.'
              : 'Single keys are off; those with Ctrl or ⌘ hold nevertheless.'}
          </p>
          <Keys title="On this page" of={keyNames.filter((name) => isHere.has(name) && !isEverywhere(name))} />
          <Keys title="Everywhere" of={keyNames.filter(isEverywhere)} />
          <Keys
            title="On other pages"
            of={keyNames.filter((name) => !isHere.has(name) && !isEverywhere(name))}
            places
          />
          <div className="dialog-foot">
            <button type="button" className="button" onClick={close}>
              Close
            </button>
            <button type="button" className="button" onClick={() => turn(!areOn)}>
              {areOn ? 'Turn keys off' : 'Turn keys on'}
            </button>
          </div>
        </>
      )}
    </Dialog>
  );
}

function Keys({ title, of, places = false }: { title: string; of: readonly KeyName[]; places?: boolean }) {
  const [areOn] = useKeysSwitch();
  if (of.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3 className="keys-title">{title}</h3>
      <dl className="keys-table">
        {of.map((name) => (
          <div key={name} className={areOn || isWithCtrl(name) ? undefined : 'keys-off'}>
            <dt>
              {signsOf(name, isMac).map((sign, at) => (
                <Fragment key={sign}>
                  {at > 0 && !isWithCtrl(name) ? <span className="keys-then"> then </span> : ' '}
                  <kbd translate="no">{sign}</kbd>
                </Fragment>
              ))}
            </dt>
            <dd>
              {keyTable[name].does}
              {places ? <span className="quiet">: {keyTable[name].where}</span> : null}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
