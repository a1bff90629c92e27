// Takes the pictures of the documents: docs/images/*.png, light and dark. Run by `npm run screenshots`.
import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createFlags, memoryStorage } from '@flags/core';
import { createFlagsRouter } from '@flags/express';
import { closeSharedBrowser, connectBrowser, disconnectBrowser, startSharedBrowser } from '@flags/test-browser';
import { createFlagsUi } from '@flags/ui';
import express from 'express';

const IMAGES = join(dirname(fileURLToPath(import.meta.url)), '../../../docs/images');

const flags = await createFlags({ storage: memoryStorage() });
await seed();
const app = express();
const router = createFlagsRouter(flags, { auth: () => ({ name: 'ada' }) });
app.use(router);
app.use(createFlagsUi({ title: 'Shop' }));
const server = app.listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const page = `http://127.0.0.1:${server.address().port}/ui/projects/default`;
mkdirSync(IMAGES, { recursive: true });
await startSharedBrowser();
const browser = await connectBrowser();
for (const colorScheme of ['light', 'dark']) {
  const context = await browser.newContext({ colorScheme, viewport: { width: 1200, height: 720 } });
  const tab = await context.newPage();
  await tab.goto(`${page}?as=userId%3D7%26country%3DDE`);
  await tab
    .getByRole('cell', { name: /bucket|strategies|rollout/ })
    .first()
    .waitFor();
  await take(tab, `flags-${colorScheme}`);
  await tab.goto(`${page}/flags/checkout?as=userId%3D7%26country%3DDE`);
  await tab.getByRole('heading', { name: 'History' }).waitFor();
  await take(tab, `flag-${colorScheme}`);
  await tab.goto(`${page}/flags/checkout/production`);
  await tab.getByLabel('Rollout of strategy 1 in percent').fill('50');
  await tab.getByText(/become on/).waitFor();
  await take(tab, `editor-${colorScheme}`);
  await tab.getByRole('button', { name: 'Review changes' }).click();
  await tab.getByRole('dialog').getByText('become on').waitFor();
  await take(tab, `review-${colorScheme}`);
  await context.close();
}
await disconnectBrowser();
await closeSharedBrowser();
server.closeAllConnections();
server.close();
router.close();
await flags.close();

async function take(tab, name) {
  const path = join(IMAGES, `${name}.png`);
  await tab.waitForTimeout(600);
  await tab.screenshot({ path });
  console.log(`${name}.png ${Math.round(statSync(path).size / 1_000)} kB`);
}

/** Flags as a shop has them. */
async function seed() {
  const all = [
    ['checkout', 'The new checkout', 'release', 25, ['web', 'payments'], 'team-checkout'],
    ['dark-mode', 'Dark colours for everybody who asks for them', 'release', 100, ['web'], 'team-design'],
    ['express-delivery', 'Delivery on the same day', 'experiment', 50, ['logistics'], 'team-delivery'],
    ['old-banner', 'The banner of last summer', 'release', undefined, [], undefined],
    ['payment-provider-b', 'The second provider takes over', 'kill-switch', 100, ['payments'], 'team-checkout'],
    ['recommendations', 'Articles that others have bought', 'experiment', 10, ['web'], 'team-search'],
    ['search-v2', 'Search with suggestions', 'release', 5, ['web'], 'team-search'],
    ['staff-tools', 'Tools for the staff', 'permission', 100, [], 'team-shop'],
  ];
  for (const [name, description, type, rollout, labels, owner] of all) {
    const ref = { project: 'default', flag: name };
    await flags
      .as('ada')
      .createFlag({ project: 'default' }, { name, description, type, labels, ...(owner && { owner }) });
    if (rollout === undefined) {
      await flags.as('bob').updateFlag(ref, { stale: true });
      continue;
    }
    for (const environment of ['development', 'production']) {
      const parameters = {
        rollout: environment === 'production' ? rollout : 100,
        stickiness: 'default',
        groupId: name,
      };
      const constraints =
        name === 'checkout' && environment === 'production'
          ? [{ contextName: 'country', operator: 'IN', values: ['DE', 'AT'] }]
          : [];
      await flags.as('ada').addStrategy({ ...ref, environment }, { name: 'flexibleRollout', parameters, constraints });
      await flags.as('ada').enable({ ...ref, environment });
    }
  }
  await flags.apply(
    [
      {
        op: 'updateFlag',
        ref: { project: 'default', flag: 'checkout' },
        input: { description: 'The new checkout, in two steps' },
      },
    ],
    { actor: 'bob', reason: 'Step two is ready' },
  );
}
