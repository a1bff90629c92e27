import type { Change } from '../api/types.js';

/** A change set as a request that can be pasted into a shell. */
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

/** A change set as a call of the typed API. */
export function asTypeScript(changes: readonly Change[]): string {
  return `await flags.apply(${literal(changes, 0)});`;
}

/** A value as a literal with single quotes, and names without quotes where they need none. */
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
