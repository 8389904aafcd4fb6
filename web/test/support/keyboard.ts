import { expect } from '@jest/globals';
import type { FileChooser, Locator, Page } from 'playwright-core';
import { soon } from '../../../test/support/poll.js';
import { phone, violations } from './browser.js';

/** No page of these suites has more places for the focus between two acts. */
const mostTabs = 120;

/** What somebody sees of the focus. */
interface Seen {
  /** What has the focus: the name of its element, with its words; nothing where it is on nothing. */
  place: string;
  /** Whether something around it is drawn for the focus. */
  isMarked: boolean;
  /** Whether it lies on the screen, and nothing lies on it. */
  isInView: boolean;
  /** The height of what is pressed. */
  height: number;
}

const look = `(() => {
  let element = document.activeElement;
  while (element.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  const around = [];
  for (let one = element; one !== null && around.length < 8; one = one.parentElement ?? one.getRootNode().host ?? null) around.push(one);
  const after = getComputedStyle(element, '::after');
  const isMarked = [...around.map((one) => getComputedStyle(one)), after].some(
    ({ outlineStyle, outlineWidth }) => outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2,
  );
  // A field for files is as large as its label, and what lies over all around it as large as that.
  const isOverAll = after.content !== 'none' && after.position === 'absolute';
  const drawn = element.type === 'file' ? element.closest('label') : isOverAll ? element.offsetParent : element;
  const { x, y, width, height } = drawn.getBoundingClientRect();
  const [left, top] = [Math.max(x, 0), Math.max(y, 0)];
  const [right, bottom] = [Math.min(x + width, innerWidth), Math.min(y + height, innerHeight)];
  const onTop = drawn.getRootNode().elementFromPoint((left + right) / 2, (top + bottom) / 2);
  if (element === document.body) return { place: '', isMarked: false, isInView: false, height: 0 };
  return {
    place: (element.tagName + ' ' + (element.getAttribute('aria-label') ?? element.textContent)).slice(0, 80),
    isMarked,
    isInView: onTop !== null && (drawn.contains(onTop) || onTop.contains(drawn)),
    height,
  };
})()`;

/** A person at a page on a phone, who has a keyboard and nothing else. */
export interface Keyboard {
  /** Presses keys, one after the other. */
  press(...keys: string[]): Promise<void>;
  write(text: string): Promise<void>;
  /** Goes to something with Tab, and sees that it has the focus. */
  reach(wanted: Locator): Promise<void>;
  /** Goes to something and presses Enter on it. */
  choose(wanted: Locator): Promise<void>;
  /** Gives a file to what asks for one. */
  give(wanted: Locator, name: string, text: string): Promise<void>;
  /** Waits until something has the focus without being gone to. */
  has(wanted: Locator): Promise<void>;
  /** That the focus is somewhere, that nothing is wider than the screen, and that axe finds nothing. */
  isFine(): Promise<void>;
}

export function keyboardOf(page: Page): Keyboard {
  const seen = () => page.evaluate<Seen>(look);
  const isAt = async (wanted: Locator) => (await wanted.and(page.locator(':focus')).count()) > 0;
  const isSeen = async () => {
    const found = await seen();
    expect(found).toEqual({ ...found, isMarked: true, isInView: true });
    return found;
  };
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const reach = async (wanted: Locator) => {
    await wanted.waitFor({ state: 'attached' });
    const passed: Seen[] = [];
    while (!(await isAt(wanted))) {
      if (passed.length === mostTabs) {
        throw new Error(`Tab leads not to ${String(wanted)}, but to ${passed.map(({ place }) => place).join(', ')}`);
      }
      // The editor is left as it says; the first closes what it suggests.
      if (passed.at(-1)?.place.includes('Escape and then Tab')) await press('Escape', 'Escape');
      await press('Tab');
      passed.push(await seen());
    }
    const { place, height } = await isSeen();
    expect(passed.filter(({ place: { length }, isMarked, isInView }) => length > 0 && !(isMarked && isInView))).toEqual(
      [],
    );
    expect({ place, isLarge: height >= 44 }).toEqual({ place, isLarge: true });
  };
  const choose = async (wanted: Locator) => {
    await reach(wanted);
    await press('Enter');
  };
  let chosen: (chooser: FileChooser) => void = () => undefined;
  page.on('filechooser', (chooser) => chosen(chooser));
  return {
    press,
    write: (text) => page.keyboard.type(text),
    reach,
    choose,
    async give(wanted, name, text) {
      const asked = new Promise<FileChooser>((resolve) => {
        chosen = resolve;
      });
      await choose(wanted);
      await (await asked).setFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
    },
    async has(wanted) {
      await soon(async () => expect((await isAt(wanted)) ? String(wanted) : (await seen()).place).toBe(String(wanted)));
      await isSeen();
    },
    async isFine() {
      // Where what had it is gone, something else has it once the page is drawn without that.
      await soon(async () => expect((await seen()).place).not.toBe(''));
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      expect({ width, found: await violations(page) }).toEqual({ width: phone.width, found: [] });
    },
  };
}
