import type { Locator } from 'playwright-core';

/**
 * Pastes a text into a field, as a person does.
 *
 * @param text a number stands for a text of so many characters
 */
export const pasteInto = (field: Locator, text: string | number): Promise<void> =>
  field.evaluate((element, given) => {
    const dom = globalThis as unknown as {
      DataTransfer: new () => { setData(type: string, text: string): void };
      ClipboardEvent: new (type: string, init: object) => Event;
    };
    const data = new dom.DataTransfer();
    data.setData('text/plain', typeof given === 'number' ? 'x'.repeat(given) : given);
    (element as unknown as { dispatchEvent(event: Event): void }).dispatchEvent(
      new dom.ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }),
    );
  }, text);
