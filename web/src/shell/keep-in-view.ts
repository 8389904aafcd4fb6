const fields = 'textarea, select, input:not([type="checkbox"], [type="radio"], [type="file"])';
const marginPx = 8;

/**
 * Keeps a form's button in view while one of its fields has the focus: above the bar at the foot of a small screen, and
 * above a keyboard on the screen, which covers a part of the page in some browsers and makes it smaller in others.
 * `--keyboard` has what it covers.
 */
export function keepFormsInView(): void {
  const { visualViewport: seen } = window;
  const showActive = () => requestAnimationFrame(() => showForm(document.activeElement));
  const measure = () => {
    const isZoomed = seen !== null && Math.abs(seen.scale - 1) > 0.01;
    const covered = seen === null || isZoomed ? 0 : Math.max(0, innerHeight - seen.height - seen.offsetTop);
    document.documentElement.style.setProperty('--keyboard', `${Math.round(covered)}px`);
    showActive();
  };
  seen?.addEventListener('resize', measure);
  seen?.addEventListener('scroll', measure);
  addEventListener('resize', measure);
  document.addEventListener('focusin', showActive);
  // A text that grows moves the button below it.
  document.addEventListener('input', showActive);
}

function showForm(field: Element | null): void {
  if (field === null || !field.matches(fields)) return;
  const buttons = [...(field.closest('form')?.querySelectorAll<HTMLElement>('button:not([type="button"])') ?? [])];
  const button = buttons.find((one) => one.checkVisibility());
  const below = (button ?? field).getBoundingClientRect().bottom + marginPx - foot();
  // The field itself is worth more than its button.
  const room = field.getBoundingClientRect().top - marginPx;
  const by = Math.min(below, Math.max(room, 0));
  if (by > 0) scrolledBy(field)?.scrollBy(0, by);
}

/** The bottom of the visible part. */
function foot(): number {
  const seen =
    visualViewport === null ? innerHeight : Math.min(innerHeight, visualViewport.offsetTop + visualViewport.height);
  const bar = document.querySelector<HTMLElement>('.rail');
  const isBar = bar !== null && bar.checkVisibility() && getComputedStyle(bar).position === 'fixed';
  return isBar ? Math.min(seen, bar.getBoundingClientRect().top) : seen;
}

/** What scrolls a field: a pane or a dialog, else the page. */
function scrolledBy(field: Element): Element | null {
  for (let one = field.parentElement; one !== null; one = one.parentElement) {
    if (one.scrollHeight > one.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(one).overflowY)) return one;
  }
  return document.scrollingElement;
}
