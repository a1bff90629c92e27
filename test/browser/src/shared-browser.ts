import { type BrowserServer, chromium } from 'playwright-core';
import { findChromium } from './chromium.js';

/** The environment variable with the address of the run's browser. Absent if there is none. */
const VARIABLE = 'FLAGS_TEST_BROWSER';

let shared: BrowserServer | undefined;

/**
 * Starts the browser that a whole run of jest shares. Without a browser, warns and skips browser tests; with `CI`
 * set, the run fails.
 */
export async function startSharedBrowser(): Promise<void> {
  const found = await findChromium();
  if (found === undefined) {
    const reason = 'No browser for the tests: set FLAGS_CHROMIUM to the path of a Chromium.';
    if (process.env.CI) throw new Error(reason);
    console.error(`\n!!! ${reason} All tests in a browser are SKIPPED.\n`);
    return;
  }
  shared = await chromium.launchServer({
    executablePath: found.executablePath,
    // Keeps web security on, which the default arguments of the package disable.
    // Without a GPU, its process would emulate one to draw each frame.
    // A page of a test runs too short for optimized code to pay.
    args: ['--no-sandbox', '--disable-gpu', '--js-flags=--no-opt'],
    env: { ...process.env, ...found.env },
  });
  process.env[VARIABLE] = shared.wsEndpoint();
}

export async function closeSharedBrowser(): Promise<void> {
  await shared?.close();
}

/** The address of the run's browser, for `chromium.connect`. Undefined where there is none. */
export function sharedBrowser(): string | undefined {
  return process.env[VARIABLE];
}
