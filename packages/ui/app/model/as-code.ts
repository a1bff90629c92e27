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

/** The call that makes changes: `apply`, or `createSchedule` and `createProposal` with their options. */
export interface CodedCall {
  readonly method: 'apply' | 'createSchedule' | 'createProposal';
  readonly changes: readonly Change[];
  readonly options?: object;
}

/** Returns the TypeScript call that makes changes. */
export function asTypeScript({ method, changes, options }: CodedCall): string {
  const list = JSON.stringify(changes, null, 2);
  const subject = method === 'createProposal' ? `{ changes: ${list} }` : list;
  return `await flags.${method}(${[subject, ...(options ? [JSON.stringify(options, null, 2)] : [])].join(', ')});`;
}
