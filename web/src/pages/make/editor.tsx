import { acceptCompletion, autocompletion, completionKeymap, type CompletionContext } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  indentService,
  syntaxHighlighting,
} from '@codemirror/language';
import { EditorState, type Range, StateEffect, StateField, type Text } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { type Ref, useEffect, useImperativeHandle, useRef } from 'react';
import { placeIn, type Schema, wordsAt } from './schema-paths.js';

/** A problem or a note, where it is. */
export interface Marked {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** What may be done to an editor from beside it. */
export interface EditorHandle {
  /** Puts the cursor there, and goes to it. */
  go(line: number, column: number): void;
  /** Puts another text in the place of all; it can be undone. */
  replace(text: string): void;
}

interface Props {
  readonly text: string;
  readonly onText: (text: string) => void;
  /** A text or files that came by paste or drop, where they are more than is typed. @returns whether it is taken care of */
  readonly onGiven: (given: { text?: string; files?: readonly File[] }) => boolean;
  readonly problems: readonly Marked[];
  readonly notes: readonly Marked[];
  readonly schema: Schema | undefined;
  readonly mostChars: number;
  readonly onFull: () => void;
  readonly ref?: Ref<EditorHandle>;
}

/** The field of a project file: it knows YAML and the fields of the format. */
export default function Editor(props: Props) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const now = useRef(props);
  useEffect(() => {
    now.current = props;
  });
  useEffect(() => {
    if (place.current === null) return undefined;
    // Its style is a sheet of a shadow root: the page's policy allows no other.
    const root = place.current.shadowRoot ?? place.current.attachShadow({ mode: 'open' });
    const made = new EditorView({ root, parent: root, state: stateOf(now.current.text, () => now.current) });
    view.current = made;
    mark(made, now.current);
    return () => {
      made.destroy();
      view.current = undefined;
    };
  }, []);
  const { text, problems, notes } = props;
  useEffect(() => {
    // What was written here is known; what comes from elsewhere, as from another tab, takes its place.
    const made = view.current;
    if (made && !made.hasFocus && made.state.doc.toString() !== text) replaceAll(made, text);
  }, [text]);
  useEffect(() => {
    if (view.current) mark(view.current, { problems, notes });
  }, [problems, notes]);
  useImperativeHandle(props.ref, () => ({
    go(line, column) {
      const made = view.current;
      if (!made) return;
      const position = positionOf(made.state.doc, { line, column });
      made.dispatch({ selection: { anchor: position }, effects: EditorView.scrollIntoView(position, { y: 'center' }) });
      made.focus();
    },
    replace(next) {
      if (view.current) replaceAll(view.current, next);
    },
  }));
  return <div className="make-code" ref={place} />;
}

/** What a key has on lines of its own stands deeper than the key. */
const belowKeys = indentService.of((context, at) => {
  const key = /^(\s*(?:- +)*)[^\s#][^#]*:(?:\s+[|>][+-]?)?\s*$/.exec(context.lineAt(at, -1).text);
  return key === null ? undefined : (key[1]?.length ?? 0) + 2;
});

function stateOf(text: string, now: () => Props): EditorState {
  return EditorState.create({
    doc: text,
    extensions: [
      lineNumbers(),
      history(),
      drawSelection(),
      indentOnInput(),
      belowKeys,
      bracketMatching(),
      highlightActiveLine(),
      EditorView.lineWrapping,
      yaml(),
      syntaxHighlighting(colours),
      autocompletion({ override: [(context) => complete(context, now().schema)], icons: false }),
      marks,
      keymap.of([
        { key: 'Tab', run: acceptCompletion },
        ...completionKeymap,
        { key: 'Escape', run: leaveByTab },
        ...defaultKeymap,
        ...historyKeymap,
        indentWithTab,
      ]),
      EditorView.contentAttributes.of({
        'aria-label': 'Project file. Tab indents; Escape and then Tab leaves the file.',
        autocapitalize: 'off',
        spellcheck: 'false',
      }),
      EditorState.changeFilter.of(({ docChanged, newDoc }) => {
        if (!docChanged || newDoc.length <= now().mostChars) return true;
        now().onFull();
        return false;
      }),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) now().onText(state.doc.toString());
      }),
      EditorView.domEventHandlers({
        blur: (_event, view) => {
          view.setTabFocusMode(false);
        },
        paste: (event) => given(event, event.clipboardData, now()),
        drop: (event) => given(event, event.dataTransfer, now()),
      }),
      look,
    ],
  });
}

function given(event: Event, data: DataTransfer | null, { onGiven }: Props): boolean {
  const files = [...(data?.files ?? [])];
  const isTaken = files.length > 0 ? onGiven({ files }) : onGiven({ text: data?.getData('text/plain') ?? '' });
  if (isTaken) event.preventDefault();
  return isTaken;
}

/** From here on, Tab goes to what comes after the file, until the file is left. */
function leaveByTab(view: EditorView): boolean {
  view.setTabFocusMode(true);
  return true;
}

function replaceAll(view: EditorView, text: string): void {
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: 0 } });
}

function complete(context: CompletionContext, schema: Schema | undefined) {
  if (schema === undefined) return null;
  const { state, pos, explicit } = context;
  const line = state.doc.lineAt(pos);
  const word = /[\w.-]*$/.exec(line.text.slice(0, pos - line.from))?.[0] ?? '';
  if (word === '' && !explicit) return null;
  const before: string[] = [];
  for (let number = Math.max(1, line.number - 2_000); number < line.number; number++) {
    before.push(state.doc.line(number).text);
  }
  const place = placeIn([...before, line.text.slice(0, pos - line.from)]);
  if (place === undefined) return null;
  const lead = line.text.slice(0, pos - line.from - word.length);
  // Fields stand below the name of what has them.
  const inner = /^[\s-]*$/.test(lead) ? `\n${' '.repeat(lead.length + 2)}` : ' ';
  return {
    from: pos - word.length,
    validFor: /^[\w.-]*$/,
    options: wordsAt(schema, place).map(({ label, detail, isField, isRequired }) => ({
      label,
      detail: isRequired ? `${detail}, required` : detail,
      apply: isField ? `${label}:${detail === 'fields' ? inner : ' '}` : label,
      boost: isRequired ? 1 : 0,
    })),
  };
}

const setMarks = StateEffect.define<DecorationSet>();
const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(present, { changes, effects }) {
    const moved = present.map(changes);
    return effects.reduce((last, effect) => (effect.is(setMarks) ? effect.value : last), moved);
  },
  provide: (field) => EditorView.decorations.from(field),
});

function mark(view: EditorView, { problems, notes }: Pick<Props, 'problems' | 'notes'>): void {
  const { doc } = view.state;
  const found = [
    ...problems.flatMap((problem) => marksOf(doc, problem, 'cm-wrong')),
    ...notes.flatMap((note) => marksOf(doc, note, 'cm-noted')),
  ];
  view.dispatch({ effects: setMarks.of(Decoration.set(found, true)) });
}

function marksOf(doc: Text, marked: Marked, name: string): Range<Decoration>[] {
  if (marked.line > doc.lines) return [];
  const from = positionOf(doc, marked);
  const line = doc.lineAt(from);
  const length = /^[^\s:,\]}]+/.exec(doc.sliceString(from, line.to))?.[0].length ?? 0;
  const whole = Decoration.line({ class: `${name}-line` }).range(line.from);
  const to = Math.min(from + Math.max(length, 1), line.to);
  if (to <= from) return [whole];
  return [whole, Decoration.mark({ class: name, attributes: { title: marked.message } }).range(from, to)];
}

function positionOf(doc: Text, { line: number, column }: Pick<Marked, 'line' | 'column'>): number {
  const line = doc.line(Math.min(Math.max(number, 1), doc.lines));
  return Math.min(line.from + Math.max(column - 1, 0), line.to);
}

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--run)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--done)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--ink3)' },
  { tag: [tags.keyword, tags.bool, tags.number, tags.null], color: 'var(--hold)' },
  { tag: [tags.punctuation, tags.separator], color: 'var(--ink3)' },
]);

const look = EditorView.theme({
  '&': { height: '100%', color: 'var(--ink)', backgroundColor: 'var(--surface)' },
  // The place around it shows the focus.
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { font: '13px/20px var(--mono)', overflow: 'auto' },
  '.cm-content': { padding: '10px 0', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0 12px 0 8px' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { color: 'var(--ink3)', backgroundColor: 'var(--surface)', border: '0' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 6px 0 14px' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--sunk) 60%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--run) 25%, transparent)',
  },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--line)' },
  '.cm-wrong-line': { boxShadow: 'inset 3px 0 0 var(--hold)' },
  '.cm-noted-line': { boxShadow: 'inset 3px 0 0 var(--line2)' },
  '.cm-noted': { textDecoration: 'underline dotted var(--ink3) 1px', textUnderlineOffset: '3px' },
  '.cm-wrong': { textDecoration: 'underline wavy var(--del) 1px', textUnderlineOffset: '3px' },
  '.cm-tooltip': {
    border: '1px solid var(--line2)',
    borderRadius: '6px',
    color: 'var(--ink)',
    backgroundColor: 'var(--surface)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { font: '13px/24px var(--mono)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0 10px', lineHeight: '24px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    color: 'var(--ink)',
    backgroundColor: 'var(--sunk)',
  },
  '.cm-completionDetail': { color: 'var(--ink3)', fontStyle: 'normal' },
});
