/** That something took longer than it may. */
export class TookTooLong extends Error {}

/** The value of a promise, unless that takes longer than it may. While the page is not looked at, it may take longer. */
export async function within<Value>(ms: number, value: Promise<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const wait = () => {
      timer = setTimeout(() => {
        if (document.hidden) wait();
        else reject(new TookTooLong(`nothing came for ${ms} ms`));
      }, ms);
    };
    wait();
  });
  try {
    return await Promise.race([value, late]);
  } finally {
    clearTimeout(timer);
  }
}
