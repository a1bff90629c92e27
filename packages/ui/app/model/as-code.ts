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
  return `await flags.apply(${literal(changes, 0)});`;
}

/** Returns a JavaScript literal with single quotes. Quotes member names only where necessary. */
function literal(value: unknown, depth: number): string {
  const indent = '  '.repeat(depth + 1);
  const end = '  '.repeat(depth);
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    if (value.every((item) => typeof item !== 'object')) return `[${value.map((item) => literal(item, 0)).join(', ')}]`;
    return `[\n${value.map((item) => `${indent}${literal(item, depth + 1)},\n`).join('')}${end}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    if (members.length === 0) return '{}';
    const lines = members.map(([name, member]) => `${indent}${nameOf(name)}: ${literal(member, depth + 1)},\n`);
    return `{\n${lines.join('')}${end}}`;
  }
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  return String(value);
}

function nameOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name, 0);
}
