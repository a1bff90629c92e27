import { hash } from 'node:crypto';

/** `*`, or the opaque texts of the tags that a client has; none when the header cannot be parsed. */
export type TagCondition = '*' | readonly string[];

/** The tag of a body; with a revision, `"<revision>-<hash>"`, whose head {@link revisionsIn} reads back. */
export function entityTag(content: string | Uint8Array, revision: number | undefined): string {
  const digest = hash('sha256', content, 'hex').slice(0, 32);
  return revision === undefined ? `"${digest}"` : `"${revision}-${digest}"`;
}

/** Reads `If-Match` or `If-None-Match`. Weak marks are dropped: proxies weaken tags when they compress. */
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

/** Whether `If-None-Match` names this tag. */
export function namesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const condition = parseTagCondition(header);
  return condition === '*' || condition.some((opaque) => `"${opaque}"` === tag);
}

/** The revisions that `If-Match` names; undefined when it does not ask for one. Tags without a revision match none. */
export function revisionsIn(header: string | undefined): readonly number[] | undefined {
  if (header === undefined) return undefined;
  const condition = parseTagCondition(header);
  if (condition === '*') return undefined;
  return condition.flatMap((opaque) => {
    const revision = /^(\d{1,15})(?:-|$)/.exec(opaque)?.[1];
    return revision === undefined ? [] : [Number(revision)];
  });
}
