import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from 'playwright-core';
import { sharedBrowser } from './shared-browser.js';

/** A page that keeps what went wrong. */
export interface Visit {
  readonly page: Page;
  /** Violations of the policy, console errors, uncaught errors and failed requests so far, but those expected. */
  readonly faults: readonly string[];
  /** Says that the test provokes such faults, which are left out from now on. Returns how many there were so far. */
  expectFault(pattern: RegExp): number;
  /** Closes the page. Throws if a fault is left. */
  close(): Promise<void>;
}

export interface VisitOptions extends BrowserContextOptions {
  /** Responses with an error status that the test provokes: `[401, /\/session$/]`. They are no faults. */
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

/** Closes the connection, and the pages that failed tests have left open. */
export async function disconnectBrowser(): Promise<void> {
  const browser = await connected;
  for (const context of browser?.contexts() ?? []) await context.close();
  await browser?.close();
  connected = undefined;
}

/** Opens a page in a browser context of its own: no cookies, no storage of others. */
export async function visit(url: string, { allow = [], ...options }: VisitOptions = {}): Promise<Visit> {
  const browser = await connectBrowser();
  // Colors that fade in would be judged halfway.
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  const provoked: RegExp[] = [];
  const unexpected = () => faults.filter((fault) => !provoked.some((pattern) => pattern.test(fault)));
  const isAllowed = (status: number, address: string) =>
    allow.some(([expected, pattern]) => expected === status && pattern.test(address));

  await page.addInitScript(reportViolations);
  page.on('console', (message) => {
    if (message.type() !== 'error') return;
    // Chromium prints each error response as well. Those are judged by their status below.
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

/** The page itself ends its streams and outdated reads, and navigation ends the rest. */
function isAborted(request: Request): boolean {
  return request.failure()?.errorText === 'net::ERR_ABORTED';
}
