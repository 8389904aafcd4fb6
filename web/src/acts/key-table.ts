/** A key of the page. */
interface KeyEntry {
  /** A sign, two signs one after the other, or one with Ctrl, which is ⌘ on a Mac. */
  readonly press: string;
  /** What it does, as the help and the palette say it. */
  readonly does: string;
  /** Where it does so. */
  readonly where: string;
  /** Whether the field or the browser hears it, and the page does not. */
  readonly isLocal?: true;
}

/** Every key of the page: what hears keys, the help, the hints on buttons and the documentation are made from it. */
export const keyTable = {
  down: { press: 'J', does: 'Move down', where: 'the inbox, lists' },
  up: { press: 'K', does: 'Move up', where: 'the inbox, lists' },
  enter: { press: 'Enter', does: 'Open what the focus is on', where: 'the inbox, lists', isLocal: true },
  look: { press: 'O', does: 'Look at what waits', where: 'the inbox, a project' },
  approve: { press: 'A', does: 'Approve', where: 'a submitted report' },
  changes: { press: 'C', does: 'Request changes', where: 'a submitted report' },
  retry: { press: 'R', does: 'Retry what failed', where: 'the inbox, an agent, a turn' },
  why: { press: 'W', does: 'See why nothing happens', where: 'the inbox, a project, a turn' },
  write: { press: 'M', does: 'Write mail', where: 'a project, its mail' },
  pause: { press: 'P', does: 'Pause, or resume', where: 'a project, an agent' },
  earlier: { press: '[', does: 'Go to the earlier turn', where: 'a turn' },
  later: { press: ']', does: 'Go to the later turn', where: 'a turn' },
  zoomIn: { press: '+', does: 'Zoom into the newest half', where: 'turns in time' },
  zoomOut: { press: '-', does: 'Zoom out', where: 'turns in time' },
  filter: { press: '/', does: 'Search or filter the list', where: 'mail, turns, the search' },
  takeBack: { press: 'Z', does: 'Take back', where: 'what is sent after a while' },
  send: { press: 'Ctrl+Enter', does: 'Send', where: 'where text is written', isLocal: true },
  goInbox: { press: 'G I', does: 'Go to the inbox', where: 'everywhere' },
  goProjects: { press: 'G P', does: 'Go to the projects', where: 'everywhere' },
  goSystem: { press: 'G S', does: 'Go to the system', where: 'everywhere' },
  palette: { press: 'Ctrl+K', does: 'Go somewhere, do something, search', where: 'everywhere, in fields as well' },
  help: { press: '?', does: 'Show the keys', where: 'everywhere' },
} as const satisfies Readonly<Record<string, KeyEntry>>;

export type KeyName = keyof typeof keyTable;

/** The keys in the order of the table. */
export const keyNames = Object.keys(keyTable) as KeyName[];

export function keyOf(name: KeyName): KeyEntry {
  return keyTable[name];
}

/** Whether it holds on every page. */
export function isEverywhere(name: KeyName): boolean {
  return keyTable[name].where.startsWith('everywhere');
}

/** Whether it is pressed together with Ctrl: it writes no text, and cannot be turned off. */
export function isWithCtrl(name: KeyName): boolean {
  return keyTable[name].press.startsWith('Ctrl+');
}

/** What is on the keys that are pressed. */
export function signsOf(name: KeyName, isMac: boolean): string[] {
  return keyTable[name].press.split(/ |(?<=Ctrl)\+/).map((sign) => (sign === 'Ctrl' && isMac ? '⌘' : sign));
}
