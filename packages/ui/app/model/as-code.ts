import type { RequestedChange } from './change-request.js';

/** Returns the `curl` command that sends the body of a change set or a change request. */
export function asCurl(body: object, address: string, needsToken: boolean): string {
  return [
    `curl -X POST '${quoteForShell(address)}' \\`,
    ...(needsToken ? [`  -H "Authorization: $FLAGS_ADMIN_TOKEN" \\`] : []),
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${quoteForShell(JSON.stringify(body, null, 2))}'`,
  ].join('\n');
}

function quoteForShell(text: string): string {
  return text.replaceAll("'", `'\\''`);
}

/** The call that makes changes: `apply`, or that of a change request with its options. */
interface CodedCall {
  readonly method: 'apply' | 'changeRequests.create';
  readonly changes: readonly RequestedChange[];
  readonly options?: object | undefined;
}

/** Returns the TypeScript call that makes changes. */
export function asTypeScript({ method, changes, options }: CodedCall): string {
  const given = [changes, ...(options && Object.keys(options).length > 0 ? [options] : [])];
  return `await flags.${method}(${given.map((one) => JSON.stringify(one, null, 2)).join(', ')});`;
}
