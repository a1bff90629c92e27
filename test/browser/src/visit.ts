import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from 'playwright-core';
import { sharedBrowser } from './shared-browser.js';

/** A page that records its errors. */
export interface Visit {
  readonly page: Page;
  /** Violations of the policy, console errors, uncaught errors and failed requests so far, except for expected ones. */
  readonly faults: readonly string[];
  /** Ignores such faults from now on, because the test provokes them. Returns how many there were so far. */
  expectFault(pattern: RegExp): number;
  /** Closes the page. Throws if there are unexpected faults. */
  close(): Promise<void>;
}

export interface VisitOptions extends BrowserContextOptions {
  /** Responses with an error status that the test provokes: `[401, /\/session$/]`. They do not count as faults. */
  readonly allow?: readonly (readonly [status: number, url: RegExp])[];
}

let connected: Promise<Browser> | undefined;

/** Connects to the run's browser, once per test file. */
export async function connectBrowser(): Promise<Browser> {
  const address = sharedBrowser();
  if (address === undefined) throw new Error('No browser was started: this test belongs to the project "browser".');
  connected ??= chromium.connect(address);
  return connected;
}

/** Closes the connection, and the pages of failed tests. */
export async function disconnectBrowser(): Promise<void> {
  const browser = await connected;
  for (const context of browser?.contexts() ?? []) await context.close();
  await browser?.close();
  connected = undefined;
}

/** Opens a page in its own browser context, without cookies or storage of other pages. */
export async function visit(url: string, { allow = [], ...options }: VisitOptions = {}): Promise<Visit> {
  const browser = await connectBrowser();
  // Transitions would make the checks measure intermediate colors.
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  // The time limit of jest ends each wait: a busy machine may need longer than the 30 s of the browser's client.
  page.setDefaultTimeout(0);
  const faults: string[] = [];
  const provoked: RegExp[] = [];
  const unexpected = () => faults.filter((fault) => !provoked.some((pattern) => pattern.test(fault)));
  const isAllowed = (status: number, address: string) =>
    allow.some(([expected, pattern]) => expected === status && pattern.test(address));

  await page.addInitScript(reportViolations);
  page.on('console', (message) => {
    if (message.type() !== 'error') return;
    // Chromium also prints each error response. The status check below covers these.
    if (/^Failed to load resource: the server responded/.test(message.text())) return;
    faults.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`uncaught: ${error.stack ?? error.message}`));
  page.on('requestfailed', (request) => {
    if (!isAborted(request))
      faults.push(`failed: ${request.method()} ${request.url()} ${request.failure()?.errorText}`);
  });
  page.on('response', (response) => {
    if (response.status() < 400 || isAllowed(response.status(), response.url())) return;
    faults.push(`status ${response.status()}: ${response.request().method()} ${response.url()}`);
  });
  await page.goto(url);
  return {
    page,
    get faults() {
      return unexpected();
    },
    expectFault(pattern) {
      provoked.push(pattern);
      return faults.filter((fault) => pattern.test(fault)).length;
    },
    async close() {
      await context.close();
      const rest = unexpected();
      if (rest.length > 0) throw new Error(`The page reported:\n${rest.join('\n')}`);
    },
  };
}

/** Runs in the page. Violations of the policy also reach the console, but not all of them as errors. */
function reportViolations(): void {
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
    console.error(`policy: ${violatedDirective} blocked ${blockedURI}`);
  });
}

/** The page ends its streams and outdated reads; navigation ends the rest. */
function isAborted(request: Request): boolean {
  return request.failure()?.errorText === 'net::ERR_ABORTED';
}
