import type { Page } from 'playwright-core';

type Noted = { switch?: number; list?: number };

/** Runs in the page before its script: notes when the first switch, and the count of the complete list, are there. */
export function watchList(): void {
  const noted: Noted = {};
  Object.assign(globalThis, { noted });
  const look = () => {
    if (document.querySelector('[role=switch]')) noted.switch ??= performance.now();
    const count = document.querySelector('main .count [role=status]')?.textContent ?? '';
    if (/^[\d,]+ flags$/.test(count)) noted.list ??= performance.now();
    if (noted.list === undefined) requestAnimationFrame(look);
  };
  look();
}

export interface Visited {
  readonly paint: number;
  readonly switch: number;
  readonly list: number;
}

/** Milliseconds from the navigation to the first paint, the first switch, and all flags of the list. */
export function visitTimes(page: Page): Promise<Visited> {
  return page.evaluate(async () => {
    const { noted } = globalThis as unknown as { noted: Noted };
    while (noted.list === undefined) await new Promise((resolve) => requestAnimationFrame(resolve));
    const [paint] = performance.getEntriesByName('first-contentful-paint');
    return { paint: paint?.startTime ?? Number.NaN, switch: noted.switch ?? Number.NaN, list: noted.list };
  });
}

/** Milliseconds of each frame while the list scrolls: slowly at first, then by a screen per frame. */
export function frameTimes(page: Page): Promise<readonly number[]> {
  return page.evaluate(async () => {
    const frames: number[] = [];
    scrollTo(0, 0);
    const next = () => new Promise<number>((resolve) => requestAnimationFrame(resolve));
    let last = await next();
    for (let frame = 0; frame < 240; frame++) {
      scrollBy(0, frame < 120 ? 120 : 900);
      const now = await next();
      frames.push(now - last);
      last = now;
    }
    return frames;
  });
}

/** Returns a function that returns the processor time, in milliseconds, that the page has used since. */
export async function processorTime(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const read = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1_000;
  };
  const start = await read();
  return async () => (await read()) - start;
}

/** Milliseconds from each key in the filter to the new rows, layout included. */
export function filterTimes(page: Page): Promise<readonly number[]> {
  return page.evaluate(async () => {
    const box = document.querySelector<HTMLInputElement>('input[type=search]');
    const times: number[] = [];
    for (const text of ['f', 'fl', 'flag-0', 'flag-07', 'flag-077', 'does', '7 9', 'shop', '']) {
      const start = performance.now();
      if (box) box.value = text;
      box?.dispatchEvent(new InputEvent('input', { bubbles: true }));
      await new Promise((resolve) => setTimeout(resolve));
      document.body.getBoundingClientRect();
      times.push(performance.now() - start);
    }
    return times;
  });
}

/** Milliseconds from the request of a preview to its counts on the screen. */
export function previewTimes(page: Page): Promise<readonly number[]> {
  return page.evaluate(async () => {
    const field = document.querySelector<HTMLInputElement>('[aria-label="Rollout of strategy 1 in percent"]');
    const times: number[] = [];
    for (let rollout = 30; rollout < 50; rollout++) {
      if (field) field.value = String(rollout);
      field?.dispatchEvent(new InputEvent('input', { bubbles: true }));
      const shown = `in the rollout of ${rollout} %`;
      const text = () => document.querySelector('.preview')?.textContent ?? '';
      const isCurrent = () => text().includes(shown) && !document.querySelector('.preview .waiting');
      await new Promise<void>((resolve) => {
        const observer = new MutationObserver(() => {
          if (!isCurrent()) return;
          observer.disconnect();
          resolve();
        });
        observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
      });
      const now = performance.now();
      const request = performance
        .getEntriesByType('resource')
        .findLast(({ name }) => name.endsWith('/changes/preview'));
      times.push(now - (request?.startTime ?? Number.NaN));
      performance.clearResourceTimings();
    }
    return times;
  });
}
