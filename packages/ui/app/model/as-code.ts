import type { Change } from '../api/types.js';

/** Returns the `curl` command that sends the body of a change set or a schedule. */
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

/** Returns the TypeScript call that makes changes: `apply`, or `createSchedule` with its options. */
export function asTypeScript({ changes, ...options }: { readonly changes: readonly Change[] }): string {
  const list = JSON.stringify(changes, null, 2);
  if (Object.keys(options).length === 0) return `await flags.apply(${list});`;
  return `await flags.createSchedule(${list}, ${JSON.stringify(options, null, 2)});`;
}
