import type { Change } from '../api/types.js';

/** Returns the `curl` command of a change set. */
export function asCurl(changes: readonly Change[], address: string, needsToken: boolean): string {
  const body = JSON.stringify({ changes }, null, 2);
  return [
    `curl -X POST '${quoteForShell(address)}' \\`,
    ...(needsToken ? [`  -H "Authorization: $FLAGS_ADMIN_TOKEN" \\`] : []),
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${quoteForShell(body)}'`,
  ].join('\n');
}

function quoteForShell(text: string): string {
  return text.replaceAll("'", `'\\''`);
}

/** Returns the TypeScript call of a change set. */
export function asTypeScript(changes: readonly Change[]): string {
  return `await flags.apply(${JSON.stringify(changes, null, 2)});`;
}
