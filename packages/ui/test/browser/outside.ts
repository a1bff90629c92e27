import type { Visit } from '@flags/test-browser';

/**
 * Lists the visible elements that reach beyond the window, and texts that reach beyond their own box. Omits elements
 * that scroll by themselves: tabs, code, and the users of a preview.
 */
export function outside(page: Visit['page']): Promise<readonly string[]> {
  return page.evaluate(async () => {
    // The list follows a new width within a frame.
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const { clientWidth } = document.documentElement;
    return [...document.querySelectorAll<HTMLElement>('body *')].flatMap((element) => {
      const { width, left, right } = element.getBoundingClientRect();
      if (width <= 2 || !element.checkVisibility() || element.closest('.hidden, .tabs, pre, thead, .skip')) return [];
      const isOutside = right > clientWidth + 1 || left < -1;
      const isCut =
        element.scrollWidth > element.clientWidth + 1 &&
        getComputedStyle(element).display !== 'inline' &&
        !canScroll(element);
      return isOutside || isCut
        ? [`${element.tagName} .${element.className}: ${Math.round(left)}–${Math.round(right)}`]
        : [];
    });

    /** Whether the style clips it intentionally, or makes it scroll. */
    function canScroll(element: HTMLElement): boolean {
      return getComputedStyle(element).overflowX !== 'visible' || element.matches('input, select, textarea, svg *');
    }
  });
}
