import { hash } from 'node:crypto';
import type { FlagDetail } from '@flags/core';

/** `*`, or the opaque values of the tags; an empty list when the header is malformed. */
type TagCondition = '*' | readonly string[];

/**
 * Returns the tag of a body: `"<hash>"`, or `"<revision>-<hash>"` with a revision. {@link revisionsIn} extracts the
 * revision.
 */
export function entityTag(content: string | Uint8Array, revision: number | undefined): string {
  return toTag(hash('sha256', content, 'hex'), revision);
}

type TaggedFlag = Pick<FlagDetail, 'revision' | 'lastSeenAt' | 'children'> & {
  readonly environments: readonly { readonly name: string }[];
};

/**
 * Returns the tag of a flag: its revision, and a hash of the data that the flag shows beside its document. Add the data
 * that the body of a flag takes from elsewhere.
 */
export function flagTag({ revision, lastSeenAt, children, environments }: TaggedFlag): string {
  return entityTag(JSON.stringify([lastSeenAt, children, environments.map(({ name }) => name)]), revision);
}

/** Returns the tag of a body with this hash. */
export function toTag(hexadecimal: string, revision: number | undefined): string {
  const digest = hexadecimal.slice(0, 32);
  return revision === undefined ? `"${digest}"` : `"${revision}-${digest}"`;
}

/** Parses `If-Match` or `If-None-Match`. Ignores weak marks, because proxies weaken tags when they compress. */
export function parseTagCondition(header: string): TagCondition {
  if (header.trim() === '*') return '*';
  const tags: string[] = [];
  const element = /[\s,]*(?:W\/)?"([^"]*)"\s*(?:,[\s,]*|$)/y;
  while (element.lastIndex < header.length) {
    const match = element.exec(header);
    if (!match) return [];
    tags.push(match[1] ?? '');
  }
  return tags;
}

/** Returns whether `If-None-Match` contains this tag. */
export function namesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const condition = parseTagCondition(header);
  return condition === '*' || condition.some((opaque) => `"${opaque}"` === tag);
}

/**
 * Returns the revisions in `If-Match`, or undefined when every revision matches. A tag without a revision matches none.
 */
export function revisionsIn(header: string): readonly number[] | undefined {
  const condition = parseTagCondition(header);
  if (condition === '*') return undefined;
  return condition.flatMap((opaque) => {
    const revision = /^(\d{1,15})(?:-|$)/.exec(opaque)?.[1];
    return revision === undefined ? [] : [Number(revision)];
  });
}
