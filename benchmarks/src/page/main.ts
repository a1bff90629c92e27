import { closeSharedBrowser, connectBrowser, disconnectBrowser, startSharedBrowser } from '@flags/test-browser';
import { table } from '../markdown.js';
import { PREVIEWED, startHost } from './host.js';
import { filterTimes, frameTimes, previewTimes, processorTime, visitTimes, watchList } from './measure.js';

const VISITS = 10;
const ROUNDS = 5;
const USERS = Array.from({ length: 1_000 }, (_, index) => `userId=user-${index * 7919}, country=no`).join('\n');

/** Prints the cost of the admin page in a real browser, and its budget. */
async function main(): Promise<void> {
  const host = await startHost();
  await startSharedBrowser();
  const browser = await connectBrowser();
  const visits: Awaited<ReturnType<typeof visitTimes>>[] = [];
  for (let visit = 0; visit < VISITS; visit++) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await page.addInitScript(watchList);
    await page.goto(host.list);
    visits.push(await visitTimes(page));
    await context.close();
  }
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.addInitScript(watchList);
  await page.goto(host.list);
  await visitTimes(page);
  const frames: number[] = [];
  const used = await processorTime(page);
  for (let round = 0; round < ROUNDS; round++) frames.push(...(await frameTimes(page)));
  const perFrame = (await used()) / frames.length;
  const filters: number[] = [];
  for (let round = 0; round < ROUNDS; round++) filters.push(...(await filterTimes(page)));
  await page.goto(`${host.list}/flags/${PREVIEWED}/production`);
  await page.getByRole('button', { name: 'Edit the list' }).click();
  await page.getByRole('textbox', { name: 'Users' }).fill(USERS);
  await page.getByRole('button', { name: 'Use this list' }).click();
  await page.getByText('1,000 users of the list').waitFor();
  const previews = await previewTimes(page);
  await disconnectBrowser();
  await closeSharedBrowser();
  await host.close();

  const late = frames.filter((time) => time > FRAME).length / frames.length;
  console.log(`
# The admin page, with 10,000 flags

${table(
  ['milliseconds', 'at most', 'median', 'p95'],
  [
    row(
      'first paint',
      '300',
      visits.map(({ paint }) => paint),
    ),
    row(
      'first switch of the list',
      '700',
      visits.map((visit) => visit.switch),
    ),
    row(
      'all 10,000 flags in the list',
      '',
      visits.map(({ list }) => list),
    ),
    row('a frame while the list scrolls', 'p95 17', frames),
    row('a key in the filter', '50', filters),
    row('preview of 1,000 users', '150', previews),
  ],
)}

Of ${frames.length.toLocaleString('en')} frames, ${(late * 100).toFixed(1)} % took longer than ${FRAME} ms. The page itself used ${perFrame.toFixed(1)} ms of processor time for each; the rest is the
browser, which draws without a graphics card here, and other programs.
`);
}

/** A frame at 60 Hz, and the rounding of the browser's clock. */
const FRAME = 17;

function row(name: string, budget: string, times: readonly number[]): readonly string[] {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
  return [name, budget, at(0.5), at(0.95)];
}

await main();
