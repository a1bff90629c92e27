import type { ApiError } from '../api/call.js';

/** Lists whose items are numbered from 1. */
const ITEMS: Readonly<Record<string, string>> = {
  strategies: 'strategy',
  constraints: 'constraint',
  variants: 'variant',
  values: 'value',
};

/** The maximum number of issues in a message. */
const SHOWN = 10;

/** Describes a refusal without JSON Pointers: "strategy 2, constraint 1, value must not be empty". */
export function refusalText({ message, details }: Pick<ApiError, 'message' | 'details'>): string {
  const issues = details.filter((issue) => issue.path !== undefined && message.includes(issue.path));
  const words = issues.reduce((text, { path = '' }) => text.replace(path, placeOf(path)), message);
  const others = details.filter((issue) => !message.includes(issue.message)).slice(0, SHOWN);
  return [words, ...others.map((issue) => `${placeOf(issue.path ?? '')} ${issue.message}`.trim())].join(' · ');
}

function placeOf(pointer: string): string {
  const parts = pointer.split('/').slice(1);
  const own = parts[0] === 'changes' ? parts.slice(parts[2] === 'input' ? 3 : 2) : parts;
  // Variants are the only input that is a list.
  const named = /^\d+$/.test(own[0] ?? '') ? ['variants', ...own] : own;
  const words = named.map((part) => ITEMS[part] ?? (/^\d+$/.test(part) ? `${Number(part) + 1}` : part));
  return words.join(', ').replaceAll(/, (?=\d)/g, ' ');
}
