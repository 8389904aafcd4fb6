import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { closeDialog } from '../../acts/run/dialogs.js';
import { Dialog } from '../../acts/run/dialog.js';
import { Icon } from '../../parts/icon.js';
import { Mark } from '../../parts/mark.js';
import { visible } from '../../parts/visible.js';
import { keyed, matching } from './choices.js';
import { type Choice, useActs, useFound, usePlaces } from './use-choices.js';

const mostChars = 200;

/** Where one can go, what one can do on the page, and what is found: by writing some of it. */
export function Palette() {
  return (
    <Dialog title="Go somewhere, do something, search" className="palette">
      {() => <Chooser />}
    </Dialog>
  );
}

type KeyedChoice = Choice & { readonly key: string };

function Chooser() {
  const ids = useId();
  const [text, setText] = useState('');
  const [wanted, setWanted] = useState<string>();
  // Enter was pressed while what is nearest to the words may still come.
  const [isHeld, setHeld] = useState(false);
  const acts = useActs();
  const found = useFound(text);
  const { places, isReading } = usePlaces();
  const groups = keyed(matching([acts, ...places], text), found);
  const choices = groups.flatMap((group) => group.choices);
  const wantedAt = choices.findIndex(({ key }) => key === wanted);
  // Enter does nothing that nobody has asked for, by words or by arrows.
  const at = wantedAt === -1 && text.trim() !== '' ? 0 : wantedAt;
  const chosen = choices[at];
  const idOf = (choice: KeyedChoice) => `${ids}${choices.indexOf(choice)}`;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen?.key]);
  const choose = (choice: Choice | undefined) => {
    if (choice === undefined) return;
    // What is done may ask something over the page by itself, or move the focus in it, which takes nothing while a dialog is open.
    flushSync(closeDialog);
    choice.choose();
  };
  useEffect(() => {
    if (isHeld && !isReading) choose(chosen);
  });
  const press = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (event.nativeEvent.isComposing || (by === 0 && event.key !== 'Enter')) return;
    event.preventDefault();
    if (by === 0 && isReading && wantedAt === -1) {
      setHeld(chosen !== undefined);
    } else if (by === 0) {
      choose(chosen);
    } else {
      setHeld(false);
      setWanted(choices.at((at === -1 && by === -1 ? -1 : at + by) % choices.length)?.key);
    }
  };
  return (
    <>
      <div className="palette-field">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          className="input"
          aria-label="Where to go, what to do, or what to look for"
          aria-autocomplete="list"
          aria-expanded
          aria-controls={`${ids}list`}
          aria-activedescendant={chosen && idOf(chosen)}
          placeholder="A page, a project, an act, or words"
          autoComplete="off"
          spellCheck={false}
          maxLength={mostChars}
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            setWanted(undefined);
            setHeld(false);
          }}
          onKeyDown={press}
        />
      </div>
      <div className="palette-list" role="listbox" id={`${ids}list`} aria-label="Choices" tabIndex={-1} ref={list}>
        {groups.map((group) => (
          <div key={group.title} role="group" aria-label={group.title} className="palette-group">
            <p className="palette-title" aria-hidden>
              {group.title}
            </p>
            {group.choices.map((choice) => (
              <Option
                key={choice.key}
                id={idOf(choice)}
                choice={choice}
                isChosen={choice === chosen}
                onPoint={() => setWanted(choice.key)}
                onChoose={() => choose(choice)}
              />
            ))}
          </div>
        ))}
      </div>
      <p className="visually-hidden" role="status">
        {isHeld ? 'Projects are still being read.' : text === '' ? '' : `${choices.length} to choose from`}
      </p>
    </>
  );
}

interface OptionProps {
  id: string;
  choice: Choice;
  isChosen: boolean;
  onPoint: () => void;
  onChoose: () => void;
}

function Option({ id, choice: { title, note, sign, keys }, isChosen, onPoint, onChoose }: OptionProps) {
  return (
    <div
      role="option"
      id={id}
      aria-selected={isChosen}
      className="palette-choice"
      onPointerMove={isChosen ? undefined : onPoint}
      onClick={onChoose}
    >
      <span className="palette-sign" aria-hidden>
        {sign === undefined ? null : 'icon' in sign ? <Icon name={sign.icon} /> : <Mark kind={sign.mark} />}
      </span>
      <span className="palette-words">
        <b>
          <bdi>{visible(title.slice(0, 200))}</bdi>
        </b>
        {note === undefined || note === '' ? null : (
          <span className="quiet">
            {' '}
            <bdi>{visible(note.slice(0, 300))}</bdi>
          </span>
        )}
      </span>
      {keys === undefined ? null : (
        <kbd translate="no" aria-hidden>
          {keys}
        </kbd>
      )}
    </div>
  );
}
