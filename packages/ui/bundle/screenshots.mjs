// Takes the pictures of the documents: docs/images/*.png, light and dark. Run by `npm run screenshots`.
import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createFlagsRouter } from '@flags/express';
import { closeSharedBrowser, connectBrowser, disconnectBrowser, startSharedBrowser } from '@flags/test-browser';
import { createFlagsUi } from '@flags/ui';
import express from 'express';
import { addApprovals, createShop, startConsumers } from './shop.mjs';

const IMAGES = join(dirname(fileURLToPath(import.meta.url)), '../../../docs/images');

/** The users of the preview: three of four are in a country that the strategy names. */
const CUSTOMERS = Array.from({ length: 200 }, (_, index) => {
  const country = ['DE', 'AT', 'DE', 'FR'][index % 4];
  return `userId=${index + 1}, country=${country}`;
}).join('\n');

const flags = await createShop();
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
const SCHEMES = ['light', 'dark'];
for (const colorScheme of SCHEMES) {
  const { context, tab } = await open(colorScheme);
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
  await tab.getByRole('button', { name: 'Edit the list' }).click();
  await tab.getByRole('textbox', { name: 'Users' }).fill(CUSTOMERS);
  await tab.getByRole('button', { name: 'Use this list' }).click();
  await tab.getByLabel('Rollout of strategy 1 in percent').fill('50');
  await tab.getByText(/become on/).waitFor();
  await take(tab, `editor-${colorScheme}`);
  await tab.getByRole('button', { name: 'Review changes' }).click();
  await tab.getByRole('dialog').getByText('become on').waitFor();
  await take(tab, `review-${colorScheme}`);
  await tab.goto(`${page}/flags/recommendations`);
  await tab.getByRole('list', { name: 'Steps of the rollout of recommendations' }).waitFor();
  await take(tab, `rollout-${colorScheme}`);
  await tab.getByRole('switch', { name: 'recommendations in production' }).click();
  await tab.getByRole('dialog').getByText('This ends the rollout').waitFor();
  await tab.getByRole('dialog').getByText('become off').waitFor();
  await take(tab, `review-ends-rollout-${colorScheme}`);
  await context.close();
}
const request = await addApprovals(flags);
for (const colorScheme of SCHEMES) {
  const { context, tab } = await open(colorScheme);
  await tab.goto(`${page}/changes`);
  await tab.getByRole('list', { name: 'Steps of the rollout of recommendations' }).waitFor();
  await tab.getByRole('link', { name: 'Roll out in steps: search-v2 in production', exact: true }).waitFor();
  await take(tab, `changes-${colorScheme}`);
  await tab.goto(`${page.replace('projects/default', 'changes')}/${request}`);
  await tab.getByText('become on').waitFor();
  await tab.getByRole('button', { name: /^Approve/ }).click();
  await tab.getByRole('dialog').getByText('become on').waitFor();
  await take(tab, `approval-${colorScheme}`);
  await context.close();
}
// At the end, because every screen says that a consumer fails.
const consumers = await startConsumers(flags);
for (const colorScheme of SCHEMES) {
  const { context, tab } = await open(colorScheme);
  await tab.goto(page.replace('projects/default', 'administration'));
  await tab.getByText('failing', { exact: true }).waitFor();
  await tab.getByText('shop-backend').waitFor();
  await take(tab, `administration-${colorScheme}`);
  await context.close();
}
for (const stop of consumers) await stop();
await disconnectBrowser();
await closeSharedBrowser();
server.closeAllConnections();
server.close();
router.close();
await flags.close();

async function open(colorScheme) {
  const context = await browser.newContext({ colorScheme, viewport: { width: 1200, height: 720 } });
  return { context, tab: await context.newPage() };
}

async function take(tab, name) {
  const path = join(IMAGES, `${name}.png`);
  await tab.waitForTimeout(600);
  await tab.screenshot({ path });
  console.log(`${name}.png ${Math.round(statSync(path).size / 1_000)} kB`);
}
