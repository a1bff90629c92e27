import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** With escapes for its few characters beyond ASCII: with them, the browser would hold and parse two bytes per character. */
const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8').replaceAll(
  /[^\0-\x7f]/g,
  (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
);
/** WCAG 2.2 AA, with the levels and versions that it includes. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Resolves when the page is painted and no transition runs: axe measures the current colours. */
const SETTLED = `(async () => {
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const isFinite = (animation) => Number.isFinite(animation.effect?.getComputedTiming().endTime);
  await Promise.allSettled(document.getAnimations().filter(isFinite).map(({ finished }) => finished));
})()`;

/** The rules whose result depends on colours. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * Runs axe on the page, or only its rules about colours. Returns each violation with its elements: tests expect
 * an empty list.
 */
export async function accessibilityViolations(
  page: Page,
  { onlyColors = false }: { readonly onlyColors?: boolean } = {},
): Promise<readonly string[]> {
  // Evaluated by the debugger, which the policy of the page does not restrict.
  if (await page.evaluate('typeof axe === "undefined"')) await page.evaluate(SOURCE);
  await page.evaluate(SETTLED);
  // The fixed header covers what is scrolled below it, and a covered target counts as small.
  await page.evaluate('scrollTo(0, 0)');
  const runOnly = onlyColors ? { type: 'rule', values: COLOR_RULES } : { type: 'tag', values: TAGS };
  // Omits passed checks: describing them would take longer than the checks.
  const options = JSON.stringify({ runOnly, resultTypes: ['violations'] });
  const results = (await page.evaluate(`axe.run(document, ${options})`)) as AxeResults;
  return results.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help} at ${target.join(' ')}: ${failureSummary}`),
  );
}
