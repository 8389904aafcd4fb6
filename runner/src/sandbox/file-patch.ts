import type { SandboxInput } from '@suzumio/protocol/sandbox-tools/catalogue';
import { fitTo } from './patch/similar-hunk.js';
import { type Applied, applyHunks, HunkRefused } from './patch/apply-hunks.js';
import { differenceText, firstDifference } from './patch/difference.js';
import { type FilePatch, PatchError } from './patch/file-patch.js';
import { endingAt, fromByteString, linesOf, toByteString, withEnding, withEndingsOf } from './text/lines.js';
import { SimilarTexts, replaceSimilar } from './patch/similar-texts.js';
import { shownNearest } from './patch/nearest-lines.js';
import { parseUnifiedDiff } from './patch/parse-unified-diff.js';
import { Draft } from './paths/draft.js';
import { SandboxRefusal } from './paths/refusal.js';
import type { Sandbox, SandboxResponse } from './sandbox.js';
import { mark, utf8 } from './text/encoding.js';
import { counted } from './text/legible.js';

/** What became of one file. */
interface Done {
  readonly path: string;
  readonly change: 'added' | 'changed' | 'deleted' | 'renamed' | 'copied';
  readonly says: string;
}

interface Replacement {
  readonly path: string;
  readonly search: string;
  readonly replace: string;
  readonly replaceAll: boolean;
}

const maxPlaces = 10;
const noText = { text: '', encoding: utf8 };
const markBytes = toByteString(mark);

export async function patchFiles(input: SandboxInput<'file.patch'>, sandbox: Sandbox): Promise<SandboxResponse> {
  return makePatched(input, sandbox, { foreign: false });
}

/** Applies a patch that another agent may have written: only to the workspace, and to nothing that is kept there. */
export async function applyForeign(patch: string, sandbox: Sandbox): Promise<SandboxResponse> {
  return makePatched({ patch, replaceAll: false }, sandbox, { foreign: true });
}

async function makePatched(
  input: SandboxInput<'file.patch'>,
  { roots, limits }: Sandbox,
  { foreign }: { foreign: boolean },
): Promise<SandboxResponse> {
  const options = { maxFileBytes: limits.fileBytes, foreign };
  const done = await Draft.of(roots, options, (draft) => edit(draft, input));
  return {
    output: done.map(({ says }) => says).join('\n'),
    metadata: { files: done.map(({ path, change }) => ({ path, change })) },
  };
}

async function edit(draft: Draft, input: SandboxInput<'file.patch'>): Promise<Done[]> {
  const done: Done[] = [];
  if (input.patch !== undefined) {
    for (const patch of parsed(input.patch)) done.push(await applyPatch(draft, patch));
  }
  if (input.path !== undefined && input.search !== undefined) {
    const { path, search, replace = '', replaceAll } = input;
    done.push(await replaceIn(draft, { path, search, replace, replaceAll }));
  }
  for (const { op, path, content = '', search = '', replace = '', replaceAll, createDirs } of input.operations ?? []) {
    if (op === 'update') {
      done.push(await replaceIn(draft, { path, search, replace, replaceAll }));
    } else if (op === 'delete') {
      await draft.remove(path);
      done.push({ path, change: 'deleted', says: `Deleted ${path}.` });
    } else {
      const { isNew, note } = await draft.writeWhole(path, content, { createDirs });
      done.push(
        isNew
          ? { path, change: 'added', says: `Added ${path}.` }
          : { path, change: 'changed', says: `Wrote over ${path}.${note}` },
      );
    }
  }
  return done;
}

function parsed(patch: string): FilePatch[] {
  try {
    return parseUnifiedDiff(toByteString(patch));
  } catch (error) {
    if (error instanceof PatchError) throw new SandboxRefusal(error.code, error.message);
    throw error;
  }
}

async function applyPatch(draft: Draft, patch: FilePatch): Promise<Done> {
  const { from, to, isCopy, executable } = patch;
  if (from === undefined && to === undefined) throw new SandboxRefusal('patch-invalid', 'A file has no name.');
  const isMove = from !== undefined && to !== undefined && from !== to;
  if (to !== undefined && (from === undefined || isMove) && (await draft.has(to))) {
    throw new SandboxRefusal('file-exists', `${JSON.stringify(to)} is there already; the patch is for a new file.`);
  }
  const before = from === undefined ? noText : await draft.text(from);
  const { text, note } = changed(before.text, patch);
  const lines = patch.hunks.flatMap((hunk) => hunk.lines);
  const added = lines.filter((line) => line.startsWith('+')).length;
  const removed = lines.filter((line) => line.startsWith('-')).length;
  const extent = `+${added} -${removed}${note}`;
  if (to === undefined) {
    const path = from ?? '';
    if (text !== '') {
      const left = counted(linesOf(text).lines.length, 'line');
      throw new SandboxRefusal('patch-mismatch', `${JSON.stringify(path)} has ${left} more than the patch deletes.`);
    }
    await draft.remove(path);
    return { path, change: 'deleted', says: `Deleted ${path} (${extent}).` };
  }
  await draft.write(to, { ...before, text }, { createDirs: true, executable });
  if (from === undefined) return { path: to, change: 'added', says: `Added ${to} (${extent}).` };
  if (!isMove) return { path: to, change: 'changed', says: `Changed ${to} (${extent}).` };
  if (isCopy) return { path: to, change: 'copied', says: `Copied ${from} to ${to} (${extent}).` };
  await draft.remove(from);
  return { path: to, change: 'renamed', says: `Renamed ${from} to ${to} (${extent}).` };
}

function changed(before: string, { from, to, hunks }: FilePatch): { text: string; note: string } {
  const path = from ?? to ?? '';
  try {
    const { text, shifted, alike } = withoutMark(before, (whole) => applyHunks(whole, hunks));
    const notes = [
      ...shifted.map(({ hunk, line, by }) => `hunk ${hunk} found at line ${line}, ${away(by)}`),
      ...alike.map(({ hunk, difference }) => `hunk ${hunk} looks like what is there: ${differenceText(difference)}`),
    ];
    return { text, note: notes.length === 0 ? '' : `; ${notes.join('; ')}` };
  } catch (error) {
    if (!(error instanceof HunkRefused)) throw error;
    const { hunk, wanted, places, isSimilar } = error;
    if (places.length > 1 && isSimilar) throw similarTwice(path, `hunk ${hunk}`, places);
    if (places.length > 1) throw ambiguous(path, `Hunk ${hunk}, which names no line,`, places);
    throw mismatch(path, `Hunk ${hunk} of ${hunks.length}`, before, wanted);
  }
}

/** Applies a patch to a text with its byte order mark, or where it does not match so, to the text after it. */
function withoutMark(text: string, apply: (text: string) => Applied): Applied {
  if (!text.startsWith(markBytes)) return apply(text);
  try {
    const applied = apply(text);
    if (applied.alike.length === 0) return applied;
  } catch (error) {
    if (!(error instanceof HunkRefused)) throw error;
  }
  const applied = apply(text.slice(markBytes.length));
  return { ...applied, text: markBytes + applied.text };
}

function away(by: number): string {
  return `${counted(Math.abs(by), 'line')} ${by < 0 ? 'before' : 'after'} its own`;
}

async function replaceIn(draft: Draft, { path, search, replace, replaceAll }: Replacement): Promise<Done> {
  const before = await draft.text(path);
  const { text } = before;
  const wanted = withEndingsOf(text, toByteString(search));
  const parts = text.split(wanted);
  const times = parts.length - 1;
  if (times > 1 && !replaceAll) throw ambiguous(path, 'The text to be replaced', placesOf(parts, wanted));
  if (times === 0) {
    const { next, note } = replacedSimilar(path, text, toByteString(search), toByteString(replace));
    await draft.write(path, { ...before, text: next }, { createDirs: false });
    return { path, change: 'changed', says: `Changed ${path} (1 replacement; ${note}).` };
  }
  const ending = endingAt(text, parts[0]?.length ?? 0);
  const next = parts.join(withEnding(ending, withEndingsOf(text, toByteString(replace))));
  await draft.write(path, { ...before, text: next }, { createDirs: false });
  return { path, change: 'changed', says: `Changed ${path} (${counted(times, 'replacement')}).` };
}

/** Replaces what is similar to a text, where there is one. */
function replacedSimilar(path: string, text: string, search: string, replace: string): { next: string; note: string } {
  const [match, ...others] = new SimilarTexts(text).find(search, false);
  if (!match) throw mismatch(path, 'The text to be replaced', text, linesOf(search).lines);
  const lineAt = (at: number): number => text.slice(0, at).split('\n').length;
  if (others.length > 0) {
    const lines = [match, ...others].map(({ start }) => lineAt(start));
    throw similarTwice(path, 'the text to be replaced', lines);
  }
  const { start, end } = match;
  const found = text.slice(start, end);
  const ending = endingAt(text, start);
  const [first = '', ...rest] = replaceSimilar(found, withEnding(ending, search), withEnding(ending, replace)).split(
    '\n',
  );
  const isLineStart = start === 0 || text[start - 1] === '\n';
  const fit = fitTo(found.split('\n'), search.split('\n'), '');
  const next = [isLineStart ? fit(first) : first, ...rest.map(fit)].join('\n');
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const difference = firstDifference(found.split('\n'), search.split('\n'), lineAt(start));
  const isFirst = difference.line === lineAt(start);
  const column = difference.column + (isFirst ? fromByteString(text.slice(lineStart, start)).length : 0);
  return {
    next: text.slice(0, start) + next + text.slice(end),
    note: `it looks like what is there: ${differenceText({ ...difference, column })}`,
  };
}

/** The lines on which a text's occurrences begin, by the parts between them. */
function placesOf(parts: readonly string[], wanted: string): number[] {
  const places: number[] = [];
  let line = 1;
  for (const part of parts.slice(0, -1)) {
    line += part.split('\n').length - 1;
    places.push(line);
    line += wanted.split('\n').length - 1;
  }
  return places;
}

function mismatch(path: string, what: string, text: string, wanted: readonly string[]): SandboxRefusal {
  const lines = linesOf(fromByteString(text)).lines;
  const nearest = shownNearest(lines, wanted.map(fromByteString));
  return new SandboxRefusal('patch-mismatch', `${what} is not in ${path} as it is; nothing was changed. ${nearest}`);
}

function similarTwice(path: string, what: string, lines: readonly number[]): SandboxRefusal {
  const shown = lines.slice(0, maxPlaces).join(', ') + (lines.length > maxPlaces ? ', …' : '');
  return new SandboxRefusal(
    'patch-ambiguous',
    `${path} has ${lines.length} places that only look like ${what}, from lines ${shown}; nothing was changed. Give more of what is around it.`,
  );
}

function ambiguous(path: string, what: string, places: readonly number[]): SandboxRefusal {
  const shown = places.slice(0, maxPlaces).join(', ') + (places.length > maxPlaces ? ', …' : '');
  return new SandboxRefusal(
    'patch-ambiguous',
    `${what} is ${places.length} times in ${path}, from lines ${shown}; nothing was changed. Give more of what is around it, or replaceAll.`,
  );
}
